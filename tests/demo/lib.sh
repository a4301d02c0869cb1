# What the demo's steps are made of. Sourced by demo.sh.

repo=$dir/infra

step() {
    local bold="" plain=""
    if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
    printf '\n%s== %s%s\n' "$bold" "$1" "$plain"
}
show_line() { printf '\n$ %s\n' "$*"; }

# Shows a command and runs it.
show() {
    show_line "$(shown "$@")"
    "$@"
}

# The command as a person would type it: without this machine's paths.
shown() { printf '%s ' "$@" | sed "s#$dir/##g; s# \$##"; }

yuba() { "$bin/yuba" "$@"; }

# Runs a command that must end with a given exit code, and shows both.
ends_with() { # code, command
    local code=0 expected=$1
    shift
    show_line "$(shown "$@")"
    "$@" || code=$?
    printf '(exit code %s)\n' "$code"
    [ "$code" -eq "$expected" ] || die "expected exit code $expected"
}
refused() { ends_with 3 "$@"; }
drifted() { ends_with 2 "$@"; }

die() {
    printf 'demo: %s\n' "$1" >&2
    exit 1
}

# The plan id of the newest commit, as people type it.
plan_id() { printf 'plan-main-%.10s' "$(git -C "$repo" rev-parse HEAD)"; }

make_repository() {
    printf '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n' >"$GIT_CONFIG_GLOBAL"
    mkdir -p -m 777 "$TOY_CLOUD_DIR"
    git init --quiet --bare "$dir/infra.git"
    git init --quiet "$repo"
    git -C "$repo" remote add origin "$dir/infra.git"
    cp -R "$here/repository/." "$repo/"
    sed -i "s#file:///infra.git#file://$dir/infra.git#" "$repo/flux/source.yaml"
    sed -i "s#https://slack.com/api/chat.postMessage#$(cat "$dir/slack.api")#" "$repo/flux/slack.yaml"
    git -C "$repo" add --all
    git -C "$repo" commit --quiet -m "Begin"
}

edit() { sed -i "$2" "$repo/$1"; }
append() { printf '\n%s\n' "$2" >>"$repo/$1"; }

commit_and_push() {
    show git -C "$repo" commit --quiet --all -m "$1"
    git -C "$repo" --no-pager show --stat --format= HEAD
    show git -C "$repo" push --quiet origin main
}

start_server() {
    rm -f "$dir/data/server.url"
    show_line "yuba serve --data data --listen 127.0.0.1:0 --manifests file://infra.git@main//flux" \
        "--slack-signing-secret-file slack.secret --allow-private-webhooks &"
    "$bin/yuba" serve --data "$dir/data" --listen 127.0.0.1:0 --manifests "file://$dir/infra.git@main//flux" \
        --slack-signing-secret-file "$dir/slack.secret" --allow-private-webhooks >>"$dir/serve.log" 2>&1 &
    server=$!
    until [ -s "$dir/data/server.url" ]; do
        kill -0 "$server" 2>/dev/null || die "yuba serve ended: $(tail -5 "$dir/serve.log")"
        sleep 0.1
    done
    YUBA_SERVER=$(cat "$dir/data/server.url")
    export YUBA_SERVER
}

start_slack() {
    "$bin/demo-slack" "$dir" 2>"$dir/slack.log" &
    slack=$!
    until [ -s "$dir/slack.port" ]; do
        kill -0 "$slack" 2>/dev/null || die "demo-slack ended: $(tail -5 "$dir/slack.log")"
        sleep 0.1
    done
}

# Says a line to the stand-in for Slack; what it answers.
ask_slack() {
    local said
    exec 3<>"/dev/tcp/127.0.0.1/$(cat "$dir/slack.port")"
    printf '%s\n' "$*" >&3
    said=$(cat <&3)
    exec 3>&-
    case $said in error:*) die "Slack: $said" ;; esac
    printf '%s\n' "$said"
}

# Shows the message of #infra that shows a text.
in_slack() {
    show_line "(Slack, #infra)"
    ask_slack show "$1"
}

# Somebody presses Approve of the message that shows a text, and is told another.
pressed() { # user, text of the message, what they are told
    local said
    show_line "($1 presses Approve; only they see:)"
    said=$(ask_slack press yuba.approve "$1" "$YUBA_SERVER" "$2")
    printf '%s\n' "$said"
    [[ $said == *"$3"* ]] || die "expected Slack to say: $3"
}

kill_server() {
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
}

# The toy cloud misbehaves until it is released.
hold() { printf '{"hold": {"%s": ["%s"]}}\n' "$1" "$2" >"$TOY_CLOUD_DIR/control.json"; }
fail() {
    show_line "(the cloud says \"$3\" to $1 $2)"
    printf '{"fail": {"%s": {"%s": "%s"}}}\n' "$1" "$2" "$3" >"$TOY_CLOUD_DIR/control.json"
}
release() { printf '{}\n' >"$TOY_CLOUD_DIR/control.json"; }

# Waits until the cloud has begun a call.
until_begun() { # verb, type, id
    until grep -q "\"event\":\"begin\",\"verb\":\"$1\",\"type\":\"$2\",\"id\":\"$3\"" "$TOY_CLOUD_DIR/journal.ndjson" 2>/dev/null; do
        kill -0 "$server" 2>/dev/null || die "yuba serve ended"
        sleep 0.1
    done
}

finish() {
    local code=$?
    release 2>/dev/null || true
    if [ -n "$slack" ]; then
        kill "$slack" 2>/dev/null || true
        wait "$slack" 2>/dev/null || true
    fi
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    if [ "$code" -eq 0 ]; then
        rm -rf "$dir"
        printf '\nEverything above really happened. `make serve` starts the same server to stay.\n'
    else
        printf '\nThe demo failed with exit code %s. What is left: %s\n' "$code" "$dir" >&2
        tail -20 "$dir/serve.log" >&2 2>/dev/null || true
    fi
    exit "$code"
}
