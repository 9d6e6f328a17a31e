#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev bench [--json FILE]`: speed and memory against peers, side by side in one run, as ratios of
# CPU time. doc/internals/benchmarks.md explains the ratios. A missed target is printed, but is not
# an error. Exit status 1 means that a program could not be run.
#
# - BENCH_PAIRS=N: interleaved pairs of each program (5)
# - BENCH_LONG_PAIRS=N: pairs with a slow peer (1)
# - BENCH_ROUNDS=N: rounds of the overhead of a profile (15)
# - BENCH_ONLY=ROW: code, predict, cqa, store, profile, advice, patch, try, decan, trace, traffic,
#   memory or machine
# - BENCH_ONLY=timeline or large: large traces
# - BENCH_ONLY=soak: programs with clones for SOAK_SECONDS=S (600)
# - BENCH_PATCH_ROUNDS=N: rounds of clones (3)
# - BENCH_DECAN_ROUNDS=N: rounds of verdicts (5)
# - BENCH_TRACE_ROUNDS=N: rounds of traced programs (7)
# - BENCH_SHARE=X: shortens the runs of traffic (1)
# - BENCH_TRY_BUDGET=S: seconds of each `assay try` (90)
# - BENCH_TRY_NULLS=N: runs of `assay try` on programs without a gain (2)
set -u
cd "$(dirname "$0")/.." || exit 1

json=
case "${1:-}" in
--json) json=${2:?bench: --json FILE} ;;
'') ;;
*)
    echo 'usage: bench.sh [--json FILE]' >&2
    exit 2
    ;;
esac
build=$PWD/build-bench
pairs=${BENCH_PAIRS:-5}
long_pairs=${BENCH_LONG_PAIRS:-1}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
export JOBS
lib=/usr/lib/x86_64-linux-gnu
status=0

if [ ! -f "$build/build.ninja" ]; then
    mkdir -p "$build"
    meson setup "$build" --buildtype=release -Db_lto=true -Dbench=true -Dtests=false \
        >"$build/setup.log" 2>&1 || {
        cat "$build/setup.log" >&2
        exit 1
    }
fi
echo "==> building build-bench (release)"
ninja -C "$build" -j "$JOBS" --quiet || exit 1
drivers=$build/tests/bench
results=$build/results.json
lines=$build/results.lines
: >"$lines"

field() { # NAME: number of that name in the JSON object on standard input
    sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p"
}

verdict() { # VALUE TARGET
    [ "$2" = - ] && {
        echo '(informative)'
        return
    }
    awk -v v="$1" -v t="$2" 'BEGIN { print (v <= t ? "met" : "MISSED") }'
}

row() { # WHAT VALUE SPREAD TARGET VERDICT
    printf '%-44s %9s  %-17s %7s  %s\n' "$@"
}

keep() { # WHAT UNIT VALUE TARGET VERDICT JSON-OF-PAIR
    target=$4
    [ "$target" = - ] && target=null
    printf '{"what":"%s","unit":"%s","value":%s,"target":%s,"verdict":"%s","measured":%s}\n' \
        "$1" "$2" "$3" "$target" "$5" "${6:-null}" >>"$lines"
}

