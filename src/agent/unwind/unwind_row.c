/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of .eh_frame in memory, by the loader's own table of modules; see unwind_row.h. */
#include "agent/unwind/unwind_row.h"

#include <dlfcn.h>
#include <link.h>

#include "base/read.h"

#define REMEMBER_MOST   8u
#define FRAME_REGISTER  6u  /* rbp */
#define STACK_REGISTER  7u  /* rsp */
#define RETURN_REGISTER 16u /* the column of the return address */
#define PCREL_SDATA4    0x1bu
#define DATAREL_SDATA4  0x3bu
#define UDATA4          0x03u

/* ---- Modules ------------------------------------------------------------------------------ */

#ifdef DLFO_EH_SEGMENT_TYPE
#pragma weak _dl_find_object

bool as_unwind_module_of(uintptr_t address, struct as_unwind_module *out)
{
    struct dl_find_object found;
    if (!_dl_find_object || _dl_find_object((void *)address, &found) != 0)
        return false;
    *out = (struct as_unwind_module){.start = (uintptr_t)found.dlfo_map_start,
                                     .end = (uintptr_t)found.dlfo_map_end,
                                     .bias = found.dlfo_link_map->l_addr,
                                     .name = found.dlfo_link_map->l_name,
                                     .rows = found.dlfo_eh_frame};
    return true;
}
#else
bool as_unwind_module_of(uintptr_t address, struct as_unwind_module *out)
{
    (void)address;
    (void)out;
    return false;
}
#endif

/* ---- Instructions ------------------------------------------------------------------------- */

struct row_state {
    struct as_agent_unwind_row row;
    bool is_last; /* the return address is said to be none */
};

struct row_machine {
    uintptr_t at, wanted; /* addresses of code */
    uint64_t code_align;
    int64_t data_align;
    struct row_state now, initial, remembered[REMEMBER_MOST];
    unsigned remembered_n;
};

static void save_at(struct row_machine *m, uint64_t reg, int64_t offset)
{
    if (reg == FRAME_REGISTER) {
        m->now.row.saved = AS_UNWIND_FROM_CFA;
        m->now.row.saved_offset = (int32_t)offset;
    }
    if (reg == RETURN_REGISTER)
        m->now.is_last = offset != -8;
}

static void restore_rule(struct row_machine *m, uint64_t reg)
{
    if (reg == FRAME_REGISTER) {
        m->now.row.saved = m->initial.row.saved;
        m->now.row.saved_offset = m->initial.row.saved_offset;
    }
    if (reg == RETURN_REGISTER)
        m->now.is_last = m->initial.is_last;
}

static void define_cfa_by(struct row_machine *m, uint64_t reg, int64_t offset)
{
    m->now.row.cfa = reg == STACK_REGISTER   ? AS_UNWIND_BY_STACK
                     : reg == FRAME_REGISTER ? AS_UNWIND_BY_FRAME
                                             : AS_UNWIND_UNKNOWN;
    m->now.row.cfa_offset = (int32_t)offset;
}

/* DW_OP_breg6 OFFSET, and DW_OP_deref behind it or not: where a compiler realigns the stack. */
static bool is_by_frame(struct as_read *r, bool loaded, int64_t *offset)
{
    struct as_read block = as_read_sub(r, as_read_uleb(r));
    if (as_read_u8(&block) != 0x76)
        return false;
    *offset = as_read_sleb(&block);
    if (loaded && as_read_u8(&block) != 0x06)
        return false;
    return !block.bad && as_read_left(&block) == 0;
}

static void set_frame_expression(struct row_machine *m, struct as_read *r)
{
    const uint64_t reg = as_read_uleb(r);
    int64_t offset = 0;
    const bool known = is_by_frame(r, false, &offset);
    if (reg != FRAME_REGISTER)
        return;
    m->now.row.saved = AS_UNWIND_FROM_FRAME;
    m->now.row.saved_offset = (int32_t)offset;
    if (!known)
        as_read_fail(r);
}

