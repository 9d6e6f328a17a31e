/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight ranks on two CPUs, as LULESH ran: 2.89 s. Each rank computes 0.435 s, the last 0.395 s.
 * Each polls 0.28 s in MPI, is blocked there for 0.1 s, and is ready without a CPU for 2 s. Each
 * rank has a progress thread and mpirun has two threads; these wait in MPI nearly all the time. The
 * progress threads run 3 % of the time of the ranks. mpirun also ran, 0.05 s of it in code of its
 * own. Some tests add two busy loops as external load.
 */
#include "place.h"

#include <math.h>

#include "advise/advise.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-6)

enum { RANKS = 8 };
#define MS INT64_C(1000000)

struct shape {
    int64_t busy_ms, queue_ms; /* of the host; of each rank */
    int threads;               /* that compute, of each rank */
    int ranks;
};

struct code {
    int64_t compute, wait; /* call paths */
    int64_t in_program, in_mpi;
};

static void make_code(struct as_experiment *e, struct code *c)
{
    const struct as_row_category category[] = {{.name = "application", .title = "Application"},
                                               {.name = "mpi", .title = "MPI"}};
    const struct as_row_module module[] = {
        {.path = "/lulesh", .name = "lulesh", .kind = "executable"},
        {.path = "/libmpi.so", .name = "libmpi.so", .kind = "shared"}};
    int64_t path[2], place[2];

    for (int i = 0; i < 2; i++) {
        int64_t category_id, module_id, function_id, loop_id;

        fine(as_experiment_add_category(e, &category[i], &category_id, err));
        fine(as_experiment_add_module(e, &module[i], &module_id, err));
        const struct as_row_function function = {
            .module_id = module_id, .name = i ? "progress" : "kernel", .address = as_known(0x10)};
        fine(as_experiment_add_function(e, &function, &function_id, err));
        const struct as_row_loop loop = {
            .function_id = function_id, .address = 0x11, .depth = 1, .is_innermost = true};
        fine(as_experiment_add_loop(e, &loop, &loop_id, err));
        const struct as_row_location location = {.module_id = module_id,
                                                 .address = 0x11,
                                                 .function_id = function_id,
                                                 .loop_id = loop_id};
        fine(as_experiment_add_location(e, &location, &place[i], err));
        const struct as_row_callpath row = {
            .function_id = function_id, .category_id = category_id, .depth = 1};
        fine(as_experiment_add_callpath(e, &row, &path[i], err));
    }
    *c = (struct code){path[0], path[1], place[0], place[1]};
}

/* Times in ms; samples of 1 ms. */
static void make_thread(struct as_experiment *e, const struct code *c, int64_t process_id,
                        int64_t tid, int64_t compute, int64_t poll, int64_t blocked, int64_t queue)
{
    const struct as_row_thread row = {.process_id = process_id,
                                      .tid = tid,
                                      .end_ns = as_known(2890 * MS),
                                      .cpu_ns = as_known((compute + poll) * MS),
                                      .blocked_ns = as_known(blocked * MS),
                                      .runnable_ns = as_known(queue * MS),
                                      .switch_involuntary_n = as_known(queue)};
    int64_t id;

    fine(as_experiment_add_thread(e, &row, &id, err));
    const struct as_row_sample sample[] = {
        {id, c->compute, c->in_program, AS_SAMPLE_RUNNING, compute, compute * MS},
        {id, c->wait, c->in_mpi, AS_SAMPLE_RUNNING, poll, poll * MS},
        {id, c->wait, c->in_mpi, AS_SAMPLE_BLOCKED, 3, blocked * MS}};
    for (int i = 0; i < 3; i++)
        if (sample[i].time_ns)
            fine(as_experiment_add_sample(e, &sample[i], err));
}

static int64_t compute_of(int rank)
{
    return rank == RANKS - 1 ? 395 : 435;
}

