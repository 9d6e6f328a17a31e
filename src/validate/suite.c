/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite of compiled loops. Each function is single-stepped to count the executions of every
 * block. The counts give the iterations of its loop and the paths taken. It is then measured at
 * several lengths and placements, and predicted path by path.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "validate/suite.h"

/* Two lengths in elements for counting; and the min share of all instructions of an iteration
 * that must be in the judged loop. */
enum { COUNT_SHORTER = 256, COUNT_LONGER = 512 };
#define LOOP_SHARE 0.99
/* Cycles that differ more between placements are too uncertain to judge a prediction. */
#define SPREAD_MOST 0.05

struct trying {
    struct as_validation *v;
    struct as_meter *meter;
    struct as_suite_arrays *arrays;
    const struct as_suite_library *library;
    struct as_program *program;
    /* by block of the program: executions at the longer length minus those at the shorter one */
    double *executed;
};

/* ---- Choice of the loop, counts ------------------------------------------------------------- */

static unsigned element_b(const struct as_suite_library *library)
{
    return strstr(library->build->options, "-DT=float") ? sizeof(float) : sizeof(double);
}

/* Counts the executions of a body's blocks at both lengths, and stores the difference. */
static int count_body(struct trying *t, const struct as_body *body,
                      const struct as_suite_work *work, uint64_t loaded_at,
                      enum as_meter_status *status, struct as_error *err)
{
    const struct as_block *block = &t->program->block[body->first_block];
    const struct as_block *last = &block[body->blocks - 1];
    const size_t size_b = (size_t)(last->start + last->size_b - block->start);
    const struct as_meter_work counted = {as_suite_run, (void *)(uintptr_t)work, 1};
    uint32_t *count = as_calloc(size_b + 1, 2 * sizeof *count), *longer = count + size_b;
    if (!count)
        return as_error_nomem(err, "counts of instructions");
    int rc = as_meter_count(&counted, false, loaded_at + block->start, size_b, count, status, err);
    if (rc == 0 && *status == AS_METER_OK)
        rc = as_meter_count(&counted, true, loaded_at + block->start, size_b, longer, status, err);
    for (uint32_t i = 0; i < body->blocks; i++) {
        const size_t at = (size_t)(block[i].start - block->start);
        t->executed[body->first_block + i] = (double)longer[at] - (double)count[at];
    }
    as_free(count);
    return rc;
}

/* Returns the loop with nearly all instructions of an iteration, or AS_NONE if no single loop
 * has. */
static uint32_t find_hot(const struct trying *t, const struct as_body *body)
{
    double all = 0, most = 0;
    uint32_t hot = AS_NONE;
    for (uint32_t i = 0; i < body->blocks; i++)
        all += t->executed[body->first_block + i] * t->program->block[body->first_block + i].insns;
    for (uint32_t i = body->first_loop; i < body->first_loop + body->loops; i++) {
        const struct as_loop *loop = &t->program->loop[i];
        double own = 0;
        if (loop->level != AS_LEVEL_INNERMOST && loop->level != AS_LEVEL_SINGLE)
            continue;
        for (uint32_t k = 0; k < loop->blocks; k++) {
            const uint32_t block = t->program->loop_block[loop->first_block + k];
            own += t->executed[block] * t->program->block[block].insns;
        }
        if (own > most) {
            most = own;
            hot = i;
        }
    }
    return most >= LOOP_SHARE * all ? hot : AS_NONE;
}

/* ---- Prediction ------------------------------------------------------------------------------ */

static int predict_path(struct trying *t, const struct as_paths *paths, size_t path, double weight,
                        struct as_judged *judged, const uint8_t **bytes, size_t *size_b,
                        struct as_error *err)
{
    struct as_prediction out;
    struct as_code code;
    AS_TRY(as_path_code(t->program, paths, path, &code, err));
    const int rc = as_predict(t->v->predictor, &code, 0, code.n, &t->v->options, &out, err);
    if (rc == 0) {
        if (!judged->kinds || weight > 0.5)
            judged->bound = out.bound;
        judged->kinds |= as_judged_kinds(&code, out.bound);
        judged->predicted += weight * out.cycles;
        judged->address = code.insn[0].address;
        *bytes = as_path_bytes(t->program, &code, size_b);
    }
    as_code_free(&code);
    return rc;
}

/* Reduces the types of different paths to one: packed before scalar, scalar before integer. */
static uint32_t one_type(uint32_t kinds)
{
    const uint32_t packed = 1u << AS_JUDGED_FP_VECTOR, scalar = 1u << AS_JUDGED_FP_SCALAR;
    if (kinds & packed)
        kinds &= ~scalar;
    if (kinds & (packed | scalar))
        kinds &= ~(1u << AS_JUDGED_INTEGER);
    return kinds;
}

