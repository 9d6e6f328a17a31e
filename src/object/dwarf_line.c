/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the line number programs of DWARF 2 to 5: header, file table and state machine. It merges
 * all programs into one table, sorted by address. x86-64 is not VLIW, so op_index is ignored.
 * Source: DWARF 5, section 6.2.
 */
#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_internal.h"

#define GUESS_MOST ((size_t)1 << 16) /* max rows allocated before the program runs */

/* ---- Header ------------------------------------------------------------------------------- */

struct dirs {
    AS_VEC(const char *) at;
};

/* Reads the file table of versions 2 to 4. Directory and file numbers start at 1; directory 0 is
 * comp_dir. */
static int files_v4(struct as_dw_line_table *table, struct as_read *c, struct dirs *dirs,
                    struct as_dw_files *files)
{
    AS_VEC(uint32_t) list = {0};
    const char *comp_dir = table->unit->comp_dir;
    int rc = as_vec_push(&dirs->at, "");
    for (const char *s; rc == 0 && *(s = as_read_string(c).p);)
        rc = as_vec_push(&dirs->at, s);
    if (rc == 0)
        rc = as_vec_push(&list, AS_NONE);
    while (rc == 0 && !c->bad) {
        const char *name = as_read_string(c).p;
        if (!*name)
            break;
        uint64_t dir = as_read_uleb(c);
        as_read_uleb(c); /* time */
        as_read_uleb(c); /* length */
        uint32_t id =
            as_dw_file_intern(files, comp_dir, dir < dirs->at.n ? dirs->at.at[dir] : "", name);
        rc = id == AS_NONE ? AS_ERR_NOMEM : as_vec_push(&list, id);
    }
    if (rc == 0 && list.n) {
        table->file = as_arena_array(files->arena, uint32_t, list.n);
        if (table->file)
            memcpy(table->file, list.at, list.n * sizeof *list.at);
        else
            rc = AS_ERR_NOMEM;
        table->file_n = (uint32_t)list.n;
    }
    as_vec_fini(&list);
    return rc;
}

struct line_entry {
    const char *path;
    uint64_t dir;
};

/* An entry format of version 5: at most 255 pairs of content type and form. */
struct format {
    struct {
        uint64_t content;
        struct as_dw_attr attr;
    } at[255];
    unsigned n;
};

static void read_format(struct as_read *c, struct format *format)
{
    format->n = as_read_u8(c);
    for (unsigned i = 0; i < format->n; i++) {
        format->at[i].content = as_read_uleb(c);
        uint64_t form = as_read_uleb(c);
        format->at[i].attr = (struct as_dw_attr){.form = (uint16_t)(form > 0xffff ? 0 : form)};
    }
}

static struct line_entry read_entry(const struct as_dw_unit *unit, struct as_read *c,
                                    const struct format *format)
{
    struct line_entry entry = {0};
    for (unsigned i = 0; i < format->n; i++) {
        struct as_dw_value v;
        as_dw_form_read(unit, c, &format->at[i].attr, &v);
        if (format->at[i].content == DW_LNCT_path)
            entry.path = v.kind == AS_DW_STRING ? v.s : NULL;
        else if (format->at[i].content == DW_LNCT_directory_index)
            entry.dir = v.u;
    }
    return entry;
}

static int files_v5(struct as_dw_line_table *table, const struct as_dw_unit *unit,
                    struct as_read *c, struct dirs *dirs, struct as_dw_files *files)
{
    struct format format;
    read_format(c, &format);
    uint64_t n = as_read_uleb(c);
    for (uint64_t i = 0; i < n && format.n && !c->bad; i++) {
        struct line_entry entry = read_entry(unit, c, &format);
        /* Directory 0 is the compilation directory; the others are relative to it. */
        if (as_vec_push(&dirs->at, entry.path ? entry.path : "") < 0)
            return AS_ERR_NOMEM;
    }
    const char *comp_dir = dirs->at.n && *dirs->at.at[0] == '/' ? dirs->at.at[0] : unit->comp_dir;
    read_format(c, &format);
    n = as_read_uleb(c);
    /* An entry has at least one byte. The check also limits the table for an empty format. */
    if (n > as_read_left(c) || c->bad)
        return AS_ERR_CORRUPT;
    table->file = as_arena_array(files->arena, uint32_t, (size_t)n + 1);
    if (!table->file)
        return AS_ERR_NOMEM;
    for (uint64_t i = 0; i < n && format.n && !c->bad; i++) {
        struct line_entry entry = read_entry(unit, c, &format);
        uint32_t id = AS_NONE;
        if (entry.path && !c->bad) {
            const char *dir = entry.dir < dirs->at.n ? dirs->at.at[entry.dir] : "";
            id = as_dw_file_intern(files, comp_dir, dir, entry.path);
            if (id == AS_NONE)
                return AS_ERR_NOMEM;
        }
        table->file[table->file_n++] = id;
    }
    return 0;
}

