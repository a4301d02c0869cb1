#!/usr/bin/env bash
# Checks what building and testing need; says for each missing thing what it is for and how to get it.
set -u
missing=0
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
