//! The contract of `Blobs`.

use std::path::Path;
use std::sync::Arc;

use crate::{Blobs, PutMode, PutOutcome, Remedy};

/// Holds an object store to its contract; `fresh` makes an empty one, `scratch` is a directory for files.
pub async fn blobs<B: Blobs + 'static>(mut fresh: impl AsyncFnMut() -> B, scratch: &Path) {
    what_is_put_is_got(&fresh().await).await;
    files_go_in_and_out(&fresh().await, scratch).await;
    create_only_leaves_what_is_there(&fresh().await).await;
    one_of_many_creators_wins(Arc::new(fresh().await)).await;
    keys_are_listed_in_order(&fresh().await).await;
    bad_keys_are_refused(&fresh().await).await;
}

async fn what_is_put_is_got(blobs: &impl Blobs) {
    assert_eq!(blobs.get("runs/a/b").await.unwrap(), None);
    assert!(!blobs.exists("runs/a/b").await.unwrap());
    for bytes in [&b""[..], b"one", b"\0\xff two"] {
        assert_eq!(blobs.put("runs/a/b", bytes, PutMode::Replace).await.unwrap(), PutOutcome::Written);
        assert_eq!(blobs.get("runs/a/b").await.unwrap().as_deref(), Some(bytes));
    }
    assert!(blobs.exists("runs/a/b").await.unwrap());
    blobs.delete("runs/a/b").await.unwrap();
    blobs.delete("runs/a/b").await.unwrap();
    assert_eq!(blobs.get("runs/a/b").await.unwrap(), None);
}

async fn files_go_in_and_out(blobs: &impl Blobs, scratch: &Path) {
    let (from, to) = (scratch.join("from"), scratch.join("to"));
    let content: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&from, &content).unwrap();
    assert!(!blobs.get_file("big", &to).await.unwrap());
    assert!(!to.exists(), "no file is made for an object that is not there");
    assert_eq!(blobs.put_file("big", &from, PutMode::CreateOnly).await.unwrap(), PutOutcome::Written);
    assert!(blobs.put_file("other", &to, PutMode::Replace).await.is_err(), "no file to read");
    assert!(blobs.get_file("big", &to).await.unwrap());
    assert!(std::fs::read(&to).unwrap() == content);
}

async fn create_only_leaves_what_is_there(blobs: &impl Blobs) {
    assert_eq!(blobs.put("k", b"first", PutMode::CreateOnly).await.unwrap(), PutOutcome::Written);
    assert_eq!(blobs.put("k", b"second", PutMode::CreateOnly).await.unwrap(), PutOutcome::Exists);
    assert_eq!(blobs.get("k").await.unwrap().unwrap(), b"first");
}

async fn one_of_many_creators_wins<B: Blobs + 'static>(blobs: Arc<B>) {
    let create = |number: u8| {
        let blobs = blobs.clone();
        tokio::spawn(
            async move { blobs.put("contended", &[number; 5000], PutMode::CreateOnly).await.unwrap() },
        )
    };
    let creators: Vec<_> = (0..16).map(create).collect();
    let mut winner = None;
    for (number, creator) in (0..).zip(creators) {
        if creator.await.unwrap() == PutOutcome::Written {
            assert_eq!(winner.replace(number), None, "one creator wins");
        }
    }
    assert_eq!(blobs.get("contended").await.unwrap().unwrap(), [winner.unwrap(); 5000]);
}

async fn keys_are_listed_in_order(blobs: &impl Blobs) {
    for key in ["b/2", "a", "b/1/x", "b/10", "bb", "b.c"] {
        blobs.put(key, b"", PutMode::Replace).await.unwrap();
    }
    assert_eq!(blobs.list("b/", None, 9).await.unwrap(), ["b/1/x", "b/10", "b/2"]);
    assert_eq!(blobs.list("b/1", None, 9).await.unwrap(), ["b/1/x", "b/10"]);
    assert_eq!(blobs.list("b", None, 3).await.unwrap(), ["b.c", "b/1/x", "b/10"]);
    assert_eq!(blobs.list("b", Some("b/10"), 9).await.unwrap(), ["b/2", "bb"]);
    assert_eq!(blobs.list("nothing", None, 9).await.unwrap(), [""; 0]);
    assert_eq!(blobs.list("", None, 9).await.unwrap().len(), 6);
}

async fn bad_keys_are_refused(blobs: &impl Blobs) {
    let long = "x".repeat(256);
    for key in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\0b", "a\nb", "a\\b", ".tmpx", &long] {
        let refused = blobs.put(key, b"", PutMode::Replace).await.unwrap_err();
        assert_eq!(refused.remedy, Remedy::Permanent, "{key:?}");
        assert!(blobs.get(key).await.is_err(), "{key:?}");
    }
}
