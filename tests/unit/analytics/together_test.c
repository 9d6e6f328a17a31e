/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up random trace, analysed by one process and by several together: the results must be
 * equal. It has the hard cases:
 *
 * - events of many threads at one moment
 * - wildcards, receives that complete late or never, messages without a partner
 * - overlapping operations, locks, regions
 * - a rank that executed another program
 * - code that several processes share
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analytics/parallel/partition.h"
#include "analytics/store/trace_result.h"
#include "launch/party.h"
#include "made_stream.h"

enum {
    SEND_NAME = 1,
    POST_NAME,
    WAIT_NAME,
    ALLREDUCE_NAME,
    BCAST_NAME,
    SCAN_NAME,
    REDUCE_NAME,
    BARRIER_NAME,
    LOCK_NAME,
    USER_NAME,
    NAMES_N
};
enum { WORLD = 1, SOME = 2, RANKS = 4, PROCESSES = 5, THREADS = 2, STEPS = 400 };

static struct as_trace_writer writer;
static uint64_t tick, random_state;
static bool has_windows; /* which one process looks at */
static bool is_within;   /* all is done in a region of the program */

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* ---- Making it ------------------------------------------------------------------------------- */

static void open_stream(const char *directory, uint32_t pid, uint32_t tid, uint32_t parent)
{
    made_stream_open(&writer, directory,
                     (struct as_trace_writing){
                         .pid = pid, .tid = tid, .parent_tid = parent, .begin_tick = 1000});
    tick = 1000;
}

static void put(unsigned kind, unsigned n, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                uint64_t e, uint64_t f)
{
    const uint64_t field[] = {a, b, c, d, e, f};
    as_trace_emit(&writer, kind, tick, field, n);
}

