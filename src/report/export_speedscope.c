/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the format of speedscope (https://www.speedscope.app/file-format-schema.json). A profile
 * is a list of stacks with weights. Equal stacks are merged, so the list has no time order.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "report/export.h"
#include "report/stack_tree.h"

struct speedscope_writing {
    struct as_stacks *stacks;
    enum as_export_by by;
    struct as_stack_tree tree;
    uint32_t *label, *frame; /* by function: its own index; its number among the frames in use */
    as_stack_list labels;
    struct as_str text;
    struct as_json json;
};

static void write_frames(struct speedscope_writing *w)
{
    uint32_t n = 0;

    for (size_t i = 0; i < w->stacks->function.n; i++)
        w->frame[i] = AS_STACK_NONE;
    as_vec_foreach (&w->tree.node, node)
        if (node->parent != AS_STACK_NONE)
            w->frame[node->label] = 0;
    as_json_key(&w->json, "shared");
    as_json_object_begin(&w->json);
    as_json_key(&w->json, "frames");
    as_json_array_begin(&w->json);
    for (size_t i = 0; i < w->stacks->function.n; i++) {
        const struct as_stack_function *it = &w->stacks->function.at[i];

        if (w->frame[i] == AS_STACK_NONE)
            continue;
        w->frame[i] = n++;
        as_json_object_begin(&w->json);
        as_json_key_string(&w->json, "name", it->name);
        if (it->file)
            as_json_key_string(&w->json, "file", it->file);
        if (it->file && it->line)
            as_json_key_i64(&w->json, "line", it->line);
        as_json_object_end(&w->json);
    }
    as_json_array_end(&w->json);
    as_json_object_end(&w->json);
}

static int write_stacks(struct speedscope_writing *w, uint32_t root, struct as_error *err)
{
    as_json_key(&w->json, "samples");
    as_json_array_begin(&w->json);
    for (uint32_t at = root; at != AS_STACK_NONE; at = as_stack_tree_next(&w->tree, root, at)) {
        if (!w->tree.node.at[at].n)
            continue;
        AS_TRY(as_stack_tree_labels(&w->tree, at, &w->labels, err));
        as_json_array_begin(&w->json);
        as_vec_foreach (&w->labels, label)
            as_json_u64(&w->json, w->frame[*label]);
        as_json_array_end(&w->json);
    }
    as_json_array_end(&w->json);
    return 0;
}

static int64_t write_weights(struct speedscope_writing *w, uint32_t root)
{
    int64_t sum = 0;

    as_json_key(&w->json, "weights");
    as_json_array_begin(&w->json);
    for (uint32_t at = root; at != AS_STACK_NONE; at = as_stack_tree_next(&w->tree, root, at)) {
        if (!w->tree.node.at[at].n)
            continue;
        as_json_i64(&w->json, w->tree.node.at[at].time_ns);
        sum += w->tree.node.at[at].time_ns;
    }
    as_json_array_end(&w->json);
    return sum;
}

static int write_profile(struct speedscope_writing *w, uint32_t root, struct as_error *err)
{
    as_str_clear(&w->text);
    as_stack_group_name(w->stacks, w->by, w->tree.node.at[root].label, &w->text);
    if (w->text.failed)
        return as_error_nomem(err, "a name");
    as_json_object_begin(&w->json);
    as_json_key_string(&w->json, "type", "sampled");
    as_json_key_string(&w->json, "name", as_str_z(&w->text));
    as_json_key_string(&w->json, "unit", "nanoseconds");
    as_json_key_i64(&w->json, "startValue", 0);
    AS_TRY(write_stacks(w, root, err));
    as_json_key_i64(&w->json, "endValue", write_weights(w, root));
    as_json_object_end(&w->json);
    return 0;
}

static int write_document(struct speedscope_writing *w, struct as_out *out, struct as_error *err)
{
    const struct as_stack_run *run = &w->stacks->run;

    as_json_init(&w->json, out, 0);
    as_json_object_begin(&w->json);
    as_json_key_string(&w->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    as_json_key_string(&w->json, "name", run->command ? run->command : "run");
    as_str_appendf(&w->text, "assay@%s", run->assay_version ? run->assay_version : "?");
    as_json_key_string(&w->json, "exporter", as_str_z(&w->text));
    if (w->tree.root.n)
        as_json_key_i64(&w->json, "activeProfileIndex", 0);
    write_frames(w);
    as_json_key(&w->json, "profiles");
    as_json_array_begin(&w->json);
    as_vec_foreach (&w->tree.root, root)
        AS_TRY(write_profile(w, *root, err));
    as_json_array_end(&w->json);
    as_json_object_end(&w->json);
    as_json_finish(&w->json);
    return 0;
}

int as_export_speedscope(struct as_stacks *stacks, const struct as_export_options *options,
                         struct as_out *out, uint64_t *stack_n, struct as_error *err)
{
    struct speedscope_writing w = {.stacks = stacks, .by = options->by};
    int rc = 0;

    if (w.by == AS_EXPORT_BY_DEFAULT)
        w.by = AS_EXPORT_BY_THREAD;
    w.label = as_calloc(stacks->function.n, sizeof *w.label);
    w.frame = as_calloc(stacks->function.n, sizeof *w.frame);
    if (!w.label || !w.frame)
        rc = as_error_nomem(err, "the call stacks");
    for (size_t i = 0; rc == 0 && i < stacks->function.n; i++)
        w.label[i] = (uint32_t)i;
    if (rc == 0)
        rc = as_stack_tree_make(stacks, w.by, w.label, &w.tree, err);
    if (rc == 0)
        rc = write_document(&w, out, err);
    *stack_n = w.tree.stack_n;
    as_stack_tree_release(&w.tree);
    as_vec_fini(&w.labels);
    as_str_fini(&w.text);
    as_free(w.label);
    as_free(w.frame);
    return rc;
}
