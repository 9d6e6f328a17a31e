# SPDX-License-Identifier: Apache-2.0
# assay behind the launcher: each rank gets an experiment of its own, with any name and any number
# of simultaneous starts. 'assay merge' combines them into one.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    # Rank r works 0.1 (r + 1) s of its own time, also without MPI, and has two threads of OpenMP.
    cat >m.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef MPI
#include <mpi.h>
#endif
volatile double sink;
__attribute__((noinline)) void work(double seconds)
{
    struct timespec t;
    double end = 0, now = 0, sum = 0;
    while (now <= end) {
        for (int i = 0; i < 20000; i++)
            sum += i * 0.5;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        end = end > 0 ? end : now + seconds;
    }
    sink = sum;
}
int main(int argc, char **argv)
{
    int rank = argc > 1 ? atoi(argv[1]) : 0;
#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    work(0.1 * (rank + 1));
#ifdef MPI
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
#endif
    printf("rank %d\n", rank);
    return 0;
}
END
    gcc -O1 -g -o m m.c
    for mpi in openmpi mpich; do
        mpicc.$mpi -DMPI -O1 -g -o m.$mpi m.c 2>$mpi.why || continue
        launch $mpi 2 true >$mpi.why 2>&1 && touch works.$mpi
    done
    mkdir -p kept
    "$MAKE_EXPERIMENT" kept/a.assay
    "$ASSAY" profile -q -o probe.assay -- ./m 2>probe.err >/dev/null || touch refused
}
setup() {
    load common.bash
    rm -rf x* m*.assay r*.assay
    unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE SLURM_PROCID SLURM_STEP_ID PMI_RANK
}

launch() {
    local mpi=$1 ranks=$2
    shift 2
    case $mpi in
    openmpi) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun.openmpi --oversubscribe -n "$ranks" "$@" ;;
    mpich) mpiexec.mpich -n "$ranks" "$@" ;;
    esac
}
# as_rank RANK SIZE COMMAND...
as_rank() {
    local rank=$1 size=$2
    shift 2
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$size "$@"
}
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }

# says STATUS SENTENCE COMMAND...: just this on standard error
says() {
    local status=0 want=$1 sentence=$2
    shift 2
    "$@" >out 2>err || status=$?
    equal "$sentence" "$(cat err)"
    equal "$want" "$status"
}

# Behind a launcher: each rank its own, merged as one run that knows all, each rank's own time.
behind_launcher() { # MPI RANKS
    local mpi=$1 ranks=$2 rank
    [ -e "works.$mpi" ] || skip "$mpi is missing or does not work here"
    launch "$mpi" "$ranks" "$ASSAY" profile -o x.assay -- ./m."$mpi" >out 2>err ||
        fails "the job ended with $?" "$(cat err)"
    equal "$ranks" "$(grep -c '^rank ' out)"
    for ((rank = 0; rank < ranks; rank++)); do
        [ -d x.r$rank.assay ] || fails "rank $rank has none: $(ls)"
    done
    # One summary, and one sentence on how to go on.
    equal 1 "$(grep -c "samples, confidence" err)"
    equal "assay: this was rank 0 of $ranks, in x.r0.assay; 'assay merge x.r*.assay -o x.assay' makes one experiment of all" \
        "$(grep "^assay:" err)"
    "$ASSAY" merge x.r*.assay -o x.assay 2>merge.err
    like "*assay: merged $ranks experiments: $ranks ranks on 1 machine; the experiment is x.assay" \
        "$(tail -n 1 merge.err)"
    equal "$ranks,$mpi,complete,0" \
        "$(query x.assay "SELECT rank_n, launcher, state, exit_code FROM v_runs")"
    equal 0 "$(query x.assay "SELECT count(*) FROM v_flags WHERE name IN ('missing_ranks', 'ranks_differ', 'clocks')")"
}

