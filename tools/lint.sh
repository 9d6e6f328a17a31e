#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev lint`: every check of style that a machine can make. Runs all of them, then says which
# failed; nothing is changed in the tree. JOBS=N limits parallel work.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=${JOBS:-2}
failed=

check() { # NAME COMMAND...
    name=$1
    shift
    printf '==> lint: %s\n' "$name"
    "$@" || {
        printf 'lint: %s failed\n' "$name" >&2
        failed="$failed $name"
    }
}

sources() { # every C file that is tracked or about to be
    git ls-files -co --exclude-standard -- '*.c' '*.h' | while read -r file; do
        [ -f "$file" ] && printf '%s\n' "$file"
    done
}

check_format() {
    sources | xargs clang-format --dry-run -Werror
}

warn() { # DIRECTORY COMPILER C++-COMPILER MESON-OPTION...: builds it, warnings are errors
    directory=$1 compiler=$2 other=$3
    shift 3
    [ -f "$directory/build.ninja" ] ||
        CC=$compiler CXX=$other meson setup "$directory" --werror "$@" >"$directory.log" 2>&1 || {
        cat "$directory.log"
        return 1
    }
    rm -f "$directory.log"
    ninja -C "$directory" -j "$jobs" --quiet
}

check_warnings() { # COMPILER C++-COMPILER MESON-OPTION...
    compilers="$1 $2" directory=build-lint-$1
    shift 2
    # shellcheck disable=SC2086
    warn "$directory" $compilers -Dtests=true "$@"
}

# The form that is installed, optimised as a whole, which no test of the suite runs: what analyses
# code, and what reads and shows experiments. Warnings that need optimisation come from it, too.
check_installed() { # needs build-lint-gcc
    root=$PWD/build-lint-release/root
    warn build-lint-release gcc g++ --buildtype=release -Db_lto=true -Dtests=false \
        --prefix="$root" && meson install -C build-lint-release --no-rebuild --quiet || return 1
    said=$(ASSAY=$root/bin/assay ASSAY_NO_MEASURE=1 \
        MAKE_EXPERIMENT=$PWD/build-lint-gcc/tests/unit/experiment/make-experiment \
        EXPERIMENT_DOC=$PWD/doc/experiment-tables.md CHECK_EXPORT=$PWD/tests/cli/export.py \
        bats --tap tests/cli/info.bats tests/cli/functions.bats tests/cli/disasm.bats \
        tests/cli/loops.bats tests/cli/cfg.bats tests/cli/predict.bats tests/cli/cqa.bats \
        tests/cli/experiment.bats tests/cli/export.bats) && return 0
    printf '%s\n' "$said" | grep -v '^ok '
    return 1
}

check_tidy() { # needs build-lint-clang
    sources | grep -E '^(src|cli)/.*\.c$' |
        xargs -P "$jobs" -n 4 clang-tidy -p build-lint-clang --quiet --warnings-as-errors='*' \
            2>build-lint-clang/tidy.log
}

alone() { # HEADER COMPILER OPTION...: the header is the first thing a source includes
    printf '#include "%s"\ntypedef int alone;\n' "$1" >build-lint-gcc.header
    shift
    # shellcheck disable=SC2046 # options, each a word
    "$@" $(pkg-config --cflags lua5.4 mpich) - <build-lint-gcc.header -Wall -Wextra -Werror \
        -Iinclude -Isrc -I. -Ibuild-lint-gcc/include -Ibuild-lint-gcc/src -fsyntax-only
    compiled=$?
    rm -f build-lint-gcc.header
    return $compiled
}

check_headers() { # every header compiles alone; those of include/ in C11 and in C++
    status=0
    for header in include/assay/*.h; do
        alone "$header" gcc -std=c11 -Wpedantic -x c || status=1
        alone "$header" g++ -std=c++11 -Wpedantic -x c++ || status=1
    done
    for header in src/*/*.h cli/*.h; do
        [ -f "$header" ] || continue
        alone "$header" gcc -std=gnu11 -D_GNU_SOURCE -x c || status=1
    done
    return $status
}

check_shell() {
    shellcheck -s sh dev .ci/run tools/*.sh tests/cli/*.sh examples/*/*.sh
}

check_web() { # types and layout of the page of reports
    [ -x web/node_modules/.bin/tsc ] || {
        echo 'skipped: web/node_modules is missing (npm ci in web/)'
        return 0
    }
    (cd web && node_modules/.bin/tsc --noEmit &&
        node_modules/.bin/prettier --check --log-level warn .) &&
        if grep -n '"resolved"' web/package-lock.json; then
            echo 'lint: web/package-lock.json names a registry'
            return 1
        fi
}

check_spelling() {
    git ls-files -co --exclude-standard -- '*.md' '*.c' '*.h' '*.sh' '*.py' '*.def' '*.tsv' \
        'web/*.ts' 'web/*.tsx' 'web/*.mjs' 'web/*.css' dev |
        grep -v '^tests/\(golden\|fuzz/corpus\)' |
        xargs codespell --ignore-words tools/codespell-words.txt
}

check_options() { # help, man page and completion name the same options
    ninja -C build-lint-gcc -j "$jobs" --quiet &&
        sh tools/check-options.sh build-lint-gcc
}

check format check_format
check style python3 tools/check-style.py .
check includes python3 tools/check-includes.py .
check names python3 tools/check-names.py .
check metrics python3 tools/gen-metrics-doc.py --check
check tables python3 tools/gen-schema.py doc data/experiment/tables.txt \
    data/experiment/views.txt doc/experiment-tables.md --check
check shell check_shell
check web check_web
check spelling check_spelling
check warnings-gcc check_warnings gcc g++ -Doptimization=0 -Dc_args=-Wno-format-truncation
check installed check_installed
check headers check_headers
check warnings-clang check_warnings clang clang++ -Doptimization=0
check clang-tidy check_tidy
check options check_options

[ -z "$failed" ] || {
    printf 'lint: failed:%s\n' "$failed" >&2
    exit 1
}
echo 'lint: all checks passed'