static void define(const char *directory, uint32_t process, uint32_t rank)
{
    static const struct {
        const char *text;
        uint64_t group;
    } name[NAMES_N] = {[SEND_NAME] = {"MPI_Send", AS_TRACE_OF_MPI_POINT},
                       [POST_NAME] = {"MPI_Irecv", AS_TRACE_OF_MPI_POINT},
                       [WAIT_NAME] = {"MPI_Waitall", AS_TRACE_OF_MPI_COMPLETION},
                       [ALLREDUCE_NAME] = {"MPI_Allreduce", AS_TRACE_OF_MPI_COLLECTIVE},
                       [BCAST_NAME] = {"MPI_Bcast", AS_TRACE_OF_MPI_COLLECTIVE},
                       [SCAN_NAME] = {"MPI_Scan", AS_TRACE_OF_MPI_COLLECTIVE},
                       [REDUCE_NAME] = {"MPI_Ireduce", AS_TRACE_OF_MPI_COLLECTIVE},
                       [BARRIER_NAME] = {"MPI_Barrier", AS_TRACE_OF_MPI_COLLECTIVE},
                       [LOCK_NAME] = {"pthread_mutex_lock", AS_TRACE_OF_LOCK},
                       [USER_NAME] = {"solve", AS_TRACE_OF_USER}};
    const uint64_t all[] = {0, 1, 2, 3}, some[] = {0, 2, 3};
    const uint64_t in_some = rank ? rank - 1 : 0;
    open_stream(directory, 100 + process, 0, 0);
    for (uint64_t i = 1; i < NAMES_N; i++) {
        /* Processes define them in orders of their own. */
        const uint64_t at = (i + process) % (NAMES_N - 1) + 1, field[] = {at, name[at].group};
        assert_true(as_trace_emit_text(&writer, AS_TRACE_NAME, tick, field, 2, name[at].text));
    }
    const uint64_t module[] = {0x10000 * (process + 1), 0x8000, 0x1000};
    assert_true(as_trace_emit_text(&writer, AS_TRACE_MODULE, tick, module, 3, "/bin/made-up"));
    put(AS_TRACE_WORLD, 3, rank, RANKS, 0, 0, 0, 0);
    if (has_windows)
        put(AS_TRACE_WINDOW, 2, 1, WORLD, 0, 0, 0, 0);
    const uint64_t world[] = {WORLD, 99, RANKS, rank, 0}, sub[] = {SOME, 77, 3, in_some, 0};
    assert_true(as_trace_emit_list(&writer, AS_TRACE_COMM, tick, world, 5, all, 4));
    if (rank != 1)
        assert_true(as_trace_emit_list(&writer, AS_TRACE_COMM, tick, sub, 5, some, 3));
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static void enter(uint32_t process, uint64_t name)
{
    const uint64_t caller = 0x10000 * (process + 1) + 0x10 * (1 + draw(3));
    tick += draw(3) * 500;
    put(AS_TRACE_ENTER, 1, name, 0, 0, 0, 0, 0);
    if (draw(3))
        as_trace_emit_list(&writer, AS_TRACE_CALLERS, tick, NULL, 0, &caller, 1);
}

static void leave(uint64_t name)
{
    tick += draw(4) * 500;
    put(AS_TRACE_LEAVE, 1, name, 0, 0, 0, 0, 0);
}

struct doing {
    uint32_t process, rank, thread;
    struct {
        uint64_t request;
        int64_t from, tag; /* that are asked for */
    } open[8];
    uint64_t open_n;
    uint64_t sending[4], sending_n; /* requests of sends */
    uint64_t reduce, next;          /* request of a reduction; numbers */
};

static void send_one(struct doing *d)
{
    const uint64_t to = draw(RANKS), request = draw(5) ? 0 : d->next++;
    enter(d->process, SEND_NAME);
    put(AS_TRACE_SEND, 6, as_trace_zigzag((int64_t)to), as_trace_zigzag((int64_t)draw(2)),
        draw(3000), WORLD, request, 0);
    leave(SEND_NAME);
    if (request && d->sending_n < 4) /* or it is never complete */
        d->sending[d->sending_n++] = request;
}

/* Any of those that go on. */
static void complete_send(struct doing *d)
{
    static const unsigned how[] = {AS_TRACE_DONE, AS_TRACE_DONE,  AS_TRACE_DONE,
                                   AS_TRACE_DONE, AS_TRACE_FREED, AS_TRACE_CANCELLED};
    if (d->sending_n == 0)
        return;
    const uint64_t at = draw(d->sending_n), request = d->sending[at];
    d->sending[at] = d->sending[--d->sending_n];
    enter(d->process, WAIT_NAME);
    put(how[draw(6)], 1, request, 0, 0, 0, 0, 0);
    leave(WAIT_NAME);
}

static void post_one(struct doing *d)
{
    if (d->open_n == 8)
        return;
    const int64_t from = (int64_t)draw(RANKS + 1) - 1, tag = (int64_t)draw(3) - 1;
    enter(d->process, POST_NAME);
    put(AS_TRACE_POST, 6, as_trace_zigzag(from), as_trace_zigzag(tag), 3000, WORLD, d->next, 0);
    leave(POST_NAME);
    d->open[d->open_n].request = d->next++;
    d->open[d->open_n].from = from;
    d->open[d->open_n++].tag = tag;
}

/* Any of them. */
static void complete_some(struct doing *d)
{
    enter(d->process, WAIT_NAME);
    for (uint64_t n = draw(3); n && d->open_n; n--) {
        const uint64_t at = draw(d->open_n), request = d->open[at].request;
        const int64_t from = d->open[at].from < 0 ? (int64_t)draw(RANKS) : d->open[at].from;
        const int64_t tag = d->open[at].tag < 0 ? (int64_t)draw(2) : d->open[at].tag;
        d->open[at] = d->open[--d->open_n];
        if (draw(12) == 0)
            put(AS_TRACE_CANCELLED, 1, request, 0, 0, 0, 0, 0);
        else
            put(AS_TRACE_RECEIVE, 5, as_trace_zigzag(from), as_trace_zigzag(tag), draw(3000), WORLD,
                request, 0);
    }
    leave(WAIT_NAME);
}

static void receive_one(struct doing *d)
{
    enter(d->process, POST_NAME);
    put(AS_TRACE_RECEIVE, 5, as_trace_zigzag((int64_t)draw(RANKS)),
        as_trace_zigzag((int64_t)draw(2)), draw(3000), WORLD, 0, 0);
    leave(POST_NAME);
}

/* All ranks make the same ones in the same order: what it is follows from the step. */
static void gather_once(struct doing *d, uint64_t step)
{
    static const uint64_t names[] = {ALLREDUCE_NAME, BCAST_NAME, SCAN_NAME, BARRIER_NAME,
                                     REDUCE_NAME};
    const uint64_t name = names[step % 5], comm = step % 3 == 0 && d->rank != 1 ? SOME : WORLD;
    const bool has_root = name == BCAST_NAME || name == REDUCE_NAME;
    const int64_t root = has_root ? (int64_t)(step % 3) : -1;
    const uint64_t request = name == REDUCE_NAME ? d->next++ : 0;
    if (step % 3 == 0 && d->rank == 1)
        return;
    enter(d->process, name);
    put(AS_TRACE_COLLECTIVE, 6, comm, request, as_trace_zigzag(root), 8, 8, 0);
    leave(name);
    if (d->reduce) {
        enter(d->process, WAIT_NAME);
        put(AS_TRACE_DONE, 1, d->reduce, 0, 0, 0, 0, 0);
        leave(WAIT_NAME);
    }
    d->reduce = request;
}

static void lock_once(struct doing *d)
{
    enter(d->process, LOCK_NAME);
    put(AS_TRACE_LOCK_WAIT, 2, 0x500, AS_TRACE_MUTEX, 0, 0, 0, 0);
    tick += draw(5) * 500;
    put(AS_TRACE_LOCK_HELD, 2, 0x500, AS_TRACE_MUTEX, 0, 0, 0, 0);
    leave(LOCK_NAME);
    tick += draw(3) * 500;
    put(AS_TRACE_LOCK_RELEASED, 2, 0x500, AS_TRACE_MUTEX, 0, 0, 0, 0);
}

static void region_once(struct doing *d, uint64_t step)
{
    const uint64_t region = 1000 + step;
    if (d->thread == 0)
        put(AS_TRACE_PARALLEL, 3, region, 2, 0x2000, 0, 0, 0);
    tick += draw(4) * 500;
    put(AS_TRACE_IMPLICIT, 3, region, d->thread, 2, 0, 0, 0);
    tick += draw(9) * 500;
    put(AS_TRACE_IMPLICIT_END, 2, region, d->thread, 0, 0, 0, 0);
    tick += 3000;
    if (d->thread == 0)
        put(AS_TRACE_PARALLEL_END, 1, region, 0, 0, 0, 0, 0);
}

static void step_once(struct doing *d, uint64_t step)
{
    if (step % 10 == 0)
        region_once(d, step);
    if (step % 4 == 0 && d->thread == 0)
        gather_once(d, step / 4);
    switch (draw(7)) {
    case 0:
    case 1:
        send_one(d);
        if (draw(3))
            complete_send(d);
        break;
    case 2:
        post_one(d);
        break;
    case 3:
        complete_some(d);
        break;
    case 4:
        receive_one(d);
        break;
    case 5:
        lock_once(d);
        break;
    default:
        enter(d->process, USER_NAME);
        if (step < STEPS - 9) /* or its end is not in the trace */
            leave(USER_NAME);
        break;
    }
}

/* The last process is what rank 1 executed too. */
static void make_trace(const char *directory, uint64_t seed)
{
    random_state = seed;
    for (uint32_t process = 0; process < PROCESSES; process++) {
        const uint32_t rank = process % RANKS == 0 && process ? 1 : process;
        define(directory, process, rank);
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            struct doing d = {
                .process = process, .rank = rank, .thread = thread, .next = 1 + thread * 100000};
            open_stream(directory, 100 + process, 100 + process + 100 * thread,
                        thread ? 100 + process : 0);
            if (is_within)
                put(AS_TRACE_ENTER, 1, USER_NAME, 0, 0, 0, 0, 0);
            for (uint64_t step = 0; step < STEPS / (process == PROCESSES - 1 ? 4 : 1); step++)
                step_once(&d, step);
            if (is_within)
                put(AS_TRACE_LEAVE, 1, USER_NAME, 0, 0, 0, 0, 0);
            as_trace_writer_close(&writer, AS_TRACE_CLOSED);
        }
    }
}

