#![doc = include_str!("../README.md")]

mod cloud;
mod control;
mod journal;
mod kind;
mod mirror;
#[cfg(feature = "provider")]
mod plugin;
#[cfg(feature = "provider")]
pub mod provider;
#[cfg(feature = "provider")]
pub mod stand_in;

pub use cloud::{Body, Cloud, CloudError, Creation};
pub use control::{Control, Verb};
pub use journal::{Entry, Event, overlaps, repeats};
pub use kind::{Attribute, Block, Effect, KINDS, Keeping, Kind, Literal, Mode, Type, Visibility, kind};
pub use mirror::{MirrorError, PROVIDER, VERSION, mirror, provider_binary, shared_mirror, stand_in_mirror};
