#!/usr/bin/env bash
# What docs/benchmarks.md promises of speed, each measured against its yardstick in the same run: `bench.sh [a] [b] [c] [d] [e]`.
# Ends with 0 also where a promise is missed: the table says so. That page says what is measured how.
set -euo pipefail

bin=$(cd "${YUBA_BIN_DIR:?the directory of the built binaries}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/yuba-bench.XXXXXX")
# Where this runs as root, each tofu is another user, who passes here.
chmod 711 "$dir"
export XDG_STATE_HOME=$dir/state NO_COLOR=1 TOY_CLOUD_DIR=$dir/cloud
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$dir/gitconfig
rounds=${YUBA_BENCH_ROUNDS:-5} stacks=${YUBA_BENCH_STACKS:-1000} seconds=${YUBA_BENCH_SECONDS:-30}
server="" rows=()

# shellcheck source=lib.sh
source "$here/lib.sh"
trap finish EXIT

# (a) A push until its plan is stored, and the same three commands by hand, in turns.
bench_a() {
    begin_repository
    one_stack
    publish "Begin"
    start_server
    wait_for_planned "$(head_of)" >/dev/null
    local ours=() bare=() from until round
    for round in $(seq "$rounds"); do
        bare+=("$(bare_plan)")
        resources "$round" >"$repo/stack/main.tf"
        publish "Round $round"
        from=$(now)
        knock
        until=$(wait_for_planned "$(head_of)")
        ours+=($((until - from)))
        say "a: round $round: ${ours[-1]} ms, bare ${bare[-1]} ms"
    done
    stop_server
    local yardstick measured
    measured=$(median "${ours[@]}") yardstick=$(median "${bare[@]}")
    row "a  push to plan stored (median of $rounds)" "$measured" "$yardstick" $((yardstick * 110 / 100 + 150)) ms "init, plan, show by hand"
}

# (b) Signed webhooks that each wake a source, at a fixed rate.
bench_b() {
    begin_repository
    publish "Begin"
    start_server
    local line
    line=$("$bin/yuba-bench-load" "${YUBA_SERVER#http://}" "$dir/hook" 500 10 "$(delivery)")
    say "b: $line"
    stop_server
    row "b  webhook to durable 202, p99 at 500/s" "$(field p99 "$line")" "$(synced_write)" 10 ms "one write, synced to disk"
    row "b  the same, p50" "$(field p50 "$line")" "-" "-" ms "none"
    row "b  webhooks answered 202, of 5000" "$(field accepted "$line")" "-" "-" "" "none"
}

# (c) The server with stacks whose runs have ended and which wait for new input: nothing is due for a day.
bench_c() {
    begin_repository
    local number
    for number in $(seq "$stacks"); do idle_stack "$number"; done >"$repo/flux/idle.yaml"
    publish "Begin"
    start_server
    wait_for_quiet
    local known before after
    known=$(yuba get stacks -o json | grep -c '"state": "failed"' || true)
    before=$(ticks)
    sleep "$seconds"
    after=$(ticks)
    stop_server
    local percent
    percent=$(awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$seconds" 'BEGIN { printf "%.2f", 100 * t / hz / s }')
    say "c: $known of $stacks stacks have a run that ended (their directory is missing, so they wait for a push)"
    row "c  CPU with $stacks idle stacks, ${seconds} s" "$percent" "-" 1 "%" "a core"
}

# (d) A large plan, summarised.
bench_d() {
    local usage kilobytes
    "$bin/examples/summarise" --generate "$dir/plan.json" 200
    usage=$(measured_memory "$bin/examples/summarise" "$dir/plan.json")
    kilobytes=$(cut -d' ' -f1 <<<"$usage")
    say "d: $(du -m "$dir/plan.json" | cut -f1) MiB read in $(cut -d' ' -f2 <<<"$usage") s"
    row "d  memory to summarise a 200 MB plan" $((kilobytes / 1024)) "$(du -m "$dir/plan.json" | cut -f1)" 64 MiB "the plan itself"
    rm -f "$dir/plan.json"
}

# (e) A monorepo of 10,000 stacks, 1,000 modules and 100,000 files; one module is touched.
bench_e() {
    local out tree_diff
    out=$("$bin/examples/monorepo" "$dir/monorepo")
    say "e: $(sed -n 2p <<<"$out")"
    tree_diff=$(elapsed git -C "$dir/monorepo" diff-tree -r --name-only main~1 main)
    row "e  affected stacks, last revision known" "$(number_in known: "$out")" "$tree_diff" 1000 ms "git diff-tree alone"
    row "e  affected stacks, nothing known" "$(number_in unknown: "$out")" "$tree_diff" 6000 ms "git diff-tree alone"
}

parts=("$@")
[ "${#parts[@]}" -gt 0 ] || parts=(a b c d e)
printf '%s cores, load %s\n' "$(nproc)" "$(cut -d' ' -f1-3 /proc/loadavg)"
for part in "${parts[@]}"; do
    case $part in
        a | b | c | d | e) attempt "$part" ;;
        *) die "there is no part $part: a, b, c, d, e" ;;
    esac
done
table
