# What the benchmarks are made of. Sourced by bench.sh.

repo=""

yuba() { "$bin/yuba" "$@"; }
say() { printf '%s\n' "$*" >&2; }
die() {
    say "bench: $1"
    exit 1
}
now() { date +%s%3N; }
median() { printf '%s\n' "$@" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }
number_in() { sed -n "s/^previous revision $1 *\([0-9]*\) ms.*/\1/p" <<<"$2"; }

# Runs a part; one that breaks off is a row of the table like one that is missed.
attempt() {
    local code=0
    set +e
    (set -e; rows=(); "bench_$1"; printf '%s\n' "${rows[@]}" >"$dir/rows.$1")
    code=$?
    set -e
    if [ "$code" -eq 0 ]; then
        mapfile -t -O "${#rows[@]}" rows <"$dir/rows.$1"
    else
        rows+=("$1  broke off with exit code $code|-|-|-|-|missed|")
    fi
    if [ -s "$dir/server.pid" ]; then stop_server; fi
}

# what, measured, yardstick, limit, unit, what the yardstick is
row() {
    local ratio="-" held="-"
    [ "$3" = "-" ] || ratio=$(awk -v a="$2" -v b="$3" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }')
    [ "$4" = "-" ] || held=$(awk -v a="$2" -v b="$4" 'BEGIN { print (a <= b) ? "yes" : "missed" }')
    rows+=("$1|$2 $5|$3${3:+ }$6|$ratio|$4 $5|$held|")
}

table() {
    printf '\n%-44s %12s  %-34s %7s %10s  %s\n' what measured yardstick ratio limit 'held?'
    local line what measured yardstick ratio limit held
    for line in "${rows[@]}"; do
        IFS='|' read -r what measured yardstick ratio limit held _ <<<"$line"
        printf '%-44s %12s  %-34s %7s %10s  %s\n' "$what" "$measured" "${yardstick#- }" "$ratio" "$limit" "$held"
    done
}

begin_repository() {
    repo=$(mktemp -d "$dir/work.XXXXXX")
    rm -rf "$dir/infra.git" "$dir/data" "$TOY_CLOUD_DIR"
    printf '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n' >"$GIT_CONFIG_GLOBAL"
    printf 'a secret of this run alone: %s\n' "$RANDOM$RANDOM$RANDOM" >"$dir/hook"
    mkdir -p "$repo/flux"
    mkdir -p -m 777 "$TOY_CLOUD_DIR"
    git init --quiet --bare "$dir/infra.git"
    git init --quiet "$repo"
    git -C "$repo" remote add origin "$dir/infra.git"
    cat >"$repo/flux/source.yaml" <<YAML
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: infra, namespace: bench}
spec: {interval: 24h, url: "file://$dir/infra.git", ref: {branch: main}}
YAML
}

stack_manifest() { # name, path
    cat <<YAML
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {name: $1, namespace: bench, annotations: {yuba.dev/state: new}}
spec: {path: ./$2, interval: 24h, planOnly: true, approvePlan: "", sourceRef: {kind: GitRepository, name: infra}}
---
YAML
}
one_stack() {
    mkdir -p "$repo/stack"
    stack_manifest one stack >"$repo/flux/stack.yaml"
    resources 0 >"$repo/stack/main.tf"
}
idle_stack() { stack_manifest "idle-$1" "missing/idle-$1"; }

resources() {
    cat <<HCL
terraform {
  required_providers {
    toy = { source = "yuba/toy" }
  }
}

resource "toy_bucket" "b" {
  count = 20
  name  = "b-$1-\${count.index}"
}
HCL
}

publish() { # message, further arguments of commit
    git -C "$repo" add --all
    git -C "$repo" commit --quiet --message "$@"
    git -C "$repo" push --quiet origin HEAD:main
}
head_of() { git -C "$repo" rev-parse HEAD; }

mirror() {
    [ -s "$dir/mirror.rc" ] || "$bin/toy-mirror" "$dir/mirror" >"$dir/mirror.rc"
    cat "$dir/mirror.rc"
}

