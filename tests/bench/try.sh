#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that `assay try` finds the setting that makes a program faster. Each program of
# tests/bench/try gains from one setting, or from none. usage: try.sh ASSAY DIRECTORY [PROGRAM...]
#
# - BENCH_TRY_BUDGET=S: seconds for each program (90)
# - BENCH_TRY_NULLS=N: campaigns of the programs without a gain (2)
set -u
assay=$(realpath "$1") place=$2
shift 2
sources=$(realpath "$(dirname "$0")/try")
budget=${BENCH_TRY_BUDGET:-90}
nulls=${BENCH_TRY_NULLS:-2}
mkdir -p "$place" && cd "$place" || exit 1

# campaign NAME FLAGS WHAT RIGHT SOURCE...: RIGHT is what may win, names separated by '|', or none
campaign() {
    name=$1 flags=$2 what=$3 right=$4
    shift 4
    rm -rf "$name.src" "$name.assay" && mkdir "$name.src" && cd "$name.src" || exit 1
    for source in "$@"; do cp "$sources/$source" .; done
    build="gcc -g $flags {flags} *.c -o $name -lm"
    "$assay" try -q --budget "$budget" --what "$what" --build "$build" -o "../$name.assay" \
        --format json -- "./$name" >"../$name.json" 2>"../$name.err"
    code=$?
    cd ..
    [ $code = 0 ] || [ $code = 3 ] || {
        echo "try: $name could not be run: $(tail -n 1 "$name.err")" >&2
        return 1
    }
    python3 - "$name" "$right" <<'END'
import json, re, sys
name, right = sys.argv[1:]
tries = json.load(open(f"{name}.json"))["tries"]
gains = [t for t in tries if t["verdict"] == "gain"]
harms = [t["name"] for t in tries if t["verdict"] == "harm"]
best = gains[0] if gains else None
if right == "none":
    verdict = "as it should" if not gains else "FALSE GAIN"
else:
    verdict = "as it should" if best and re.search(rf"\b({right})\b", best["name"]) else "MISSED"
said = "nothing gains"
if best:
    low, high = (100 * (best[k] - 1) for k in ("ratio_low", "ratio_high"))
    said = f"{best['name']} {100 * (best['ratio'] - 1):+.1f} % ({low:+.1f} to {high:+.1f})"
runs = sum(t["n"] for t in tries)
counts = f"{len(gains)} gains, {len(harms)} harms of {len(tries)}, {runs} runs"
print(f"{name:<12} {said}; {counts}: {verdict}", flush=True)
END
}

wanted() { [ -z "$only" ] || case " $only " in *" $1 "*) ;; *) return 1 ;; esac }

only=$*
wanted across && campaign across -O2 flags 'link_time' across.c across_step.c
wanted sum && campaign sum -O3 flags 'associative|fast_math|o3_native_fast_math' sum.c
memory='keep_freed_memory(_and_more)?|huge_pages_of_malloc|jemalloc|tcmalloc|mimalloc'
wanted storm && campaign storm -O2 env "$memory" storm.c
wanted narrow && campaign narrow '-O3 -march=native' flags 'not_vectorised|o2' narrow_stores.c
wanted ping && campaign ping -O2 placement 'one_processor' ping.c
if wanted spin; then
    OMP_NUM_THREADS=$(($(getconf _NPROCESSORS_ONLN) * 2))
    export OMP_NUM_THREADS
    campaign spin '-O2 -fopenmp' env,threads \
        'wait_passively|spin_little|(one|half_the|all)_(thread|processors|cores)' spin.c
    unset OMP_NUM_THREADS
fi
for _ in $(seq "$nulls"); do
    wanted null_chain && campaign null_chain '-O3 -march=native' env,placement none null_chain.c
    wanted null_walk && campaign null_walk '-O3 -march=native' env none null_walk.c
done
exit 0
