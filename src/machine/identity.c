/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the core of a CPU and the table for it. A hypervisor can report any family and model, but
 * it cannot add instructions. The model therefore counts unless its core lacks several instructions
 * that cpuid shows. In that case, and for a core without a table, instructions and caches select
 * the nearest core (data/machine/features.txt).
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "machine/cpu_features.h"
#include "machine/machine.h"
#include "machine/microarchitectures.h"
#include "machine/uarch.h"
#include "machine/uarch_table.h"

/* One extra feature may be a late addition to a core; several extra features mean another core. */
#define CONTRADICTING 2

/* A core that lacks a shown instruction is unlikely. An instruction that is not shown weighs 1,
 * because a hypervisor may hide it. Cache sizes weigh little, because a hypervisor may invent
 * them. */
#define LACK_WEIGHT  16
#define CACHE_WEIGHT 3

#define SAID_MOST 4 /* max features named in a message */

static const struct as_cpu_core *core_named(const char *name)
{
    for (size_t i = 0; name && i < as_cpu_core_n; i++)
        if (strcmp(as_cpu_cores[i].name, name) == 0)
            return &as_cpu_cores[i];
    return NULL;
}

uint64_t as_extensions_of_features(uint64_t features)
{
    uint64_t found = AS_EXTENSION_BIT(SSE);

    for (size_t i = 0; i < as_cpu_feature_n; i++) {
        const int at = features >> i & 1 ? as_extension_find(as_cpu_features[i].name) : -1;
        if (at >= 0)
            found |= UINT64_C(1) << at;
    }
    return found;
}

bool as_core_extensions(const char *core, uint64_t *out)
{
    const struct as_cpu_core *found = core_named(core);

    if (found)
        *out |= as_extensions_of_features(found->features);
    return found != NULL;
}

/* Returns the first line of a core with this name, or NULL if the vendor has no such core. */
static const struct as_microarchitecture *line_of_core(const char *name, const char *vendor)
{
    for (size_t i = 0; i < as_microarchitecture_n; i++)
        if (strcmp(as_microarchitectures[i].name, name) == 0 &&
            strcmp(as_microarchitectures[i].vendor, vendor) == 0)
            return &as_microarchitectures[i];
    return NULL;
}

static const char *table_of_core(const char *name, const char *vendor)
{
    for (size_t i = 0; i < as_microarchitecture_n; i++) {
        const struct as_microarchitecture *m = &as_microarchitectures[i];
        const char *table = strcmp(m->name, name) != 0 || strcmp(m->vendor, vendor) != 0
                                ? NULL
                                : as_uarch_name_of(vendor, m->family, m->model_first);
        if (table)
            return table;
    }
    return NULL;
}

static unsigned lacking(const struct as_cpu_core *core, uint64_t features)
{
    return (unsigned)__builtin_popcountll(features & ~core->features);
}

static bool has_cache(const struct as_cpu_core *core, unsigned cache, unsigned kib)
{
    const uint16_t *size = core->kib[cache];

    return kib == 0 || size[0] == 0 || size[0] == kib || size[1] == kib || size[2] == kib;
}

static unsigned unlikeness(const struct as_cpu_core *core, const struct as_processor *it)
{
    unsigned d = LACK_WEIGHT * lacking(core, it->features) +
                 (unsigned)__builtin_popcountll(core->features & ~it->features);

    for (unsigned c = 0; c < AS_CPU_CACHES; c++)
        d += has_cache(core, c, it->cache_kib[c]) ? 0 : CACHE_WEIGHT;
    return d;
}

/* Returns the core of the same vendor that is nearest by instructions and caches. `has_table`
 * restricts the search to cores with a table. Returns NULL if the features are unknown. */
static const struct as_cpu_core *nearest_core(const struct as_processor *it, bool has_table)
{
    const struct as_cpu_core *best = NULL;

    for (size_t i = 0; it->features && i < as_cpu_core_n; i++) {
        const struct as_cpu_core *core = &as_cpu_cores[i];
        if (!line_of_core(core->name, it->vendor) ||
            (has_table && !table_of_core(core->name, it->vendor)))
            continue;
        if (!best || unlikeness(core, it) < unlikeness(best, it))
            best = core;
    }
    return best;
}

static void append_features(struct as_str *to, uint64_t features)
{
    unsigned said = 0;
    const unsigned n = (unsigned)__builtin_popcountll(features);

    for (size_t i = 0; i < as_cpu_feature_n && said < SAID_MOST; i++)
        if (features >> i & 1)
            as_str_appendf(to, "%s%s", said++ ? ", " : "", as_cpu_features[i].name);
    if (n > said)
        as_str_appendf(to, " and %u more", n - said);
}

static void append_core_doubt(struct as_core *out, struct as_str *said)
{
    const size_t used = strlen(out->doubt);

    snprintf(out->doubt + used, sizeof out->doubt - used, "%s%s", used ? "; " : "", as_str_z(said));
    as_str_fini(said);
}

/* Replaces the core of the model if it contradicts the instructions that cpuid shows. */
static void doubt_model(const struct as_processor *it, struct as_core *out)
{
    const struct as_cpu_core *named = core_named(out->name), *near = nearest_core(it, false);
    struct as_str said = {0};

    if (!named || !near || lacking(named, it->features) < CONTRADICTING ||
        lacking(near, it->features) >= lacking(named, it->features))
        return;
    as_str_appendf(&said, "cpuid gives model %u, %s, which has no ", it->model, out->words);
    append_features(&said, it->features & ~named->features);
    out->name = near->name;
    out->words = line_of_core(near->name, it->vendor)->words;
    as_str_appendf(&said, ": by its instructions and caches this is %s%s", out->words,
                   lacking(near, it->features) ? " or a later one" : "");
    out->is_contradicted = true;
    append_core_doubt(out, &said);
}

static void use_nearest_table(const struct as_processor *it, struct as_core *out)
{
    const struct as_cpu_core *near = nearest_core(it, true);
    struct as_str said = {0};

    if (!near)
        return;
    out->table = table_of_core(near->name, it->vendor);
    out->is_nearest = true;
    as_str_appendf(
        &said, "no table of %s; the nearest by instructions and caches is the table of %s",
        out->words ? out->words : "this core", line_of_core(near->name, it->vendor)->words);
    append_core_doubt(out, &said);
}

void as_core_of(const struct as_processor *it, struct as_core *out)
{
    *out = (struct as_core){.name = NULL};
    out->name =
        as_microarchitecture_of(it->vendor, it->family, it->model, it->stepping, &out->words);
    doubt_model(it, out);
    out->table = out->is_contradicted ? table_of_core(out->name, it->vendor)
                                      : as_uarch_name_of(it->vendor, it->family, it->model);
    if (!out->table)
        use_nearest_table(it, out);
}

void as_core_of_host(const struct as_host *host, struct as_core *out)
{
    struct as_processor it = {.family = (unsigned)host->cpu_family,
                              .model = (unsigned)host->cpu_model_number,
                              .stepping = (unsigned)host->cpu_stepping,
                              .features = host->cpu_features};

    snprintf(it.vendor, sizeof it.vendor, "%s", host->cpu_vendor ? host->cpu_vendor : "");
    memcpy(it.cache_kib, host->cpu_cache_kib, sizeof it.cache_kib);
    as_core_of(&it, out);
}