pair() { # WHAT TARGET PAIRS COMMAND... --vs PEER...; wall time when CLOCK is --wall
    what=$1 target=$2 n=$3
    shift 3
    # shellcheck disable=SC2086
    measured=$("$drivers/bench-pair" ${CLOCK:-} "$n" "$build/said" "$@") || {
        echo "bench: $what: could not be run" >&2
        status=1
        return 1
    }
    ratio=$(echo "$measured" | field ratio)
    spread="[$(echo "$measured" | field ratio_min) - $(echo "$measured" | field ratio_max)]"
    clock=CPU
    [ -z "${CLOCK:-}" ] || clock=wall
    said=$(verdict "$ratio" "$target")
    row "$what" "$ratio x" "$spread" "$target" "$said"
    printf '    %s s, %s MiB peak; peer %s s, %s MiB peak; %s pairs; peer: %s\n' \
        "$(echo "$measured" | field time_s)" "$(($(echo "$measured" | field peak_kib) / 1024))" \
        "$(echo "$measured" | field peer_time_s)" \
        "$(($(echo "$measured" | field peer_peak_kib) / 1024))" "$n" \
        "$(echo "$measured" | sed 's/.*"peer":"\([^"]*\)".*/\1/')"
    keep "$what" "x of $clock time" "$ratio" "$target" "$said" "$measured"
}

memory() { # WHAT TARGET: of the driver that ran last
    value=$(sed -n 's/^bytes_per_instruction //p' "$build/said")
    said=$(verdict "$value" "$2")
    row "$1" "$value B" "" "$2" "$said"
    printf '    %s instructions, %s bytes of code, %s KiB beyond the mapped file\n' \
        "$(sed -n 's/^instructions //p' "$build/said")" "$(sed -n 's/^bytes //p' "$build/said")" \
        "$(sed -n 's/^kib //p' "$build/said")"
    keep "$1" "bytes per instruction" "$value" "$2" "$said"
}

decode() { # NAME PAIRS FILE...: the first that is there
    name=$1 n=$2
    shift 2
    for file in "$@"; do
        [ -r "$file" ] || continue
        pair "decode all of $name" 0.2 "$n" "$drivers/bench-decode" "$file" --vs \
            objdump -d "$file" && memory "memory of $name's records" 48
        return
    done
    echo "bench: $name is not installed: left out" >&2
    status=1
}

analyse() { # NAME TARGET PAIRS FILE: whole analysis, and dependences of the innermost loops
    name=$1 whole=$2 n=$3 file=$4
    shift 4
    pair "loops and dependences of $name" "$whole" "$n" "$drivers/bench-program" "$@" "$file" --vs \
        objdump -d "$file" && memory "memory of $name's analysis" 80
    shared "$name" "$@" "$file"
}

# Wall time depends on the load of the host. CPU time shows the gain of two threads that have a CPU
# each. It adds up the part that is not shared and the longer half of each shared part, over one
# thread.
shared() { # NAME ARGUMENT...
    name=$1
    shift
    CLOCK=--wall pair "$name, two threads over one" 0.55 "$pairs" "$drivers/bench-program" \
        --jobs 2 --no-dependences "$@" --vs \
        "$drivers/bench-program" --jobs 1 --no-dependences "$@"
    pair "the same in processor time" 1.05 "$pairs" "$drivers/bench-program" \
        --jobs 2 --no-dependences "$@" --vs \
        "$drivers/bench-program" --jobs 1 --no-dependences "$@" || return 0
    bound=$(echo "$measured" | field peer_time_s | awk -v said="$build/said" '{ one = $1
        while ((getline line < said) > 0) { split(line, word, " "); of[word[1]] = word[2] }
        alone = of["all_s"] - of["shared_s"]
        printf "%.3f %.1f %.1f", (alone + of["longest_s"]) / one, 100 * alone / of["all_s"],
            100 * of["longest_s"] / of["shared_s"] }')
    number "the same with two processors, by that" "${bound%% *}" x "" 0.55
    echo "$bound" | awk '{ printf "    %s %% is done by one thread alone; of what is shared one " \
        "does %s %%\n", $2, $3 }'
}

first_of() { # FILE...: the first that is there
    for file in "$@"; do
        [ ! -r "$file" ] || {
            echo "$file"
            return
        }
    done
}

heading() {
    echo
    row what median '[least - most]' target ''
}

of_code() {
    echo "==> making the program of 100,000 functions (once)"
    sh tests/bench/many.sh "$build/many" >"$build/many.log" 2>&1 || {
        tail -n 5 "$build/many.log" >&2
        status=1
    }
    many=$build/many/many
    echo "==> making the C++ library with debug information (once)"
    sh tests/bench/templates.sh "$build/templates" >"$build/templates.log" 2>&1 || {
        tail -n 5 "$build/templates.log" >&2
        status=1
    }
    templates=$build/templates/libtemplates.so

    heading
    decode libopenblas "$pairs" "$lib"/openblas-*/libopenblas.so.0 "$lib/libopenblas.so.0"
    decode libLLVM-14 "$long_pairs" "$lib/libLLVM-14.so.1"
    if [ -x "$many" ]; then
        pair "symbols and lines, 100,000 functions" 0.5 "$pairs" "$drivers/bench-symbols" "$many" \
            --vs readelf --debug-dump=decodedline "$many"
        pair "the same, inlining and declarations too" - "$pairs" "$drivers/bench-symbols" "$many" \
            all --vs readelf --debug-dump=decodedline "$many"
    fi
    [ ! -r "$templates" ] ||
        pair "symbols and lines, C++ library" 0.5 "$pairs" "$drivers/bench-symbols" "$templates" \
            --vs readelf --debug-dump=decodedline "$templates"
    blas=$(first_of "$lib"/openblas-*/libopenblas.so.0 "$lib/libopenblas.so.0")
    [ -z "$blas" ] || analyse libopenblas 0.15 "$long_pairs" "$blas"
    [ ! -r "$templates" ] || {
        analyse "the C++ library" 0.4 "$long_pairs" "$templates"
        pair "the same with source lines" 0.4 "$long_pairs" "$drivers/bench-program" --source \
            "$templates" --vs objdump -d "$templates"
    }
    [ ! -r "$cc1" ] ||
        pair "20,000 loops as JSON over the analysis" 2 "$pairs" "$build/assay" loops \
            --limit 20000 --jobs 1 --format json "$cc1" --vs "$drivers/bench-program" \
            --no-dependences --source "$cc1"
    for size in 1 4; do
        python3 tests/bench/monster.py "$size" "$build/monster$size" || status=1
    done
    pair "code of a function of 1.2 M instructions" 6 "$pairs" "$drivers/bench-program" \
        "$build/monster4.code.so" --vs "$drivers/bench-program" "$build/monster1.code.so"
    pair "a jump table of 100,000 entries" 6 "$pairs" "$drivers/bench-program" \
        "$build/monster4.table.so" --vs "$drivers/bench-program" "$build/monster1.table.so"
    pair "a nest of 8,000 loops, as JSON" 6 "$pairs" "$build/assay" loops --format json \
        -o /dev/null "$build/monster4.nest.so" --vs "$build/assay" loops --format json \
        -o /dev/null "$build/monster1.nest.so"
    pair "20,000 blocks that jump anywhere, as JSON" 6 "$pairs" "$build/assay" loops --format json \
        -o /dev/null "$build/monster4.tangle.so" --vs "$build/assay" loops --format json \
        -o /dev/null "$build/monster1.tangle.so"
    pair "assay info /usr/bin/env" - "$pairs" "$build/assay" info /usr/bin/env --vs \
        readelf -h -n -d /usr/bin/env
    if [ -f web/node_modules/.package-lock.json ] && command -v node >/dev/null; then
        node web/bench.mjs --lines "$lines" || status=1
    else
        echo "bench: web/node_modules is missing: the page of reports is left out" >&2
    fi
}

# ---- The store ------------------------------------------------------------------------------

of_store() { # what an analysis knows of 20,000 loops: written, asked, shown
    many=$build/metrics.assay
    heading
    "$drivers/bench-metrics" "$many" 20000 150 8 >"$build/said" || {
        echo "bench: the values of 20,000 loops could not be written" >&2
        status=1
        return
    }
    number "disk of a value, 20,000 loops x 150 x 8 paths" \
        "$(sed -n 's/^bytes_per_value //p' "$build/said")" B "" 16
    "$build/assay" report -o "$build/metrics.html" "$many" >/dev/null || status=1
    number "page of them" \
        "$(awk -v b="$(wc -c <"$build/metrics.html")" 'BEGIN { printf "%.1f", b / 1048576 }')" \
        MiB "" 15
    rm -rf "$many" "$build/metrics.html"
}

# ---- The profile ----------------------------------------------------------------------------

number() { # WHAT VALUE UNIT SPREAD TARGET: a row that is no ratio of two commands
    said=$(verdict "$2" "$5")
    row "$1" "$2 $3" "$4" "$5" "$said"
    keep "$1" "$3" "$2" "$5" "$said"
}

overhead() { # rounds of a program plainly, under assay and under perf
    python3 tests/bench/overhead.py "$drivers/bench-work" "$build/assay" "$build/overhead" \
        "$rounds" >"$build/overhead.said" || {
        echo "bench: the overhead of a profile could not be measured" >&2
        status=1
        return
    }
    while read -r way quiet low high cpu wall; do
        case $way in
        assay) what="a program under assay, without stacks" target=1.01 ;;
        assay-dwarf) what="the same with stacks by unwind tables" target=1.02 ;;
        perf) what="under perf record, without stacks" target=- ;;
        *) what="the same with --call-graph dwarf" target=- ;;
        esac
        number "$what" "$quiet" x "[$low - $high]" "$target"
        printf '    CPU time %s x, wall time %s x, of the program alone; %s rounds\n' \
            "$cpu" "$wall" "$rounds"
    done <"$build/overhead.said"
}

