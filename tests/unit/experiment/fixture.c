/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 200 running samples of 10 ms, 100 in each rank's first thread. In rank 0, MPI_Wait was also
 * blocked for 0.5 s.
 *
 * - path                      place                  rank 0   rank 1
 * - main;solve                inner loop, line 23        40       60
 * - main;solve                outer loop, line 21         5
 * - main;solve;fib            line 41                    10           called from the outer loop
 * - main;solve;fib;fib        line 41                     8           called from line 40
 * - main;solve;fib;fib;fib    line 41                     6           called from line 40
 * - main;solve;fib;fib;fib    line 40                     1
 * - main;solve;fib            line 41                     4           called from the inner loop
 * - main;MPI_Wait                                        20       40  and 0.5 s blocked in rank 0
 * - main;MPI_Wait;memcpy                                  6
 */
#include "fixture.h"

#include "base/error.h"

#define SAMPLE_NS 10000000

static int fill_program(struct as_experiment *e, struct fixture *f, struct as_error *err)
{
    const struct as_row_category category[] = {
        {.name = "application", .title = "Application", .meaning = "The program's own code."},
        {.name = "mpi", .title = "MPI", .meaning = "Inside calls of MPI."},
    };
    const struct as_row_module module[] = {
        {.path = "/opt/solver",
         .name = "solver",
         .build_id = "0123456789abcdef",
         .kind = "executable",
         .size_b = as_known(70000),
         .has_debug = as_known(1)},
        {.path = "/usr/lib/libmpi.so.40",
         .name = "libmpi.so.40",
         .kind = "shared",
         .has_debug = as_known(0)},
        {.path = "/usr/lib/libc.so.6", .name = "libc.so.6", .kind = "shared"},
    };

    for (int i = 0; i < 2; i++)
        AS_TRY(as_experiment_add_category(e, &category[i], &f->category[i], err));
    for (int i = 0; i < 3; i++)
        AS_TRY(as_experiment_add_module(e, &module[i], &f->module[i], err));
    return 0;
}

static int line(struct as_experiment *e, int64_t file, int64_t number, int64_t *id,
                struct as_error *err)
{
    const struct as_row_line row = {.source_file_id = file, .number = number};

    return as_experiment_add_line(e, &row, id, err);
}

static int function(struct as_experiment *e, int64_t module, const char *name, int64_t address,
                    int64_t line_id, int64_t *id, struct as_error *err)
{
    const struct as_row_function row = {.module_id = module,
                                        .name = name,
                                        .linkage_name = name,
                                        .address = as_known(address),
                                        .size_b = as_known(128),
                                        .line_id = line_id,
                                        .known_from = "symbol"};

    return as_experiment_add_function(e, &row, id, err);
}

struct places {
    int64_t line[8]; /* 10, 12, 14, 21, 22, 23, 40, 41 */
    int64_t call_solve, call_wait, in_inner, in_outer, fib_calls, in_fib, in_wait, wait_calls, copy;
};

static int place(struct as_experiment *e, struct as_row_location row, int64_t *id,
                 struct as_error *err)
{
    return as_experiment_add_location(e, &row, id, err);
}

static int fill_code(struct as_experiment *e, struct fixture *f, struct places *p,
                     struct as_error *err)
{
    static const int64_t number[] = {10, 12, 14, 21, 22, 23, 40, 41};
    const struct as_row_source_file source = {.path = "/src/solver.c", .language = "C17"};
    const struct as_row_line text = {.source_file_id = 1, .number = 23, .text = "sum += a[i];"};
    int64_t file;

