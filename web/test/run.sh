#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the report's page, or says as TAP why they are skipped.
#
# usage: run.sh unit | browser SHELL.html | program | timeline   (ASSAY, MAKE_EXPERIMENT)
set -eu
shell=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."

skip() {
    echo "1..0 # SKIP $*"
    exit 0
}

[ -f node_modules/.package-lock.json ] || skip "web/node_modules is missing: run npm ci in web/"
[ "$1" = unit ] && exec node test/unit.mjs
for chromium in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser; do
    [ -x "$chromium" ] || continue
    case $1 in
    browser) exec node --test-reporter=tap test/browser/page.test.mjs "$shell" ;;
    timeline) exec node --test-reporter=tap test/browser/timeline.test.mjs ;;
    program) exec node --test-reporter=tap test/browser/program.test.mjs ;;
    esac
done
skip "Chromium is not installed"
