/* SPDX-License-Identifier: Apache-2.0 */
/* Core tables: the list of tables, and the line for an instruction. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/infile.h"
#include "base/nearest.h"
#include "machine/machine.h"
#include "machine/uarch_table.h"

#define TABLE       "the table of a core"
#define TABLE_MAX_B ((size_t)16 << 20) /* built-in tables have up to 600 KiB */

const char *const *as_uarch_names(void)
{
    return as_uarch_table_names;
}

const struct as_uarch_text *as_uarch_text_find(const char *name)
{
    for (size_t i = 0; i < as_uarch_texts_n; i++)
        if (strcmp(as_uarch_texts[i].name, name) == 0)
            return &as_uarch_texts[i];
    return NULL;
}

static int write_no_table(const char *name, struct as_error *err)
{
    struct as_str known = {0};
    struct as_nearest nearest;
    as_nearest_init(&nearest, name, strlen(name));
    for (const char *const *at = as_uarch_table_names; *at; at++) {
        as_nearest_offer(&nearest, *at);
        as_str_appendf(&known, "%s%s", known.n ? ", " : "", *at);
    }
    if (nearest.best) {
        as_str_fini(&known);
        return as_error_set(err, AS_ERR_NOT_FOUND, "unknown core '%s'; did you mean %s?", name,
                            nearest.best);
    }
    const int rc =
        as_error_set(err, AS_ERR_NOT_FOUND, "unknown core '%s'; use %s, or a file (NAME.tsv)", name,
                     as_str_z(&known));
    as_str_fini(&known);
    return rc;
}

