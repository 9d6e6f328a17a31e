/* SPDX-License-Identifier: Apache-2.0 */
#include "story.h"

#include <math.h>

#include "advise/advise.h"
#include "place.h"

struct place_of {
    const char *name;
    int64_t path, location, depth, function, module;
};

static int64_t add_category(struct as_experiment *e, const char *name)
{
    const struct as_row_category row = {.name = name, .title = name};
    int64_t id;

    fine(as_experiment_add_category(e, &row, &id, err));
    return id;
}

static int64_t add_function(struct as_experiment *e, const struct story_code *code, int number,
                            int64_t *module_id)
{
    const bool in_kernel = strcmp(code->category, "kernel") == 0;
    const char *path = code->module ? code->module : in_kernel ? "[kernel]" : "/opt/program";
    const char *name = strrchr(path, '/');
    const struct as_row_module module = {.path = path,
                                         .name = name ? name + 1 : path,
                                         .kind = in_kernel ? "kernel" : "executable",
                                         .has_debug = as_known(!code->no_debug)};
    struct as_row_unit unit = {.name = "a.c",
                               .compiler = code->flags ? "gcc" : "gas",
                               .language = code->language,
                               .flags = code->flags};
    struct as_row_function function = {.name = code->name,
                                       .linkage_name = code->is_linked ? "it's" : NULL};
    int64_t id;

    fine(as_experiment_add_module(e, &module, module_id, err));
    unit.module_id = function.module_id = *module_id;
    if (code->flags || code->language)
        fine(as_experiment_add_unit(e, &unit, &function.unit_id, err));
    if (strcmp(code->name, "[unknown]") != 0)
        function.address = as_known(0x1000 * (number + 1));
    fine(as_experiment_add_function(e, &function, &id, err));
    return id;
}

/* The place of `name` among those before `number`. */
static struct place_of place_of(const struct place_of *before, int number, const char *name)
{
    for (int i = 0; name && i < number; i++)
        if (strcmp(before[i].name, name) == 0)
            return before[i];
    return (struct place_of){0};
}

static struct place_of add_code(struct as_experiment *e, const struct story_code *code,
                                const struct place_of *before, int number)
{
    const struct place_of caller = place_of(before, number, code->under);
    struct as_row_location location = {.address = 0x1000 * (number + 1) + 4};
    const struct as_row_source_file source = {.path = "/src/a.c"};
    struct as_row_loop loop = {.address = 0x1000 * (number + 1),
                               .depth = code->depth ? code->depth : 1,
                               .is_innermost = true,
                               .instruction_n =
                                   as_known(code->instruction_n ? code->instruction_n : 9)};
    struct as_row_line line = {.number = 10 * (number + 1)};
    struct as_row_callpath path = {.depth = caller.depth + 1, .parent_id = caller.path};
    struct place_of out = {.name = code->name, .depth = path.depth};

    path.category_id = add_category(e, code->category);
    if (code->is_of_before)
        out = before[number - 1];
    else
        out.function = add_function(e, code, number, &out.module);
    path.function_id = location.function_id = loop.function_id = out.function;
    location.module_id = out.module;
    if (code->in_loop) {
        fine(as_experiment_add_source_file(e, &source, &line.source_file_id, err));
        fine(as_experiment_add_line(e, &line, &loop.first_line_id, err));
        fine(as_experiment_add_loop(e, &loop, &location.loop_id, err));
    }
    fine(as_experiment_add_location(e, &location, &out.location, err));
    if (!code->is_of_before || code->under)
        fine(as_experiment_add_callpath(e, &path, &out.path, err));
    return out;
}

static int64_t ms_of(const struct story_code *code, int i)
{
    if (code->only && code->only != i + 1)
        return 0;
    return code->is_uneven ? code->ms / (i + 1) : code->ms;
}

static void add_samples(struct as_experiment *e, const struct story_code *code, struct place_of at,
                        int64_t thread_id, int i)
{
    const int64_t ms = ms_of(code, i);
    const struct as_row_sample runs = {thread_id,         at.path, at.location,
                                       AS_SAMPLE_RUNNING, ms,      ms * MS};
    const int64_t waited_ms = code->only && code->only != i + 1 ? 0 : code->blocked_ms;
    const struct as_row_sample waits = {thread_id,         at.path, at.location,
                                        AS_SAMPLE_BLOCKED, 1,       waited_ms * MS};

    if (runs.n)
        fine(as_experiment_add_sample(e, &runs, err));
    if (waits.time_ns)
        fine(as_experiment_add_sample(e, &waits, err));
}

