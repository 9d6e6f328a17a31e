/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay patch BIN`: which loops of a binary can run as clones, how their iterations are counted,
 * and why the others cannot; the plan for the agent with --plan.
 */
#include "code/code.h"

#include <string.h>

#include "base/error.h"
#include "loop_words.h"
#include "names.h"
#include "patch/patch.h"
#include "program.h"
#include "sheet.h"
#include "text.h"

enum {
    PATCH_ID,
    PATCH_FUNCTION,
    PATCH_ADDRESS,
    PATCH_LEVEL,
    PATCH_INSTRUCTIONS,
    PATCH_CALLS,
    PATCH_CAN,
    PATCH_TRIPS,
    PATCH_REASON,
    PATCH_VARIANTS, /* the last: with --mode vary alone */
    PATCH_COLUMNS
};

static const struct as_field columns[PATCH_COLUMNS] = {
    [PATCH_ID] = {"id", "id", AS_FIELD_RIGHT},
    [PATCH_FUNCTION] = {"function", "function", AS_FIELD_ELASTIC},
    [PATCH_ADDRESS] = {"address", "address", AS_FIELD_RIGHT},
    [PATCH_LEVEL] = {"level", "level", 0},
    [PATCH_INSTRUCTIONS] = {"instructions", "insns", AS_FIELD_RIGHT},
    [PATCH_CALLS] = {"calls", NULL, 0},
    [PATCH_CAN] = {"patchable", NULL, 0},
    [PATCH_TRIPS] = {"trips_by", "trips by", 0},
    [PATCH_REASON] = {"reason", "refused", 0},
    [PATCH_VARIANTS] = {"variants", "variants", 0},
};

struct patch_list {
    struct as_cli *cli;
    struct as_chosen chosen;
    bool *wanted;
    struct as_patch_verdict *verdict;
    AS_VEC(uint32_t) loops;
    struct as_arena arena;
    struct as_str name;
};

static bool is_varied(const struct patch_list *list)
{
    return list->cli->args.number[AS_OPTION_PATCH_MODE] == AS_PATCH_VARY;
}

static const char *trips_by(const struct as_patch_verdict *it)
{
    if (it->loop == AS_NONE)
        return NULL;
    if (it->induction != AS_PATCH_NONE)
        return as_reg_name(it->induction, 8);
    return it->tally != AS_PATCH_NONE ? "a free register" : it->counts ? "memory" : "nothing";
}

/* Those that the loop has, as a list. */
static const char *variants_of(struct patch_list *list, const struct as_patch_verdict *it)
{
    const char *between = list->cli->format == AS_FORMAT_TEXT ? " " : "\n";
    as_str_clear(&list->name);
    for (unsigned kind = AS_VARIANT_REF; kind < AS_VARIANT_KINDS; kind++)
        if (!it->unvaried[kind])
            as_str_appendf(&list->name, "%s%s", list->name.n ? between : "", as_variant_name(kind));
    return as_arena_strndup(&list->arena, as_str_z(&list->name), list->name.n);
}

static const char *none_of(struct patch_list *list, const char *reason)
{
    as_str_clear(&list->name);
    as_str_appendf(&list->name, "none: %s", reason);
    return as_arena_strndup(&list->arena, as_str_z(&list->name), list->name.n);
}

static void fill_patch_row(void *context, size_t row, struct as_cell *cell)
{
    struct patch_list *list = context;
    const uint32_t id = list->loops.at[row];
    const struct as_program *p = list->chosen.program;
    const struct as_loop *loop = &p->loop[id];
    const struct as_patch_verdict *it = &list->verdict[id];
    as_str_clear(&list->name);
    as_chosen_name(&list->chosen, loop->body, &list->name);
    cell[PATCH_ID] = as_cell_count(id);
    cell[PATCH_FUNCTION] =
        as_cell_text(as_arena_strndup(&list->arena, as_str_z(&list->name), list->name.n));
    cell[PATCH_ADDRESS] = as_cell_hex(p->block[loop->header].start);
    cell[PATCH_LEVEL] = as_cell_text(as_level_word(loop->level));
    cell[PATCH_INSTRUCTIONS] = as_cell_count(loop->insns);
    cell[PATCH_CALLS] = as_cell_bool(loop->bits & AS_LOOP_CALLS);
    cell[PATCH_CAN] = as_cell_bool(it->loop != AS_NONE);
    cell[PATCH_TRIPS] = as_cell_text(trips_by(it));
    if (it->refusal)
        cell[PATCH_REASON] = as_cell_text(it->refusal == AS_PATCH_REFUSED_VARIANTS
                                              ? as_variant_refusal_text(it->unvaried[0])
                                              : as_patch_refusal_text(it->refusal));
    if (is_varied(list) && (!it->refusal || list->cli->format == AS_FORMAT_TEXT))
        cell[PATCH_VARIANTS] = it->refusal ? as_cell_text(none_of(list, cell[PATCH_REASON].text))
                                           : as_cell_list(variants_of(list, it));
}

/* ---- For people ----------------------------------------------------------------------------- */

static int show_text(struct patch_list *list, const struct as_sheet *sheet, struct as_error *err)
{
    struct as_str s = {0};
    size_t can = 0, counted = 0;
    int rc = list->loops.n ? as_sheet_text(list->cli, sheet, NULL, err) : 0;
    as_vec_foreach (&list->loops, id) {
        const struct as_patch_verdict *it = &list->verdict[*id];
        can += it->loop != AS_NONE;
        counted +=
            it->loop != AS_NONE && (it->induction != AS_PATCH_NONE || it->tally != AS_PATCH_NONE);
    }
    as_append_counted(&s, list->loops.n, "loop");
    as_str_appendf(&s, ", %zu can be patched, %zu of them have a register that counts iterations",
                   can, counted);
    as_cli_styled(list->cli, AS_STYLE_DIM, as_str_z(&s));
    as_cli_print(list->cli, "\n");
    as_str_fini(&s);
    return rc;
}

/* ---- The verb ------------------------------------------------------------------------------- */

static int choose_patches(struct patch_list *list, struct as_error *err)
{
    const struct as_arguments *args = &list->cli->args;
    const struct as_program *p = list->chosen.program;
    const bool nests = as_given(args, AS_OPTION_NESTS);
    list->wanted = as_calloc(p->loop_n + 1, sizeof *list->wanted);
    list->verdict = as_calloc(p->loop_n + 1, sizeof *list->verdict);
    if (!list->wanted || !list->verdict)
        return as_error_nomem(err, "the chosen loops");
    for (uint32_t l = 0; l < p->loop_n; l++) {
        const unsigned level = p->loop[l].level;
        if (!list->chosen.body[p->loop[l].body] ||
            (!nests && level != AS_LEVEL_INNERMOST && level != AS_LEVEL_SINGLE))
            continue;
        list->wanted[l] = true;
        if (as_vec_push(&list->loops, l) < 0)
            return as_error_nomem(err, "the chosen loops");
    }
    return 0;
}

static int plan_patches(struct patch_list *list, struct as_error *err)
{
    const struct as_arguments *args = &list->cli->args;
    const struct as_patch_wish wish = {
        .mode = (enum as_patch_mode)args->number[AS_OPTION_PATCH_MODE],
        .period = as_given(args, AS_OPTION_PERIOD) ? (uint32_t)args->number[AS_OPTION_PERIOD]
                  : is_varied(list)                ? 31
                                                   : 1000,
        .kept = 4096,
        .variants = UINT32_MAX};
    struct as_patch_maker *maker = NULL;
    int rc = as_patch_maker_new(&wish, &maker, err);
    if (rc == 0)
        rc = as_patch_maker_add(maker, list->chosen.program, list->wanted, list->verdict, err);
    if (rc == 0 && as_given(args, AS_OPTION_PLAN))
        rc = as_patch_maker_write(maker, args->value[AS_OPTION_PLAN], err);
    as_patch_maker_free(&maker);
    return rc;
}

static int show_patches(struct patch_list *list, struct as_error *err)
{
    struct as_field field[PATCH_COLUMNS];
    memcpy(field, columns, sizeof field);
    if (is_varied(list)) /* one of the two is empty: for people they share a column */
        field[PATCH_REASON].title = NULL;
    const struct as_sheet sheet = {field, is_varied(list) ? PATCH_COLUMNS : PATCH_VARIANTS,
                                   list->loops.n, list, fill_patch_row};
    if (list->cli->format == AS_FORMAT_TEXT)
        return show_text(list, &sheet, err);
    as_sheet_answer(list->cli, list->chosen.object, "loops", &sheet);
    return 0;
}

int as_verb_patch(struct as_cli *cli, struct as_error *err)
{
    struct patch_list list = {.cli = cli};
    int rc = as_chosen_load(cli, 0, &list.chosen, err);
    as_arena_init(&list.arena);
    if (rc == 0 && list.chosen.object) {
        rc = choose_patches(&list, err);
        if (rc == 0)
            rc = plan_patches(&list, err);
        if (rc == 0)
            rc = show_patches(&list, err);
    }
    as_vec_fini(&list.loops);
    as_str_fini(&list.name);
    as_arena_fini(&list.arena);
    as_free(list.wanted);
    as_free(list.verdict);
    as_chosen_free(&list.chosen);
    return rc;
}
