/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a walk by its lines, not by its accesses: all operands hit L1 between two changes of a
 * line. If more operands share a set than it has ways, each access is replayed. In long runs a
 * sample of the sets is replayed (Kessler, Hill and Wood 1994).
 */
#include "count/replay.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "isa/isa.h"

enum { REFRESH = 4 };
/* Time of a miss in the model over that of a hit. Programs with sampled records wait for it. */
enum { MISS_COST = 8 };
/* Greatest difference of the share of classes from that of their number, and misses that show it.
 */
#define SKEW_MOST       0.05
#define JUDGED_LEAST    1600
#define REPEATS_MOST_B  (UINT64_C(1) << 32)
#define ITERATIONS_MOST (UINT64_C(1) << 48)

/* State of one operand of a walk. */
struct walking {
    uint64_t address, next; /* `next`: iteration of its next change of the line */
    int64_t step;
    uint32_t width_b;
    enum as_cache_access access;
};

/* ---- Lines ---------------------------------------------------------------------------------- */

/* Returns the class that is dropped at step k, in an order without a constant stride. */
static unsigned leaves_at(unsigned k, unsigned classes)
{
    return (k * 29u + 11u) & (classes - 1);
}

/* Returns true if the first `n` classes had their share of the misses of each loop. */
static bool are_classes_fair(const struct as_level_replay *r, uint32_t n)
{
    as_vec_foreach (&r->group, group) {
        double all = 0, some = 0;
        for (unsigned k = 0; k < r->classes; k++) {
            all += group->class_n[k];
            some += k < n ? group->class_n[leaves_at(k, r->classes)] : 0;
        }
        const double expected = all * n / r->classes;
        if (expected >= JUDGED_LEAST && fabs(some / expected - 1) > SKEW_MOST)
            return false;
    }
    return true;
}

static void keep_classes(struct as_level_replay *r, uint32_t n)
{
    if (r->kept_n <= n || (r->is_sampled && !are_classes_fair(r, n)))
        return;
    r->kept_n = n;
    r->kept = 0;
    for (unsigned k = 0; k < n; k++)
        r->kept |= UINT64_C(1) << leaves_at(k, r->classes);
}

/* Drops half of the classes, or all but the last few if the program writes fewer records then. */
static void leave_out_classes(struct as_level_replay *r)
{
    r->next_n += r->full_n;
    if (r->kept_n > AS_REPLAY_KEPT_LEAST)
        keep_classes(r, r->is_sampled ? AS_REPLAY_KEPT_LEAST : r->kept_n / 2);
}

void as_level_replay_hurry(struct as_level_replay *r)
{
    keep_classes(r, 1);
}

uint64_t as_level_replay_mask(const struct as_level_replay *r, bool spans)
{
    uint64_t mask = r->kept;
    for (uint32_t n = r->classes; n < AS_REPLAY_CLASSES; n *= 2)
        mask |= mask << n;
    return spans ? mask | mask >> 1 | mask << 63 : mask;
}

/* Returns the number of classes with sampled reuse. */
static uint32_t reuse_classes(const struct as_level_replay *r)
{
    const uint32_t n = r->kept_n < AS_REPLAY_KEPT_LEAST ? r->kept_n : AS_REPLAY_KEPT_LEAST;
    return r->is_sampled && r->classes > n ? n : r->classes;
}

/* Returns the number of halvings of the lines of a class. With sampled records the classes are
 * sampled too, until AS_REPLAY_KEPT_LEAST are left. */
static unsigned reuse_shift(const struct as_level_replay *r)
{
    return r->is_sampled && r->classes > AS_REPLAY_KEPT_LEAST
               ? AS_REPLAY_REUSE_SHIFT - (unsigned)__builtin_ctz(r->classes / AS_REPLAY_KEPT_LEAST)
               : AS_REPLAY_REUSE_SHIFT;
}