/* Which part of the work is its, `share` says. */
static void add_thread(struct as_experiment *e, const struct story *story,
                       const struct place_of *at, int64_t process_id, int i, int share)
{
    struct as_row_thread row = {.process_id = process_id,
                                .tid = 100 + i,
                                .omp_thread = {i, !story->no_openmp},
                                .end_ns = as_known(story->wall_ms * MS),
                                .cpu_migration_n = as_known(story->migration_n),
                                .runnable_ns = as_known(story->queued_ms * MS),
                                .lost_n = i ? 0 : story->lost_n};
    int64_t cpu_ms = 0, blocked_ms = 0, id;

    for (int k = 0; k < STORY_CODE_N && story->code[k].name; k++) {
        cpu_ms += ms_of(&story->code[k], share);
        if (!story->code[k].only || story->code[k].only == share + 1)
            blocked_ms += story->code[k].blocked_ms;
    }
    row.cpu_ns = as_known(cpu_ms * MS);
    row.blocked_ns = as_known(blocked_ms * MS);
    fine(as_experiment_add_thread(e, &row, &id, err));
    for (int k = 0; k < STORY_CODE_N && story->code[k].name; k++)
        add_samples(e, &story->code[k], at[k], id, share);
}

/* Options are values of functions, what operands do those of one run. */
static struct as_subject subject_of(const char *metric, int number)
{
    const bool of_run =
        strncmp(metric, "operand_", 8) == 0 || strcmp(metric, "branch_stall_pct") == 0 ||
        strcmp(metric, "data_branch_n") == 0 || strcmp(metric, "mispredict_cy") == 0 ||
        strcmp(metric, "loop_model_ratio") == 0;
    const bool of_function =
        strncmp(metric, "option_", 7) == 0 || strncmp(metric, "given_", 6) == 0;

    return (struct as_subject){.kind = of_function ? AS_OBJECT_FUNCTION : AS_OBJECT_LOOP,
                               .object_id = number,
                               .run_id = of_run};
}

static void add_metrics(struct as_experiment *e, const struct story *story)
{
    for (int i = 0; i < STORY_METRIC_N && story->metric[i].name; i++) {
        const struct as_metric metric = {.name = story->metric[i].name,
                                         .unit = "1",
                                         .meaning = "m",
                                         .formula = "f",
                                         .better = AS_BETTER_LOWER};
        int64_t id;

        fine(as_experiment_metric(e, &metric, &id, err));
        for (int k = 1; k <= (story->loop_n ? story->loop_n : 1); k++) {
            const struct as_subject of = subject_of(metric.name, k);

            fine(as_experiment_value(e, id, &of, as_value_exact(story->metric[i].value, 1), err));
        }
    }
}

static struct as_number known_if(int64_t value)
{
    return value ? as_known(value) : (struct as_number){0};
}

static void add_accesses(struct as_experiment *e, const struct story *story)
{
    const struct as_row_data_object block = {.kind = "block",
                                             .size_b = as_known(story->object_mib << 20)};
    struct as_row_loop_object object = {.run_id = 1,
                                        .loop_id = 1,
                                        .access = "load",
                                        .share = 1,
                                        .object_n = 1,
                                        .touched_b = story->object_mib << 20,
                                        .huge_share = (double)story->huge_pct / 100,
                                        .sample_n = 30};

    for (int i = 0; i < STORY_ACCESS_N && story->access[i].variable; i++) {
        const struct story_access *at = &story->access[i];
        struct as_row_loop_access row = {.run_id = 1,
                                         .loop_id = 1,
                                         .address = i,
                                         .access = "load",
                                         .width_b = 8,
                                         .array = i,
                                         .stride = "constant",
                                         .stride_b = as_known(at->stride_b),
                                         .stride_share = (double)NAN,
                                         .sample_n = 30,
                                         .line_used_pct = at->use_pct,
                                         .split_share = (double)NAN,
                                         .reuse = at->reuse,
                                         .reuse_loop_id = at->reuse ? 1 : 0,
                                         .reuse_b = known_if(at->reuse_b),
                                         .variable = at->variable,
                                         .member = at->member,
                                         .element_b = known_if(at->element_b)};
        fine(as_experiment_add_loop_access(e, &row, err));
        if (!at->is_stored)
            continue;
        row.loop_id = 2;
        row.access = "store";
        fine(as_experiment_add_loop_access(e, &row, err));
    }
    if (!story->object_mib)
        return;
    fine(as_experiment_add_data_object(e, &block, &object.data_object_id, err));
    fine(as_experiment_add_loop_object(e, &object, err));
}