recording() { # a million samples of the compiler, recorded once
    recorded=$build/recorded.assay
    [ -r "$recorded/finished" ] || {
        echo "==> recording some 800,000 samples of the compiler (once, a minute or two)" >&2
        "$build/assay" profile -q --force --rate 20000 -o "$recorded" -- \
            "$cc1" -quiet -O2 "$build/compile/large.i" -o /dev/null &&
            echo yes >"$recorded/finished"
    }
}

switches() { # processes that do nothing but leave their processor
    python3 tests/bench/switches.py "$drivers/bench-switches" "$build/assay" "$build/overhead" \
        "$rounds" >"$build/switches.said" || {
        echo "bench: the cost of switches could not be measured" >&2
        status=1
        return
    }
    while read -r kind more low high plain bare ours; do
        case $kind in
        yield) what="switches, eight that yield, beyond perf" target=0.19 ;;
        *) what="switches, two and a pipe, beyond perf" target=0.14 ;;
        esac
        number "$what" "$more" us "[$low - $high]" "$target"
        printf '    a switch takes %s us, with the bare event %s, under assay %s\n' \
            "$plain" "$bare" "$ours"
    done <"$build/switches.said"
}

attribution() {
    recording || {
        echo "bench: the compiler could not be recorded" >&2
        status=1
        return
    }
    n=$("$build/assay" query --format csv "$recorded" "SELECT sample_n FROM v_runs" | tail -n 1)
    stream=$recorded/run-001/main.samples
    cpu=$("$drivers/bench-pair" "$long_pairs" "$build/said" sh -c \
        "rm -rf '$build/attributed' && mkdir '$build/attributed' &&
         '$drivers/bench-attribute' --jobs 2 '$stream' '$build/attributed'" --vs true |
        field time_s)
    number "attribution of a million samples" \
        "$(awk -v t="$cpu" -v n="$n" 'BEGIN { printf "%.2f", t * 1e6 / n }')" s "" 3
    printf '    %s samples in %s s of CPU time, %s MiB peak\n' "$n" "$cpu" \
        "$(($(sed -n 's/^kib //p' "$build/said") / 1024))"
    database_b=$(wc -c <"$build/attributed/x.assay/experiment.db")
    stream_b=$(wc -c <"$stream")
    each_b=$(awk -v b="$((database_b + stream_b))" -v n="$n" 'BEGIN { printf "%.1f", b / n }')
    number "disk of a sample" "$each_b" B "" 48
    awk -v d="$database_b" -v s="$stream_b" -v n="$n" \
        'BEGIN { printf "    database %.1f, stream %.1f bytes a sample\n", d / n, s / n }'
}