    AS_TRY(as_experiment_add_source_file(e, &source, &file, err));
    for (int i = 0; i < 8; i++)
        AS_TRY(line(e, file, number[i], &p->line[i], err));
    AS_TRY(as_experiment_add_line(e, &text, NULL, err));
    AS_TRY(function(e, f->module[0], "main", 0x1000, p->line[0], &f->main, err));
    AS_TRY(function(e, f->module[0], "solve", 0x1100, p->line[3], &f->solve, err));
    AS_TRY(function(e, f->module[0], "fib", 0x1200, p->line[6], &f->fib, err));
    AS_TRY(function(e, f->module[1], "MPI_Wait", 0x5000, 0, &f->wait, err));
    AS_TRY(function(e, f->module[2], "memcpy", 0x9000, 0, &f->copy, err));

    struct as_row_loop loop = {.function_id = f->solve,
                               .address = 0x1110,
                               .depth = 1,
                               .first_line_id = p->line[3],
                               .last_line_id = p->line[5]};
    AS_TRY(as_experiment_add_loop(e, &loop, &f->outer, err));
    loop = (struct as_row_loop){.function_id = f->solve,
                                .parent_id = f->outer,
                                .address = 0x1140,
                                .depth = 2,
                                .is_innermost = true,
                                .role = "main",
                                .first_line_id = p->line[4],
                                .last_line_id = p->line[5],
                                .block_n = as_known(1),
                                .instruction_n = as_known(7)};
    AS_TRY(as_experiment_add_loop(e, &loop, &f->inner, err));
    const struct as_row_block block = {.function_id = f->solve,
                                       .loop_id = f->inner,
                                       .address = 0x1140,
                                       .size_b = 32,
                                       .instruction_n = as_known(7)};
    return as_experiment_add_block(e, &block, &f->block, err);
}

static int fill_places(struct as_experiment *e, const struct fixture *f, struct places *p,
                       struct as_error *err)
{
    const int64_t solver = f->module[0];
    const struct {
        struct as_row_location row;
        int64_t *id;
    } at[] = {
        {{solver, 0x1010, f->main, 0, 0, p->line[1], 0}, &p->call_solve},
        {{solver, 0x1020, f->main, 0, 0, p->line[2], 0}, &p->call_wait},
        {{solver, 0x1150, f->solve, f->inner, f->block, p->line[5], 0}, &p->in_inner},
        {{solver, 0x1114, f->solve, f->outer, 0, p->line[3], 0}, &p->in_outer},
        {{solver, 0x1210, f->fib, 0, 0, p->line[6], 0}, &p->fib_calls},
        {{solver, 0x1220, f->fib, 0, 0, p->line[7], 0}, &p->in_fib},
        {{f->module[1], 0x5008, f->wait, 0, 0, 0, 0}, &p->in_wait},
        {{f->module[1], 0x5010, f->wait, 0, 0, 0, 0}, &p->wait_calls},
        {{f->module[2], 0x9004, f->copy, 0, 0, 0, 0}, &p->copy},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        AS_TRY(place(e, at[i].row, at[i].id, err));
    return 0;
}

static int fill_paths(struct as_experiment *e, struct fixture *f, const struct places *p,
                      struct as_error *err)
{
    const int64_t own = f->category[0], mpi = f->category[1];
    const struct {
        int parent; /* index + 1 */
        int64_t function, call, category, depth;
    } at[8] = {
        {0, f->main, 0, own, 1},
        {1, f->solve, p->call_solve, own, 2},
        {2, f->fib, p->in_outer, own, 3},
        {3, f->fib, p->fib_calls, own, 4},
        {4, f->fib, p->fib_calls, own, 5},
        {1, f->wait, p->call_wait, mpi, 2},
        {6, f->copy, p->wait_calls, mpi, 3},
        {2, f->fib, p->in_inner, own, 3},
    };

