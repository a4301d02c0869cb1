//! Version constraints as both engines write them: `1.9.0`, `>= 1.6, < 2`, `~> 1.9`, `!= 1.7.1`.
//!
//! `~>` lets only the rightmost given part grow. A pre-release is allowed only where the constraint names it exactly.

use std::str::FromStr;

use semver::Version;

/// A list of conditions, all of which must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constraint(Vec<Condition>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    operator: Operator,
    version: Version,
    /// How many numbers were given: `~> 1.9` and `~> 1.9.0` differ.
    parts: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Pessimistic,
}

const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("~>", Operator::Pessimistic),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// A text that is not a constraint.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version constraint such as `1.9.0`, `>= 1.6, < 2` or `~> 1.9`")]
pub(crate) struct InvalidConstraint(String);

impl FromStr for Constraint {
    type Err = InvalidConstraint;
    fn from_str(text: &str) -> Result<Self, InvalidConstraint> {
        let conditions: Option<Vec<_>> = text.split(',').map(condition).collect();
        conditions.map(Self).ok_or_else(|| InvalidConstraint(text.to_owned()))
    }
}

fn condition(text: &str) -> Option<Condition> {
    let text = text.trim();
    let (operator, rest) = OPERATORS
        .iter()
        .find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)))
        .unwrap_or((Operator::Equal, text));
    let rest = rest.trim().trim_start_matches('v');
    let (numbers, tail) = rest.split_at(rest.find(['-', '+']).unwrap_or(rest.len()));
    let parts = numbers.split('.').count();
    let padded = match parts {
        1 => format!("{numbers}.0.0{tail}"),
        2 => format!("{numbers}.0{tail}"),
        _ => rest.to_owned(),
    };
    Some(Condition { operator, version: Version::parse(&padded).ok()?, parts })
}

impl Constraint {
    /// Whether a version fulfils all conditions; what is no version fulfils none.
    pub(crate) fn allows(&self, version: &str) -> bool {
        Version::parse(version.trim_start_matches('v'))
            .is_ok_and(|version| self.0.iter().all(|condition| condition.allows(&version)))
    }
}

impl Condition {
    fn allows(&self, version: &Version) -> bool {
        let asked = &self.version;
        if !version.pre.is_empty() && version.pre != asked.pre {
            return false;
        }
        match self.operator {
            Operator::Equal => version == asked,
            Operator::NotEqual => version != asked,
            Operator::Less => version < asked,
            Operator::AtMost => version <= asked,
            Operator::Greater => version > asked,
            Operator::AtLeast => version >= asked,
            Operator::Pessimistic => {
                let same_major = version.major == asked.major;
                let same_minor = self.parts < 3 || version.minor == asked.minor;
                version >= asked && same_major && same_minor
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_mean_what_engines_mean_by_them() {
        for (constraint, version, allowed) in [
            ("1.11.4", "1.11.4", true),
            ("1.11", "1.11.4", false),
            (">= 1.6, < 2", "1.11.4", true),
            (">= 1.6, < 1.11", "1.11.4", false),
            ("~> 1.9", "1.11.4", true),
            ("~> 1.9.0", "1.11.4", false),
            ("~> 1.11.2", "1.11.4", true),
            ("~>1.11.5", "1.11.4", false),
            ("!= 1.11.4", "1.11.4", false),
            (">= 1.11", "1.12.0-beta1", false),
            ("= 1.12.0-beta1", "1.12.0-beta1", true),
        ] {
            let read: Constraint = constraint.parse().unwrap();
            assert_eq!(read.allows(version), allowed, "{constraint} {version}");
        }
        assert!("latest".parse::<Constraint>().is_err());
    }
}