/* Notes the reuse of a line of the sample. */
static void note_reuse(const struct as_level_replay *r, struct as_level_replay_thread *t,
                       struct as_level_replay_group *group, uint64_t line)
{
    const uint32_t classes = reuse_classes(r);
    const unsigned shift = (unsigned)__builtin_ctz(r->classes / classes);
    unsigned k = 0;
    while (shift && k < classes && leaves_at(k, r->classes) != (line & (r->classes - 1)))
        k++;
    if (k == classes)
        return;
    uint64_t distance = as_reuse_access(t->reuse, line);
    if (distance == AS_REUSE_SKIPPED)
        return;
    if (distance < AS_REUSE_NO_SPACE)
        distance <<= shift;
    if (!group->curve)
        group->curve = as_calloc(1, sizeof *group->curve);
    if (group->curve)
        as_reuse_curve_add(group->curve, distance, (double)(1u << (reuse_shift(r) + shift)));
}

static void replay_line(struct as_level_replay *r, struct as_level_replay_thread *t,
                        struct as_level_replay_group *group, uint64_t line,
                        enum as_cache_access access, uint32_t stream_b)
{
    if (access != AS_CACHE_STREAM)
        note_reuse(r, t, group, line);
    if (!(r->kept >> (line & (r->classes - 1)) & 1))
        return;
    const double weight = (double)r->classes / r->kept_n;
    const double before = group->counts.level[0].miss_n;
    as_cache_line(t->cache, line, access, stream_b, weight, &group->counts);
    const bool missed = group->counts.level[0].miss_n > before;
    group->miss_n += missed;
    if (missed && r->kept_n == r->classes)
        group->class_n[line & (r->classes - 1)]++;
    r->line_n += missed && r->is_sampled ? MISS_COST : 1;
    if (r->line_n >= r->next_n)
        leave_out_classes(r);
}

static void replay_bytes(struct as_level_replay *r, struct as_level_replay_thread *t,
                         struct as_level_replay_group *group, uint64_t address, uint64_t size_b,
                         enum as_cache_access access)
{
    const uint64_t end = address + size_b;
    for (uint64_t line = address / AS_REPLAY_LINE_B; line <= (end - 1) / AS_REPLAY_LINE_B; line++) {
        const uint64_t start = line * AS_REPLAY_LINE_B;
        const uint64_t from = start > address ? start : address;
        const uint64_t to = start + AS_REPLAY_LINE_B < end ? start + AS_REPLAY_LINE_B : end;
        replay_line(r, t, group, line, access, (uint32_t)(to - from));
    }
}

static enum as_cache_access access_of(const struct as_address_operand *o)
{
    return o->streams                    ? AS_CACHE_STREAM
           : o->access & AS_ACCESS_WRITE ? AS_CACHE_WRITE
                                         : AS_CACHE_READ;
}

/* ---- Walks ---------------------------------------------------------------------------------- */

/* Returns the number of iterations until the operand touches a new line. */
static uint64_t until_next_line(const struct walking *w)
{
    const uint64_t in_line = AS_REPLAY_LINE_B - 1;
    if (w->access == AS_CACHE_STREAM) /* each store moves its bytes */
        return 1;
    if (w->step == 0)
        return UINT64_MAX;
    if (w->step > 0)
        return (AS_REPLAY_LINE_B - ((w->address + w->width_b - 1) & in_line) + (uint64_t)w->step -
                1) /
               (uint64_t)w->step;
    return (w->address & in_line) / -(uint64_t)w->step + 1;
}

/* Returns true if a set of the first level cannot hold the lines that the operands are at. */
static bool exceeds_ways(const struct as_level_replay *r, const struct walking *w, uint32_t n)
{
    const struct as_cache_level *first = &r->level[0];
    const uint64_t sets = first->ways ? first->size_b / AS_REPLAY_LINE_B / first->ways : 1;
    uint64_t line[AS_ADDRESS_WORDS_MOST];
    uint32_t lines = 0;
    if (first->ways == 0 || n <= first->ways)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = w[i].address / AS_REPLAY_LINE_B;
        uint32_t k = 0, same_set = 0;
        while (k < lines && line[k] != at)
            same_set += line[k++] % sets == at % sets;
        if (k < lines)
            continue;
        if (same_set >= first->ways)
            return true;
        line[lines++] = at;
    }
    return false;
}