/* ---- What comes of it ------------------------------------------------------------------------ */

static void say_sums(FILE *out, const struct as_analysis *a)
{
    as_vec_foreach (&a->site, site)
        fprintf(out, "site %s %u %u %#lx %s %#lx\n", site->routine, site->group, site->process,
                (unsigned long)site->address, site->module ? site->module : "-",
                (unsigned long)site->in_file);
    as_vec_foreach (&a->sum, sum)
        fprintf(out, "sum %u %u: %lu %lu %ld %ld %ld %ld %lu %lu\n", sum->location, sum->site,
                (unsigned long)sum->calls_n, (unsigned long)sum->open_n, (long)sum->time_ns,
                (long)sum->most_ns, (long)sum->waiting_ns, (long)sum->transfer_ns,
                (unsigned long)sum->sent_b, (unsigned long)sum->received_b);
    as_vec_foreach (&a->traffic, traffic)
        fprintf(out, "traffic %ld %ld: %lu %lu\n", (long)traffic->from, (long)traffic->to,
                (unsigned long)traffic->messages_n, (unsigned long)traffic->size_b);
    as_vec_foreach (&a->location, l) {
        fprintf(out, "location %u %u: %lu %ld %ld", l->process, l->thread,
                (unsigned long)l->events_n, (long)l->span.begin_ns, (long)l->span.end_ns);
        for (unsigned i = 0; i < AS_ACTIVITIES_N; i++)
            fprintf(out, " %ld", (long)l->activity_ns[i]);
        fprintf(out, "\n");
    }
    fprintf(out, "eager %u %u\n", a->eager_b[AS_EAGER_NEAR], a->eager_b[AS_EAGER_FAR]);
    fprintf(out, "%lu %lu %lu, matched %lu, alone %lu %lu, %lu events, %ld to %ld, %.17g\n",
            (unsigned long)a->violated_n, (unsigned long)a->unmet_n, (unsigned long)a->broken_n,
            (unsigned long)a->messages.matched_n, (unsigned long)a->messages.sends_n,
            (unsigned long)a->messages.receives_n, (unsigned long)a->events_n, (long)a->begin_ns,
            (long)a->end_ns, a->efficiency.parallel);
}

