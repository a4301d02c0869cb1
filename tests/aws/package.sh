#!/usr/bin/env bash
# Zips functions for AWS Lambda: package.sh DIRECTORY_OF_PROGRAMS FUNCTION…
set -eu
programs=$1; shift
mkdir -p "$programs/packages"
for function in "$@"; do
    python3 - "$programs/yuba-$function" "$programs/packages/$function.zip" <<'END'
import sys, zipfile
program, package = sys.argv[1:]
bootstrap = zipfile.ZipInfo("bootstrap")
bootstrap.external_attr = 0o755 << 16
bootstrap.compress_type = zipfile.ZIP_DEFLATED
with zipfile.ZipFile(package, "w") as archive, open(program, "rb") as file:
    archive.writestr(bootstrap, file.read())
END
    printf '%s\t%s bytes\n' "$programs/packages/$function.zip" "$(stat -c %s "$programs/packages/$function.zip")"
done
