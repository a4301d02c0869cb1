//! The provider through which tofu and terraform manage a toy cloud: a plugin of protocol version 6.
//!
//! [`serve`] shakes hands and listens, `dispatch` routes a request to one of `calls`, `plan` decides, `faults` lets a
//! call wait or fail, `cloud` at the crate's root does the work.

mod body;
mod calls;
mod change;
mod dispatch;
mod error;
mod faults;
mod handshake;
mod plan;
mod schema;
mod toy;
mod value;
mod wire;

pub use handshake::serve;
