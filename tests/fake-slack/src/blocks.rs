//! What the real one demands of blocks. <https://docs.slack.dev/reference/block-kit/blocks>

use serde_json::Value;

/// Everything that is wrong with the blocks of a message or a view.
pub(crate) fn faults(blocks: &Value) -> Vec<String> {
    let Some(list) = blocks.as_array() else { return vec!["the blocks are no list".to_owned()] };
    let mut faults: Vec<String> =
        list.iter().enumerate().flat_map(|(at, block)| of_block(at, block)).collect();
    // A view may have a hundred; a message is what is mostly sent.
    if list.len() > 50 {
        faults.push(format!("{} blocks, at most 50 are taken", list.len()));
    }
    faults
}

fn of_block(at: usize, block: &Value) -> Vec<String> {
    let kind = block["type"].as_str().unwrap_or_default();
    let faults = match kind {
        "header" => text(&block["text"], 150, Form::Plain),
        "section" => text(&block["text"], 3000, Form::Any),
        "context" => elements(block, 10, |held| text(held, 3000, Form::Any)),
        "actions" => elements(block, 25, element),
        "divider" => Vec::new(),
        "input" => text(&block["label"], 2000, Form::Plain),
        _ => vec![format!("the type `{kind}` is not known")],
    };
    faults.into_iter().map(|fault| format!("block {at} ({kind}): {fault}")).collect()
}

fn elements(block: &Value, most: usize, each: impl Fn(&Value) -> Vec<String>) -> Vec<String> {
    let Some(elements) = block["elements"].as_array() else { return vec!["it has no elements".to_owned()] };
    let mut faults: Vec<String> = elements.iter().flat_map(each).collect();
    if elements.is_empty() || elements.len() > most {
        faults.push(format!("{} elements, 1 to {most} are taken", elements.len()));
    }
    let mut ids: Vec<&Value> = elements.iter().map(|element| &element["action_id"]).collect();
    ids.retain(|id| !id.is_null());
    let count = ids.len();
    ids.sort_by_key(ToString::to_string);
    ids.dedup();
    if ids.len() < count {
        faults.push("an action_id stands there twice".to_owned());
    }
    faults
}

fn element(element: &Value) -> Vec<String> {
    let kind = element["type"].as_str().unwrap_or_default();
    if kind != "button" {
        return vec![format!("the element `{kind}` is not known")];
    }
    let mut faults = text(&element["text"], 75, Form::Plain);
    let long = |name: &str, most: usize| length(element[name].as_str().unwrap_or_default()) > most;
    for (name, most) in [("value", 2000), ("url", 3000), ("action_id", 255)] {
        if long(name, most) {
            faults.push(format!("its {name} is longer than {most}"));
        }
    }
    let style = &element["style"];
    if !(style.is_null() || style == "primary" || style == "danger") {
        faults.push(format!("the style {style} is not known"));
    }
    faults
}

/// Which forms of text are taken.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Any,
}

fn text(text: &Value, most: usize, form: Form) -> Vec<String> {
    let kind = text["type"].as_str().unwrap_or_default();
    let held = text["text"].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    let is_known = kind == "plain_text" || (form == Form::Any && kind == "mrkdwn");
    if !is_known {
        faults.push(format!("a text of the type `{kind}`"));
    }
    if held.is_empty() || length(held) > most {
        faults.push(format!("a text of {} letters, 1 to {most} are taken", length(held)));
    }
    let options = ["emoji", "verbatim", "type", "text"];
    let others = text.as_object().into_iter().flatten().filter(|(name, _)| !options.contains(&name.as_str()));
    faults.extend(others.map(|(name, _)| format!("a text has no field `{name}`")));
    faults
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_right_has_no_faults() {
        let blocks = json!([
            { "type": "header", "text": { "type": "plain_text", "text": "a", "emoji": false } },
            { "type": "section", "text": { "type": "mrkdwn", "text": "a", "verbatim": true } },
            { "type": "actions", "elements": [
                { "type": "button", "action_id": "a", "text": { "type": "plain_text", "text": "A" }, "value": "1" },
            ] },
        ]);
        assert_eq!(faults(&blocks), Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let plain = |text: String| json!({ "type": "plain_text", "text": text });
        let button =
            json!({ "type": "button", "action_id": "a", "text": plain("x".repeat(76)), "style": "loud" });
        let blocks = json!([
            { "type": "header", "text": plain("x".repeat(151)) },
            { "type": "header", "text": { "type": "mrkdwn", "text": "a" } },
            { "type": "section", "text": plain(String::new()) },
            { "type": "sections" },
            { "type": "actions", "elements": [button, button] },
            { "type": "context", "elements": [] },
        ]);
        assert_eq!(
            faults(&blocks),
            [
                "block 0 (header): a text of 151 letters, 1 to 150 are taken",
                "block 1 (header): a text of the type `mrkdwn`",
                "block 2 (section): a text of 0 letters, 1 to 3000 are taken",
                "block 3 (sections): the type `sections` is not known",
                "block 4 (actions): a text of 76 letters, 1 to 75 are taken",
                "block 4 (actions): the style \"loud\" is not known",
                "block 4 (actions): a text of 76 letters, 1 to 75 are taken",
                "block 4 (actions): the style \"loud\" is not known",
                "block 4 (actions): an action_id stands there twice",
                "block 5 (context): 0 elements, 1 to 10 are taken",
            ]
        );
        let many: Vec<Value> = (0..51).map(|_| json!({ "type": "divider" })).collect();
        assert_eq!(faults(&Value::Array(many)), ["51 blocks, at most 50 are taken"]);
    }
}
