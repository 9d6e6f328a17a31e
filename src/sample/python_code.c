/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/python_code.h"

#include <string.h>

#include "base/error.h"
#include "base/read.h"

/* ---- Lines -------------------------------------------------------------------------------- */

/* Reads six bits per byte, the lowest first. Bit 6 marks that another byte follows. */
static uint32_t read_varint(struct as_read *table)
{
    uint32_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = as_read_u8(table);
        if (shift < 30)
            value |= (byte & 63) << shift;
        shift += 6;
    } while (byte & 64);
    return value;
}

static int32_t read_signed(struct as_read *table)
{
    const uint32_t value = read_varint(table);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Returns the number of lines that an entry adds. Sets `*has_line` to false if its code has no
 * line. */
static int32_t read_entry(struct as_read *table, unsigned form, bool *has_line)
{
    int32_t lines = 0;
    *has_line = form != 15;
    if (form == 15)
        return 0;
    if (form == 14 || form == 13) {
        lines = read_signed(table);
        for (unsigned i = 0; i < 3 && form == 14; i++)
            read_varint(table); /* end line and columns */
    } else if (form >= 10) {
        lines = (int32_t)form - 10;
        as_read_skip(table, 2);
    } else {
        as_read_skip(table, 1);
    }
    return lines;
}

uint32_t as_python_line(uint32_t first_line, const uint8_t *table, size_t table_b, uint32_t byte)
{
    struct as_read at = as_read_of(table, table_b);
    int64_t line = first_line;
    uint64_t end = 0;
    while (as_read_left(&at)) {
        bool has_line;
        const uint8_t head = as_read_u8(&at);
        if (!(head & 128))
            return 0;
        line += read_entry(&at, head >> 3 & 15, &has_line);
        end += 2 * ((head & 7u) + 1);
        if (at.bad)
            return 0;
        if (byte < end)
            return has_line && line > 0 && line < AS_PYTHON_LINES ? (uint32_t)line : 0;
    }
    return 0;
}

/* ---- Texts -------------------------------------------------------------------------------- */

static uint32_t read_character(struct as_read *text, uint8_t width)
{
    const uint32_t character = (uint32_t)as_read_uint(text, width);
    const bool is_surrogate = character >= 0xd800 && character < 0xe000;
    const bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    return is_control || is_surrogate || character > 0x10ffff ? 0xfffd : character;
}

static char *write_character(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | c >> 6 * more);
    for (unsigned i = more; i-- > 0;)
        *to++ = (char)(0x80 | (c >> 6 * i & 63));
    return to;
}

/* Returns a UTF-8 copy; a byte becomes at most three bytes. */
static const char *copy_text(struct as_arena *arena, const uint8_t *bytes, uint32_t size_b,
                             uint8_t width)
{
    struct as_read text = as_read_of(bytes, size_b);
    char *out = as_arena_alloc(arena, 3 * (size_t)size_b + 1, 1), *to = out;
    while (out && as_read_left(&text))
        to = write_character(to, read_character(&text, width));
    if (out)
        *to = 0;
    return out;
}

/* ---- Functions ---------------------------------------------------------------------------- */

void as_python_codes_init(struct as_python_codes *codes)
{
    *codes = (struct as_python_codes){0};
    as_map_u64_init(&codes->by_hash);
    as_arena_init(&codes->arena);
}

void as_python_codes_fini(struct as_python_codes *codes)
{
    as_vec_fini(&codes->code);
    as_vec_fini(&codes->frame);
    as_map_u64_fini(&codes->by_hash);
    as_arena_fini(&codes->arena);
}

static bool is_text(uint32_t size_b, uint8_t width)
{
    return (width == 1 || width == 2 || width == 4) && size_b % width == 0 && size_b &&
           size_b <= AS_AGENT_TEXT_MOST_B;
}

bool as_python_code_is_whole(const struct as_agent_code_record *record, uint32_t size_b)
{
    const size_t head_b = offsetof(struct as_agent_code_record, bytes);
    if (size_b < head_b || record->table_b > AS_AGENT_TABLE_MOST_B ||
        !is_text(record->file_b, record->file_width) ||
        !is_text(record->name_b, record->name_width))
        return false;
    const size_t used_b = head_b + record->file_b + record->name_b + record->table_b;
    return record->code && ((used_b + 7) & ~(size_t)7) == size_b;
}

int as_python_code_add(struct as_python_codes *codes, const struct as_agent_code_record *record)
{
    struct as_python_code code = {.first_line = record->first_line, .table_b = record->table_b};
    const uint8_t *name = record->bytes + record->file_b, *table = name + record->name_b;
    if (as_map_u64_get(&codes->by_hash, record->code) != AS_MAP_NONE)
        return 0;
    if (code.first_line >= AS_PYTHON_LINES)
        code.first_line = 0;
    uint8_t *copy = as_arena_alloc(&codes->arena, (size_t)record->table_b + 1, 1);
    code.file = copy_text(&codes->arena, record->bytes, record->file_b, record->file_width);
    code.name = copy_text(&codes->arena, name, record->name_b, record->name_width);
    if (!copy || !code.file || !code.name)
        return AS_ERR_NOMEM;
    memcpy(copy, table, record->table_b);
    code.table = copy;
    AS_TRY(as_vec_push(&codes->code, code));
    return as_map_u64_put(&codes->by_hash, record->code, (uint32_t)codes->code.n - 1);
}

/* ---- Frames ------------------------------------------------------------------------------- */

static struct as_python_frame frame_of(const struct as_python_codes *codes,
                                       const struct as_agent_python_frame *from)
{
    struct as_python_frame frame = {.file = "", .name = "[unknown]"};
    const uint32_t index = as_map_u64_get(&codes->by_hash, from->code);
    const uint32_t byte = (uint32_t)from->where;
    if (!from->code)
        return (struct as_python_frame){.at = from->where};
    frame.calls = (from->where & AS_AGENT_PYTHON_CALLS) != 0;
    if (index == AS_MAP_NONE) /* the record of the function was lost */
        return frame;
    const struct as_python_code *code = &codes->code.at[index];
    frame.file = code->file;
    frame.name = code->name;
    frame.first_line = code->first_line;
    frame.line = byte == AS_AGENT_PYTHON_BYTES
                     ? code->first_line
                     : as_python_line(code->first_line, code->table, code->table_b, byte);
    return frame;
}

int as_python_frames(struct as_python_codes *codes, const struct as_agent_python_frame *from,
                     uint32_t n, struct as_sample_record *out)
{
    codes->frame.n = 0;
    AS_TRY(as_vec_reserve(&codes->frame, n));
    for (uint32_t i = 0; i < n; i++)
        codes->frame.at[codes->frame.n++] = frame_of(codes, &from[i]);
    out->python = codes->frame.at;
    out->python_n = n;
    return 0;
}
