//! What an unquoted scalar means: as `sigs.k8s.io/yaml` (and with it kubectl and Flux) reads it, so that a variable
//! has the same value here as under tofu-controller. That is YAML 1.1 in the cast of go-yaml v2: `yes`, `no`, `on` and
//! `off` are booleans, `0755` is octal, digits may be parted by `_`, dates are texts.

use serde_json::Number;

use super::yaml::Tree;

/// The value of an unquoted scalar; a text if it has no other meaning.
pub(super) fn resolve(raw: &str) -> Tree {
    match raw {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Tree::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Tree::Bool(false),
        _ => number(raw).map_or_else(|| Tree::Text(raw.to_owned()), Tree::Number),
    }
}

/// A number in one of go-yaml's forms.
pub(super) fn number(raw: &str) -> Option<Number> {
    if !raw.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter)) {
        return None;
    }
    let plain = raw.replace('_', "");
    integer(&plain).or_else(|| float(&plain))
}

fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = radix_of(digits);
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Number::from_i128(if negative { -value } else { value })
}

/// As Go's `strconv.ParseInt` with base 0.
fn radix_of(digits: &str) -> (u32, &str) {
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    match (lower.as_deref(), digits.get(2..)) {
        (Some("0x"), Some(rest)) => (16, rest),
        (Some("0o"), Some(rest)) => (8, rest),
        (Some("0b"), Some(rest)) => (2, rest),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        _ => (10, digits),
    }
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`, as go-yaml has it.
fn float(text: &str) -> Option<Number> {
    let letters = text.chars().all(|letter| letter.is_ascii_digit() || "+-.eE".contains(letter));
    if !letters || !text.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_mean_what_they_mean_to_kubectl() {
        for (raw, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("yes", json!(true)),
            ("Off", json!(false)),
            ("y", json!("y")),
            ("12", json!(12)),
            ("-7", json!(-7)),
            ("0755", json!(493)),
            ("0x1F", json!(31)),
            ("1_000", json!(1000)),
            ("1.6", json!(1.6)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("1.6.2", json!("1.6.2")),
            ("10m", json!("10m")),
            ("2026-11-30", json!("2026-11-30")),
            ("-", json!("-")),
            ("0x", json!("0x")),
            ("--1", json!("--1")),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ] {
            assert_eq!(resolve(raw).to_json(), value, "{raw}");
        }
    }
}
