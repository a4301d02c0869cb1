//! What people read when a role cannot be assumed: what STS said, of whom, and the statement that would allow it.

use serde_json::{Value, json};

/// A role that AWS did not let us assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denied<'a> {
    /// The role's ARN.
    pub(super) role: &'a str,
    /// The session's name.
    pub(super) session: &'a str,
    /// Who asked, as IAM names it; `None` where that could not be found out.
    pub(super) principal: Option<&'a str>,
    /// The external id that was given.
    pub(super) external_id: Option<&'a str>,
    /// What STS said.
    pub(super) reason: &'a str,
}

impl Denied<'_> {
    /// One message with all of it.
    pub(super) fn message(&self) -> String {
        let Self { role, session, reason, .. } = self;
        format!(
            "role {role} cannot be assumed as session {session}: {reason}. Its trust policy must have this statement \
             (a role that trusts an OIDC provider alone, as IRSA roles do, needs it beside the one it has): {}",
            self.statement()
        )
    }

    fn statement(&self) -> Value {
        let principal = self.principal.unwrap_or("<the role that Yuba's `tasks` function runs as>");
        let mut statement = json!({
            "Effect": "Allow",
            "Principal": {"AWS": principal},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        });
        if let (Some(id), Some(fields)) = (self.external_id, statement.as_object_mut()) {
            fields.insert("Condition".to_owned(), json!({"StringEquals": {"sts:ExternalId": id}}));
        }
        statement
    }
}

/// The role behind a session's ARN, as a trust policy names it: `arn:aws:sts::1:assumed-role/name/session` becomes
/// `arn:aws:iam::1:role/name`. The role's path is not in it, and has to be added by hand where there is one.
pub(super) fn principal_of(caller: &str) -> String {
    let mut parts = caller.splitn(6, ':');
    let mut next = || parts.next().unwrap_or_default();
    let (_, partition, _, _, account, resource) = (next(), next(), next(), next(), next(), next());
    match resource.strip_prefix("assumed-role/").and_then(|rest| rest.split_once('/')) {
        Some((role, _)) => format!("arn:{partition}:iam::{account}:role/{role}"),
        None => caller.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_that_would_allow_it_is_shown() {
        let denied = Denied {
            role: "arn:aws:iam::111122223333:role/plan",
            session: "01J-plan-1@prod.network",
            principal: Some("arn:aws:iam::444455556666:role/yuba-tasks"),
            external_id: Some("prod-7f3a"),
            reason: "AccessDenied: not authorized",
        };
        insta::assert_snapshot!(denied.message(), @r#"role arn:aws:iam::111122223333:role/plan cannot be assumed as session 01J-plan-1@prod.network: AccessDenied: not authorized. Its trust policy must have this statement (a role that trusts an OIDC provider alone, as IRSA roles do, needs it beside the one it has): {"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:role/yuba-tasks"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"sts:ExternalId":"prod-7f3a"}}}"#);
        let unknown = Denied { principal: None, external_id: None, ..denied };
        assert!(unknown.message().contains("<the role that Yuba's `tasks` function runs as>"));
        assert!(!unknown.message().contains("Condition"));
    }

    #[test]
    fn a_session_is_traced_to_its_role() {
        for (caller, expected) in [
            ("arn:aws:sts::1:assumed-role/yuba-tasks/fn", "arn:aws:iam::1:role/yuba-tasks"),
            ("arn:aws-cn:sts::1:assumed-role/r/s", "arn:aws-cn:iam::1:role/r"),
            ("arn:aws:iam::1:user/somebody", "arn:aws:iam::1:user/somebody"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(principal_of(caller), expected);
        }
    }
}
