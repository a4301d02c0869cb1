//! JSON values as YAML: block style, strings quoted wherever YAML could read them as something else.

use std::fmt::Write;

use serde_json::Value;

/// The value as a YAML document.
pub(crate) fn write(value: &Value) -> String {
    let mut text = String::new();
    node(&mut text, value, 0);
    text
}

fn node(text: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                let _ = write!(text, "{indent}{}:", scalar(&Value::String(name.clone())));
                below(text, field, depth + 1);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let mut inner = String::new();
                node(&mut inner, item, depth + 1);
                let _ = write!(text, "{indent}- {}", inner.trim_start());
            }
        }
        other => {
            let _ = writeln!(text, "{indent}{}", scalar(other));
        }
    }
}

fn below(text: &mut String, value: &Value, depth: usize) {
    let nested = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if nested {
        text.push('\n');
        node(text, value, depth);
    } else {
        let _ = writeln!(text, " {}", scalar(value));
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(plain) if is_plain(plain) => plain.clone(),
        other => other.to_string(),
    }
}

/// Whether a string reads as itself without quotes. Words and numbers that YAML 1.1 reads otherwise do not.
fn is_plain(text: &str) -> bool {
    let word = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_/.".contains(letter));
    let first = text.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic());
    let reserved = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    word && first && !reserved.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn values_are_written_in_blocks() {
        let value =
            json!({"items": [{"name": "a", "ready": "True", "labels": {}, "list": [1, "x y"]}], "no": null});
        insta::assert_snapshot!(super::write(&value), @r#"
        items:
          - name: a
            ready: "True"
            labels: {}
            list:
              - 1
              - "x y"
        "no": null
        "#);
    }
}
