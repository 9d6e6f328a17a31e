# SPDX-License-Identifier: Apache-2.0
# assay profile under the launchers of MPI: ranks are found automatically. The time of each is its
# own, and the exit status passes through. Skipped if a launcher is missing or does not work.

setup_file() {
    load common.bash
    # Rank r works 0.2 (r + 1) s of its own time, and ends with the status of its word.
    cat >ranks.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
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
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    work(argc > 2 ? atof(argv[2]) : 0.2 * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return argc > 1 && rank == size - 1 ? atoi(argv[1]) : 0;
}
END
    for mpi in openmpi mpich; do
        mpicc.$mpi -O1 -g -o ranks.$mpi ranks.c 2>$mpi.why || continue
        launch $mpi 2 true >$mpi.why 2>&1 && touch works.$mpi
    done
    gcc -O1 -D_GNU_SOURCE -pthread -o witness "$BATS_TEST_DIRNAME/../profile/witness.c"
    gcc -O1 -g -x c - -o probe <<'END'
int main(void) { return 0; }
END
    "$ASSAY" profile -q -o probe.assay -- ./probe 2>probe.err || true
    grep -q "perf_event_paranoid\|not permitted\|no such events" probe.err && touch refused || true
}
setup() {
    load common.bash
    rm -rf ./*.assay
}

# launch MPI RANKS COMMAND...: as any user, on any number of CPUs
launch() {
    local mpi=$1 ranks=$2
    shift 2
    case $mpi in
    openmpi) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ${profile:-} \
        mpirun.openmpi --oversubscribe -n "$ranks" "$@" ;;
    mpich) ${profile:-} mpiexec.mpich -n "$ranks" "$@" ;;
    esac
}

# profiled STATUS MPI RANKS COMMAND...: into x.assay
profiled() {
    local status=0 want=$1 mpi=$2
    shift
    [ ! -e refused ] || skip "perf events are refused here: $(cat probe.err)"
    [ -e "works.$mpi" ] || skip "$mpi is missing or does not work here"
    profile="${profile_by:-} $ASSAY profile -q -o x.assay --" launch "$@" >out 2>err || status=$?
    [ "$want" = "$status" ] || fails "status $status, not $want: $(cat err)"
}
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }

# The time of work() in each rank, between what it worked and half as much again.
ranks_right() { # RANKS
    equal "$1" "$(query x.assay "SELECT rank_n FROM v_runs")"
    query x.assay "SELECT rank, count(*) FROM v_processes WHERE rank IS NOT NULL
        AND exe LIKE '%/ranks.%' GROUP BY rank ORDER BY rank" >got
    for ((rank = 0; rank < $1; rank++)); do echo "$rank,1"; done >want
    diff want got
    # Stolen time may be in one of the two and not in the other. A reader without a CPU may lose
    # samples.
    query x.assay "SELECT p.rank, sum(t.inclusive_ns) / 1e9 / (0.2 * (p.rank + 1)),
        (SELECT ifnull(steal_time_s, 0) + 1.0 * lost_sample_n / rate_hz FROM v_runs) / (0.2 * (p.rank + 1))
        FROM thread_time t JOIN thread USING (thread_id) JOIN process p USING (process_id)
        JOIN function f ON t.object_kind = 'function' AND t.object_id = f.function_id
        WHERE f.name = 'work' GROUP BY p.rank ORDER BY p.rank" >times
    equal "$1" "$(wc -l <times)"
    awk -F, '$2 + $3 < 0.7 || $2 - $3 > 1.5 { exit 1 }' times || fails "rank, time over what it worked:" "$(cat times)"
}

@test "ranks: two of Open MPI, and the time of each" {
    profiled 0 openmpi 2 ./ranks.openmpi
    equal openmpi "$(query x.assay "SELECT launcher FROM v_runs")"
    ranks_right 2
}
@test "ranks: two of MPICH, and the time of each" {
    profiled 0 mpich 2 ./ranks.mpich
    equal mpich "$(query x.assay "SELECT launcher FROM v_runs")"
    ranks_right 2
}
@test "ranks: the exit status of a rank passes through the launcher and assay" {
    profiled 7 openmpi 2 ./ranks.openmpi 7
    equal 7 "$(query x.assay "SELECT exit_code FROM v_runs")"
    rm -rf x.assay
    profiled 7 mpich 2 ./ranks.mpich 7
}
@test "ranks: more than CPUs" {
    profiled 0 openmpi 6 ./ranks.openmpi
    ranks_right 6
}
@test "ranks: many on few CPUs are all found, and no sample is lost" {
    local n=32
    [ "${ASSAY_TEST_TURN:-0}" != all ] || n=64 # at night
    # Unread samples wait in buffers of a quarter of a second or more. While the reader has no CPU
    # for longer, samples are lost. They are at most those of the excess time, and the loss is
    # reported.
    profile_by="python3 $BATS_TEST_DIRNAME/waited.py waited ./witness" \
        profiled 0 openmpi $n ./ranks.openmpi 0 0.02
    equal "$n,1" "$(query x.assay "SELECT rank_n, lost_sample_n <= rate_hz * $(getconf _NPROCESSORS_ONLN)
        * max(0, $(cat waited) - 0.25) AS fits FROM v_runs")"
    equal 1 "$(query x.assay "SELECT (lost_sample_n > 0) = (SELECT count(*) FROM v_flags
        WHERE name = 'lost_samples') AS is_said FROM v_runs")"
    equal $n "$(query x.assay "SELECT count(DISTINCT rank) FROM v_processes WHERE sample_n > 0")"
}
@test "ranks: assay behind the launcher, an experiment a rank" {
    [ -e works.openmpi ] || skip "Open MPI is missing or does not work here"
    [ ! -e refused ] || skip "perf events are refused here"
    launch openmpi 2 "$ASSAY" profile -q -o r%r.assay -- ./ranks.openmpi
    for rank in 0 1; do
        equal "$rank" "$(query r$rank.assay "SELECT rank FROM v_processes WHERE exe LIKE '%/ranks.%'")"
    done
}
