# SPDX-License-Identifier: Apache-2.0
# The bundled example: its faults leave its result as it is, and assay finds what its README says.

setup_file() {
    load common.bash
    for tool in make gcc gfortran; do
        command -v $tool >/dev/null || {
            echo "no $tool here" >why
            return 0
        }
    done
    for way in plain tuned; do
        make -s -C "$EXAMPLE" BUILD="$PWD/$way" FLAGS=$way MPI=no CC=gcc FC=gfortran >make.log 2>&1 || {
            cat make.log >&2
            return 1
        }
    done
    "$ASSAY" profile -q -o probe.assay -- plain/cg --size 8 --loads 1 >/dev/null 2>probe.err || true
    grep -q "perf_event_paranoid\|not permitted\|no such events" probe.err && touch refused || true
    "$ASSAY" query probe.assay "SELECT event FROM v_runs" | grep -q timer && touch timed || true
}
setup() {
    # Waiting threads sleep: on a busy machine spinning ones would take the time of those that work.
    export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
    load common.bash
    [ ! -e why ] || skip "$(cat why)"
}

query() { "$ASSAY" query --format csv x.assay "$1" | tail -n +2; }
# One load has two hundred samples at most, and five of the lock: chance finds none of them at times.
with() { # FAULTS: profiled into x.assay
    [ ! -e refused ] || skip "perf events are refused here: $(cat probe.err)"
    rm -rf x.assay
    "$ASSAY" profile -q -o x.assay --rate high -- plain/cg --size 48 --loads 8 --faults "$1" >out
}
# samples PATTERN: in functions with a name like PATTERN, with their inlined code
samples() {
    query "SELECT ifnull(sum(exclusive_sample_n), 0) FROM v_functions WHERE name LIKE '$1'"
}
more() { [ "$1" -gt "$2" ] || fails "not more than $2: $1"; }