static void say_waits(FILE *out, const struct as_analysis *a)
{
    as_vec_foreach (&a->waits.wait, w)
        fprintf(out, "%s %u %u for %u %u: %ld %ld %ld\n", as_wait_word(w->kind), w->location,
                w->site, w->cause, w->cause_site, (long)w->begin_ns, (long)w->end_ns,
                (long)w->cause_ns);
    as_vec_foreach (&a->blame.blame, b)
        fprintf(out, "blame %u %u: %lu %ld %ld\n", b->location, b->site, (unsigned long)b->n,
                (long)b->direct_ns, (long)b->total_ns);
    as_vec_foreach (&a->path.piece, p)
        fprintf(out, "path %u %ld %ld\n", p->location, (long)p->begin_ns, (long)p->end_ns);
}

static void say_rest(FILE *out, const struct as_traced *t)
{
    for (unsigned i = 0; i < AS_SIZE_CLASSES_N; i++)
        if (t->size[i].n)
            fprintf(out, "size %u: %lu %lu %ld\n", i, (unsigned long)t->size[i].n,
                    (unsigned long)t->size[i].size_b, (long)t->size[i].wait_ns);
    as_vec_foreach (&t->exchanges.row, row)
        fprintf(out, "exchange %u %ld %ld: %lu %lu %ld %ld\n", row->site, (long)row->from,
                (long)row->to, (unsigned long)row->n, (unsigned long)row->size_b,
                (long)row->transfer_ns, (long)row->wait_ns);
    as_vec_foreach (&t->analysis.sum, sum)
        fprintf(out, "calls %u %s %lu %ld\n", sum->location, t->analysis.site.at[sum->site].routine,
                (unsigned long)sum->calls_n, (long)sum->time_ns);
    fprintf(out, "bins of %ld\n", (long)t->timeline.bin_ns);
    for (uint32_t l = 0; l < t->timeline.location_n; l++)
        for (unsigned plane = 0; plane < AS_TIMELINE_PLANES_N; plane++)
            for (uint32_t bin = 0; bin < t->timeline.bin_n; bin++)
                fprintf(out, "%ld ", (long)as_timeline_bins(&t->timeline, l, plane)[bin]);
}

