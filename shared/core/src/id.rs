//! Names, ids and digests: a newtype for each, so that none can stand where another belongs.
//!
//! All are written as strings wherever they leave the process. Parsing is total: a text that is not of the form
//! is an [`InvalidId`] that says what was expected.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use ulid::Ulid;

/// A text that is not of the form its type demands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {expected}")]
pub struct InvalidId {
    /// What was given.
    pub found: String,
    /// The form that was expected, with its article: "a 40-digit commit id".
    pub expected: &'static str,
}

impl InvalidId {
    fn new(found: &str, expected: &'static str) -> Self {
        Self { found: found.to_owned(), expected }
    }
}

/// Serde through `Display` and `FromStr`, so that the wire form is the written form.
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

macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Ulid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Ulid::from_string(text).map(Self).map_err(|_| InvalidId::new(text, "a ULID of 26 characters"))
            }
        }

        as_string!($name);
    };
}

ulid_id! {
    /// A stack, for as long as Yuba knows it; survives a rename of its manifest.
    StackId
}
ulid_id! {
    /// A run of a stack. Ids made later sort later.
    RunId
}
ulid_id! {
    /// Something a person or a program asked for through the API.
    RequestId
}
ulid_id! {
    /// A token for the API.
    ApiTokenId
}

macro_rules! namespaced {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// The manifest's `metadata.namespace` (`default` where it names none).
            pub namespace: String,
            /// The manifest's `metadata.name`.
            pub name: String,
        }

        impl $name {
            /// The name of `namespace/name`.
            pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
                Self { namespace: namespace.into(), name: name.into() }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}/{}", self.namespace, self.name)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                match text.split_once('/') {
                    Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
                        Ok(Self::new(namespace, name))
                    }
                    _ => Err(InvalidId::new(text, "a name of the form `namespace/name`")),
                }
            }
        }

        as_string!($name);
    };
}

namespaced! {
    /// What a stack is called in its manifest: `namespace/name`.
    StackName
}
namespaced! {
    /// What a source is called in its `GitRepository` manifest: `namespace/name`.
    SourceName
}
namespaced! {
    /// What an object of any other kind is called: `namespace/name`.
    ObjectName
}
namespaced! {
    /// What a secret or config map is called: `namespace/name`.
    SecretName
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// One installation of Yuba; part of every key, prefix and name, so that several can share an account.
    InstallationId
}
text_id! {
    /// A webhook delivery, as its sender numbered it (`X-GitHub-Delivery`), or a digest of its body.
    DeliveryId
}
text_id! {
    /// One configured place that manifests are read from: a directory, or a Git URL with ref and subdirectory.
    ManifestSetName
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The full lower-case hexadecimal form, 40 digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
                if text.len() == 40 && hexadecimal {
                    Ok(Self(text.to_ascii_lowercase()))
                } else {
                    Err(InvalidId::new(text, $expected))
                }
            }
        }

        as_string!($name);
    };
}

hex_id! {
    /// A Git commit id.
    CommitId, "a commit id of 40 hexadecimal digits"
}
hex_id! {
    /// A Git tree id: equal trees have equal ids, whatever commit names them.
    TreeId, "a tree id of 40 hexadecimal digits"
}

/// An exact commit of a source, written `main@sha1:<40 hex>` as Flux writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    /// The branch or tag as the manifest names it (`main`, `v1.2.0`), or the commit id itself where it pins one.
    pub reference: String,
    /// The commit.
    pub commit: CommitId,
}

impl Revision {
    /// The id that plans of this revision carry.
    pub fn plan_id(&self) -> PlanId {
        let short: String = self.commit.as_str().chars().take(10).collect();
        if self.reference == self.commit.as_str() {
            PlanId(format!("plan-{short}"))
        } else {
            PlanId(format!("plan-{}-{short}", self.reference))
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@sha1:{}", self.reference, self.commit)
    }
}

impl FromStr for Revision {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId::new(text, "a revision of the form `main@sha1:<40 hex>`");
        let (reference, commit) = text.rsplit_once("@sha1:").ok_or_else(invalid)?;
        if reference.is_empty() {
            return Err(invalid());
        }
        Ok(Self { reference: reference.to_owned(), commit: commit.parse().map_err(|_| invalid())? })
    }
}

as_string!(Revision);

/// `plan-<branch>-<first 10 hex of the commit>`, as tofu-controller writes it. It names the revision that was
/// planned, not the plan's content; what people approve is the [`ContentDigest`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanId(String);

impl PlanId {
    /// The id as people type it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for PlanId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let plain = !text.contains(|letter: char| letter.is_whitespace() || letter == '@');
        if text.starts_with("plan-") && text.len() > "plan-".len() && plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId::new(text, "a plan id of the form `plan-main-0123456789`"))
        }
    }
}

as_string!(PlanId);

macro_rules! sha256_digest {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The digest of some bytes.
            pub fn of(bytes: &[u8]) -> Self {
                Self(Sha256::digest(bytes).into())
            }

            /// The first 12 hexadecimal digits, as people type them after `@`.
            pub fn short(&self) -> String {
                hex::encode(self.0).chars().take(12).collect()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "sha256:{}", hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let invalid = || InvalidId::new(text, "a digest of the form `sha256:<64 hex>`");
                let bytes = hex::decode(text.strip_prefix("sha256:").ok_or_else(invalid)?).map_err(|_| invalid())?;
                Ok(Self(bytes.try_into().map_err(|_| invalid())?))
            }
        }

        as_string!($name);
    };
}

