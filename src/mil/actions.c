/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions of a probe: count, time, record and call. Checks which actions are valid for which event.
 */
#include <string.h>

#include "mil/parser.h"
#include "patch/plan.h"
#include "patch/probe_plan.h"

#define RECORDS_MOST 16

/* ---- Registers ------------------------------------------------------------------------------- */

static const char *const general[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static uint8_t find_general(struct as_view name)
{
    for (uint8_t i = 0; i < 16; i++)
        if (as_view_equal(name, as_view_of(general[i])))
            return i;
    return AS_PATCH_NONE;
}

/* Parses xmm0 to xmm15; returns the number, or AS_PATCH_NONE. */
static uint8_t find_vector(struct as_view name)
{
    unsigned number = 0;
    if (!as_view_starts(name, "xmm") || name.n < 4 || name.n > 5 ||
        (name.n == 5 && name.p[3] == '0'))
        return AS_PATCH_NONE;
    for (size_t i = 3; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return AS_PATCH_NONE;
        number = number * 10 + (unsigned)(name.p[i] - '0');
    }
    return number < 16 ? (uint8_t)number : AS_PATCH_NONE;
}

/* ---- Memory operands ------------------------------------------------------------------------- */

static void pass_spaces(struct as_view *text)
{
    while (text->n && *text->p == ' ')
        *text = (struct as_view){text->p + 1, text->n - 1};
}

static bool pass_byte(struct as_view *text, char byte)
{
    pass_spaces(text);
    if (!text->n || *text->p != byte)
        return false;
    *text = (struct as_view){text->p + 1, text->n - 1};
    return true;
}

static struct as_view pass_name(struct as_view *text)
{
    struct as_view name;
    pass_spaces(text);
    name = (struct as_view){text->p, 0};
    while (name.n < text->n && (((name.p[name.n] | 32) >= 'a' && (name.p[name.n] | 32) <= 'z') ||
                                (name.p[name.n] >= '0' && name.p[name.n] <= '9')))
        name.n++;
    *text = (struct as_view){text->p + name.n, text->n - name.n};
    return name;
}

/* Parses a number such as 8 or 0x40; returns false above 2^31 - 1. */
static bool number_of(struct as_view name, int64_t *out)
{
    const bool is_hex = name.n > 2 && name.p[0] == '0' && name.p[1] == 'x';
    *out = 0;
    for (size_t i = is_hex ? 2 : 0; i < name.n; i++) {
        const char c = (char)(name.p[i] | 32);
        const int digit = name.p[i] >= '0' && name.p[i] <= '9' ? name.p[i] - '0'
                          : is_hex && c >= 'a' && c <= 'f'     ? c - 'a' + 10
                                                               : -1;
        if (digit < 0)
            return false;
        *out = *out * (is_hex ? 16 : 10) + digit;
        if (*out > INT32_MAX)
            return false;
    }
    return name.n > 0;
}

/* Parses an optional "* 8" behind an index register. */
static bool parse_scale(struct as_view *text, struct as_probe_record *out)
{
    int64_t scale = 1;
    if (pass_byte(text, '*') && !number_of(pass_name(text), &scale))
        return false;
    out->scale = (uint8_t)scale;
    return scale == 1 || scale == 2 || scale == 4 || scale == 8;
}

/* Parses a memory operand "[rdi]", "[rdi+8]" or "[rdi+rcx*8-0x10]": base, index, displacement. */
static bool parse_place(struct as_view text, struct as_probe_record *out)
{
    out->index = AS_PATCH_NONE;
    if (!pass_byte(&text, '['))
        return false;
    out->base = find_general(pass_name(&text));
    if (out->base == AS_PATCH_NONE)
        return false;
    bool any = false;
    while (!pass_byte(&text, ']')) {
        const bool minus = pass_byte(&text, '-');
        if (any || (!minus && !pass_byte(&text, '+')))
            return false;
        const struct as_view name = pass_name(&text);
        const uint8_t reg = find_general(name);
        if (!minus && reg != AS_PATCH_NONE && out->index == AS_PATCH_NONE) {
            out->index = reg;
            if (reg == 4 || !parse_scale(&text, out))
                return false;
            continue;
        }
        if (!number_of(name, &out->offset))
            return false;
        out->offset = minus ? -out->offset : out->offset;
        any = true;
    }
    pass_spaces(&text);
    return !text.n;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static const char *const types[] = {[AS_PATCH_LONG] = "",
                                    [AS_PATCH_INT] = "int",
                                    [AS_PATCH_DOUBLE] = "double",
                                    [AS_PATCH_FLOAT] = "float"};
_Static_assert(sizeof types / sizeof *types == AS_PATCH_TYPES,
               "an entry for each of the enumeration");

static bool is_real(const struct as_probe_record *it)
{
    return it->type == AS_PATCH_DOUBLE || it->type == AS_PATCH_FLOAT;
}

static int parse_register(struct as_probe_parser *p, struct as_probe_record *out)
{
    if (p->now.kind != AS_PROBE_WORD)
        return as_probe_refuse_now(p, "the name of a register");
    out->reg = is_real(out) ? find_vector(p->now.text) : find_general(p->now.text);
    if (out->reg == AS_PATCH_NONE)
        return as_probe_refuse_now(
            p, is_real(out) ? "a vector register, xmm0 to xmm15, for a value of this type"
                            : "a general register of 8 bytes, such as rdi; for vector registers "
                              "use record double register xmm0");
    out->of = is_real(out) ? AS_PROBE_VALUE_VECTOR : AS_PROBE_VALUE_GENERAL;
    return 0;
}

static int parse_argument(struct as_probe_parser *p, struct as_probe_record *out)
{
    const unsigned most = is_real(out) ? 8 : 32;
    if (p->now.kind != AS_PROBE_NUMBER)
        return as_probe_refuse_now(p, "the number of the argument");
    if (!p->now.is_integer || p->now.integer < 1 || p->now.integer > most)
        return as_probe_refuse_now(p, is_real(out) ? "1 to 8: the first arguments of type double "
                                                     "and float are in registers"
                                                   : "an argument from 1 to 32");
    out->of = AS_PROBE_VALUE_ARGUMENT;
    out->argument = (unsigned)p->now.integer;
    return 0;
}

static int parse_memory(struct as_probe_parser *p, struct as_probe_record *out)
{
    if (p->now.kind != AS_PROBE_TEXT || !parse_place(p->now.text, out))
        return as_probe_refuse_now(p, "the place in quotes, as \"[rdi+8]\" or \"[rdi+rcx*8-16]\"");
    out->of = AS_PROBE_VALUE_MEMORY;
    return 0;
}

/* Parses record [int | double | float] register rdi, argument 1, memory "[rdi+8]". */
static int parse_record(struct as_probe_parser *p)
{
    static int (*const parts[])(struct as_probe_parser *, struct as_probe_record *) = {
        parse_register, parse_argument, parse_memory};
    static const char *const words[] = {"register", "argument", "memory"};
    struct as_probe_record record = {.type = AS_PATCH_LONG};
    unsigned part = 0;
    for (unsigned t = AS_PATCH_INT; t < AS_PATCH_TYPES; t++)
        if (as_probe_is_word(p, types[t]))
            record.type = (uint8_t)t;
    if (record.type != AS_PATCH_LONG)
        AS_TRY(as_probe_advance(p));
    while (part < 3 && !as_probe_is_word(p, words[part]))
        part++;
    if (part == 3)
        return as_probe_refuse_now(p, "register, argument or memory, or int, double or float "
                                      "before it");
    if (p->probe->record.n >= RECORDS_MOST)
        return AS_PROBE_REFUSE(p, &p->now, "a probe records at most %d values", RECORDS_MOST);
    AS_TRY(as_probe_advance(p));
    AS_TRY(parts[part](p, &record));
    struct as_str text = {0};
    as_str_appendf(&text, "%s%s%s %.*s", types[record.type],
                   record.type == AS_PATCH_LONG ? "" : " ", words[part], AS_PROBE_V(p->now.text));
    record.text = as_arena_strndup(&p->probes->arena, as_str_z(&text), text.n);
    as_str_fini(&text);
    if (!record.text || as_vec_push(&p->probe->record, record) < 0)
        return as_error_nomem(p->err, "probes");
    return as_probe_advance(p);
}

/* Parses call "lib.so" "function". */
static int parse_call(struct as_probe_parser *p)
{
    struct as_probe_call call = {0};
    const char **const text[] = {&call.library, &call.function};
    call.line = p->now.line;
    for (unsigned i = 0; i < 2; i++) {
        if (p->now.kind != AS_PROBE_TEXT || !p->now.text.n)
            return as_probe_refuse_now(p, i ? "the function in quotes" : "the library in quotes");
        *text[i] = as_arena_strndup(&p->probes->arena, p->now.text.p, p->now.text.n);
        if (!*text[i])
            return as_error_nomem(p->err, "probes");
        AS_TRY(as_probe_advance(p));
    }
    return as_vec_push(&p->probe->call, call) < 0 ? as_error_nomem(p->err, "probes") : 0;
}

/* ---- Actions --------------------------------------------------------------------------------- */

static int parse_action(struct as_probe_parser *p)
{
    static const char *const words[] = {"count", "time", "record", "call"};
    const struct as_probe_token first = p->now;
    unsigned i = 0;
    while (i < 4 && !as_probe_is_word(p, words[i]))
        i++;
    if (i == 4)
        return as_probe_refuse_now(p, "count, time, record or call");
    if (p->probe->actions & 1u << i && i < 2)
        return AS_PROBE_REFUSE(p, &first, "'%s' is in this probe already", words[i]);
    p->probe->actions |= 1u << i;
    AS_TRY(as_probe_advance(p));
    return i == 2 ? parse_record(p) : i == 3 ? parse_call(p) : 0;
}

int as_probe_parse_actions(struct as_probe_parser *p)
{
    AS_TRY(parse_action(p));
    while (as_probe_is_symbol(p, ",")) {
        AS_TRY(as_probe_advance(p));
        AS_TRY(parse_action(p));
    }
    return as_probe_end_line(p);
}

/* ---- Invalid combinations -------------------------------------------------------------------- */

static bool has_arguments(enum as_probe_event event)
{
    return event == AS_PROBE_FUNCTION || event == AS_PROBE_FUNCTION_ENTRY ||
           event == AS_PROBE_CALL_BEFORE;
}

int as_probe_check_actions(struct as_probe_parser *p, const struct as_probe_token *end)
{
    const struct as_mil_probe *probe = p->probe;
    const enum as_probe_event event = probe->event;
    const char *words = as_probe_event_words(event);
    const bool is_loop = event >= AS_PROBE_LOOP && event <= AS_PROBE_LOOP_BACK;
    if (!(probe->actions & (AS_PROBE_RECORD | AS_PROBE_CALL)))
        return 0;
    if (event <= AS_PROBE_PROGRAM_EXIT)
        return AS_PROBE_REFUSE(p, end,
                               "probe '%s': %s has no code address, so nothing can be recorded or "
                               "called there; use the function main",
                               probe->name, words);
    if (is_loop)
        return AS_PROBE_REFUSE(p, end,
                               "probe '%s': %s can be counted and timed only; use a block of the "
                               "loop to record or call",
                               probe->name, words);
    as_vec_foreach (&probe->record, record)
        if (record->of == AS_PROBE_VALUE_ARGUMENT && !has_arguments(event))
            return AS_PROBE_REFUSE(p, end,
                                   "probe '%s': arguments are known only at function, function "
                                   "entry and call before; record a register at %s",
                                   probe->name, words);
    return 0;
}
