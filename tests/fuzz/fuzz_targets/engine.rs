//! The target `engine` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| yuba_fuzz::check(yuba_fuzz::engine::target, data));
