/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the clock of another machine is from that of rank 0's, as MPI_Init ends and before
 * MPI_Finalize begins: a rank of each asks rank 0 for its time, many times, and takes the answer
 * that came soonest; the truth is within half of that round trip (F. Cristian, "Probabilistic clock
 * synchronization", Distributed Computing 3, 1989). Only ranks that have agreed to do so are asked
 * (rendezvous.h), on a communicator of these ranks alone. Each wait has a limit.
 */
#include "agent/tracer/rendezvous.h"
#include "agent/wrap/mpi/mpi_wrap.h"
#include "base/clock.h"

#define MEASUREMENTS_N 4 /* each the best of so many tries; they say how sure it is, too */
#define TRIES_N        16
#define MACHINE_NS     INT64_C(20000000)    /* all of one machine take no longer */
#define PATIENCE_NS    INT64_C(30000000000) /* until the other comes: it may still compute */
#define SPIN_NS        INT64_C(50000)
#define CLOCK_TAG      77

/* Of MPI; what one has not is NULL, and nothing is measured. */
#define CLOCK_ROUTINES(X)                                                                          \
    X(Comm_get_parent)                                                                             \
    X(Comm_create_group)                                                                           \
    X(Comm_set_errhandler)                                                                         \
    X(Group_incl)                                                                                  \
    X(Isend)                                                                                       \
    X(Irecv)                                                                                       \
    X(Test)                                                                                        \
    X(Wait)                                                                                        \
    X(Cancel)                                                                                      \
    X(Request_free)
static struct {
#define DECLARED(name) __typeof__(&MPI_##name) name;
    CLOCK_ROUTINES(DECLARED)
#undef DECLARED
    MPI_Errhandler errors_return;
    bool is_whole;
} mpi;

static MPI_Comm between;     /* rank 0, and one rank of each other machine */
static int others_n, place;  /* those besides rank 0; which of all this one is */
static bool is_related;      /* `between` is there */
static int64_t phase;        /* 1: the beginning; 2: the end */
static _Atomic int was_held; /* MPI begins once */

enum clock_words { CLOCK_ASKS, CLOCK_SAYS, CLOCK_DONE, CLOCK_GONE };
struct clock_word {
    int64_t what, raw_ns;
    int64_t phase, number; /* beginning or end; of the question, which the answer repeats */
};

void as_mpi_find_clocks(const struct as_mpi_front *front)
{
    mpi.is_whole = true;
#define FOUND(name)                                                                                \
    mpi.is_whole &= (mpi.name = (__typeof__(mpi.name))front->find("PMPI_" #name)) != NULL;
    CLOCK_ROUTINES(FOUND)
#undef FOUND
#ifdef OPEN_MPI
    mpi.errors_return = (MPI_Errhandler)front->find_data("ompi_mpi_errors_return");
    mpi.is_whole &= mpi.errors_return != NULL;
#else
    mpi.errors_return = MPI_ERRORS_RETURN;
#endif
}

/* ---- Words between two ---------------------------------------------------------------------- */

static int64_t raw_now(void)
{
    return as_clock_ns(CLOCK_MONOTONIC_RAW);
}

/* At first without a pause, then with short ones: the other may come much later. */
static bool await_request(MPI_Request *request, int64_t until_ns)
{
    const int64_t begin_ns = as_monotonic_ns();
    const struct timespec pause = {0, SPIN_NS};
    for (;;) {
        int flag = 0;
        if (mpi.Test(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (flag)
            return true;
        const int64_t now_ns = as_monotonic_ns();
        if (now_ns >= until_ns)
            return false;
        if (now_ns - begin_ns > SPIN_NS)
            syscall(now_ns - begin_ns > 40 * SPIN_NS ? SYS_nanosleep : SYS_sched_yield, &pause,
                    NULL);
    }
}

static bool hear(int from, struct clock_word *word, int64_t until_ns)
{
    MPI_Request request;
    if (mpi.Irecv(word, sizeof *word, as_mpi_own.byte, from, CLOCK_TAG, between, &request) !=
        MPI_SUCCESS)
        return false;
    if (await_request(&request, until_ns))
        return true;
    mpi.Cancel(&request);
    mpi.Wait(&request, MPI_STATUS_IGNORE);
    return false;
}

/* As short as it is it goes at once, whoever takes it and when. */
static bool send_clock_word(int to, int64_t what, int64_t number)
{
    static struct clock_word words[64]; /* what is not gone yet stays as it is */
    static unsigned next;
    struct clock_word *word = &words[next++ % 64];
    MPI_Request request;
    *word = (struct clock_word){what, raw_now(), phase, number};
    if (mpi.Isend(word, sizeof *word, as_mpi_own.byte, to, CLOCK_TAG, between, &request) !=
        MPI_SUCCESS)
        return false;
    if (!await_request(&request, as_monotonic_ns() + MACHINE_NS))
        mpi.Request_free(&request);
    return true;
}

/* ---- Rank 0 --------------------------------------------------------------------------------- */

/* Answers until the other has asked enough. Who does not come is told that it is too late. */
static void answer(int other)
{
    struct clock_word word;
    while (hear(other, &word, as_monotonic_ns() + PATIENCE_NS))
        if (word.phase == phase &&
            (word.what != CLOCK_ASKS || !send_clock_word(other, CLOCK_SAYS, word.number)))
            return;
    send_clock_word(other, CLOCK_GONE, 0);
}

/* ---- Of another machine --------------------------------------------------------------------- */

struct clock_measurement {
    int64_t own_ns, reference_ns;
    int64_t trip_ns; /* 0: none yet */
};

/* What comes late of a question that was given up is no answer to this one. */
static bool measure_clock_once(struct clock_measurement *best)
{
    static int64_t number;
    struct clock_word word;
    const int64_t sent_ns = raw_now(), until_ns = as_monotonic_ns() + PATIENCE_NS;
    bool is_there = send_clock_word(0, CLOCK_ASKS, ++number);
    do
        is_there = is_there && hear(0, &word, until_ns);
    while (is_there && (word.phase != phase || (word.what == CLOCK_SAYS && word.number != number)));
    const int64_t came_ns = raw_now();
    if (!is_there)
        send_clock_word(0, CLOCK_GONE, 0);
    if (!is_there || word.what != CLOCK_SAYS)
        return false;
    if (!best->trip_ns || came_ns - sent_ns < best->trip_ns)
        *best = (struct clock_measurement){sent_ns + (came_ns - sent_ns) / 2, word.raw_ns,
                                           came_ns > sent_ns ? came_ns - sent_ns : 1};
    return true;
}

static void emit_clock_relation(const struct clock_measurement *best)
{
    const uint64_t field[] = {as_trace_zigzag(best->own_ns), as_trace_zigzag(best->reference_ns),
                              (uint64_t)(best->trip_ns + 1) / 2};
    as_mpi_hooks->define(AS_TRACE_RELATED, field, 3, NULL, NULL, 0);
}

/* The first answer says no more than that rank 0 is there. */
static void measure_clock(void)
{
    struct clock_measurement first = {0};
    if (!measure_clock_once(&first))
        return;
    const int64_t until_ns = as_monotonic_ns() + MACHINE_NS;
    for (int i = 0; i < MEASUREMENTS_N && as_monotonic_ns() < until_ns; i++) {
        struct clock_measurement best = {0};
        for (int k = 0; k < TRIES_N && (k == 0 || as_monotonic_ns() < until_ns); k++)
            if (!measure_clock_once(&best))
                return;
        emit_clock_relation(&best);
    }
    send_clock_word(0, CLOCK_DONE, 0);
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

static void compare_clocks(void)
{
    phase++;
    if (place > 0)
        measure_clock();
    for (int other = 1; place == 0 && other <= others_n; other++)
        answer(other);
}

/* Of the world that the launcher has made: not one that a program of it has spawned. */
static bool is_of_meeting(const struct as_rank_rendezvous *meeting)
{
    MPI_Comm parent = as_mpi_own.null;
    return mpi.Comm_get_parent(&parent) == MPI_SUCCESS && parent == as_mpi_own.null &&
           as_mpi_comm_size(as_mpi_own.world) == (int)meeting->size &&
           as_mpi_comm_rank(as_mpi_own.world) == (int)meeting->rank;
}

static bool make_between(const int *rank, int n)
{
    MPI_Group world, group;
    if (as_mpi_own.Comm_group(as_mpi_own.world, &world) != MPI_SUCCESS)
        return false;
    bool is_made = mpi.Group_incl(world, n, rank, &group) == MPI_SUCCESS;
    if (is_made) {
        is_made =
            mpi.Comm_create_group(as_mpi_own.world, group, CLOCK_TAG, &between) == MPI_SUCCESS &&
            between != as_mpi_own.null;
        as_mpi_own.Group_free(&group);
    }
    as_mpi_own.Group_free(&world);
    return is_made && mpi.Comm_set_errhandler(between, mpi.errors_return) == MPI_SUCCESS;
}

void as_mpi_relate_begin(void)
{
    static struct as_rank_rendezvous meeting;
    int n = 0;
    if (!mpi.is_whole || atomic_exchange(&was_held, 1) || !as_mpi_hooks->meeting(&meeting) ||
        meeting.size > AS_RENDEZVOUS_RANKS_MOST || !is_of_meeting(&meeting))
        return;
    const size_t room_b = meeting.size * sizeof(int);
    int *rank = mmap(NULL, room_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rank == MAP_FAILED)
        return;
    is_related = as_rendezvous_hold(&meeting, rank, &n) && make_between(rank, n);
    munmap(rank, room_b);
    if (!is_related)
        return;
    others_n = n - 1;
    place = as_mpi_comm_rank(between);
    compare_clocks();
}

void as_mpi_relate_end(void)
{
    if (is_related)
        compare_clocks();
    is_related = false;
}
