//! What `plan -json` and `apply -json` say, line by line.

use yuba_core::plan::lock;
use yuba_core::plan::stream::{EngineEvent, parse_line};

/// Reads each line.
pub fn target(data: &[u8]) {
    for line in String::from_utf8_lossy(data).split('\n') {
        let read = parse_line(line);
        if let EngineEvent::Diagnosed(diagnostic) = &read.event {
            assert!(read.text.contains(&diagnostic.summary), "the log lacks what was diagnosed");
            lock::held(&diagnostic.detail);
        }
        assert!(read.text.len() <= line.len() + 64, "the log says more than the engine");
    }
}
