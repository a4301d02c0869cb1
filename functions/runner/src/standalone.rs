//! Engines without a server: what the command line asks of them on a person's own machine.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use yuba_core::dialect::binary;
use yuba_core::spec::{EnginePreference, EngineTool};

use crate::ended::Ended;
use crate::engine::{Found, find, fits};

/// An engine that the PATH holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineOnPath {
    found: Found,
}

impl EngineOnPath {
    pub(crate) fn new(found: Found) -> Self {
        Self { found }
    }

    /// Which of the two.
    pub fn tool(&self) -> EngineTool {
        self.found.tool
    }

    /// Its version, where it says one.
    pub fn version(&self) -> Option<&str> {
        self.found.version.as_deref()
    }

    /// Whether its version fulfils a constraint (`>= 1.6, < 2`); `None` where either cannot be read.
    pub fn fits(&self, constraint: &str) -> Option<bool> {
        fits(constraint, self.version()?)
    }
}

impl fmt::Display for EngineOnPath {
    /// `terraform 1.11.4`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(binary(self.tool()))?;
        self.version().map_or(Ok(()), |version| write!(formatter, " {version}"))
    }
}

/// The engine that a stack would be planned with, and what people should know about the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineChoice {
    /// The engine.
    pub engine: EngineOnPath,
    /// Why it is another than was asked for.
    pub notice: Option<String>,
}

/// The engines that the PATH of an environment holds, `tofu` first. Each is asked for its version; `cache` is a
/// directory that answers are kept in.
pub async fn engines_on_path(environment: &BTreeMap<String, String>, cache: &Path) -> Vec<EngineOnPath> {
    let mut engines = Vec::new();
    for mut found in find::on_path(environment) {
        found.version = find::version_of(&found, cache).await.ok();
        engines.push(EngineOnPath { found });
    }
    engines
}

/// The engine that the runner would take of these. The error says what is there instead.
pub fn choose_engine(engines: &[EngineOnPath], wanted: &EnginePreference) -> Result<EngineChoice, String> {
    let found: Vec<Found> = engines.iter().map(|engine| engine.found.clone()).collect();
    match find::choose_among(&found, wanted) {
        Ok(choice) => {
            Ok(EngineChoice { engine: EngineOnPath { found: choice.engine }, notice: choice.notice })
        }
        Err(Ended::Failed(failure)) => Err(failure.message),
        Err(Ended::Interrupted) => Err("interrupted".to_owned()),
    }
}
