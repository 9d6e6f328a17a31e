# SPDX-License-Identifier: Apache-2.0
# Verbs that run a program several times say how often, and where they are.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >steps.c <<'END'
static double a[4096];
__attribute__((noipa)) double chain(const double *x, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * 0.5 + x[i];
    return s;
}
int main(void)
{
    double s = 0;
    for (int i = 0; i < 40000; i++)
        s += chain(a, 4096);
    return s != 0;
}
END
    gcc -O2 -g -o steps steps.c
    printf 'probe entries\n    at function entry\n    where function = "chain"\n    do count\nend\n' >entries.probe
}
setup() {
    load common.bash
    export ASSAY_NO_MEASURE=1
    rm -rf x.assay
}
# plan WANT ARGUMENT...: the first note of a verb is the plan
plan() {
    local want=$1
    shift
    "$ASSAY" "$1" -o x.assay --force "${@:2}" ./steps >out 2>err || fails "$*" "$(cat err)"
    equal "assay: $want" "$(grep '^assay: ' err | grep -v 'other processes' | head -1)"
    never grep -q $'\r' err
}
# runs_are MOST WORDS...: a line a run, in turn
runs_are() {
    local most=$1 n=1
    shift
    for words in "$@"; do
        like "assay: run $n of ${most}: $words*" "$(grep "^assay: run $n of" err)"
        [ "$n" = 1 ] || like "*, about * left" "$(grep "^assay: run $n of" err)"
        n=$((n + 1))
    done
}

@test "progress: counts" {
    plan "2 runs of ./steps: profile, counts" count --
    runs_are 2 profile counts
    # Rows of several runs say which run they are of.
    for view in functions callpaths; do
        like "run  *" "$("$ASSAY" show x.assay --view $view | head -1)"
        never grep -q '^run' <("$ASSAY" show x.assay --view $view --run 1 | head -1)
    done
}
@test "progress: timed loops" {
    plan "2 to 5 runs of ./steps: profile, timed loops (1 to 4)" vprof --
    runs_are "at most 5" profile "timed loops"
    plan "2 runs of ./steps: profile, timed loops" vprof --every 1 --
    runs_are 2 profile "timed loops"
}
@test "progress: variants of loops" {
    plan "2 to 3 runs of ./steps: profile, variants of loops (1 to 2)" decan --variants dl1 --
    runs_are "at most 3" profile "variants of loops"
    plan "2 runs of ./steps: profile, variants of loops" decan --variants dl1 --runs 1 --
    runs_are 2 profile "variants of loops"
}
@test "progress: probes" {
    "$ASSAY" probe -o x.assay entries.probe -- ./steps >out 2>err
    equal "assay: 2 to 4 runs of ./steps: profile, probes (1 to 3)" "$(head -1 err)"
    runs_are "at most 4" profile probes
}
@test "progress: a trace is one run" {
    plan "1 run of ./steps: trace" trace --
    never grep -q "run 1 of" err
}
@test "progress: levels of run" {
    plan "3 to 6 runs of ./steps: profile, timed loops (1 to 4), variants of loops" run --level two --
    runs_are "at most 6" profile "timed loops"
    equal 1 "$(grep -c ': variants of loops, about' err)"
    plan "3 runs of ./steps: profile, counts, trace" run --count --trace --
    runs_are 3 profile counts trace
    # A single run has no plan.
    "$ASSAY" run -o x.assay --force -- ./steps 2>err
    never grep -q "^assay: .* runs of" err
}
@test "progress: a process is measured for a time" {
    (exec sleep 100) &
    "$ASSAY" count --pid $! --duration 0.2 -o x.assay >out 2>err || true
    kill $!
    like "assay: 2 measurements of process $!, 0.2 s each: profile, counts" "$(head -1 err)"
    like "assay: measurement 1 of 2: profile" "$(sed -n 2p err)"
}
@test "progress: nothing with --quiet" {
    for verb in count vprof "decan --variants dl1" trace; do
        "$ASSAY" $verb -q -o x.assay --force -- ./steps >out 2>err
        never grep -q "run" err
    done
}
