#!/usr/bin/env bash
# Installs sshd for the tests of Git over SSH, where this machine lets us, and starts no server of the machine's own by it.
set -eu

say() { printf '%s\n' "$*" >&2; }
found() { ls /usr/sbin/sshd /usr/local/sbin/sshd /usr/bin/sshd /usr/local/bin/sshd 2>/dev/null | grep -q .; }
if ! found; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing openssh-server, whose sshd tests of Git over SSH start"
        policy=/usr/sbin/policy-rc.d
        if [ ! -e "$policy" ]; then
            trap 'rm -f "$policy"' EXIT
            printf '#!/bin/sh\nexit 101\n' >"$policy"
            chmod +x "$policy"
        fi
        apt-get update -qq >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends openssh-server >&2
    else
        say "missing: sshd, needed for tests of Git over SSH; on Debian: apt-get install openssh-server"
        exit 1
    fi
fi
# As root sshd asks for this folder, which a machine makes when it starts.
if [ "$(id -u)" = 0 ]; then mkdir -p /run/sshd; fi
