//! W3C trace context: which trace the work under way belongs to, so that the logs of all functions that it passes through
//! can be joined. <https://www.w3.org/TR/trace-context/>

use std::fmt;

/// The name of the header, and of the message's attribute.
pub(crate) const TRACEPARENT: &str = "traceparent";

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    trace: u128,
    parent: u64,
    flags: u8,
}

impl TraceContext {
    /// A trace that begins here.
    #[cfg(any(test, feature = "lambda"))]
    pub(crate) fn begin() -> Self {
        Self { trace: rand::random::<u128>().max(1), parent: rand::random::<u64>().max(1), flags: 0 }
    }

    /// What a sender says, if it is what the standard asks for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut hex = |length: usize| parts.next().filter(|part| part.len() == length && is_hex(part));
        let (version, trace, parent, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
        let parent = u64::from_str_radix(parent, 16).ok().filter(|parent| *parent != 0)?;
        Some(Self { trace, parent, flags: u8::from_str_radix(flags, 16).ok()? & 1 })
    }

    /// The next place in the same trace.
    #[cfg(any(test, feature = "lambda"))]
    pub(crate) fn next(self) -> Self {
        Self { parent: rand::random::<u64>().max(1), ..self }
    }

    /// The trace's id: 32 hexadecimal digits.
    #[cfg(any(test, feature = "lambda"))]
    pub(crate) fn id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// Does work at this place of the trace. What that spawns has none.
    #[cfg(any(test, feature = "lambda"))]
    pub(crate) async fn scope<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// Where the work under way is, if it belongs to a trace.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(|current| *current).ok()
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// Small letters alone: others are not allowed.
fn is_hex(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_is_read_back_and_goes_on() {
        let known = TraceContext::parse(KNOWN).unwrap();
        assert_eq!((known.to_string(), known.id()), (KNOWN.to_owned(), KNOWN[3..35].to_owned()));
        let next = known.next();
        assert_eq!(next.id(), known.id());
        assert_ne!(next, known);
        assert_eq!(TraceContext::parse(&TraceContext::begin().to_string()).map(|begun| begun.flags), Some(0));
    }

    #[test]
    fn what_is_not_a_trace_is_told() {
        for text in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        ] {
            assert_eq!(TraceContext::parse(text), None, "{text}");
        }
        assert!(TraceContext::parse(&KNOWN.replacen("00", "01", 1)).is_some(), "a later version");
    }

    #[tokio::test]
    async fn work_knows_its_trace() {
        let begun = TraceContext::begin();
        assert_eq!(begun.scope(async { TraceContext::current() }).await, Some(begun));
        assert_eq!(TraceContext::current(), None);
    }
}
