//! What the pusher reads of `yuba hook post-receive`; Git shows it behind `remote:`.

use serde_json::Value;

use crate::commands::push_hook::{Pushed, Told};

/// One line per reference.
pub(crate) fn told(push: &Pushed, server: &str, told: &Told) -> String {
    let reference = &push.reference;
    match told {
        Told::Accepted(answer) => format!("yuba: {reference}: {}\n", accepted(answer)),
        Told::Refused(status, why) => format!("yuba: {reference}: refused by {server} ({status}): {why}\n"),
        Told::Away(why) => format!(
            "yuba: {reference}: {server} is away ({why}); the push is found when the source is polled\n"
        ),
    }
}

fn accepted(answer: &Value) -> String {
    if let Some(reason) = answer.get("ignored").and_then(Value::as_str) {
        return format!("nothing to do: {reason}");
    }
    let names = |member: &str| answer.get(member).and_then(Value::as_array).cloned().unwrap_or_default();
    let woken: Vec<String> = names("sources")
        .iter()
        .chain(&names("manifests"))
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    format!("{} will look for it", woken.join(", "))
}
