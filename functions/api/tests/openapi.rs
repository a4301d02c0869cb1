//! The description that is checked in is the one that is served.

use std::path::Path;

/// Run with `YUBA_UPDATE_OPENAPI=1` to write the file anew.
#[test]
fn the_checked_in_description_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let current = yuba_api::description().to_pretty_json().unwrap() + "\n";
    if option_env!("YUBA_UPDATE_OPENAPI").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let stored = std::fs::read_to_string(&path).expect("docs/openapi.json is there");
    assert!(
        stored == current,
        "docs/openapi.json differs: run `YUBA_UPDATE_OPENAPI=1 cargo test -p yuba-api --test openapi`"
    );
}
