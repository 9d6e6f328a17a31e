/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 2300 running samples of 1 ms in four threads (frames, and inlined ones in brackets):
 *
 * - frames, (inlined)                                   thread 0    1    2    3
 * - main;(run_step);force;(distance);(norm)                  400  300  200  100
 * - main;(run_step);force                                    100  100  100  100
 * - the same, called from another line                        25   25   25   25
 * - main;GOMP_barrier                                          0  100  200  300
 * - main;[unknown] of libblob.so                              50   50   50   50
 *
 * and thread 3 waited 0.2 s in GOMP_barrier.
 */
#include "cxx.h"

#include "base/error.h"

#define SAMPLE_NS 1000000

#define FORCE                                                                                      \
    "simulation::PairForce<double, simulation::Potential::LennardJones, 3>::compute(std::vector<"  \
    "simulation::Atom, std::allocator<simulation::Atom> > const&, unsigned long)"

struct code {
    int64_t category[2]; /* application, openmp */
    int64_t module[4];   /* simulate, libgomp, libblob, libm (unused) */
    int64_t main, unknown, norm, step;
    int64_t call_force[2], call_barrier, in_norm, in_force, in_barrier, in_unknown;
    int64_t path_main, path_force[2], path_barrier, path_unknown;
};

static int fill_run(struct as_experiment *e, struct cxx *c, struct as_error *err)
{
    const struct as_row_host host = {.name = "big", .cpu_n = as_known(8)};
    struct as_row_run run = {.kind = "profile",
                             .label = "before",
                             .command = "./simulate --name 'a very long name' --steps 1000 "
                                        "--input /data/somewhere/deep/in/the/tree/input.file",
                             .launcher = "plain",
                             .start_ns = INT64_C(1700000000000000000),
                             .wall_ns = as_known(700000000),
                             .exit_signal = as_known(11),
                             .state = "interrupted",
                             .event = "cycles",
                             .rate_hz = as_known(1000),
                             .call_stacks = "dwarf",
                             .scope = "user+kernel"};

    AS_TRY(as_experiment_add_host(e, &host, &run.host_id, err));
    AS_TRY(as_experiment_add_run(e, &run, &c->run, err));
    const struct as_row_process process = {
        .run_id = c->run, .pid = 77, .exe = "/opt/My App/simulate", .host_id = run.host_id};
    AS_TRY(as_experiment_add_process(e, &process, &c->process, err));
    for (int i = 0; i < 4; i++) {
        const struct as_row_thread thread = {
            .process_id = c->process, .tid = 77 + i, .name = "simulate", .omp_thread = as_known(i)};

        AS_TRY(as_experiment_add_thread(e, &thread, &c->thread[i], err));
    }
    return 0;
}

static int fill_modules(struct as_experiment *e, struct code *p, struct as_error *err)
{
    const struct as_row_category category[] = {{.name = "application", .title = "Application"},
                                               {.name = "openmp", .title = "OpenMP"}};
    const struct as_row_module module[] = {
        {.path = "/opt/My App/simulate",
         .name = "simulate",
         .build_id = "abcdef0123",
         .kind = "executable",
         .has_debug = as_known(1)},
        {.path = "/usr/lib/libgomp.so.1",
         .name = "libgomp.so.1",
         .kind = "shared",
         .has_debug = as_known(0)},
        {.path = "/opt/My App/libblob.so",
         .name = "libblob.so",
         .kind = "shared",
         .has_debug = as_known(0)},
    };

    for (int i = 0; i < 2; i++)
        AS_TRY(as_experiment_add_category(e, &category[i], &p->category[i], err));
    for (int i = 0; i < 3; i++)
        AS_TRY(as_experiment_add_module(e, &module[i], &p->module[i], err));
    return 0;
}

static int fill_functions(struct as_experiment *e, struct cxx *c, struct code *p, int64_t *line,
                          struct as_error *err)
{
    const struct as_row_source_file source = {.path = "/data/simulation/pair_force.cpp"};
    int64_t file;

    AS_TRY(as_experiment_add_source_file(e, &source, &file, err));
    for (int i = 0; i < 100; i++) {
        const struct as_row_line row = {.source_file_id = file, .number = i + 1};

        AS_TRY(as_experiment_add_line(e, &row, &line[i + 1], err));
    }
    const struct {
        struct as_row_function row;
        int64_t *id;
    } function[] = {
        {{.module_id = p->module[0], .name = "main", .address = as_known(0x1000)}, &p->main},
        {{.module_id = p->module[0],
          .name = FORCE,
          .linkage_name = "_ZN10simulation9PairForceIdE7computeEv",
          .address = as_known(0x2000),
          .line_id = line[40]},
         &c->force},
        {{.module_id = p->module[1],
          .name = "GOMP_barrier",
          .linkage_name = "GOMP_barrier",
          .address = as_known(0x100)},
         &c->barrier},
        {{.module_id = p->module[2], .name = "[unknown]"}, &p->unknown},
    };
    for (size_t i = 0; i < sizeof function / sizeof *function; i++)
        AS_TRY(as_experiment_add_function(e, &function[i].row, function[i].id, err));
    const struct as_row_loop loop = {.function_id = c->force,
                                     .address = 0x2040,
                                     .depth = 1,
                                     .is_innermost = true,
                                     .role = "main",
                                     .first_line_id = line[44],
                                     .last_line_id = line[51]};
    return as_experiment_add_loop(e, &loop, NULL, err);
}

