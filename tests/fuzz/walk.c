/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at every fact of an object and holds it to what src/object/object.h promises: sorted
 * tables, indices within their tables, terminated strings, readable bytes. It knows nothing of
 * what the facts should be: only that they are consistent.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/variables.h"

/* Look-ups are dear beside the walk itself: so many of each table are tried. */
#define LOOKUPS 64u

static volatile uint64_t sink;
char fuzz_context[256];

void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: broken promise: %s %s\n", file, line, condition, fuzz_context);
    abort();
}

void fuzz_touch(const void *bytes, size_t size_b)
{
    const uint8_t *byte = bytes;
    uint64_t sum = 0;
    /* First, last, and one byte of each cache line between are enough to meet a bad page. */
    for (size_t i = 0; i < size_b; i += 64)
        sum += byte[i];
    if (size_b)
        sum += byte[size_b - 1];
    sink += sum;
}

void fuzz_touch_string(const char *text)
{
    if (text)
        sink += strlen(text);
}

void fuzz_check_error(int code, const struct as_error *err)
{
    FUZZ_CHECK(code < 0);
    FUZZ_CHECK(err->code == code);
    FUZZ_CHECK(memchr(err->text, 0, sizeof err->text));
    FUZZ_CHECK(err->text[0] && !strchr(err->text, '\n'));
    FUZZ_CHECK(strcmp(as_error_summary(code), "unknown error") != 0);
}

static void walk_info(const struct as_object *object)
{
    const struct as_object_info *info = as_object_info(object);
    FUZZ_CHECK(info && info->type <= AS_OBJECT_SHARED);
    FUZZ_CHECK(info->build_id_b <= sizeof info->build_id);
    const char *text[] = {info->path,       info->interpreter, info->soname,  info->runpath,
                          info->debug_path, info->dwp_path,    info->dwz_path};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        fuzz_touch_string(text[i]);
    FUZZ_CHECK(info->debug <= AS_DEBUG_MISSING);
    FUZZ_CHECK(info->dwarf_version_min <= info->dwarf_version_max);

    const char *const *needed = NULL;
    size_t n = as_object_needed(object, &needed);
    for (size_t i = 0; i < n; i++)
        fuzz_touch_string(needed[i]);
}

static void look_bytes(const struct as_object *object, uint64_t address)
{
    uint64_t size_b = UINT64_MAX;
    const uint8_t *bytes = as_object_bytes(object, address, &size_b);
    FUZZ_CHECK(bytes ? size_b > 0 : size_b == 0);
    if (bytes)
        fuzz_touch(bytes, size_b);
}

static void walk_sections(const struct as_object *object)
{
    const struct as_section *section = NULL;
    size_t n = as_object_sections(object, &section);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(section[i].name);
        fuzz_touch_string(section[i].name);
        if (section[i].data && !section[i].compressed)
            fuzz_touch(section[i].data, section[i].size_b);
        if (i < LOOKUPS) {
            look_bytes(object, section[i].address);
            look_bytes(object, section[i].address + section[i].size_b - 1);
        }
    }
    const struct as_segment *segment = NULL;
    n = as_object_segments(object, &segment);
    for (size_t i = 0; i < n && i < LOOKUPS; i++)
        look_bytes(object, segment[i].address);
    look_bytes(object, 0);
    look_bytes(object, UINT64_MAX);
    const uint64_t *init = NULL;
    n = as_object_init_functions(object, &init);
    fuzz_touch(init, n * sizeof *init);
    for (size_t i = 0; i < n && i < LOOKUPS; i++)
        look_bytes(object, init[i]);
}

static void walk_symbols(const struct as_object *object, size_t sections)
{
    const struct as_symbol *symbol = NULL;
    char text[256];
    size_t n = as_object_symbols(object, &symbol);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(symbol[i].name);
        fuzz_touch_string(symbol[i].name);
        FUZZ_CHECK(symbol[i].kind <= AS_SYMBOL_OTHER && symbol[i].binding <= AS_BIND_WEAK);
        FUZZ_CHECK(symbol[i].section == AS_NONE || symbol[i].section < sections);
        FUZZ_CHECK(i == 0 || symbol[i - 1].address <= symbol[i].address);
        if (i < LOOKUPS)
            as_demangle(symbol[i].name, text, sizeof text);
    }
    struct as_symbol_counts counts;
    as_object_symbol_counts(object, &counts);
    fuzz_touch(&counts, sizeof counts);

    const struct as_unwind_range *unwind = NULL;
    size_t unwind_n = as_object_unwind_ranges(object, &unwind);
    for (size_t i = 0; i < unwind_n; i++) {
        FUZZ_CHECK(unwind[i].start <= unwind[i].end);
        FUZZ_CHECK(i == 0 || unwind[i - 1].start <= unwind[i].start);
    }
}

