//! What a status says that is no success: one table for all services.

use yuba_core::notify::{Mend, Undelivered};
use yuba_core::time::Span;
use yuba_ports::HttpAnswer;

/// How long is waited where too much was sent, and the answer does not say.
const TOO_MANY_WAIT: Span = Span::minutes(1);
/// How much of an answer is shown.
const LONGEST: usize = 200;

/// Takes an answer of success; else says what may mend it.
pub(super) fn success(answer: &HttpAnswer) -> Result<(), Undelivered> {
    let mend = match answer.status {
        200..=299 => return Ok(()),
        429 => Mend::After(answer.retry_after.unwrap_or(TOO_MANY_WAIT)),
        408 | 425 | 500.. => answer.retry_after.map_or(Mend::Time, Mend::After),
        // A redirect could lead anywhere: the address is to be the last one.
        300..=399 | 401..=407 | 410 => Mend::Settings,
        _ => Mend::Nothing,
    };
    Err(Undelivered::new(mend, words(answer)))
}

/// The status, and the beginning of what was said.
fn words(answer: &HttpAnswer) -> String {
    let said = String::from_utf8_lossy(&answer.body);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    let status = answer.status;
    let hint = match status {
        300..=399 => " (a redirect, which is not followed: give the address it leads to)",
        _ => "",
    };
    if said.is_empty() { format!("HTTP {status}{hint}") } else { format!("HTTP {status}{hint}: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(status: u16, retry_after: Option<i64>, body: &str) -> Result<(), Undelivered> {
        let retry_after = retry_after.map(Span::seconds);
        success(&HttpAnswer { status, retry_after, body: body.as_bytes().to_vec() })
    }

    #[test]
    fn each_status_says_what_may_mend_it() {
        assert_eq!(heard(204, None, ""), Ok(()));
        for (status, retry_after, mend) in [
            (302, None, Mend::Settings),
            (400, None, Mend::Nothing),
            (401, None, Mend::Settings),
            (403, None, Mend::Settings),
            (404, None, Mend::Settings),
            (408, None, Mend::Time),
            (410, None, Mend::Settings),
            (413, None, Mend::Nothing),
            (422, None, Mend::Nothing),
            (429, None, Mend::After(Span::minutes(1))),
            (429, Some(7), Mend::After(Span::seconds(7))),
            (500, None, Mend::Time),
            (503, Some(30), Mend::After(Span::seconds(30))),
        ] {
            assert_eq!(heard(status, retry_after, "no").unwrap_err().mend, mend, "{status}");
        }
    }

    #[test]
    fn what_was_said_is_shown_in_one_line_and_bounded() {
        assert_eq!(heard(500, None, "a\n\tb").unwrap_err().why, "HTTP 500: a b");
        assert_eq!(heard(500, None, &"ü".repeat(900)).unwrap_err().why.chars().count(), 210);
        assert_eq!(
            heard(301, None, "").unwrap_err().why,
            "HTTP 301 (a redirect, which is not followed: give the address it leads to)"
        );
    }
}
