/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass: which modules and loops of a run matter, opening their files, and writing what their
 * code says as values. Loops of the experiment and of the file meet by address and depth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <assay/quality.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "quality/detail.h"
#include "quality/metrics.h"

#define LEAST_SHARE 0.01
/* Of the run's time that a loop must have for the tables behind its figures to be kept. */
#define PAGE_SHARE "0.005"

enum metric { /* those that loops have, in the order of their names below */
              PATHS,
              STEERING,
              ACCESS,
              INDIRECT,
              STRIDED,
              UNIT,
              UNKNOWN,
              STEADY,
              PACKED,
              DIVIDES,
              CALLS,
              OPTIONS,
              METRIC_COUNT
};

static const char *const names[METRIC_COUNT] = {"flow_paths",
                                                "flow_steering_pct",
                                                "array_access_efficiency_pct",
                                                "access_indirect_n",
                                                "access_strided_n",
                                                "access_unit_n",
                                                "access_unknown_n",
                                                "access_steady_n",
                                                "fp_packed_pct",
                                                "fp_divide_n",
                                                "call_n",
                                                "compilation_options_pct"};

struct module {
    int64_t id;
    char *path;
    bool is_copy; /* `path` is one that the run kept */
    struct assay_file_identity file;
    double share;
};

struct loop {
    int64_t id;
    uint64_t address;
    uint32_t depth;
    bool wants_values, wants_page; /* page: hot enough for tables behind its figures */
};

struct pass {
    struct assay_experiment *experiment;
    int64_t run_id;
    const struct assay_quality_options *options;
    int64_t metric[METRIC_COUNT];
    struct as_arena arena;
    AS_VEC(struct module) module;
    AS_VEC(struct loop) loop; /* of the module at hand */
};

/* ---- What there is ------------------------------------------------------------------------- */

static int define_metrics(struct pass *p, struct assay_error *err)
{
    for (size_t i = 0; i < as_quality_metric_n; i++) {
        int64_t id;

        AS_TRY(assay_experiment_metric(p->experiment, &as_quality_metric[i].metric, &id, err));
        for (int k = 0; k < METRIC_COUNT; k++)
            if (strcmp(names[k], as_quality_metric[i].metric.name) == 0)
                p->metric[k] = id;
    }
    for (int k = 0; k < METRIC_COUNT; k++)
        if (!p->metric[k])
            return as_error_set(err, ASSAY_ERR_INTERNAL, "metric %s: is not in data/quality",
                                names[k]);
    return 0;
}

static char *keep(struct pass *p, const char *text)
{
    return as_arena_strndup(&p->arena, text ? text : "", text ? strlen(text) : 0);
}

/* A copy that the run kept is read before the file, which may have changed. */
static char *path_of(struct pass *p, const char *kept, const char *path)
{
    struct as_str full = {0};
    char *copy;

    if (!kept)
        return keep(p, path);
    as_str_appendf(&full, "%s/%s", assay_experiment_path(p->experiment), kept);
    copy = full.failed ? NULL : keep(p, as_str_z(&full));
    as_str_fini(&full);
    return copy;
}

