/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads vendor, family, model, stepping, instructions and caches of a CPU from cpuid. The source is
 * this CPU or the output of `cpuid -r`. References: Intel SDM volume 2A, CPUID; AMD APM volume 3,
 * appendix E.
 */
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "machine/cpu_features.h"
#include "machine/uarch.h"

struct cpuid_words {
    uint32_t at[4]; /* eax, ebx, ecx, edx */
};

/* The source of cpuid leaves: the output of `cpuid -r`, or this CPU if `text` is NULL. */
struct cpuid_source {
    const char *text;
};

enum { NUMBERS = 6 }; /* numbers of a line: leaf, subleaf and four registers */

/* Parses a line such as " 0x00000007 0x01: eax=0x00001c30 ebx=..."; false if it has another
 * form. */
static bool read_numbers(const char *line, uint32_t number[NUMBERS])
{
    for (unsigned i = 0; i < NUMBERS; i++) {
        const char *at = strstr(line, "0x");
        char *end;
        if (!at)
            return false;
        number[i] = (uint32_t)strtoul(at + 2, &end, 16);
        if (end == at + 2)
            return false;
        line = end;
    }
    return true;
}

/* Finds the first line of a leaf, which is that of the first CPU; false if there is none. */
static bool find_leaf(const char *text, uint32_t leaf, uint32_t subleaf, struct cpuid_words *out)
{
    struct as_view rest = as_view_of(text), line;
    char copy[128];
    uint32_t number[NUMBERS];

    while (as_view_split(&rest, '\n', &line)) {
        snprintf(copy, sizeof copy, "%.*s", (int)(line.n < 127 ? line.n : 127), line.p);
        if (read_numbers(copy, number) && number[0] == leaf && number[1] == subleaf) {
            memcpy(out->at, number + 2, sizeof out->at);
            return true;
        }
    }
    return false;
}

/* Reads a leaf; false if the CPU does not have it. */
static bool read_leaf(const struct cpuid_source *from, uint32_t leaf, uint32_t subleaf,
                      struct cpuid_words *out)
{
    *out = (struct cpuid_words){0};
    if (from->text)
        return find_leaf(from->text, leaf, subleaf, out);
    return __get_cpuid_count(leaf, subleaf, &out->at[0], &out->at[1], &out->at[2], &out->at[3]);
}

static uint64_t read_features(const struct cpuid_source *from)
{
    uint32_t leaf = 0, subleaf = 0;
    struct cpuid_words words = {0};
    bool is_there = false;
    uint64_t found = 0;

    for (size_t i = 0; i < as_cpu_feature_n; i++) {
        const struct as_cpu_feature *f = &as_cpu_features[i];
        if (f->leaf != leaf || f->subleaf != subleaf) {
            leaf = f->leaf;
            subleaf = f->subleaf;
            is_there = read_leaf(from, leaf, subleaf, &words);
            if (is_there && subleaf > 0) { /* eax of subleaf 0 is the last subleaf */
                struct cpuid_words first;
                is_there = read_leaf(from, leaf, 0, &first) && first.at[0] >= subleaf;
            }
        }
        if (is_there && words.at[f->reg] >> f->bit & 1)
            found |= UINT64_C(1) << i;
    }
    return found;
}

/* Reads cache sizes. Leaf 4 and AMD's 0x8000001D have the same layout: type, level, ways,
 * partitions, line, sets. */
static void read_caches(const struct cpuid_source *from, struct as_processor *out)
{
    const bool is_amd = strcmp(out->vendor, "AuthenticAMD") == 0;
    struct cpuid_words w;

    for (uint32_t i = 0; i < 8; i++) {
        if (!read_leaf(from, is_amd ? 0x8000001d : 4, i, &w) || (w.at[0] & 31) == 0)
            return;
        const uint64_t b = ((uint64_t)(w.at[1] >> 22) + 1) * ((w.at[1] >> 12 & 0x3ff) + 1) *
                           ((w.at[1] & 0xfff) + 1) * ((uint64_t)w.at[2] + 1);
        const unsigned kind = w.at[0] & 31, level = w.at[0] >> 5 & 7;
        const int at = level == 2   ? AS_CACHE_L2
                       : level != 1 ? -1
                       : kind == 2  ? AS_CACHE_L1I
                                    : AS_CACHE_L1D;
        if (at >= 0)
            out->cache_kib[at] = (unsigned)(b / 1024);
    }
}

static bool read_processor(const struct cpuid_source *from, struct as_processor *out)
{
    struct cpuid_words w;

    *out = (struct as_processor){.family = 0};
    if (!read_leaf(from, 0, 0, &w))
        return false;
    memcpy(out->vendor, &w.at[1], 4);
    memcpy(out->vendor + 4, &w.at[3], 4);
    memcpy(out->vendor + 8, &w.at[2], 4);
    if (!read_leaf(from, 1, 0, &w))
        return false;
    const uint32_t a = w.at[0], base = a >> 8 & 15;
    out->family = base == 15 ? base + (a >> 20 & 255) : base;
    out->model = (a >> 4 & 15) | (base == 15 || base == 6 ? a >> 12 & 0xf0 : 0);
    out->stepping = a & 15;
    out->features = read_features(from);
    read_caches(from, out);
    return true;
}

bool as_processor_read(struct as_processor *out)
{
    return read_processor(&(struct cpuid_source){NULL}, out);
}

bool as_processor_parse(const char *text, struct as_processor *out)
{
    return read_processor(&(struct cpuid_source){text}, out);
}
