/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks, the input of flame graphs: B. Gregg, ACM Queue 14 (2) (2016) 91. A line has one
 * number without a unit.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "report/export.h"
#include "report/stack_tree.h"

/* Writes a frame; a name must not contain the separator of frames. */
static void write_frame(struct as_out *out, const char *name)
{
    for (; *name; name++)
        as_out_c(out, *name == ';' ? ',' : *name);
}

/* Labels functions by name. Functions with equal names are one frame, whatever their module: the
 * format has only names. */
static int label_by_name(const struct as_stacks *stacks, uint32_t *label, struct as_error *err)
{
    struct as_map_view seen;
    int rc = 0;

    as_map_view_init(&seen);
    for (size_t i = 0; rc == 0 && i < stacks->function.n; i++) {
        const struct as_view name = as_view_of(stacks->function.at[i].name);

        label[i] = as_map_view_get(&seen, name);
        if (label[i] != AS_MAP_NONE)
            continue;
        label[i] = (uint32_t)i;
        if (as_map_view_put(&seen, name, (uint32_t)i) < 0)
            rc = as_error_nomem(err, "the names of functions");
    }
    as_map_view_fini(&seen);
    return rc;
}

struct folding {
    struct as_stacks *stacks;
    const struct as_export_options *options;
    struct as_stack_tree tree;
    as_stack_list labels;
    struct as_str group; /* first frame if there are several groups */
    struct as_out *out;
};

static int write_stack(struct folding *f, uint32_t node, struct as_error *err)
{
    const struct as_stack_node *it = &f->tree.node.at[node];
    const int64_t count = f->options->blocked ? it->time_ns : it->n;
    const char *separator = "";

    if (count <= 0)
        return 0;
    AS_TRY(as_stack_tree_labels(&f->tree, node, &f->labels, err));
    if (f->group.n) {
        write_frame(f->out, as_str_z(&f->group));
        separator = ";";
    }
    as_vec_foreach (&f->labels, label) {
        as_out_z(f->out, separator);
        write_frame(f->out, f->stacks->function.at[*label].name);
        separator = ";";
    }
    as_out_c(f->out, ' ');
    as_out_i64(f->out, count);
    as_out_c(f->out, '\n');
    return 0;
}

static int write_groups(struct folding *f, struct as_error *err)
{
    const enum as_export_by by = f->options->by;

    as_vec_foreach (&f->tree.root, root) {
        as_str_clear(&f->group);
        if (by == AS_EXPORT_BY_PROCESS || by == AS_EXPORT_BY_THREAD)
            as_stack_group_name(f->stacks, by, f->tree.node.at[*root].label, &f->group);
        if (f->group.failed)
            return as_error_nomem(err, "a call stack");
        for (uint32_t node = *root; node != AS_STACK_NONE;
             node = as_stack_tree_next(&f->tree, *root, node))
            AS_TRY(write_stack(f, node, err));
    }
    return 0;
}

int as_export_folded(struct as_stacks *stacks, const struct as_export_options *options,
                     struct as_out *out, uint64_t *stack_n, struct as_error *err)
{
    struct folding f = {.stacks = stacks, .options = options, .out = out};
    uint32_t *label = as_calloc(stacks->function.n, sizeof *label);
    int rc = label ? label_by_name(stacks, label, err) : as_error_nomem(err, "the call stacks");

    if (rc == 0)
        rc = as_stack_tree_make(stacks, options->by, label, &f.tree, err);
    if (rc == 0)
        rc = write_groups(&f, err);
    *stack_n = f.tree.stack_n;
    as_stack_tree_release(&f.tree);
    as_vec_fini(&f.labels);
    as_str_fini(&f.group);
    as_free(label);
    return rc;
}