/* Of hexadecimal digits; 0 bytes: none. */
static uint8_t id_of(const char *text, uint8_t out[20])
{
    uint8_t n = 0;

    for (; text && n < 20 && text[0] && text[1]; text += 2) {
        const char byte[] = {text[0], text[1], '\0'};

        out[n++] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return n;
}

/* What the columns behind the path say of the file that ran. */
static struct assay_file_identity identity_of(struct assay_rows *rows)
{
    struct assay_file_identity file = {.inode = (uint64_t)assay_rows_integer(rows, 5),
                                       .mtime_ns = assay_rows_integer(rows, 6),
                                       .size_b = (uint64_t)assay_rows_integer(rows, 7)};

    file.build_id_b = id_of(assay_rows_text(rows, 2), file.build_id);
    file.known = file.inode ? ASSAY_FILE_SEEN : ASSAY_FILE_UNSEEN;
    return file;
}

static int list_modules(struct pass *p, struct assay_error *err)
{
    const double least = p->options->share > 0 ? p->options->share : LEAST_SHARE;
    struct assay_rows *rows;
    int rc;

    AS_TRY(assay_rows_open(p->experiment,
                           "SELECT m.module_id, m.path, m.build_id, m.kept_path, t.exclusive_share,"
                           " m.inode, m.mtime_ns, m.size_b"
                           " FROM object_time t JOIN module m ON m.module_id = t.object_id"
                           " WHERE t.run_id = ?1 AND t.object_kind = 'module' AND m.kind IN"
                           " ('executable', 'shared') ORDER BY t.exclusive_ns DESC, m.module_id",
                           &rows, err));
    assay_rows_bind_integer(rows, 1, p->run_id);
    while ((rc = assay_rows_next(rows, err)) > 0) {
        const struct module it = {
            .id = assay_rows_integer(rows, 0),
            .path = path_of(p, assay_rows_text(rows, 3), assay_rows_text(rows, 1)),
            .is_copy = assay_rows_text(rows, 3) != NULL,
            .file = identity_of(rows),
            .share = assay_rows_real(rows, 4)};

        if (it.share < least)
            break;
        if (!it.path || as_vec_push(&p->module, it) < 0) {
            rc = as_error_nomem(err, "the modules of a run");
            break;
        }
    }
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Loops of a module that have samples, and no values yet, or no tables yet and are hot: perhaps for
 * the first time, in a run that joined others. */
static int list_loops(struct pass *p, int64_t module_id, struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    p->loop.n = 0;
    AS_TRY(assay_rows_open(
        p->experiment,
        "SELECT * FROM (SELECT l.loop_id, l.address, l.depth,"
        " NOT EXISTS (SELECT 1 FROM value v JOIN metric m USING (metric_id)"
        "             WHERE m.name = 'flow_paths' AND v.object_kind = 'loop'"
        "             AND v.object_id = l.loop_id AND v.run_id = 0) AS wants_values,"
        " t.exclusive_share >= " PAGE_SHARE
        " AND NOT EXISTS (SELECT 1 FROM detail d WHERE d.object_kind = 'loop'"
        "             AND d.object_id = l.loop_id AND d.name = 'mix') AS wants_page"
        " FROM object_time t"
        " JOIN loop l ON l.loop_id = t.object_id JOIN function f USING (function_id)"
        " WHERE t.run_id = ?1 AND t.object_kind = 'loop' AND t.exclusive_n > 0"
        " AND f.module_id = ?2) WHERE wants_values OR wants_page",
        &rows, err));
    assay_rows_bind_integer(rows, 1, p->run_id);
    assay_rows_bind_integer(rows, 2, module_id);
    while ((rc = assay_rows_next(rows, err)) > 0) {
        const struct loop it = {assay_rows_integer(rows, 0), (uint64_t)assay_rows_integer(rows, 1),
                                (uint32_t)assay_rows_integer(rows, 2),
                                assay_rows_integer(rows, 3) != 0, assay_rows_integer(rows, 4) != 0};

        if (as_vec_push(&p->loop, it) < 0) {
            rc = as_error_nomem(err, "the loops of a run");
            break;
        }
    }
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Values of loops ----------------------------------------------------------------------- */

static int set(const struct pass *p, enum metric metric, int64_t loop_id,
               struct assay_quantity quantity, struct assay_error *err)
{
    const struct assay_subject loop = {.kind = ASSAY_OBJECT_LOOP, .object_id = loop_id};

    return assay_experiment_value(p->experiment, p->metric[metric], &loop, quantity, err);
}

static int count(const struct pass *p, enum metric metric, int64_t loop_id, double n,
                 struct assay_error *err)
{
    return set(p, metric, loop_id, assay_exact(n, 1), err);
}

static int write_loop(const struct pass *p, int64_t id, const struct assay_loop_facts *facts,
                      struct assay_error *err)
{
    const uint32_t fp_n = facts->fp_packed_n + facts->fp_scalar_n;
    const uint32_t *stream = facts->stream_n;

    AS_TRY(count(p, PATHS, id, (double)facts->path_n, err));
    if (facts->insn_n)
        AS_TRY(count(p, STEERING, id, 100.0 * facts->steer_n / facts->insn_n, err));
    if (facts->access >= 0)
        AS_TRY(set(p, ACCESS, id,
                   assay_derived(100 * facts->access, 100 * fmin(facts->access_low, facts->access),
                                 100 * fmax(facts->access_high, facts->access), 1),
                   err));
    AS_TRY(count(p, INDIRECT, id, stream[ASSAY_STRIDE_INDIRECT], err));
    AS_TRY(count(p, STRIDED, id, stream[ASSAY_STRIDE_CONSTANT], err));
    AS_TRY(count(p, UNIT, id, stream[ASSAY_STRIDE_ZERO] + stream[ASSAY_STRIDE_UNIT], err));
    AS_TRY(count(p, UNKNOWN, id, stream[ASSAY_STRIDE_UNKNOWN] - facts->steady_n, err));
    AS_TRY(count(p, STEADY, id, facts->steady_n, err));
    if (fp_n)
        AS_TRY(count(p, PACKED, id, 100.0 * facts->fp_packed_n / fp_n, err));
    AS_TRY(count(p, DIVIDES, id, facts->fp_divide_n, err));
    return count(p, CALLS, id, facts->call_n, err);
}

static uint64_t key_of(uint64_t address, uint32_t depth)
{
    return address * 31 + depth; /* a clash is found below */
}

static int map_loops(const struct assay_program *program, struct as_map_u64 *map)
{
    for (uint32_t i = 0; i < program->loop_n; i++) {
        const struct assay_loop *loop = &program->loop[i];
        const uint64_t address = program->block[loop->header].start;

        if (as_map_u64_put(map, key_of(address, loop->depth), i) < 0)
            return ASSAY_ERR_NOMEM;
    }
    return 0;
}

static int write_loops(const struct pass *p, const struct assay_program *program,
                       struct assay_error *err)
{
    struct as_map_u64 map;
    int rc;

    as_map_u64_init(&map);
    rc = map_loops(program, &map) < 0 ? as_error_nomem(err, "the loops of a run") : 0;
    for (size_t i = 0; i < p->loop.n && rc == 0; i++) {
        const struct loop *it = &p->loop.at[i];
        const uint32_t at = as_map_u64_get(&map, key_of(it->address, it->depth));
        struct assay_loop_facts facts;

        if (at == AS_MAP_NONE || program->loop[at].depth != it->depth ||
            program->block[program->loop[at].header].start != it->address)
            continue;
        if (it->wants_values) {
            rc = assay_quality_loop(program, at, &facts, err);
            if (rc == 0)
                rc = write_loop(p, it->id, &facts, err);
        }
        if (rc == 0 && it->wants_page)
            rc = as_quality_details(p->experiment, it->id, program, at, err);
    }
    as_map_u64_fini(&map);
    return rc;
}

/* ---- Modules ------------------------------------------------------------------------------- */

static int say_unread(const struct pass *p, const struct module *module, const char *why,
                      struct assay_error *err)
{
    const struct assay_flag flag = {.run_id = p->run_id,
                                    .kind = ASSAY_OBJECT_MODULE,
                                    .object_id = module->id,
                                    .name = "code_not_read",
                                    .text = why,
                                    .n = 1};

    return assay_experiment_flag(p->experiment, &flag, err);
}

/* A copy is another file than the one that ran: it has the build-id, if any, and nothing more. */
static int open_code(const struct pass *p, const struct module *module, struct assay_object **out,
                     struct assay_error *why)
{
    if (module->is_copy && !module->file.build_id_b)
        return assay_object_open(module->path, p->options->open, out, why);
    return assay_object_open_same(module->path, &module->file, p->options->open, out, why);
}

static int read_code(const struct pass *p, const struct module *module, struct assay_error *err)
{
    const struct assay_program_options how = {.jobs = p->options->jobs,
                                              .path_limit = ASSAY_PATH_LIMIT};
    struct assay_program *program = NULL;
    struct assay_object *object = NULL;
    struct assay_error why;
    int rc;

    if (open_code(p, module, &object, &why) < 0)
        return say_unread(p, module, why.text, err);
    rc = assay_program_new(object, &how, &program, err);
    if (rc == 0)
        rc = write_loops(p, program, err);
    assay_program_free(&program);
    assay_object_close(&object);
    return rc;
}

static int look_at_modules(struct pass *p, struct assay_error *err)
{
    for (size_t i = 0; i < p->module.n; i++) {
        if (p->options->progress)
            p->options->progress(p->options->context, "reading hot code", i, p->module.n);
        AS_TRY(list_loops(p, p->module.at[i].id, err));
        if (p->loop.n)
            AS_TRY(read_code(p, &p->module.at[i], err));
    }
    return 0;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static int score_functions(struct pass *p, struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    AS_TRY(assay_rows_open(
        p->experiment,
        "SELECT f.function_id, u.compiler, u.compiler_version, u.flags"
        " FROM object_time t JOIN function f ON f.function_id = t.object_id"
        " JOIN unit u USING (unit_id)"
        " WHERE t.run_id = ?1 AND t.object_kind = 'function' AND u.flags IS NOT NULL",
        &rows, err));
    assay_rows_bind_integer(rows, 1, p->run_id);
    while ((rc = assay_rows_next(rows, err)) > 0) {
        struct assay_options_score score;

        assay_score_options(assay_rows_text(rows, 1), assay_rows_text(rows, 2),
                            assay_rows_text(rows, 3), &score);
        if (score.score < 0)
            continue;
        const struct assay_subject function = {.kind = ASSAY_OBJECT_FUNCTION,
                                               .object_id = assay_rows_integer(rows, 0)};

        rc = assay_experiment_value(p->experiment, p->metric[OPTIONS], &function,
                                    assay_exact(100 * score.score, 1), err);
        if (rc < 0)
            break;
    }
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int look(struct pass *p, struct assay_error *err)
{
    AS_TRY(define_metrics(p, err));
    AS_TRY(list_modules(p, err));
    AS_TRY(look_at_modules(p, err));
    return score_functions(p, err);
}

int assay_quality_run(struct assay_experiment *experiment, int64_t run_id,
                      const struct assay_quality_options *options, struct assay_error *err)
{
    static const struct assay_quality_options defaults;
    struct pass p = {
        .experiment = experiment, .run_id = run_id, .options = options ? options : &defaults};
    int rc;

    as_arena_init(&p.arena);
    rc = assay_experiment_begin(experiment, err);
    if (rc == 0) {
        rc = look(&p, err);
        if (rc == 0)
            rc = assay_experiment_commit(experiment, err);
        else
            assay_experiment_rollback(experiment);
    }
    as_vec_fini(&p.module);
    as_vec_fini(&p.loop);
    as_arena_fini(&p.arena);
    return rc;
}
