//! The JSON of a plan.

use serde::de::IgnoredAny;
use yuba_core::plan::mask::Masker;
use yuba_core::plan::redact::redact;
use yuba_core::plan::render::{self, View};
use yuba_core::plan::{Styles, read};

/// Summarises and redacts it, and writes it for people.
pub fn target(data: &[u8]) {
    let plan = read(data);
    if let Ok(plan) = &plan {
        let stored = serde_json::to_string(&plan.summary).expect("a summary can be stored");
        let back = serde_json::from_str(&stored).expect("a stored summary can be read");
        assert_eq!(plan.summary, back, "a summary changes as it is stored");
        let address = plan.summary.changes.first().map(|change| change.address.as_str());
        for view in [View::default(), View { address, styles: Styles::Ansi }] {
            render::plan(&plan.summary, &view);
            render::drift(&plan.summary.drift, &view);
        }
    }
    let mut redacted = Vec::new();
    let Ok(secrets) = redact(data, &mut redacted) else { return };
    assert!(serde_json::from_slice::<IgnoredAny>(&redacted).is_ok(), "the redacted plan is no JSON");
    if let (Ok(plan), Ok(shown)) = (&plan, read(redacted.as_slice())) {
        assert_eq!(plan.summary.counts, shown.summary.counts, "the redacted plan does something else");
    }
    if let Ok(masker) = Masker::new(&secrets) {
        masker.mask(&String::from_utf8_lossy(data));
    }
}
