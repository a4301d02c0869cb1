//! Places of manifests.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use yuba_api::wire::{List, ManifestSetItem};
use yuba_core::id::ManifestSetName;
use yuba_core::source::{FindingCounts, ManifestSetRecord};
use yuba_core::time::Timestamp;

use crate::kit::World;

#[tokio::test]
async fn what_is_wrong_with_manifests_is_listed_counted_and_shown() {
    let world = World::new().await;
    let finding = "flux/bad.yaml:8:3: error: spec.intervall: no such field";
    let set = ManifestSetRecord {
        name: ManifestSetName("https://ada:secret@h/infra.git//flux".to_owned()),
        snapshot: 3,
        taken: 3,
        digest: None,
        values: BTreeMap::new(),
        findings: vec![finding.to_owned(), "flux/a.yaml:1:1: warning: w".to_owned()],
        found: FindingCounts { errors: 2, warnings: 1, notices: 0 },
        failure: None,
        due: Some(Timestamp(1_796_027_157_000)),
    };
    world.put(&set).await;
    let (status, list) = world.get("/api/v1/manifests").await;
    assert_eq!(status, StatusCode::OK);
    let list: List<ManifestSetItem> = serde_json::from_str(&list).unwrap();
    let item = list.items.first().unwrap();
    assert_eq!((item.name.as_str(), item.ready.as_str()), ("https://h/infra.git//flux", "False"));
    assert_eq!(item.status, format!("{finding} (and 1 more error)"));
    assert_eq!((item.errors, item.findings.len()), (2, 2));
    let (_, metrics) = world.get("/metrics").await;
    assert!(metrics.contains("yuba_manifest_findings{severity=\"error\"} 2\n"), "{metrics}");
    assert!(metrics.contains("yuba_manifest_sets{ready=\"False\"} 1\n"), "{metrics}");
    let (_, page) = world.get("/").await;
    assert!(page.contains("spec.intervall"), "{page}");
}
