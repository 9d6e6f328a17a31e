/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the runs of an experiment that are one side of a comparison. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/set.h"

struct choice {
    const char *runs; /* runs in the request, or NULL */
    int64_t first, last;
    bool by_number, by_repeat;
    unsigned named_n, failed_n;
};

static bool is_chosen(const struct as_run *run, void *context)
{
    struct choice *it = context;
    const bool named = it->by_number   ? run->id >= it->first && run->id <= it->last
                       : it->runs      ? run->label && strcmp(run->label, it->runs) == 0
                       : it->by_repeat ? strcmp(run->kind, "repeat") == 0
                                       : run->id == it->last;
    if (!named)
        return false;
    it->named_n++;
    if (run->is_over && !run->is_failed)
        return true;
    it->failed_n++;
    return false;
}

/* Parses "3" or "3-7". Any other text is a label. */
static void read_numbers(struct choice *choice)
{
    char *end;
    errno = 0;
    choice->first = choice->last = strtoll(choice->runs, &end, 10);
    if (*end == '-')
        choice->last = strtoll(end + 1, &end, 10);
    choice->by_number = errno == 0 && choice->runs[0] >= '0' && choice->runs[0] <= '9' && !*end;
}

/* Returns the last run that did not fail, or the last run if all failed. */
static int64_t last_run(const struct as_set *set)
{
    int64_t last = set->run.n ? set->run.at[set->run.n - 1].id : 0;
    for (size_t i = set->run.n; i-- > 0;)
        if (set->run.at[i].is_over && !set->run.at[i].is_failed)
            return set->run.at[i].id;
    return last;
}

int as_runs_choose(struct as_set *set, const struct as_compare_request *request, unsigned *failed_n,
                   struct as_error *err)
{
    struct choice choice = {.runs = request->runs};
    if (choice.runs)
        read_numbers(&choice);
    else
        choice.last = last_run(set);
    as_vec_foreach (&set->run, it)
        choice.by_repeat |= strcmp(it->kind, "repeat") == 0;
    as_set_choose(set, is_chosen, &choice);
    *failed_n = choice.failed_n;
    if (!choice.named_n && choice.runs)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: has no run '%s'; use a run number such as 3 or 3-7, or a label "
                            "('assay show %s --view runs' lists them)",
                            request->name, choice.runs, as_experiment_path(request->experiment));
    if (!set->run.n)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: has no successful run; compare others, or run it again",
                            request->name);
    return 0;
}