static void define_cfa_expression(struct row_machine *m, struct as_read *r)
{
    int64_t offset = 0;
    const bool known = is_by_frame(r, true, &offset);
    m->now.row.cfa = known ? AS_UNWIND_AT_FRAME : AS_UNWIND_UNKNOWN;
    m->now.row.cfa_offset = (int32_t)offset;
}

static void remember_rules(struct row_machine *m, struct as_read *r)
{
    if (m->remembered_n == REMEMBER_MOST)
        as_read_fail(r);
    else
        m->remembered[m->remembered_n++] = m->now;
}

static void recall_rules(struct row_machine *m, struct as_read *r)
{
    if (m->remembered_n == 0)
        as_read_fail(r);
    else
        m->now = m->remembered[--m->remembered_n];
}

static void undefine(struct row_machine *m, uint64_t reg, struct as_read *r)
{
    if (reg == RETURN_REGISTER)
        m->now.is_last = true;
    else if (reg == FRAME_REGISTER)
        as_read_fail(r);
}

/* DW_CFA_*, those without an operand in their own byte. */
static void run_other(struct row_machine *m, unsigned op, struct as_read *r)
{
    uint64_t reg;
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
        m->at += as_read_u8(r) * m->code_align;
        break;
    case 0x03:
        m->at += as_read_u16(r) * m->code_align;
        break;
    case 0x04:
        m->at += as_read_u32(r) * m->code_align;
        break;
    case 0x05: /* offset_extended */
        reg = as_read_uleb(r);
        save_at(m, reg, (int64_t)as_read_uleb(r) * m->data_align);
        break;
    case 0x06: /* restore_extended */
        restore_rule(m, as_read_uleb(r));
        break;
    case 0x07: /* undefined */
        undefine(m, as_read_uleb(r), r);
        break;
    case 0x08: /* same_value */
        if (as_read_uleb(r) == FRAME_REGISTER)
            m->now.row.saved = AS_UNWIND_SAME;
        break;
    case 0x0a:
        remember_rules(m, r);
        break;
    case 0x0b:
        recall_rules(m, r);
        break;
    case 0x0c: /* def_cfa */
        reg = as_read_uleb(r);
        define_cfa_by(m, reg, (int64_t)as_read_uleb(r));
        break;
    case 0x0d: /* def_cfa_register */
        define_cfa_by(m, as_read_uleb(r), m->now.row.cfa_offset);
        break;
    case 0x0e: /* def_cfa_offset */
        m->now.row.cfa_offset = (int32_t)as_read_uleb(r);
        break;
    case 0x0f:
        define_cfa_expression(m, r);
        break;
    case 0x10:
        set_frame_expression(m, r);
        break;
    case 0x11: /* offset_extended_sf */
        reg = as_read_uleb(r);
        save_at(m, reg, as_read_sleb(r) * m->data_align);
        break;
    case 0x12: /* def_cfa_sf */
        reg = as_read_uleb(r);
        define_cfa_by(m, reg, as_read_sleb(r) * m->data_align);
        break;
    case 0x13: /* def_cfa_offset_sf */
        m->now.row.cfa_offset = (int32_t)(as_read_sleb(r) * m->data_align);
        break;
    case 0x2e: /* GNU_args_size */
        as_read_uleb(r);
        break;
    default:
        as_read_fail(r);
        break;
    }
}

static void run_rows(struct row_machine *m, struct as_read *r)
{
    while (as_read_left(r) && !r->bad) {
        const struct row_state before = m->now;
        const unsigned byte = as_read_u8(r), low = byte & 63;
        switch (byte >> 6) {
        case 1: /* advance_loc */
            m->at += low * m->code_align;
            break;
        case 2: /* offset */
            save_at(m, low, (int64_t)as_read_uleb(r) * m->data_align);
            break;
        case 3: /* restore */
            restore_rule(m, low);
            break;
        default:
            run_other(m, low, r);
            break;
        }
        if (m->at > m->wanted) { /* what was said before holds there */
            m->now = before;
            return;
        }
    }
}