static void step_all(struct walking *w, uint32_t n, uint64_t iterations)
{
    for (uint32_t i = 0; i < n; i++)
        w[i].address += (uint64_t)w[i].step * iterations;
}

static void replay_walk(struct as_level_replay *r, struct as_level_replay_thread *t,
                        struct as_level_replay_group *group, struct walking *w, uint32_t n,
                        uint64_t iterations)
{
    unsigned events = 0;
    for (uint64_t at = 0; at < iterations; events++) {
        uint64_t next = UINT64_MAX;
        for (uint32_t i = 0; i < n; i++) {
            const bool comes = w[i].next <= at;
            if (comes || (events % REFRESH == 0 && w[i].access != AS_CACHE_STREAM))
                replay_bytes(r, t, group, w[i].address, w[i].width_b, w[i].access);
            if (comes) {
                const uint64_t until = until_next_line(&w[i]);
                w[i].next = until > UINT64_MAX - at ? UINT64_MAX : at + until;
            }
            next = w[i].next < next ? w[i].next : next;
        }
        if (exceeds_ways(r, w, n)) { /* every access counts */
            next = at + 1;
            for (uint32_t i = 0; i < n; i++)
                w[i].next = next;
        }
        if (next >= iterations)
            break;
        step_all(w, n, next - at);
        at = next;
    }
}

/* ---- Records -------------------------------------------------------------------------------- */

static uint64_t address_of(const struct as_address_operand *o, const uint64_t *word)
{
    return (o->word == AS_ADDRESS_NONE ? 0 : word[o->word]) + (uint64_t)o->offset;
}

/* Replays the operands of a record that is not a walk. */
static void replay_part(struct as_level_replay *r, struct as_level_replay_thread *t,
                        struct as_level_replay_group *group, const struct as_address_record *record,
                        const uint64_t *word)
{
    const struct as_address_operand *o = r->plan->operand.at + record->first_operand;
    for (uint32_t i = 0; i < record->operands; i++) {
        const uint64_t times = o[i].times == AS_ADDRESS_NONE ? 1 : word[o[i].times];
        if (times && times < REPEATS_MOST_B)
            replay_bytes(r, t, group, address_of(&o[i], word), times * o[i].width_b,
                         access_of(&o[i]));
    }
}

static void replay_record(struct as_level_replay *r, struct as_level_replay_thread *t,
                          uint32_t number, const uint64_t *word, uint64_t iterations)
{
    const struct as_address_record *record = &r->plan->record.at[number];
    const struct as_address_operand *o = r->plan->operand.at + record->first_operand;
    struct as_level_replay_group *group = &r->group.at[r->group_of[number]];
    struct walking w[AS_ADDRESS_WORDS_MOST];
    if (record->is_sampled)
        r->runs[number] += (double)r->classes / r->kept_n;
    else {
        r->runs[number] += (double)iterations;
        group->replayed_n += (double)iterations * record->operands;
    }
    if (!record->walks) {
        replay_part(r, t, group, record, word);
        return;
    }
    for (uint32_t i = 0; i < record->operands; i++)
        w[i] =
            (struct walking){address_of(&o[i], word), 0, o[i].step, o[i].width_b, access_of(&o[i])};
    replay_walk(r, t, group, w, record->operands, iterations);
}

