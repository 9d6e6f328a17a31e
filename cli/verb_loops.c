/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay loops BIN`: the loops of a binary, filtered; one sheet for programs, a shorter one for
 * people.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "loop_words.h"
#include "names.h"
#include "program.h"
#include "sheet.h"
#include "text.h"

enum {
    LOOP_ID,
    LOOP_FUNCTION,
    LOOP_LINKAGE,
    LOOP_MODULE,
    LOOP_ADDRESS,
    LOOP_LEVEL,
    LOOP_DEPTH,
    LOOP_PARENT,
    LOOP_FILE,
    LOOP_FIRST_LINE,
    LOOP_LAST_LINE,
    LOOP_SOURCE,
    LOOP_INLINED,
    LOOP_ROLE,
    LOOP_GROUP,
    LOOP_UNROLL,
    LOOP_UNROLL_CONFIDENCE,
    LOOP_PATHS,
    LOOP_BLOCKS,
    LOOP_INSTRUCTIONS,
    LOOP_ENTRIES,
    LOOP_EXITS,
    LOOP_BACK_EDGES,
    LOOP_STREAMS,
    LOOP_ARRAYS,
    LOOP_STRIDE_ZERO,
    LOOP_STRIDE_UNIT,
    LOOP_STRIDE_CONSTANT,
    LOOP_STRIDE_INDIRECT,
    LOOP_STRIDE_UNKNOWN,
    LOOP_CALLS,
    LOOP_IRREDUCIBLE,
    LOOP_UNRESOLVED,
    LOOP_MARKS,
    LOOP_COLUMNS
};

static const struct as_field columns[LOOP_COLUMNS] = {
    [LOOP_ID] = {"id", NULL, 0},
    [LOOP_FUNCTION] = {"function", NULL, 0},
    [LOOP_LINKAGE] = {"linkage_name", NULL, 0},
    [LOOP_MODULE] = {"module", NULL, 0},
    [LOOP_ADDRESS] = {"address", NULL, 0},
    [LOOP_LEVEL] = {"level", NULL, 0},
    [LOOP_DEPTH] = {"depth", NULL, 0},
    [LOOP_PARENT] = {"parent", NULL, 0},
    [LOOP_FILE] = {"file", NULL, 0},
    [LOOP_FIRST_LINE] = {"first_line", NULL, 0},
    [LOOP_LAST_LINE] = {"last_line", NULL, 0},
    [LOOP_SOURCE] = {"source", NULL, 0},
    [LOOP_INLINED] = {"inlined_from", NULL, 0},
    [LOOP_ROLE] = {"role", NULL, 0},
    [LOOP_GROUP] = {"group", NULL, 0},
    [LOOP_UNROLL] = {"unroll", NULL, 0},
    [LOOP_UNROLL_CONFIDENCE] = {"unroll_confidence_percent", NULL, 0},
    [LOOP_PATHS] = {"paths", NULL, 0},
    [LOOP_BLOCKS] = {"blocks", NULL, 0},
    [LOOP_INSTRUCTIONS] = {"instructions", NULL, 0},
    [LOOP_ENTRIES] = {"entries", NULL, 0},
    [LOOP_EXITS] = {"exits", NULL, 0},
    [LOOP_BACK_EDGES] = {"back_edges", NULL, 0},
    [LOOP_STREAMS] = {"streams", NULL, 0},
    [LOOP_ARRAYS] = {"arrays", NULL, 0},
    [LOOP_STRIDE_ZERO] = {"streams_stride_zero", NULL, 0},
    [LOOP_STRIDE_UNIT] = {"streams_stride_unit", NULL, 0},
    [LOOP_STRIDE_CONSTANT] = {"streams_stride_constant", NULL, 0},
    [LOOP_STRIDE_INDIRECT] = {"streams_indirect", NULL, 0},
    [LOOP_STRIDE_UNKNOWN] = {"streams_unknown", NULL, 0},
    [LOOP_CALLS] = {"calls", NULL, 0},
    [LOOP_IRREDUCIBLE] = {"irreducible", NULL, 0},
    [LOOP_UNRESOLVED] = {"unresolved", NULL, 0},
    [LOOP_MARKS] = {"marks", NULL, 0},
};

struct loop_list {
    struct as_cli *cli;
    struct as_chosen chosen;
    AS_VEC(uint32_t) loops;
    struct as_arena arena;                      /* texts of the table for people */
    struct as_str name, source, inlined, marks; /* of one row */
    uint32_t named;                             /* body that `name` is of */
};

static const struct as_loop *loop_of(const struct loop_list *list, size_t row)
{
    return &list->chosen.program->loop[list->loops.at[row]];
}

/* The loop's own range, or NULL. */
static const struct as_source_range *own_range(const struct loop_list *list,
                                               const struct as_loop *loop)
{
    return loop->sources ? &list->chosen.program->loop_source[loop->source] : NULL;
}

static void source_cells(struct loop_list *list, const struct as_loop *loop, struct as_cell *cell)
{
    const struct as_program *program = list->chosen.program;
    const struct as_source_range *own = own_range(list, loop);

    as_str_clear(&list->source);
    as_str_clear(&list->inlined);
    for (uint32_t i = 0; i < loop->sources; i++) {
        if (i)
            as_str_append(&list->source, "\n", 1);
        as_words_source(&list->source, &program->debug, &own[i], false);
    }
    as_words_inlined(&list->inlined, &program->debug, loop->inlined, list->chosen.plain_names,
                     '\n');
    if (own) {
        cell[LOOP_FILE] = as_cell_text(program->debug.file[own->file]);
        cell[LOOP_FIRST_LINE] = as_cell_count(own->first_line);
        cell[LOOP_LAST_LINE] = as_cell_count(own->last_line);
    }
    cell[LOOP_SOURCE] = as_cell_list(as_str_z(&list->source));
    cell[LOOP_INLINED] = as_cell_list(as_str_z(&list->inlined));
}

static void stream_cells(struct loop_list *list, uint32_t id, struct as_cell *cell)
{
    uint32_t count[AS_STRIDE_UNKNOWN + 1] = {0};
    struct as_streams streams;
    struct as_error ignored;

    /* Out of memory here leaves the cells unknown: the rest of the row is still true. */
    if (as_loop_streams(list->chosen.program, id, &streams, &ignored) < 0)
        return;
    for (size_t i = 0; i < streams.n; i++)
        count[streams.at[i].stride]++;
    cell[LOOP_STREAMS] = as_cell_count(streams.n);
    cell[LOOP_ARRAYS] = as_cell_count(streams.arrays);
    for (unsigned s = 0; s <= AS_STRIDE_UNKNOWN; s++)
        cell[LOOP_STRIDE_ZERO + s] = as_cell_count(count[s]);
    as_streams_free(&streams);
}

static void shape_cells(const struct as_program *program, const struct as_loop *loop,
                        struct as_cell *cell)
{
    cell[LOOP_ADDRESS] = as_cell_hex(program->block[loop->header].start);
    cell[LOOP_LEVEL] = as_cell_text(as_level_word(loop->level));
    cell[LOOP_DEPTH] = as_cell_count(loop->depth);
    if (loop->parent != AS_NONE)
        cell[LOOP_PARENT] = as_cell_count(loop->parent);
    cell[LOOP_ROLE] = as_cell_text(as_role_word(loop->role));
    cell[LOOP_GROUP] = as_cell_count(loop->group);
    if (loop->unroll) {
        cell[LOOP_UNROLL] = as_cell_count(loop->unroll);
        cell[LOOP_UNROLL_CONFIDENCE] = as_cell_count(loop->unroll_confidence);
    }
    if (!(loop->bits & AS_LOOP_OUTSIZE))
        cell[LOOP_PATHS] = as_cell_count(loop->paths);
    cell[LOOP_BLOCKS] = as_cell_count(loop->blocks);
    cell[LOOP_INSTRUCTIONS] = as_cell_count(loop->insns);
    cell[LOOP_ENTRIES] = as_cell_count(loop->entries);
    cell[LOOP_EXITS] = as_cell_count(loop->exits);
    cell[LOOP_BACK_EDGES] = as_cell_count(loop->back_edges);
    cell[LOOP_CALLS] = as_cell_bool(loop->bits & AS_LOOP_CALLS);
    cell[LOOP_IRREDUCIBLE] = as_cell_bool(loop->bits & AS_LOOP_IRREDUCIBLE);
    cell[LOOP_UNRESOLVED] = as_cell_bool(loop->bits & AS_LOOP_UNRESOLVED);
}

static void name_body(struct loop_list *list, uint32_t body)
{
    if (list->named == body && list->name.n)
        return;
    as_str_clear(&list->name);
    as_chosen_name(&list->chosen, body, &list->name);
    list->named = body;
}

static void fill_loop_row(void *context, size_t row, struct as_cell *cell)
{
    struct loop_list *list = context;
    const struct as_loop *loop = loop_of(list, row);
    const struct as_program *program = list->chosen.program;

    name_body(list, loop->body);
    cell[LOOP_ID] = as_cell_count(list->loops.at[row]);
    cell[LOOP_FUNCTION] = as_cell_text(as_str_z(&list->name));
    cell[LOOP_LINKAGE] = as_cell_text(program->body[loop->body].name);
    cell[LOOP_MODULE] = as_cell_text(as_object_info(list->chosen.object)->path);
    shape_cells(program, loop, cell);
    source_cells(list, loop, cell);
    if (!(loop->bits & AS_LOOP_OUTSIZE))
        stream_cells(list, list->loops.at[row], cell);
    as_str_clear(&list->marks);
    as_words_loop_marks(&list->marks, loop, '\n');
    cell[LOOP_MARKS] = as_cell_list(as_str_z(&list->marks));
}

/* ---- For people -------------------------------------------------------------------------- */

static const char *copy_loop_text(struct loop_list *list, const struct as_str *s)
{
    const char *text = as_arena_strndup(&list->arena, as_str_z((struct as_str *)s), s->n);

    return text ? text : "";
}

/* The level with its depth as indentation. */
static const char *level_text(struct loop_list *list, const struct as_loop *loop)
{
    struct as_str s = {0};

    for (uint32_t i = 1; i < loop->depth && i < 6; i++)
        as_str_appendz(&s, " ");
    as_str_appendz(&s, as_level_word(loop->level));
    const char *text = copy_loop_text(list, &s);
    as_str_fini(&s);
    return text;
}

static const char *role_text(struct loop_list *list, const struct as_loop *loop)
{
    struct as_str s = {0};

    as_str_appendz(&s, as_role_word(loop->role));
    if (loop->role != AS_ROLE_MAIN)
        as_str_appendf(&s, " of %" PRIu32, loop->group);
    const char *text = copy_loop_text(list, &s);
    as_str_fini(&s);
    return text;
}

static void fill_text(void *context, size_t row, struct as_cell *cell)
{
    struct loop_list *list = context;
    const struct as_loop *loop = loop_of(list, row);
    const struct as_source_range *own = own_range(list, loop);

    name_body(list, loop->body);
    as_str_clear(&list->source);
    as_str_clear(&list->marks);
    if (own)
        as_words_source(&list->source, &list->chosen.program->debug, own, true);
    as_words_loop_marks(&list->marks, loop, ',');
    cell[0] = as_cell_count(list->loops.at[row]);
    cell[1] = as_cell_text(level_text(list, loop));
    cell[2] = as_cell_text(copy_loop_text(list, &list->source));
    cell[3] = as_cell_text(role_text(list, loop));
    cell[4] = loop->unroll ? as_cell_count(loop->unroll) : as_cell_text("");
    cell[5] = as_cell_count(loop->insns);
    cell[6] = loop->paths ? as_cell_count(loop->paths) : as_cell_text("");
    cell[7] = as_cell_text(copy_loop_text(list, &list->marks));
    cell[8] = as_cell_text(copy_loop_text(list, &list->name));
}

static const struct as_field text_columns[] = {
    {"", "id", AS_FIELD_RIGHT},
    {"", "level", 0},
    {"", "source", AS_FIELD_IF_VARIED},
    {"", "role", AS_FIELD_IF_VARIED},
    {"", "unroll", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    {"", "insns", AS_FIELD_RIGHT},
    {"", "paths", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    {"", "marks", AS_FIELD_IF_VARIED},
    {"", "function", AS_FIELD_ELASTIC},
};

static int show_loop_text(struct loop_list *list, struct as_error *err)
{
    const struct as_sheet sheet = {text_columns, sizeof text_columns / sizeof *text_columns,
                                   list->loops.n, list, fill_text};
    struct as_str s = {0}, same = {0};
    size_t innermost = 0;
    int rc = list->loops.n ? as_sheet_text(list->cli, &sheet, &same, err) : 0;

    as_vec_foreach (&list->loops, id) {
        const unsigned level = list->chosen.program->loop[*id].level;
        innermost += level == AS_LEVEL_INNERMOST || level == AS_LEVEL_SINGLE;
    }
    as_append_counted(&s, list->loops.n, "loop");
    as_str_appendz(&s, ", ");
    as_append_count(&s, innermost);
    as_str_appendz(&s, " without a loop inside");
    as_str_appendz(&s, as_str_z(&same));
    as_cli_styled(list->cli, AS_STYLE_DIM, as_str_z(&s));
    as_cli_print(list->cli, "\n");
    as_str_fini(&s);
    as_str_fini(&same);
    return rc;
}

/* ---- The verb ---------------------------------------------------------------------------- */

static int choose_loops(struct loop_list *list, struct as_error *err)
{
    static const int level_of_choice[] = {-1, AS_LEVEL_INNERMOST, AS_LEVEL_OUTERMOST,
                                          AS_LEVEL_BETWEEN, AS_LEVEL_SINGLE};
    const struct as_arguments *args = &list->cli->args;
    const struct as_program *program = list->chosen.program;
    const int level = level_of_choice[args->number[AS_OPTION_LEVEL]];
    const uint64_t limit = args->number[AS_OPTION_LIMIT];

    for (uint32_t i = 0; i < program->loop_n && !(limit && list->loops.n == limit); i++) {
        const struct as_loop *loop = &program->loop[i];

        if (!list->chosen.body[loop->body] || (level >= 0 && loop->level != level) ||
            loop->insns < args->number[AS_OPTION_MIN_INSTRUCTIONS])
            continue;
        if (as_vec_push(&list->loops, i) < 0)
            return as_error_nomem(err, "the list of loops");
    }
    return 0;
}

static int show_loops(struct loop_list *list, struct as_error *err)
{
    const struct as_sheet sheet = {columns, LOOP_COLUMNS, list->loops.n, list, fill_loop_row};

    if (list->cli->format == AS_FORMAT_TEXT)
        return show_loop_text(list, err);
    as_sheet_answer(list->cli, list->chosen.object, "loops", &sheet);
    return 0;
}

int as_verb_loops(struct as_cli *cli, struct as_error *err)
{
    struct loop_list list = {.cli = cli, .named = AS_NONE};
    int rc = as_chosen_load(cli, 0, &list.chosen, err);

    as_arena_init(&list.arena);
    if (rc == 0 && list.chosen.object)
        rc = choose_loops(&list, err);
    if (rc == 0 && list.chosen.object)
        rc = show_loops(&list, err);
    as_vec_fini(&list.loops);
    as_str_fini(&list.name);
    as_str_fini(&list.source);
    as_str_fini(&list.inlined);
    as_str_fini(&list.marks);
    as_arena_fini(&list.arena);
    as_chosen_free(&list.chosen);
    return rc;
}