    for (int i = 0; i < 8; i++) {
        const struct as_row_callpath row = {.parent_id =
                                                at[i].parent ? f->path[at[i].parent - 1] : 0,
                                            .function_id = at[i].function,
                                            .call_location_id = at[i].call,
                                            .category_id = at[i].category,
                                            .depth = at[i].depth};

        AS_TRY(as_experiment_add_callpath(e, &row, &f->path[i], err));
    }
    return 0;
}

static int fill_machine(struct as_experiment *e, int64_t host, struct as_error *err)
{
    const struct as_row_machine_place place = {.host_id = host, .kind = "machine"};
    const struct as_row_machine_figure figure = {.host_id = host,
                                                 .name = "bandwidth.triad.RAM.core",
                                                 .value = 2e10,
                                                 .unit = "B/s",
                                                 .confidence = "high"};
    const struct as_row_machine_finding finding = {
        .host_id = host, .name = "bandwidth", .text = "There are no huge pages."};
    AS_TRY(as_experiment_add_machine_place(e, &place, err));
    AS_TRY(as_experiment_add_machine_figure(e, &figure, err));
    return as_experiment_add_machine_finding(e, &finding, err);
}

static int fill_run(struct as_experiment *e, struct fixture *f, struct as_error *err)
{
    const struct as_row_host host = {.name = "node1",
                                     .kernel = "6.1.0",
                                     .os = "Debian 12",
                                     .cpu_vendor = "GenuineIntel",
                                     .cpu_model = "Xeon",
                                     .cpu_n = as_known(4),
                                     .core_n = as_known(2)};
    AS_TRY(as_experiment_add_host(e, &host, &f->host, err));
    AS_TRY(fill_machine(e, f->host, err));
    const struct as_row_run run = {.kind = "profile",
                                   .command = "mpirun -n 2 ./solver 100",
                                   .argv = "[\"mpirun\",\"-n\",\"2\",\"./solver\",\"100\"]",
                                   .environment_digest = "d41d8cd9",
                                   .cwd = "/data/case",
                                   .launcher = "openmpi",
                                   .host_id = f->host,
                                   .start_ns = INT64_C(1700000000000000000),
                                   .wall_ns = as_known(1250000000),
                                   .exit_code = as_known(0),
                                   .state = "complete",
                                   .event = "cpu-clock",
                                   .event_reason = "no PMU here",
                                   .rate_hz = as_known(100),
                                   .call_stacks = "fp",
                                   .scope = "user",
                                   .overhead_ns = as_known(12500000)};
    AS_TRY(as_experiment_add_run(e, &run, &f->run, err));
    for (int i = 0; i < 2; i++) {
        const struct as_row_process row = {.run_id = f->run,
                                           .pid = 4242 + i,
                                           .parent_pid = as_known(4200),
                                           .host_id = f->host,
                                           .rank = as_known(i),
                                           .exe = "/opt/solver",
                                           .end_ns = as_known(1250000000),
                                           .exit_code = as_known(0)};

        AS_TRY(as_experiment_add_process(e, &row, &f->process[i], err));
    }
    for (int i = 0; i < 3; i++) {
        const struct as_row_thread row = {.process_id = f->process[i == 1],
                                          .tid = 4242 + i,
                                          .name = "solver",
                                          .omp_thread = as_known(i == 2),
                                          .end_ns = as_known(1250000000),
                                          .cpu_migration_n = as_known(i),
                                          .lost_n = i == 1 ? 3 : 0};

        AS_TRY(as_experiment_add_thread(e, &row, &f->thread[i], err));
    }
    for (int i = 0; i < 3; i++) {
        const struct as_row_thread_cpu row = {.thread_id = f->thread[0],
                                              .cpu = 3 - i,
                                              .numa_node = as_known(i == 2),
                                              .sample_n = i == 1 ? 70 : 15};

        AS_TRY(as_experiment_add_thread_cpu(e, &row, err));
    }
    const struct as_row_thread_level level = {
        .thread_id = f->thread[0], .bin_ns = 1000000, .name = "user", .bins = "[0,750,1000]"};
    AS_TRY(as_experiment_add_thread_level(e, &level, err));
    const struct as_row_thread_phase phase = {.thread_id = f->thread[0],
                                              .end_ns = 2000000,
                                              .running_ns = 1750000,
                                              .waiting_ns = 250000,
                                              .awaited_ns = 100000};
    return as_experiment_add_thread_phase(e, &phase, err);
}

static int fill_samples(struct as_experiment *e, const struct fixture *f, const struct places *p,
                        struct as_error *err)
{
    const struct {
        int path;
        int64_t location, first, second;
    } at[] = {
        {1, p->in_inner, 40, 60}, {1, p->in_outer, 5, 0},  {2, p->in_fib, 10, 0},
        {3, p->in_fib, 8, 0},     {4, p->in_fib, 6, 0},    {4, p->fib_calls, 1, 0},
        {7, p->in_fib, 4, 0},     {5, p->in_wait, 20, 40}, {6, p->copy, 6, 0},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (int thread = 0; thread < 2; thread++) {
            const int64_t n = thread ? at[i].second : at[i].first;
            const struct as_row_sample row = {.thread_id = f->thread[thread],
                                              .callpath_id = f->path[at[i].path],
                                              .location_id = at[i].location,
                                              .n = n,
                                              .time_ns = n * SAMPLE_NS};
            if (n)
                AS_TRY(as_experiment_add_sample(e, &row, err));
        }
    }
    for (int i = 0; i < 2; i++) { /* twice: they add up */
        const struct as_row_sample row = {.thread_id = f->thread[0],
                                          .callpath_id = f->path[5],
                                          .location_id = p->in_wait,
                                          .state = AS_SAMPLE_BLOCKED,
                                          .n = 1 + i,
                                          .time_ns = 250000000};

        AS_TRY(as_experiment_add_sample(e, &row, err));
    }
    return 0;
}

/* The first rank waits for the second. */
static int fill_trace(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    struct as_row_trace trace = {.run_id = f->run,
                                 .traced_run_id = f->run,
                                 .elapsed_ns = 2000000000,
                                 .location_n = 2,
                                 .rank_n = 2,
                                 .events_n = 8,
                                 .waited_ns = 500000000,
                                 .bin_ns = 1000000000,
                                 .bin_n = 2,
                                 .record_ns = 20};
    struct as_row_trace_site site = {.routine = "MPI_Wait", .kind = "mpi-completion"};
    struct as_row_trace_location location[2] = {{.rank = as_known(0),
                                                 .pid = 100,
                                                 .tid = 100,
                                                 .end_ns = 1500000000,
                                                 .waiting_ns = 500000000},
                                                {.number = 1,
                                                 .rank = as_known(1),
                                                 .pid = 101,
                                                 .tid = 101,
                                                 .end_ns = 1500000000,
                                                 .late_ns = 500000000}};
    int64_t id[2], site_id;

    AS_TRY(as_experiment_add_trace(e, &trace, &site.trace_id, err));
    AS_TRY(as_experiment_add_trace_site(e, &site, &site_id, err));
    for (int i = 0; i < 2; i++) {
        location[i].trace_id = site.trace_id;
        AS_TRY(as_experiment_add_trace_location(e, &location[i], &id[i], err));
    }
    AS_TRY(as_experiment_add_trace_state(
        e, &(struct as_row_trace_state){id[0], 1, "mpi", "MPI", 500000000}, err));
    AS_TRY(as_experiment_add_trace_timeline(
        e, &(struct as_row_trace_timeline){id[0], 1, "mpi", "MPI", "[250,250]"}, err));
    const struct as_row_trace_level level = {
        .trace_location_id = id[0], .bin_ns = 1000000, .name = "mpi", .bins = "[250,250]"};
    AS_TRY(as_experiment_add_trace_level(e, &level, err));
    AS_TRY(as_experiment_add_trace_counter(
        e,
        &(struct as_row_trace_counter){id[0], "resident bytes", "B", 3, 4096, 8192, 4096, 12288,
                                       as_known(2048), "[null,8192]"},
        err));
    AS_TRY(as_experiment_add_trace_off(
        e, &(struct as_row_trace_off){id[1], 200000000, 300000000, 80000000, 2, "by the program"},
        err));
    AS_TRY(
        as_experiment_add_trace_call(e,
                                     &(struct as_row_trace_call){.trace_location_id = id[0],
                                                                 .trace_site_id = site_id,
                                                                 .calls_n = 2,
                                                                 .time_ns = 500000000,
                                                                 .longest_ns = 300000000,
                                                                 .waiting_ns = as_known(200000000),
                                                                 .transfer_ns = as_known(100000000),
                                                                 .received_b = 16},
                                     err));
    AS_TRY(as_experiment_add_trace_sample(e,
                                          &(struct as_row_trace_sample){.trace_location_id = id[0],
                                                                        .name = "computing",
                                                                        .function_id = f->solve,
                                                                        .caller_id = f->main,
                                                                        .n = 2,
                                                                        .time_ns = 8000000},
                                          err));
    AS_TRY(as_experiment_add_trace_wait(e,
                                        &(struct as_row_trace_wait){id[0], site_id, "late_sender",
                                                                    "late sender", 2, 500000000,
                                                                    300000000},
                                        err));
    AS_TRY(as_experiment_add_trace_late(
        e,
        &(struct as_row_trace_late){id[1], site_id, 2, 500000000, 500000000, 300000000, 500000000},
        err));
    AS_TRY(as_experiment_add_trace_clock(e,
                                         &(struct as_row_trace_clock){site.trace_id, 0, "node-b", 1,
                                                                      "measured", 8, -5000000000,
                                                                      2e-5, as_known(2000), 300},
                                         err));
    AS_TRY(as_experiment_add_trace_phase(e,
                                         &(struct as_row_trace_phase){.trace_id = site.trace_id,
                                                                      .number = 1,
                                                                      .name = "step",
                                                                      .calls_n = 2,
                                                                      .end_ns = 500000000,
                                                                      .rank_n = 2,
                                                                      .thread_n = 2,
                                                                      .time_ns = 500000000,
                                                                      .useful_ns = 250000000,
                                                                      .mpi_ns = 250000000,
                                                                      .busiest_location_id = id[0],
                                                                      .parallel_pct = 50,
                                                                      .balance_pct = 100,
                                                                      .communication_pct = 50,
                                                                      .mpi_parallel_pct = 50,
                                                                      .mpi_balance_pct = 100,
                                                                      .mpi_communication_pct = 50,
                                                                      .mpi_serialisation_pct = 62.5,
                                                                      .mpi_transfer_pct = 80},
                                         err));
    AS_TRY(as_experiment_add_trace_message(
        e, &(struct as_row_trace_message){site.trace_id, 1, 0, 2, 16}, err));
    AS_TRY(as_experiment_add_trace_exchange(
        e,
        &(struct as_row_trace_exchange){site.trace_id, site_id, 1, 0, 2, 16, 100000000, 500000000},
        err));
    AS_TRY(as_experiment_add_trace_gain(
        e,
        &(struct as_row_trace_gain){site.trace_id, 0, "even_ranks",
                                    "ranks compute for as long as the mean", 240000000, 200000000,
                                    250000000},
        err));
    return as_experiment_add_trace_message_size(
        e, &(struct as_row_trace_message_size){site.trace_id, 8, 16, 2, 16, 500000000}, err);
}

static int fill_facts(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    const struct as_metric metric = {.name = "cycles_per_iteration",
                                     .unit = "cycles",
                                     .meaning = "Cycles an iteration takes.",
                                     .formula = "modelled",
                                     .better = AS_BETTER_LOWER};
    const struct as_bounded_value gain = as_value_modelled(1.8, 1.2, 2.5);
    const struct as_finding finding = {.of = {AS_OBJECT_LOOP, f->inner, f->run, 0},
                                       .level = AS_FINDING_GAIN,
                                       .topic = "vectorisation",
                                       .text = "Not vectorised.",
                                       .workaround = "Use -O3.",
                                       .gain = &gain};
    const struct as_row_trial trial = {.run_id = f->run,
                                       .position = 1,
                                       .name = "o3",
                                       .title = "-O3",
                                       .what = "flags",
                                       .verdict = "none",
                                       .n = 4,
                                       .base_s = 2,
                                       .ratio = 1.01,
                                       .ratio_low = 0.98,
                                       .ratio_high = 1.04,
                                       .rules = " "};
    const struct as_flag flag = {.run_id = f->run,
                                 .kind = AS_OBJECT_THREAD,
                                 .object_id = f->thread[1],
                                 .name = "lost_samples",
                                 .n = 3,
                                 .text = "3 samples were lost: the buffer was full."};
    const struct as_row_loop_access access = {.run_id = f->run,
                                              .loop_id = f->inner,
                                              .address = 0x1180,
                                              .access = "load",
                                              .width_b = 8,
                                              .stride = "constant",
                                              .stride_b = as_known(9616),
                                              .stride_share = 0.97,
                                              .sample_n = 30,
                                              .line_used_pct = 12.5};
    const struct as_row_data_object array = {
        .kind = "symbol", .name = "grid", .size_b = as_known(8000)};
    struct as_row_loop_object object = {.run_id = f->run,
                                        .loop_id = f->inner,
                                        .access = "load",
                                        .share = 1,
                                        .object_n = 1,
                                        .touched_b = 7992,
                                        .sample_n = 30};
    const struct as_row_loop_data data = {.run_id = f->run,
                                          .loop_id = f->inner,
                                          .iteration_n = 1000,
                                          .entry_b = as_known(64000),
                                          .page_n = as_known(2),
                                          .touched_b = as_known(7992),
                                          .near_level = as_known(2),
                                          .far_level = as_known(3),
                                          .cache_n = as_known(3),
                                          .set_n = as_known(4)};
    int64_t id;

    AS_TRY(as_experiment_add_loop_access(e, &access, err));
    AS_TRY(as_experiment_add_data_object(e, &array, &object.data_object_id, err));
    AS_TRY(as_experiment_add_loop_object(e, &object, err));
    AS_TRY(as_experiment_add_loop_data(e, &data, err));
    AS_TRY(as_experiment_add_loop_sharing(e,
                                          &(struct as_row_loop_sharing){.run_id = f->run,
                                                                        .loop_id = f->inner,
                                                                        .line_n = 1,
                                                                        .thread_n = 2,
                                                                        .gap_b = 8,
                                                                        .share = 0.5},
                                          err));
    AS_TRY(as_experiment_metric(e, &metric, &id, err));
    AS_TRY(as_experiment_value(e, id,
                               &(struct as_subject){.kind = AS_OBJECT_LOOP, .object_id = f->inner},
                               as_value_modelled(4.25, 4, 5), err));
    AS_TRY(as_experiment_finding(e, &finding, err));
    AS_TRY(as_experiment_add_trial(e, &trial, NULL, err));
    return as_experiment_flag(e, &flag, err);
}

int fixture_fill(struct as_experiment *experiment, struct fixture *f, struct as_error *err)
{
    struct places places = {0};

    AS_TRY(as_experiment_begin(experiment, err));
    AS_TRY(fill_run(experiment, f, err));
    AS_TRY(fill_program(experiment, f, err));
    AS_TRY(fill_code(experiment, f, &places, err));
    AS_TRY(fill_places(experiment, f, &places, err));
    AS_TRY(fill_paths(experiment, f, &places, err));
    AS_TRY(fill_samples(experiment, f, &places, err));
    AS_TRY(fill_trace(experiment, f, err));
    AS_TRY(fill_facts(experiment, f, err));
    AS_TRY(as_experiment_commit(experiment, err));
    return as_experiment_summarise(experiment, f->run, err);
}
