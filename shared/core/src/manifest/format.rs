//! The forms that texts in manifests have: one table for reading, for messages and for the JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::approval::PlanCondition;
use crate::plan::mask::secret_pattern;
use crate::spec::{ApprovePlan, KeyMapping};
use crate::time::{Span, Timestamp};
use crate::window::{Cron, ZoneName};

/// A form of texts.
pub(super) struct Format {
    /// The value of JSON Schema's `format`.
    pub(super) name: &'static str,
    /// What is allowed, for people.
    pub(super) allowed: &'static str,
    /// The same for editors; a little wider than `check`.
    pattern: &'static str,
    /// Whether a text has the form.
    pub(super) check: fn(&str) -> bool,
}

/// The form of that name.
pub(super) fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

const FORMATS: &[Format] = &[
    Format {
        name: "go-duration",
        allowed: "a duration such as `30s`, `10m`, `1h30m`",
        pattern: r"^(0|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$",
        check: |text| text.parse::<Span>().is_ok(),
    },
    Format {
        name: "positive-duration",
        allowed: "a duration above zero such as `30s`, `10m`, `1h30m`",
        pattern: r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$",
        check: |text| text.parse::<Span>().is_ok_and(|span| span > Span::ZERO),
    },
    Format {
        name: "kubernetes-name",
        allowed: "a name of at most 253 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends",
        pattern: r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
        check: is_kubernetes_name,
    },
    Format {
        name: "kubernetes-namespace",
        allowed: "a name of at most 63 lower-case letters, digits and `-`, with a letter or digit at both ends",
        pattern: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        check: |text| text.len() <= 63 && !text.contains('.') && is_kubernetes_name(text),
    },
    Format {
        name: "repository-path",
        allowed: "a path inside the repository, relative to its root",
        pattern: r"^[^\\]*$",
        check: |text| normal_path(text).is_some(),
    },
    Format {
        name: "approve-plan",
        allowed: "`auto`, `manual` (or nothing), `disable`, a plan id as `plan-main-0123456789`, or one with the first 12 \
                  hexadecimal digits of its content digest as `plan-main-0123456789@0123456789ab`",
        pattern: r"^(|auto|manual|disable|plan-.+)$",
        check: |text| text.parse::<ApprovePlan>().is_ok(),
    },
    Format {
        name: "key-mapping",
        allowed: "`key`, or `key:name` to take it under another name",
        pattern: r"^[^:]+(:[^:]+)?$",
        check: |text| text.parse::<KeyMapping>().is_ok(),
    },
    Format {
        name: "aws-role",
        allowed: "the ARN of an IAM role such as `arn:aws:iam::123456789012:role/name`",
        pattern: r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$",
        check: |text| is_iam_arn(text, &["role/"]),
    },
    Format {
        name: "git-url",
        allowed: "a URL that starts with `https://`, `ssh://`, `http://` or `file://`",
        pattern: r"^(https|ssh|http|file)://.+$",
        check: is_git_url,
    },
    Format {
        name: "version-constraint",
        allowed: "a version such as `1.9.0`, or constraints such as `>= 1.6, < 2.0`",
        pattern: r"^[^a-zA-Z]+",
        check: is_version_constraint,
    },
    Format {
        name: "commit-id",
        allowed: "a commit id of 40 hexadecimal digits",
        pattern: r"^[0-9a-fA-F]{40}$",
        check: |text| text.len() == 40 && text.chars().all(|letter| letter.is_ascii_hexdigit()),
    },
    Format {
        name: "secret-pattern",
        allowed: "a regular expression that finds no empty text, such as `key-[0-9a-f]{32}`",
        pattern: r"^.+$",
        check: |text| secret_pattern(text).is_some(),
    },
    Format {
        name: "host",
        allowed: "a host as URLs name it, such as `git.example.com` or `git.example.com:8443`",
        pattern: r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?$",
        check: is_host,
    },
    Format {
        name: "email-address",
        allowed: "an e-mail address such as `ada@example.com`",
        pattern: r"^[^@\s<>]+@[^@\s<>]+$",
        check: is_email_address,
    },
    Format {
        name: "slack-user",
        allowed: "the id of a user in Slack such as `U02ABCDEF`",
        pattern: r"^[UW][A-Z0-9]+$",
        check: |text| {
            let rest = text.strip_prefix(['U', 'W']).unwrap_or_default();
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        },
    },
    Format {
        name: "iam-arn",
        allowed: "the ARN of an IAM user or role such as `arn:aws:iam::123456789012:user/ada`",
        pattern: r"^arn:aws[a-z-]*:iam::[0-9]{12}:(user|role)/.+$",
        check: |text| is_iam_arn(text, &["user/", "role/"]),
    },
    Format {
        name: "plan-condition",
        allowed: "a condition such as `destroys > 0` or `changes >= 20`; counted are `creates`, `updates`, `replaces`, \
                  `destroys`, `forgets` and `changes`",
        pattern: r"^(creates|updates|replaces|destroys|forgets|changes) *>=? *[0-9]+$",
        check: |text| text.parse::<PlanCondition>().is_ok(),
    },
    Format {
        name: "cron-expression",
        allowed: "a cron expression of five fields such as `0 9 * * mon-fri`",
        pattern: r"^\s*(\S+\s+){4}\S+\s*$",
        check: |text| text.parse::<Cron>().is_ok(),
    },
    Format {
        name: "time-zone",
        allowed: "a time zone such as `Europe/Berlin` or `UTC`",
        pattern: r"^(UTC|[A-Za-z_]+/.+)$",
        check: |text| text.parse::<ZoneName>().is_ok(),
    },
    Format {
        name: "point-in-time",
        allowed: "a point in time with its offset such as `2026-12-20T18:00:00+01:00` or `2026-12-20T17:00:00Z`",
        pattern: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]+([Zz]|[+-][0-9:]+)$",
        check: |text| text.parse::<Timestamp>().is_ok(),
    },
    Format {
        name: "path-glob",
        allowed: "a glob of paths inside the repository, such as `policies/**/*.json`",
        pattern: r"^[^/].*$",
        check: |text| {
            normal_path(text).is_some_and(|path| !path.is_empty()) && globset::Glob::new(text).is_ok()
        },
    },
];