against_perf() { # the same recording read by both
    command -v perf >/dev/null || {
        echo "bench: perf is missing (linux-perf): left out" >&2
        return
    }
    for rate in 397 10000; do
        perf record -q -F $rate -m 4096 -e cpu-clock --call-graph dwarf \
            -o "$build/perf-$rate.data" -- "$cc1" -quiet -O2 "$build/compile/small.i" \
            -o /dev/null 2>"$build/perf.log" || {
            echo "bench: perf may not record here: left out" >&2
            return
        }
    done
    # Wall time: perf starts helpers, and their CPU time is not counted.
    CLOCK=--wall pair "import of perf.data over perf script" 0.1 1 "$build/assay" import -q \
        --force -o "$build/imported.assay" "$build/perf-397.data" --vs \
        perf script -i "$build/perf-397.data"
    pair "the same of more, perf without inlined calls" - "$long_pairs" "$build/assay" import -q \
        --force -o "$build/imported.assay" "$build/perf-10000.data" --vs \
        perf script --no-inline -i "$build/perf-10000.data"
    rm -rf "$build"/perf-*.data "$build/imported.assay"
}

many_ranks() { # 64 ranks on whatever there is
    command -v mpicc.openmpi >/dev/null || {
        echo "bench: Open MPI is missing: left out" >&2
        return
    }
    mpicc.openmpi -O2 -g tests/bench/ranks.c -o "$build/ranks" || {
        status=1
        return
    }
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$build/assay" profile -q --force \
        -o "$build/ranks.assay" -- mpirun.openmpi --oversubscribe -n 64 "$build/ranks" \
        >"$build/ranks.said" 2>&1 || {
        tail -n 3 "$build/ranks.said" >&2
        status=1
        return
    }
    set -- "$("$build/assay" query --format csv "$build/ranks.assay" \
        "SELECT 64 - rank_n || ' ' || lost_sample_n || ' ' || sample_n FROM v_runs" | tail -n 1)"
    number "ranks of 64 that were not found" "${1%% *}" '' "" 0
    number "samples lost under 64 ranks" "$(echo "$1" | cut -d ' ' -f 2)" '' "" 0
    printf '    %s samples, on %s processors\n' "${1##* }" "$JOBS"
}

