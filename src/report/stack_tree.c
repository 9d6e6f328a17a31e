/* SPDX-License-Identifier: Apache-2.0 */
/* Merging call stacks; see stack_tree.h. */
#include "report/stack_tree.h"

#include "base/error.h"

static int add_node(struct as_stack_tree *tree, uint32_t parent, uint32_t label, uint32_t *out,
                    struct as_error *err)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(3, parent), label);
    const struct as_stack_node node = {.parent = parent,
                                       .label = label,
                                       .first = AS_STACK_NONE,
                                       .last = AS_STACK_NONE,
                                       .next = AS_STACK_NONE};

    for (struct as_probe probe = as_index_probe(&tree->index, hash);
         (*out = as_index_next(&tree->index, &probe)) != AS_INDEX_NONE;)
        if (tree->node.at[*out].parent == parent && tree->node.at[*out].label == label)
            return 0;
    *out = (uint32_t)tree->node.n;
    if (as_vec_push(&tree->node, node) < 0 || as_index_add(&tree->index, hash, *out) < 0 ||
        (parent == AS_STACK_NONE && as_vec_push(&tree->root, *out) < 0))
        return as_error_nomem(err, "the call stacks");
    if (parent == AS_STACK_NONE)
        return 0;
    struct as_stack_node *above = &tree->node.at[parent];

    if (above->last == AS_STACK_NONE)
        above->first = *out;
    else
        tree->node.at[above->last].next = *out;
    above->last = *out;
    return 0;
}

static uint32_t group_of(const struct as_stacks *stacks, const struct as_stack_sample *sample,
                         enum as_export_by by)
{
    return by == AS_EXPORT_BY_THREAD    ? sample->thread
           : by == AS_EXPORT_BY_PROCESS ? stacks->thread.at[sample->thread].process
                                        : 0;
}

int as_stack_tree_make(struct as_stacks *stacks, enum as_export_by by, const uint32_t *label_of,
                       struct as_stack_tree *tree, struct as_error *err)
{
    as_stack_list sites = {0};
    int rc = 0;

    *tree = (struct as_stack_tree){.label_of = label_of};
    for (size_t k = 0; rc == 0 && k < stacks->sample.n; k++) {
        const struct as_stack_sample *sample = &stacks->sample.at[k];
        uint32_t node;

        rc = as_stacks_walk(stacks, sample, &sites, err);
        if (rc == 0)
            rc = add_node(tree, AS_STACK_NONE, group_of(stacks, sample, by), &node, err);
        for (size_t i = sites.n; rc == 0 && i-- > 0;) {
            const struct as_stack_site *site = &stacks->site.at[sites.at[i]];

            for (uint32_t j = 0; rc == 0 && j < site->line_n; j++)
                rc = add_node(tree, node, label_of[stacks->line.at[site->line + j].function], &node,
                              err);
        }
        if (rc == 0) {
            tree->stack_n += !tree->node.at[node].n;
            tree->node.at[node].n += sample->n;
            tree->node.at[node].time_ns += sample->time_ns;
        }
    }
    as_vec_fini(&sites);
    return rc;
}

void as_stack_tree_release(struct as_stack_tree *tree)
{
    as_vec_fini(&tree->node);
    as_vec_fini(&tree->root);
    as_index_fini(&tree->index);
}

uint32_t as_stack_tree_next(const struct as_stack_tree *tree, uint32_t root, uint32_t node)
{
    if (tree->node.at[node].first != AS_STACK_NONE)
        return tree->node.at[node].first;
    while (node != root && tree->node.at[node].next == AS_STACK_NONE)
        node = tree->node.at[node].parent;
    return node == root ? AS_STACK_NONE : tree->node.at[node].next;
}

int as_stack_tree_labels(const struct as_stack_tree *tree, uint32_t node, as_stack_list *labels,
                         struct as_error *err)
{
    labels->n = 0;
    for (; tree->node.at[node].parent != AS_STACK_NONE; node = tree->node.at[node].parent)
        if (as_vec_push(labels, tree->node.at[node].label) < 0)
            return as_error_nomem(err, "a call stack");
    for (size_t i = 0; i < labels->n / 2; i++) {
        const uint32_t first = labels->at[i];

        labels->at[i] = labels->at[labels->n - 1 - i];
        labels->at[labels->n - 1 - i] = first;
    }
    return 0;
}

void as_stack_group_name(const struct as_stacks *stacks, enum as_export_by by, uint32_t group,
                         struct as_str *out)
{
    const bool of_thread = by == AS_EXPORT_BY_THREAD;
    const struct as_stack_thread *thread = of_thread ? &stacks->thread.at[group] : NULL;

    if (by != AS_EXPORT_BY_THREAD && by != AS_EXPORT_BY_PROCESS) {
        as_str_appendz(out, stacks->run.command ? stacks->run.command : "run");
        return;
    }
    const struct as_stack_process *process = &stacks->process.at[thread ? thread->process : group];
    const char *name = thread && thread->name ? thread->name : process->name;

    as_str_appendf(out, "%s (", name ? name : "process");
    if (process->rank >= 0)
        as_str_appendf(out, "rank %lld, ", (long long)process->rank);
    if (stacks->run.host_n > 1 && process->host)
        as_str_appendf(out, "%s, ", process->host);
    as_str_appendf(out, "pid %lld", (long long)process->pid);
    if (thread)
        as_str_appendf(out, ", tid %lld", (long long)thread->tid);
    if (thread && thread->omp_thread >= 0)
        as_str_appendf(out, ", OpenMP %lld", (long long)thread->omp_thread);
    as_str_appendz(out, ")");
}