/* Reads the fixed fields of the header. Returns false if they are invalid. */
static bool read_fields(struct as_dw_line_table *table, struct as_read *c)
{
    uint64_t length = as_dw_initial_length(c, &table->offset_b);
    if (c->bad || length > as_read_left(c))
        return false;
    c->end = c->at + length;
    table->end = (uint64_t)(c->end - table->bytes.p);
    table->version = as_read_u16(c);
    table->address_b = table->unit->address_b;
    if (table->version < 2 || table->version > 5)
        return false;
    if (table->version >= 5) {
        table->address_b = as_read_u8(c);
        as_read_u8(c); /* segment selector size */
    }
    uint64_t header_b = as_read_uint(c, table->offset_b);
    if (c->bad || header_b > as_read_left(c))
        return false;
    table->program = (uint64_t)(c->at - table->bytes.p) + header_b;
    c->end = table->bytes.p + table->program;
    table->min_inst_b = as_read_u8(c);
    if (table->version >= 4)
        as_read_u8(c); /* operations per instruction */
    table->default_stmt = as_read_u8(c) != 0;
    table->line_base = as_read_i8(c);
    table->line_range = as_read_u8(c);
    table->opcode_base = as_read_u8(c);
    table->opcode_lengths = c->at;
    as_read_skip(c, table->opcode_base ? table->opcode_base - 1u : 0);
    return !c->bad && table->opcode_base && table->line_range &&
           (table->address_b == 8 || table->address_b == 4);
}

int as_dw_line_header(struct as_dw_line_table *table, struct as_dw_files *files)
{
    struct as_read c = as_dw_read_of(table->bytes, table->offset, table->bytes.n);
    table->damaged = true;
    if (c.bad || !read_fields(table, &c))
        return 0;
    struct dirs dirs = {0};
    /* The header of the table gives the size of its offsets, not the unit. */
    struct as_dw_unit unit = *table->unit;
    unit.offset_b = table->offset_b;
    int rc = table->version >= 5 ? files_v5(table, &unit, &c, &dirs, files)
                                 : files_v4(table, &c, &dirs, files);
    as_vec_fini(&dirs.at);
    if (rc == AS_ERR_NOMEM)
        return rc;
    table->damaged = rc < 0 || c.bad;
    return 0;
}

/* ---- Program ------------------------------------------------------------------------------ */

struct line_state {
    uint64_t address, file;
    uint64_t line, column;
    bool is_stmt;
};

struct line_machine {
    struct as_dw_line_table *table;
    const struct as_dw_file *main;
    struct line_state now;
    size_t first; /* index of the first row of the sequence */
    bool open, sorted;
};

static void reset(struct line_machine *m)
{
    m->now = (struct line_state){.file = 1, .line = 1, .is_stmt = m->table->default_stmt};
    m->first = m->table->row.n;
    m->open = false;
    m->sorted = true;
}

static int emit_line(struct line_machine *m)
{
    const struct as_dw_line_table *table = m->table;
    const struct line_state *now = &m->now;
    struct as_line row = {.address = now->address,
                          .file = now->file < table->file_n ? table->file[now->file] : AS_NONE,
                          .line = now->line > UINT32_MAX ? 0 : (uint32_t)now->line,
                          .column = now->column > UINT16_MAX ? UINT16_MAX : (uint16_t)now->column,
                          .is_stmt = now->is_stmt};
    if (table->row.n > m->first) {
        const struct as_line *last = &table->row.at[table->row.n - 1];
        if (last->address == row.address && last->line == row.line && last->file == row.file &&
            last->column == row.column && last->is_stmt == row.is_stmt)
            return 0; /* both rows differ only in view or discriminator */
        m->sorted &= last->address <= row.address;
    }
    m->open = true;
    return as_vec_push(&m->table->row, row);
}

