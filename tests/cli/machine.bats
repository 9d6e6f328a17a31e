# SPDX-License-Identifier: Apache-2.0
# assay machine: the card, the formats, other machines, interrupted measurements. The figures
# themselves are not judged.

setup() {
    load common.bash
    export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    cd "$BATS_TEST_TMPDIR"
}

# A machine that was measured once.
figures_of() { # FILE BANDWIDTH
    {
        printf 'machine\tname\tnode1\nmachine\tcpu\tX 9000\n'
        printf 'done\tmemory\t2026-01-02T03:04:05Z\n'
        printf 'figure\tbandwidth.read.L1.core\t%s\tB/s\t0.01\t21\tcalm\t2026-01-02T03:04:05Z\n' "$2"
        printf 'figure\tlatency.L1.huge\t1.25\tns\t0.01\t21\tnoisy\t2026-01-02T03:04:05Z\n'
        printf 'figure\tpeak.fma.f64.avx2.core\t5.9e10\top/s\t0.01\t21\tcalm\t2026-01-02T03:04:05Z\n'
        for i in 1 2 3 4 5; do printf 'finding\tf%s\tfinding number %s\n' $i $i; done
    } >"$1"
}
# is_measured N: so many figures are kept, in the file $stored
is_measured() { # -> $stored
    stored=$(find "$XDG_DATA_HOME/assay/machines" -name '*.tsv' 2>/dev/null || true)
    [ -n "$stored" ] && [ "$(grep -c ^figure "$stored")" -ge "$1" ]
}
# interrupted CALL COMMAND...: gets SIGINT at that call (signals.c)
interrupted() { # -> $status
    status=0
    SIGNAL_CALL=$1 signalled INT "${@:2}" || status=$?
}
# Finds the file of this host's figures: every figure replaces the file.
store() { # -> $stored
    build_signals
    interrupted renameat:3 "$ASSAY" machine --measure peaks --quiet >/dev/null
    is_measured 1
}