static void add_data(struct as_experiment *e, const struct story *story)
{
    const struct as_row_loop_data row = {.run_id = 1,
                                         .loop_id = 1,
                                         .iteration_n = 1000,
                                         .entry_b = as_known(64000),
                                         .near_level = known_if(story->near_level),
                                         .far_level = known_if(story->far_level),
                                         .cache_n = as_known(3),
                                         .set_n = known_if(story->set_n)};

    const struct as_row_loop_sharing sharing = {
        .run_id = 1, .loop_id = 1, .line_n = 1, .thread_n = 2, .gap_b = 8, .share = story->shared};

    const struct as_row_machine_figure figure[] = {
        {.host_id = 1, .name = "bandwidth.read.memory.core", .value = 20e9, .unit = "B/s"},
        {.host_id = 1, .name = "bandwidth.triad.L2.core", .value = 50e9, .unit = "B/s"},
        {.host_id = 1, .name = "latency.memory.small", .value = 200, .unit = "ns"},
        {.host_id = 1, .name = "latency.memory.huge", .value = 150, .unit = "ns"},
        {.host_id = 1, .name = "frequency.add.f64.scalar.core", .value = 3e9, .unit = "Hz"}};

    for (size_t i = 0; i < sizeof figure / sizeof *figure && story->near_level; i++) {
        struct as_row_machine_figure one = figure[i];
        one.confidence = "high";
        fine(as_experiment_add_machine_figure(e, &one, err));
    }
    if (story->shared > 0)
        fine(as_experiment_add_loop_sharing(e, &sharing, err));
    if (story->near_level || story->far_level)
        fine(as_experiment_add_loop_data(e, &row, err));
}

static void add_run(struct as_experiment *e, const struct story *story)
{
    const struct as_row_host host = {.name = "h", .cpu_n = as_known(story->cpu_n)};
    struct as_row_run run = {.kind = "profile",
                             .command = "./program",
                             .state = "complete",
                             .call_stacks = story->call_stacks ? story->call_stacks : "fp",
                             .wall_ns = as_known(story->wall_ms * MS),
                             .exit_code = as_known(story->exit_code),
                             .exit_signal = as_known(story->exit_signal),
                             .fault_minor_n = as_known(story->fault_n),
                             .resident_max_b = as_known(story->resident_mib << 20),
                             .overhead_ns = as_known(story->overhead_ms * MS)};
    struct as_row_host_fact fact = {.name = "transparent_huge_pages", .value = story->huge_pages};
    int64_t busy_ms = story->others_ms;

    for (int i = 0; i < STORY_CODE_N && story->code[i].name; i++)
        busy_ms += story->code[i].ms * (story->thread_n ? story->thread_n : 1);
    run.host_busy_ns = as_known(busy_ms * MS);
    fine(as_experiment_add_host(e, &host, &run.host_id, err));
    fact.host_id = run.host_id;
    if (story->huge_pages)
        fine(as_experiment_add_host_fact(e, &fact, err));
    fact.name = "tlb_n";
    fact.value = "2048";
    if (story->huge_pages)
        fine(as_experiment_add_host_fact(e, &fact, err));
    if (story->cache) {
        fact.name = "cache_l3";
        fact.value = story->cache;
        fine(as_experiment_add_host_fact(e, &fact, err));
        fact.name = "cache_l2";
        fact.value = "512K";
        fine(as_experiment_add_host_fact(e, &fact, err));
    }
    fine(as_experiment_add_run(e, &run, NULL, err));
    if (story->flag)
        fine(as_experiment_flag(e,
                                &(struct as_flag){.run_id = 1,
                                                  .kind = AS_OBJECT_RUN,
                                                  .object_id = 1,
                                                  .name = story->flag,
                                                  .text = "told",
                                                  .n = 1},
                                err));
}

struct as_experiment *story_tell(const struct story *story)
{
    struct as_experiment *e;
    struct place_of at[STORY_CODE_N];

    fine(as_experiment_transient(&e, err));
    fine(as_experiment_begin(e, err));
    add_run(e, story);
    for (int i = 0; i < STORY_CODE_N && story->code[i].name; i++)
        at[i] = add_code(e, &story->code[i], at, i);
    for (int rank = 0; rank < (story->rank_n ? story->rank_n : 1); rank++) {
        struct as_row_process process = {.run_id = 1, .pid = 100 + rank};
        int64_t process_id;

        if (story->rank_n)
            process.rank = as_known(rank);
        fine(as_experiment_add_process(e, &process, &process_id, err));
        for (int i = 0; i < (story->thread_n ? story->thread_n : 1); i++)
            add_thread(e, story, at, process_id, i, story->thread_n ? i : rank);
    }
    add_metrics(e, story);
    add_data(e, story);
    add_accesses(e, story);
    fine(as_experiment_commit(e, err));
    fine(as_experiment_summarise(e, 1, err));
    fine(as_advise_run(e, 1, err));
    return e;
}