static char *analysed(const char *directory, struct as_party *party)
{
    struct as_traced traced = {0};
    struct as_error err = {0};
    char *text = NULL;
    size_t n = 0;
    if (as_trace_open(directory, &traced.trace, &err) < 0 ||
        as_traced_analyse(&traced, party, &err) < 0)
        fail_msg("%s", err.text);
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    say_sums(out, &traced.analysis);
    say_waits(out, &traced.analysis);
    say_rest(out, &traced);
    fclose(out);
    assert_true(traced.analysis.waits.wait.n > 300); /* there is something to be equal */
    assert_true(traced.analysis.messages.matched_n > 100);
    as_traced_fini(&traced);
    return text;
}

static void become_rank(unsigned rank, unsigned size)
{
    char text[16];
    snprintf(text, sizeof text, "%u", rank);
    setenv("PMI_RANK", text, 1);
    snprintf(text, sizeof text, "%u", size);
    setenv("PMI_SIZE", text, 1);
}

static int help_with(const char *directory, unsigned rank, unsigned size)
{
    struct as_error err = {0};
    struct as_party *party;
    become_rank(rank, size);
    int rc = as_party_join(directory, NULL, &party, &err);
    if (rc == 0)
        rc = as_party_barrier(party, &err);
    if (rc == 0)
        rc = as_analytics_help(directory, party, &err);
    as_party_leave(&party, rc, &err);
    return rc < 0;
}

static char *analysed_by(const char *directory, unsigned size)
{
    struct as_error err = {0};
    struct as_party *party;
    for (unsigned rank = 1; rank < size; rank++)
        if (fork() == 0)
            _exit(help_with(directory, rank, size));
    become_rank(0, size);
    assert_int_equal(as_party_join(directory, NULL, &party, &err), 0);
    assert_int_equal(as_party_size(party), size);
    assert_int_equal(as_party_barrier(party, &err), 0); /* as all merging processes do */
    char *text = analysed(directory, party);
    as_party_leave(&party, 0, NULL);
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
    for (unsigned rank = 1; rank < size; rank++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    return text;
}

static void assert_same(const char *one, const char *other, unsigned size)
{
    const char *line = one, *line_other = other;
    for (; *one && *one == *other; one++, other++)
        if (*one == '\n') {
            line = one + 1;
            line_other = other + 1;
        }
    if (*one || *other)
        fail_msg("%u processes: %.*s, alone: %.*s", size, (int)strcspn(line_other, "\n"),
                 line_other, (int)strcspn(line, "\n"), line);
}

static void test_equal(void **state)
{
    char directory[64], command[80], left[80];
    struct stat st;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        strcpy(directory, "/tmp/assay-together-XXXXXX");
        assert_non_null(mkdtemp(directory));
        has_windows = seed == 4;
        make_trace(directory, seed);
        char *alone = analysed(directory, NULL);
        for (unsigned size = 2; size <= 7; size += seed == 1 ? 1 : 2) { /* more than processes */
            char *together = analysed_by(directory, size);
            assert_same(alone, together, size);
            free(together);
            snprintf(left, sizeof left, "%s.ranks", directory);
            assert_int_equal(stat(left, &st), -1); /* nothing is left */
        }
        free(alone);
        snprintf(command, sizeof command, "rm -r %s", directory);
        assert_int_equal(system(command), 0);
    }
}

