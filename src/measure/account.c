/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins and ends groups of figures. An interrupted group is resumed, and its times are added.
 */
#include "measure/account.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

int as_group_begin(struct as_figures *figures, struct as_figure_group *group, struct as_error *err)
{
    const char *name = group->name;

    *group = (struct as_figure_group){.name = name, .when_s = (int64_t)time(NULL)};
    for (size_t i = 0; i < figures->group_n; i++) {
        const struct as_figure_group *g = &figures->group[i];
        if (strcmp(g->name, name) == 0 && !g->is_done) {
            *group = *g;
            group->name = name;
        }
    }
    return as_figures_set_group(figures, group, err);
}

int as_group_end(struct as_figures *figures, struct as_figure_group *group, bool is_done,
                 const struct as_group_time *time_of, struct as_error *err)
{
    group->is_done = is_done;
    if (is_done)
        group->when_s = (int64_t)time(NULL);
    group->took_s += (double)(as_monotonic_ns() - time_of->began_ns) / 1e9;
    group->waited_s += time_of->waited_s;
    return as_figures_set_group(figures, group, err);
}
