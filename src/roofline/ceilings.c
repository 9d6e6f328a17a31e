/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings for any number of cores from the measured ones, and the limits that they set to a
 * point. */
#include "roofline/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_words[] = {
#define ROOF_LEVEL_WORD(name, word, metric) word,
    AS_ROOF_LEVEL_LIST(ROOF_LEVEL_WORD)
#undef ROOF_LEVEL_WORD
};

static const char *const stream_words[] = {
#define ROOF_STREAM_WORD(name, word, stored) word,
    AS_ROOF_STREAM_LIST(ROOF_STREAM_WORD)
#undef ROOF_STREAM_WORD
};

static const double stored_of[] = {
#define ROOF_STREAM_STORED(name, word, stored) stored,
    AS_ROOF_STREAM_LIST(ROOF_STREAM_STORED)
#undef ROOF_STREAM_STORED
};

static const char *const operation_words[] = {"add", "fma"};
static const char *const number_words[] = {"f64", "f32"};
static const char *const width_words[] = {"scalar", "sse", "avx2", "avx512"};

const char *as_roof_level_word(unsigned level)
{
    return level < AS_ROOF_LEVELS ? level_words[level] : "?";
}

const char *as_roof_vector_word(unsigned vector)
{
    static const char *const word[] = {"no flops", "scalar", "part", "full"};
    return vector < sizeof word / sizeof *word ? word[vector] : "?";
}

const char *as_roof_mark_word(unsigned bit)
{
    static const char *const word[] = {
#define ROOF_MARK_WORD(name, bit, word) [bit] = word,
        AS_ROOF_MARK_LIST(ROOF_MARK_WORD)
#undef ROOF_MARK_WORD
    };
    return bit < sizeof word / sizeof *word ? word[bit] : NULL;
}

/* ---- Names of figures ---------------------------------------------------------------------- */

static int word_index(const char *const *word, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word[i], text) == 0)
            return (int)i;
    return -1;
}

#define INDEX_OF(words, text) word_index(words, sizeof(words) / sizeof *(words), text)

/* Returns the scope with a name such as "core", "all" or "cores4". Returns NULL for other names,
 * or if there are too many scopes. */
static struct as_ceiling_scope *scope_of(struct as_ceilings *ceilings, const char *word)
{
    if (strcmp(word, "numa0") == 0) {
        ceilings->domain.core_n = 1;
        return &ceilings->domain;
    }
    unsigned core_n = strcmp(word, "core") == 0  ? 1
                      : strcmp(word, "all") == 0 ? ceilings->core_n
                                                 : 0;
    if (strncmp(word, "cores", 5) == 0 && word[5] >= '1' && word[5] <= '9') {
        const unsigned long n = strtoul(word + 5, NULL, 10);
        core_n = n < 1u << 20 ? (unsigned)n : 0;
    }
    for (size_t i = 0; i < ceilings->scope_n; i++)
        if (ceilings->scope[i].core_n == core_n)
            return &ceilings->scope[i];
    if (core_n == 0 || ceilings->scope_n == AS_CEILING_SCOPES_MAX)
        return NULL;
    struct as_ceiling_scope *scope = &ceilings->scope[ceilings->scope_n++];
    *scope = (struct as_ceiling_scope){.core_n = core_n};
    return scope;
}

static void raise_to(double *to, double value)
{
    *to = value > *to ? value : *to;
}