static struct as_experiment *filled(const struct place *place, struct shape shape)
{
    const struct as_row_host host = {.name = "small", .cpu_n = as_known(64)};
    struct as_row_run run = {.kind = "profile",
                             .command = "mpirun -n 8 ./lulesh",
                             .launcher = "openmpi",
                             .wall_ns = as_known(2890 * MS),
                             .state = "complete",
                             .overhead_ns = as_known(0),
                             .usable_milli_cpu_n = as_known(2000),
                             .host_busy_ns = as_known(shape.busy_ms * MS),
                             .host_steal_ns = as_known(0)};
    struct as_experiment *e;
    struct code code;
    int64_t run_id, process_id;

    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_host(e, &host, &run.host_id, err));
    fine(as_experiment_add_run(e, &run, &run_id, err));
    make_code(e, &code);
    struct as_row_process process = {.run_id = run_id, .pid = 100, .exe = "/mpirun"};
    if (shape.ranks) {
        fine(as_experiment_add_process(e, &process, &process_id, err));
        make_thread(e, &code, process_id, 100, 50, 10, 2700, 0);
        make_thread(e, &code, process_id, 101, 0, 0, 2880, 0);
    }
    for (int rank = 0; rank < (shape.ranks ? shape.ranks : 1); rank++) {
        process.pid = 200 + 100 * rank;
        if (shape.ranks)
            process.rank = as_known(rank);
        fine(as_experiment_add_process(e, &process, &process_id, err));
        for (int i = 0; i < shape.threads; i++)
            make_thread(e, &code, process_id, process.pid + i, compute_of(rank) / (i + 1), 280, 100,
                        shape.queue_ms);
        make_thread(e, &code, process_id, process.pid + 90, 0, 20, 2880, 0);
    }
    fine(as_experiment_commit(e, err));
    fine(as_experiment_summarise(e, run_id, err));
    fine(as_advise_run(e, run_id, err));
    return e;
}

static double metric(struct as_experiment *e, const char *name)
{
    char sql[256];

    snprintf(sql, sizeof sql, "SELECT value FROM v_values WHERE metric = '%s'", name);
    return real_of(e, sql);
}

static const struct shape quiet = {.busy_ms = 5900, .queue_ms = 2000, .threads = 1, .ranks = RANKS};

static void test_roles(void **state)
{
    struct as_experiment *e = filled(*state, quiet);

    expect_row(e,
               "SELECT group_concat(role || ' ' || n, ', ') FROM (SELECT role, count(*) AS n"
               " FROM thread GROUP BY role ORDER BY role)",
               "idle 8, launcher 2, worker 8");
    near(real_of(e, "SELECT computing_time_s FROM v_threads WHERE tid = 200"), 0.435);
    /* Waiting of the eight; that of the ten others is apart, in the run and in MPI. */
    near(real_of(e, "SELECT blocked_time_s FROM v_runs"), 0.8);
    near(real_of(e, "SELECT runnable_time_s FROM v_runs"), 16);
    near(real_of(e, "SELECT idle_time_s FROM v_runs"), 8 * 2.88 + 2.7 + 2.88);
    near(real_of(e, "SELECT blocked_time_s FROM v_categories WHERE name = 'mpi'"), 0.8);
    near(real_of(e, "SELECT idle_time_s FROM v_categories WHERE name = 'mpi'"),
         8 * 2.88 + 2.7 + 2.88);
    /* The places of these waits are still visible. */
    near(real_of(e, "SELECT blocked_time_s FROM v_functions WHERE name = 'progress'"),
         0.8 + 8 * 2.88 + 2.7 + 2.88);
    fine(as_experiment_close(&e, err));
}

/* In a run of few samples the accounting of the kernel tells helpers from workers. A daemon of MPI
 * does not work either. */
static void test_roles_of_short_runs(void **state)
{
    static const struct {
        const char *exe;
        int64_t compute, poll;
        const char *roles; /* of a process of MPI without ranks, and a helper of it */
    } shape[] = {{"/opt/t", 20, 1, "worker idle"},
                 {"/opt/t", 20, 3, "worker worker"},
                 {"/usr/bin/orted", 20, 1, "launcher launcher"}};

    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        const struct as_row_host host = {.name = "small", .cpu_n = as_known(2)};
        struct as_row_run run = {
            .kind = "profile", .command = "t", .wall_ns = as_known(2890 * MS), .state = "complete"};
        struct as_row_process process = {.pid = 100, .exe = shape[i].exe};
        struct as_experiment *e;
        struct code code;
        int64_t process_id;

        (void)state;
        fine(as_experiment_transient(&e, err));
        fine(as_experiment_begin(e, err));
        fine(as_experiment_add_host(e, &host, &run.host_id, err));
        fine(as_experiment_add_run(e, &run, &process.run_id, err));
        make_code(e, &code);
        fine(as_experiment_add_process(e, &process, &process_id, err));
        make_thread(e, &code, process_id, 100, shape[i].compute, 0, 100, 0);
        make_thread(e, &code, process_id, 101, 0, shape[i].poll, 2880, 0);
        fine(as_experiment_commit(e, err));
        fine(as_experiment_summarise(e, process.run_id, err));
        expect_row(e, "SELECT group_concat(role, ' ') FROM (SELECT role FROM thread ORDER BY tid)",
                   shape[i].roles);
        fine(as_experiment_close(&e, err));
    }
}

