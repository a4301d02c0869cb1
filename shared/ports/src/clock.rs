//! `Clock` and `Ids`: time and chance, so that tests and the simulation own both.

use ulid::Ulid;
use yuba_core::time::Timestamp;

/// What time it is.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// New ids.
pub trait Ids: Send + Sync {
    /// An id never given before, later ones sorting later.
    fn ulid(&self) -> Ulid;
}