void as_ceilings_add(struct as_ceilings *ceilings, const char *name, double value)
{
    char text[80], *word[6];
    size_t n = 0;
    if (strlen(name) >= sizeof text || !isfinite(value) || value <= 0)
        return;
    memcpy(text, name, strlen(name) + 1);
    for (char *rest = text, *next; n < 6 && (next = strsep(&rest, "."));)
        word[n++] = next;
    if (n == 4 && strcmp(word[0], "bandwidth") == 0) {
        char *small = strstr(word[1], "-small");
        const bool is_small = small && small[strlen("-small")] == 0;
        if (is_small)
            *small = 0;
        const int stream = INDEX_OF(stream_words, word[1]), level = INDEX_OF(level_words, word[2]);
        struct as_ceiling_scope *scope =
            stream < 0 || level < 0 ? NULL : scope_of(ceilings, word[3]);
        if (scope)
            raise_to(is_small ? &scope->small[level][stream] : &scope->bandwidth[level][stream],
                     value);
    } else if (n == 5 && strcmp(word[0], "peak") == 0) {
        const int operation = INDEX_OF(operation_words, word[1]);
        const int number = INDEX_OF(number_words, word[2]), width = INDEX_OF(width_words, word[3]);
        struct as_ceiling_scope *scope =
            operation < 0 || number < 0 || width < 0 ? NULL : scope_of(ceilings, word[4]);
        if (scope)
            raise_to(&scope->peak[operation][number][width], value);
    }
}

/* ---- Any number of cores ------------------------------------------------------------------- */

/* Returns the figure of a scope at an offset in bytes. */
static double figure_at(const struct as_ceiling_scope *scope, size_t offset)
{
    double value;
    memcpy(&value, (const char *)scope + offset, sizeof value);
    return value;
}

/* Bounds a figure for any number of cores. It grows at most in proportion to the cores, and is
 * at most the figure of more cores. It is at least every figure of fewer cores. */
static double of_cores(const struct as_ceilings *ceilings, size_t offset, double core_n)
{
    const struct as_ceiling_scope *below = NULL, *above = NULL;
    double reached = 0;
    for (size_t i = 0; i < ceilings->scope_n; i++) {
        const struct as_ceiling_scope *it = &ceilings->scope[i];
        if (figure_at(it, offset) <= 0)
            continue;
        if (it->core_n <= core_n && figure_at(it, offset) > reached)
            reached = figure_at(it, offset);
        if (it->core_n <= core_n && (!below || it->core_n > below->core_n))
            below = it;
        if (it->core_n >= core_n && (!above || it->core_n < above->core_n))
            above = it;
    }
    if (!below && figure_at(&ceilings->domain, offset) > 0)
        below = &ceilings->domain;
    const double max = above ? figure_at(above, offset) : INFINITY;
    const double scaled = below ? figure_at(below, offset) * core_n / below->core_n : INFINITY;
    const double value = max < scaled ? max : scaled;
    return !isfinite(value) ? 0 : value > reached ? value : reached;
}

static double figure_of_pages(const struct as_ceilings *ceilings, size_t pages, unsigned level,
                              unsigned stream, double core_n)
{
    const size_t at = (level * AS_ROOF_STREAMS + stream) * sizeof(double);
    return of_cores(ceilings, pages + at, core_n);
}

/* Returns the bandwidth on small pages, or 0 if unknown. Without its own figure, a stream loses
 * as much as triad. */
static double small_bandwidth(const struct as_ceilings *ceilings, unsigned level, unsigned stream,
                              double core_n, double huge)
{
    const size_t small = offsetof(struct as_ceiling_scope, small);
    const double own = figure_of_pages(ceilings, small, level, stream, core_n);
    const double of_triad = figure_of_pages(ceilings, offsetof(struct as_ceiling_scope, bandwidth),
                                            level, AS_ROOF_STREAM_TRIAD, core_n);
    if (own > 0 || of_triad <= 0)
        return own;
    return huge * figure_of_pages(ceilings, small, level, AS_ROOF_STREAM_TRIAD, core_n) / of_triad;
}

/* Returns the bandwidth on the program's mix of pages: each byte takes the time of its kind of
 * page. */
static double stream_bandwidth(const struct as_ceilings *ceilings, unsigned level, unsigned stream,
                               double core_n)
{
    const double huge = figure_of_pages(ceilings, offsetof(struct as_ceiling_scope, bandwidth),
                                        level, stream, core_n);
    const double small = ceilings->has_pages && huge > 0
                             ? small_bandwidth(ceilings, level, stream, core_n, huge)
                             : 0;
    if (small <= 0)
        return huge;
    return 1 / (ceilings->huge_share / huge + (1 - ceilings->huge_share) / small);
}

