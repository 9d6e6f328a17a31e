/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of samples and ranges of memory, as the recording has them. */
#include <stdlib.h>
#include <string.h>

#include "profile/tally.h"
#include "sample/values.h"

enum { REGISTERS = 16, STACK_POINTER = 7 };

/* ---- Values ---------------------------------------------------------------------------------- */

/* One "REGISTER:VALUE:SAMPLES"; false: it is none. */
static bool read_value(const char **text, uint32_t sample_n, struct as_tally_value *out)
{
    char *end;
    const unsigned long reg = strtoul(*text, &end, 10);

    if (end == *text || *end != ':' || reg >= REGISTERS)
        return false;
    out->reg = (uint8_t)reg;
    out->value = strtoull(end + 1, &end, 16);
    if (*end != ':')
        return false;
    out->n = (uint32_t)strtoul(end + 1, &end, 10);
    *text = end;
    return out->n && out->n <= sample_n;
}

int as_registers_read(struct as_arena *arena, const char *text, struct as_tally_registers *out)
{
    char *end;

    *out = (struct as_tally_registers){0};
    out->place.module = (uint32_t)strtoul(text, &end, 10);
    out->place.address = strtoull(end, &end, 10);
    out->sample_n = (uint32_t)strtoul(end, &end, 10);
    size_t capacity = 0;
    for (const char *at = end; *at; at++)
        capacity += *at == ' ';
    struct as_tally_value *value = as_arena_array(arena, struct as_tally_value, capacity + 1);
    if (!value || !out->sample_n)
        return -1;
    for (text = end; *text == ' ' && out->values < capacity; out->values++)
        if (text++, !read_value(&text, out->sample_n, &value[out->values]))
            return -1;
    out->value = value;
    return *text ? -1 : 0;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

static size_t count_blanks(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == ' ';
    return n;
}

/* One "TID@TIME:REGISTER,REGISTER,..."; older recordings have no time. False: it is none. */
static bool read_draw(const char **text, struct as_tally_draw *out)
{
    char *end;

    out->tid = (uint32_t)strtoul(*text, &end, 16);
    if (*end == '@')
        out->time_ns = strtoull(end + 1, &end, 16);
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        if (*end != (reg ? ',' : ':'))
            return false;
        out->reg[reg] = strtoull(end + 1, &end, 16);
    }
    *text = end;
    return true;
}

/* Adds the values of registers, of few samples that are all drawn. 0, -1: no memory. */
static int add_drawn_values(struct as_arena *arena, struct as_tally_registers *out)
{
    const size_t capacity = (size_t)REGISTERS * out->draws;
    struct as_tally_value *value = as_arena_array(arena, struct as_tally_value, capacity + 1);

    if (!value)
        return -1;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        const uint32_t first = out->values;
        for (uint32_t i = 0; i < out->draws && reg != STACK_POINTER; i++) {
            const uint64_t it = out->draw[i].reg[reg];
            uint32_t at = first;
            while (at < out->values && value[at].value != it)
                at++;
            if (at == out->values)
                value[out->values++] = (struct as_tally_value){.reg = (uint8_t)reg, .value = it};
            value[at].n++;
        }
    }
    out->value = value;
    return 0;
}

int as_drawn_read(struct as_arena *arena, const char *text, struct as_tally_registers *out)
{
    char *end;

    *out = (struct as_tally_registers){0};
    out->place.module = (uint32_t)strtoul(text, &end, 10);
    out->place.address = strtoull(end, &end, 10);
    out->sample_n = (uint32_t)strtoul(end, &end, 10);
    const size_t capacity = count_blanks(end);
    struct as_tally_draw *draw = as_arena_array(arena, struct as_tally_draw, capacity + 1);
    if (!draw || !out->sample_n)
        return -1;
    for (text = end; *text == ' ' && out->draws < capacity; out->draws++)
        if (text++, !read_draw(&text, &draw[out->draws]))
            return -1;
    out->draw = draw;
    if (*text || !out->draws || out->draws > out->sample_n)
        return -1;
    return out->sample_n < AS_VALUES_SAMPLES_LEAST ? add_drawn_values(arena, out) : 0;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static bool is_range_kind(const char *word, size_t n)
{
    static const char *const known[] = {"stack",  "heap",    "block", "file",
                                        "zeroed", "mapping", "shared"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == n && strncmp(known[i], word, n) == 0)
            return true;
    return false;
}

int as_data_read(struct as_arena *arena, const char *text, struct as_tally_data *out)
{
    char *end;

    *out = (struct as_tally_data){0};
    out->start = strtoull(text, &end, 16);
    out->end = strtoull(end, &end, 16);
    out->base = strtoull(end, &end, 16);
    out->offset = strtoull(end, &end, 16);
    if (*end != ' ' || out->start >= out->end)
        return -1;
    const char *kind = end + 1, *path = strchr(kind, ' ');
    const size_t kind_n = strcspn(kind, ": ");
    if (!path || !is_range_kind(kind, kind_n))
        return -1;
    const long huge_pct = kind[kind_n] == ':' ? strtol(kind + kind_n + 1, NULL, 10) : -1;
    out->huge_pct = huge_pct >= 0 && huge_pct <= 100 ? (int8_t)huge_pct : -1;
    out->kind = as_arena_strndup(arena, kind, kind_n);
    out->path = as_arena_strndup(arena, path + 1, strlen(path + 1));
    return out->kind && out->path ? 0 : -1;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* number, frames as MODULE:ADDRESS */
int as_site_read(struct as_arena *arena, const char *text, struct as_tally_site *out)
{
    char *end;

    *out = (struct as_tally_site){.number = (uint32_t)strtoul(text, &end, 10)};
    const size_t capacity = count_blanks(end);
    struct as_tally_frame *frame = as_arena_array(arena, struct as_tally_frame, capacity + 1);
    if (!frame || end == text)
        return -1;
    for (; *end == ' ' && out->frame_n < capacity; out->frame_n++) {
        frame[out->frame_n].module = (uint32_t)strtoul(end + 1, &end, 10);
        if (*end != ':')
            return -1;
        frame[out->frame_n].address = strtoull(end + 1, &end, 16);
    }
    out->frame = frame;
    return *end ? -1 : 0;
}

/* start, end, from when, until when (0: to the end), how, site ("-": not known) */
int as_block_read(const char *text, struct as_tally_block *out)
{
    char *end;

    *out = (struct as_tally_block){.site = AS_NONE};
    out->start = strtoull(text, &end, 16);
    out->end = strtoull(end, &end, 16);
    out->born_ns = strtoull(end, &end, 16);
    out->died_ns = strtoull(end, &end, 16);
    if (!out->died_ns)
        out->died_ns = UINT64_MAX;
    out->mapped = strncmp(end, " mapping ", 9) == 0;
    if ((!out->mapped && strncmp(end, " block ", 7) != 0) || out->start >= out->end)
        return -1;
    const char *site = strrchr(end, ' ') + 1;
    if (strcmp(site, "-") == 0)
        return 0;
    out->site = (uint32_t)strtoul(site, &end, 10);
    return end == site || *end ? -1 : 0;
}
