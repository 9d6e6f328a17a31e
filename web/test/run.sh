#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the report's page, or says as TAP why they are skipped.
#
# usage: run.sh unit | browser SHELL.html
set -eu
shell=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."

skip() {
    echo "1..0 # SKIP $*"
    exit 0
}

[ -f node_modules/.package-lock.json ] || skip "web/node_modules is missing: run npm ci in web/"
case $1 in
unit) exec node test/unit.mjs ;;
browser)
    [ -n "$shell" ] || skip "the page was not built"
    for chromium in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser; do
        [ ! -x "$chromium" ] || exec node --test-reporter=tap test/browser/page.test.mjs "$shell"
    done
    skip "Chromium is not installed"
    ;;
esac
