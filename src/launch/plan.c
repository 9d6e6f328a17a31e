/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examines what a command will start without starting it, so that errors are reported before
 * anything runs.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/shell.h"
#include "base/str.h"
#include "launch/internal.h"

const char *as_launch_kind_name(unsigned kind)
{
    static const char *const name[] = {
        [AS_LAUNCH_PROGRAM] = "plain",   [AS_LAUNCH_SCRIPT] = "plain",
        [AS_LAUNCH_OPENMPI] = "openmpi", [AS_LAUNCH_MPICH] = "mpich",
        [AS_LAUNCH_SRUN] = "srun",       [AS_LAUNCH_ATTACHED] = "attach",
    };
    _Static_assert(sizeof name / sizeof *name == AS_LAUNCH_ATTACHED + 1,
                   "an entry for each of the enumeration");
    return kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

const char *as_plan_keep(struct as_plan *plan, const char *text)
{
    return as_arena_strndup(&plan->arena, text, strlen(text));
}

/* ---- Words --------------------------------------------------------------------------------- */

static const char *as_shell(struct as_plan *plan)
{
    struct as_str text = {0};
    for (size_t i = 0; plan->plan.argv[i]; i++) {
        as_str_appendz(&text, i ? " " : "");
        as_shell_word(&text, plan->plan.argv[i]);
    }
    const char *kept = text.failed ? NULL : as_plan_keep(plan, as_str_z(&text));
    as_str_fini(&text);
    return kept;
}

static const char *arguments_array(struct as_plan *plan)
{
    struct as_str text = {0};
    struct as_out out;
    struct as_json json;
    as_out_init_str(&out, &text);
    as_json_init(&json, &out, 0);
    as_json_array_begin(&json);
    for (size_t i = 0; plan->plan.argv[i]; i++)
        as_json_string(&json, plan->plan.argv[i]);
    as_json_array_end(&json);
    const char *kept = as_out_flush(&out, NULL) < 0 ? NULL : as_plan_keep(plan, as_str_z(&text));
    as_out_fini(&out);
    as_str_fini(&text);
    return kept;
}

static int copy_words(struct as_plan *plan, const char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    const char **copy = as_arena_array(&plan->arena, const char *, n + 1);
    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = as_plan_keep(plan, argv[i])))
            copy = NULL;
    if (!copy)
        return AS_ERR_NOMEM;
    plan->plan.argv = copy;
    plan->plan.command = as_shell(plan);
    plan->plan.argv_json = arguments_array(plan);
    return plan->plan.command && plan->plan.argv_json ? 0 : AS_ERR_NOMEM;
}

/* ---- The plan ------------------------------------------------------------------------------ */

static int add_places(struct as_plan *plan)
{
    char path[PATH_MAX];
    plan->plan.real_path =
        as_plan_keep(plan, realpath(plan->plan.path, path) ? path : plan->plan.path);
    /* A removed directory, or one outside the root directory, has no name. */
    if (getcwd(path, sizeof path) && path[0] == '/' && !(plan->plan.cwd = as_plan_keep(plan, path)))
        return AS_ERR_NOMEM;
    return plan->plan.real_path ? 0 : AS_ERR_NOMEM;
}

static int fill(struct as_plan *plan, const char *const *argv, struct as_error *err)
{
    AS_TRY(as_path_find(plan, argv[0], &plan->plan.path, err));
    AS_TRY(as_target_examine(plan, err));
    if (copy_words(plan, argv) < 0 || add_places(plan) < 0)
        return as_error_nomem(err, argv[0]);
    const enum as_launch_kind launcher = as_launcher_of(plan->plan.real_path);
    if (launcher != AS_LAUNCH_PROGRAM)
        plan->plan.kind = (uint8_t)launcher;
    as_launcher_places(&plan->plan);
    return 0;
}

int as_launch_plan(const char *const *argv, struct as_launch_plan **out, struct as_error *err)
{
    struct as_plan *plan = as_calloc(1, sizeof *plan);
    *out = NULL;
    if (!plan)
        return as_error_nomem(err, "the plan of a command");
    as_arena_init(&plan->arena);
    *out = &plan->plan;
    const int rc = fill(plan, argv, err);
    if (rc < 0)
        as_launch_plan_free(out);
    return rc;
}

void as_launch_plan_free(struct as_launch_plan **plan)
{
    struct as_plan *own = (struct as_plan *)*plan;
    if (!own)
        return;
    as_arena_fini(&own->arena);
    as_free(own);
    *plan = NULL;
}