int as_uarch_open(const char *name, struct as_uarch **out, struct as_error *err)
{
    const struct as_uarch_text *carried = as_uarch_text_find(name);
    *out = NULL;
    if (carried)
        return as_uarch_parse(carried->text, carried->text_b, name, out, err);
    if (!strchr(name, '/') && !as_view_ends(as_view_of(name), ".tsv"))
        return write_no_table(name, err);
    char *text;
    size_t n;
    AS_TRY(as_infile_read(name, TABLE, TABLE_MAX_B, AS_INFILE_PIPE, &text, &n, err));
    const int rc = as_uarch_parse(text, n, name, out, err);
    as_free(text);
    return rc;
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

static unsigned number_of(struct as_view digits)
{
    unsigned n = 0;
    for (size_t i = 0; i < digits.n && digits.p[i] >= '0' && digits.p[i] <= '9'; i++)
        n = n * 10 + (unsigned)(digits.p[i] - '0');
    return n;
}

/* Returns true if a list such as "1-5,12" contains the model. */
static bool holds_model(struct as_view spans, unsigned model)
{
    struct as_view span, first;
    while (as_view_split(&spans, ',', &span)) {
        const bool one = !memchr(span.p, '-', span.n);
        if (!as_view_split(&span, '-', &first))
            continue;
        const unsigned from = number_of(first);
        if (from <= model && model <= (one ? from : number_of(span)))
            return true;
    }
    return false;
}

/* Returns true if a 'match' line of the table fits this CPU. It skips all other lines, because
 * parsing a whole table takes milliseconds. */
static bool is_table_of(struct as_view text, const char *vendor, unsigned family, unsigned model)
{
    struct as_view line, word[3];
    while (as_view_split(&text, '\n', &line)) {
        if (!as_view_starts(line, "match\t"))
            continue;
        for (unsigned i = 0; i < 3; i++)
            if (!as_view_split(&line, '\t', &word[i]))
                word[i] = (struct as_view){0};
        if (as_view_equal(word[1], as_view_of(vendor)) && number_of(word[2]) == family &&
            holds_model(line, model))
            return true;
    }
    return false;
}

const char *as_uarch_name_of(const char *vendor, unsigned family, unsigned model)
{
    for (size_t i = 0; i < as_uarch_texts_n; i++) {
        const struct as_view text = {as_uarch_texts[i].text, as_uarch_texts[i].text_b};
        if (is_table_of(text, vendor, family, model))
            return as_uarch_texts[i].name;
    }
    return NULL;
}

/* Returns the text of the first 'source' line. */
static struct as_view first_source(struct as_view text)
{
    struct as_view line, word = {0};
    while (as_view_split(&text, '\n', &line)) {
        if (!as_view_starts(line, "source\t"))
            continue;
        for (unsigned i = 0; i < 3; i++)
            as_view_split(&line, '\t', &word);
        return word;
    }
    return (struct as_view){"as the table that it is like", 28};
}

void as_uarch_describe_host(const struct as_host *host, char *out, size_t out_b)
{
    char path[PATH_MAX], *text = NULL;
    struct as_core core;
    size_t n;

    as_core_of_host(host, &core);
    if (as_core_table_path(host, path, sizeof path) && access(path, R_OK) == 0 &&
        as_infile_read(path, TABLE, TABLE_MAX_B, 0, &text, &n, NULL) == 0) {
        const struct as_view source = first_source((struct as_view){text, n});
        snprintf(out, out_b, "%.*s", (int)source.n, source.p);
    } else if (core.table) {
        const struct as_uarch_text *carried = as_uarch_text_find(core.table);
        const struct as_view source =
            first_source((struct as_view){carried->text, carried->text_b});
        snprintf(out, out_b, "%s: %.*s%s%s", core.table, (int)source.n, source.p,
                 *core.doubt ? "; " : "", core.doubt);
    } else {
        snprintf(out, out_b, "none of this core");
    }
    as_free(text);
}

const char *as_uarch_host(void)
{
    struct as_processor it;
    struct as_core core;

    if (!as_processor_read(&it))
        return NULL;
    as_core_of(&it, &core);
    return core.table;
}

/* Removes extensions that this CPU does not show. A table lists all extensions of a core, but a
 * CPU or hypervisor may disable some. */
static void restrict_extensions(const struct as_processor *it, struct as_uarch *uarch)
{
    if (it->features && uarch && uarch->extensions)
        uarch->extensions &= as_extensions_of_features(it->features);
}

/* Opens the table that was measured on this kind of core. Returns false if there is none, or if
 * it cannot be read; `choice->damaged` then holds the error. */
static bool open_measured(const struct as_processor *it, struct as_uarch **out,
                          struct as_uarch_choice *choice)
{
    const struct as_host host = {.cpu_vendor = it->vendor,
                                 .cpu_family = it->family,
                                 .cpu_model_number = it->model,
                                 .cpu_stepping = it->stepping};

    if (as_core_table_path(&host, choice->file, sizeof choice->file) &&
        access(choice->file, R_OK) == 0 &&
        as_uarch_open(choice->file, out, &choice->damaged) == 0) {
        if (it->features && *out)
            (*out)->extensions = as_extensions_of_features(it->features);
        return true;
    }
    choice->file[0] = 0;
    return false;
}

int as_uarch_open_host(struct as_uarch **out, struct as_uarch_choice *choice, struct as_error *err)
{
    struct as_processor processor = {.features = 0};

    *choice = (struct as_uarch_choice){.file = ""};
    *out = NULL;
    if (as_processor_read(&processor)) {
        as_core_of(&processor, &choice->core);
        if (open_measured(&processor, out, choice))
            return 0;
    }
    if (!choice->core.table)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "assay has no table of this machine's core or of a similar one");
    AS_TRY(as_uarch_open(choice->core.table, out, err));
    restrict_extensions(&processor, *out);
    return 0;
}

void as_uarch_free(struct as_uarch **uarch)
{
    struct as_uarch_table *table = (struct as_uarch_table *)*uarch;
    *uarch = NULL;
    if (!table)
        return;
    as_vec_fini(&table->timing);
    as_vec_fini(&table->parts);
    as_vec_fini(&table->source);
    as_vec_fini(&table->match);
    as_index_fini(&table->by_key);
    as_index_fini(&table->by_family);
    as_arena_fini(&table->arena);
    as_free(table);
}