/* Finds the stream with the nearest share of stores. Returns its bandwidth, or 0 if none was
 * measured. */
static double nearest_stream(const struct as_ceilings *ceilings, unsigned level, double stored,
                             double core_n, unsigned *stream)
{
    double nearest = INFINITY, found = 0;
    for (unsigned s = 0; s < AS_ROOF_STREAMS; s++) {
        const double value = stream_bandwidth(ceilings, level, s, core_n);
        const double away = fabs(stored_of[s] - stored);
        if (value > 0 && away < nearest) {
            nearest = away;
            found = value;
            *stream = s;
        }
    }
    return found;
}

double as_ceilings_bandwidth(const struct as_ceilings *ceilings, unsigned level, double stored,
                             double core_n)
{
    unsigned stream;
    return nearest_stream(ceilings, level, stored, core_n, &stream);
}

double as_ceilings_traffic(const struct as_ceilings *ceilings, unsigned level, double stored,
                           double core_n)
{
    unsigned stream = AS_ROOF_STREAM_READ;
    const double value = nearest_stream(ceilings, level, stored, core_n, &stream);
    return level == AS_ROOF_L1 ? value : value * (1 + stored_of[stream]);
}

double as_ceilings_fastest(const struct as_ceilings *ceilings, unsigned level, double core_n)
{
    double fastest = 0;
    for (unsigned s = 0; s < AS_ROOF_STREAMS; s++)
        raise_to(&fastest, stream_bandwidth(ceilings, level, s, core_n));
    return fastest;
}

bool as_ceilings_know_small(const struct as_ceilings *ceilings)
{
    bool knows = false;
    for (size_t i = 0; i < ceilings->scope_n; i++)
        knows |= ceilings->scope[i].small[AS_ROOF_MEMORY][AS_ROOF_STREAM_TRIAD] > 0;
    return knows;
}

double as_ceilings_huge_x(const struct as_ceilings *ceilings, unsigned level, double stored,
                          double core_n)
{
    struct as_ceilings huge = *ceilings;
    huge.has_pages = false;
    const double here = as_ceilings_bandwidth(ceilings, level, stored, core_n);
    const double there = as_ceilings_bandwidth(&huge, level, stored, core_n);
    return here > 0 && there > here ? there / here : 1;
}

double as_ceilings_peak(const struct as_ceilings *ceilings, enum as_roof_operation operation,
                        enum as_roof_width width, double single, double core_n)
{
    double second = 0; /* seconds per flop */
    for (unsigned number = 0; number < AS_ROOF_NUMBERS; number++) {
        const double part = number == AS_ROOF_F32 ? single : 1 - single;
        const size_t offset =
            offsetof(struct as_ceiling_scope, peak) +
            (((size_t)operation * AS_ROOF_NUMBERS + number) * AS_ROOF_WIDTHS + width) *
                sizeof(double);
        const double value = of_cores(ceilings, offset, core_n);
        if (part > 0 && value <= 0)
            return 0;
        second += part > 0 ? part / value : 0;
    }
    return second > 0 ? 1 / second : 0;
}

static double highest_peak(const struct as_ceilings *ceilings, double single, double core_n)
{
    double highest = 0;
    for (unsigned width = 0; width < AS_ROOF_WIDTHS; width++)
        for (unsigned operation = 0; operation < AS_ROOF_OPERATIONS; operation++)
            raise_to(&highest, as_ceilings_peak(ceilings, operation, width, single, core_n));
    return highest;
}

/* ---- Roofs --------------------------------------------------------------------------------- */

static void name_peak(struct as_roof *roof, unsigned operation, unsigned width, const char *number)
{
    snprintf(roof->name, sizeof roof->name, "%s %s%s%s", operation == AS_ROOF_FMA ? "FMA" : "add",
             number, *number ? " " : "", width_words[width]);
}

