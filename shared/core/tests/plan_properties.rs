//! What holds for every plan: full counts whatever is kept, one digest whatever the order.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::{any, proptest};
use proptest::sample::SizeRange;
use yuba_core::plan::{PlanRead, read};

fn entry(number: usize, actions: &str, value: &str) -> String {
    format!(
        r#"{{"address":"t.r[{number}]","mode":"managed","type":"t","change":{{"actions":[{actions}],"before":{{"v":1}},
        "after":{{"v":"{value}"}}}}}}"#
    )
}

fn plan(entries: &[String]) -> PlanRead {
    let json = format!(r#"{{"format_version":"1.2","resource_changes":[{}]}}"#, entries.join(","));
    read(json.as_bytes()).unwrap()
}

#[test]
fn counts_do_not_depend_on_what_is_kept() {
    let action = |number| if number % 5 == 0 { r#""delete""# } else { r#""update""# };
    let entries: Vec<String> = (0..25_000).map(|number| entry(number, action(number), "x")).collect();
    let summary = plan(&entries).summary;
    assert_eq!((summary.counts.delete, summary.counts.update), (5_000, 20_000));
    let listed = u32::try_from(summary.changes.len()).unwrap();
    assert_eq!(listed + summary.left_out.entries, 25_000);
    assert_eq!(summary.left_out.details, listed - 2_000);
    let destructive = summary.changes.iter().filter(|change| change.action.is_destructive());
    assert_eq!(destructive.count(), 5_000);
}

#[test]
fn details_are_bounded_by_their_size_too() {
    let long = "x".repeat(8_000);
    let entries: Vec<String> = (0..400).map(|number| entry(number, r#""update""#, &long)).collect();
    let summary = plan(&entries).summary;
    assert_eq!((summary.counts.update, summary.changes.len()), (400, 400));
    assert!(summary.left_out.details > 100);
    assert!(serde_json::to_string(&summary).unwrap().len() < 2_300_000);
}

#[test]
fn keys_and_entries_may_come_in_any_order_but_each_digit_counts() {
    let plan = |text: &str| read(text.as_bytes()).unwrap().changes;
    let one = r#"{"format_version":"1.2","terraform_version":"1.11.4","resource_changes":[
        {"address":"a.a","change":{"actions":["update"],"before":{"n":1.0,"s":"x"},"after":{"n":2,"s":"x"}}},
        {"address":"a.b","change":{"actions":["delete"],"before":{},"after":null,"after_unknown":{}}}]}"#;
    let other = r#"{"timestamp":"later","terraform_version":"1.11.5","resource_changes":[
        {"change":{"after_unknown":false,"after":null,"before":{},"actions":["delete"]},"address":"a.b"},
        {"change":{"actions":["update"],"after":{"s":"x","n":2},"before":{"s":"x","n":1.0}},"address":"a.a"}],"format_version":"1.2"}"#;
    assert_eq!(plan(one), plan(other));
    assert_ne!(plan(one), plan(&one.replace("1.0,", "1.00,")));
    assert_ne!(plan(one), plan(&one.replace("a.b", "a.c")));
    assert_ne!(plan(one), plan(&one.replace(r#"["delete"]"#, r#"["forget"]"#)));
}

#[test]
fn sensitive_values_enter_the_digest_though_they_are_not_kept() {
    let with = |secret: &str| {
        let json = format!(
            r#"{{"format_version":"1.2","resource_changes":[{{"address":"a.b","change":{{"actions":["create"],
            "before":null,"after":{{"pw":"{secret}"}},"after_sensitive":{{"pw":true}}}}}}]}}"#
        );
        read(json.as_bytes()).unwrap()
    };
    assert_ne!(with("one").changes, with("two").changes);
    assert_eq!(with("one").summary, with("two").summary);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), SizeRange::from(0..200))) {
        let _ = read(bytes.as_slice());
        let nearly = [br#"{"format_version":"1.2","resource_changes":[{"address":"#.as_slice(), &bytes].concat();
        let _ = read(nearly.as_slice());
    }
}

#[test]
fn a_plan_that_is_cut_anywhere_is_refused() {
    let whole =
        format!(r#"{{"format_version":"1.2","resource_changes":[{}]}}"#, entry(1, r#""create""#, "v"));
    for end in 0..whole.len() {
        assert!(read(whole.as_bytes().get(..end).unwrap()).is_err(), "cut at {end}");
    }
}
