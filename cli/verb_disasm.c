/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay disasm BIN`: finds the requested ranges of code, decodes them one by one and hands each to
 * the chosen output.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "disasm.h"
#include "names.h"
#include "program.h"

/* ---- Names and places, used by both renderings ------------------------------------------- */

void as_disasm_name(const struct as_disasm *d, const char *linkage, struct as_str *out)
{
    as_name_append(out, linkage, d->plain_names);
}

const char *as_disasm_file(const struct as_disasm *d, uint32_t file)
{
    return file < d->debug.file_n ? d->debug.file[file] : NULL;
}

/* The data symbol that covers `address`, or NULL. */
static const struct as_symbol *object_at(const struct as_disasm *d, uint64_t address)
{
    size_t low = as_first_not(i, d->symbol_n, d->symbol[i].address <= address);
    assert(low < 2 || d->symbol[low - 2].address <= d->symbol[low - 1].address); /* sorted */
    for (size_t i = low, tried = 0; i > 0 && tried < 8; i--, tried++) {
        const struct as_symbol *symbol = &d->symbol[i - 1];

        if (symbol->kind == AS_SYMBOL_OBJECT && address - symbol->address < symbol->size_b)
            return symbol;
    }
    return NULL;
}

bool as_disasm_label(const struct as_disasm *d, uint64_t address, struct as_str *out)
{
    const struct as_function *f = as_function_at(d->function, d->function_n, address);
    const struct as_symbol *symbol = f ? NULL : object_at(d, address);
    uint64_t start;

    if (!f && !symbol)
        return false;
    start = f ? f->start : symbol->address;
    as_disasm_name(d, f ? f->name : symbol->name, out);
    if (address != start)
        as_str_appendf(out, "+0x%" PRIx64, address - start);
    return true;
}

int as_disasm_assembly(const struct as_disasm *d, const struct as_disasm_range *range, size_t i,
                       char *buf, size_t buf_b)
{
    const struct as_insn *insn = &range->code.insn[i];

    return as_insn_format(range->bytes + (insn->address - range->start), insn->length,
                          insn->address, d->syntax, buf, buf_b);
}

/* ---- Ranges ------------------------------------------------------------------------------ */

static int mark_targets(struct as_disasm_range *range, struct as_error *err)
{
    uint64_t target;
    size_t at;

    range->target = as_calloc(range->code.n + 1, sizeof *range->target);
    if (!range->target)
        return as_error_nomem(err, "the branch targets");
    for (size_t i = 0; i < range->code.n; i++) {
        const struct as_insn *insn = &range->code.insn[i];
        const unsigned class = as_form_get(insn->form)->insn_class;

        if ((class != AS_CLASS_JUMP && class != AS_CLASS_BRANCH) || !as_insn_target(insn, &target))
            continue;
        at = as_code_find(&range->code, target);
        if (at != SIZE_MAX && range->code.insn[at].address == target)
            range->target[at] = true;
    }
    return 0;
}

static int decode_range(const struct as_disasm *d, uint64_t start, uint64_t end,
                        struct as_disasm_range *range, struct as_error *err)
{
    uint64_t size_b = end - start;
    const uint64_t limit = d->cli->args.number[AS_OPTION_LIMIT];

    range->start = start;
    range->bytes = as_object_bytes(d->object, start, &size_b);
    if (!range->bytes)
        return as_error_set(err, AS_ERR_NO_CODE,
                            "%s: no bytes of the file stand at 0x%" PRIx64
                            "; 'assay functions' lists where its code is",
                            as_object_info(d->object)->path, start);
    if (size_b > end - start)
        size_b = end - start;
    else if (size_b < end - start)
        as_cli_note(d->cli, "%s: only 0x%" PRIx64 "-0x%" PRIx64 " of the range is in the file",
                    as_object_info(d->object)->path, start, start + size_b);
    range->end = start + size_b;
    AS_TRY(as_decode(range->bytes, size_b, start, &range->code, err));
    range->shown = limit && limit < range->code.n ? limit : range->code.n;
    return mark_targets(range, err);
}

static int show_range(struct as_disasm *d, struct as_facts *facts,
                      const struct as_function *function, uint64_t start, uint64_t end,
                      uint32_t block, struct as_error *err)
{
    struct as_disasm_range range = {.function = function, .block = block};
    struct as_str name = {0};
    int rc = decode_range(d, start, end, &range, err);

    if (rc == 0) {
        if (function)
            as_disasm_name(d, function->name, &name);
        range.name = as_str_z(&name);
        if (d->cli->format == AS_FORMAT_TEXT)
            as_disasm_text(d, &range);
        else if (d->cli->format == AS_FORMAT_JSON)
            as_disasm_json(d, facts, &range);
        else
            as_disasm_csv(d, &range);
    }
    as_str_fini(&name);
    as_free(range.target);
    as_code_free(&range.code);
    return rc;
}

/* "A-B", hexadecimal. */
static int parse_range(const char *text, uint64_t *start, uint64_t *end, struct as_error *err)
{
    char *after;

    *start = strtoull(text, &after, 16);
    if (after != text && *after == '-') {
        const char *second = after + 1;

        *end = strtoull(second, &after, 16);
        if (after != second && !*after && *start < *end)
            return 0;
    }
    return as_error_set(err, AS_ERR_USAGE,
                        "--range: invalid range '%s'; use A-B with A below B, both hexadecimal",
                        text);
}

static int show_functions(struct as_disasm *d, struct as_facts *facts,
                          const struct as_selection *chosen, struct as_error *err)
{
    for (size_t i = 0; i < chosen->function.n; i++) {
        const struct as_function *f = &d->function[chosen->function.at[i]];

        if (f->end == f->start)
            as_cli_note(d->cli, "%s: the end of '%s' is unknown; it is left out",
                        as_object_info(d->object)->path, f->name);
        else
            AS_TRY(show_range(d, facts, f, f->start, f->end, AS_NONE, err));
    }
    return 0;
}

/* Blocks of the loop in the order of their addresses. */
static int show_loop(struct as_disasm *d, struct as_facts *facts, struct as_error *err)
{
    const struct as_loop *loop = &d->program->loop[d->loop];
    struct as_str words = {0};

    if (d->cli->format == AS_FORMAT_TEXT) {
        as_disasm_loop_words(d, &words);
        as_cli_styled(d->cli, AS_STYLE_BOLD, as_str_z(&words));
        as_cli_print(d->cli, "\n\n");
    }
    as_str_fini(&words);
    for (uint32_t k = 0; k < loop->blocks; k++) {
        const uint32_t index = d->program->loop_block[loop->first_block + k];
        const struct as_block *block = &d->program->block[index];

        AS_TRY(show_range(d, facts, as_function_at(d->function, d->function_n, block->start),
                          block->start, block->start + block->size_b, index, err));
    }
    return 0;
}

static int show_disassembly(struct as_disasm *d, const struct as_selection *chosen,
                            struct as_error *err)
{
    const char *text = d->cli->args.value[AS_OPTION_RANGE];
    uint64_t start = 0, end = 0;
    struct as_facts facts;
    int rc;

    if (text)
        AS_TRY(parse_range(text, &start, &end, err));
    if (d->cli->format == AS_FORMAT_JSON) {
        as_facts_begin(&facts, d->cli);
        as_facts_binary(&facts, d->object);
        as_facts_array(&facts, "ranges");
    } else if (d->cli->format == AS_FORMAT_CSV) {
        as_disasm_csv_header(d);
    }
    rc = show_functions(d, &facts, chosen, err);
    if (rc == 0 && text)
        rc = show_range(d, &facts, as_function_at(d->function, d->function_n, start), start, end,
                        AS_NONE, err);
    if (rc == 0 && d->program)
        rc = show_loop(d, &facts, err);
    if (d->cli->format == AS_FORMAT_JSON)
        as_facts_close(&facts);
    if (rc == 0 && d->program && d->cli->format != AS_FORMAT_CSV)
        rc = as_disasm_loop_tables(d, d->cli->format == AS_FORMAT_JSON ? &facts : NULL, err);
    if (d->cli->format == AS_FORMAT_JSON)
        as_facts_end(&facts);
    return rc;
}

/* ---- The verb ---------------------------------------------------------------------------- */

static void read_options(struct as_disasm *d)
{
    const struct as_arguments *args = &d->cli->args;

    d->syntax = args->number[AS_OPTION_SYNTAX] ? AS_SYNTAX_ATT : AS_SYNTAX_INTEL;
    d->with_source = !as_given(args, AS_OPTION_NO_SOURCE);
    d->with_bytes = as_given(args, AS_OPTION_BYTES);
    d->with_facts = as_given(args, AS_OPTION_FACTS);
    d->plain_names = as_given(args, AS_OPTION_NO_DEMANGLE);
    d->with_dependences = as_given(args, AS_OPTION_DEPENDENCES);
    d->with_streams = as_given(args, AS_OPTION_STREAMS);
}

static int load_symbols(struct as_disasm *d, struct as_object *object, struct as_error *err)
{
    const unsigned parts = d->with_source ? AS_DEBUG_ALL : 0;

    d->object = object;
    AS_TRY(as_object_functions(object, d->with_source, &d->function, &d->function_n, err));
    if (parts)
        AS_TRY(as_object_debug(object, parts, d->cli->jobs, &d->debug, NULL, err));
    d->symbol_n = as_object_symbols(object, &d->symbol);
    return 0;
}

static int analyse_loops(struct as_disasm *d, struct as_object *object, struct as_program **program,
                         struct as_error *err)
{
    const struct as_program_options options = {
        .jobs = d->cli->jobs, .path_limit = AS_PATH_LIMIT, .with_source = d->with_source};

    if (!as_given(&d->cli->args, AS_OPTION_LOOP))
        return 0;
    AS_TRY(as_program_new(object, &options, program, err));
    d->program = *program;
    return as_loop_of_option(d->cli, *program, &d->loop, err);
}

static int choose_ranges(const struct as_disasm *d, struct as_selection *chosen,
                         struct as_error *err)
{
    const struct as_arguments *args = &d->cli->args;

    for (size_t i = 0; i < args->list[AS_OPTION_FUNCTION].n; i++)
        AS_TRY(as_select_function(d->object, d->function, d->function_n,
                                  args->list[AS_OPTION_FUNCTION].at[i], chosen, err));
    return 0;
}

int as_verb_disasm(struct as_cli *cli, struct as_error *err)
{
    struct as_disasm d = {.cli = cli, .loop = AS_NONE};
    struct as_program *program = NULL;
    struct as_selection chosen = {0};
    struct as_object *object;
    int rc;

    if (!as_given(&cli->args, AS_OPTION_FUNCTION) && !as_given(&cli->args, AS_OPTION_RANGE) &&
        !as_given(&cli->args, AS_OPTION_LOOP))
        return as_error_set(
            err, AS_ERR_USAGE,
            "disasm: nothing chosen; use --function NAME, --range A-B or --loop ID");
    read_options(&d);
    if ((d.with_dependences || d.with_streams) && !as_given(&cli->args, AS_OPTION_LOOP))
        return as_error_set(err, AS_ERR_USAGE,
                            "disasm: --%s needs a loop; add --loop ID ('assay loops' lists them)",
                            d.with_dependences ? "dependences" : "streams");
    object = as_cli_open(cli, cli->args.positional[0]);
    if (!object)
        return 0;
    rc = analyse_loops(&d, object, &program, err);
    if (rc == 0)
        rc = load_symbols(&d, object, err);
    if (rc == 0)
        rc = choose_ranges(&d, &chosen, err);
    if (rc == 0)
        rc = show_disassembly(&d, &chosen, err);
    as_vec_fini(&chosen.function);
    as_sources_fini(&d.sources);
    as_program_free(&program);
    as_object_close(&object);
    return rc;
}
