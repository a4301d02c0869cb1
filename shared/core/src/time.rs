//! Points in time and spans, in UTC milliseconds. Order between facts never comes from here: it comes from versions
//! and numbers.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::id::InvalidId;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The span since an earlier point; zero if that point is later (clocks of two functions may differ).
    pub fn since(self, earlier: Timestamp) -> Span {
        Span(self.0.saturating_sub(earlier.0).max(0))
    }
}

impl FromStr for Timestamp {
    type Err = InvalidId;

    /// Reads a point in time with its offset, as RFC 3339 writes it: `2026-12-20T18:00:00+01:00`.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let read: Result<jiff::Timestamp, _> = text.parse();
        read.map(|at| Self(at.as_millisecond())).map_err(|_| InvalidId {
            found: text.to_owned(),
            expected: "a point in time such as `2026-12-20T18:00:00+01:00`",
        })
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with seconds, as `2026-11-30T08:25:57Z`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0.div_euclid(1000)) {
            Ok(point) => point.fmt(formatter),
            Err(_) => write!(formatter, "{} ms", self.0),
        }
    }
}

/// A length of time in milliseconds, never negative. Written as Go and Flux write durations: `1m0s`, `30m`, `1.5h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub i64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of whole seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds * 1000)
    }

    /// A span of whole minutes.
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(minutes * 60)
    }

    /// A span of whole hours.
    pub const fn hours(hours: i64) -> Self {
        Self::minutes(hours * 60)
    }

    /// The same length as the standard library's type.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.max(0).unsigned_abs())
    }

    /// As kubectl writes ages: the two greatest units at most (`3d4h`, `5m12s`, `48s`).
    pub fn to_age(self) -> String {
        let seconds = self.0 / 1000;
        let parts = [
            (seconds / 86400, "d"),
            (seconds / 3600 % 24, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
        ];
        let written: Vec<String> = parts
            .iter()
            .skip_while(|(count, _)| *count == 0)
            .take(2)
            .filter(|(count, _)| *count > 0)
            .map(|(count, unit)| format!("{count}{unit}"))
            .collect();
        if written.is_empty() { "0s".to_owned() } else { written.concat() }
    }
}

impl fmt::Display for Span {
    /// As Go's `time.Duration` writes it: `1m0s`, `1h0m0s`, `1.5s`, `250ms`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, millis) = (self.0 / 3_600_000, self.0 / 60_000 % 60, self.0 % 60_000);
        if self.0 == 0 {
            return formatter.write_str("0s");
        }
        if self.0 < 1000 {
            return write!(formatter, "{}ms", self.0);
        }
        if hours > 0 {
            write!(formatter, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(formatter, "{minutes}m")?;
        }
        let fraction = format!("{:03}", millis % 1000);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        write!(formatter, "{}{point}{fraction}s", millis / 1000)
    }
}

impl FromStr for Span {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId {
            found: text.to_owned(),
            expected: "a duration such as `30s`, `10m`, `1h30m` (units: ms, s, m, h)",
        };
        let go_like = text.chars().all(|letter| letter.is_ascii_digit() || ".hmsuµn".contains(letter));
        if !go_like || text.is_empty() {
            return Err(invalid());
        }
        if text == "0" {
            return Ok(Self::ZERO);
        }
        let duration: SignedDuration = text.parse().map_err(|_| invalid())?;
        i64::try_from(duration.as_millis()).map(Self).map_err(|_| invalid())
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written_as_go_does() {
        for (text, millis, written) in [
            ("30s", 30_000, "30s"),
            ("1m0s", 60_000, "1m0s"),
            ("10m", 600_000, "10m0s"),
            ("1h30m", 5_400_000, "1h30m0s"),
            ("1.5h", 5_400_000, "1h30m0s"),
            ("250ms", 250, "250ms"),
            ("1.5s", 1500, "1.5s"),
            ("0", 0, "0s"),
            ("0s", 0, "0s"),
            ("24h", 86_400_000, "24h0m0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.0, span.to_string().as_str()), (millis, written), "{text}");
        }
        for text in ["", "5", "-1s", "1 hour", "10x", "1d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn ages_show_two_units() {
        assert_eq!(Span::seconds(48).to_age(), "48s");
        assert_eq!(Span::seconds(312).to_age(), "5m12s");
        assert_eq!(Span::hours(76).to_age(), "3d4h");
        assert_eq!(Span::ZERO.to_age(), "0s");
    }

    #[test]
    fn a_point_in_time_is_written_in_utc() {
        assert_eq!(Timestamp(1_796_027_157_000).to_string(), "2026-11-30T08:25:57Z");
        assert_eq!("2026-11-30T09:25:57+01:00".parse(), Ok(Timestamp(1_796_027_157_000)));
        assert!(
            "2026-11-30".parse::<Timestamp>().is_err() && "2026-11-30T09:25:57".parse::<Timestamp>().is_err()
        );
        assert_eq!(Timestamp(5).since(Timestamp(9)), Span::ZERO);
    }
}
