/* SPDX-License-Identifier: Apache-2.0 */
/* Facts before any trial: findings of the first run, its libraries, and the machine. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "base/error.h"
#include "base/str.h"
#include "machine/machine.h"
#include "object/object.h"
#include "quality/quality.h"
#include "trial/campaign.h"
#include "trial/internal.h"

/* ---- Lists --------------------------------------------------------------------------------- */

/* Appends the strings of a column, with a blank before and behind each. */
static int list_column(struct as_trial *t, const char *sql, struct as_str *out,
                       struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(t->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, t->result->base_run_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        if (as_rows_text(rows, 0))
            as_str_appendf(out, " %s ", as_rows_text(rows, 0));
    as_rows_close(&rows);
    return rc;
}

static void list_needed(const char *path, struct as_str *out)
{
    struct as_object *object;
    const char *const *name;

    if (as_object_open(path, NULL, &object, NULL) < 0)
        return;
    const size_t n = as_object_needed(object, &name);
    for (size_t i = 0; i < n; i++)
        as_str_appendf(out, " %s ", name[i]);
    as_object_close(&object);
}

/* Lists the libraries of all words that are programs. Libraries of a launcher do no harm. */
static int find_libraries(struct as_trial *t, const struct as_launch_plan *plan,
                          struct as_error *err)
{
    struct as_str all = {0};

    if (plan->kind == AS_LAUNCH_PROGRAM)
        list_needed(plan->path, &all);
    for (size_t i = 1; t->base_command[i]; i++)
        if (as_code_is_program(t->base_command[i]))
            list_needed(t->base_command[i], &all);
    int rc = list_column(t, "SELECT DISTINCT name FROM module WHERE ?1 > 0", &all, err);
    t->libraries = all.failed ? NULL : strdup(as_str_z(&all));
    as_str_fini(&all);
    return rc < 0 ? rc : t->libraries ? 0 : as_error_nomem(err, "the libraries of the program");
}

/* ---- Findings ------------------------------------------------------------------------------ */

/* Makes the findings of the first run. Without findings, only standard candidates are tried. */
static void advise_base(struct as_trial *t)
{
    const struct as_quality_options options = {.catalogue = t->catalogue};
    struct as_error late = {0};

    if (as_quality_run(t->experiment, t->result->base_run_id, &options, &late) < 0 ||
        as_advise_run(t->experiment, t->result->base_run_id, &late) < 0)
        as_trial_note(t, "no findings to start from: %s", late.text);
}

static int find_rules(struct as_trial *t, struct as_error *err)
{
    struct as_str all = {0};
    const int rc = list_column(t, "SELECT DISTINCT rule FROM finding WHERE run_id = ?1", &all, err);

    t->rules = all.failed ? NULL : strdup(as_str_z(&all));
    as_str_fini(&all);
    return rc < 0 ? rc : t->rules ? 0 : as_error_nomem(err, "the findings");
}

/* ---- Machine ------------------------------------------------------------------------------- */

static int find_machine(struct as_trial *t, struct as_error *err)
{
    struct as_host_load load;
    struct as_host *host;
    cpu_set_t set;

    AS_TRY(as_host_read(NULL, &host, err));
    as_host_load_read(NULL, 0, &load);
    t->facts.cpu_n = load.usable_cpu_n >= 1 ? (int64_t)load.usable_cpu_n : host->cpu_n;
    t->facts.core_n =
        host->core_n > 0 && host->core_n < t->facts.cpu_n ? host->core_n : t->facts.cpu_n;
    t->facts.numa_n = host->numa_n;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &set)) {
                t->facts.first_cpu = i;
                break;
            }
    as_host_free(&host);
    return 0;
}

int as_trial_find_facts(struct as_trial *t, struct as_error *err)
{
    struct as_launch_plan *plan;

    AS_TRY(as_launch_plan(t->base_command, &plan, err));
    t->facts.launcher = (enum as_launch_kind)plan->kind;
    t->facts.command = t->request->profile.command;
    int rc = find_libraries(t, plan, err);
    as_launch_plan_free(&plan);
    if (rc == 0)
        rc = find_rules(t, err);
    if (rc == 0 && !t->rules[0]) {
        advise_base(t);
        free(t->rules);
        rc = find_rules(t, err);
    }
    if (rc == 0)
        rc = find_machine(t, err);
    t->facts.libraries = t->libraries ? t->libraries : "";
    t->facts.rules = t->rules ? t->rules : "";
    t->facts.compilers = t->compilers;
    return rc;
}
