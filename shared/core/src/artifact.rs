//! What packing an artifact says: the links that it left out.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most links that a notice names.
const NAMED: usize = 10;

/// What was found while a tree was packed. It lies beside the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactReport {
    /// Of the stored form; now 1.
    pub schema: u32,
    /// The links that are not in the artifact, by path.
    pub left_out: Vec<FaultyLink>,
}

/// A symbolic link that leads to nothing in its repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FaultyLink {
    /// The link, relative to the repository's root.
    pub path: String,
    /// What it names, as written.
    pub target: String,
    /// What is wrong with it.
    pub fault: LinkFault,
}

/// What is wrong with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkFault {
    /// It leads out of the repository.
    Outside,
    /// It leads to nothing.
    Nowhere,
    /// It leads around in a circle, or through more links than a system follows.
    Circle,
}

impl ArtifactReport {
    /// What people who read a run should know; `None` where nothing was left out.
    pub fn notice(&self) -> Option<String> {
        let named: Vec<String> = self.left_out.iter().take(NAMED).map(ToString::to_string).collect();
        let more = match self.left_out.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let what = match self.left_out.len() {
            0 => return None,
            1 => "a link of the repository was left out".to_owned(),
            count => format!("{count} links of the repository were left out"),
        };
        Some(format!("{what}: {}{more}", named.join("; ")))
    }
}

impl fmt::Display for FaultyLink {
    /// ``a/b: the link leaves the repository (to `/etc`)``
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: the link {} (to `{}`)", self.path, self.fault, self.target)
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Outside => "leaves the repository",
            Self::Nowhere => "leads to nothing",
            Self::Circle => "leads in a circle",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(count: usize) -> ArtifactReport {
        let link = |number| FaultyLink {
            path: format!("l{number}"),
            target: "/etc".to_owned(),
            fault: LinkFault::Outside,
        };
        ArtifactReport { schema: 1, left_out: (0..count).map(link).collect() }
    }

    #[test]
    fn a_notice_names_links_and_counts_the_rest() {
        assert_eq!(report(0).notice(), None);
        insta::assert_snapshot!(report(1).notice().unwrap(), @"a link of the repository was left out: l0: the link leaves the repository (to `/etc`)");
        let many = report(12).notice().unwrap();
        assert!(many.starts_with("12 links of the repository were left out: l0: "), "{many}");
        assert!(many.ends_with("l9: the link leaves the repository (to `/etc`); and 2 more"), "{many}");
    }
}
