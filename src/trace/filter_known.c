/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routines that a filter cannot leave out, because other records need them. For example,
 * without a send, its receive would match another send. tools/gen-filter-table.py makes the table
 * from the wrapped routines. Routines with wrappers written by hand are listed here.
 */
#include <string.h>

#include "base/alloc.h"
#include "trace/filter.h"

static const struct {
    const char *name;
    enum as_filter_class class;
} known[] = {
#include "filter_made.h"
    {"malloc", AS_FILTERED_MEMORY},
    {"calloc", AS_FILTERED_MEMORY},
    {"posix_memalign", AS_FILTERED_MEMORY},
    {"aligned_alloc", AS_FILTERED_MEMORY},
    {"memalign", AS_FILTERED_MEMORY},
    {"valloc", AS_FILTERED_MEMORY},
    {"pvalloc", AS_FILTERED_MEMORY},
    {"mmap", AS_FILTERED_MEMORY},
    {"mmap64", AS_FILTERED_MEMORY},
    {"operator new", AS_FILTERED_MEMORY},
    {"operator new[]", AS_FILTERED_MEMORY},
    {"realloc", AS_FILTERED_RELEASE},
    {"reallocarray", AS_FILTERED_RELEASE},
    {"free", AS_FILTERED_RELEASE},
    {"munmap", AS_FILTERED_RELEASE},
    {"operator delete", AS_FILTERED_RELEASE},
    {"operator delete[]", AS_FILTERED_RELEASE},
    {"pthread_mutex_unlock", AS_FILTERED_UNLOCK},
    {"pthread_rwlock_unlock", AS_FILTERED_UNLOCK},
    {"pthread_spin_unlock", AS_FILTERED_UNLOCK},
    {"pthread_cond_signal", AS_FILTERED_UNLOCK},
    {"pthread_cond_broadcast", AS_FILTERED_UNLOCK},
    {"sem_post", AS_FILTERED_UNLOCK},
    {"mtx_unlock", AS_FILTERED_UNLOCK},
    {"cnd_signal", AS_FILTERED_UNLOCK},
    {"cnd_broadcast", AS_FILTERED_UNLOCK},
    {"omp critical end", AS_FILTERED_UNLOCK},
    {"omp ordered end", AS_FILTERED_UNLOCK},
    {"omp_unset_lock", AS_FILTERED_UNLOCK},
    {"omp_unset_lock_", AS_FILTERED_UNLOCK},
    {"omp_unset_nest_lock", AS_FILTERED_UNLOCK},
    {"omp_unset_nest_lock_", AS_FILTERED_UNLOCK},
};
#define KNOWN_N (sizeof known / sizeof *known)

#define BIT(class) (1u << AS_FILTERED_##class)
/* Routines of the classes `kept` stay, unless the filter leaves out all routines of `all`. */
static const struct {
    uint32_t kept, all;
} together[] = {
    {BIT(MESSAGE) | BIT(TEST), BIT(MESSAGE) | BIT(TEST) | BIT(REQUEST)},
    {BIT(PLACE), BIT(PLACE) | BIT(TRANSFER)},
    {BIT(RELEASE), BIT(RELEASE) | BIT(MEMORY)},
    {BIT(ALWAYS), 0},
    {BIT(UNLOCK), 0},
};

enum as_filter_class as_filter_class_of(const char *name)
{
    for (size_t i = 0; i < KNOWN_N; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].class;
    return AS_FILTERED_FREE;
}

static bool leaves_out(const struct as_trace_filter *filter, size_t rules_b, const char *name)
{
    return as_filter_verdict_of(as_str_z(&filter->rules), rules_b, name) == AS_FILTER_LEFT_OUT;
}

static bool leaves_out_all(const struct as_trace_filter *filter, size_t rules_b, uint32_t classes)
{
    bool all = classes != 0;
    for (size_t i = 0; i < KNOWN_N && all; i++)
        all = !(classes & (1u << known[i].class)) || leaves_out(filter, rules_b, known[i].name);
    return all;
}

int as_trace_filter_settle(struct as_trace_filter *filter, struct as_filter_kept *kept)
{
    const size_t rules_b = filter->rules.n; /* size of the user's rules */
    for (size_t t = 0; t < sizeof together / sizeof *together; t++) {
        if (leaves_out_all(filter, rules_b, together[t].all))
            continue;
        for (size_t i = 0; i < KNOWN_N; i++) {
            const enum as_filter_class class = known[i].class;
            if (!(together[t].kept & (1u << class)) || !leaves_out(filter, rules_b, known[i].name))
                continue;
            const bool is_test = class == AS_FILTERED_TEST;
            as_trace_filter_add(filter, is_test ? AS_FILTER_FOUND : AS_FILTER_RECORDED,
                                known[i].name);
            if (together[t].all && !is_test && as_vec_push(&kept->name, known[i].name) < 0)
                return AS_ERR_NOMEM;
        }
    }
    return filter->rules.failed ? AS_ERR_NOMEM : 0;
}

void as_filter_kept_fini(struct as_filter_kept *kept)
{
    as_vec_fini(&kept->name);
}
