/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembly as text: source lines above their instructions, targets as function+offset. The file
 * and the chain of inlined calls are named when they change.
 */
#include <inttypes.h>
#include <string.h>

#include "disasm.h"
#include "insn_words.h"

struct listed_place {
    uint32_t file, line, inlined; /* AS_NONE = unknown */
};

struct listing {
    struct as_disasm *d;
    const struct as_disasm_range *range;
    struct as_str s;
    struct listed_place last;
    int digits; /* of addresses */
    int column; /* where notes beside instructions begin */
};

/* Hands on what there is: the listing of a large range needs little memory. */
static void flush_listing(struct listing *l)
{
    as_out_write(&l->d->cli->out, as_str_z(&l->s), l->s.n);
    as_str_clear(&l->s);
}

/* Only the sink writes escape sequences: in a line they would look like those of a name. */
static void paint(struct listing *l, enum as_style style)
{
    if (l->d->cli->color)
        flush_listing(l);
    as_cli_style(l->d->cli, style);
}

/* "inlined dot at solver.c:12 inlined ..." from the innermost outwards. */
static void write_chain(struct listing *l, uint32_t at)
{
    const struct as_debug *debug = &l->d->debug;

    while (at < debug->inline_n && debug->inlines[at].parent != AS_NONE) {
        const struct as_inline *it = &debug->inlines[at];
        const char *file = as_disasm_file(l->d, it->call_file);

        as_str_appendz(&l->s, ", in ");
        as_disasm_name(l->d, it->name ? it->name : "?", &l->s);
        if (file) {
            const char *slash = strrchr(file, '/');

            as_str_appendf(&l->s, " inlined at %s:%" PRIu32, slash ? slash + 1 : file,
                           it->call_line);
        }
        at = it->parent;
    }
}

static void append_source_line(struct listing *l, const struct listed_place *here)
{
    const char *file = as_disasm_file(l->d, here->file);
    const struct as_view text = as_source_line(&l->d->sources, here->file, file, here->line);

    if (here->file != l->last.file || here->inlined != l->last.inlined) {
        paint(l, AS_STYLE_DIM);
        as_str_appendf(&l->s, "%s", file);
        write_chain(l, here->inlined);
        paint(l, AS_STYLE_PLAIN);
        as_str_append(&l->s, "\n", 1);
    }
    paint(l, AS_STYLE_CYAN);
    as_str_appendf(&l->s, "%6" PRIu32 " |%s%.*s", here->line, text.n ? " " : "", (int)text.n,
                   text.n ? text.p : "");
    paint(l, AS_STYLE_PLAIN);
    as_str_append(&l->s, "\n", 1);
}

static void write_source(struct listing *l, uint64_t address)
{
    const struct as_line *line = as_debug_line_at(&l->d->debug, address);
    struct listed_place here = {AS_NONE, 0, AS_NONE};

    if (!line || line->file == AS_NONE || !line->line || !as_disasm_file(l->d, line->file))
        return;
    here.file = line->file;
    here.line = line->line;
    here.inlined = as_debug_inline_at(l->d->object, address);
    if (memcmp(&here, &l->last, sizeof here) != 0)
        append_source_line(l, &here);
    l->last = here;
}

/* The target of a branch, or what stands at the address of a memory operand. */
static void write_target(struct listing *l, const struct as_insn *insn, size_t begin)
{
    struct as_str label = {0};
    uint64_t address;
    const bool is_target = as_insn_target(insn, &address);

    if ((is_target || as_insn_memory_address(insn, &address)) &&
        as_disasm_label(l->d, address, &label)) {
        const int width = (int)(l->s.n - begin);

        as_str_appendf(&l->s, "%*s", width < l->column ? l->column - width : 1, "");
        paint(l, AS_STYLE_YELLOW);
        if (!is_target)
            as_str_appendf(&l->s, "# 0x%" PRIx64 " ", address);
        as_str_appendf(&l->s, "<%s>", as_str_z(&label));
        paint(l, AS_STYLE_PLAIN);
    }
    as_str_fini(&label);
}

static void print_bytes(struct listing *l, const struct as_insn *insn)
{
    const uint8_t *p = l->range->bytes + (insn->address - l->range->start);

    for (unsigned i = 0; i < insn->length; i++)
        as_str_appendf(&l->s, "%02x ", p[i]);
    as_str_appendf(&l->s, "%*s", insn->length < 8 ? 3 * (8 - insn->length) : 0, "");
}

