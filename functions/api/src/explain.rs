//! Why a stack was planned: whoever has the repositories knows. This function has none, so it is handed somebody to ask.

use async_trait::async_trait;
use yuba_core::id::StackName;
use yuba_core::why::Why;
use yuba_ports::PortError;

/// Says why a stack was planned.
#[async_trait]
pub trait Explain: Send + Sync {
    /// What the newest run was made for; with a revision (a branch, a commit or its beginning), what that changed.
    async fn why(&self, stack: &StackName, revision: Option<&str>) -> Result<Why, Unexplained>;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unexplained {
    /// There is no such stack, source or revision: which, for people.
    #[error("{0}")]
    Unknown(String),
    /// It is known elsewhere, and cannot be asked there: what, and what to do.
    #[error("{0}")]
    NotHere(String),
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
}
