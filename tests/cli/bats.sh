#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: bats.sh BATS SCRIPT
#
# Runs a script of bats and removes its directory afterwards. bats itself says that a script failed
# where one rm of that directory did, as it does while a program that ends writes its last there;
# on a busy host that may take it a while. One that stays is a fault of the script, or of assay.
set -u
directory=$(mktemp -u "${TMPDIR:-/tmp}/bats-run-XXXXXX") || exit 1
"$1" --tap --no-tempdir-cleanup --tempdir "$directory" "$2"
status=$?
tries=0
until rm -rf "$directory" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ]; then
        rm -rf "$directory" # says what is there
        echo "what runs in it:" >&2
        for process in /proc/[0-9]*; do
            case $(readlink "$process/cwd" 2>/dev/null) in
                "$directory"*) tr '\0' ' ' <"$process/cmdline" >&2 && echo >&2 ;;
            esac
        done
        exit 1
    fi
    sleep 0.1
done
exit "$status"
