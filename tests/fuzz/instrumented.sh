#!/bin/sh
# Compiles one of Yuba's own crates with the counters that libFuzzer is guided by: cargo calls it in place of rustc.
rustc=$1
shift
exec "$rustc" "$@" -Copt-level=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0
