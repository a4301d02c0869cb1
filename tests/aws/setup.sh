#!/usr/bin/env bash
# Installs the AWS emulator of the tests into .yuba/aws-emulator, once for each version of its requirements.
set -eu
cd "$(dirname "$0")/../.."
home=.yuba/aws-emulator
wanted=tests/aws/requirements.txt
cmp -s "$wanted" "$home/installed.txt" && exit

say() { printf '%s\n' "$*" >&2; }
if ! command -v python3 >/dev/null 2>&1 || ! python3 -c 'import ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing python3-venv, which the AWS emulator of the tests needs"
        apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv >&2
    else
        say "missing: python3 with venv, needed for the AWS emulator of the tests; on Debian: apt-get install python3-venv"
        exit 1
    fi
fi
rm -rf "$home"
mkdir -p .yuba
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
cp "$wanted" "$home/installed.txt"