after_run() { # what assay run does when the program has ended, on LAMMPS with two ranks
    if ! command -v lmp >/dev/null || ! command -v mpirun.openmpi >/dev/null; then
        echo "bench: LAMMPS or Open MPI is missing: left out" >&2
        return
    fi
    began=$(date +%s.%N)
    ASSAY_NO_MEASURE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        "$build/assay" run -q --force \
        -o "$build/lammps.assay" -- mpirun.openmpi --oversubscribe -n 2 \
        lmp -log none -in tests/bench/melt.in >"$build/lammps.said" 2>&1 || {
        tail -n 3 "$build/lammps.said" >&2
        status=1
        return
    }
    ended=$(date +%s.%N)
    wall=$("$build/assay" query --format csv "$build/lammps.assay" "SELECT wall_s FROM v_runs" |
        tail -n 1)
    number "assay run beside the program itself" \
        "$(awk "BEGIN { printf \"%.2f\", $ended - $began - $wall }")" s "" 5
}

of_profile() {
    sh tests/bench/compile.sh "$build/compile" || status=1
    heading
    overhead
    switches
    if [ -r "$cc1" ]; then
        attribution
        against_perf
    fi
    many_ranks
    after_run
}

of_prediction() { # speed, and accuracy beside llvm-mca's on blocks that were measured
    heading
    python3 tests/bench/predict.py "$drivers/bench-predict" tests/unit/predict/blocks.csv \
        >"$build/predict.said" || {
        echo "bench: predictions could not be made" >&2
        status=1
        return
    }
    number "prediction of a block, by bounds" \
        "$(sed -n 's/^bounds_us //p' "$build/predict.said")" us "" 50
    number "prediction of a block, with simulation" \
        "$(sed -n 's/^simulation_us //p' "$build/predict.said")" us "" 500
    grep '^  ' "$build/predict.said"
    # With figures of this machine: estimates for further levels beside measured time.
    python3 tests/bench/levels.py "$build/assay" gcc "$build/levels" | sed 's/^/  /'
}

of_cqa() { # of whole libraries; what changes bring, predicted and measured
    heading
    for file in "$lib/openblas-pthread/libopenblas.so.0" "$lib/libclang-14.so.1" \
        "$lib/libLLVM-15.so.1"; do
        [ -r "$file" ] || continue
        # shellcheck disable=SC2046
        set -- $(python3 tests/bench/cqa.py "$build/assay" "$file")
        [ $# -eq 3 ] || {
            echo "bench: the loops of $file could not be analysed" >&2
            status=1
            continue
        }
        number "a loop of $(basename "$file" | sed 's/\.so.*//'), two threads (wall)" "$1" us "" 333
        printf '    %s loops, %s MiB peak\n' "$2" "$3"
    done
    python3 tests/whatif/truth.py measure "$build/assay" "$build/whatif" | sed 's/^/  /'
}

# Findings: the measured gain of each repair, and that the current rules promise no more.
of_advice() {
    echo
    echo "savings of repairs (tests/advise)"
    python3 tests/advise/truth.py measure "$build/advice" || status=1
    python3 tests/advise/example.py check "$build/assay" "$build/advice-example" || status=1
}

of_tries() { # programs that gain from one thing, or from nothing
    echo
    sh tests/bench/try.sh "$build/assay" "$build/try" || status=1
}

