//! The target `closure` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| yuba_fuzz::check(yuba_fuzz::closure::target, data));
