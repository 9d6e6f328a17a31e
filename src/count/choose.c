/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the functions and loops to count: the hottest ones, or the named ones. */
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/untrusted_open.h"
#include "count/counted.h"
#include "vprof/hot.h"

#define TOP_USUAL 16u
#define NAME_MOST 1024

struct choosing {
    struct as_block_counting *counting;
    regex_t functions, loops;
    bool by_functions, by_loops;
    bool any_function, any_loop; /* matched */
};

/* ---- Modules ------------------------------------------------------------------------------- */

static const char modules_sql[] =
    "SELECT m.module_id, m.kind FROM module m WHERE m.kind IN ('executable', 'shared')"
    " AND m.module_id IN (SELECT g.module_id FROM mapping g JOIN process p USING (process_id)"
    "  WHERE p.run_id = ?1 UNION SELECT object_id FROM object_time WHERE run_id = ?1"
    "  AND object_kind = 'module') ORDER BY m.module_id";

static int add_counted_module(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_block_counting *counting = ((struct choosing *)context)->counting;
    const struct as_counted_module it = {.id = as_rows_integer(row, 0),
                                         .is_executable =
                                             strcmp(as_rows_text(row, 1), "executable") == 0,
                                         .planned = AS_NONE};
    return as_vec_push(&counting->module, it) < 0 ? as_error_nomem(err, "modules to count") : 0;
}

/*
 * Reads the executables of the run, even those without samples. A run of milliseconds has few
 * samples, and its program may occur in call stacks only.
 */
static const char executables_sql[] =
    "SELECT DISTINCT exe FROM process WHERE run_id = ?1 AND exe IS NOT NULL ORDER BY process_id";

static int add_counted_executable(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_block_counting *counting = ((struct choosing *)context)->counting;
    struct as_catalogue_request request = {
        .file = {.path = as_rows_text(row, 0), .kind = AS_MODULE_FILE},
        .share = 1,
        .depth = AS_CATALOGUE_ANALYSED};
    struct as_counted_module it = {.is_executable = true, .planned = AS_NONE};
    const int fd = as_foreign_open(AT_FDCWD, request.file.path, 0, NULL);
    const bool is_known = fd >= 0 && as_file_identify(fd, &request.file.file);
    if (fd >= 0)
        close(fd);
    if (!is_known) /* gone: nothing can be counted in it */
        return 0;
    AS_TRY(as_catalogue_open(counting->catalogue, &request, &it.code, err));
    int rc = as_catalogue_row(it.code, &it.id, err);
    const bool is_new = rc == 0 && !as_vec_find(&counting->module, id, it.id);
    if (is_new && as_vec_push(&counting->module, it) < 0)
        rc = as_error_nomem(err, "modules to count");
    if (!is_new || rc < 0)
        as_catalogue_close(counting->catalogue, &it.code);
    return rc;
}

/* Opens the code of a module; no object of it is chosen yet. */
static int open_code(struct as_block_counting *counting, struct as_counted_module *module,
                     struct as_error *err)
{
    if (!module->code)
        AS_TRY(as_catalogue_open_row(counting->catalogue, module->id, 1, AS_CATALOGUE_ANALYSED,
                                     &module->code, err));
    const struct as_program *p = module->code->program;
    if (!p)
        return 0;
    module->body = as_calloc(p->body_n + 1, sizeof *module->body);
    module->loop = as_calloc(p->loop_n + 1, sizeof *module->loop);
    module->refusal = as_calloc(p->body_n + 1, sizeof *module->refusal);
    module->verdict = as_calloc(p->loop_n + 1, sizeof *module->verdict);
    module->body_object = as_calloc(p->body_n + 1, sizeof *module->body_object);
    module->loop_object = as_calloc(p->loop_n + 1, sizeof *module->loop_object);
    if (!module->body || !module->loop || !module->refusal || !module->verdict ||
        !module->body_object || !module->loop_object)
        return as_error_nomem(err, "code to count");
    memset(module->body_object, 0xff, (p->body_n + 1) * sizeof *module->body_object);
    memset(module->loop_object, 0xff, (p->loop_n + 1) * sizeof *module->loop_object);
    return 0;
}

/* ---- By time ------------------------------------------------------------------------------- */

static const char hot_sql[] =
    "SELECT f.module_id, f.address FROM object_time o JOIN function f ON f.function_id = "
    "o.object_id"
    " JOIN module m USING (module_id) WHERE o.run_id = ?1 AND o.object_kind = 'function'"
    " AND o.exclusive_n > 0 AND m.kind IN ('executable', 'shared') AND f.address IS NOT NULL"
    " ORDER BY o.exclusive_ns DESC, f.function_id";

static uint32_t find_body(const struct as_counted_module *module, uint64_t address)
{
    struct as_catalogue_function function;
    for (uint32_t b = 0; b < module->code->program->body_n; b++) {
        as_catalogue_function_get(module->code, b, &function);
        if (function.start == address)
            return b;
    }
    return AS_NONE;
}