static int predict_hot(struct trying *t, uint32_t loop, struct as_judged *judged,
                       struct as_error *err)
{
    struct as_paths paths;
    const uint8_t *bytes = NULL;
    size_t size_b = 0, taken = 0;
    int rc = 0;
    AS_TRY(as_loop_paths(t->program, loop, 0, &paths, err));
    double *weight = paths.merged ? NULL : as_calloc(paths.path_n + 1, sizeof *weight);
    if (paths.merged)
        rc = as_validation_leave_out(t->v, "it has too many paths", err);
    else if (!weight)
        rc = as_error_nomem(err, "the paths of a loop");
    if (weight)
        as_path_weights(t->program, &paths, t->executed, weight);
    for (size_t i = 0; weight && rc == 0 && i < paths.path_n; i++)
        if (weight[i] > 0.001) {
            rc = predict_path(t, &paths, i, weight[i], judged, &bytes, &size_b, err);
            taken++;
        }
    judged->kinds = one_type(judged->kinds);
    if (rc == 0 && taken)
        rc = as_judged_push(t->v, judged, taken == 1 ? bytes : NULL, size_b, err);
    as_free(weight);
    as_paths_free(&paths);
    return rc;
}

/* ---- One function ---------------------------------------------------------------------------- */

/* Measures all steps of a loop at all placements. Ends with the status of the first failure. */
static int measure_steps(struct trying *t, struct as_suite_work *work, double per_element,
                         const long *length, double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1],
                         enum as_meter_status *status, struct as_error *err)
{
    for (unsigned place = 0; place < AS_SUITE_PLACES; place++) {
        as_suite_place(t->arrays, place);
        as_suite_fill(t->arrays, element_b(t->library));
        for (unsigned i = 0; i + 1 < AS_SUITE_LENGTHS; i++) {
            struct as_cycles cycles;
            work->shorter = length[i];
            work->longer = length[i + 1];
            const struct as_meter_work measured = {
                as_suite_run, work, per_element * (double)(work->longer - work->shorter)};
            AS_TRY(as_meter_work(t->meter, &measured, &cycles, err));
            *status = cycles.status;
            if (cycles.status != AS_METER_OK)
                return 0;
            step[place][i] = cycles.cycles;
        }
    }
    return 0;
}

static double blocks_executed(const struct trying *t, uint32_t loop)
{
    const struct as_loop *l = &t->program->loop[loop];
    double n = 0;
    for (uint32_t k = 0; k < l->blocks; k++)
        n += t->executed[t->program->loop_block[l->first_block + k]];
    return n;
}

static int measure_hot(struct trying *t, const char *id, unsigned array_n, uint32_t loop,
                       struct as_suite_work *work, struct as_error *err)
{
    const double elements = COUNT_LONGER - COUNT_SHORTER;
    const double per_element = t->executed[t->program->loop[loop].header] / elements;
    double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1];
    long length[AS_SUITE_LENGTHS];
    enum as_meter_status status;
    struct as_judged judged = {.id = id};
    as_suite_lengths(as_suite_room(t->arrays, array_n, element_b(t->library)), per_element,
                     blocks_executed(t, loop) / elements, length);
    AS_TRY(measure_steps(t, work, per_element, length, step, &status, err));
    if (status != AS_METER_OK)
        return as_validation_leave_out(t->v, as_meter_status_text(status), err);
    judged.measured = as_suite_estimate(length, step, &judged.spread);
    if (!(judged.measured > 0))
        return as_validation_leave_out(t->v, as_meter_status_text(AS_METER_NOISY), err);
    if (judged.spread > SPREAD_MOST)
        return as_validation_leave_out(
            t->v, "its cycles vary with the addresses of its arrays, by more than 5 %", err);
    return predict_hot(t, loop, &judged, err);
}

static int try_function(struct trying *t, const char *id, const struct as_body *body,
                        void *function, struct as_error *err)
{
    const char *number = strrchr(body->name, '_');
    struct as_suite_work work = {
        .arrays = t->arrays, .shorter = COUNT_SHORTER, .longer = COUNT_LONGER};
    enum as_meter_status status;
    memcpy(&work.loop, &function, sizeof function);
    as_suite_place(t->arrays, 0);
    as_suite_fill(t->arrays, element_b(t->library));
    AS_TRY(count_body(t, body, &work, (uint64_t)(uintptr_t)function - body->entry, &status, err));
    if (status != AS_METER_OK)
        return as_validation_leave_out(t->v, as_meter_status_text(status), err);
    const uint32_t loop = find_hot(t, body);
    if (loop == AS_NONE)
        return as_validation_leave_out(t->v, "the compiler made several loops of it, or none", err);
    if (t->program->loop[loop].bits & AS_LOOP_CALLS)
        return as_validation_leave_out(t->v, "it calls", err);
    return measure_hot(t, id, number ? (unsigned)(number[1] - '0') : 4, loop, &work, err);
}

