//! Windows of time in which plans may be applied: each opens when a cron expression says so, by the clocks of a place,
//! and stays open for a while.
//!
//! Clocks that are put forward skip an hour, those that are put back repeat one: a window that opens in a skipped hour
//! opens as much later; one that opens in a repeated hour opens the first time. How long it stays open is real time.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::id::InvalidId;
use crate::time::{Span, Timestamp};

/// How far ahead the next opening is looked for: the 29th of February comes within eight years.
const DAYS_AHEAD: usize = 8 * 366;

/// A window that opens again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When it opens.
    pub cron: Cron,
    /// How long it stays open; at most [`LONGEST`].
    pub duration: Span,
    /// By whose clocks: a name of the time zone database, as `Europe/Berlin`.
    pub time_zone: ZoneName,
}

/// The longest that a window stays open.
pub const LONGEST: Span = Span::hours(7 * 24);

impl Window {
    /// Whether it is open.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.closes(now).is_some()
    }

    /// When it closes; `None` where it is not open.
    pub fn closes(&self, now: Timestamp) -> Option<Timestamp> {
        let since = now - self.duration;
        // A window that opened a moment after `since` is still open; local days begin up to a day apart.
        let opened = self.openings(since - Span::hours(24), now);
        let last = opened.into_iter().filter(|opening| *opening > since && *opening <= now).max();
        last.map(|opening| opening + self.duration)
    }

    /// When it opens next; `None` where it never does.
    pub fn next_opening(&self, now: Timestamp) -> Option<Timestamp> {
        let zone = self.time_zone.zone();
        let mut day = local_day(&zone, now)?;
        for _ in 0..DAYS_AHEAD {
            if let Some(opening) = self.openings_on(&zone, day).into_iter().find(|opening| *opening > now) {
                return Some(opening);
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// Its openings on the local days between two points.
    fn openings(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let zone = self.time_zone.zone();
        let (Some(mut day), Some(last)) = (local_day(&zone, from), local_day(&zone, to)) else {
            return Vec::new();
        };
        let mut openings = Vec::new();
        while day <= last {
            openings.extend(self.openings_on(&zone, day));
            let Ok(next) = day.tomorrow() else { break };
            day = next;
        }
        openings
    }

    fn openings_on(&self, zone: &TimeZone, day: Date) -> Vec<Timestamp> {
        let mut openings = Vec::new();
        if !self.cron.fits(day) {
            return openings;
        }
        for (hour, minute) in self.cron.times() {
            let local = day.at(hour, minute, 0, 0);
            let instant = zone.to_ambiguous_timestamp(local).compatible();
            openings.extend(instant.map(|instant| Timestamp(instant.as_millisecond())));
        }
        openings.sort_unstable();
        openings
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` for {} ({})", self.cron, self.duration, self.time_zone)
    }
}

fn local_day(zone: &TimeZone, at: Timestamp) -> Option<Date> {
    jiff::Timestamp::from_millisecond(at.0).ok().map(|at| zone.to_datetime(at).date())
}

/// A name of the time zone database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneName(String);

impl ZoneName {
    /// Coordinated Universal Time.
    pub fn utc() -> Self {
        Self("UTC".to_owned())
    }

    fn zone(&self) -> TimeZone {
        // A name that was known when it was read and is not any more.
        TimeZone::get(&self.0).unwrap_or(TimeZone::UTC)
    }
}

impl FromStr for ZoneName {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let known = text == "UTC" || text.contains('/') && TimeZone::get(text).is_ok();
        let expected = "a time zone such as `Europe/Berlin` or `UTC`";
        if known { Ok(Self(text.to_owned())) } else { Err(InvalidId { found: text.to_owned(), expected }) }
    }
}

impl fmt::Display for ZoneName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A cron expression of five fields: minute, hour, day of the month, month, day of the week.
///
/// Fields hold `*`, numbers, ranges, lists and steps (`1-5`, `*/15`, `1,3`); months and days of the week names as well
/// (`jan`, `mon`), and 7 is Sunday. Where both days are restricted either suffices, as crontab(5) has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: BTreeSet<i8>,
    hours: BTreeSet<i8>,
    days: Field,
    months: BTreeSet<i8>,
    weekdays: Field,
}

/// The values of a field, and whether it restricts anything.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    values: BTreeSet<i8>,
    is_any: bool,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Cron {
    fn fits(&self, day: Date) -> bool {
        let weekday = day.weekday().to_sunday_zero_offset();
        let (by_date, by_weekday) =
            (self.days.values.contains(&day.day()), self.weekdays.values.contains(&weekday));
        let fits = if self.days.is_any || self.weekdays.is_any {
            by_date && by_weekday
        } else {
            by_date || by_weekday
        };
        fits && self.months.contains(&day.month())
    }

    fn times(&self) -> impl Iterator<Item = (i8, i8)> {
        self.hours.iter().flat_map(|hour| self.minutes.iter().map(|minute| (*hour, *minute)))
    }
}

impl FromStr for Cron {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let expected = "a cron expression of five fields such as `0 9 * * mon-fri`";
        let invalid = || InvalidId { found: text.to_owned(), expected };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, days_of_week] = fields.as_slice() else { return Err(invalid()) };
        let read = |field: &str, least: i8, most: i8, names: &[&str]| {
            values(field, (least, most), names).ok_or_else(invalid)
        };
        let mut on = read(days_of_week, 0, 7, &WEEKDAYS)?;
        if on.remove(&7) {
            on.insert(0);
        }
        Ok(Self {
            text: fields.join(" "),
            minutes: read(minutes, 0, 59, &[])?,
            hours: read(hours, 0, 23, &[])?,
            days: Field { values: read(days, 1, 31, &[])?, is_any: days.starts_with('*') },
            months: read(months, 1, 12, &MONTHS)?,
            weekdays: Field { values: on, is_any: days_of_week.starts_with('*') },
        })
    }
}

/// The values that a field names; `None` where it is no field.
fn values(field: &str, (least, most): (i8, i8), names: &[&str]) -> Option<BTreeSet<i8>> {
    let mut all = BTreeSet::new();
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<i8>().ok().filter(|step| *step > 0)?)),
            None => (part, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (value(from, least, names)?, value(to, least, names)?),
            None if step.is_some() => (value(range, least, names)?, most),
            None => (value(range, least, names)?, value(range, least, names)?),
        };
        if from < least || to > most || from > to {
            return None;
        }
        let step = usize::try_from(step.unwrap_or(1)).ok()?;
        all.extend((from..=to).step_by(step));
    }
    Some(all)
}

fn value(text: &str, least: i8, names: &[&str]) -> Option<i8> {
    match names.iter().position(|name| text.eq_ignore_ascii_case(name)) {
        Some(index) => i8::try_from(index).ok()?.checked_add(least),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Serde through `Display` and `FromStr`.
macro_rules! as_string {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}

as_string!(Cron, ZoneName);

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cron: &str, hours: i64, zone: &str) -> Window {
        Window { cron: cron.parse().unwrap(), duration: Span::hours(hours), time_zone: zone.parse().unwrap() }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn a_window_is_open_from_its_opening_for_as_long_as_it_says() {
        let office = window("0 9 * * mon-fri", 8, "Europe/Berlin");
        for (time, is_open) in [
            ("2026-11-30T07:59:59Z", false),
            ("2026-11-30T08:00:00Z", true),
            ("2026-11-30T15:59:59Z", true),
            ("2026-11-30T16:00:00Z", false),
            ("2026-11-29T10:00:00Z", false),
            ("2026-07-01T07:00:00Z", true),
        ] {
            assert_eq!(office.is_open(at(time)), is_open, "{time}");
            let closes = office.closes(at(time)).map(|closes| closes.to_string());
            assert_eq!(closes.is_some(), is_open, "{time}");
            assert!(closes.is_none_or(|closes| closes.ends_with(":00:00Z")), "{time}");
        }
        assert_eq!(office.next_opening(at("2026-12-04T09:00:00Z")), Some(at("2026-12-07T08:00:00Z")));
    }

    #[test]
    fn a_window_reaches_over_midnight_and_over_days() {
        let night = window("0 22 * * fri", 60, "America/New_York");
        assert!(
            night.is_open(at("2026-11-30T02:00:00Z")),
            "since Friday 22:00 there, which is 03:00 UTC on Saturday"
        );
        assert!(!night.is_open(at("2026-11-30T16:00:00Z")));
    }

    #[test]
    fn clocks_that_are_changed_move_no_window_but_where_the_hour_is_missing() {
        let early = window("30 2 * * *", 1, "Europe/Berlin");
        let opens = |after: &str| early.next_opening(at(after)).unwrap();
        assert_eq!(
            opens("2026-03-28T12:00:00Z"),
            at("2026-03-29T01:30:00Z"),
            "02:30 is skipped: 03:30 summer time"
        );
        assert_eq!(opens("2026-10-24T12:00:00Z"), at("2026-10-25T00:30:00Z"), "the first of two");
        assert_eq!(opens("2026-10-25T00:30:00Z"), at("2026-10-26T01:30:00Z"), "and not the second");
    }

    #[test]
    fn fields_are_those_of_crontab() {
        let opens = |cron: &str| {
            window(cron, 1, "UTC").next_opening(at("2026-11-30T10:00:00Z")).map(|at| at.to_string())
        };
        for (cron, next) in [
            ("*/20 * * * *", "2026-11-30T10:20:00Z"),
            ("5-7,50 10 * * *", "2026-11-30T10:05:00Z"),
            ("0 0 29 feb *", "2028-02-29T00:00:00Z"),
            ("0 0 * * 7", "2026-12-06T00:00:00Z"),
            ("0 0 13 * fri", "2026-12-04T00:00:00Z"),
            ("0 12 1 JAN *", "2027-01-01T12:00:00Z"),
        ] {
            assert_eq!(opens(cron).as_deref(), Some(next), "{cron}");
        }
        assert_eq!(opens("0 0 31 feb *"), None);
        for text in [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "a * * * *",
            "+1 * * * *",
        ] {
            assert!(text.parse::<Cron>().is_err(), "{text}");
        }
        for text in ["Berlin", "Europe/Nowhere", ""] {
            assert!(text.parse::<ZoneName>().is_err(), "{text}");
        }
    }
}
