/* SPDX-License-Identifier: Apache-2.0 */
/* Uneven work of threads and ranks, and its place. Also ranks that cause waits according to a
 * trace. */
/* Stories name what matters to a rule; all else of them is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "place.h"

#include "advise/advise.h"
#include "story.h"

/* Work of a single thread should be shared with others, not divided more finely. */
static void test_serial(void **state)
{
    struct story story = {RUN, .thread_n = 2,
                          .code = {{"serial", "application", 400, .only = 1}, OWN(600)}};
    const char *sql =
        "SELECT text LIKE '% s of that are in functions that it alone runs, most of it "
        "in serial.', workaround LIKE 'Let all threads do it: %' FROM v_findings"
        " WHERE rule = 'load_imbalance'";
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, sql, "1 1");
    fine(as_experiment_close(&e, err));
    story.code[0] = (struct story_code){"uneven", "application", 400, .is_uneven = true};
    e = story_tell(&story);
    expect_row(e, sql, "0 0");
    fine(as_experiment_close(&e, err));
}

/* For ranks, the finding names the function and loop in which the longest rank exceeds the
 * others. */
static void test_uneven_ranks(void **state)
{
    struct story story = {
        RUN, .rank_n = 2,
        .code = {OWN(500),
                 {"sweep", "application", 400, .in_loop = true, .is_uneven = true},
                 {"tidy", "application", 30, .is_uneven = true}}};
    const char *sql = "SELECT text FROM v_findings WHERE rule = 'load_imbalance'";
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, sql,
               "Ranks compute unevenly: rank 0 takes 13 % longer than the mean (0.93 s against "
               "0.823 s), load balance 88 %. The others wait for it. It is longer most of all in "
               "sweep (a.c:20): 0.2 s more than the mean of the others (0.2 s), by 400 samples.");
    fine(as_experiment_close(&e, err));
    story.code[1].only = 1; /* the other has none of it */
    e = story_tell(&story);
    expect_row(e,
               "SELECT text LIKE '% in sweep (a.c:20): 0.4 s more than the mean of the others (0 "
               "s), by 400 samples.' FROM v_findings WHERE rule = 'load_imbalance'",
               "1");
    fine(as_experiment_close(&e, err));
}

/* Adds the waiting of the other rank for this one in a call. `root_pct` of it is caused by this
 * rank. 0 ms: nothing is added. */
static void add_late(struct as_experiment *e, int64_t location_id, int64_t site_id, int64_t ms,
                     int64_t root_pct)
{
    const struct as_row_trace_late late = {.trace_location_id = location_id,
                                           .trace_site_id = site_id,
                                           .n = 10,
                                           .direct_ns = ms * MS,
                                           .total_ns = ms * root_pct * MS / 100,
                                           .elapsed_ns = ms * MS};
    if (ms)
        fine(as_experiment_add_trace_late(e, &late, err));
}

/* Adds a trace in which both ranks wait for each other. It has the computing time of each by wall
 * time. It has the waits for each in one call and in another (NULL: none). */