size_t as_level_replay_words(struct as_level_replay *r, struct as_level_replay_thread *t,
                             const uint64_t *word, size_t n)
{
    for (size_t at = 0; at < n;) {
        const uint64_t number = word[at];
        const struct as_address_record *record =
            number < r->plan->record.n ? &r->plan->record.at[number] : NULL;
        if (!record || as_address_record_n(record) > n - at) {
            r->damaged++;
            return n;
        }
        const uint64_t iterations =
            record->walks ? __atomic_load_n(&word[at + 1], __ATOMIC_ACQUIRE) : 1;
        if (iterations == AS_ADDRESS_RUNS) { /* it runs, or an interrupt handler lost its end */
            if (at + as_address_record_n(record) == n)
                return at;
            r->damaged++;
        } else if (iterations + record->more < ITERATIONS_MOST)
            replay_record(r, t, (uint32_t)number, word + at + 1 + record->walks,
                          iterations + record->more);
        at += as_address_record_n(record);
    }
    return n;
}

double as_level_replay_share(const struct as_level_replay *r)
{
    return (double)r->kept_n / r->classes;
}

/* ---- Making one ----------------------------------------------------------------------------- */

/* Returns a number of classes: lines of different classes share a set in no level. */
static uint32_t classes_of(const struct as_cache_level *level, unsigned n)
{
    uint64_t classes = AS_REPLAY_CLASSES;
    for (unsigned k = 0; k < n; k++) {
        const uint64_t sets =
            level[k].ways ? level[k].size_b / AS_REPLAY_LINE_B / level[k].ways : 1;
        while (sets % classes)
            classes /= 2;
    }
    return (uint32_t)classes;
}

static int find_group(struct as_level_replay *r, const struct as_address_record *record,
                      uint32_t *at)
{
    as_vec_foreach (&r->group, it) {
        *at = (uint32_t)(it - r->group.at);
        if (it->module == record->module && it->body == record->body && it->loop == record->loop)
            return 0;
    }
    *at = (uint32_t)r->group.n;
    return as_vec_push(&r->group, (struct as_level_replay_group){.module = record->module,
                                                                 .body = record->body,
                                                                 .loop = record->loop});
}

int as_level_replay_init(struct as_level_replay *r, const struct as_address_plan *plan,
                         const struct as_cache_level *level, unsigned levels, uint64_t full_n,
                         struct as_error *err)
{
    *r = (struct as_level_replay){
        .plan = plan, .levels = levels, .full_n = full_n, .next_n = full_n};
    memcpy(r->level, level, levels * sizeof *level);
    r->classes = r->kept_n = classes_of(level, levels);
    r->kept = r->classes == 64 ? UINT64_MAX : (UINT64_C(1) << r->classes) - 1;
    r->group_of = as_calloc(plan->record.n + 1, sizeof *r->group_of);
    r->runs = as_calloc(plan->record.n + 1, sizeof *r->runs);
    int rc = r->group_of && r->runs ? 0 : AS_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < plan->record.n; i++) {
        r->is_sampled |= plan->record.at[i].is_sampled;
        rc = find_group(r, &plan->record.at[i], &r->group_of[i]);
    }
    return rc < 0 ? as_error_nomem(err, "addresses to replay") : 0;
}

void as_level_replay_fini(struct as_level_replay *r)
{
    as_vec_foreach (&r->group, group)
        as_free(group->curve);
    as_vec_fini(&r->group);
    as_free(r->group_of);
    as_free(r->runs);
    r->group_of = NULL;
    r->runs = NULL;
}

int as_level_replay_thread_init(const struct as_level_replay *r, struct as_level_replay_thread *t,
                                struct as_error *err)
{
    *t = (struct as_level_replay_thread){.cache = NULL};
    AS_TRY(as_cache_new(r->level, r->levels, AS_REPLAY_LINE_B, &t->cache, err));
    return as_reuse_new(reuse_shift(r), &t->reuse, err);
}

void as_level_replay_thread_fini(struct as_level_replay_thread *t)
{
    as_cache_free(&t->cache);
    as_reuse_free(&t->reuse);
}