@test "the card of this machine, never measured" {
    "$ASSAY" machine >out
    grep -q '^  cores  *.*processor' out
    grep -q '^  caches ' out
    grep -q '^  clock  *TSC [0-9.]* GHz' out
    grep -Eq '^  counters  *(available|none|refused|busy)' out
    grep -q "^  measured  *never; run 'assay machine --measure all'" out
    [ "$(wc -L <out)" -le 80 ]
}
@test "JSON and CSV" {
    "$ASSAY" machine --format json >out
    equal "$(getconf _NPROCESSORS_ONLN)" "$(json '["topology"]["processor_n"]' <out)"
    equal machine "$(json '["topology"]["places"][0]["kind"]' <out)"
    "$ASSAY" machine --format csv >out
    grep -q '^topology.places.0.kind,machine$' out
    grep -q '^host.facts.pmu,' out
}
@test "stored figures are shown on one screen, with their date" {
    store
    figures_of "$stored" 4.5e11
    "$ASSAY" machine >out
    grep -Eq '^  read, one core, GB/s +450$' out
    grep -Eq '^  latency, huge pages, ns +1.25\?$' out
    grep -Eq '^  FMA f64, one core +59.0' out
    grep -q '2026-01-02 03:04 UTC; trust: 2 high, 0 medium, 1 low' out
    grep -q 'finding number 3' out
    grep -q '2 more findings' out
    [ "$(wc -L <out)" -le 80 ]
    [ "$(wc -l <out)" -le 36 ]
    "$ASSAY" machine --format json >out
    equal low "$(json '["figures"][1]["confidence"]' <out)"
    equal "finding number 5" "$(json '["findings"][4]' <out)"
}
@test "how long measuring took, and what could not be measured" {
    store
    figures_of "$stored" 4.5e11
    sed -i 's/^\(done.*\)/\1\t61.5\t2.6/' "$stored"
    printf 'begun\tpeaks\t2026-01-02T03:04:05Z\t10.0\t0.6\n' >>"$stored"
    printf 'finding\tbandwidth.L3.core\tbandwidth.L3.core: not measured: no room\n' >>"$stored"
    COLUMNS=200 "$ASSAY" machine >out
    grep -q '03:04 UTC in 72 s, 3 s of them waiting for low external load; trust: ' out
    grep -Eq '^  read, one core, GB/s +450 +-$' out
    "$ASSAY" machine --format json >out
    equal 61.5 "$(json '["groups"][0]["took_s"]' <out)"
    equal 2.6 "$(json '["groups"][0]["waited_s"]' <out)"
    equal false "$(json '["groups"][1]["is_done"]' <out)"
}
@test "parameters of the core that were seen, and that were not" {
    store
    figures_of "$stored" 4.5e11
    {
        printf 'figure\tcore.rob\t443\tentries\t0.007\t2000\tcalm\t2026-01-02T03:04:05Z\n'
        printf 'figure\tcore.sched_fp\t115\tentries\t0.03\t2000\tnoisy\t2026-01-02T03:04:05Z\n'
        printf 'figure\tcore.fuse.cmp\t1\tslots\t0.01\t48\tcalm\t2026-01-02T03:04:05Z\n'
        printf 'figure\tcore.fuse.or\t2\tslots\t0.01\t48\tcalm\t2026-01-02T03:04:05Z\n'
        printf 'figure\tcore.fuse.add\t1\tslots\t0.01\t48\tcalm\t2026-01-02T03:04:05Z\n'
    } >>"$stored"
    "$ASSAY" machine >out
    grep -Eq '^  window +ROB 443, vector 115\?$' out
    grep -Eq '^  front end +fused with a branch cmp add$' out
    cp "$stored" other.tsv
    sed -i 's/core.rob\t443/core.rob\t400/' other.tsv
    COLUMNS=200 "$ASSAY" machine --diff "$stored" other.tsv >out
    grep -Eq '^core.rob +entries +443 +400 +0.903 ' out
}
@test "interrupted, kept and gone on with" {
    store
    equal 130 "$status"
    grep -q "^begun	peaks	" "$stored"
    never grep -q "^done	peaks	" "$stored"
    cp "$stored" first
    COLUMNS=200 "$ASSAY" machine >out
    grep -q "'peaks' is incomplete: --measure continues it" out
    n=$(grep -c ^figure first)
    [ "$n" -ge 1 ]
    # Again: what is there stays as it is, with its date.
    interrupted renameat:3 "$ASSAY" machine --measure peaks --quiet >/dev/null
    [ "$(grep -c ^figure "$stored")" -gt "$n" ]
    grep ^figure first >before
    grep ^figure "$stored" | head -n "$n" >after
    equal "$(cat before)" "$(cat after)"
}
@test "a damaged file is said, and not used" {
    store
    echo 'figure	x' >"$stored"
    "$ASSAY" machine >out 2>err || true
    like "assay: $stored:1: not a figure*" "$(cat err)"
    grep -q '^  cores ' out
}
@test "machines side by side" {
    figures_of a.tsv 4e11
    figures_of b.tsv 2e11
    "$ASSAY" machine --diff a.tsv b.tsv >out
    grep -Eq '^bandwidth.read.L1.core +B/s +4e\+11 +2e\+11 +0.500 +high +high$' out
    "$ASSAY" machine --diff --format csv a.tsv b.tsv >out
    equal "name,unit,a,b,ratio,confidence_a,confidence_b" "$(head -1 out)"
    "$ASSAY" machine --diff --format json a.tsv b.tsv >out
    equal 0.5 "$(json '["figures"][0]["ratio"]' <out)"
    status=0
    "$ASSAY" machine --diff a.tsv 2>err || status=$?
    equal 2 "$status"
    like "assay: --diff: needs two machines;*" "$(cat err)"
    status=0
    "$ASSAY" machine a.tsv 2>err || status=$?
    equal 2 "$status"
}
@test "machines that were measured, by their names" {
    "$ASSAY" machine --list >out 2>err
    like "*no machine was measured yet*" "$(cat err)"
    mkdir -p "$XDG_DATA_HOME/assay/machines"
    figures_of "$XDG_DATA_HOME/assay/machines/node1-12345678.tsv" 1e11
    "$ASSAY" machine --list >out
    grep -q '^node1 .*X 9000 .* 3 .*2026-01-02' out
    "$ASSAY" machine --diff node1-12345678 node1-12345678.tsv | grep -q ' 1.000 '
    "$ASSAY" machine --list --format json >out
    equal node1 "$(json '["machines"][0]["name"]' <out)"
}
@test "the machine of a file" {
    "$ASSAY" machine --topology "$MACHINES/flat-memory.xml" >out
    like "a machine: Intel(R) Xeon Phi(TM) CPU 7250" "$(head -1 out)"
    grep -q '8 cores, 32 processors' out
    grep -q 'L1 32.0 KiB for 4, L2 1.0 MiB for 8' out
    grep -q '96.0 GiB DRAM, 16.0 GiB MCDRAM, 4 NUMA nodes' out
    never grep -q measured out
    "$ASSAY" machine --topology "$MACHINES/two-packages.xml" --format json >out
    equal 16 "$(json '["topology"]["processor_n"]' <out)"
    status=0
    "$ASSAY" machine --topology /nonexistent.xml 2>err || status=$?
    equal 2 "$status"
    like "assay: /nonexistent.xml: the topology is missing: *" "$(cat err)"
    status=0
    "$ASSAY" machine --topology "$MACHINES/hybrid.xml" --measure all 2>err || status=$?
    equal 2 "$status"
}
@test "a file on which hwloc crashes is one sentence" {
    status=0
    "$ASSAY" machine --topology "$MACHINES/crashes-hwloc.xml" >out 2>err || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ]
    [ "$status" -eq 0 ] || like "assay: */crashes-hwloc.xml: *" "$(cat err)"
    [ "$(wc -l <err)" -le 1 ]
}
@test "figures for elsewhere" {
    status=0
    "$ASSAY" machine --export copy.tsv 2>err >/dev/null || status=$?
    equal 2 "$status"
    like "assay: --export: nothing was measured*" "$(cat err)"
    store
    "$ASSAY" machine --export copy.tsv >/dev/null
    cmp copy.tsv "$stored"
}
@test "one CPU is enough" {
    command -v taskset >/dev/null || skip "no taskset here"
    first=$(taskset -cp $$ | sed 's/.*: //;s/[-,].*//')
    [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] || skip "there is no more than one"
    taskset -c "$first" "$ASSAY" machine >out
    grep -q ', 1 may be used here' out
    build_signals
    interrupted renameat:3 taskset -c "$first" "$ASSAY" machine --measure peaks --quiet >/dev/null
    is_measured 1
    grep -q '^finding	processors	CPUs: only 1 of ' "$stored"
}
# Measures peaks until there are three figures, by the command in front; then $stored is there.
until_three() { # COMMAND...
    build_signals
    interrupted renameat:6 "$@" "$ASSAY" machine --measure peaks --quiet >/dev/null
    is_measured 3
}
# Creates a control group with half a CPU; empty if groups cannot be created.
half_a_processor() { # -> $group
    group=
    local root made
    for root in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
        made=$root/assay-machine-$$
        mkdir "$made" 2>/dev/null || continue
        if { [ -e "$made/cpu.max" ] && echo '50000 100000' >"$made/cpu.max"; } 2>/dev/null ||
            { [ -e "$made/cpu.cfs_quota_us" ] && echo 50000 >"$made/cpu.cfs_quota_us"; } 2>/dev/null; then
            group=$made
            return
        fi
        rmdir "$made"
    done
}
leave_group() {
    local i
    for ((i = 0; i < 600; i++)); do
        if rmdir "$group" 2>/dev/null; then return; fi
        sleep 0.1
    done
}
@test "a quota of the control group is said, and goes with it" {
    half_a_processor
    [ -n "$group" ] || skip "no control group with a quota of processors may be made here"
    until_three sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" || failed=1
    leave_group
    [ -z "${failed:-}" ]
    grep -q '^finding	quota	quota: the control group grants 0.5 CPUs of ' "$stored"
    "$ASSAY" machine --format json >out
    like "*quota: the control group grants 0.5*" "$(json '["findings"]' <out)"
    first=$(grep ^figure "$stored" | head -1)
    env --default-signal=INT "$ASSAY" machine --measure peaks --quiet >/dev/null &
    pid=$!
    is_free_or_over() { ! grep -q '^finding	quota' "$stored" || ! kill -0 $pid 2>/dev/null; }
    until_so is_free_or_over
    kill -INT $pid 2>/dev/null || true # or it is over
    wait $pid || true
    never grep -q '^finding	quota' "$stored"
    # The earlier measurement stays, with its date.
    grep -qF "$first" "$stored"
}
@test "a neighbour on the same CPU makes no wrong lines" {
    command -v taskset >/dev/null || skip "no taskset here"
    command -v gcc >/dev/null || skip "no gcc here"
    printf 'f: add %%rax,%%rcx\n and %%rax,%%rcx\n lea 8(%%rax),%%rcx\n ret\n' >f.s
    gcc -shared -nostdlib -o f.so f.s
    first=$(taskset -cp $$ | sed 's/.*: //;s/[-,].*//')
    # Wakes again and again, so that it is in the middle of nearly every sample.
    cat >waker.c <<'END'
#include <stdlib.h>
#include <time.h>
int main(void)
{
    const struct timespec pause = {.tv_nsec = 5000};
    for (;;) {
        nanosleep(&pause, NULL);
        for (volatile int i = 0; i < 20000; i++)
            ;
    }
}
END
    gcc -O1 -o waker waker.c
    wakers=
    for i in 1 2 3; do
        taskset -c "$first" ./waker &
        wakers="$wakers $!"
    done
    status=0
    taskset -c "$first" "$ASSAY" machine --measure instructions --for f.so --quiet >/dev/null ||
        status=$?
    kill $wakers 2>/dev/null || true
    wait $wakers 2>/dev/null || true
    equal 0 "$status"
    table=$(ls "$XDG_DATA_HOME"/assay/machines/*.uarch.tsv)
    # One cycle on every CPU, or marked as noisy.
    for form in 'add r64,r64' 'and r64,r64'; do
        line=$(grep "form	$form	" "$table")
        case $line in
        *noisy*) ;;
        *) equal 1 "$(printf '%s\n' "$line" | cut -f5)" ;;
        esac
    done
}
@test "instructions: interrupted, and gone on with where they ended" {
    build_signals
    interrupted fflush:9 "$ASSAY" machine --measure instructions --for /bin/true >/dev/null 2>err
    part=$(find "$XDG_DATA_HOME/assay/machines" -name '*.uarch.tsv.part')
    equal 130 "$status"
    grep -q 'interrupted; finished measurements are stored' err
    [ ! -e "${part%.part}" ]
    cp "$part" first
    [ "$(grep -c ^form first)" -ge 1 ]
    "$ASSAY" machine --measure instructions --for /bin/true --quiet >/dev/null
    [ ! -e "$part" ]
    # Earlier lines stand in the table unchanged, except for noise, and once.
    while read -r line; do
        equal 1 "$(grep -cF "$line" "${part%.part}")"
    done < <(grep ^form first | head -n 3)
}
@test "a run measures what it needs, once, and keeps it" {
    unset ASSAY_NO_MEASURE
    "$ASSAY" run -o none.assay --no-measure -- true >out 2>&1
    never grep -q 'measuring this machine' out
    equal 0 "$("$ASSAY" query none.assay --format csv 'SELECT count(*) FROM machine_figure' | tail -1)"
    equal machine "$("$ASSAY" query none.assay --format csv \
        'SELECT kind FROM v_machine_places WHERE place = 0' | tail -1)"
    "$ASSAY" run -o one.assay -- true >out 2>&1
    grep -q 'measuring this machine' out
    "$ASSAY" query one.assay --format csv 'SELECT name, unit FROM v_machine' >figures
    grep -q '^bandwidth.triad.memory.core,B/s' figures
    grep -q '^peak.fma.f64.[a-z0-9]*.core,op/s' figures || grep -q '^peak.add.f64.sse.core' figures
    "$ASSAY" run -o two.assay -- true >out 2>&1
    never grep -q 'measuring this machine' out
    equal "$(cat figures)" \
        "$("$ASSAY" query two.assay --format csv 'SELECT name, unit FROM v_machine')"
    "$ASSAY" show two.assay --view machine >out
    grep -q 'bandwidth.triad.memory.core .*GB/s' out
}
@test "a run that cannot keep figures is not kept from running" {
    unset ASSAY_NO_MEASURE
    export XDG_DATA_HOME=/proc/nowhere
    "$ASSAY" run -o x.assay -- true >out 2>&1
    like "*this machine was not measured: /proc/nowhere/*: cannot be written*" "$(cat out)"
    [ -d x.assay ]
}
@test "the table of this core, of the forms of a binary" {
    command -v gcc >/dev/null || skip "no gcc here"
    echo 'long f(long a, long b) { return a * b + 3; }' >f.c
    gcc -O1 -shared -nostdlib -o f.so f.c
    "$ASSAY" machine --measure instructions --for f.so >out 2>err
    like "assay: * forms measured *" "$(cat err)"
    grep -Eq '^assay: measured in [0-9]+ s, [0-9]+ s of them waiting for low external load$' err
    table=$(ls "$XDG_DATA_HOME"/assay/machines/*.uarch.tsv)
    grep -q '^core	' "$table"
    # On a machine that others use all the time, of little trust.
    grep -Eq '^(# noisy: )?set	dispatch_width	[1-9]' "$table"
    grep -q '^group	ALU	' "$table"
    grep -Eq '^(# noisy: )?form	imul r64,r64	' "$table"
    if grep -q '^# noisy: set	dispatch_width' "$table"; then
        grep -q 'external load disturbed this core' err
        never grep -q '^form' "$table"
    fi
    never grep -q '^form	vaddpd' "$table"
    [ ! -e "$table.part" ]
    "$ASSAY" machine --list >out
    never grep -q uarch out
    COLUMNS=300 "$ASSAY" machine >out
    grep -q "^  core  .*; measured here: $table" out
    status=0
    "$ASSAY" machine --measure instructions --for /nonexistent 2>err >/dev/null || status=$?
    equal 2 "$status"
}
