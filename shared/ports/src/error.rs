//! The one error of all ports. It answers one question: what may mend it.

use std::error::Error;

use yuba_core::time::Span;

/// Why a port could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct PortError {
    /// What was tried, where, what came back: one sentence for people.
    pub what: String,
    /// What may mend it.
    pub remedy: Remedy,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// What may mend a port's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing but a change of input or settings.
    Permanent,
    /// Trying again, not before this has passed.
    Wait(Span),
    /// Trying again.
    Transient,
}

impl PortError {
    /// An error that trying again cannot mend.
    pub fn permanent(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: Remedy::Permanent, source: None }
    }

    /// An error that trying again may mend.
    pub fn transient(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: Remedy::Transient, source: None }
    }

    /// An error that trying again may mend once the span has passed.
    pub fn wait(what: impl Into<String>, span: Span) -> Self {
        Self { what: what.into(), remedy: Remedy::Wait(span), source: None }
    }

    /// The same error with what lies beneath it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// An error with all that lies beneath it, on one line.
pub fn chain(error: &dyn Error) -> String {
    let beneath = std::iter::successors(error.source(), |error| (*error).source());
    beneath.fold(error.to_string(), |text, error| format!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_all_that_lies_beneath() {
        let error =
            PortError::transient("the top").because(PortError::permanent("the middle").because("the ground"));
        assert_eq!(chain(&error), "the top: the middle: the ground");
    }
}