static void walk_functions(struct as_object *object, bool with_source, size_t sections)
{
    struct as_error err = {0};
    const struct as_function *function = NULL;
    const struct as_symbol *symbol = NULL;
    size_t symbols = as_object_symbols(object, &symbol), n = 0;
    int code = as_object_functions(object, with_source, &function, &n, &err);
    if (code) {
        fuzz_check_error(code, &err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct as_function *f = &function[i];
        FUZZ_CHECK(f->name);
        fuzz_touch_string(f->name);
        FUZZ_CHECK(f->start <= f->end);
        FUZZ_CHECK(i == 0 || f[-1].start < f->start);
        FUZZ_CHECK(f->section == AS_NONE || f->section < sections);
        FUZZ_CHECK(f->symbol == AS_NONE || f->symbol < symbols);
        FUZZ_CHECK(f->origin <= AS_FUNCTION_ENTRY);
        if (i < LOOKUPS)
            look_bytes(object, f->start);
    }
}

void fuzz_walk_elf(struct as_object *object)
{
    const struct as_section *section = NULL;
    size_t sections = as_object_sections(object, &section);
    walk_info(object);
    walk_sections(object);
    walk_symbols(object, sections);
    walk_functions(object, false, sections);
}

static void walk_units(const struct as_debug *debug)
{
    for (size_t i = 0; i < debug->unit_n; i++) {
        const struct as_unit *unit = &debug->unit[i];
        const char *text[] = {unit->name,  unit->comp_dir, unit->producer, unit->compiler_version,
                              unit->flags, unit->language, unit->standard};
        for (size_t k = 0; k < sizeof text / sizeof text[0]; k++)
            fuzz_touch_string(text[k]);
        FUZZ_CHECK(unit->compiler <= AS_COMPILER_OTHER);
    }
    for (size_t i = 0; i < debug->file_n; i++) {
        FUZZ_CHECK(debug->file[i]);
        fuzz_touch_string(debug->file[i]);
    }
}

static void check_file(const struct as_debug *debug, uint32_t file)
{
    FUZZ_CHECK(file == AS_NONE || file < debug->file_n);
}

static void walk_lines(const struct as_debug *debug)
{
    for (size_t i = 0; i < debug->line_n; i++) {
        check_file(debug, debug->line[i].file);
        FUZZ_CHECK(i == 0 || debug->line[i - 1].address <= debug->line[i].address);
    }
    for (size_t i = 0; i < debug->line_n && i < LOOKUPS; i++) {
        const struct as_line *row = as_debug_line_at(debug, debug->line[i].address);
        FUZZ_CHECK(!row || (row >= debug->line && row < debug->line + debug->line_n));
        FUZZ_CHECK(!row || row->address <= debug->line[i].address);
    }
    as_debug_line_at(debug, 0);
    as_debug_line_at(debug, UINT64_MAX);
}

static void walk_inlines(const struct as_object *object, const struct as_debug *debug)
{
    for (size_t i = 0; i < debug->inline_n; i++) {
        const struct as_inline *in = &debug->inlines[i];
        fuzz_touch_string(in->name);
        FUZZ_CHECK(in->parent == AS_NONE || in->parent < i);
        FUZZ_CHECK(in->unit == AS_NONE || in->unit < debug->unit_n);
        check_file(debug, in->decl_file);
        check_file(debug, in->call_file);
        FUZZ_CHECK((uint64_t)in->first_range + in->ranges <= debug->range_n || in->ranges == 0);
        for (uint32_t r = 0; r < in->ranges; r++)
            FUZZ_CHECK(debug->range[in->first_range + r].owner == i);
    }
    for (size_t i = 0; i < debug->range_n; i++) {
        const struct as_range *range = &debug->range[i];
        FUZZ_CHECK(range->owner < debug->inline_n && range->start <= range->end);
        if (i >= LOOKUPS)
            continue;
        uint32_t found = as_debug_inline_at(object, range->start);
        FUZZ_CHECK(found == AS_NONE || found < debug->inline_n);
    }
    as_debug_inline_at(object, 0);
    as_debug_inline_at(object, UINT64_MAX);
}

/* Follows the variables of the first functions to their types and members. */
static void walk_variables(struct as_object *object, const struct as_debug *debug)
{
    for (size_t i = 0; i < debug->inline_n && i < 4; i++) {
        const struct as_range *range = &debug->range[debug->inlines[i].first_range];
        struct as_data_variables v;
        if (as_object_variables(object, range->start, range->end, &v, NULL) < 0)
            continue;
        for (size_t k = 0; k < v.variable_n; k++) {
            struct as_type type;
            struct as_member member;
            as_type_get(v.variable[k].type, &type);
            FUZZ_CHECK(type.rank <= AS_RANK_MAX);
            as_type_member(type.target, k, &member);
            as_type_member(v.variable[k].type, k, &member);
        }
        for (size_t k = 0; k < v.place_n; k++)
            FUZZ_CHECK(v.place[k].variable < v.variable_n && v.place[k].reg < 16);
        as_data_variables_free(&v);
    }
}

void fuzz_walk_debug(struct as_object *object)
{
    struct as_error err = {0};
    struct as_debug debug = {0};
    const struct as_section *section = NULL;
    size_t damaged = 0;
    int code = as_object_debug(object, AS_DEBUG_ALL, 1, &debug, &damaged, &err);
    if (code) {
        fuzz_check_error(code, &err);
        return;
    }
    walk_units(&debug);
    walk_lines(&debug);
    walk_inlines(object, &debug);
    walk_variables(object, &debug);
    walk_functions(object, true, as_object_sections(object, &section));
}