/// Types that stand for a form where the JSON Schema is made of wire types.
macro_rules! markers {
    ($($(#[$doc:meta])* $marker:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $marker;

        impl JsonSchema for $marker {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let pattern = by_name($name).map_or("", |format| format.pattern);
                json_schema!({ "type": "string", "format": $name, "pattern": pattern })
            }
        }
    )*};
}

markers! {
    /// A duration in Go's form.
    Duration = "go-duration";
    /// A duration in Go's form that is not zero.
    PositiveDuration = "positive-duration";
    /// A host, with a port where it has one.
    Host = "host";
    /// A name of an object.
    ObjectName = "kubernetes-name";
    /// A name of a namespace.
    Namespace = "kubernetes-namespace";
    /// A path in the source's repository.
    RepositoryPath = "repository-path";
    /// A value of `approvePlan`.
    PlanApproval = "approve-plan";
    /// `key` or `key:name`.
    MappedKey = "key-mapping";
    /// The ARN of an IAM role.
    RoleArn = "aws-role";
    /// The URL of a repository.
    GitUrl = "git-url";
    /// A version, or constraints on it.
    VersionConstraint = "version-constraint";
    /// A commit id.
    Commit = "commit-id";
    /// An e-mail address.
    EmailAddress = "email-address";
    /// A user's id in Slack.
    SlackUser = "slack-user";
    /// The ARN of an IAM user or role.
    IamArn = "iam-arn";
    /// A condition on a plan.
    ConditionOnPlan = "plan-condition";
    /// A cron expression.
    CronExpression = "cron-expression";
    /// The name of a time zone.
    TimeZoneName = "time-zone";
    /// A point in time, with its offset.
    PointInTime = "point-in-time";
    /// A glob of paths.
    PathGlob = "path-glob";
    /// What is masked: a regular expression.
    SecretPattern = "secret-pattern";
}

