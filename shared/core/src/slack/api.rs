//! Where Slack's methods are.

/// Slack's own.
const API: &str = "https://slack.com/api";

/// The address of a method, beside the one that a provider's manifest names: Flux's name that of `chat.postMessage`.
pub fn method(address: Option<&str>, name: &str) -> String {
    let address = address.unwrap_or(API).trim_end_matches('/');
    format!("{}/{name}", address.strip_suffix("/chat.postMessage").unwrap_or(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_lie_beside_the_one_that_is_named() {
        assert_eq!(method(None, "views.open"), "https://slack.com/api/views.open");
        for address in ["https://slack.example/api/chat.postMessage", "https://slack.example/api/"] {
            assert_eq!(method(Some(address), "views.open"), "https://slack.example/api/views.open");
        }
    }
}
