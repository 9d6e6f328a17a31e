# SPDX-License-Identifier: Apache-2.0
# How processes end that are not our children: a rank that goes wrong is named. By timers the agent
# tells; with perf events the kernel does, from Linux 6.15 on.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    # Rank 1 works, and ends as its argument says.
    cat >bad.c <<'END'
#ifdef MPI
#include <mpi.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile double sink;
int main(int argc, char **argv)
{
    int rank = 1;
#ifdef MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < 100000000; i++)
        sink += i;
    const char *how = argc > 1 ? argv[1] : "";
    if (rank == 1) {
        if (strcmp(how, "segv") == 0)
            raise(SIGSEGV);
        if (strcmp(how, "abort") == 0)
            abort();
        if (strcmp(how, "exit") == 0)
            exit(3);
        if (strcmp(how, "_exit") == 0)
            _exit(4);
    }
#ifdef MPI
    if (*how)
        sleep(60); /* until the launcher ends it */
    MPI_Finalize();
#endif
    return 0;
}
END
    gcc -O1 -g -o bad bad.c
    for mpi in openmpi mpich; do
        mpicc.$mpi -DMPI -O1 -g -o bad.$mpi bad.c 2>$mpi.why || continue
        launch $mpi true >$mpi.why 2>&1 && touch works.$mpi
    done
}
setup() {
    load common.bash
    rm -rf ./*.assay
}
# launch MPI COMMAND...: three ranks
launch() {
    local mpi=$1
    shift
    case $mpi in
    openmpi) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ${profile:-} \
        mpirun.openmpi --oversubscribe -n 3 "$@" ;;
    mpich) ${profile:-} mpiexec.mpich -n 3 "$@" ;;
    esac
}
query() { "$ASSAY" query --format csv x.assay "$1" | tail -n +2; }
said() { query "SELECT text FROM v_flags WHERE name = 'crashed'"; }

# ends MPI HOW WORDS [HOW WORDS]...: rank 1 is named, and how it ended, whatever becomes of the others
ends() {
    local mpi=$1
    shift
    [ -e "works.$mpi" ] || skip "$mpi is missing or does not work here"
    while [ $# -gt 0 ]; do
        rm -rf x.assay
        profile="$ASSAY profile -o x.assay --event timer --" launch "$mpi" "./bad.$mpi" "$1" >out 2>err || true
        like "\"rank 1 (bad.$mpi, process *) $2 after *" "$(said)"
        grep -q "^Note: rank 1 " err || fails "$(cat err)"
        shift 2
    done
}

@test "ends: a rank of Open MPI that goes wrong is named" {
    ends openmpi segv "was ended by SIGSEGV" exit "ended with exit code 3"
}
@test "ends: a rank of MPICH that goes wrong is named" {
    ends mpich abort "was ended by SIGABRT" _exit "ended with exit code 4"
}
@test "ends: of ranks that end well nothing is said" {
    [ -e works.openmpi ] || skip "Open MPI is missing or does not work here"
    profile="$ASSAY profile -q -o x.assay --event timer --" launch openmpi ./bad.openmpi
    equal "" "$(said)"
    equal "0,0 1,0 2,0" "$(query "SELECT rank, exit_code FROM v_processes WHERE exe LIKE '%/bad.openmpi' ORDER BY rank" | xargs)"
}
@test "ends: a program of a script that crashes is named; one that fails is known" {
    "$ASSAY" profile -q -o x.assay --event timer -- sh -c './bad segv; ./bad exit; true' 2>err
    like 'bad (process *) was ended by SIGSEGV after *' "$(said)"
    equal 3 "$(query "SELECT max(exit_code) FROM v_processes WHERE exe LIKE '%/bad'")"
    equal 11 "$(query "SELECT max(exit_signal) FROM v_processes WHERE exe LIKE '%/bad'")"
    # A child that executed another program has the exit code of its end.
    rm -rf x.assay
    "$ASSAY" profile -q -o x.assay --event timer -- sh -c 'sh -c "exec ./bad _exit"; true'
    equal 4 "$(query "SELECT exit_code FROM v_processes WHERE exe LIKE '%/bad'")"
    equal "" "$(said)"
}
@test "ends: with perf events, where the kernel tells" {
    "$ASSAY" profile -q -o x.assay --event cpu-clock -- sh -c './bad segv; ./bad exit; true' 2>err ||
        skip "perf events are refused here"
    # Known exit codes are right.
    equal "" "$(query "SELECT exit_code FROM v_processes WHERE exe LIKE '%/bad' AND exit_code NOT IN (3)")"
    printf '%s\n6.15\n' "$(uname -r)" | sort -V | head -n 1 | grep -qx 6.15 || skip "this kernel does not tell"
    like 'bad (process *) was ended by SIGSEGV after *' "$(said)"
    equal 3 "$(query "SELECT max(exit_code) FROM v_processes WHERE exe LIKE '%/bad'")"
}
