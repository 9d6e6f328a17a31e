/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay info` for programs: every fact under a stable name (doc/reference/json.md).
 */
#include "info.h"

static void unit_row(void *context, size_t row, struct as_cell *cell)
{
    const struct as_info *info = context;
    const struct as_unit *unit = &info->debug.unit[row];

    *cell++ = as_cell_text(unit->name);
    *cell++ = as_cell_text(unit->comp_dir);
    *cell++ = as_cell_text(unit->language);
    *cell++ = as_cell_text(unit->standard);
    *cell++ = as_cell_text(as_compiler_word(unit));
    *cell++ = as_cell_text(unit->compiler_version);
    *cell++ = as_cell_text(unit->flags);
    *cell++ = as_cell_text(unit->producer);
    *cell++ = as_cell_count(unit->dwarf_version);
    *cell++ = as_cell_bool(unit->is_split);
    *cell++ = as_cell_bool(unit->split_missing);
}

static const struct as_field unit_columns[] = {
    {"name", 0, 0},     {"comp_dir", 0, 0},      {"language", 0, 0},
    {"standard", 0, 0}, {"compiler", 0, 0},      {"compiler_version", 0, 0},
    {"flags", 0, 0},    {"producer", 0, 0},      {"dwarf_version", 0, 0},
    {"split", 0, 0},    {"split_missing", 0, 0},
};

static void section_row(void *context, size_t row, struct as_cell *cell)
{
    const struct as_info *info = context;
    const struct as_section *section;

    as_object_sections(info->object, &section);
    section += row;
    *cell++ = as_cell_text(section->name);
    *cell++ = section->alloc ? as_cell_hex(section->address) : as_cell_text(NULL);
    *cell++ = as_cell_count(section->size_b);
    *cell++ = as_cell_count(section->offset);
    *cell++ = as_cell_count(section->type);
    *cell++ = as_cell_bool(section->alloc);
    *cell++ = as_cell_bool(section->exec);
    *cell++ = as_cell_bool(section->write);
    *cell++ = as_cell_bool(section->compressed);
}

static const struct as_field section_columns[] = {
    {"name", 0, 0},          {"address", 0, 0},  {"size_b", 0, 0},
    {"file_offset_b", 0, 0}, {"elf_type", 0, 0}, {"allocated", 0, 0},
    {"executable", 0, 0},    {"writable", 0, 0}, {"compressed", 0, 0},
};

static void identity_facts(struct as_facts *facts, const struct as_object_info *it)
{
    char build_id[2 * sizeof it->build_id + 1];

    as_facts_cell(facts, "path", as_cell_text(it->path));
    as_facts_cell(facts, "format", as_cell_text("ELF64"));
    as_facts_cell(facts, "architecture", as_cell_text(it->is_k1om ? "K1OM" : "x86-64"));
    as_facts_cell(facts, "type", as_cell_text(as_type_word(it->type)));
    as_facts_cell(facts, "static", as_cell_bool(it->is_static));
    as_facts_cell(facts, "size_b", as_cell_count(it->size_b));
    as_facts_cell(facts, "code_b", as_cell_count(it->text_b));
    as_facts_cell(facts, "build_id", as_cell_build_id(it, build_id));
    as_facts_cell(facts, "entry", it->entry ? as_cell_hex(it->entry) : as_cell_text(NULL));
    as_facts_cell(facts, "interpreter", as_cell_text(it->interpreter));
    as_facts_cell(facts, "soname", as_cell_text(it->soname));
    as_facts_cell(facts, "runpath", as_cell_text(it->runpath));
}

static void needed_facts(struct as_facts *facts, const struct as_object *object)
{
    const char *const *name;
    const size_t n = as_object_needed(object, &name);

    as_facts_array(facts, "needed");
    for (size_t i = 0; i < n; i++)
        as_facts_cell(facts, NULL, as_cell_text(name[i]));
    as_facts_close(facts);
}

static void symbol_facts(struct as_facts *facts, const struct as_info *info)
{
    as_facts_cell(facts, "stripped", as_cell_bool(info->identity->is_stripped));
    as_facts_object(facts, "symbols");
    as_facts_cell(facts, "symtab", as_cell_count(info->symbols.symtab));
    as_facts_cell(facts, "dynsym", as_cell_count(info->symbols.dynsym));
    as_facts_cell(facts, "functions", as_cell_count(info->symbols.functions));
    as_facts_cell(facts, "objects", as_cell_count(info->symbols.objects));
    as_facts_cell(facts, "plt", as_cell_count(info->symbols.plt));
    as_facts_cell(facts, "undefined", as_cell_count(info->symbols.undefined));
    as_facts_close(facts);
}

static struct as_cell version_cell(uint8_t version)
{
    return version ? as_cell_count(version) : as_cell_text(NULL);
}

static void debug_facts(struct as_facts *facts, const struct as_info *info)
{
    const struct as_object_info *it = info->identity;

    as_facts_object(facts, "debug");
    as_facts_cell(facts, "kind", as_cell_text(as_debug_word(it->debug)));
    as_facts_cell(facts, "path", as_cell_text(it->debug_path));
    as_facts_cell(facts, "compressed", as_cell_bool(it->debug_compressed));
    as_facts_cell(facts, "split", as_cell_bool(it->debug_split));
    as_facts_cell(facts, "split_missing", as_cell_count(it->debug_split_missing));
    as_facts_cell(facts, "dwp_path", as_cell_text(it->dwp_path));
    as_facts_cell(facts, "dwz_path", as_cell_text(it->dwz_path));
    as_facts_cell(facts, "dwz_missing", as_cell_bool(it->dwz_missing));
    as_facts_cell(facts, "dwarf_version_min", version_cell(it->dwarf_version_min));
    as_facts_cell(facts, "dwarf_version_max", version_cell(it->dwarf_version_max));
    as_facts_cell(facts, "damaged_units", as_cell_count(info->damaged_units));
    as_facts_close(facts);
}

static void code_facts(struct as_facts *facts, const struct as_code_counts *c)
{
    const struct {
        const char *key;
        uint64_t count;
    } fact[] = {
        {"functions", c->functions},
        {"functions_outlined", c->outlined},
        {"functions_noreturn", c->noreturn},
        {"functions_guessed", c->guessed},
        {"instructions", c->instructions},
        {"blocks", c->blocks},
        {"blocks_unreached", c->unreached},
        {"edges", c->edges},
        {"loops", c->loops},
        {"loops_single", c->level[AS_LEVEL_SINGLE]},
        {"loops_outermost", c->level[AS_LEVEL_OUTERMOST]},
        {"loops_between", c->level[AS_LEVEL_BETWEEN]},
        {"loops_innermost", c->level[AS_LEVEL_INNERMOST]},
        {"loops_irreducible", c->irreducible},
        {"loops_merged", c->merged},
        {"loops_folded", c->folded},
        {"loops_over_path_limit", c->over_limit},
        {"indirect_jumps", c->jumps},
        {"indirect_jumps_tables", c->tables},
        {"indirect_jumps_calls", c->calls},
        {"indirect_jumps_unresolved", c->unresolved},
    };

    as_facts_object(facts, "code");
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++)
        as_facts_cell(facts, fact[i].key, as_cell_count(fact[i].count));
    as_facts_close(facts);
}

void as_info_facts(struct as_facts *facts, const struct as_info *info)
{
    const struct as_section *section;
    const struct as_sheet units = {unit_columns, sizeof unit_columns / sizeof *unit_columns,
                                   info->debug.unit_n, (void *)info, unit_row};
    const struct as_sheet sections = {
        section_columns, sizeof section_columns / sizeof *section_columns,
        as_object_sections(info->object, &section), (void *)info, section_row};

    as_facts_object(facts, NULL);
    identity_facts(facts, info->identity);
    needed_facts(facts, info->object);
    symbol_facts(facts, info);
    debug_facts(facts, info);
    if (info->with_code)
        code_facts(facts, &info->code);
    as_facts_sheet(facts, "units", &units);
    as_facts_sheet(facts, "sections", &sections);
    as_facts_close(facts);
}