/// A path without `.` segments, doubled or trailing slashes, with `..` resolved; `None` if it leaves the repository. A
/// leading slash means the repository's root, as it does to tofu-controller.
pub(super) fn normal_path(text: &str) -> Option<String> {
    if text.contains(['\\', '\0']) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop()?;
            }
            name => kept.push(name),
        }
    }
    Some(kept.join("/"))
}

/// RFC 1123, as Kubernetes checks the names of objects.
fn is_kubernetes_name(text: &str) -> bool {
    let label = |label: &str| {
        let inner =
            label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    is_kubernetes_name(name) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn is_email_address(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && !part.contains(|letter: char| letter.is_whitespace() || "@<>".contains(letter))
    };
    text.split_once('@').is_some_and(|(name, host)| plain(name) && plain(host))
}

fn is_iam_arn(text: &str, kinds: &[&str]) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let ["arn", partition, "iam", "", account, resource] = parts.as_slice() else { return false };
    let digits = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
    let named = |kind: &&str| resource.strip_prefix(*kind).is_some_and(|name| !name.is_empty());
    partition.starts_with("aws") && digits && kinds.iter().any(named)
}

fn is_git_url(text: &str) -> bool {
    let rest =
        ["https://", "ssh://", "http://", "file://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| !rest.is_empty()) && !text.contains(char::is_control)
}

/// The constraints that tofu knows, on versions of up to three numbers and a pre-release.
fn is_version_constraint(text: &str) -> bool {
    text.split(',').all(|part| {
        let part = part.trim();
        let operator =
            ["~>", ">=", "<=", "!=", ">", "<", "="].iter().find(|operator| part.starts_with(**operator));
        let version = operator.map_or(part, |operator| part.get(operator.len()..).unwrap_or_default()).trim();
        is_version(version)
    })
}

pub(super) fn is_version(text: &str) -> bool {
    let (numbers, pre_release) = text.split_once('-').unwrap_or((text, "0"));
    let count = numbers.split('.').count();
    let digits = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let tail = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    count <= 3 && numbers.split('.').all(digits) && !pre_release.is_empty() && pre_release.chars().all(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(name: &str, text: &str) -> bool {
        (by_name(name).unwrap().check)(text)
    }

    #[test]
    fn paths_are_normalised_and_stay_inside() {
        for (text, path) in [
            ("./environments/prod/vpc", Some("environments/prod/vpc")),
            ("a//b/./c/", Some("a/b/c")),
            ("a/../b", Some("b")),
            ("", Some("")),
            ("./", Some("")),
            ("/infra", Some("infra")),
            ("..", None),
            ("a/../../b", None),
            ("a\\b", None),
        ] {
            assert_eq!(normal_path(text).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn names_follow_rfc_1123() {
        for name in ["a", "web-1", "a.b-c.d"] {
            assert!(fits("kubernetes-name", name), "{name}");
        }
        for name in ["", "Web", "a_b", "-a", "a-", "a..b", "a/b", &"a".repeat(254)] {
            assert!(!fits("kubernetes-name", name), "{name}");
        }
        assert!(!fits("kubernetes-namespace", "a.b"));
    }

    #[test]
    fn constraints_are_those_of_tofu() {
        for text in ["1.9.0", "1.9", ">= 1.6, < 2", "~> 1.5", "1.10.0-rc1"] {
            assert!(fits("version-constraint", text), "{text}");
        }
        for text in ["", "latest", ">=", "1.2.3.4", "^1.2", "1.x"] {
            assert!(!fits("version-constraint", text), "{text}");
        }
    }

    #[test]
    fn roles_and_urls() {
        assert!(fits("aws-role", "arn:aws-us-gov:iam::123456789012:role/path/name"));
        assert!(!fits("aws-role", "arn:aws:iam::123456789012:user/name"));
        assert!(fits("git-url", "file:///srv/a b.git"));
        assert!(fits("git-url", "ssh://git@example.com/a.git"));
        assert!(!fits("git-url", "git@example.com:a.git"));
    }
}
