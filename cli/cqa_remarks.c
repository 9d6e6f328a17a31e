/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler remarks of a loop (--opt-record), matched by source line. gcc and clang write many
 * remarks: those about vectors come first, those with a cause before those without.
 */
#include <inttypes.h>
#include <string.h>

#include "cqa.h"

#define SHOWN_MOST 6

/* ---- Reading ------------------------------------------------------------------------------- */

int as_cqa_remarks_open(struct as_quality_view *view, struct as_error *err)
{
    const struct as_arguments *args = &view->cli->args;
    int rc = 0;

    if (!as_given(args, AS_OPTION_OPT_RECORD))
        return 0;
    rc = as_remarks_new(&view->remarks, err);
    for (size_t i = 0; i < args->list[AS_OPTION_OPT_RECORD].n && rc == 0; i++)
        rc = as_remarks_add(view->remarks, args->list[AS_OPTION_OPT_RECORD].at[i], err);
    return rc;
}

void as_cqa_remarks_close(struct as_quality_view *view)
{
    if (view->remarks && !view->remarks_met && view->shown)
        as_cli_note(view->cli,
                    "--opt-record: none of %zu remarks matches a line of these loops: they are of "
                    "other sources, or the binary has no line numbers; compile with -g",
                    view->remarks->n);
    as_remarks_free(&view->remarks);
}

/* ---- Finding ------------------------------------------------------------------------------- */

static size_t next_remark(struct as_quality_view *view, const struct as_cqa *cqa, size_t *range,
                          size_t from)
{
    const struct as_program *program = view->chosen.program;
    const struct as_loop *loop = cqa->loop == AS_NONE ? NULL : &program->loop[cqa->loop];

    for (; view->remarks && loop && *range < loop->sources; (*range)++, from = 0) {
        const struct as_source_range *at = &program->loop_source[loop->source + *range];
        const size_t found = as_remarks_find(view->remarks, program->debug.file[at->file],
                                             at->first_line, at->last_line, from);

        if (found < view->remarks->n) {
            view->remarks_met = true;
            return found;
        }
    }
    return SIZE_MAX;
}

/* 0: a loop vectorised; then causes why not; then that it was not; then other optimisations. */
static unsigned rank_of(const struct as_remark *it)
{
    static const char *const bare[] = {"couldn't vectorize loop", "loop not vectorized"};

    if (!it->vector)
        return 3;
    if (it->kind == AS_REMARK_DONE)
        return 0;
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
        if (strcmp(it->text, bare[i]) == 0)
            return 2;
    return 1;
}

/* The remark that tells most; NULL: there is none of vectors. */
static const struct as_remark *foremost(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_remark *best = NULL;
    size_t range = 0, at = next_remark(view, cqa, &range, 0);

    for (; at != SIZE_MAX; at = next_remark(view, cqa, &range, at + 1)) {
        const struct as_remark *it = &view->remarks->at[at];

        if (it->vector && (!best || rank_of(it) < rank_of(best)))
            best = it;
    }
    return best;
}

/* ---- Telling ------------------------------------------------------------------------------- */

static void write_remark(struct as_quality_view *view, const char *first,
                         const struct as_remark *it)
{
    struct as_str text = {0};

    as_str_appendf(&text, "%sline %" PRIu32 ": %s", it->kind == AS_REMARK_DONE ? "" : "missed, ",
                   it->line, it->text);
    as_cqa_wrapped(view, first, (unsigned)strlen(first), &text);
    as_str_fini(&text);
}

/* The same sentence of one line in several columns, or of several copies, is one. */
static bool is_repeated(const struct as_quality_view *view, size_t at, size_t last)
{
    const struct as_remark *a = &view->remarks->at[at];
    const struct as_remark *b = last == SIZE_MAX ? NULL : &view->remarks->at[last];

    return b && a->line == b->line && a->kind == b->kind && strcmp(a->text, b->text) == 0;
}

void as_cqa_remarks_report(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const bool all = view->levels & AS_LEVEL_EXPERT;
    size_t shown = 0, left = 0;
    bool done = false;

    if (!view->remarks)
        return;
    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "the compiler said");
    as_cli_print(view->cli, "\n");
    for (unsigned rank = 0; rank <= 3; rank++) {
        size_t range = 0, last = SIZE_MAX, at = next_remark(view, cqa, &range, 0);

        for (; at != SIZE_MAX; at = next_remark(view, cqa, &range, at + 1)) {
            if (rank_of(&view->remarks->at[at]) != rank || is_repeated(view, at, last))
                continue;
            last = at;
            /* For a vectorised loop, other remarks are earlier attempts. */
            if (!all && (rank == 3 || shown == SHOWN_MOST || (rank && done))) {
                left++;
                continue;
            }
            shown++;
            done |= rank == 0;
            write_remark(view, "  - ", &view->remarks->at[at]);
        }
    }
    if (left)
        as_cli_print(view->cli, "  - %s%zu more with --level expert\n",
                     shown ? "" : "nothing of vectors; ", left);
    else if (!shown)
        as_cli_print(view->cli, "  - no remarks for its lines\n");
}

void as_cqa_remarks_row(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_remark *best = view->remarks ? foremost(view, cqa) : NULL;

    if (best)
        write_remark(view, "        ", best);
}

void as_cqa_remarks_json(struct as_quality_view *view, const struct as_cqa *cqa)
{
    struct as_json *json = &view->facts.json;
    size_t range = 0, at = next_remark(view, cqa, &range, 0);

    as_json_key(json, "compiler_said");
    if (!view->remarks) {
        as_json_null(json);
        return;
    }
    as_json_array_begin(json);
    for (; at != SIZE_MAX; at = next_remark(view, cqa, &range, at + 1)) {
        const struct as_remark *it = &view->remarks->at[at];

        as_json_object_begin(json);
        as_json_key_string(json, "file", it->file);
        as_json_key_u64(json, "line", it->line);
        as_json_key_u64(json, "column", it->column);
        as_json_key_string(json, "kind", it->kind == AS_REMARK_DONE ? "done" : "missed");
        as_json_key_string(json, "pass", it->pass);
        as_json_key_string(json, "text", it->text);
        as_json_key_bool(json, "vector", it->vector);
        as_json_key_u64(json, "width_b", it->width_b);
        as_json_key_u64(json, "lanes", it->lanes);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

void as_cqa_remarks_csv(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_remark *best = view->remarks ? foremost(view, cqa) : NULL;
    struct as_str text = {0};

    if (best)
        as_str_appendf(&text, "%s line %" PRIu32 ": %s",
                       best->kind == AS_REMARK_DONE ? "done" : "missed", best->line, best->text);
    as_csv_string(&view->csv, best ? as_str_z(&text) : NULL);
    as_str_fini(&text);
}