static void add_waiting(struct as_experiment *e, const int64_t *computing_ms,
                        const int64_t *late_ms, const int64_t *other_ms, int64_t root_pct)
{
    const struct as_row_trace trace = {
        .run_id = 1, .traced_run_id = 1, .elapsed_ns = 1000 * MS, .location_n = 2, .rank_n = 2};
    struct as_row_trace_site site = {.routine = "MPI_Allreduce", .kind = "mpi-collective"};
    int64_t site_id, other_id;

    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_trace(e, &trace, &site.trace_id, err));
    fine(as_experiment_add_trace_site(e, &site, &site_id, err));
    site.number = 1;
    site.routine = "MPI_Barrier";
    fine(as_experiment_add_trace_site(e, &site, &other_id, err));
    for (int rank = 0; rank < 2; rank++) {
        const struct as_row_trace_location location = {.trace_id = site.trace_id,
                                                       .number = rank,
                                                       .rank = as_known(rank),
                                                       .thread_id = rank + 1,
                                                       .late_ns = late_ms[rank] * MS,
                                                       .waiting_ns = 300 * MS};
        struct as_row_trace_state state = {
            .position = 0, .name = "computing", .title = "computing"};
        struct as_row_trace_wait wait = {.trace_site_id = site_id,
                                         .kind = "wait_at_n_x_n",
                                         .title = "wait at N x N",
                                         .n = 10,
                                         .time_ns = 300 * MS};

        fine(as_experiment_add_trace_location(e, &location, &state.trace_location_id, err));
        wait.trace_location_id = state.trace_location_id;
        state.time_ns = computing_ms[rank] * MS;
        fine(as_experiment_add_trace_state(e, &state, err));
        fine(as_experiment_add_trace_wait(e, &wait, err));
        add_late(e, state.trace_location_id, site_id, late_ms[rank], root_pct);
        add_late(e, state.trace_location_id, other_id, other_ms ? other_ms[rank] : 0, root_pct);
    }
    fine(as_experiment_commit(e, err));
    fine(as_advise_run(e, 1, err));
}

/* Ranks without a CPU for half of the time delay each other in turn. CPU time identifies the cause,
 * if it is certain by samples, and only among ranks that cause waits. */
static void test_uneven_without_processors(void **state)
{
    const struct {
        int64_t more_ms, computing_ms[2], late_ms[2];
        const char *rules, *text;
    } row[] = {
        {400,
         {700, 500},
         {350, 250},
         "late",
         "Rank 0 is late to MPI_Allreduce: others wait 0.35 s for it, in 10 waits. Others are late "
         "as well: it explains 58 % of all waiting. The rank's own work takes 0.6 s of processor "
         "time, 0.4 s more than the mean of the others (0.2 s), by 600 samples: most of all in "
         "sweep (a.c:20), by 0.4 s. It was also ready to run and had no processor for 0.5 s: that "
         "is the machine's."},
        /* By wall time rank 0 computes longer; by CPU time it does not. */
        {0, {800, 400}, {350, 250}, "waiting_in_turn", NULL},
        {20, {800, 400}, {350, 250}, "waiting_in_turn", NULL}, /* not sure: 220 and 200 samples */
        {400,
         {700, 500},
         {10, 250}, /* it has more work, but does not cause the waits */
         "late",
         "Rank 1 is late to MPI_Allreduce: others wait 0.25 s for it, in 10 waits. It was also "
         "ready to run and had no processor for 0.5 s: that is the machine's."},
        {400, {30, 20}, {350, 250}, "waiting_in_turn", NULL}, /* it has hardly any work */
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct story story = {
            RUN, .rank_n = 2, .queued_ms = 500,
            .code = {OWN(200),
                     {"sweep", "application", row[i].more_ms, .in_loop = true, .only = 1}}};
        struct as_experiment *e = story_tell(&story);

        add_waiting(e, row[i].computing_ms, row[i].late_ms, NULL, 100);
        expect_row(e,
                   "SELECT group_concat(rule) FROM v_findings WHERE rule IN ('late',"
                   " 'waiting_in_turn')",
                   row[i].rules);
        if (row[i].text)
            expect_row(e, "SELECT text FROM v_findings WHERE rule = 'late'", row[i].text);
        fine(as_experiment_close(&e, err));
    }
}