int as_uarch_group_find(const struct as_uarch *uarch, const char *name)
{
    for (unsigned i = 0; i < uarch->group_n; i++)
        if (strcmp(uarch->group[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- Lines for instructions ---------------------------------------------------------------- */

uint64_t as_key_hash(struct as_view text)
{
    return as_fnv_mix(AS_FNV_BASIS, text.p, text.n);
}

static const struct as_core_timing *find_exact(const struct as_uarch_table *table, const char *key)
{
    uint32_t row;
    for (struct as_probe probe = as_index_probe(&table->by_key, as_key_hash(as_view_of(key)));
         (row = as_index_next(&table->by_key, &probe)) != AS_INDEX_NONE;)
        if (strcmp(table->timing.at[row].key, key) == 0)
            return &table->timing.at[row];
    return NULL;
}

/* Compare and exchange of double width costs more than all other locked operations. */
static bool is_double_exchange(const struct as_key_parts *key)
{
    return as_view_equal(key->mnemonic, as_view_of("cmpxchg8b")) ||
           as_view_equal(key->mnemonic, as_view_of("cmpxchg16b"));
}

/* Finds a locked operation in place of one without a line. All locked operations of a core cost
 * about the same. The same operation without a lock is never used, because it is much cheaper. */
static const struct as_core_timing *find_locked(const struct as_uarch_table *table,
                                                const struct as_key_parts *asked,
                                                unsigned *distance)
{
    /* weights that keep the result in the range of AS_TIMING_WIDTH */
    enum { OTHER = 20, OTHER_WIDTH = 2, OTHER_FORM = 10 };
    const struct as_core_timing *best = NULL;
    for (size_t row = 0; row < table->timing.n; row++) {
        const struct as_key_parts *line = &table->parts.at[row];
        const bool same = as_view_equal(line->mnemonic, asked->mnemonic);
        if (!(line->bits & AS_KEY_LOCK) ||
            (!same && (is_double_exchange(line) || is_double_exchange(asked))))
            continue;
        const unsigned d = OTHER_FORM + (same ? 0 : OTHER) +
                           (line->operand[0].bits == asked->operand[0].bits ? 0 : OTHER_WIDTH) +
                           (line->bits != asked->bits);
        if (d < *distance) {
            *distance = d;
            best = &table->timing.at[row];
        }
    }
    return best;
}

static const struct as_core_timing *find_nearest(const struct as_uarch_table *table,
                                                 const char *key, unsigned *distance)
{
    struct as_key_parts asked;
    const struct as_core_timing *best = NULL;
    uint32_t row;
    as_key_split(key, &asked);
    const struct as_view family = as_key_family(asked.mnemonic);
    *distance = 1000;
    for (struct as_probe probe = as_index_probe(&table->by_family, as_key_hash(family));
         (row = as_index_next(&table->by_family, &probe)) != AS_INDEX_NONE;) {
        const struct as_key_parts *line = &table->parts.at[row];
        if (!as_view_equal(as_key_family(line->mnemonic), family))
            continue;
        const unsigned d = as_key_distance(&asked, line);
        if (d < *distance) {
            *distance = d;
            best = &table->timing.at[row];
        }
    }
    return best || !(asked.bits & AS_KEY_LOCK) ? best : find_locked(table, &asked, distance);
}

const struct as_core_timing *as_uarch_timing(const struct as_uarch *uarch,
                                             const struct as_insn *insn,
                                             enum as_timing_match *match)
{
    const struct as_uarch_table *table = (const struct as_uarch_table *)uarch;
    char key[AS_UARCH_KEY_B];
    unsigned distance = 0;
    as_uarch_key(insn, key, sizeof key);
    const struct as_core_timing *timing = find_exact(table, key);
    if (!timing)
        timing = find_nearest(table, key, &distance);
    *match = !timing          ? AS_TIMING_NONE
             : distance == 0  ? AS_TIMING_EXACT
             : distance < 10  ? AS_TIMING_ALIKE
             : distance < 100 ? AS_TIMING_WIDTH
                              : AS_TIMING_REGISTER;
    return timing;
}

uint64_t as_uarch_lacks(const struct as_uarch *uarch, const struct as_insn *insn)
{
    return uarch->extensions ? as_form_get(insn->form)->extensions & ~uarch->extensions : 0;
}
