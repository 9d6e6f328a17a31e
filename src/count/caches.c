/* SPDX-License-Identifier: Apache-2.0 */
/* The modelled caches: parsed from a text, or those of this machine as the kernel reports them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "count/traffic.h"
#include "machine/machine.h"

enum { ALL_WAYS = 65535, WAYS_USUAL = 8, FAMILY_ZEN = 0x17 };
#define MIB (UINT64_C(1) << 20)
/* A fully associative level has a node and slots of 32 bytes for each line. */
#define FULL_MOST_B (128 * MIB)

/* ---- Of a text ------------------------------------------------------------------------------ */

static bool parse_size(const char **at, uint64_t *size_b)
{
    char *end;
    const unsigned long long n = strtoull(*at, &end, 10);
    const bool is_number = **at >= '0' && **at <= '9' && n > 0 && n < 1ull << 40;
    const unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    *size_b = (uint64_t)n << shift;
    *at = end + (shift != 0);
    return is_number && *size_b < 1ull << 40;
}

static bool parse_ways(const char **at, uint32_t *ways)
{
    char *end;
    const unsigned long n = strtoul(*at, &end, 10);
    const bool is_number = **at >= '0' && **at <= '9' && n <= 1024;
    *ways = (uint32_t)n;
    *at = end;
    return is_number;
}

static bool parse_kind(const char **at, enum as_cache_kind *kind)
{
    static const char *const word[] = {"plain", "allocating", "inclusive", "victim"};
    for (unsigned k = 0; k < sizeof word / sizeof *word; k++) {
        if (strncmp(*at, word[k], strlen(word[k])) != 0)
            continue;
        *kind = (enum as_cache_kind)k;
        *at += strlen(word[k]);
        return true;
    }
    return false;
}

static bool parse_level(const char **at, struct as_cache_level *out)
{
    *out = (struct as_cache_level){.kind = AS_CACHE_PLAIN};
    if (!parse_size(at, &out->size_b) || *(*at)++ != ':' || !parse_ways(at, &out->ways))
        return false;
    if (**at == ':') {
        (*at)++;
        return parse_kind(at, &out->kind);
    }
    return true;
}

int as_level_traffic_parse(const char *text, struct as_cache_level *level, unsigned *n,
                           struct as_error *err)
{
    const char *at = text;
    bool fits = true;
    *n = 0;
    do {
        fits = *n < AS_COUNT_LEVELS && parse_level(&at, &level[*n]);
        *n += fits;
    } while (fits && *at == ',' && at++);
    struct as_cache *cache = NULL;
    for (unsigned k = 0; fits && k < *n; k++)
        if (level[k].ways == 0 && level[k].size_b > FULL_MOST_B)
            return as_error_set(
                err, AS_ERR_USAGE,
                "--caches: level %u is larger than 128M and fully associative (:0); "
                "set its ways, such as :16",
                k + 1);
    if (!fits || *at)
        return as_error_set(err, AS_ERR_USAGE,
                            "--caches: invalid value '%s'; use SIZE:WAYS for each level, the "
                            "nearest first, such as 32K:8,1M:16,32M:16:victim",
                            text);
    const int rc = as_cache_new(level, *n, AS_REPLAY_LINE_B, &cache, err);
    as_cache_free(&cache);
    return rc;
}

int as_count_caches(const char *text, uint64_t size_b[AS_COUNT_LEVELS], struct as_error *err)
{
    struct as_cache_level level[AS_CACHE_LEVELS_MOST];
    unsigned n;
    AS_TRY(as_level_traffic_parse(text, level, &n, err));
    for (unsigned k = 0; k < AS_COUNT_LEVELS; k++)
        size_b[k] = k < n ? level[k].size_b : 0;
    return 0;
}

/* ---- Of the machine ------------------------------------------------------------------------- */

/* Lists the data caches of a CPU of this process, from L1 outwards. Returns their number. */
static unsigned find_caches(const struct as_topology *topology,
                            const struct as_place *out[AS_COUNT_LEVELS])
{
    unsigned n = 0;
    uint32_t at = 0;
    while (at < topology->place_n &&
           !(topology->place[at].kind == AS_PLACE_PU && topology->place[at].usable))
        at++;
    if (at == topology->place_n)
        return 0;
    for (; at != topology->place[at].parent; at = topology->place[at].parent) {
        const struct as_place *place = &topology->place[at];
        if (place->kind == AS_PLACE_CACHE && place->cache != 'i' && place->size_b &&
            n < AS_COUNT_LEVELS)
            out[n++] = place;
    }
    return n;
}

/*
 * Returns the kind of a level. On AMD Zen, L2 includes L1, and L3 is a victim cache of L2. The same
 * holds for Intel from Skylake-SP on, which a large L2 shows. Before, L3 includes L1 and L2.
 */
static enum as_cache_kind kind_of(const struct as_host *host, unsigned k, uint64_t second_b)
{
    const bool is_zen = host->cpu_vendor && strcmp(host->cpu_vendor, "AuthenticAMD") == 0 &&
                        host->cpu_family >= FAMILY_ZEN;
    if (k == 0)
        return AS_CACHE_PLAIN;
    if (k == 1)
        return is_zen ? AS_CACHE_INCLUSIVE : AS_CACHE_ALLOCATING;
    return is_zen || second_b >= MIB ? AS_CACHE_VICTIM : AS_CACHE_INCLUSIVE;
}

/* Divides the ways of the last level among the threads that share it. */
static void share_level(struct as_cache_level *level, unsigned sharers)
{
    const uint32_t ways = level->ways ? level->ways : 1;
    const uint32_t own = ways / sharers ? ways / sharers : 1;
    if (level->ways)
        level->size_b = level->size_b / ways * own;
    else
        level->size_b /= sharers;
    level->ways = level->ways ? own : 0;
}

static int host_levels(const struct as_host *host, unsigned threads, struct as_cache_level *level,
                       unsigned *n, struct as_error *err)
{
    const struct as_place *place[AS_COUNT_LEVELS];
    unsigned sharers = 1;
    *n = host->topology ? find_caches(host->topology, place) : 0;
    if (*n == 0)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "--levels: the caches of this machine are not known; describe them "
                            "with --caches");
    for (unsigned k = 0; k < *n; k++) {
        const unsigned ways = place[k]->ways == ALL_WAYS ? 0
                              : place[k]->ways           ? place[k]->ways
                                                         : WAYS_USUAL;
        level[k] = (struct as_cache_level){place[k]->size_b, ways,
                                           kind_of(host, k, place[*n > 1 ? 1 : 0]->size_b)};
    }
    as_topology_cache_b(host->topology, 0, *n, &sharers);
    const unsigned shared = threads < sharers ? threads : sharers;
    if (*n > 1 && shared > 1)
        share_level(&level[*n - 1], shared);
    return 0;
}

int as_level_traffic_host(unsigned threads, struct as_cache_level *level, unsigned *n,
                          struct as_error *err)
{
    struct as_host *host;
    AS_TRY(as_host_read(NULL, &host, err));
    const int rc = host_levels(host, threads, level, n, err);
    as_host_free(&host);
    return rc;
}