/* Returns the wait states without their calls. */
static char *waits_of(const char *directory)
{
    struct as_trace trace;
    struct as_analysis a;
    struct as_error err = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out || as_trace_open(directory, &trace, &err) < 0 ||
        as_analyse_trace(&trace, NULL, &a, &err) < 0)
        fail_msg("%s", err.text);
    as_vec_foreach (&a.waits.wait, w)
        fprintf(out, "%s %u for %u: %ld %ld %ld\n", as_wait_word(w->kind), w->location, w->cause,
                (long)w->begin_ns, (long)w->end_ns, (long)w->cause_ns);
    as_vec_foreach (&a.traffic, traffic)
        fprintf(out, "traffic %ld %ld: %lu\n", (long)traffic->from, (long)traffic->to,
                (unsigned long)traffic->size_b);
    fclose(out);
    as_analysis_fini(&a);
    as_trace_close(&trace);
    return text;
}

/* A program with recorded functions of its own (Score-P does this) has the same waits as
 * without. */
static void test_within_regions(void **state)
{
    char *text[2], directory[64], command[80];
    (void)state;
    has_windows = false;
    for (unsigned i = 0; i < 2; i++) {
        is_within = i;
        strcpy(directory, "/tmp/assay-together-XXXXXX");
        assert_non_null(mkdtemp(directory));
        make_trace(directory, 7);
        text[i] = waits_of(directory);
        snprintf(command, sizeof command, "rm -r %s", directory);
        assert_int_equal(system(command), 0);
    }
    is_within = false;
    assert_non_null(strstr(text[0], "late_sender"));
    assert_same(text[0], text[1], 1);
    free(text[0]);
    free(text[1]);
}

/* ---- Records of files that are damaged ------------------------------------------------------- */

/* Files of two parts that found nothing, but for one record of part 1. */
static void write_found(const struct as_trace_part *part, uint32_t channel,
                        const struct as_shuffle_record *record)
{
    struct as_error err = {0};
    for (uint32_t number = 0; number < part->part_n; number++) {
        const struct as_part_found_totals totals = {.bin_ns = 1000,
                                                    .partition = (int64_t)part->partition};
        const struct as_shuffle_record count = as_part_pack_found_totals(NULL, &totals);
        struct as_shuffle_out *to;
        char path[4200];
        as_part_path(part, AS_PART_FOUND, number, path);
        assert_int_equal(as_shuffle_new(path, AS_FOUND_CHANNELS_N, &to, &err), 0);
        as_shuffle_write(to, AS_FOUND_COUNTS, &count);
        if (record && number == 1)
            as_shuffle_write(to, channel, record);
        assert_int_equal(as_shuffle_close(&to, &err), 0);
        as_part_path(part, AS_PART_MATCHED, number, path);
        assert_int_equal(as_shuffle_new(path, AS_MATCHED_CHANNELS_N, &to, &err), 0);
        assert_int_equal(as_shuffle_close(&to, &err), 0);
    }
}