# Compares the merged run with its parts: samples, time of work() and threads, rank by rank.
equals_parts() { # RANKS
    local rank sums="SELECT p.rank, count(DISTINCT t.thread_id), sum(s.n), sum(s.time_ns)
        FROM sample s JOIN thread t USING (thread_id) JOIN process p USING (process_id)
        WHERE s.state = 0 GROUP BY p.rank ORDER BY p.rank"
    local work="SELECT p.rank, t.exclusive_n, t.exclusive_ns FROM thread_time t
        JOIN thread USING (thread_id) JOIN process p USING (process_id) JOIN function f
        ON t.object_kind = 'function' AND t.object_id = f.function_id WHERE f.name = 'work' ORDER BY p.rank"
    local paths="SELECT p.rank, c.path, sum(s.n) FROM sample s JOIN thread USING (thread_id)
        JOIN process p USING (process_id) JOIN v_binary_callpaths c USING (callpath_id)
        WHERE s.state = 0 GROUP BY 1, 2 ORDER BY 1, 2"
    for question in "$sums" "$work" "$paths"; do
        for ((rank = 0; rank < $1; rank++)); do query x.r$rank.assay "$question"; done >want
        query x.assay "$question" >got
        [ -s want ] || fails "nothing: $question"
        diff want got
    done
    equal "$(for ((rank = 0; rank < $1; rank++)); do query x.r$rank.assay "SELECT count(*) FROM run_file"; done |
        awk '{ n += $1 } END { print n }')" "$(query x.assay "SELECT count(*) FROM run_file")"
    query x.assay "SELECT path FROM run_file" | while read -r path; do
        [ -s "x.assay/$path" ] || fails "$path is not there"
    done
    equal "" "$(query x.assay "SELECT * FROM pragma_foreign_key_check LIMIT 1")"
}