@test "example: it compiles without a warning" {
    equal "" "$(cat make.log)"
}
@test "example: the same result with every fault, built plainly and well" {
    for way in plain tuned; do
        run sh "$EXAMPLE/check.sh" $way/cg
        equal "check: the same result with every fault" "$output"
    done
}
@test "example: the same result over ranks" {
    mpicc=$(command -v mpicc.openmpi) || skip "no Open MPI here"
    make -s -C "$EXAMPLE" BUILD="$PWD/ranks" MPI=yes MPICC="$mpicc" CC=gcc FC=gfortran
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
    mpirun.openmpi --oversubscribe -n 3 true 2>/dev/null || skip "mpirun does not work here"
    run sh "$EXAMPLE/check.sh" ranks/cg mpirun.openmpi --oversubscribe -n 3
    equal 0 "$status"
    # The launcher may have said something before: of a machine without /sys, say.
    equal "check: the same result with every fault" "$(echo "$output" | tail -n 1)"
}
@test "example: a wrong answer, and wrong usage" {
    status=0
    plain/cg --size 20 --loads 1 --iterations 3 >out || status=$?
    equal 1 "$status"
    like "*3 iterations*WRONG*" "$(cat out)"
    for wrong in "--size 0" "--size" "--sizes 4" "--faults slow" "--loads x"; do
        status=0
        # shellcheck disable=SC2086
        plain/cg $wrong >out 2>err || status=$?
        equal 2 "$status"
        like "cg: *usage: cg *" "$(cat err)"
    done
}
@test "example: faulty loops and repaired loops are distinguished" {
    with none
    equal 0 "$(samples 'smooth_step_strided')"
    more "$(samples 'smooth_step')" 0
    with stride
    equal 0 "$(samples 'smooth_step')"
    more "$(samples 'smooth_step_strided')" 0
}
@test "example: divisions are in the hot loop of the fault alone" {
    with divide
    address=$(query "SELECT address FROM v_loops WHERE source_file LIKE '%operator.c'
        AND is_innermost ORDER BY exclusive_sample_n DESC LIMIT 1")
    "$ASSAY" loops --format json plain/cg >loops.json
    id=$(python3 - "$address" <<'END'
import json, sys
loops = json.load(open("loops.json"))["loops"]
print(next(l["id"] for l in loops if l["address"] == sys.argv[1] and l["level"] in ("innermost", "single")))
END
)
    "$ASSAY" disasm --loop "$id" plain/cg >loop.txt
    equal 6 "$(grep -c 'divsd' loop.txt)"
}
@test "example: the lock of the fault is seen as OpenMP, called from the sum" {
    [ ! -e timed ] || skip "perf events are refused here, and timers do not see the kernel's part"
    with critical
    more "$(query "SELECT count(*) FROM v_callpaths WHERE path LIKE '%dot_planes_critical%GOMP_critical%'")" 0
}
@test "example: threads with an uneven share work unevenly" {
    with imbalance
    # Samples in the program's own code, by thread: two thirds are the first's.
    query "SELECT sum(t.exclusive_n) FROM thread_time t JOIN thread h USING (thread_id)
        JOIN function f ON t.object_kind = 'function' AND t.object_id = f.function_id
        JOIN module m USING (module_id) WHERE m.name = 'cg' AND f.name NOT LIKE 'main%'
        GROUP BY thread_id ORDER BY h.omp_thread IS NOT 0, 1" >own
    equal 2 "$(wc -l <own)"
    more "$(($(head -n 1 own) * 10))" "$(($(tail -n 1 own) * 13))"
}
@test "example: README.md shows what assay prints" {
    [ ! -e refused ] || skip "perf events are refused here: $(cat probe.err)"
    cat >compare.py <<'END'
"""compare.py README PRINTED: the sample of the README has the structure of what was printed. Numbers
may differ, and one finding of three: a busy host has others."""
import re, sys

BEGIN = "plain/cg --size 64"


def number_free(text):
    return re.sub(r"\d[\d,]*(\.\d+)?", "N", " ".join(text.split()))


def parse(text):
    """The head, the findings without numbers by their text, and the lines behind them."""
    text = text[text.index("\n" + BEGIN) + 1:]
    head, rest = text.split("\n\nRecommendations\n")
    findings, tail = rest.split("\n\n", 1)
    items = [number_free(item) for item in re.split(r"^  \d+\. ", findings, flags=re.M)[1:]]
    return head.splitlines(), items, tail.splitlines()


block = open(sys.argv[1]).read().split("    $ assay run -o cg.assay -- ")[1]
sample = [line[4:] for line in block.splitlines() if line.startswith("    ") or not line]
command = block.splitlines()[0]
want = parse("\n".join(sample).split("\n\nThe picture")[0])
got = parse(open(sys.argv[2]).read())
assert want[0][0] == got[0][0] == command, (want[0][0], got[0][0], command)
for name, (head, items, tail) in (("README.md", want), ("assay", got)):
    lines = [number_free(line) for line in head[1:4] + [" ".join(head[4:])]]
    forms = [r"N s,( N processes,)? N threads, N samples, confidence (high|medium|low)",
             r"N % running, N % waiting(, N % ready without a CPU)?",
             r"█+▓*[▒░·]*", r"█ Application N %(, [▓▒░·] .* N %)*"]
    assert len(lines) == len(forms), (name, lines)
    for line, form in zip(lines, forms):
        assert re.fullmatch(form, line), (name, line)
    assert 1 <= len(items) <= 3, (name, items)
    for item in items:
        assert re.match(r"((about N s \(N to N\)|at most N s) of N s: )?\S.*\. → \S.*\.$", item), \
            (name, item)
    assert re.match(r"  assay show cg.assay   # (\d+ more findings?, )?functions, loops, metrics$",
                    tail[0]), (name, tail)
    assert tail[1].startswith("  assay show cg.assay --view "), (name, tail)
    assert tail[2] == "assay: the report is cg.assay/report.html", (name, tail)
whats = [[item.split(": ", 1)[1] for item in items] for items in (want[1], got[1])]
same = set(whats[0]) & set(whats[1])
assert len(same) >= 2, whats
END
    sed -n 's/^    \$ assay \(run .*\)/\1/p' "$README" >command
    read -ra words <command
    LC_ALL=C.UTF-8 "$ASSAY" "${words[@]}" >out 2>err
    python3 compare.py "$README" err || fails "$(cat err)"
}
