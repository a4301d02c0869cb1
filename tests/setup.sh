#!/usr/bin/env bash
# Checks what building needs; says for each missing thing what it is for and how to get it. `setup.sh tests` checks instead
# that what tests read lies beside the clone.
set -u
missing=0
need_folder() { # folder beside the clone, what it holds
    [ -d "$(dirname "$0")/../../$1" ] && return
    printf 'missing: ../%s (%s), which tests read: lay the folder shared/ beside the clone\n' "$1" "$2" >&2
    missing=1
}
case "${1:-}" in
"") ;;
tests)
    need_folder shared/fixtures "recorded plans and webhooks"
    need_folder shared/seed-manifests "manifests as people have them"
    "$(dirname "$0")/git-host/setup.sh" || missing=1
    command -v curl >/dev/null 2>&1 || { printf 'missing: curl, with which code under test asks servers\n' >&2; missing=1; }
    exit "$missing"
    ;;
*)
    printf 'usage: setup.sh [tests]\n' >&2
    exit 64
    ;;
esac
need() { # command, what for, how to get it
    command -v "$1" >/dev/null 2>&1 && return
    printf 'missing: %-10s needed for %s; %s\n' "$1" "$2" "$3" >&2
    missing=1
}
need cargo "building" "install Rust 1.95 or later (https://rustup.rs)"
need cc "crates that build C (SQLite, zstd)" "install a C compiler, on Debian: apt-get install gcc"
need git "reading repositories" "on Debian: apt-get install git"
if ! command -v tofu >/dev/null 2>&1 && ! command -v terraform >/dev/null 2>&1; then
    printf 'missing: tofu or terraform, needed for plans; install OpenTofu (https://opentofu.org/docs/intro/install)\n' >&2
    missing=1
fi
exit "$missing"