sha256_digest! {
    /// What people approve: SHA-256 over a plan's canonical changes, inputs, provider versions and state lineage.
    ContentDigest
}
sha256_digest! {
    /// SHA-256 of the plan file: what the runner checks before it applies.
    FileDigest
}
sha256_digest! {
    /// SHA-256 over what a manifest document says: its values, without their order, places and comments.
    DocumentDigest
}
sha256_digest! {
    /// SHA-256 over the paths and Git object ids of a stack's closure: equal digests, nothing changed in Git.
    ClosureDigest
}
sha256_digest! {
    /// SHA-256 over a stack's resolved inputs; secret values enter it only under an HMAC of the installation's key.
    InputsDigest
}

sha256_digest! {
    /// SHA-256 of one value that is too long to keep. Never made of a sensitive value.
    ValueDigest
}
sha256_digest! {
    /// SHA-256 over the canonical changes of a plan alone, without what else makes up its content digest.
    ChangesDigest
}
sha256_digest! {
    /// SHA-256 over what a drift plan found changed outside: equal digests, the same drift again.
    DriftDigest
}

sha256_digest! {
    /// SHA-256 of an entry or anchor of the audit trail.
    AuditHash
}

impl AuditHash {
    /// What the first of a chain holds in the place of the hash of the one before.
    pub const NONE: Self = Self([0; 32]);
}

/// A chain of the audit trail, written as the stack's id or as `installation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuditChain {
    /// What concerns all stacks.
    Installation,
    /// What concerns one stack.
    Stack(StackId),
}

impl fmt::Display for AuditChain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installation => formatter.write_str("installation"),
            Self::Stack(stack) => stack.fmt(formatter),
        }
    }
}

impl FromStr for AuditChain {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let stack = || text.parse().map(Self::Stack);
        if text == "installation" { Ok(Self::Installation) } else { stack() }
    }
}

as_string!(AuditChain);

/// The two halves of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// `init`, `plan`, `show`.
    Plan,
    /// `init`, `apply`, `output`.
    Apply,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plan => "plan",
            Self::Apply => "apply",
        })
    }
}

/// One try at a phase of a run: `<run>-plan-1`. It is also the launcher's idempotency key and the name under which
/// the attempt's objects lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The run.
    pub run: RunId,
    /// The phase it tries.
    pub phase: Phase,
    /// Counts from 1 within run and phase.
    pub number: u32,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}-{}", self.run, self.phase, self.number)
    }
}

impl FromStr for AttemptId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId::new(text, "an attempt id of the form `<run>-plan-1`");
        let mut parts = text.split('-');
        let (Some(run), Some(phase), Some(number), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(invalid());
        };
        let phase = match phase {
            "plan" => Phase::Plan,
            "apply" => Phase::Apply,
            _ => return Err(invalid()),
        };
        Ok(Self {
            run: run.parse().map_err(|_| invalid())?,
            phase,
            number: counted(number).ok_or_else(invalid)?,
        })
    }
}

as_string!(AttemptId);

/// A number as it is written: digits alone, without the sign and the leading zeros that `parse` takes too.
fn counted(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "b8e362c206e3d0cbb7ed22ced771a0056455a2fb";

    #[test]
    fn a_revision_reads_back_what_it_writes() {
        for text in [format!("main@sha1:{COMMIT}"), format!("feat/a@sha1@sha1:{COMMIT}")] {
            assert_eq!(text.parse::<Revision>().unwrap().to_string(), text);
        }
        for text in ["main", "@sha1:00", &format!("@sha1:{COMMIT}"), "main@sha1:xyz"] {
            assert!(text.parse::<Revision>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_plan_id_names_branch_and_commit_as_tofu_controller_does() {
        let revision: Revision = format!("main@sha1:{COMMIT}").parse().unwrap();
        assert_eq!(revision.plan_id().as_str(), "plan-main-b8e362c206");
        let pinned = Revision { reference: COMMIT.to_owned(), commit: COMMIT.parse().unwrap() };
        assert_eq!(pinned.plan_id().as_str(), "plan-b8e362c206");
    }

    #[test]
    fn an_attempt_id_reads_back_what_it_writes() {
        let run = RunId(Ulid::from_parts(1, 2));
        let id = AttemptId { run, phase: Phase::Apply, number: 12 };
        assert_eq!(id.to_string().parse::<AttemptId>().unwrap(), id);
        assert!("x-plan-1".parse::<AttemptId>().is_err());
        for number in ["1-2", "+1", "01", "", "4294967296"] {
            assert!(format!("{run}-plan-{number}").parse::<AttemptId>().is_err(), "{number}");
        }
    }

    #[test]
    fn a_digest_is_written_with_its_algorithm() {
        let digest = ContentDigest::of(b"yuba");
        assert_eq!(digest.to_string().parse::<ContentDigest>().unwrap(), digest);
        assert_eq!(digest.short().len(), 12);
        let error = "md5:00".parse::<ContentDigest>().unwrap_err().to_string();
        assert_eq!(error, "`md5:00` is not a digest of the form `sha256:<64 hex>`");
    }
}