/* ---- A library ------------------------------------------------------------------------------- */

/* Returns true for NAME_N, the name of a loop of the suite; symbols of the linker have other
 * names. */
static bool is_loop_name(const char *name)
{
    const char *number = strrchr(name, '_');
    return number && number > name && strlen(number) == 2 && number[1] >= '0' && number[1] <= '9';
}

static void id_of(const struct trying *t, const struct as_body *body, struct as_str *id)
{
    const char *number = strrchr(body->name, '_');
    as_str_clear(id);
    as_str_append(id, body->name, (size_t)(number - body->name));
    as_str_appendf(id, " %s %s", t->library->compiler, t->library->build->name);
}

struct asked_suite {
    bool (*wants)(void *context, const char *id);
    void *context;
    const struct as_validation_progress *progress;
    struct as_progress line;
};

static int try_library(struct trying *t, void *handle, struct asked_suite *asked,
                       struct as_error *err)
{
    struct as_str id = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->program->body_n; i++) {
        const struct as_body *body = &t->program->body[i];
        if (asked->progress->stop && *asked->progress->stop)
            break;
        if (!is_loop_name(body->name))
            continue;
        void *function = dlsym(handle, body->name);
        id_of(t, body, &id);
        if (function && (!asked->wants || asked->wants(asked->context, as_str_z(&id))))
            rc = try_function(t, as_str_z(&id), body, function, err);
        as_progress_add(&asked->line, 1);
    }
    as_str_fini(&id);
    return rc;
}

/* Returns true if a loop of the source is selected; other sources need not be compiled. */
static bool wants_any(const struct as_suite_library *library, const struct asked_suite *asked)
{
    bool any = !asked->wants;
    struct as_view name;
    for (const char *at = NULL; !any && as_suite_name_next(library->source, &at, &name);) {
        char id[128];
        snprintf(id, sizeof id, "%.*s %s %s", (int)name.n, name.p, library->compiler,
                 library->build->name);
        any = asked->wants(asked->context, id);
    }
    return any;
}

static int analyse_library(struct trying *t, struct asked_suite *asked, struct as_error *err)
{
    const struct as_program_options options = {.jobs = 1};
    struct as_object *object = NULL;
    AS_TRY(as_object_open(t->library->path, NULL, &object, err));
    int rc = as_program_new(object, &options, &t->program, err);
    void *handle = rc == 0 ? dlopen(t->library->path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (rc == 0) {
        t->executed = as_calloc(t->program->block_n + 1, sizeof *t->executed);
        if (!t->executed)
            rc = as_error_nomem(err, "counts of blocks");
        else if (!handle)
            rc = as_validation_leave_out(t->v, "its library cannot be loaded", err);
        else
            rc = try_library(t, handle, asked, err);
    }
    if (handle)
        dlclose(handle);
    as_free(t->executed);
    t->executed = NULL;
    as_program_free(&t->program);
    as_object_close(&object);
    return rc;
}

static size_t loop_number(void)
{
    size_t n = 0;
    struct as_view name;
    for (const struct as_suite_source *source = as_suite_sources; source->file; source++)
        for (const char *at = NULL; as_suite_name_next(source, &at, &name);)
            n++;
    return n;
}

int as_validation_suite(struct as_validation *v, struct as_meter *meter,
                        bool (*wants)(void *context, const char *id), void *context,
                        const struct as_validation_progress *progress, struct as_error *err)
{
    struct trying t = {.v = v, .meter = meter};
    struct asked_suite asked = {wants, context, progress, {0}};
    struct as_suite suite;
    size_t wanted_n = 0;
    int rc = as_suite_arrays_new(&t.arrays, err);
    if (rc == 0)
        rc = as_suite_open(&suite, err);
    else
        suite = (struct as_suite){0};
    as_progress_begin(&asked.line, progress->fd, "running loops",
                      suite.library_n * loop_number() * 2 / 3);
    for (size_t i = 0; rc == 0 && i < suite.library_n; i++) {
        if (progress->stop && *progress->stop)
            break;
        t.library = &suite.library[i];
        if (!wants_any(t.library, &asked))
            continue;
        wanted_n++;
        rc = as_suite_compile(&suite, t.library)
                 ? analyse_library(&t, &asked, err)
                 : as_validation_leave_out(v, "a compiler rejects the options of the build", err);
    }
    as_progress_end(&asked.line);
    if (rc == 0 && !wanted_n && !(progress->stop && *progress->stop))
        rc = as_suite_refuse(&suite, err);
    as_suite_close(&suite);
    as_suite_arrays_free(&t.arrays);
    return rc;
}
