/* SPDX-License-Identifier: Apache-2.0 */
/* The two trees of objects: workload to threads, system to CPUs. */
#include <assert.h>
#include <strings.h>

#include "semantic/record.h"

static const struct {
    const char *word, *name;
} level_names[AS_OBJECT_LEVELS_N] = {
    [AS_OBJECT_LEVEL_WORKLOAD] = {"workload", "WORKLOAD"},
    [AS_OBJECT_LEVEL_APPLICATION] = {"appl", "APPL"},
    [AS_OBJECT_LEVEL_TASK] = {"task", "TASK"},
    [AS_OBJECT_LEVEL_THREAD] = {"thread", "THREAD"},
    [AS_OBJECT_LEVEL_SYSTEM] = {"system", "SYSTEM"},
    [AS_OBJECT_LEVEL_NODE] = {"node", "NODE"},
    [AS_OBJECT_LEVEL_CPU] = {"cpu", "CPU"},
};

const char *as_object_level_word(enum as_object_level level)
{
    return level_names[level].word;
}

bool as_object_level_read(struct as_view word, enum as_object_level *out)
{
    for (unsigned l = 0; l < AS_OBJECT_LEVELS_N; l++)
        if (word.n && as_view_of(level_names[l].word).n == word.n &&
            strncasecmp(level_names[l].word, word.p, word.n) == 0) {
            *out = (enum as_object_level)l;
            return true;
        }
    return false;
}

static bool level_is_top(enum as_object_level level)
{
    return level == AS_OBJECT_LEVEL_WORKLOAD || level == AS_OBJECT_LEVEL_SYSTEM;
}

int as_objects_add(struct as_machine_objects *o, enum as_object_level level)
{
    struct as_object_row row = {0};
    const bool is_top = level_is_top(level);
    const uint32_t at = (uint32_t)o->row[level].n;
    if (!is_top) {
        assert(o->row[level - 1].n);
        row.parent = (uint32_t)o->row[level - 1].n - 1;
    }
    if (level != AS_OBJECT_LEVEL_THREAD && level != AS_OBJECT_LEVEL_CPU)
        row.first_child = row.end_n = (uint32_t)o->row[level + 1].n;
    if (as_vec_push(&o->row[level], row) < 0)
        return AS_ERR_NOMEM;
    if (!is_top)
        o->row[level - 1].at[row.parent].end_n = at + 1;
    return 0;
}

void as_objects_fini(struct as_machine_objects *o)
{
    for (unsigned l = 0; l < AS_OBJECT_LEVELS_N; l++)
        as_vec_fini(&o->row[l]);
    as_vec_fini(&o->node_of_task);
}

uint32_t as_objects_above(const struct as_machine_objects *o, enum as_object_level from,
                          uint32_t object, enum as_object_level level)
{
    assert(level <= from &&
           as_object_level_is_hardware(from) == as_object_level_is_hardware(level));
    for (; from > level; from--)
        object = o->row[from].at[object].parent;
    return object;
}

void as_objects_below(const struct as_machine_objects *o, enum as_object_level level,
                      uint32_t object, enum as_object_level to, uint32_t *first, uint32_t *end)
{
    assert(level <= to && as_object_level_is_hardware(to) == as_object_level_is_hardware(level));
    *first = object;
    *end = object + 1;
    for (; level < to && *first < *end; level++) {
        *first = o->row[level].at[*first].first_child;
        *end = o->row[level].at[*end - 1].end_n;
    }
}

void as_objects_name(const struct as_machine_objects *o, enum as_object_level level,
                     uint32_t object, struct as_str *out)
{
    uint32_t place[AS_OBJECT_LEVELS_N];
    unsigned top = level;
    as_str_appendz(out, level_names[level].name);
    if (level_is_top(level))
        return;
    for (uint32_t at = object; !level_is_top((enum as_object_level)top); top--) {
        const uint32_t parent = o->row[top].at[at].parent;
        place[top] = at - o->row[top - 1].at[parent].first_child + 1;
        at = parent;
    }
    for (unsigned l = top + 1; l <= level; l++)
        as_str_appendf(out, "%c%u", l == top + 1 ? ' ' : '.', place[l]);
}
