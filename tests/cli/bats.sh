#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: bats.sh BATS SCRIPT
#
# Runs a script of bats and removes its directory afterwards. With bats itself, a script fails if
# its single rm of that directory fails. That happens while a program that is ending still writes
# into it, which takes long on a busy host. A directory that stays is a fault of the script, or of
# assay.
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