/* Adds the peaks of a type. `number` is its name, or "" if all flops of a point have one mix. */
static size_t add_peak_roofs(const struct as_ceilings *ceilings, double single, const char *number,
                             double core_n, unsigned narrowest, struct as_roof *roof, size_t n)
{
    for (unsigned width = narrowest; width < AS_ROOF_WIDTHS; width++)
        for (unsigned operation = 0; operation < AS_ROOF_OPERATIONS; operation++) {
            const double value = as_ceilings_peak(ceilings, operation, width, single, core_n);
            if (value <= 0 || n == AS_ROOFS_MAX)
                continue;
            roof[n] = (struct as_roof){.value = value};
            name_peak(&roof[n++], operation, width, number);
        }
    return n;
}

static size_t add_bandwidth_roofs(const struct as_ceilings *ceilings, double stored, double core_n,
                                  struct as_roof *roof, size_t n)
{
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++) {
        const double value = stored < 0 ? as_ceilings_fastest(ceilings, level, core_n)
                                        : as_ceilings_bandwidth(ceilings, level, stored, core_n);
        if (value <= 0 || n == AS_ROOFS_MAX)
            continue;
        roof[n] = (struct as_roof){.value = value, .is_bandwidth = true};
        snprintf(roof[n++].name, AS_ROOF_NAME_B, "%s", level_words[level]);
    }
    return n;
}

/* Adds the roofs that huge pages would raise by 5 % or more. */
static size_t add_huge_roofs(const struct as_ceilings *ceilings, double core_n,
                             struct as_roof *roof, size_t n)
{
    struct as_ceilings huge = *ceilings;
    huge.has_pages = false;
    for (unsigned level = AS_ROOF_L2; level < AS_ROOF_LEVELS; level++) {
        const double value = as_ceilings_fastest(&huge, level, core_n);
        if (value <= 0 || value < 1.05 * as_ceilings_fastest(ceilings, level, core_n) ||
            n == AS_ROOFS_MAX)
            continue;
        roof[n] = (struct as_roof){.value = value, .is_bandwidth = true, .is_huge = true};
        snprintf(roof[n++].name, AS_ROOF_NAME_B, "%s on huge pages", level_words[level]);
    }
    return n;
}

size_t as_ceilings_roofs(const struct as_ceilings *ceilings, double core_n,
                         struct as_roof roof[AS_ROOFS_MAX])
{
    size_t n = add_bandwidth_roofs(ceilings, -1, core_n, roof, 0);
    n = add_huge_roofs(ceilings, core_n, roof, n);
    n = add_peak_roofs(ceilings, 0, "f64", core_n, 0, roof, n);
    return add_peak_roofs(ceilings, 1, "f32", core_n, 0, roof, n);
}

/* ---- Points -------------------------------------------------------------------------------- */

/* Returns the rate that a roof allows a point, in flop/s, or in B/s for a point without flops. */
static double allowed_by(const struct as_roof *roof, const struct as_roof_point *point)
{
    return roof->is_bandwidth && point->flops > 0 ? roof->value * point->intensity : roof->value;
}

/* Returns the rate that a level allows by its traffic, and sets `roof`. Returns INFINITY without
 * traffic or a figure. */
static double level_allows(const struct as_ceilings *ceilings, const struct as_roof_point *point,
                           unsigned level, double stored, struct as_roof *roof)
{
    const double bytes = point->level_b[level];
    const double value = as_ceilings_traffic(ceilings, level, stored, point->core_n);
    if (!(bytes > 0) || value <= 0)
        return INFINITY;
    *roof = (struct as_roof){.value = value, .is_bandwidth = true};
    snprintf(roof->name, sizeof roof->name, "%s", level_words[level]);
    return point->flops > 0 ? value * point->flops / bytes
                            : value * point->level_b[AS_ROOF_L1] / bytes;
}

static bool knows_levels(const struct as_roof_point *point)
{
    for (unsigned level = AS_ROOF_L1 + 1; level < AS_ROOF_LEVELS; level++)
        if (!isnan(point->level_b[level]))
            return true;
    return false;
}