static void test_one_balance(void **state)
{
    struct as_experiment *e = filled(*state, quiet);
    const double mean = (7 * 0.435 + 0.395) / 8;

    near(metric(e, "load_balance_pct"), 100 * mean / 0.435);
    near(real_of(e, "SELECT balance_pct FROM v_balance WHERE over = 'ranks' AND is_main"),
         100 * mean / 0.435);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_balance"), 1);
    /* mpirun has 1 % of the CPU time, and lives long. */
    near(metric(e, "thread_activity_pct"), 100 * (7 * 0.715 + 0.675) / (8 * 2.89));
    near(metric(e, "processor_wait_pct"), 100 * 16 / (16 + 7 * 0.715 + 0.675));
    fine(as_experiment_close(&e, err));
}

/* Two threads a rank: 0.435 and 0.217 s. */
static void test_threads_within_ranks(void **state)
{
    struct shape shape = quiet;

    shape.threads = 2;
    struct as_experiment *e = filled(*state, shape);
    near(metric(e, "load_balance_pct"), 100 * (7 * 0.652 + 0.592) / 8 / 0.652);
    near(metric(e, "thread_balance_pct"),
         100 * (7 * 0.652 * 0.326 / 0.435 + 0.592 * 0.296 / 0.395) / (7 * 0.652 + 0.592));
    expect_row(e, "SELECT group_concat(over || n, ' ') FROM v_balance", "ranks8 threads16");
    fine(as_experiment_close(&e, err));
}

/* Without ranks, the threads share the load. */
static void test_threads_alone(void **state)
{
    struct shape shape = quiet;

    shape.threads = 2;
    shape.ranks = 0;
    struct as_experiment *e = filled(*state, shape);
    expect_row(e, "SELECT over, is_main, n FROM v_balance", "threads 1 2");
    near(metric(e, "load_balance_pct"), 100 * 0.326 / 0.435);
    fine(as_experiment_close(&e, err));
}