start_server() {
    TF_CLI_CONFIG_FILE=$(mirror)
    export TF_CLI_CONFIG_FILE
    "$bin/yuba" serve --data "$dir/data" --listen 127.0.0.1:0 --manifests "file://$dir/infra.git@main//flux" \
        --webhook-secret-file "$dir/hook" >"$dir/serve.log" 2>&1 &
    server=$!
    printf '%s' "$server" >"$dir/server.pid"
    until [ -s "$dir/data/server.url" ]; do
        kill -0 "$server" 2>/dev/null || die "yuba serve ended: $(tail -5 "$dir/serve.log")"
        sleep 0.1
    done
    YUBA_SERVER=$(cat "$dir/data/server.url")
    export YUBA_SERVER
}
stop_server() {
    local pid
    pid=$(cat "$dir/server.pid")
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    rm -f "$dir/server.pid"
}

delivery() { printf '{"url": "file://%s/infra.git", "ref": "refs/heads/main"}' "$dir"; }

# What a post-receive hook does: one signed request.
knock() {
    local sent
    sent=$("$bin/yuba-bench-load" "${YUBA_SERVER#http://}" "$dir/hook" 1 1 "$(delivery)")
    [ "$(field accepted "$sent")" = 1 ] || die "the webhook was not accepted: $sent"
}

# Waits until the plan of a commit is stored; prints when that was, as the log of the server has it.
wait_for_planned() {
    yuba wait bench/one --for planned,unchanged --revision "$1" --timeout 180s >/dev/null
    local at
    at=$(grep -E 'kind="dev\.yuba\.(run|plan)\.(planned|finished|ready|unchanged)"' "$dir/serve.log" | tail -1 | cut -d' ' -f1)
    [ -n "$at" ] || die "the log has no event of the plan"
    date -d "$at" +%s%3N
}

# Waits until the server has said nothing for three seconds.
wait_for_quiet() {
    local size=-1 next
    next=$(stat -c %s "$dir/serve.log")
    while [ "$next" != "$size" ]; do
        size=$next
        sleep 3
        next=$(stat -c %s "$dir/serve.log")
    done
}

# Time on processors that the server has used, in ticks (proc(5): fields 14 and 15).
ticks() { sed 's/.*) //' "/proc/$(cat "$dir/server.pid")/stat" | awk '{ print $12 + $13 }'; }

engine() { command -v tofu || command -v terraform || die "neither tofu nor terraform is on the PATH"; }

elapsed() {
    local from
    from=$(now)
    "$@" >/dev/null
    echo $(($(now) - from))
}

# Milliseconds of what the runner does, done by hand in a fresh copy of the same directory.
bare_plan() {
    local copy
    copy=$(mktemp -d "$dir/bare.XXXXXX")
    cp -R "$repo/stack/." "$copy/"
    elapsed by_hand "$copy" "$(engine)"
}
by_hand() { # directory, engine
    cd "$1"
    "$2" init -input=false -no-color
    "$2" plan -input=false -no-color -out plan.out
    "$2" show -json plan.out
}

# Milliseconds that one small write takes until the disk has it: the median of 50.
synced_write() {
    local took=() from
    for _ in $(seq 50); do
        from=$(date +%s%N)
        dd if=/dev/zero of="$dir/synced" bs=4096 count=1 conv=fsync status=none
        took+=($((($(date +%s%N) - from) / 1000)))
    done
    awk -v us="$(median "${took[@]}")" 'BEGIN { printf "%.2f", us / 1000 }'
}

# Greatest resident memory in KiB, and seconds, of a command.
measured_memory() { /usr/bin/time -f '%M %e' -o "$dir/usage" "$@" >/dev/null && tail -1 "$dir/usage"; }

finish() {
    local code=$?
    if [ -s "$dir/server.pid" ]; then stop_server; fi
    rm -rf "$dir"
    exit "$code"
}