of_patch() { # what clones of loops add, to an instance and to whole programs
    heading
    rm -rf "$build/clones" && mkdir -p "$build/clones"
    cp -r examples/cg "$build/clones/cg" && make -s -C "$build/clones/cg" MPI=no >/dev/null
    set -- "cg=$build/clones/cg/build/cg --size 64 --loads 24"
    command -v lmp >/dev/null && set -- "$@" "lmp=lmp -log none -in $PWD/tests/bench/melt.in"
    if command -v hpcc >/dev/null; then
        sed -e '/ [PQ]s$/s/^2/1/' -e '/ Ns$/s/^1000/2000/' \
            /usr/share/doc/hpcc/examples/_hpccinf.txt >"$build/clones/hpccinf.txt"
        set -- "$@" "hpcc=hpcc"
    fi
    clones=$PWD/tests/bench/clones.py
    (cd "$build/clones" && python3 "$clones" "$drivers/bench-clones-run" \
        "$build/src/agent/libassay-agent.so" "$build/assay" "$build/clones/run" \
        "${BENCH_PATCH_ROUNDS:-3}" "$drivers/bench-clones" "$@") >"$build/clones.said" || {
        echo "bench: clones of loops could not be measured" >&2
        status=1
    }
    while read -r what mode alone added ratio; do
        unit='ns an instance' value=$added target=-
        case $what-$mode in
        cg-refused | lmp-refused | hpcc-refused)
            number "$what: of the time of hot loops, not timed" "$alone" '' "" 0.02
            printf '    %s %s\n' "$added" "$ratio"
            continue
            ;;
        cg-vprof | lmp-vprof | hpcc-vprof) unit=x value=$ratio target=1.05 ;;
        cg-* | lmp-* | hpcc-*) unit=x value=$ratio ;;
        long-ident | long-sample:1000) unit=x value=$ratio target=1.02 ;;
        middle-time) unit=x value=$ratio target=1.03 ;;
        *-stability) unit='' value=$alone target=0.05 ;;
        branch-count | long-count | list-count) unit=x value=$ratio target=1.5 ;;
        short-ident | list-ident) target=1 ;;
        short-sample:1000 | list-sample:1000) target=1.5 ;;
        short-time | list-time) target=45 ;;
        call-ident) target=15 ;; # 20 calls, 0.75 each
        esac
        case $what-$mode in cg-count | lmp-count | hpcc-count) target=1.5 ;; esac
        number "$what, $mode" "$value" "$unit" "of $alone, $ratio x" "$target"
    done <"$build/clones.said"
    # Programs of the field: what they compute is the same to the bit.
    python3 tests/bench/field.py "$drivers/bench-clones-run" \
        "$build/src/agent/libassay-agent.so" "$build/assay" "$build/field" \
        >"$build/field.said" || status=1
    sed 's/^/  /' "$build/field.said"
}

of_soak() { # in slices; nothing may differ
    python3 tests/bench/soak.py "$drivers/bench-clones-run" "$build/src/agent/libassay-agent.so" \
        "$build/assay" "$drivers/bench-step" "$build/soak" "${SOAK_SECONDS:-600}" ||
        status=1
}

of_decan() { # verdicts about loops whose bottleneck is known; figures of the machine are needed
    heading
    rm -rf "$build/verdicts"
    truth=tests/decan/truth.py
    python3 $truth measure "$build/assay" "$drivers/bench-clones-run" \
        "$build/src/agent/libassay-agent.so" "$build/verdicts" \
        --repeat "${BENCH_DECAN_ROUNDS:-5}" || status=1
    python3 $truth count "$drivers/bench-decan-judge" "$build/verdicts/measured.tsv" \
        >"$build/verdicts.said"
    cat "$build/verdicts.said"
    wrong=$(awk '/verdicts are right/ { printf "%.3f", 1 - $4 / $6 }' "$build/verdicts.said")
    number "wrong verdicts, of all" "${wrong:-1}" '' "" 0.05
    decan_programs
}

decan_blocking() { # what DL1 says of a loop, and what the loop gains by its data in order
    mkdir -p "$build/blocking"
    python3 tests/bench/blocking.py "$build/assay" examples/cg "$build/blocking" \
        >"$build/blocking.said" || {
        echo "bench: the example could not be blocked" >&2
        status=1
    }
    sed 's/^/  /' "$build/blocking.said"
    error=$(awk '$2 == "blocking.error" { print $3 }' "$build/blocking.said")
    number "cg, measured gain of blocking off what DL1 says" "${error:-1}" '' "" 0.2
}