static int by_address(const void *a, const void *b)
{
    const struct as_line *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int end_sequence(struct line_machine *m)
{
    struct as_dw_line_table *table = m->table;
    struct as_line last = {.address = m->now.address, .file = AS_NONE};
    size_t n = table->row.n - m->first;
    if (n && !m->sorted)
        qsort(table->row.at + m->first, n, sizeof *table->row.at, by_address);
    uint64_t start = n ? table->row.at[m->first].address : 0;
    if (n == 0 || last.address <= start || last.address < table->row.at[table->row.n - 1].address ||
        !as_dw_is_code(m->main, start)) {
        /* The linker has removed this code, so its addresses are invalid. */
        table->row.n = m->first;
        reset(m);
        return 0;
    }
    struct as_dw_sequence seq = {
        .start = start, .end = last.address, .first = m->first, .n = n + 1};
    AS_TRY(as_vec_push(&table->row, last));
    AS_TRY(as_vec_push(&table->seq, seq));
    reset(m);
    return 0;
}

static int extended(struct line_machine *m, struct as_read *c)
{
    uint64_t length = as_read_uleb(c);
    struct as_read in = as_read_sub(c, length);
    if (length == 0 || in.bad)
        return 0;
    switch (as_read_u8(&in)) {
    case DW_LNE_end_sequence:
        return end_sequence(m);
    case DW_LNE_set_address:
        m->now.address = as_read_uint(&in, as_read_left(&in) < 8 ? (unsigned)as_read_left(&in) : 8);
        break;
    default: /* discriminators are not used; DW_LNE_define_file is obsolete */
        break;
    }
    return 0;
}

static int standard(struct line_machine *m, struct as_read *c, uint8_t opcode)
{
    const struct as_dw_line_table *table = m->table;
    switch (opcode) {
    case DW_LNS_copy:
        return emit_line(m);
    case DW_LNS_advance_pc:
        m->now.address += as_read_uleb(c) * table->min_inst_b;
        break;
    case DW_LNS_advance_line:
        m->now.line = (uint32_t)(m->now.line + (uint64_t)as_read_sleb(c));
        break;
    case DW_LNS_set_file:
        m->now.file = as_read_uleb(c);
        break;
    case DW_LNS_set_column:
        m->now.column = as_read_uleb(c);
        break;
    case DW_LNS_negate_stmt:
        m->now.is_stmt = !m->now.is_stmt;
        break;
    case DW_LNS_const_add_pc:
        m->now.address +=
            (uint64_t)((255u - table->opcode_base) / table->line_range) * table->min_inst_b;
        break;
    case DW_LNS_fixed_advance_pc:
        m->now.address += as_read_u16(c);
        break;
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        break;
    default: /* DW_LNS_set_isa and unknown opcodes: the header has the number of operands */
        for (unsigned i = table->opcode_lengths[opcode - 1]; i; i--)
            as_read_uleb(c);
        break;
    }
    return 0;
}

int as_dw_line_program(struct as_dw_line_table *table, const struct as_dw_file *main)
{
    if (table->damaged)
        return 0;
    struct as_read c = as_dw_read_of(table->bytes, table->program, table->end);
    struct line_machine m = {.table = table, .main = main};
    reset(&m);
    /* gcc needs about four bytes for a row. Memory that is not used stays untouched. */
    const size_t guess = as_read_left(&c) / 4;
    if (as_vec_reserve(&table->row, guess < GUESS_MOST ? guess : GUESS_MOST) < 0)
        return AS_ERR_NOMEM;
    while (c.at && c.at < c.end) {
        uint8_t opcode = *c.at++;
        if (opcode >= table->opcode_base) {
            unsigned adjusted = opcode - (unsigned)table->opcode_base;
            m.now.address += (uint64_t)(adjusted / table->line_range) * table->min_inst_b;
            m.now.line = (uint32_t)(m.now.line + (uint64_t)(table->line_base +
                                                            (int)(adjusted % table->line_range)));
            AS_TRY(emit_line(&m));
        } else if (opcode == 0) {
            AS_TRY(extended(&m, &c));
        } else {
            AS_TRY(standard(&m, &c, opcode));
        }
    }
    /* The last rows have no end row: the program is damaged or cut. */
    if (m.open || c.bad)
        table->damaged = true;
    table->row.n = m.first;
    return 0;
}

/* ---- Merge -------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct as_dw_sequence *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Appends the rows of `seq` from address `from` on; earlier addresses have rows already. */
static size_t copy_rows(struct as_line *out, size_t n, const struct as_dw_sequence *seq,
                        const struct as_line *row, uint64_t from)
{
    for (size_t i = 0; i < seq->n; i++) {
        struct as_line line = row[i];
        if (line.address < from) {
            /* The row that covers `from` begins there. */
            if (i + 1 == seq->n || row[i + 1].address <= from)
                continue;
            line.address = from;
        }
        assert(n == 0 || out[n - 1].address <= line.address);
        out[n++] = line;
    }
    return n;
}

int as_dw_lines_merge(struct as_dw_line_table *const *table, size_t table_n, struct as_line **out,
                      size_t *out_n)
{
    AS_VEC(struct as_dw_sequence) all = {0};
    size_t rows = 0;
    *out = NULL;
    *out_n = 0;
    for (size_t i = 0; i < table_n; i++) {
        as_vec_foreach (&table[i]->seq, it) {
            it->table = (uint32_t)i;
            if (as_vec_push(&all, *it) < 0) {
                as_vec_fini(&all);
                return AS_ERR_NOMEM;
            }
            rows += it->n;
        }
    }
    if (rows == 0) {
        as_vec_fini(&all);
        return 0;
    }
    struct as_line *line = as_malloc_table(rows, sizeof *line);
    if (!line) {
        as_vec_fini(&all);
        return AS_ERR_NOMEM;
    }
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_start);
    uint64_t told = 0;
    size_t n = 0;
    as_vec_foreach (&all, it) {
        if (it->end <= told)
            continue; /* this code has rows already: the sequence is folded or repeated */
        /* Remove the end row of the previous sequence if this sequence follows without a gap. */
        if (n && line[n - 1].file == AS_NONE && line[n - 1].line == 0 &&
            line[n - 1].address >= it->start)
            n--;
        n = copy_rows(line, n, it, table[it->table]->row.at + it->first,
                      told > it->start ? told : it->start);
        told = it->end;
    }
    as_vec_fini(&all);
    *out = line;
    *out_n = n;
    return 0;
}
