/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures innermost loops of a binary as blocks. A loop body without branches is measured without
 * its closing branch; harness and prediction use dec and jnz in its place. The harness provides the
 * data, not the program.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/progress.h"
#include "validate/internal.h"

struct measuring {
    struct as_validation *v;
    struct as_meter *meter;
    const struct as_program *program;
};

static bool is_innermost(const struct as_loop *loop)
{
    return loop->level == AS_LEVEL_INNERMOST || loop->level == AS_LEVEL_SINGLE;
}

/* Returns why a loop cannot be a block, or NULL if it can. */
static const char *refuse_loop(const struct as_loop *loop)
{
    const unsigned unclear =
        AS_LOOP_IRREDUCIBLE | AS_LOOP_UNRESOLVED | AS_LOOP_UNREACHED | AS_LOOP_OUTSIZE;
    return loop->bits & unclear         ? "its control flow is not known"
           : loop->bits & AS_LOOP_CALLS ? "it calls"
                                        : NULL;
}

static const char *refuse_path(const struct as_code *path)
{
    if (path->n < 2)
        return "it has no instruction except its branch";
    for (size_t i = 0; i < path->n; i++) {
        const unsigned class = as_form_get(path->insn[i].form)->insn_class;
        const bool branches = class == AS_CLASS_BRANCH || class == AS_CLASS_JUMP;
        if (branches != (i + 1 == path->n))
            return branches ? "it has an exit in the middle" : "it does not end with its branch";
    }
    return NULL;
}

static int judge_body(const struct measuring *m, uint32_t loop, const uint8_t *bytes, size_t size_b,
                      struct as_error *err)
{
    struct as_cycles cycles;
    struct as_code code;
    struct as_str id = {0};
    AS_TRY(as_meter_block(m->meter, bytes, size_b, AS_METER_LOOP, &cycles, err));
    if (cycles.status != AS_METER_OK)
        return as_validation_leave_out(m->v, as_meter_status_text(cycles.status), err);
    if (cycles.page_n > AS_METER_NEAR_PAGES)
        return as_validation_leave_out(m->v, "its data do not stay in L1", err);
    const uint32_t body = m->program->loop[loop].body, header = m->program->loop[loop].header;
    as_str_appendf(&id, "%s:0x%" PRIx64, m->program->body[body].name,
                   m->program->block[header].start);
    /* address 0: the harness aligns the code */
    int rc = as_decode(bytes, size_b, 0, &code, err);
    if (rc == 0) {
        rc = as_validation_add(m->v, as_str_z(&id), cycles.cycles,
                               (cycles.high - cycles.low) / cycles.cycles, &code, bytes, size_b,
                               err);
        as_code_free(&code);
    }
    as_str_fini(&id);
    return rc;
}

static int measure_path(const struct measuring *m, uint32_t loop, const struct as_paths *paths,
                        struct as_error *err)
{
    struct as_code path;
    size_t size_b = 0;
    AS_TRY(as_path_code(m->program, paths, 0, &path, err));
    const char *why = refuse_path(&path);
    const uint8_t *bytes = why ? NULL : as_path_bytes(m->program, &path, &size_b);
    if (!why && !bytes)
        why = "it is not contiguous";
    const size_t branch_b = path.n ? path.insn[path.n - 1].length : 0;
    as_code_free(&path);
    return why ? as_validation_leave_out(m->v, why, err)
               : judge_body(m, loop, bytes, size_b - branch_b, err);
}

static int measure_loop(const struct measuring *m, uint32_t loop, struct as_error *err)
{
    struct as_paths paths;
    const char *why = refuse_loop(&m->program->loop[loop]);
    if (why)
        return as_validation_leave_out(m->v, why, err);
    AS_TRY(as_loop_paths(m->program, loop, AS_PATH_LIMIT, &paths, err));
    const int rc = paths.path_n != 1 || paths.merged
                       ? as_validation_leave_out(m->v, "it has several paths", err)
                       : measure_path(m, loop, &paths, err);
    as_paths_free(&paths);
    return rc;
}

int as_validation_binary(struct as_validation *v, struct as_meter *meter,
                         const struct as_program *program, const bool *chosen,
                         const struct as_validation_progress *progress, struct as_error *err)
{
    const struct measuring m = {v, meter, program};
    const bool equal = v->options.equal_memory;
    struct as_progress line;
    int rc = 0;
    as_progress_begin(&line, progress->fd, "measuring loops", program->loop_n);
    v->options.equal_memory = true; /* the harness fills all memory with equal values */
    for (uint32_t i = 0; rc == 0 && i < program->loop_n; i++) {
        if (progress->stop && *progress->stop)
            break;
        if (is_innermost(&program->loop[i]) && (!chosen || chosen[program->loop[i].body]))
            rc = measure_loop(&m, i, err);
        as_progress_add(&line, 1);
    }
    v->options.equal_memory = equal;
    as_progress_end(&line);
    return rc;
}
