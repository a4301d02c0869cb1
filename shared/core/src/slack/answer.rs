//! What somebody is told in private of what they asked for in Slack.
//!
//! <https://api.slack.com/interactivity/handling#message_responses>

use serde_json::{Value, json};

use super::text::Mrkdwn;
use crate::request::{Outcome, Request};

/// What is posted to the address for answers, and to `chat.postEphemeral` with channel and user beside it; `None` while
/// the request is not decided.
pub fn private(request: &Request) -> Option<Value> {
    let text = match &request.outcome {
        Outcome::Pending => return None,
        Outcome::Done { message, .. } => Mrkdwn::of(&sentence(message)),
        Outcome::Refused { message } => {
            Mrkdwn::default().bold("Not done.").plain(" ").plain(&sentence(message))
        }
    };
    Some(json!({ "response_type": "ephemeral", "replace_original": false, "text": text }))
}

/// With a great letter at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let is_name = text.starts_with("plan-");
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| if is_name { letter.to_string() } else { letter.to_uppercase().collect() });
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::id::{RequestId, StackId};
    use crate::request::{Ask, Signed};
    use crate::time::Timestamp;

    #[test]
    fn an_answer_says_what_became_of_it_and_mentions_nobody() {
        let by = Signed {
            who: "slack:T1/U1".to_owned(),
            at: Timestamp(0),
            from: "slack".to_owned(),
            message: String::new(),
            identity: None,
        };
        let request = Request::new(RequestId(Ulid(1)), StackId(Ulid(1)), by, Ask::Reject);
        assert_eq!(private(&request), None);
        let told = |outcome| private(&Request { outcome, ..request.clone() }).unwrap()["text"].to_string();
        let message = "no Team knows <!here>".to_owned();
        insta::assert_snapshot!(told(Outcome::Refused { message }), @r#""*Not done.* No Team knows &lt;!here&gt;.""#);
        let message = "plan-main-0123456789 is approved; the apply starts".to_owned();
        let done = Outcome::Done { message, run: None, run_to_come: false };
        insta::assert_snapshot!(told(done), @r#""plan-main-0123456789 is approved; the apply starts.""#);
    }
}
