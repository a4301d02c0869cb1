//! What every route needs. A route that is not stated here needs `admin`, and is closed to whoever is limited by labels.

use super::Scope;

/// What a route concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The stack that `{namespace}` and `{name}` in its path name.
    Stack,
    /// The stack of the run that `{run}` in its path names.
    Run,
    /// The stack of the request that `{request}` in its path names.
    Request,
    /// A list that leaves out what the caller may not see, or what tells nothing of any stack.
    Filtered,
    /// More than single stacks.
    Installation,
}

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The least scope. What is asked for of a stack may need more: see [`super::scope_of`].
    pub scope: Scope,
    /// What it concerns.
    pub reach: Reach,
}

use Reach::{Filtered, Installation, Request, Run, Stack};
use Scope::{Admin, Approve, Read};

const STATED: &[(&str, &str, Scope, Reach)] = &[
    ("GET", "/", Read, Filtered),
    ("GET", "/runs/{run}", Read, Run),
    ("GET", "/metrics", Read, Installation),
    ("GET", "/api/v1/stacks", Read, Filtered),
    ("GET", "/api/v1/stacks/{namespace}/{name}", Read, Stack),
    ("GET", "/api/v1/stacks/{namespace}/{name}/outputs", Read, Stack),
    ("GET", "/api/v1/stacks/{namespace}/{name}/inventory", Read, Stack),
    ("GET", "/api/v1/stacks/{namespace}/{name}/why", Read, Stack),
    ("PATCH", "/api/v1/stacks/{namespace}/{name}", Approve, Stack),
    ("POST", "/api/v1/stacks/{namespace}/{name}/{verb}", Approve, Stack),
    ("GET", "/api/v1/requests/{request}", Read, Request),
    ("GET", "/api/v1/runs", Read, Filtered),
    ("GET", "/api/v1/runs/{run}", Read, Run),
    ("GET", "/api/v1/runs/{run}/plan", Read, Run),
    ("GET", "/api/v1/runs/{run}/log", Read, Run),
    ("GET", "/api/v1/runs/{run}/log/stream", Read, Run),
    ("GET", "/api/v1/runs/{run}/recovery", Read, Run),
    ("POST", "/api/v1/runs/{run}/cancel", Approve, Run),
    ("POST", "/api/v1/runs/{run}/recover", Admin, Run),
    ("GET", "/api/v1/events", Read, Filtered),
    ("GET", "/api/v1/events/stream", Read, Installation),
    ("GET", "/api/v1/audit/entries", Read, Installation),
    ("GET", "/api/v1/audit/anchors", Read, Installation),
    ("GET", "/api/v1/audit/heads", Read, Installation),
    ("GET", "/api/v1/sources", Read, Installation),
    ("GET", "/api/v1/manifests", Read, Installation),
    ("GET", "/api/v1/providers", Read, Installation),
    ("GET", "/api/v1/providers/{namespace}/{name}/tests/{test}", Read, Installation),
    ("POST", "/api/v1/providers/{namespace}/{name}/test", Admin, Installation),
    ("POST", "/api/v1/providers/{namespace}/{name}/redeliver", Admin, Installation),
    ("GET", "/api/v1/installation", Read, Filtered),
    ("POST", "/api/v1/installation/pause", Admin, Installation),
    ("POST", "/api/v1/installation/unpause", Admin, Installation),
    ("GET", "/api/v1/queues/{queue}/dead-letters", Read, Installation),
    ("POST", "/api/v1/queues/{queue}/redrive", Admin, Installation),
    ("GET", "/api/v1/secrets", Read, Installation),
    ("PUT", "/api/v1/secrets/{namespace}/{name}", Admin, Installation),
    ("GET", "/api/v1/tokens", Admin, Installation),
    ("POST", "/api/v1/tokens", Admin, Installation),
    ("DELETE", "/api/v1/tokens/{name}", Admin, Installation),
];

/// What a route needs, by its method and its path as it is registered.
pub fn need(method: &str, path: &str) -> Need {
    stated(method, path).unwrap_or(Need { scope: Admin, reach: Installation })
}

/// Whether the table above states a route.
pub fn is_stated(method: &str, path: &str) -> bool {
    stated(method, path).is_some()
}

fn stated(method: &str, path: &str) -> Option<Need> {
    let method = if method == "HEAD" { "GET" } else { method };
    let found = STATED.iter().find(|(known, route, ..)| *known == method && *route == path);
    found.map(|(_, _, scope, reach)| Need { scope: *scope, reach: *reach })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_changes_something_needs_more_than_read() {
        for (method, path, scope, _) in STATED {
            assert_eq!(*scope == Read, *method == "GET" && *path != "/api/v1/tokens", "{method} {path}");
        }
    }

    #[test]
    fn what_is_not_stated_needs_admin_without_a_limit() {
        for (method, path) in [("POST", "/api/v1/stacks"), ("GET", "/api/v2/stacks"), ("DELETE", "/metrics")]
        {
            assert_eq!(need(method, path), Need { scope: Admin, reach: Installation }, "{method} {path}");
            assert!(!is_stated(method, path));
        }
        assert_eq!(need("HEAD", "/metrics"), need("GET", "/metrics"));
    }
}
