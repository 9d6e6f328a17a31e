/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay info` as text: one line per fact. Missing facts are named with the way to get them. Units
 * with the same build are grouped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "info.h"
#include "text.h"

/* The value is released. */
static void fact_str(struct as_cli *cli, const char *title, struct as_str *value)
{
    as_cli_fact(cli, title, as_str_z(value));
    as_str_fini(value);
}

static void write_format(struct as_cli *cli, const struct as_object_info *it)
{
    struct as_str s = {0};

    as_str_appendz(&s, it->is_k1om ? "ELF64 K1OM (Knights Corner) " : "ELF64 x86-64 ");
    switch (it->type) {
    case AS_OBJECT_RELOCATABLE:
        as_str_appendz(&s, "relocatable object (not linked)");
        break;
    case AS_OBJECT_EXECUTABLE:
        as_str_appendz(&s, "executable at a fixed address");
        break;
    case AS_OBJECT_PIE:
        as_str_appendz(&s, "position-independent executable");
        break;
    case AS_OBJECT_SHARED:
        as_str_appendz(&s, "shared library");
        break;
    }
    if (it->is_static)
        as_str_appendz(&s, ", statically linked");
    fact_str(cli, "format", &s);
}

static void write_identity(struct as_cli *cli, const struct as_info *info)
{
    const struct as_object_info *it = info->identity;
    char build_id[2 * sizeof it->build_id + 1];
    struct as_str s = {0};

    write_format(cli, it);
    as_append_size(&s, it->size_b);
    as_str_appendz(&s, ", of it code ");
    as_append_size(&s, it->text_b);
    fact_str(cli, "size", &s);
    as_cli_fact(cli, "build-id",
                as_hex_encode(build_id, it->build_id, it->build_id_b) ? build_id : "none");
    if (it->soname)
        as_cli_fact(cli, "soname", it->soname);
    if (it->interpreter)
        as_cli_fact(cli, "loader", it->interpreter);
    if (it->runpath)
        as_cli_fact(cli, "runpath", it->runpath);
}

static void write_needed(struct as_cli *cli, const struct as_info *info)
{
    const char *const *name;
    const size_t n = as_object_needed(info->object, &name);
    struct as_str s = {0};

    for (size_t i = 0; i < n; i++)
        as_str_appendf(&s, "%s%s", i ? ", " : "", name[i]);
    if (n)
        fact_str(cli, "needs", &s);
    else if (info->identity->type != AS_OBJECT_RELOCATABLE)
        as_cli_fact(cli, "needs", "no libraries");
}

static void write_symbols(struct as_cli *cli, const struct as_info *info)
{
    const struct as_symbol_counts *n = &info->symbols;
    struct as_str s = {0};

    if (info->identity->is_stripped)
        as_str_appendz(&s, info->identity->has_symtab
                               ? "stripped, but its separate debug file has them: "
                               : "stripped: ");
    if (n->symtab) {
        as_append_count(&s, n->symtab);
        as_str_appendz(&s, " in .symtab, ");
    }
    as_append_count(&s, n->dynsym);
    as_str_appendz(&s, " in .dynsym; ");
    as_append_counted(&s, n->functions, "function");
    as_str_appendz(&s, ", ");
    as_append_counted(&s, n->objects, "object");
    if (n->plt) {
        as_str_appendz(&s, ", ");
        as_append_count(&s, n->plt);
        as_str_appendz(&s, " through the PLT");
    }
    as_str_appendz(&s, ", ");
    as_append_count(&s, n->undefined);
    as_str_appendz(&s, " undefined");
    fact_str(cli, "symbols", &s);
}

static void write_debug_kind(struct as_str *s, const struct as_object_info *it)
{
    switch (it->debug) {
    case AS_DEBUG_NONE:
        as_str_appendz(s, it->is_stripped
                              ? "none; install its debug symbols or compile with -g to see "
                                "source lines and flags"
                              : "none; compile with -g to see source lines and flags");
        break;
    case AS_DEBUG_EMBEDDED:
        as_str_appendz(s, "in the file");
        break;
    case AS_DEBUG_SEPARATE:
        as_str_appendf(s, "in %s", it->debug_path);
        break;
    case AS_DEBUG_MISSING:
        as_str_appendf(s,
                       "not found: the file refers to %s; install the package with the debug "
                       "symbols or set --debug-dir",
                       it->debug_path ? it->debug_path : "a separate file");
        break;
    }
}

static void write_debug(struct as_cli *cli, const struct as_info *info)
{
    const struct as_object_info *it = info->identity;
    struct as_str s = {0};

    write_debug_kind(&s, it);
    if (it->dwarf_version_min && it->dwarf_version_min == it->dwarf_version_max)
        as_str_appendf(&s, ", DWARF %u", it->dwarf_version_min);
    else if (it->dwarf_version_min)
        as_str_appendf(&s, ", DWARF %u to %u", it->dwarf_version_min, it->dwarf_version_max);
    if (it->debug_compressed)
        as_str_appendz(&s, ", compressed");
    if (it->debug_split)
        as_str_appendf(&s, ", split into %s", it->dwp_path ? it->dwp_path : ".dwo files");
    if (it->dwz_path)
        as_str_appendf(&s, ", shared parts in %s%s", it->dwz_path,
                       it->dwz_missing ? " (not found)" : "");
    fact_str(cli, "debug info", &s);
    if (it->debug_split_missing) {
        as_append_counted(&s, it->debug_split_missing, "unit");
        as_str_appendz(&s, " without its .dwo file; keep the .dwo files beside the program or "
                           "pack them with dwp");
        fact_str(cli, "  missing", &s);
    }
    if (info->damaged_units) {
        as_append_counted(&s, info->damaged_units, "unit");
        as_str_appendz(&s, " could not be read and are left out");
        fact_str(cli, "  damaged", &s);
    }
}

/* ---- Sections by what they hold --------------------------------------------------------- */

enum content { MACHINE_CODE, CONSTANTS, DATA, ZEROES, UNWIND, DEBUG, LINKING, CONTENTS };

static enum content content_of(const struct as_section *section)
{
    static const uint32_t nobits = 8; /* SHT_NOBITS */

    if (strncmp(section->name, ".debug", 6) == 0 || strncmp(section->name, ".zdebug", 7) == 0)
        return DEBUG;
    if (!section->alloc)
        return LINKING;
    if (section->exec)
        return MACHINE_CODE;
    if (section->type == nobits)
        return ZEROES;
    if (section->write)
        return DATA;
    if (strncmp(section->name, ".eh_frame", 9) == 0 ||
        strncmp(section->name, ".gcc_except_table", 17) == 0)
        return UNWIND;
    if (strncmp(section->name, ".rodata", 7) == 0 || strncmp(section->name, ".lrodata", 8) == 0)
        return CONSTANTS;
    return LINKING;
}

static void emit_sections(struct as_cli *cli, const struct as_info *info)
{
    static const char *const word[CONTENTS] = {"code",      "constants",  "data",   "zeroes",
                                               "unwinding", "debug info", "linking"};
    const struct as_section *section;
    const size_t n = as_object_sections(info->object, &section);
    uint64_t size_b[CONTENTS] = {0};
    struct as_str s = {0};

    for (size_t i = 0; i < n; i++)
        size_b[content_of(&section[i])] += section[i].size_b;
    as_str_appendf(&s, "%zu:", n);
    for (int i = 0; i < CONTENTS; i++) {
        if (!size_b[i])
            continue;
        as_str_appendf(&s, "%s %s ", s.p[s.n - 1] == ':' ? "" : ",", word[i]);
        as_append_size(&s, size_b[i]);
    }
    if (n)
        fact_str(cli, "sections", &s);
    else
        as_cli_fact(cli, "sections", "none");
    as_str_fini(&s);
}

/* ---- Units ------------------------------------------------------------------------------ */

static void compiler_words(struct as_str *s, const struct as_unit *unit)
{
    const char *word = as_compiler_word(unit);

    if (unit->compiler == AS_COMPILER_UNKNOWN || unit->compiler == AS_COMPILER_OTHER)
        as_str_appendz(s, unit->producer ? unit->producer : "an unknown compiler");
    else
        as_str_appendf(s, "%s%s%s", word, unit->compiler_version ? " " : "",
                       unit->compiler_version ? unit->compiler_version : "");
}

static void write_group(struct as_cli *cli, const struct as_info *info,
                        const struct as_unit_group *group, unsigned digits)
{
    const struct as_unit *unit = &info->debug.unit[group->unit];
    const unsigned indent = digits + 7;
    struct as_str s = {0};

    as_str_appendf(&s, "    %*zu x ", (int)digits, group->n);
    as_str_appendf(&s, "%s, ",
                   unit->standard   ? unit->standard
                   : unit->language ? unit->language
                                    : "unknown language");
    compiler_words(&s, unit);
    as_str_appendf(&s, ", DWARF %u\n", unit->dwarf_version);
    as_cli_print(cli, "%s", as_str_z(&s));
    as_str_clear(&s);
    as_str_appendf(&s, "%*s", (int)indent, "");
    as_wrap(&s, unit->flags && *unit->flags ? unit->flags : "(flags not recorded)", indent, indent,
            as_cli_width(cli));
    as_cli_styled(cli, AS_STYLE_DIM, as_str_z(&s));
    as_str_fini(&s);
}

static void write_units(struct as_cli *cli, const struct as_info *info)
{
    struct as_str s = {0};
    unsigned digits;

    if (!info->debug.unit_n)
        return;
    digits = (unsigned)snprintf(NULL, 0, "%zu", info->groups.at[0].n);
    as_append_count(&s, info->debug.unit_n);
    if (info->groups.n > 1)
        as_str_appendf(&s, ", %zu different builds:", info->groups.n);
    else
        as_str_appendz(&s, info->debug.unit_n > 1 ? ", all with the same build:" : ":");
    fact_str(cli, "units", &s);
    for (size_t i = 0; i < info->groups.n; i++)
        write_group(cli, info, &info->groups.at[i], digits);
}

/* ---- Code ------------------------------------------------------------------------------- */

static void emit_code(struct as_cli *cli, const struct as_code_counts *c)
{
    struct as_str s = {0};

    as_append_counted(&s, c->functions, "function");
    as_str_appendz(&s, ", ");
    as_append_counted(&s, c->instructions, "instruction");
    as_str_appendz(&s, " in ");
    as_append_counted(&s, c->blocks, "block");
    if (c->outlined) {
        as_str_appendz(&s, ", ");
        as_append_count(&s, c->outlined);
        as_str_appendz(&s, " bodies of parallel constructs");
    }
    if (c->unreached) {
        as_str_appendz(&s, "; ");
        as_append_counted(&s, c->unreached, "block");
        as_str_appendz(&s, " without a known path to them");
    }
    fact_str(cli, "code", &s);
    as_append_count(&s, c->loops);
    if (c->loops) {
        as_str_appendz(&s, ": ");
        as_append_count(&s, c->level[AS_LEVEL_INNERMOST] + c->level[AS_LEVEL_SINGLE]);
        as_str_appendz(&s, " without a loop inside, ");
        as_append_count(&s, c->level[AS_LEVEL_OUTERMOST] + c->level[AS_LEVEL_BETWEEN]);
        as_str_appendz(&s, " around others, ");
        as_append_count(&s, c->irreducible);
        as_str_appendz(&s, " irreducible");
    }
    fact_str(cli, "loops", &s);
    as_append_counted(&s, c->jumps, "indirect jump");
    if (c->jumps) {
        as_str_appendz(&s, ": ");
        as_append_count(&s, c->tables);
        as_str_appendz(&s, " through known tables, ");
        as_append_counted(&s, c->calls, "tail call");
        as_str_appendz(&s, ", ");
        as_append_count(&s, c->unresolved);
        as_str_appendf(&s, " unresolved (%.2f %% understood)", as_understood_percent(c));
    }
    fact_str(cli, "jumps", &s);
}

void as_info_text(struct as_cli *cli, const struct as_info *info, bool first)
{
    as_cli_print(cli, "%s", first ? "" : "\n");
    as_cli_styled(cli, AS_STYLE_BOLD, info->identity->path);
    as_cli_print(cli, "\n");
    write_identity(cli, info);
    write_needed(cli, info);
    write_symbols(cli, info);
    write_debug(cli, info);
    emit_sections(cli, info);
    if (info->with_code)
        emit_code(cli, &info->code);
    write_units(cli, info);
}