static int gathered(const char *directory, const struct as_party *party, uint32_t channel,
                    const struct as_shuffle_record *record)
{
    struct as_error err = {0};
    struct as_trace_part part = {0};
    struct as_traced out = {0};
    assert_int_equal(as_trace_open(directory, &out.trace, &err), 0);
    assert_int_equal(as_traced_begin(&out, &out.trace), 0);
    assert_int_equal(as_part_init(&part, &out.trace, party), 0);
    write_found(&part, channel, record);
    const int rc = as_part_gather(&part, &out, &err);
    if (rc < 0 && record)
        assert_non_null(strstr(err.text, "found.1: is not whole"));
    as_part_fini(&part);
    as_traced_fini(&out);
    return rc;
}

/* Numbers that lead out of a table are found, and so are records of another kind. */
static void test_damaged_records(void **state)
{
    char directory[64], command[80];
    struct as_error err = {0};
    struct as_party *party;
    const struct as_part_key key = {.ns = 2000, .location = 0, .step = 1};
    const struct as_part_site site = {.routine = 1 << 20};
    const struct as_part_sum sum = {.location = 1000, .calls_n = 1}, whole_sum = {.calls_n = 1};
    const struct as_part_wait cause = {.cause = 1000, .end_ns = 1},
                              kind = {.kind = AS_WAIT_KINDS_N, .end_ns = 1},
                              unknown = {.cause = AS_WAIT_UNKNOWN, .end_ns = 1};
    const struct as_part_sampled sampled = {.activity = AS_ACTIVITIES_N, .routine = -1},
                                 addresses = {.address_n = 3, .routine = -1};
    const struct as_part_thread thread = {.location = -1};
    const struct as_part_bin bin = {.bin = 1 << 30}, plane = {.plane = AS_TIMELINE_PLANES_N};
    struct as_shuffle_record longer = as_part_pack_sum(&key, &whole_sum);
    longer.n++;
    const struct {
        uint32_t channel;
        struct as_shuffle_record record;
        int rc;
    } it[] = {{AS_FOUND_SITES, as_part_pack_site(&key, &site), AS_ERR_CORRUPT},
              {AS_FOUND_SUMS, as_part_pack_sum(&key, &whole_sum), 0},
              {AS_FOUND_SUMS, as_part_pack_sum(&key, &sum), AS_ERR_CORRUPT},
              {AS_FOUND_SUMS, as_part_pack_wait(&key, &unknown), AS_ERR_CORRUPT},
              {AS_FOUND_SUMS, longer, AS_ERR_CORRUPT},
              {AS_FOUND_WAITS, as_part_pack_wait(&key, &unknown), 0},
              {AS_FOUND_WAITS, as_part_pack_wait(&key, &cause), AS_ERR_CORRUPT},
              {AS_FOUND_WAITS, as_part_pack_wait(&key, &kind), AS_ERR_CORRUPT},
              {AS_FOUND_SAMPLES, as_part_pack_sampled(&key, &sampled), AS_ERR_CORRUPT},
              {AS_FOUND_SAMPLES, as_part_pack_sampled(&key, &addresses), AS_ERR_CORRUPT},
              {AS_FOUND_THREADS, as_part_pack_thread(NULL, &thread), AS_ERR_CORRUPT},
              {AS_FOUND_BINS, as_part_pack_bin(NULL, &bin), AS_ERR_CORRUPT},
              {AS_FOUND_BINS, as_part_pack_bin(NULL, &plane), AS_ERR_CORRUPT}};
    (void)state;
    strcpy(directory, "/tmp/assay-together-XXXXXX");
    assert_non_null(mkdtemp(directory));
    has_windows = false;
    make_trace(directory, 1);
    become_rank(0, 2);
    assert_int_equal(as_party_join(directory, NULL, &party, &err), 0);
    assert_int_equal(gathered(directory, party, 0, NULL), 0);
    for (size_t i = 0; i < sizeof it / sizeof *it; i++)
        if (gathered(directory, party, it[i].channel, &it[i].record) != it[i].rc)
            fail_msg("record %zu is not judged as it should be", i);
    as_party_leave(&party, 0, NULL);
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equal),
                                       cmocka_unit_test(test_within_regions),
                                       cmocka_unit_test(test_damaged_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
