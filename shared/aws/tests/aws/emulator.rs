//! The AWS emulator: one process for all tests, which ends with them. Each test makes what it needs under names of its
//! own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use aws_config::SdkConfig;
use tempfile::TempDir;
use yuba_core::id::InstallationId;
use yuba_core::time::Span;

use crate::script::config_of;

/// The emulator, and the clock of its queues.
pub(crate) struct Emulator {
    address: SocketAddr,
    directory: TempDir,
    clock: Mutex<i64>,
    /// Its standard input stays open as long as this process lives; the emulator ends with it.
    _process: Child,
}

/// The emulator that all tests share.
pub(crate) fn emulator() -> &'static Emulator {
    static EMULATOR: OnceLock<Emulator> = OnceLock::new();
    EMULATOR.get_or_init(Emulator::start)
}

/// A name that no other test uses.
pub(crate) fn fresh_name() -> String {
    static NAMES: AtomicU32 = AtomicU32::new(1);
    format!("test-{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

/// An installation that no other test uses.
pub(crate) fn fresh_installation() -> InstallationId {
    InstallationId(fresh_name())
}

impl Emulator {
    #[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
    fn start() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = root.join(".yuba/aws-emulator/bin/python");
        assert!(python.exists(), "the AWS emulator is not installed; run: tests/aws/setup.sh");
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new(python)
            .arg(root.join("tests/aws/emulator.py"))
            .env("YUBA_EMULATOR_CLOCK", clock_file(&directory))
            .env("TMPDIR", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut endpoint = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut endpoint).unwrap();
        let address = endpoint.trim().strip_prefix("http://").and_then(|address| address.parse().ok());
        let address = address.expect("the AWS emulator says where it listens; if it does not start, remove .yuba/aws-emulator and run: tests/aws/setup.sh");
        Self { address, directory, clock: Mutex::new(0), _process: process }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How to reach it.
    pub(crate) async fn config(&self) -> SdkConfig {
        config_of(self.address).await
    }

    /// Moves the time of its queues.
    pub(crate) fn advance(&self, span: Span) {
        let mut clock = self.clock.lock().unwrap();
        *clock += span.0;
        let next = self.directory.path().join("next");
        std::fs::write(&next, clock.to_string()).unwrap();
        std::fs::rename(next, clock_file(&self.directory)).unwrap();
    }
}

fn clock_file(directory: &TempDir) -> PathBuf {
    Path::new(directory.path()).join("clock")
}
