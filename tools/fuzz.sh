#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev fuzz SECONDS [RUNS]`: fuzzes every parser of foreign bytes from the kept corpus. Each entry
# runs for SECONDS, and for at most RUNS inputs. New inputs stay in build-fuzz/corpus/, failing
# inputs in build-fuzz/findings/. With findings the exit status is 1. ENTRIES="elf dwarf" limits the
# run to these entries.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD

usage='usage: fuzz.sh SECONDS [RUNS]'
case "${1:-}:${2:-0}" in
*[!0-9:]* | :*)
    echo "$usage" >&2
    exit 2
    ;;
esac
seconds=$1
runs=${2:--1}
entries=${ENTRIES:-$(sed -n "s/^  '\([a-z_]*\)': .*/\1/p" tests/fuzz/meson.build)}
build=$root/build-fuzz
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}

command -v clang >/dev/null 2>&1 || {
    echo "fuzz: clang is missing: install the packages clang and libclang-rt-14-dev" >&2
    exit 1
}
if [ ! -f "$build/build.ninja" ]; then
    mkdir -p "$build"
    CC=clang CXX=clang++ meson setup "$build" -Dfuzz=true -Dtests=false -Db_lundef=false \
        >"$build/setup.log" 2>&1 || {
        cat "$build/setup.log" >&2
        exit 1
    }
fi
targets=
for entry in $entries; do targets="$targets tests/fuzz/fuzz-$entry"; done
printf '==> building%s\n' "$targets"
# shellcheck disable=SC2086
ninja -C "$build" -j "$jobs" --quiet $targets || exit 1
mkdir -p "$build/findings"

longest() { # ENTRY: bytes of an input; short ones run oftener
    case $1 in
    elf | code) echo 16384 ;;
    dwarf) echo 8192 ;;
    decode) echo 64 ;;
    request) echo 9000 ;;
    plan) echo 12000 ;;
    cfg) echo 6000 ;;
    timeline) echo 4096 ;;
    perf | stream | import | analysis | prv | edit) echo 2048 ;;
    dim | machine | remarks) echo 2048 ;;
    ring | cfi | trace) echo 1200 ;;
    experiment) echo 128 ;;
    *) echo 256 ;;
    esac
}

ran() { # LOG: inputs run, whether it ended well or not
    sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9][0-9]*\).*/\1/p' "$1" | sort -n |
        tail -n 1
}

summary=$build/summary.txt
: >"$summary"
status=0
for entry in $entries; do
    log=$build/fuzz-$entry.log
    corpus=$build/corpus/$entry
    mkdir -p "$corpus"
    printf '==> fuzzing %s for %s s (log: %s)\n' "$entry" "$seconds" "$log"
    before=$(find "$build/findings" -name "$entry-*" | wc -l)
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} "$build/tests/fuzz/fuzz-$entry" \
        -max_total_time="$seconds" -runs="$runs" -max_len="$(longest "$entry")" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/findings/$entry-" \
        "$corpus" "$root/tests/fuzz/corpus/$entry" >"$log" 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 1
        [ -t 1 ] && printf '\r    %s inputs' "$(ran "$log")"
    done
    wait "$pid" || status=1
    [ -t 1 ] && printf '\r'
    found=$(($(find "$build/findings" -name "$entry-*" | wc -l) - before))
    printf '%-10s %12s runs %4s findings\n' "$entry" "$(ran "$log")" "$found" | tee -a "$summary"
    [ "$found" -eq 0 ] || {
        status=1
        grep -E 'SUMMARY|broken promise|runtime error' "$log" | sed 's/^/    /'
    }
done

echo
cat "$summary"
if [ "$status" -ne 0 ]; then
    echo "fuzz: findings are in $build/findings; each runs again with:" \
        "$build/tests/fuzz/fuzz-ENTRY FILE"
fi
exit "$status"