decan_programs() { # what variants cost whole programs
    rm -rf "$build/varied" && mkdir -p "$build/varied"
    cp -r examples/cg "$build/varied/cg" && make -s -C "$build/varied/cg" MPI=no >/dev/null
    set -- "cg=$build/varied/cg/build/cg --size 64 --loads 12"
    command -v lmp >/dev/null && set -- "$@" "lmp=lmp -log none -in $PWD/tests/bench/melt.in"
    if command -v hpcc >/dev/null; then
        sed -e '/ [PQ]s$/s/^2/1/' -e '/ Ns$/s/^1000/2000/' \
            /usr/share/doc/hpcc/examples/_hpccinf.txt >"$build/varied/hpccinf.txt"
        set -- "$@" "hpcc=hpcc"
    fi
    programs=$PWD/tests/bench/decan.py
    (cd "$build/varied" && python3 "$programs" "$build/assay" "$build/varied/run" "$@") \
        >"$build/varied.said" || {
        echo "bench: variants in whole programs could not be measured" >&2
        status=1
    }
    while read -r what which value; do
        case $which in
        three.slowdown) number "$what, all variants" "$value" x "" 2 ;;
        two.slowdown) number "$what, a run of level two" "$value" x "" 1.5 ;;
        three.refused) number "$what, time of hot loops not varied" "$value" '' "" - ;;
        stability) number "$what, stability" "$value" '' "" 0.05 ;;
        esac
    done <"$build/varied.said"
    decan_blocking
}

of_trace() { # what tracing costs a program, and how fast traces are read and written again
    heading
    python3 tests/bench/traced.py "$drivers" "$build/assay" examples/cg tests/bench/melt.in \
        "$build/traced" "${BENCH_TRACE_ROUNDS:-7}" >"$build/traced.said" || {
        echo "bench: traces could not be measured" >&2
        status=1
    }
    while read -r name value low high; do
        case $name in
        record.ns) number "a record" "$value" ns "" 20 ;;
        record.bytes) number "a record of MPI and OpenMP, mean" "$value" B "" 12 ;;
        call.1) number "a call of MPI with one caller, both records" "$value" ns "" - ;;
        call.3) number "a call of MPI with three callers" "$value" ns "" 300 ;;
        resident) number "resident memory, a thread" "$value" MiB "" 8 ;;
        start.ms) number "start and finish, a rank" "$value" ms "[$low - $high]" 50 ;;
        exchange.2) number "two ranks: a step not interrupted" "$value" x "[$low - $high]" 1.02 ;;
        cg.1 | lmp.1) number "${name%%.*} while it is traced" "$value" x "[$low - $high]" 1.02 ;;
        *.least) number "the same, least over least" "$value" x "" - ;;
        cg.2 | lmp.2) number "two ranks, with their waiting" "$value" x "[$low - $high]" - ;;
        analyse.ns) number "analysis, an event" "$value" ns "" 100 ;;
        analyse.more) number "the same of 4 times as many" "$value" x "" 5 ;;
        prv.ns) number "conversion to .prv, a record" "$value" ns "" 100 ;;
        otf2.ns) number "conversion to OTF2, a record" "$value" ns "" 100 ;;
        esac
    done <"$build/traced.said"
}

# Measures time lines, tables and changes of a trace of 11.8 million lines.
of_timeline() { # [MILLION_LINES large]
    index_s=3 index_mib=300
    [ "${2:-}" != large ] || index_s=- index_mib=1024
    heading
    python3 tests/bench/timeline.py "$build/assay" "$drivers/bench-timeline-trace" \
        "$build/timeline" "${@:-${BENCH_TIMELINE_LINES:-11.8}}" >"$build/timeline.said" || {
        echo "bench: time lines could not be measured" >&2
        status=1
    }
    while read -r name value _ _; do
        case $name in
        index.s) number "index of a trace" "$value" s "" "$index_s" ;;
        index.mib) number "the same, resident" "$value" MiB "" "$index_mib" ;;
        reopen.s) number "opening an indexed trace" "$value" s "" 0.1 ;;
        verify.s) number "the same with --verify" "$value" s "" - ;;
        verify.mib) number "the same, resident" "$value" MiB "" 1024 ;;
        page.first.ms) number "first picture in the browser" "$value" ms "" - ;;
        page.table.ms) number "its table" "$value" ms "" - ;;
        page.zoom.median.ms) number "a zoom step, median" "$value" ms "" 50 ;;
        page.zoom.95.ms) number "a zoom step, 95 %" "$value" ms "" 100 ;;
        page.own.median.ms) number "the same, its own picture" "$value" ms "" - ;;
        page.search.ms) number "the next event" "$value" ms "" - ;;
        page.heap.mib) number "memory of the page" "$value" MiB "" - ;;
        tile.ms) number "picture of 2,000 x 64 pixels, parts" "$value" ms "" 50 ;;
        all.ms) number "the same of the whole trace" "$value" ms "" 50 ;;
        events.ms) number "events in such a picture" "$value" ms "" 50 ;;
        rows.ms) number "time by state of each row" "$value" ms "" 50 ;;
        matrix.ms) number "messages by sender and receiver" "$value" ms "" 50 ;;
        messages.ms) number "messages to draw" "$value" ms "" 50 ;;
        served.mib) number "resident with mapped index" "$value" MiB "" 1024 ;;
        table.s) number "a table by assay evaluate" "$value" s "" - ;;
        table.mib) number "the same, resident" "$value" MiB "" 300 ;;
        indexed.s) number "a table from the index" "$value" s "" 0.5 ;;
        indexed.mib) number "the same, resident" "$value" MiB "" 300 ;;
        edit.copy.s) number "a copy by assay edit" "$value" s "" - ;;
        edit.cut.s) number "a fifth by assay edit" "$value" s "" - ;;
        edit.cut.mib) number "the same, resident" "$value" MiB "" 300 ;;
        esac
    done <"$build/timeline.said"
}

