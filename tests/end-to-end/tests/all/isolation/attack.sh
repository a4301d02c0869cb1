# What a hostile stack tries, as code that a plan or an apply runs. The test puts before this, as variables: `phase`; `notes`, a
# file that all may write to; `data`, the server's data directory; `state_home`, where its token lies; `server`, its process;
# `url`; `victim`, the task of another stack that is applying; `victim_run`, `victim_stack`, `victim_attempt`, what it is of.
# Each line of the notes is a phase, an attempt, and whether it was `done` or `refused`. Runs in the root module.

try() { # what, command…
    what=$1
    shift
    if "$@" >/dev/null 2>&1; then how=done; else how=refused; fi
    printf '%s: %s: %s\n' "$phase" "$what" "$how" >>"$notes"
}

parent() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }

# The runner of this very stack: the nearest `yuba` above.
runner=$$
while [ "$(cat "/proc/$runner/comm")" != yuba ]; do runner=$(parent "$runner"); done

# The engine of the other stack.
engine=0
for process in /proc/[0-9]*; do
    id=${process#/proc/}
    if [ "$(parent "$id" 2>/dev/null)" = "$victim" ]; then engine=$id; fi
done

environment() { tr '\0' '\n' <"/proc/$1/environ" | grep -q .; }
memory() { # its program's first page, which begins with ELF's mark
    start=$(sed -n '1s/-.*//p' "/proc/$1/maps")
    [ -n "$start" ] && dd if="/proc/$1/mem" bs=4096 count=1 skip=$((0x$start / 4096)) | head -c 4 | grep -q ELF
}
files() { ls "/proc/$1/fd/" | grep -q .; }
root() { ls "/proc/$1/root/" | grep -q .; }
content() { head -c 1 "$1" | grep -qa .; }
names() { [ -n "$(ls "$1")" ]; }
add_to() { printf x >>"$1"; }
replace() { cp "$1" "$1.new" && mv "$1.new" "$1"; }
make_in() { touch "$1/made" && rm "$1/made"; }
remove_and_make() { mv "$1" "$1.gone" && mv "$1.gone" "$1"; }
ask_api() { curl -sf -H "Authorization: Bearer $(cat "$state_home"/yuba/*)" "$url/api/v1/stacks"; }

run_directory=$PWD
while [ ! -e "$run_directory/tree" ]; do run_directory=$(dirname "$run_directory"); done
objects=$data/objects/runs/$victim_stack/$victim_run

try "read the runner's environment" environment "$runner"
try "read the runner's memory" memory "$runner"
try "see the runner's open files" files "$runner"
try "go through the runner's root" root "$runner"
try "signal the runner" kill -0 "$runner"
try "read the server's environment" environment "$server"
try "read the server's memory" memory "$server"
try "signal the server" kill -0 "$server"
try "read another runner's environment" environment "$victim"
try "read another runner's memory" memory "$victim"
try "signal another runner" kill -0 "$victim"
try "read another engine's environment" environment "$engine"
try "read another engine's memory" memory "$engine"
try "signal another engine" kill -0 "$engine"
try "read the installation's key" content "$data/key"
try "read the database" content "$data/yuba.db"
try "list the data directory" names "$data"
try "list the secrets" names "$data/secrets"
try "read a secret" content "$data/secrets/secrets/infra/prod.json"
try "list the tasks" names "$data/tasks"
try "write to another task's lock" add_to "$data/tasks/$victim_attempt.lock"
try "read another run's plan file" content "$objects/plan-1/plan.tfplan"
try "read another run's work directory as stored" content "$objects/plan-1/workdir.tar.zst"
try "write below another attempt's prefix" make_in "$objects/plan-1"
try "list another attempt's work directory" names "$data/work/$victim_stack/$victim_run/"
try "read another attempt's plan file" content "$data/work/$victim_stack/$victim_run/plan.tfplan"
try "read another attempt's code" names "$data/work/$victim_stack/$victim_run/tree/"
try "list the work directories" names "$data/work"
try "make a work directory" make_in "$data/work"
try "list another stack's state" names "$data/state/$victim_stack/"
try "make a state" make_in "$data/state"
try "put a provider into the cache" make_in "$data/providers"
try "read the server's token" content "$(ls "$state_home"/yuba/* || echo "$state_home/yuba")"
try "ask the API in the server's name" ask_api
try "put another directory in place of this run's" remove_and_make "$run_directory"
try "make files beside Yuba's copy of the plan" make_in "$run_directory"
if [ "$phase" = apply ]; then
    try "write to Yuba's copy of the plan" add_to "$run_directory/plan.tfplan"
    try "replace Yuba's copy of the plan" replace "$run_directory/plan.tfplan"
fi
try "become root" setpriv --reuid=0 true
try "become the user of another engine" setpriv --reuid="$(stat -c %u "/proc/$engine")" --clear-groups true