@test "merge: four ranks of Open MPI, assay behind the launcher" {
    behind_launcher openmpi 4
    equals_parts 4
    # Advice is there, and the report can be written.
    [ "$(query x.assay "SELECT count(*) FROM v_checks")" -gt 5 ] || fails "no checks"
    "$ASSAY" report x.assay -q -o report.html
    [ -s report.html ] || fails "no report"
}
@test "merge: three ranks of MPICH, assay behind the launcher" {
    behind_launcher mpich 3
    equals_parts 3
}
@test "merge: the same kind of thing as assay before the launcher sees" {
    [ -e works.openmpi ] || skip "Open MPI is missing or does not work here"
    [ ! -e refused ] || skip "nothing can be recorded here: $(cat probe.err)"
    behind_launcher openmpi 2
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$ASSAY" profile -q -o xb.assay -- \
        mpirun.openmpi --oversubscribe -n 2 ./m.openmpi >out
    question="SELECT rank, exe, (SELECT count(*) FROM thread t WHERE t.process_id = p.process_id)
        FROM process p WHERE rank IS NOT NULL AND exe LIKE '%/m.openmpi' ORDER BY rank"
    query xb.assay "$question" >want
    query x.assay "$question" >got
    diff want got
    for experiment in x xb; do
        query $experiment.assay "SELECT DISTINCT module, source_file, line, address FROM v_functions
            WHERE name = 'work'" >work.$experiment
        query $experiment.assay "SELECT kind, launcher, rank_n, event, rate_hz, call_stacks, scope
            FROM v_runs" >run.$experiment
        # Each rank worked as long as it reports, within a sample. Time that a hypervisor stole is
        # excepted, and so are samples that a reader without a CPU has lost.
        query $experiment.assay "SELECT p.rank, sum(t.inclusive_ns) / 1e8 / (p.rank + 1),
            (SELECT ifnull(steal_time_s, 0) + 1.0 * lost_sample_n / rate_hz FROM v_runs) * 10 / (p.rank + 1)
            FROM thread_time t
            JOIN thread USING (thread_id) JOIN process p USING (process_id)
            JOIN function f ON t.object_kind = 'function' AND t.object_id = f.function_id
            WHERE f.name = 'work' GROUP BY p.rank" >times
        equal 2 "$(wc -l <times)"
        awk -F, '$2 + $3 < 0.7 || $2 - $3 > 1.5 { exit 1 }' times || fails "$experiment: $(cat times)"
    done
    [ -s work.x ]
    diff work.xb work.x
    diff run.xb run.x
}
@test "merge: srun, by its variables" {
    for rank in 0 1 2; do
        SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=3 \
            SLURM_LOCALID=$rank SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=3 \
            "$ASSAY" profile -o x.assay -- ./m $rank >out$rank 2>err$rank &
    done
    wait
    like "*this was rank 0 of 3, in x.r0.assay*" "$(cat err0)"
    equal "" "$(cat err1 err2)"
    "$ASSAY" merge -q x.r*.assay -o x.assay
    equal "3,srun" "$(query x.assay "SELECT rank_n, launcher FROM v_runs")"
    equal "17,3" "$(query x.assay "SELECT (SELECT value FROM run_environment WHERE name = 'SLURM_JOB_ID'),
        (SELECT value FROM run_environment WHERE name = 'SLURM_STEP_NUM_TASKS')")"
    equals_parts 3
    # One of the job is left out: it is said, and the rest is there.
    "$ASSAY" merge -q x.r0.assay x.r2.assay -o x2.assay
    equal 'the job had 3 ranks: rank 1 is missing and not in any sum' \
        "$(query x2.assay "SELECT text FROM v_flags WHERE name = 'missing_ranks'")"
    # A batch script has no rank.
    SLURM_JOB_ID=17 SLURM_PROCID=0 "$ASSAY" profile -q -o xbatch.assay -- ./m >out
    [ -d xbatch.assay ]
}
@test "merge: sixteen started at once, as ranks and as none" {
    for ((rank = 0; rank < 16; rank++)); do
        as_rank $rank 16 "$ASSAY" profile -o x.assay -- ./m -1 >out$rank 2>err$rank &
    done
    wait
    equal 16 "$(find . -maxdepth 1 -name 'x.r*.assay' | wc -l)"
    equal "" "$(cat err[1-9]*)"
    "$ASSAY" merge -q x.r*.assay -o x.assay
    equal 16 "$(query x.assay "SELECT rank_n FROM v_runs")"
    for rank in 0 1; do as_rank $rank 2 "$ASSAY" profile -q -- ./m -1 >out & done
    wait
    [ -d m.r0.assay ]
    [ -d m.r1.assay ]
    # Processes without a rank find names of their own.
    for ((i = 0; i < 16; i++)); do "$ASSAY" profile -q -- ./m -1 >outn$i 2>errn$i & done
    wait
    equal "" "$(cat errn*)"
    equal 16 "$(find . -maxdepth 1 \( -name 'm.assay' -o -name 'm-*.assay' \) | wc -l)"
    for experiment in m.assay m-*.assay; do
        equal 1 "$(query "$experiment" "SELECT count(*) FROM v_runs WHERE state = 'complete'")"
    done
}
@test "merge: a name that is there does not end a job that has begun" {
    for round in 1 2; do
        for rank in 0 1; do
            as_rank $rank 2 "$ASSAY" profile -q -o x.assay -- ./m -1 >out
        done
    done
    [ -d x-2.r0.assay ]
    [ -d x-2.r1.assay ]
    as_rank 0 2 "$ASSAY" profile -o x.assay -- ./m -1 >out 2>err
    equal "assay: this was rank 0 of 2, in x-3.r0.assay; 'assay merge x-3.r*.assay -o x-3.assay' makes one experiment of all" \
        "$(grep "^assay:" err)"
    as_rank 0 2 "$ASSAY" profile -q --force -o x.assay -- ./m -1 >out
    [ ! -e x-4.r0.assay ]
    # An only rank is as one without a launcher.
    as_rank 0 1 "$ASSAY" profile -q -o xone.assay -- ./m -1 >out
    [ -d xone.assay ]
    as_rank 0 1 says 2 "assay: xone.assay: exists; use another name, or replace it with --force" \
        "$ASSAY" profile -o xone.assay -- ./m -1
}
@test "merge: %r, %h, %p and %% in the name" {
    as_rank 3 4 "$ASSAY" profile -q -o x.%r.%h.%%.assay -- ./m -1 >out
    [ -d "x.3.$(hostname).%.assay" ] || fails "$(ls -d x*)"
    "$ASSAY" profile -q -o x%p.assay -- ./m -1 >out &
    pid=$!
    wait $pid
    [ -d x$pid.assay ] || fails "$(ls -d x*)"
    as_rank 0 4 "$ASSAY" profile -o x.%r.assay -- ./m -1 >out 2>err
    equal "assay: this was rank 0 of 4, in x.0.assay; 'assay merge x.*.assay -o merged.assay' makes one experiment of all" \
        "$(grep "^assay:" err)"
    says 2 "assay: --output: 'x%r.assay': this process has no rank for %r (no launcher has set OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID or the like); remove %r" \
        "$ASSAY" profile -o x%r.assay -- ./m -1
    says 2 "assay: --output: 'x%q.assay': %q is unknown; use %r (rank), %h (machine), %p (process id) or %%" \
        "$ASSAY" profile -o x%q.assay -- ./m -1
    says 2 "assay: --output: 'x%': % is unknown; use %r (rank), %h (machine), %p (process id) or %%" \
        "$ASSAY" profile -o x% -- ./m -1
}
@test "merge: a rank that fails says so, and only what is wrong" {
    status=0
    as_rank 1 2 "$ASSAY" profile -o x.assay -- ./missing >out 2>err || status=$?
    equal 2 "$status"
    like "assay: ./missing: *" "$(cat err)"
    equal 1 "$(wc -l <err)"
    as_rank 1 2 "$ASSAY" run -o x.assay -- ./m -1 >out 2>err
    equal "rank -1" "$(cat out)"
    equal "" "$(cat err)"
    [ -s x.r1.assay/report.html ] || fails "no report"
}
@test "merge: the command line" {
    cp -r kept/a.assay xa.assay
    says 2 "assay: merge: no result named; use --output NAME.assay" \
        "$ASSAY" merge xa.assay
    says 2 "assay: xa.assay: exists; use another name, or replace it with --force" \
        "$ASSAY" merge xa.assay -o xa.assay
    says 2 "assay: xb.assay: no such experiment: No such file or directory; use a directory that assay created" \
        "$ASSAY" merge xa.assay xb.assay -o x.assay
    says 2 "assay: xa.assay: is the same experiment as xa.assay/; use each once" \
        "$ASSAY" merge xa.assay/ xa.assay -o x.assay
    cp -r xa.assay xc.assay
    says 2 "assay: xc.assay: holds rank 0, which xa.assay has too; use one experiment for each rank" \
        "$ASSAY" merge xa.assay xc.assay -o x.assay
    equal "xa.assay xc.assay" "$(echo x*)"
    # Over another one, which stays until the new one is whole.
    mkdir -p x.assay && says 2 "assay: xb.assay: no such experiment: No such file or directory; use a directory that assay created" \
        "$ASSAY" merge xb.assay --force -o x.assay
    "$ASSAY" merge -q xa.assay -o x.assay --label first
    equal first "$(query x.assay "SELECT label FROM v_runs")"
    "$ASSAY" merge xc.assay -o x.assay --force --label second 2>err
    equal second "$(query x.assay "SELECT label FROM v_runs")"
    equal "assay: merged 1 experiments: 2 ranks on 1 machine; the experiment is x.assay" "$(tail -n 1 err)"
    equal "x.assay xa.assay xc.assay" "$(echo x*)"
}
@test "merge: Ctrl-C leaves nothing" {
    # The signal comes while the first input is copied.
    build_signals
    cp -r kept/a.assay xa.assay
    mkdir -p xa.assay/run-001
    echo samples >xa.assay/run-001/file
    python3 - <<'END'
import shutil, sqlite3
db = sqlite3.connect("xa.assay/experiment.db")
db.execute("UPDATE process SET rank = NULL")
db.commit()
db.close()
for i in (1, 2):
    shutil.copytree("xa.assay", f"xa{i}.assay")
END
    "$ASSAY" merge -q xa*.assay -o xwhole.assay
    [ -s xwhole.assay/run-001/0001-file ] || fails "no file is copied"
    for signal in INT TERM; do
        status=0
        signalled $signal "$ASSAY" merge xa*.assay -o x.assay >out 2>err || status=$?
        equal "assay: merge: stopped; no result was written" "$(tail -n 1 err)"
        equal "$((128 + $(kill -l $signal)))" "$status"
        equal "" "$(find . -maxdepth 1 -name 'x.assay*')"
    done
}
@test "merge: a full disk leaves nothing, and what was there" {
    cp -r kept/a.assay xa.assay
    head -c 300000 /dev/zero >xa.assay/run-001/main.samples 2>/dev/null ||
        { mkdir xa.assay/run-001 && head -c 300000 /dev/zero >xa.assay/run-001/main.samples; }
    cp -r kept/a.assay xb.assay
    mkdir -p small
    user=
    [ "$(id -u)" -eq 0 ] || user=-Ur
    unshare $user -m mount -t tmpfs none small 2>/dev/null || skip "nothing can be mounted here"
    export ASSAY
    # First the file of samples, then the database finds no room.
    for size in 600k 380k; do
        unshare $user -m sh -c 'mount -t tmpfs -o size='$size' none small && echo old >small/other &&
            { "$ASSAY" merge -q xa.assay -o small/x.assay 2>err; echo $? >status
              ls small >listed; }'
        equal 1 "$(cat status)"
        like "assay: small/x.assay.merging-*: *No space left on device*free some space and *" "$(cat err)"
        equal other "$(cat listed)"
    done
}