static int choose_hot(struct choosing *choosing, struct as_error *err)
{
    struct as_block_counting *counting = choosing->counting;
    unsigned left = counting->request->top ? counting->request->top : TOP_USUAL;
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(counting->experiment, hot_sql, &rows, err));
    as_rows_bind_integer(rows, 1, counting->run_id);
    while (left && (rc = as_rows_next(rows, err)) > 0) {
        struct as_counted_module *module =
            as_vec_find(&counting->module, id, as_rows_integer(rows, 0));
        rc = module && !module->code ? open_code(counting, module, err) : 0;
        if (rc < 0)
            break;
        const uint32_t body = module && module->code->program
                                  ? find_body(module, (uint64_t)as_rows_integer(rows, 1))
                                  : AS_NONE;
        if (body != AS_NONE && !(module->code->program->body[body].bits & AS_BODY_STUB)) {
            module->body[body] = true;
            left--;
        }
        rc = 0;
    }
    as_rows_close(&rows);
    return left && rc < 0 ? rc : 0;
}

/* ---- By name ------------------------------------------------------------------------------- */

static int compile(regex_t *out, const char *text, const char *option, bool *is_given,
                   struct as_error *err)
{
    char why[128];
    *is_given = false;
    if (!text)
        return 0;
    const int code = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    if (code) {
        regerror(code, out, why, sizeof why);
        return as_error_set(err, AS_ERR_USAGE, "%s: '%s' is not a regular expression: %s", option,
                            text, why);
    }
    *is_given = true;
    return 0;
}

static bool fits_name(const regex_t *re, const struct as_body *body)
{
    char name[NAME_MOST];
    if (regexec(re, body->name, 0, NULL, 0) == 0)
        return true;
    as_demangle(body->name, name, sizeof name);
    return regexec(re, name, 0, NULL, 0) == 0;
}

static void want_bodies(struct choosing *choosing, struct as_counted_module *module)
{
    const struct as_program *p = module->code->program;
    for (uint32_t b = 0; b < p->body_n; b++) {
        module->body[b] |=
            !(p->body[b].bits & AS_BODY_STUB) && fits_name(&choosing->functions, &p->body[b]);
        choosing->any_function |= module->body[b];
    }
}

static void want_loops(struct choosing *choosing, struct as_counted_module *module)
{
    const struct as_program *p = module->code->program;
    for (uint32_t b = 0; b < p->body_n; b++) {
        const bool all = p->body[b].loops && fits_name(&choosing->loops, &p->body[b]);
        for (uint32_t l = p->body[b].first_loop; l < p->body[b].first_loop + p->body[b].loops;
             l++) {
            char address[32];
            snprintf(address, sizeof address, "0x%llx",
                     (unsigned long long)p->block[p->loop[l].header].start);
            module->loop[l] |= all || regexec(&choosing->loops, address, 0, NULL, 0) == 0;
            choosing->any_loop |= module->loop[l];
        }
    }
}

/* Returns USAGE if an expression matches nothing, since it is probably misspelt. */
static int check_matched(const struct choosing *choosing, struct as_error *err)
{
    const struct as_block_counting *counting = choosing->counting;
    const struct as_hot_question functions = {AS_OBJECT_FUNCTION, "--functions",
                                              counting->request->functions, "no function matches"};
    const struct as_hot_question loops = {AS_OBJECT_LOOP, "--loops", counting->request->loops,
                                          "no loop, and no function with loops, matches"};
    if (choosing->by_functions && !choosing->any_function)
        return as_hot_missed(counting->experiment, counting->run_id, &functions, err);
    if (choosing->by_loops && !choosing->any_loop)
        return as_hot_missed(counting->experiment, counting->run_id, &loops, err);
    return 0;
}

static int choose_named(struct choosing *choosing, struct as_error *err)
{
    AS_TRY(as_rows_each(choosing->counting->experiment, executables_sql, choosing->counting->run_id,
                        add_counted_executable, choosing, err));
    as_vec_foreach (&choosing->counting->module, module) {
        AS_TRY(open_code(choosing->counting, module, err));
        if (module->code->program && choosing->by_functions)
            want_bodies(choosing, module);
        if (module->code->program && choosing->by_loops)
            want_loops(choosing, module);
    }
    return check_matched(choosing, err);
}

int as_counting_choose(struct as_block_counting *counting, struct as_error *err)
{
    struct choosing choosing = {.counting = counting};
    const struct as_count_request *request = counting->request;
    int rc = compile(&choosing.functions, request->functions, "--functions", &choosing.by_functions,
                     err);
    if (rc == 0)
        rc = compile(&choosing.loops, request->loops, "--loops", &choosing.by_loops, err);
    if (rc == 0)
        rc = as_rows_each(counting->experiment, modules_sql, counting->run_id, add_counted_module,
                          &choosing, err);
    if (rc == 0)
        rc = choosing.by_functions || choosing.by_loops ? choose_named(&choosing, err)
                                                        : choose_hot(&choosing, err);
    if (choosing.by_functions)
        regfree(&choosing.functions);
    if (choosing.by_loops)
        regfree(&choosing.loops);
    return rc;
}
