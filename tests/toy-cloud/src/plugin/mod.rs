//! The plugin protocol, version 6, by which tofu and terraform start a provider and talk to it.
//!
//! [`serve`] shakes hands and listens, `dispatch` routes a request to a [`Plugin`], `wire` has the messages and `value` the
//! values in them.

mod dispatch;
mod handshake;
pub(crate) mod value;
pub(crate) mod wire;

pub(crate) use dispatch::Plugin;
pub(crate) use handshake::serve;
