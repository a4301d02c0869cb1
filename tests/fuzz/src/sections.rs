//! Inputs that hold several texts, each after a line `=== head`.

/// The texts with their heads. What stands before the first head is left out.
pub(crate) fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let from_first = text.strip_prefix("=== ").or_else(|| Some(text.split_once("\n=== ")?.1));
    let sections = from_first.into_iter().flat_map(|text| text.split("\n=== "));
    sections.map(|section| section.split_once('\n').unwrap_or((section, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_head_begins_a_section() {
        let read = |text| sections(text).collect::<Vec<_>>();
        assert_eq!(read("=== a\n1\n2\n=== b\n=== c\n3"), [("a", "1\n2"), ("b", ""), ("c", "3")]);
        assert_eq!(read("x\n=== a\n1"), [("a", "1")]);
        assert_eq!(read("x"), []);
    }
}