/* Returns the lowest rate that the levels and the highest peak allow, and sets `limit`. */
static double lowest_bound(const struct as_ceilings *ceilings, const struct as_roof_point *point,
                           double stored, struct as_roof *limit)
{
    struct as_roof roof[AS_ROOFS_MAX], at_level;
    double lowest = INFINITY;
    const size_t n = point->flops > 0 ? add_peak_roofs(ceilings, point->single_share, "",
                                                       point->core_n, 0, roof, 0)
                                      : 0;
    for (size_t i = 0; i < n; i++) /* the highest of the peaks */
        if (!isfinite(lowest) || roof[i].value > lowest) {
            lowest = roof[i].value;
            *limit = roof[i];
        }
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++) {
        const double allows = level_allows(ceilings, point, level, stored, &at_level);
        if (allows < lowest) {
            lowest = allows;
            *limit = at_level;
        }
    }
    return lowest;
}

/* Returns the lowest roof at or above the reached rate, or INFINITY if there is none. */
static double next_above(const struct as_ceilings *ceilings, const struct as_roof_point *point,
                         double stored, double reached, struct as_roof *next)
{
    struct as_roof roof[AS_ROOFS_MAX];
    size_t n = 0;
    double found = INFINITY;
    if (point->level_b[AS_ROOF_L1] > 0)
        n = add_bandwidth_roofs(ceilings, stored, point->core_n, roof, n);
    if (point->flops > 0) /* scalar peaks do not limit vector code */
        n = add_peak_roofs(ceilings, point->single_share, "", point->core_n,
                           point->vector == AS_ROOF_FULL ? AS_ROOF_WIDTH_SSE : AS_ROOF_WIDTH_SCALAR,
                           roof, n);
    for (size_t i = 0; i < n; i++) {
        const double allows = allowed_by(&roof[i], point);
        if (allows >= reached && allows < found) {
            *next = roof[i];
            found = allows;
        }
    }
    return found;
}

/* Returns the max rate at the intensity of a point, by the fastest stream of L1 and the highest
 * peak. */
static double top_of(const struct as_ceilings *ceilings, const struct as_roof_point *point)
{
    const double peak = highest_peak(ceilings, point->single_share, point->core_n);
    const double l1 = as_ceilings_fastest(ceilings, AS_ROOF_L1, point->core_n);
    const double slope =
        point->flops > 0 ? (isnan(point->intensity) ? 0 : l1 * point->intensity) : l1;
    if (point->flops <= 0)
        return slope;
    return peak <= 0 ? slope : slope <= 0 || peak < slope ? peak : slope;
}

void as_ceilings_judge(const struct as_ceilings *ceilings, struct as_roof_point *point)
{
    const double bytes = point->level_b[AS_ROOF_L1];
    const double stored = bytes > 0 ? point->store_b / bytes : 0;
    const double reached = point->flops > 0 ? point->flop_s : point->byte_s;
    struct as_roof limit = {0};
    const double top = top_of(ceilings, point);
    point->attainable = point->headroom_x = (double)NAN;
    point->huge_x = 1;
    point->roof = limit;
    if (!(reached > 0) || !isfinite(reached))
        return;
    const double lowest = lowest_bound(ceilings, point, stored, &limit);
    if (isfinite(lowest)) {
        point->attainable = lowest;
        point->headroom_x = lowest > reached ? lowest / reached : 1;
    }
    const double next =
        knows_levels(point) ? INFINITY : next_above(ceilings, point, stored, reached, &point->roof);
    if (isfinite(lowest) && next > lowest) /* the other roofs cannot be reached */
        point->roof = limit;
    const double at = next < lowest ? next : lowest;
    point->roof_at = isfinite(at) ? at : 0;
    point->roof_share = point->roof_at > 0 ? reached / point->roof_at : 0;
    for (unsigned level = 0; point->roof.is_bandwidth && level < AS_ROOF_LEVELS; level++)
        if (strcmp(point->roof.name, level_words[level]) == 0)
            point->huge_x = as_ceilings_huge_x(ceilings, level, stored, point->core_n);
    if (top > 0 && reached > top)
        point->marks |= AS_ROOF_ABOVE;
    if (knows_levels(point) && isfinite(lowest) && reached > lowest * 1.05)
        point->marks |= AS_ROOF_ABOVE;
}
