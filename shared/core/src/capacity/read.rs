//! Caps as people write them: `20`, and `env=prod:5,team=net:2`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Caps, Label, Pool, Slot};

/// The greatest cap: far above what one account runs, and slot numbers stay short.
const GREATEST: u32 = 100_000;

/// A text that is no cap; says what is wrong and what a cap looks like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCaps {
    /// Not a number that a cap can be.
    #[error("`{0}` is not a number from 1 to {GREATEST}")]
    Number(String),
    /// Not a label with a cap.
    #[error("`{0}` is not a label with a cap, as in `env=prod:5`")]
    Label(String),
    /// One label with two caps.
    #[error("`{0}` is given twice")]
    Twice(Label),
}

impl Caps {
    /// Reads the most tasks of an installation.
    pub fn read_most(text: &str) -> Result<u32, InvalidCaps> {
        let number = text.trim().parse().ok().filter(|most| (1..=GREATEST).contains(most));
        number.ok_or_else(|| InvalidCaps::Number(text.to_owned()))
    }

    /// Reads the most tasks per label, with commas between them.
    pub fn read_labels(text: &str) -> Result<BTreeMap<Label, u32>, InvalidCaps> {
        let mut labels = BTreeMap::new();
        for entry in text.split(',') {
            let (label, most) = Self::read_label(entry)?;
            if labels.insert(label.clone(), most).is_some() {
                return Err(InvalidCaps::Twice(label));
            }
        }
        Ok(labels)
    }

    /// Reads the most tasks of one label: `env=prod:5`.
    pub fn read_label(text: &str) -> Result<(Label, u32), InvalidCaps> {
        let invalid = || InvalidCaps::Label(text.trim().to_owned());
        let (label, most) = text.trim().rsplit_once(':').ok_or_else(invalid)?;
        Ok((label.parse().map_err(|()| invalid())?, Self::read_most(most)?))
    }
}

impl FromStr for Label {
    type Err = ();

    /// Reads `key=value`, both of the letters that labels of Kubernetes are of.
    fn from_str(text: &str) -> Result<Self, ()> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
        let is_plain = |part: &str| !part.is_empty() && part.len() <= 320 && part.chars().all(plain);
        match text.split_once('=') {
            Some((key, value)) if is_plain(key) && is_plain(value) => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err(()),
        }
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installation => formatter.write_str("installation"),
            Self::Label(label) => label.fmt(formatter),
        }
    }
}

impl FromStr for Pool {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "installation" { Ok(Self::Installation) } else { text.parse().map(Self::Label) }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{:06}", self.pool, self.number)
    }
}

impl FromStr for Slot {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (pool, number) = text.rsplit_once('#').ok_or(())?;
        Ok(Self { pool: pool.parse()?, number: number.parse().map_err(|_| ())? })
    }
}

macro_rules! as_string {
    ($($name:ident, $expected:literal);*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(|()| de::Error::custom(format!("`{text}` is not {}", $expected)))
            }
        }
    )*};
}

as_string!(Pool, "`installation` or a label"; Slot, "a pool and a number");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_read() {
        let labels = Caps::read_labels("env=prod:5, example.com/team=net:2").unwrap();
        let labels: Vec<String> = labels.iter().map(|(label, most)| format!("{label} {most}")).collect();
        assert_eq!(labels, ["env=prod 5", "example.com/team=net 2"]);
        assert_eq!(Caps::read_most("20"), Ok(20));
    }

    #[test]
    fn what_is_no_cap_is_named() {
        let said = |text: &str| Caps::read_labels(text).unwrap_err().to_string();
        insta::assert_snapshot!(said("env=prod"), @"`env=prod` is not a label with a cap, as in `env=prod:5`");
        insta::assert_snapshot!(said("env:5"), @"`env:5` is not a label with a cap, as in `env=prod:5`");
        insta::assert_snapshot!(said("env=prod:5,,"), @"`` is not a label with a cap, as in `env=prod:5`");
        insta::assert_snapshot!(said("env=prod:0"), @"`0` is not a number from 1 to 100000");
        insta::assert_snapshot!(said("env=prod:1,env=prod:2"), @"`env=prod` is given twice");
        for text in ["", "0", "-1", "100001", "many"] {
            Caps::read_most(text).unwrap_err();
        }
    }

    #[test]
    fn pools_and_slots_are_read_as_they_are_written() {
        let label = Label { key: "a/b".to_owned(), value: "c.d".to_owned() };
        for pool in [Pool::Installation, Pool::Label(label)] {
            let slot = Slot { pool, number: 42 };
            assert_eq!(slot.to_string().parse(), Ok(slot));
        }
    }
}
