//! What a role session is called: its name and tags, in the letters that STS takes.
//! <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html>

use yuba_ports::RoleSession;

/// The longest session name.
const LONGEST_NAME: usize = 64;
/// The longest value of a tag, in characters.
const LONGEST_TAG: usize = 256;

/// The session's name, as CloudTrail shows it: the attempt, and as much of the stack's name as fits.
pub(super) fn session_name(session: &RoleSession) -> String {
    let name = format!("{}@{}.{}", session.attempt, session.stack.namespace, session.stack.name);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_+=,.@-".contains(letter);
    name.chars().map(|letter| if fits(letter) { letter } else { '-' }).take(LONGEST_NAME).collect()
}

/// The session's tags: what policies of the account can ask for.
pub(super) fn session_tags(session: &RoleSession) -> [(&'static str, String); 4] {
    [
        ("yuba:stack", tag(&session.stack.to_string())),
        ("yuba:run", tag(&session.attempt.run.to_string())),
        ("yuba:revision", tag(&session.revision.to_string())),
        ("yuba:phase", tag(&session.attempt.phase.to_string())),
    ]
}

/// A text as the value of a tag: a letter that STS does not take is written `=` and its bytes in hexadecimal; the start
/// alone of one that is too long.
fn tag(text: &str) -> String {
    let fits = |letter: char| letter.is_alphanumeric() || " _.:/+-@".contains(letter);
    let mut encoded = String::new();
    for letter in text.chars() {
        let mut bytes = [0; 4];
        let part = if fits(letter) {
            letter.to_string()
        } else {
            format!("={}", hex::encode_upper(letter.encode_utf8(&mut bytes)))
        };
        if encoded.chars().count() + part.chars().count() > LONGEST_TAG {
            break;
        }
        encoded.push_str(&part);
    }
    encoded
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;
    use yuba_core::id::{AttemptId, Phase, RunId, StackName};

    use super::*;

    fn session(stack: StackName, reference: &str) -> RoleSession {
        let attempt = AttemptId { run: RunId(Ulid::from_parts(1, 2)), phase: Phase::Apply, number: 1 };
        let revision = format!("{reference}@sha1:b8e362c206e3d0cbb7ed22ced771a0056455a2fb").parse().unwrap();
        RoleSession { role: None, stack, attempt, revision }
    }

    #[test]
    fn a_session_is_named_by_attempt_and_stack() {
        let name = session_name(&session(StackName::new("prod", "network"), "main"));
        assert_eq!(name, "00000000010000000000000002-apply-1@prod.network");
        let long = session_name(&session(StackName::new("prod", "n".repeat(99)), "main"));
        assert_eq!(long.len(), 64);
        let odd = session_name(&session(StackName::new("prod", "a b/ü"), "main"));
        assert_eq!(odd, "00000000010000000000000002-apply-1@prod.a-b--");
    }

    #[test]
    fn tags_say_stack_run_revision_and_phase() {
        let tags = session_tags(&session(StackName::new("prod", "network"), "feat/a#1"));
        let expected = [
            ("yuba:stack", "prod/network"),
            ("yuba:run", "00000000010000000000000002"),
            ("yuba:revision", "feat/a=231@sha1:b8e362c206e3d0cbb7ed22ced771a0056455a2fb"),
            ("yuba:phase", "apply"),
        ];
        assert_eq!(tags, expected.map(|(key, value)| (key, value.to_owned())));
        assert_eq!(tag(&"(".repeat(99)).len(), 255, "no sequence is cut in two");
    }
}