/* ---- Records ------------------------------------------------------------------------------ */

static uint32_t word_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uintptr_t by_offset(const uint8_t *base, const uint8_t *at)
{
    return (uintptr_t)base + (uintptr_t)(intptr_t)(int32_t)word_at(at);
}

/* The last entry of the table of .eh_frame_hdr that begins at or before the address. */
static const uint8_t *find_record(uintptr_t address, const struct as_unwind_module *module)
{
    const uint8_t *head = module->rows;
    if (!head || head[0] != 1 || head[1] != PCREL_SDATA4 || head[2] != UDATA4 ||
        head[3] != DATAREL_SDATA4)
        return NULL;
    const uint8_t *table = head + 12;
    uint32_t low = 0, high = word_at(head + 8);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (by_offset(head, table + (size_t)middle * 8) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (const uint8_t *)by_offset(head, table + (size_t)(low - 1) * 8 + 4) : NULL;
}

/* The contents of a record behind its length; empty where it is none. */
static struct as_read record_at(const uint8_t *at, const struct as_unwind_module *module)
{
    const uintptr_t place = (uintptr_t)at;
    if (place < module->start || place + 8 > module->end)
        return as_read_of(NULL, 0);
    const uint32_t size_b = word_at(at);
    return size_b > module->end - place - 4 ? as_read_of(NULL, 0) : as_read_of(at + 4, size_b);
}

/* A common record up to its instructions; others than compilers make are not read. */
static bool read_common(struct as_read *r, struct row_machine *m, bool *is_sized)
{
    const uint32_t id = as_read_u32(r);
    const unsigned version = as_read_u8(r);
    const struct as_view what = as_read_string(r);
    uint8_t encoding = 0;
    m->code_align = as_read_uleb(r);
    m->data_align = as_read_sleb(r);
    const uint64_t column = version == 1 ? as_read_u8(r) : as_read_uleb(r);
    *is_sized = what.n && what.p[0] == 'z';
    if (r->bad || id != 0 || (version != 1 && version != 3) || !*is_sized ||
        column != RETURN_REGISTER)
        return false;
    struct as_read more = as_read_sub(r, as_read_uleb(r));
    for (size_t i = 1; i < what.n && !more.bad; i++)
        if (what.p[i] == 'R')
            encoding = as_read_u8(&more);
        else if (what.p[i] == 'L')
            as_read_u8(&more);
        else if (what.p[i] == 'P') /* its pointer, pc-relative of 4 bytes as a rule */
            as_read_skip(&more, (as_read_u8(&more) & 0x0f) == 0x0c ? 8 : 4);
    return !more.bad && encoding == PCREL_SDATA4;
}

struct as_agent_unwind_row as_unwind_row_of(uintptr_t address,
                                            const struct as_unwind_module *module)
{
    static const struct as_agent_unwind_row unknown;
    struct row_machine m = {.wanted = address - 1}; /* the call, not what follows it */
    const uint8_t *at = find_record(m.wanted, module);
    struct as_read own = at ? record_at(at, module) : as_read_of(NULL, 0);
    const uint8_t *back = own.at;
    bool is_sized;
    if (as_read_left(&own) < 16)
        return unknown;
    struct as_read common = record_at(back - as_read_u32(&own), module);
    if (!read_common(&common, &m, &is_sized))
        return unknown;
    m.at = by_offset(own.at, own.at);
    as_read_skip(&own, 4);
    if (m.wanted < m.at || m.wanted - m.at >= as_read_u32(&own))
        return unknown;
    as_read_skip(&own, as_read_uleb(&own));
    const uintptr_t begin = m.at;
    m.at = 0; /* the common instructions have no place */
    m.wanted = m.wanted - begin;
    run_rows(&m, &common);
    m.initial = m.now;
    if (!common.bad)
        run_rows(&m, &own);
    return common.bad || own.bad || m.now.is_last ? unknown : m.now.row;
}
