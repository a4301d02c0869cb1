//! Plans: what `show -json` says, reduced to what people and decisions need.
//!
//! [`summary`] holds the shapes; reading, digesting, redacting and rendering stand beside it.

mod counts;
pub mod datum;
mod differ;
pub mod digest;
mod entry;
mod keep;
pub mod lock;
pub mod mask;
mod narrow;
mod read;
pub mod redact;
pub mod render;
mod shapes;
mod sniff;
pub mod stream;
pub(crate) mod style;
pub mod summary;
mod value;
mod walk;
mod writer;

pub use differ::{SENSITIVE, UNKNOWN};
pub use narrow::{NothingThere, is_under};
pub use read::{PlanRead, read};
pub use shapes::OpenKey;
pub use sniff::ReadPlanError;
pub use style::Styles;
