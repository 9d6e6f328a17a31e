/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of call paths. A sampled instance represents the number of instances that the agent
 * recorded, which does not depend on their duration.
 */
#include "vprof/paths.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"

struct path_sum {
    double weight;
    uint64_t n;
};

static bool is_within(const struct as_instance_path *path, const struct as_vprof_bucket *bucket)
{
    return (bucket->low <= 0 && isinf(bucket->high)) ||
           (path->trips >= bucket->low && path->trips < bucket->high);
}

/* Returns the index of the largest positive weight, or `n` if there is none. */
static size_t heaviest_path(const struct path_sum *sum, size_t n)
{
    size_t most = n;
    for (size_t i = 0; i < n; i++)
        if (sum[i].n && (most == n || sum[i].weight > sum[most].weight))
            most = i;
    return most;
}

int as_paths_store(const struct as_instances *all, uint32_t loop, struct as_vprof_bucket *bucket,
                   struct as_error *err)
{
    const size_t n = all->path_text.n;
    struct path_sum *sum = as_calloc(n + 1, sizeof *sum);
    double weight = 0;
    size_t most;
    if (!sum)
        return as_error_nomem(err, "call paths of instances");
    as_vec_foreach (&all->path, path) {
        if (path->loop != loop || !is_within(path, bucket))
            continue;
        sum[path->path].weight += path->weight;
        sum[path->path].n++;
        weight += path->weight;
        bucket->path_seen++;
    }
    while (bucket->path_n < AS_VPROF_PATHS_N && (most = heaviest_path(sum, n)) < n) {
        bucket->path[bucket->path_n++] =
            (struct as_vprof_path){all->path_text.at[most], sum[most].weight / weight, sum[most].n};
        sum[most].n = 0;
    }
    as_free(sum);
    return 0;
}

void as_paths_take(struct as_instances *all, struct as_vprof_result *result)
{
    result->path_text = all->path_text.at;
    result->path_text_n = all->path_text.n;
    all->path_text.at = NULL;
    all->path_text.n = all->path_text.cap = 0;
}
