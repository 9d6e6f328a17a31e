#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev check`: every check of source and text that takes seconds. It needs build/ built with its
# tests. Runs all of them, then names those that failed; changes nothing in the tree.
# JOBS=N limits parallel work. ONLY="format style" runs these checks alone.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=${JOBS:-2}
failed=

check() { # NAME COMMAND...
    name=$1
    shift
    case " ${ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
    printf '==> check: %s\n' "$name"
    "$@" || {
        printf 'check: %s failed\n' "$name" >&2
        failed="$failed $name"
    }
}

logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
begun=

begin() { # NAME COMMAND...: a check that keeps one CPU busy, beside others; `finish` reports it
    name=$1
    shift
    case " ${ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
    { "$@" >"$logs/$name" 2>&1 && touch "$logs/$name.passed"; } &
    begun="$begun $name"
}

finish() { # waits for the checks that have begun
    wait
    for name in $begun; do
        check "$name" ended "$name"
    done
}

ended() { # NAME
    cat "$logs/$1"
    [ -e "$logs/$1.passed" ]
}

sources() { # prints every C file that git tracks or would add
    git ls-files -co --exclude-standard -- '*.c' '*.h' | while read -r file; do
        [ -f "$file" ] && printf '%s\n' "$file"
    done
}

check_format() {
    sources | xargs -P "$jobs" -n 40 clang-format --dry-run -Werror
}

compile_alone() { # COMPILER OPTION...: each header on standard input compiles by itself
    flags="-Wall -Wextra -Werror -Iinclude -Isrc -I. -Ibuild/include -Ibuild/src -fsyntax-only"
    # shellcheck disable=SC2016 # the inner shell expands these
    COMPILER="$* $flags $(pkg-config --cflags lua5.4 mpich) -" xargs -P "$jobs" -n 20 sh -c '
        for header; do
            printf "#include \"%s\"\ntypedef int alone;\n" "$header" | $COMPILER || exit 1
        done' alone
}

check_headers() { # those of include/ in C11 and in C++11
    status=0
    sources | grep '^include/.*\.h$' | compile_alone gcc -std=c11 -Wpedantic -x c || status=1
    sources | grep '^include/.*\.h$' | compile_alone g++ -std=c++11 -Wpedantic -x c++ || status=1
    sources | grep -E '^(src|cli)/.*\.h$' | compile_alone gcc -std=gnu11 -D_GNU_SOURCE -x c ||
        status=1
    return $status
}

check_shell() {
    shellcheck -x -s sh dev .ci/run tools/*.sh tests/cli/*.sh examples/*/*.sh
}

check_web() { # types and layout of the page of reports
    [ -x web/node_modules/.bin/tsc ] || {
        echo 'skipped: web/node_modules is missing (npm ci in web/)'
        return 0
    }
    (cd web && node_modules/.bin/tsc --noEmit &&
        node_modules/.bin/prettier --check --log-level warn .) &&
        if grep -n '"resolved"' web/package-lock.json; then
            echo 'check: web/package-lock.json names a registry'
            return 1
        fi
}

check_spelling() {
    git ls-files -co --exclude-standard -- '*.md' '*.c' '*.h' '*.sh' '*.py' '*.def' '*.tsv' \
        'web/*.ts' 'web/*.tsx' 'web/*.mjs' 'web/*.css' dev |
        grep -v '^tests/\(golden\|fuzz/corpus\)' |
        xargs codespell --ignore-words tools/codespell-words.txt
}

begin web check_web
begin options sh tools/check-options.sh build
check style python3 tools/check-style.py .
check files python3 tools/check-files.py .
check includes python3 tools/check-includes.py .
check names python3 tools/check-names.py .
check language python3 tools/check-prose.py .
check links python3 tools/check-links.py .
check circles python3 tools/check-circles.py build
check uarch python3 tools/check-uarch.py data/uarch tools/uarch-exceptions.txt
check metrics python3 tools/gen-reference.py --check
check caveats python3 tools/check-caveats.py .
check tables python3 tools/gen-schema.py doc data/experiment/tables.txt \
    data/experiment/views.txt doc/reference/experiment-tables.md --check
check shell check_shell
check spelling check_spelling
finish
check format check_format
check headers check_headers
check warnings python3 tools/check-clang.py build warnings
check tidy python3 tools/check-clang.py build tidy

[ -z "$failed" ] || {
    printf 'check: failed:%s\n' "$failed" >&2
    exit 1
}
echo 'check: all checks passed'
