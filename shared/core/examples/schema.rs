//! Writes `docs/schema/*.json` and `docs/manifests.md` from the types: `cargo run -p yuba-core --example schema`.

use std::io;
use std::path::Path;

use yuba_core::cloud_event::CloudEvent;
use yuba_core::manifest::{reference, schemas};

fn main() -> io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::create_dir_all(docs.join("schema"))?;
    for kind in schemas() {
        std::fs::write(docs.join("schema").join(kind.file), kind.to_text())?;
    }
    std::fs::write(docs.join("schema/event.json"), CloudEvent::schema())?;
    std::fs::write(docs.join("manifests.md"), reference())
}