/* No rank delays the others alone: the longer computation and its place are still reported. */
static void test_uneven_in_turn(void **state)
{
    const struct story story = {
        RUN, .rank_n = 2,
        .code = {OWN(500), {"sweep", "application", 400, .in_loop = true, .only = 1}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    add_waiting(e, (const int64_t[]){900, 500}, (const int64_t[]){0, 0}, NULL, 100);
    expect_row(
        e,
        "SELECT substr(text, instr(text, 'But')) FROM v_findings"
        " WHERE rule = 'waiting_in_turn'",
        "But rank 0 computes for 0.9 s, where the mean is 0.7 s: most of all longer in sweep "
        "(a.c:20), by 0.4 s (the mean of the others is 0 s; 400 samples).");
    fine(as_experiment_close(&e, err));
}

/* Each call has one rank behind its waits, and together both explain as much: no sentence says that
 * the last rank changes from call to call. */
static void test_last_in_a_call(void **state)
{
    const struct {
        int64_t late_ms[2], other_ms[2];
        const char *text;
        int64_t root_pct; /* 0: all */
    } row[] = {
        {{300, 20},
         {20, 280},
         "Rank 0 is the cause of 94 % of the waiting in MPI_Allreduce (0.3 of 0.32 s)."},
        {{20, 280},
         {290, 20},
         "Rank 0 is the cause of 94 % of the waiting in MPI_Barrier (0.29 of 0.31 s)."},
        /* It is last because it waits in an earlier call. */
        {{300, 20},
         {20, 280},
         "Rank 0 is last for 94 % of the waiting in MPI_Allreduce, because it waits for others "
         "before.",
         40},
        {{170, 150}, {150, 170}, "None is late by itself: the last one changes from call to call."},
        /* A call with hardly any waiting says nothing. */
        {{170, 150}, {10, 0}, "None is late by itself: the last one changes from call to call."},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct story story = {RUN, .rank_n = 2, .code = {OWN(500)}};
        struct as_experiment *e = story_tell(&story);

        add_waiting(e, (const int64_t[]){500, 500}, row[i].late_ms, row[i].other_ms,
                    row[i].root_pct ? row[i].root_pct : 100);
        expect_row(e,
                   "SELECT substr(text, instr(text, 'together).') + 11) FROM v_findings"
                   " WHERE rule = 'waiting_in_turn'",
                   row[i].text);
        fine(as_experiment_close(&e, err));
    }
}

/* A rank has more work in a function that calls the one with the samples: the caller is named. */
static void test_uneven_caller(void **state)
{
    const struct story story = {
        RUN, .rank_n = 2, .queued_ms = 500,
        .code = {OWN(200),
                 {"mesh", "application", 1},
                 {"collide", "application", 1, .only = 1},
                 {"burn", "application", 400, .only = 1, .under = "collide"},
                 {"burn", "application", 100, .is_of_before = true, .under = "mesh"}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    add_waiting(e, (const int64_t[]){700, 500}, (const int64_t[]){350, 250}, NULL, 100);
    expect_row(e,
               "SELECT text LIKE '%: most of all in collide, by 0.401 s.%' FROM v_findings"
               " WHERE rule = 'late'",
               "1");
    fine(as_experiment_close(&e, err));
}

/* Adds what a simulation says of the run of 1,000 ms: a share of it as its metric, and the time
 * that a change saves. */
static void add_simulated(struct as_experiment *e, const char *name, double pct, const char *change,
                          int64_t saved_ms)
{
    const struct as_metric metric = {
        .name = name, .unit = "%", .meaning = "m", .formula = "f", .better = AS_BETTER_HIGHER};
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = 1, .run_id = 1};
    const struct as_row_trace_gain gain = {.trace_id = 1,
                                           .name = change,
                                           .title = change,
                                           .saved_ns = saved_ms * MS,
                                           .low_ns = saved_ms * MS,
                                           .high_ns = saved_ms * MS};
    int64_t id;

    fine(as_experiment_metric(e, &metric, &id, err));
    fine(as_experiment_value(e, id, &run, as_value_exact(pct, 1), err));
    fine(as_experiment_add_trace_gain(e, &gain, err));
}

/* Adds calls of both ranks: milliseconds of transfer, and bytes sent. */
static void add_transfer(struct as_experiment *e, int64_t ms, int64_t bytes)
{
    fine(as_experiment_begin(e, err));
    for (int64_t rank = 1; rank <= 2; rank++) {
        const struct as_row_trace_call call = {.trace_location_id = rank,
                                               .trace_site_id = 1,
                                               .calls_n = 10,
                                               .time_ns = ms * MS,
                                               .waiting_ns = as_known(0),
                                               .transfer_ns = as_known(ms * MS),
                                               .sent_b = bytes};
        fine(as_experiment_add_trace_call(e, &call, err));
    }
    add_simulated(e, "trace_process_transfer_pct", 100 - (double)ms / 10, "ideal_network", ms);
    fine(as_experiment_commit(e, err));
    fine(as_advise_run(e, 1, err));
}

/* Time without a CPU within calls looks like transfer. */
static void test_transfer(void **state)
{
    const struct {
        int64_t queued_ms, bytes, finding_n;
        const char *advice;
    } row[] = {
        {0, 80, 1, "Small messages cost latency%"},
        {500, 80, 0, NULL},
        {500, 40 << 20, 1, "Large messages need bandwidth%"},
        {100, 80, 1, "Small messages cost latency%"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct story story = {RUN, .rank_n = 2, .queued_ms = row[i].queued_ms,
                                    .code = {OWN(500)}};
        struct as_experiment *e = story_tell(&story);
        char sql[256], n[8];

        add_waiting(e, (const int64_t[]){500, 500}, (const int64_t[]){0, 0}, NULL, 100);
        add_transfer(e, 400, row[i].bytes);
        snprintf(n, sizeof n, "%d", (int)row[i].finding_n);
        expect_row(e, "SELECT count(*) FROM v_findings WHERE rule = 'transfer'", n);
        snprintf(sql, sizeof sql,
                 "SELECT workaround LIKE '%s' FROM v_findings WHERE rule = 'transfer'",
                 row[i].advice ? row[i].advice : "");
        if (row[i].finding_n)
            expect_row(e, sql, "1");
        fine(as_experiment_close(&e, err));
    }
}

/* Waits in collectives: the advice is about the work between two of them. */
static void test_serialisation(void **state)
{
    const struct story story = {RUN, .rank_n = 2, .code = {OWN(500)}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    add_waiting(e, (const int64_t[]){500, 500}, (const int64_t[]){300, 290}, NULL, 100);
    fine(as_experiment_begin(e, err));
    add_simulated(e, "trace_process_serialisation_pct", 70, "no_chains", 300);
    fine(as_experiment_commit(e, err));
    fine(as_advise_run(e, 1, err));
    expect_row(
        e, "SELECT text FROM v_findings WHERE rule = 'serialisation'",
        "Serialisation costs 0.3 s, 30 % of the run: even with an ideal network, it takes so "
        "much longer than the rank with most work computes. 100 % of the waiting is in "
        "MPI_Allreduce.");
    expect_row(e,
               "SELECT workaround LIKE 'Different ranks are last in different calls: %'"
               " FROM v_findings WHERE rule = 'serialisation'",
               "1");
    fine(as_experiment_close(&e, err));
}

/* A rank that is late because it sleeps: the finding says so. */
static void test_asleep(void **state)
{
    const struct story story = {RUN, .rank_n = 2, .code = {OWN(500)}};
    struct as_experiment *e = story_tell(&story);
    const struct as_row_trace_state asleep = {.trace_location_id = 2,
                                              .position = 5,
                                              .name = "sleeping",
                                              .title = "asleep",
                                              .time_ns = 240 * MS};

    (void)state;
    add_waiting(e, (const int64_t[]){500, 250}, (const int64_t[]){0, 250}, NULL, 100);
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_trace_state(e, &asleep, err));
    fine(as_experiment_commit(e, err));
    fine(as_advise_run(e, 1, err));
    expect_row(e,
               "SELECT substr(text, instr(text, 'waits.') + 7) FROM v_findings WHERE rule = 'late'",
               "It was asleep for 0.24 s.");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial),
        cmocka_unit_test(test_uneven_ranks),
        cmocka_unit_test(test_uneven_without_processors),
        cmocka_unit_test(test_uneven_in_turn),
        cmocka_unit_test(test_last_in_a_call),
        cmocka_unit_test(test_uneven_caller),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_serialisation),
        cmocka_unit_test(test_asleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
