#!/usr/bin/env bash
# Lets libFuzzer look for inputs that break targets: fuzz.sh FOLDER SECONDS TARGET… What it finds new lies below FOLDER, the
# build's; the inputs that are kept are read, and left alone.
set -euo pipefail
[ $# -ge 3 ] || { printf 'usage: fuzz.sh FOLDER SECONDS TARGET…\n' >&2; exit 64; }
mkdir -p "$1"
folder=$(realpath "$1") seconds=$2 here=$(dirname "$(realpath "$0")")
shift 2
for target; do
    [ -d "$here/corpus/$target" ] && continue
    printf 'there is no target %s; %s lists them\n' "$target" "$here/README.md" >&2
    exit 64
done
RUSTC_WORKSPACE_WRAPPER=$here/instrumented.sh "${CARGO:-cargo}" build --locked --workspace --target-dir "$folder" \
    --features yuba-fuzz/libfuzzer "${@/#/--bin=}"
# Targets make folders for each input: in memory where that can be had.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
for target; do
    mkdir -p "$folder/fuzz/$target/found"
    printf '%s: %s seconds\n' "$target" "$seconds"
    "$folder/debug/$target" "$folder/fuzz/$target" "$here/corpus/$target" -artifact_prefix="$folder/fuzz/$target/found/" \
        -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1
done
