//! How much memory an input may take.

use std::sync::{Mutex, PoisonError};

use peak_alloc::PeakAlloc;

use crate::Target;

/// Bytes that one input may take at once, inputs being a few kilobytes: caches and schemas that are built once
/// included. Memory that C code takes (zstd's windows) is not counted; libFuzzer bounds all of it.
const MOST: usize = 64 << 20;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What is counted is the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Puts an input through a target; panics where the target does, or where it takes more memory than any input may.
pub fn check(target: Target, data: &[u8]) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    target(data);
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken <= MOST, "an input of {} bytes took {taken} bytes of memory", data.len());
}
