#!/usr/bin/env bash
# Checks infra/ with checkov, installed from PyPI into a virtual environment. Exceptions stand in the code:
# `#checkov:skip=<check>:<reason>`.
# usage: tests/infra/checkov.sh FOLDER    FOLDER is where checkov is installed, once
set -euo pipefail
version=3.3.30
folder=$1
infra=$(cd "$(dirname "$0")/../../infra" && pwd)
command -v python3 >/dev/null || {
    printf 'missing: python3 (with venv), needed for checkov; on Debian: apt-get install python3-venv\n' >&2
    exit 1
}
if [ "$(cat "$folder/version" 2>/dev/null)" != "$version" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "checkov==$version"
    printf '%s' "$version" >"$folder/version"
fi
# Its rules are in the package; nothing is asked of its makers' servers.
"$folder/bin/checkov" --directory "$infra" --framework terraform cloudformation --compact --quiet --skip-download