cc1=$(gcc -print-prog-name=cc1)
rounds=${BENCH_ROUNDS:-15}
of_machine() { # against a STREAM of our own and against itself; a calm machine is needed
    # With BENCH_SECONDS it goes on where the last one ended.
    [ "${BENCH_SECONDS:-}" ] || rm -rf "$build/machine"
    python3 tests/bench/machine.py "$build/assay" "$build/machine" || status=1
}

of_traffic() { # what exact counts and bytes of levels cost a program
    heading
    python3 tests/bench/traffic.py "$build/assay" "$build/traffic" "${BENCH_ROUNDS:-3}" \
        "${BENCH_SHARE:-1}" >"$build/traffic.said" || {
        echo "bench: the traffic of levels could not be measured" >&2
        status=1
    }
    while read -r what plain levels covered error; do
        number "$what, counted" "$plain" x '' 1.3
        number "$what, with traffic of levels" "$levels" x "$covered % replayed" 1.6
        number "$what: lines into L1, off by" "$error" % '' 5
    done <"$build/traffic.said"
}

of_memory() { # what strides, names and objects of loops cost, and how many are right
    heading
    python3 tests/bench/memory.py "$build/assay" "$drivers/bench-attribute" "$build/memory" \
        "${BENCH_ROUNDS:-5}" >"$build/memory.said" || {
        echo "bench: the analysis of memory operands could not be measured" >&2
        status=1
    }
    while read -r what value; do
        case $what in
        walks) number "100 loops, with --objects" "$value" x '' 1.02 ;;
        pair_ns) number "an allocation and release of 70 kB" "$value" ns '' 1500 ;;
        loop_ms) number "attribution of a loop with memory operands" "$value" ms '' 20 ;;
        peak_mib) number "memory of that attribution" "$value" MiB '' 128 ;;
        wrong_pct) number "operands with a wrong name, stride or size" "$value" % '' 0 ;;
        missing_pct) number "operands without a name or an object" "$value" % '' 2 ;;
        *) printf '    %s %s\n' "$value" "$what" ;;
        esac
    done <"$build/memory.said"
}

case "${BENCH_ONLY:-}" in
'')
    of_code
    of_prediction
    of_cqa
    of_store
    of_profile
    of_advice
    of_tries
    of_patch
    of_trace
    of_timeline
    of_traffic
    of_memory
    ;;
traffic) of_traffic ;;
memory) of_memory ;;
trace) of_trace ;;
timeline) of_timeline ;;
large) # 50 million records, then 10 GB
    of_timeline 50 large
    of_timeline 203 large
    ;;
patch) of_patch ;;
soak) of_soak ;;
decan) of_decan ;;
machine) of_machine ;;
code) of_code ;;
store) of_store ;;
predict) of_prediction ;;
cqa) of_cqa ;;
profile) of_profile ;;
advice) of_advice ;;
try) of_tries ;;
*)
    echo "bench: BENCH_ONLY is code, predict, cqa, store, profile, advice, patch, try," \
        "decan, trace, timeline, large, traffic, memory or machine" >&2
    exit 2
    ;;
esac
echo
echo "A ratio is assay's CPU time over the peer's: below 1 assay is faster" \
    "(doc/internals/benchmarks.md)."
{
    printf '{"schema":1,"results":[\n'
    sed '$!s/$/,/' "$lines"
    printf ']}\n'
} >"$results"
echo "results: $results"
[ -z "$json" ] || cp "$results" "$json" || status=1
exit "$status"