static int add_inlined(struct as_experiment *e, const struct code *p, const char *name,
                       struct as_row_inlining row, int64_t *id, struct as_error *err)
{
    const struct as_row_function function = {
        .module_id = p->module[0], .name = name, .known_from = "inlined"};

    AS_TRY(as_experiment_add_function(e, &function, &row.inlined_id, err));
    return as_experiment_add_inlining(e, &row, id, err);
}

static int fill_inlined(struct as_experiment *e, const struct cxx *c, struct code *p,
                        const int64_t *line, struct as_error *err)
{
    struct as_row_inlining row = {.function_id = p->main, .call_line_id = line[12]};
    int64_t distance;

    AS_TRY(add_inlined(e, p, "run_step", row, &p->step, err));
    row = (struct as_row_inlining){.function_id = c->force, .call_line_id = line[46]};
    AS_TRY(add_inlined(e, p, "distance(a; b)\x1b[2J", row, &distance, err));
    row = (struct as_row_inlining){
        .function_id = c->force, .parent_id = distance, .call_line_id = line[20]};
    return add_inlined(e, p, "norm", row, &p->norm, err);
}

static int fill_places(struct as_experiment *e, const struct cxx *c, struct code *p,
                       const int64_t *line, struct as_error *err)
{
    const struct {
        struct as_row_location row;
        int64_t *id;
    } at[] = {
        {{p->module[0], 0x1010, p->main, 0, 0, line[5], p->step}, &p->call_force[0]},
        {{p->module[0], 0x1020, p->main, 0, 0, line[6], p->step}, &p->call_force[1]},
        {{p->module[0], 0x1030, p->main, 0, 0, line[14], 0}, &p->call_barrier},
        {{p->module[0], 0x2044, c->force, 1, 0, line[30], p->norm}, &p->in_norm},
        {{p->module[0], 0x2010, c->force, 0, 0, line[42], 0}, &p->in_force},
        {{p->module[1], 0x110, c->barrier, 0, 0, 0, 0}, &p->in_barrier},
        {{p->module[2], 0x999, 0, 0, 0, 0, 0}, &p->in_unknown},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        AS_TRY(as_experiment_add_location(e, &at[i].row, at[i].id, err));
    return 0;
}

static int fill_paths(struct as_experiment *e, const struct cxx *c, struct code *p,
                      struct as_error *err)
{
    struct as_row_callpath row = {
        .function_id = p->main, .category_id = p->category[0], .depth = 1};

    AS_TRY(as_experiment_add_callpath(e, &row, &p->path_main, err));
    row.parent_id = p->path_main;
    row.depth = 2;
    row.function_id = c->force;
    for (int i = 0; i < 2; i++) {
        row.call_location_id = p->call_force[i];
        AS_TRY(as_experiment_add_callpath(e, &row, &p->path_force[i], err));
    }
    row.call_location_id = p->call_barrier;
    row.function_id = p->unknown;
    AS_TRY(as_experiment_add_callpath(e, &row, &p->path_unknown, err));
    row.function_id = c->barrier;
    row.category_id = p->category[1];
    return as_experiment_add_callpath(e, &row, &p->path_barrier, err);
}

static int fill_samples(struct as_experiment *e, const struct cxx *c, const struct code *p,
                        struct as_error *err)
{
    const struct {
        int64_t path, location, n[4];
    } at[] = {
        {p->path_force[0], p->in_norm, {400, 300, 200, 100}},
        {p->path_force[0], p->in_force, {100, 100, 100, 100}},
        {p->path_force[1], p->in_force, {25, 25, 25, 25}},
        {p->path_barrier, p->in_barrier, {0, 100, 200, 300}},
        {p->path_unknown, p->in_unknown, {50, 50, 50, 50}},
    };

    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (int t = 0; t < 4; t++) {
            const struct as_row_sample row = {.thread_id = c->thread[t],
                                              .callpath_id = at[i].path,
                                              .location_id = at[i].location,
                                              .n = at[i].n[t],
                                              .time_ns = at[i].n[t] * SAMPLE_NS};
            if (row.n)
                AS_TRY(as_experiment_add_sample(e, &row, err));
        }
    }
    const struct as_row_sample waiting = {.thread_id = c->thread[3],
                                          .callpath_id = p->path_barrier,
                                          .location_id = p->in_barrier,
                                          .state = AS_SAMPLE_BLOCKED,
                                          .n = 7,
                                          .time_ns = 200000000};
    return as_experiment_add_sample(e, &waiting, err);
}

int cxx_fill(struct as_experiment *e, struct cxx *c, struct as_error *err)
{
    struct code code = {0};
    int64_t line[101];

    AS_TRY(as_experiment_begin(e, err));
    AS_TRY(fill_run(e, c, err));
    AS_TRY(fill_modules(e, &code, err));
    AS_TRY(fill_functions(e, c, &code, line, err));
    AS_TRY(fill_inlined(e, c, &code, line, err));
    AS_TRY(fill_places(e, c, &code, line, err));
    AS_TRY(fill_paths(e, c, &code, err));
    AS_TRY(fill_samples(e, c, &code, err));
    AS_TRY(as_experiment_commit(e, err));
    return as_experiment_summarise(e, c->run, err);
}
