//! Who is who: teams, their members, and the names under which services know one human.

mod identity;
mod team;
mod who;

pub use identity::Identity;
pub use team::{Member, Roster, Team};
pub use who::{Person, who};