static void set_of(struct listing *l, const char *verb, struct as_regset set, unsigned flags)
{
    const size_t before = l->s.n;

    as_str_appendf(&l->s, "; %s ", verb);
    const size_t begin = l->s.n;
    as_words_registers(&l->s, set, ' ');
    if (flags && l->s.n > begin)
        as_str_append(&l->s, " ", 1);
    as_words_flags(&l->s, flags, ' ');
    if (l->s.n == begin) { /* nothing: take the introduction back */
        l->s.n = before;
        l->s.p[before] = '\0';
    }
}

static void append_insn_facts(struct listing *l, const struct as_insn *insn)
{
    const struct as_form *form = as_form_get(insn->form);
    const char *element = as_element_word(form->element);
    struct as_effects effects;

    as_insn_effects(insn, &effects);
    paint(l, AS_STYLE_DIM);
    as_str_appendf(&l->s, "%*s%s", l->digits + 6, "", as_class_name(form->insn_class));
    if (element && form->lanes)
        as_str_appendf(&l->s, " %s x%u", element, form->lanes);
    if (form->flops)
        as_str_appendf(&l->s, ", %u flop%s", form->flops, form->flops == 1 ? "" : "s");
    if (form->intops)
        as_str_appendf(&l->s, ", %u intop%s", form->intops, form->intops == 1 ? "" : "s");
    set_of(l, "reads", effects.read, effects.flags_read);
    set_of(l, "writes", effects.written, effects.flags_written);
    const size_t before = l->s.n;
    as_str_appendz(&l->s, "; ");
    as_words_memory(&l->s, &l->range->code, insn, ',');
    if (l->s.n == before + 2) {
        l->s.n = before;
        l->s.p[before] = '\0';
    }
    paint(l, AS_STYLE_PLAIN);
    as_str_append(&l->s, "\n", 1);
}

static void instruction(struct listing *l, size_t i)
{
    const struct as_insn *insn = &l->range->code.insn[i];
    const size_t begin = l->s.n;
    char assembly[256];

    as_str_appendf(&l->s, "  %s %0*" PRIx64 "  ", l->range->target[i] ? ">" : " ", l->digits,
                   insn->address);
    if (l->d->with_bytes)
        print_bytes(l, insn);
    as_disasm_assembly(l->d, l->range, i, assembly, sizeof assembly);
    as_str_appendz(&l->s, assembly);
    write_target(l, insn, begin);
    as_str_append(&l->s, "\n", 1);
    if (l->d->with_facts)
        append_insn_facts(l, insn);
}

static void write_heading(struct listing *l)
{
    const struct as_disasm_range *range = l->range;
    const struct as_function *f = range->function;

    paint(l, AS_STYLE_BOLD);
    as_str_appendz(&l->s, f ? range->name : "range");
    paint(l, AS_STYLE_PLAIN);
    if (f && range->start != f->start)
        as_str_appendf(&l->s, "+0x%" PRIx64, range->start - f->start);
    as_str_appendf(&l->s, "  %" PRIx64 "-%" PRIx64 ", %" PRIu64 " bytes, %zu instructions",
                   range->start, range->end, range->end - range->start, range->code.n);
    if (range->shown < range->code.n)
        as_str_appendf(&l->s, ", the first %zu", range->shown);
    if (range->block != AS_NONE) {
        struct as_str words = {0};

        as_disasm_block_words(l->d, range, &words, '\n');
        as_str_appendz(&l->s, ": ");
        for (const char *p = as_str_z(&words); *p; p++)
            as_str_append(&l->s, *p == '\n' ? ", " : p, *p == '\n' ? 2 : 1);
        as_str_fini(&words);
    }
    as_str_appendz(&l->s, "\n");
}

void as_disasm_text(struct as_disasm *d, const struct as_disasm_range *range)
{
    struct listing l = {.d = d, .range = range, .last = {AS_NONE, 0, AS_NONE}};

    l.digits = range->end > UINT64_C(0xffffffff) ? 12 : range->end > 0xffffff ? 8 : 6;
    l.column = l.digits + 6 + (d->with_bytes ? 24 : 0) + 34;
    write_heading(&l);
    for (size_t i = 0; i < range->shown; i++) {
        if (d->with_source)
            write_source(&l, range->code.insn[i].address);
        instruction(&l, i);
        if (l.s.n > 60000)
            flush_listing(&l);
    }
    as_str_append(&l.s, "\n", 1);
    flush_listing(&l);
    as_str_fini(&l.s);
}