static void test_no_gain_below_the_work(void **state)
{
    struct as_experiment *e = filled(*state, quiet);
    const double floor_s = (7 * 0.435 + 0.395 + 0.05) / 2;

    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_what_ifs"), 3);
    assert_true(real_of(e, "SELECT max(gain_high_s) FROM v_what_ifs") <= 2.89 - floor_s + 1e-6);
    /* The 2.7 s of mpirun in MPI do not count. A rank runs and waits 0.38 s there. Nearly 0.8 of
     * its 2 s in the run queue went to other ranks that polled. The run cannot gain more. */
    near(real_of(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'perfect_parallel'"),
         2.89 - floor_s);
    near(real_of(e, "SELECT gain_high_s FROM v_what_ifs WHERE name = 'perfect_parallel'"),
         2.89 - floor_s);
    assert_true(real_of(e, "SELECT gain_low_s FROM v_what_ifs WHERE name = 'perfect_parallel'") <
                0.38);
    expect_row(e, "SELECT text FROM v_findings WHERE rule = 'parallel_overhead'",
               "MPI, OpenMP and thread libraries cost 1.15 s: of the longest thread, and of CPUs "
               "for which threads that could compute waited meanwhile.");
    expect_row(e, "SELECT count(*) FROM v_findings WHERE topic = 'oversubscribed'", "1");
    expect_row(e, "SELECT text FROM v_findings WHERE topic = 'oversubscribed'",
               "8 ranks had 2 processors: together they waited 16 s for one.");
    expect_row(e,
               "SELECT substr(workaround, 1, 28), gain_s IS NULL FROM v_findings"
               " WHERE topic = 'oversubscribed'",
               "Start 2 ranks (mpirun -n 2), 1");
    expect_row(e, "SELECT score FROM v_checks WHERE name = 'oversubscription'", "0.0");
    expect_row(e, "SELECT score FROM v_checks WHERE name = 'quiet_host'", "1.0");
    fine(as_experiment_close(&e, err));
}

/* Two ranks on two CPUs with two busy loops beside: each had half of a CPU. The program is not
 * oversubscribed, so this is not its fault, and MPI has no certain gain. */
static void test_busy_host(void **state)
{
    const struct shape shape = {.busy_ms = 5780, .queue_ms = 1400, .threads = 1, .ranks = 2};
    struct as_experiment *e = filled(*state, shape);

    near(real_of(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'perfect_parallel'"), 0);
    expect_row(e, "SELECT count(*) FROM v_findings WHERE topic = 'oversubscribed'", "0");
    expect_row(e, "SELECT count(*) FROM v_findings WHERE topic = 'parallel_overhead'", "0");
    near(real_of(e, "SELECT others_time_s FROM v_runs"), 5.78 - 2 * 0.715 - 0.06 - 2 * 0.02);
    expect_row(e, "SELECT score, state FROM v_checks WHERE name = 'quiet_host'", "0.0 failed");
    expect_row(e, "SELECT text LIKE '%too busy%' FROM v_checks WHERE name = 'quiet_host'", "1");
    expect_row(e, "SELECT score FROM v_checks WHERE name = 'oversubscription'", "1.0");
    fine(as_experiment_close(&e, err));
}

/* The counters were read a little before and after the run: other processes used no more than there
 * was. */
static void test_load_has_a_limit(void **state)
{
    const struct shape shape = {.busy_ms = 58000, .queue_ms = 1400, .threads = 1, .ranks = 2};
    struct as_experiment *e = filled(*state, shape);

    near(real_of(e, "SELECT others_time_s FROM v_runs"), 2 * 2.89);
    expect_row(e,
               "SELECT text LIKE 'other processes used 2 of 2 CPUs%' FROM v_flags"
               " WHERE name = 'busy_host'",
               "1");
    fine(as_experiment_close(&e, err));
}

static void set_of_loop(struct as_experiment *e, const char *name, int64_t loop_id, double value)
{
    const struct as_metric metric = {
        .name = name, .unit = "1", .meaning = "m", .formula = "f", .better = AS_BETTER_LOWER};
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = loop_id};
    int64_t id;

    fine(as_experiment_metric(e, &metric, &id, err));
    fine(as_experiment_value(e, id, &loop, as_value_exact(value, 1), err));
}

/* The loop that polls in MPI has six ways. It says nothing about the code of the program. */
static void test_loops_that_poll(void **state)
{
    struct as_experiment *e = filled(*state, quiet);
    const double compute = 7 * 435 + 395 + 50;

    for (int64_t loop = 1; loop <= 2; loop++) {
        set_of_loop(e, "flow_paths", loop, loop == 1 ? 1 : 6);
        set_of_loop(e, "fp_packed_pct", loop, loop == 1 ? 100 : 0);
        set_of_loop(e, "array_access_efficiency_pct", loop, loop == 1 ? 80 : 10);
        set_of_loop(e, "array_access_least_pct", loop, loop == 1 ? 80 : 10);
        set_of_loop(e, "array_access_most_pct", loop, loop == 1 ? 80 : 10);
    }
    fine(as_advise_run(e, 1, err));
    expect_row(e,
               "SELECT group_concat(c.name, ' ') FROM object_time t JOIN category c"
               " USING (category_id) WHERE t.object_kind = 'loop' AND t.exclusive_n > 0",
               "application mpi");
    near(metric(e, "flow_complexity"), 1);
    near(metric(e, "packed_arithmetic_pct"), 100);
    near(metric(e, "array_access_pct"), 80);
    near(metric(e, "loops_to_80_n"), 1);
    expect_row(e,
               "SELECT group_concat(value || ' of ' || n, ', ') FROM v_values WHERE metric IN"
               " ('loops_pct', 'innermost_loops_pct', 'analysed_loops_pct')",
               "100.0 of 3490, 100.0 of 3490, 100.0 of 3490");
    near(compute, 3490);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_roles),           place_test(test_roles_of_short_runs),
        place_test(test_one_balance),     place_test(test_threads_within_ranks),
        place_test(test_threads_alone),   place_test(test_no_gain_below_the_work),
        place_test(test_busy_host),       place_test(test_load_has_a_limit),
        place_test(test_loops_that_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
