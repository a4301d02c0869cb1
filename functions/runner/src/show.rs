//! `show -json` of a plan, read once as a stream: summarised and redacted at the same time, in bounded memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::thread;

use yuba_core::plan::mask::Masker;
use yuba_core::plan::redact::{RedactError, redact};
use yuba_core::plan::{PlanRead, ReadPlanError, read};
use yuba_core::run::FailureClass;

use crate::classify;
use crate::ended::{Ended, Step};
use crate::engine::{Place, text};
use crate::hide::MaskJson;
use crate::objects::private_file;

/// What a plan holds.
pub(crate) struct Shown {
    /// Reduced.
    pub(crate) plan: PlanRead,
    /// The texts that were hidden.
    pub(crate) secrets: BTreeSet<String>,
}

/// Shows a plan file; the redacted JSON goes to `redacted`.
pub(crate) async fn show(place: &Place, plan: &Path, redacted: &Path, masker: Masker) -> Step<Shown> {
    let arguments = ["show".as_ref(), "-json".as_ref(), "-no-color".as_ref(), plan.as_os_str()];
    let mut running = place.start(&arguments)?;
    let stdout = running.take_stdout()?;
    let out = private_file(redacted).map_err(|error| Ended::io("write", redacted, &error))?;
    let reading = tokio::task::spawn_blocking(move || divide(stdout, out, masker));
    let exit = running.wait().await?;
    let outcome = reading.await.map_err(|_| Ended::transient("the plan could not be read"))?;
    if exit.code != Some(0) {
        return Err(classify::failure(&text::read_text(&exit.stderr), &exit, "show -json"));
    }
    let outcome = outcome.map_err(|error| Ended::io("read the plan from", Path::new("a pipe"), &error))?;
    let unread =
        |why: String| Ended::failed(FailureClass::Configuration, format!("the plan cannot be read: {why}"));
    let plan = outcome.0.map_err(|error| unread(error.to_string()))?;
    let secrets = outcome.1.map_err(|error| match error {
        RedactError::Write(error) => Ended::io("write", redacted, &error),
        RedactError::Read(error) => unread(error.to_string()),
    })?;
    Ok(Shown { plan, secrets })
}

type Outcome = (Result<PlanRead, ReadPlanError>, Result<BTreeSet<String>, RedactError>);

fn divide(from: impl Read, out: File, masker: Masker) -> io::Result<Outcome> {
    let (summary_in, summary_out) = io::pipe()?;
    let (redact_in, redact_out) = io::pipe()?;
    thread::scope(|scope| {
        let summary = scope.spawn(move || read(summary_in));
        let redacted = scope.spawn(move || redact_into(redact_in, out, masker));
        tee(from, [Some(summary_out), Some(redact_out)])?;
        let gone = |_| io::Error::other("a reader of the plan panicked");
        Ok((summary.join().map_err(gone)?, redacted.join().map_err(gone)?))
    })
}

fn redact_into(from: PipeReader, out: File, masker: Masker) -> Result<BTreeSet<String>, RedactError> {
    let mut out = MaskJson::new(BufWriter::with_capacity(1 << 16, out), masker);
    let secrets = redact(from, &mut out)?;
    out.flush().map_err(RedactError::Write)?;
    Ok(secrets)
}

/// Copies to all outlets; one whose reader is gone gets no more.
fn tee(mut from: impl Read, mut outlets: [Option<PipeWriter>; 2]) -> io::Result<()> {
    let mut chunk = vec![0; 1 << 16];
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = chunk.get(..count).unwrap_or_default();
        for outlet in &mut outlets {
            if outlet.as_mut().is_some_and(|open| open.write_all(bytes).is_err()) {
                *outlet = None;
            }
        }
    }
}
