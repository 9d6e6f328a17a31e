/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is seen of a loop becomes one finding, a card: its seconds are counted once, its causes
 * stand in the order of their table. Loops too small for a card of their own that have the same
 * first cause are one finding on what they share.
 */
#include "advise/cards.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advise/fill.h"
#include "advise/tables.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "experiment/metric_names.h"

#define CAUSES_MOST 8 /* of one loop that are told */
/* Of small loops: as many, with as much of the run, make a pattern; so many are named. */
#define PATTERN_LOOPS 3
#define PATTERN_PCT   5.0
#define NAMED_MOST    3
/* Main causes are chosen by their gain in loops with so much of the run. A gain is larger if it
 * leaves so much less of the time. */
#define LOOK_PCT  1.0
#define MUCH_LESS 0.9
/* Half the width of a 95 % interval, in standard deviations. */
#define SIGMAS        1.96
#define ALIKE_MOST    3 /* loops that a card names besides its own */
#define LEAST_SAMPLES 5 /* behind a card of a run */
/* A smaller speed-up of code without a run is not reported. */
#define LEAST_SPEEDUP 1.05

struct seen_cause {
    uint32_t row; /* of as_advise_cause */
    enum as_level level;
    const char *what, *how;
};

struct loop_card {
    int64_t loop_id, n;
    const char *subject, *place, *time_word;
    bool is_alone, has_line;
    int64_t function_id, line;
    double time_s, pct;
    struct seen_cause cause[CAUSES_MOST];
    uint32_t cause_n;
    uint32_t main;      /* the cause that the card is about */
    uint32_t next_copy; /* of the same source loop, most samples first; 0: none */
    uint32_t copy_n;    /* with this one; 0: told with the first copy */
    uint32_t alike_n;   /* of them: other loops of the function with the same cause and cure */
    int64_t alike_line[ALIKE_MOST];
};

struct deck {
    const struct as_advice *advice;
    struct as_saving_factor stretch; /* of the seconds of a loop to those of the run */
    AS_VEC(struct loop_card) card;   /* most samples first */
    struct as_map_u64 by_loop;
    struct as_arena arena;
};

/* ---- What there is -------------------------------------------------------------------------- */

/* Copy of the column with its places filled; NULL when out of memory. */
static const char *kept_text(struct deck *d, struct as_rows *rows, int column)
{
    const char *from = as_rows_text(rows, column);
    struct as_str text = {0};

    as_fill_text(&text, rows, from ? from : "");
    const char *copy =
        text.failed ? NULL : as_arena_strndup(&d->arena, as_str_z(&text), strlen(as_str_z(&text)));
    as_str_fini(&text);
    return copy;
}

static int add_loop_card(struct deck *d, struct as_rows *rows)
{
    const struct loop_card card = {.loop_id = as_rows_integer(rows, 0),
                                   .subject = kept_text(d, rows, 1),
                                   .place = kept_text(d, rows, 2),
                                   .is_alone = as_rows_integer(rows, 3) != 0,
                                   .time_s = as_rows_real(rows, 4),
                                   .n = as_rows_integer(rows, 5),
                                   .pct = as_rows_real(rows, 6),
                                   .time_word = kept_text(d, rows, 7),
                                   .has_line = as_rows_integer(rows, 9) != 0,
                                   .function_id = as_rows_integer(rows, 10),
                                   .line = as_rows_integer(rows, 11),
                                   .copy_n = 1};

    if (!card.subject || !card.place || !card.time_word)
        return AS_ERR_NOMEM;
    AS_TRY(as_map_u64_put(&d->by_loop, (uint64_t)card.loop_id, (uint32_t)d->card.n));
    return as_vec_push(&d->card, card);
}

/* Whether one of the causes that leave nothing of `row` was seen. */
static bool is_explained(const struct loop_card *card, const struct as_cause_row *row)
{
    char word[64];

    for (uint32_t i = 0; row->unless && i < card->cause_n; i++) {
        snprintf(word, sizeof word, " %s ", as_advise_cause[card->cause[i].row].name);
        if (strstr(row->unless, word))
            return true;
    }
    return false;
}

static int add_card_cause(struct deck *d, uint32_t number, struct as_rows *rows)
{
    const uint32_t at = as_map_u64_get(&d->by_loop, (uint64_t)as_rows_integer(rows, 0));
    struct loop_card *card = at == AS_MAP_NONE ? NULL : &d->card.at[at];

    if (!card || card->cause_n == CAUSES_MOST || is_explained(card, &as_advise_cause[number]))
        return 0;
    const struct seen_cause cause = {.row = number,
                                     .level = as_advice_level(as_rows_text(rows, 1)),
                                     .what = kept_text(d, rows, 2),
                                     .how = kept_text(d, rows, 3)};
    card->cause[card->cause_n++] = cause;
    return cause.what && cause.how ? 0 : AS_ERR_NOMEM;
}

/* Hands each row of a statement to `add_loop_card`, or of a cause to `add_card_cause`. */
static int read_rows(struct deck *d, const char *sql, uint32_t cause, struct as_error *err)
{
    struct as_rows *rows;
    int rc, taken = 0;

    AS_TRY(as_advice_open_rows(d->advice, sql, &rows, err));
    while (taken == 0 && (rc = as_rows_next(rows, err)) > 0)
        taken = cause < as_advise_cause_n ? add_card_cause(d, cause, rows) : add_loop_card(d, rows);
    as_rows_close(&rows);
    return taken < 0 ? as_error_nomem(err, "the findings of loops") : rc;
}

static int read_all(struct deck *d, const struct as_rule_choice *choice, struct as_error *err)
{
    AS_TRY(read_rows(d, as_advise_loops[0].sql, (uint32_t)as_advise_cause_n, err));
    for (uint32_t i = 0; i < as_advise_cause_n && d->card.n; i++)
        if (as_advice_chosen(choice, as_advise_cause[i].topic, AS_OBJECT_LOOP))
            AS_TRY(read_rows(d, as_advise_cause[i].sql, i, err));
    return 0;
}

/* ---- What it may gain ----------------------------------------------------------------------- */

/*
 * What doing away with its causes saves, as far as these have such a what-if: of what one leaves
 * the next takes its share. Data in the first level of the cache, the rest of the run as it is.
 */
struct card_gain {
    uint32_t what_ifs;          /* bits of those that are in it */
    double thread_s;            /* of the loop, in the thread that has most of it; no queueing */
    double left, left_least;    /* of that time; with the widest vectors of the core */
    double before_cy, after_cy; /* of an iteration */
    struct as_bounded_value factor; /* of the run's speed; nothing bounds it from below */
};

static const struct as_what_if_row *what_if_named(const char *name)
{
    for (size_t i = 0; i < as_advise_what_if_n; i++)
        if (strcmp(as_advise_what_if[i].name, name) == 0)
            return &as_advise_what_if[i];
    return NULL;
}

/* Seconds of a loop in the longest thread of each phase; of the row t of object_time. */
#define LONGEST_S                                                                                  \
    "ifnull((SELECT sum(ns) FROM (SELECT max(y.exclusive_ns * a.part) AS ns FROM thread_time y"    \
    " JOIN phase_part a ON a.run_id = ?1 AND a.thread_id = y.thread_id WHERE y.run_id = ?1"        \
    " AND y.object_kind = 'loop' AND y.object_id = t.object_id"                                    \
    " GROUP BY a.process_id, a.phase)), t.thread_max_ns) / 1e9"

/* clang-format off */
static const char gain_sql[] =
    "SELECT o.gain_s, c.value, x.value, " LONGEST_S ", %s FROM what_if w"
    " JOIN what_if_object o USING (what_if_id) JOIN loop l ON l.loop_id = o.object_id"
    " JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'loop'"
    "  AND t.object_id = o.object_id"
    " JOIN v_values c ON c.object_kind = 'loop' AND c.object_id = o.object_id"
    "  AND c.metric = '" AS_METRIC_cqa_cycles "' AND c.run_id IN (0, ?1) AND c.context_id = 0"
    " JOIN v_values x ON x.object_kind = 'loop' AND x.object_id = o.object_id"
    "  AND x.metric = 'cqa_' || ?3 || '_x' AND x.run_id IN (0, ?1) AND x.context_id = 0"
    " WHERE w.run_id = ?1 AND w.name = ?2 AND o.object_id = ?4";
/* For a what-if without a variant of the code. */
static const char share_sql[] =
    "SELECT o.gain_s, 0, 1, " LONGEST_S ", %s FROM what_if w"
    " JOIN what_if_object o USING (what_if_id)"
    " JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'loop'"
    "  AND t.object_id = o.object_id"
    " WHERE w.run_id = ?1 AND w.name = ?2 AND ?3 IS NULL AND o.object_id = ?4";
/* clang-format on */

static int add_gain(const struct deck *d, const struct loop_card *card,
                    const struct as_what_if_row *what_if, struct card_gain *out,
                    struct as_error *err)
{
    struct as_rows *rows;
    struct as_str sql = {0};

    as_str_appendf(&sql, what_if->variant ? gain_sql : share_sql, what_if->max_factor);
    int rc = sql.failed ? as_error_nomem(err, "the findings of loops")
                        : as_advice_open_rows(d->advice, as_str_z(&sql), &rows, err);
    as_str_fini(&sql);
    if (rc < 0)
        return rc;
    as_rows_bind_text(rows, 2, what_if->name);
    as_rows_bind_text(rows, 3, what_if->variant);
    as_rows_bind_integer(rows, 4, card->loop_id);
    rc = as_rows_next(rows, err);
    const double thread_s = rc > 0 ? as_rows_real(rows, 3) : 0;
    if (rc > 0 && thread_s > 0) {
        const double x = fmax(1, as_rows_real(rows, 2));
        const double left = 1 - fmin(1, as_rows_real(rows, 0) / (thread_s * d->stretch.value));

        if (!out->what_ifs)
            *out = (struct card_gain){.left = 1,
                                      .left_least = 1,
                                      .thread_s = thread_s,
                                      .before_cy = as_rows_real(rows, 1),
                                      .after_cy = as_rows_real(rows, 1)};
        out->what_ifs |= UINT32_C(1) << (what_if - as_advise_what_if);
        out->left *= left;
        out->left_least *= what_if->variant ? 1 / (x * as_rows_real(rows, 4)) : left;
        out->after_cy /= x;
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Of code without a run: cycles of an iteration alone. What would compute something else counts
 * for nothing. */
static int add_cycles(const struct deck *d, const struct loop_card *card,
                      const struct as_what_if_row *what_if, struct card_gain *out,
                      struct as_error *err)
{
    struct as_rows *rows;
    char sql[256];

    if (!what_if->variant)
        return 0;
    snprintf(sql, sizeof sql,
             "SELECT set_cqa(cycles), set_cqa(%s_x), ifnull(set_cqa(%s_sound), 1) FROM loop l"
             " WHERE l.loop_id = ?2",
             what_if->variant, what_if->variant);
    AS_TRY(as_advice_open_rows(d->advice, sql, &rows, err));
    as_rows_bind_integer(rows, 2, card->loop_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0 && as_rows_real(rows, 1) > LEAST_SPEEDUP && as_rows_integer(rows, 2)) {
        if (!out->what_ifs)
            out->before_cy = out->after_cy = as_rows_real(rows, 0);
        out->what_ifs |= UINT32_C(1) << (what_if - as_advise_what_if);
        out->after_cy /= as_rows_real(rows, 1);
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* The main cause of the card has that gain and claims time: a hint does not. */
static bool has_gain(const struct loop_card *card, const char *gain)
{
    const struct seen_cause *main = &card->cause[card->main];
    const char *name = as_advise_cause[main->row].gain;

    return name && strcmp(name, gain) == 0 && main->level <= AS_FINDING_POTENTIAL;
}

/* Adds the time of functions that the loop calls: the user's own, and arithmetic of the compiler's
 * library. */
static int add_called(const struct deck *d, const struct loop_card *card, int64_t *ns,
                      struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(
        as_advice_open_rows(d->advice,
                            "SELECT ifnull(sum(t.inclusive_ns), 0) FROM callpath p JOIN location a"
                            " ON a.location_id = p.call_location_id JOIN callpath_time t"
                            " ON t.run_id = ?1 AND t.callpath_id = p.callpath_id"
                            " JOIN category c USING (category_id)"
                            " LEFT JOIN category o ON o.category_id = c.parent_id"
                            " WHERE a.loop_id = ?2 AND ('application' IN (c.name, o.name)"
                            " OR c.name = 'runtime' OR c.name = 'math' AND NOT EXISTS (SELECT 1"
                            "  FROM function f JOIN module m USING (module_id)"
                            "  WHERE f.function_id = p.function_id AND m.name GLOB 'libm[.-]*'))",
                            &rows, err));
    as_rows_bind_integer(rows, 2, card->loop_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        *ns += as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* All the time of the loop. */
static int add_loop(const struct deck *d, const struct loop_card *card, struct card_gain *out,
                    struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(as_advice_open_rows(d->advice,
                               "SELECT " LONGEST_S " FROM object_time t WHERE t.run_id = ?1"
                               " AND t.object_kind = 'loop' AND t.object_id = ?2",
                               &rows, err));
    as_rows_bind_integer(rows, 2, card->loop_id);
    const int rc = as_rows_next(rows, err);
    *out = (struct card_gain){.thread_s = rc > 0 ? as_rows_real(rows, 0) : 0};
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int add_what_ifs(const struct deck *d, const struct loop_card *card, struct card_gain *out,
                        struct as_error *err)
{
    for (uint32_t i = 0; i < card->cause_n; i++) {
        const char *name = as_advise_cause[card->cause[i].row].gain;
        const struct as_what_if_row *it = name ? what_if_named(name) : NULL;

        if (it && card->cause[i].level <= AS_FINDING_POTENTIAL &&
            !(out->what_ifs >> (it - as_advise_what_if) & 1))
            AS_TRY(d->advice->run_id ? add_gain(d, card, it, out, err)
                                     : add_cycles(d, card, it, out, err));
    }
    return 0;
}

/* Variants of the loop measured the share of its time that goes with the data in L1. */
static int add_measured(const struct deck *d, const struct loop_card *card, struct card_gain *out,
                        struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(as_advice_open_rows(
        d->advice,
        "SELECT v.value / 100, ifnull(v.high, v.value) / 100 FROM v_values v"
        " WHERE EXISTS (SELECT 1 FROM metric WHERE name = '" AS_METRIC_decan_waits_pct "')"
        " AND v.object_kind = 'loop' AND v.object_id = ?2 AND v.run_id = ?1"
        " AND v.context_id = 0 AND v.metric = '" AS_METRIC_decan_waits_pct "'",
        &rows, err));
    as_rows_bind_integer(rows, 2, card->loop_id);
    const int rc = as_rows_next(rows, err);
    const double share = rc > 0 ? as_rows_real(rows, 0) : 0;
    const double share_max = rc > 0 ? fmin(1, as_rows_real(rows, 1)) : 0;
    as_rows_close(&rows);
    if (rc < 0 || !(share > 0))
        return rc < 0 ? rc : 0;
    AS_TRY(add_loop(d, card, out, err));
    out->left = 1 - share;
    out->left_least = 1 - share_max;
    return 0;
}

/* The gain of one loop is added to `gain_s`, and its bound to `max_s`: seconds of the run. */
static int find_one_gain(const struct deck *d, const struct loop_card *card, struct card_gain *out,
                         double *gain_s, double *max_s, struct as_error *err)
{
    const bool is_all = has_gain(card, "all"), is_data = is_all || has_gain(card, "none");
    *out = (struct card_gain){0};
    if (is_data && d->advice->run_id)
        AS_TRY(add_measured(d, card, out, err));
    if (is_all && d->advice->run_id && !(out->thread_s > 0))
        AS_TRY(add_loop(d, card, out, err));
    if (!is_data && !has_gain(card, "called"))
        AS_TRY(add_what_ifs(d, card, out, err));
    const double one_s = out->thread_s * d->stretch.value * (1 - out->left);
    *gain_s += one_s;
    *max_s += fmax(one_s, out->thread_s * d->stretch.most * (1 - out->left_least));
    return 0;
}

/* The gain of a loop with its copies. The cycles are of the first one. */
static int find_gain(const struct deck *d, const struct loop_card *card, struct card_gain *out,
                     struct as_error *err)
{
    const double spread = SIGMAS / sqrt((double)(card->n > 0 ? card->n : 1));
    double gain_s = 0, max_s = 0;

    AS_TRY(find_one_gain(d, card, out, &gain_s, &max_s, err));
    for (uint32_t k = card->next_copy; k; k = d->card.at[k].next_copy) {
        struct card_gain copy;
        AS_TRY(find_one_gain(d, &d->card.at[k], &copy, &gain_s, &max_s, err));
    }
    max_s *= 1 + spread;
    out->factor = as_value_derived(as_advice_factor(d->advice, gain_s), 1,
                                   as_advice_factor(d->advice, max_s), card->n);
    return 0;
}

static void append_card_gain(struct as_str *text, const struct card_gain *gain)
{
    as_str_appendf(text,
                   " By a model of the core an iteration takes %.3g cycles, and could take %.3g"
                   " with its data in the first level of the cache.",
                   gain->before_cy, gain->after_cy);
}

/* ---- The main cause, and copies -------------------------------------------------------------- */

/* The share of the loop's time that is left without the cause alone; 1: nothing bounds its gain. */
static int left_without(const struct deck *d, const struct loop_card *card, uint32_t cause,
                        double *left, struct as_error *err)
{
    const char *name = as_advise_cause[card->cause[cause].row].gain;
    const struct as_what_if_row *it = name ? what_if_named(name) : NULL;
    struct card_gain alone = {0};

    *left = 1;
    if (!it || card->cause[cause].level > AS_FINDING_POTENTIAL)
        return 0;
    AS_TRY(add_gain(d, card, it, &alone, err));
    if (alone.what_ifs)
        *left = alone.left;
    return 0;
}

/* The first cause that concerns all of the loop, its data or its calls. Else the one with the
 * largest gain; of gains that are nearly alike, that of the first cause. */
static int choose_main(const struct deck *d, struct loop_card *card, struct as_error *err)
{
    double min_left = 1;

    for (uint32_t i = 0; i < card->cause_n; i++) {
        const char *name = as_advise_cause[card->cause[i].row].gain;
        double left;

        if (name && !what_if_named(name) && card->cause[i].level <= AS_FINDING_POTENTIAL &&
            min_left == 1) {
            card->main = i;
            return 0;
        }
        AS_TRY(left_without(d, card, i, &left, err));
        if (left < MUCH_LESS * min_left) {
            min_left = left;
            card->main = i;
        }
    }
    return 0;
}

/* A source line that is inlined or unrolled into several loops is one loop to its author. */
static bool is_copy(const struct loop_card *a, const struct loop_card *b)
{
    return a->has_line && b->has_line && strcmp(a->place, b->place) == 0;
}

/* One change of a function repairs its loops with the same cause and cure. */
static bool is_alike(const struct loop_card *a, const struct loop_card *b)
{
    return a->function_id == b->function_id && a->has_line == b->has_line &&
           strcmp(a->cause[a->main].how, b->cause[b->main].how) == 0;
}

static bool is_joined(const struct loop_card *a, const struct loop_card *b)
{
    return a->cause_n && b->cause_n && a->cause[a->main].row == b->cause[b->main].row &&
           a->cause[a->main].level == b->cause[b->main].level && (is_copy(a, b) || is_alike(a, b));
}

static void note_alike(struct loop_card *first, const struct loop_card *other)
{
    if (is_copy(first, other))
        return;
    if (first->alike_n < ALIKE_MOST)
        first->alike_line[first->alike_n] = other->line;
    first->alike_n++;
}

/* Hands the numbers of a card to the copy that has more samples. */
static void join_copies(struct deck *d)
{
    for (uint32_t i = 0; i < d->card.n; i++) {
        struct loop_card *first = &d->card.at[i], *last = first;

        for (uint32_t k = i + 1; k < d->card.n && first->copy_n; k++) {
            struct loop_card *copy = &d->card.at[k];
            if (!copy->copy_n || !is_joined(first, copy))
                continue;
            last->next_copy = k;
            last = copy;
            first->copy_n++;
            note_alike(first, copy);
            first->time_s += copy->time_s;
            first->pct += copy->pct;
            first->n += copy->n;
            first->is_alone |= copy->is_alone || first->pct >= PATTERN_PCT;
            copy->copy_n = 0;
        }
    }
}

static int arrange(struct deck *d, struct as_error *err)
{
    if (!d->advice->run_id)
        return 0;
    as_vec_foreach (&d->card, card)
        if (card->cause_n > 1 && card->pct >= LOOK_PCT)
            AS_TRY(choose_main(d, card, err));
    join_copies(d);
    return 0;
}

/* ---- Findings ------------------------------------------------------------------------------- */

static int write_finding(const struct deck *d, struct as_finding *finding, struct as_str *text,
                         struct as_str *how, struct as_error *err)
{
    const bool failed = text->failed || how->failed;

    finding->of.run_id = d->advice->run_id;
    finding->pass = AS_ADVISE_PASS;
    finding->text = as_str_z(text);
    finding->workaround = how->n ? as_str_z(how) : NULL;
    const int rc = failed ? as_error_nomem(err, "the findings of loops")
                          : as_experiment_finding(d->advice->experiment, finding, err);
    as_str_fini(text);
    as_str_fini(how);
    return rc;
}

/* The causes of a card but its main one, in the memory of the deck. */
static int list_others(struct deck *d, const struct loop_card *card, struct as_finding *finding,
                       struct as_error *err)
{
    const uint32_t main = card->main;
    struct as_finding_other *other =
        as_arena_array(&d->arena, struct as_finding_other, card->cause_n + 1);

    if (!other)
        return as_error_nomem(err, "the findings of loops");
    for (uint32_t i = 0; i < card->cause_n; i++) {
        const struct seen_cause *cause = &card->cause[i];
        struct as_str text = {0};

        if (i == main)
            continue;
        finding->level = cause->level < finding->level ? cause->level : finding->level;
        as_str_appendf(&text, "It %s.", cause->what);
        const char *kept =
            text.failed ? NULL : as_arena_strndup(&d->arena, as_str_z(&text), text.n);
        as_str_fini(&text);
        if (!kept)
            return as_error_nomem(err, "the findings of loops");
        other[finding->other_n++] =
            (struct as_finding_other){.text = kept, .workaround = cause->how};
    }
    finding->other = other;
    return 0;
}

/* Appends the verdict that variants of the loop measured. */
static int append_measured(const struct deck *d, int64_t loop_id, struct as_str *text,
                           struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(
        as_advice_open_rows(d->advice,
                            "SELECT text FROM finding WHERE run_id = ?1 AND rule = 'decan_verdict'"
                            " AND object_kind = 'loop' AND object_id = ?2",
                            &rows, err));
    as_rows_bind_integer(rows, 2, loop_id);
    const int rc = as_rows_next(rows, err);
    const char *text_of_rule = rc > 0 ? as_rows_text(rows, 0) : NULL;
    const char *verdict = text_of_rule ? strstr(text_of_rule, ": ") : NULL;
    const char *end = verdict ? strstr(verdict, ". ") : NULL;
    if (verdict)
        as_str_appendf(text, " Measured%.*s", end ? (int)(end + 1 - verdict) : (int)strlen(verdict),
                       verdict);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static void append_copies(struct as_str *text, const struct loop_card *card)
{
    const uint32_t line_n = !card->has_line              ? 0
                            : card->alike_n < ALIKE_MOST ? card->alike_n
                                                         : ALIKE_MOST;

    if (card->copy_n - card->alike_n > 1)
        as_str_appendf(text, " (%u copies)", card->copy_n - card->alike_n);
    if (!card->alike_n)
        return;
    as_str_appendz(text, card->alike_n > 1 && line_n ? ", like those at lines "
                         : line_n                    ? ", like that at line "
                                                     : ", like ");
    for (uint32_t i = 0; i < line_n; i++)
        as_str_appendf(text, "%s%" PRId64,
                       !i                       ? ""
                       : i + 1 == card->alike_n ? " and "
                                                : ", ",
                       card->alike_line[i]);
    if (card->alike_n > line_n)
        as_str_appendf(text, "%s%u more", line_n ? " and " : "", card->alike_n - line_n);
    as_str_appendz(text, " of its function,");
}

static int write_card(struct deck *d, const struct loop_card *card, struct as_error *err)
{
    const struct seen_cause *cause = &card->cause[card->main];
    const struct as_cause_row *main = &as_advise_cause[cause->row];
    struct as_finding finding = {.of = {AS_OBJECT_LOOP, card->loop_id, 0, 0},
                                 .level = cause->level,
                                 .topic = main->topic,
                                 .rule = main->name,
                                 .time_ns = (int64_t)(card->time_s * 1e9)};
    struct as_str text = {0}, how = {0};
    struct card_gain gain;

    AS_TRY(find_gain(d, card, &gain, err));
    AS_TRY(list_others(d, card, &finding, err));
    if (has_gain(card, "called") && d->advice->run_id)
        AS_TRY(add_called(d, card, &finding.time_ns, err));
    as_str_appendz(&text, card->subject);
    append_copies(&text, card);
    as_str_appendf(&text, " %s.", cause->what);
    as_str_appendz(&how, cause->how);
    if (gain.factor.value > 1)
        finding.gain = &gain.factor;
    AS_TRY(d->advice->run_id ? append_measured(d, card->loop_id, &text, err) : 0);
    if (gain.what_ifs && gain.before_cy > 0 && (finding.gain || !d->advice->run_id))
        append_card_gain(&text, &gain);
    return write_finding(d, &finding, &text, &how, err);
}

struct pattern {
    const struct loop_card *named[NAMED_MOST];
    size_t loop_n;
    double time_s, pct;
};

/* The small loops whose first cause it is. */
static struct pattern pattern_of(const struct deck *d, uint32_t cause)
{
    struct pattern out = {0};

    as_vec_foreach (&d->card, card) {
        if (card->is_alone || !card->copy_n || !card->cause_n ||
            card->cause[card->main].row != cause)
            continue;
        if (out.loop_n < NAMED_MOST)
            out.named[out.loop_n] = card;
        out.loop_n++;
        out.time_s += card->time_s;
        out.pct += card->pct;
    }
    return out;
}

static int write_pattern(const struct deck *d, uint32_t cause, const struct pattern *pattern,
                         struct as_error *err)
{
    const struct loop_card *hottest = pattern->named[0];
    const struct seen_cause *first = &hottest->cause[hottest->main];
    struct as_finding finding = {.of = {AS_OBJECT_RUN, d->advice->run_id, 0, 0},
                                 .level = first->level,
                                 .topic = as_advise_cause[cause].topic,
                                 .rule = as_advise_cause[cause].name,
                                 .command = "assay show {experiment} --view loops",
                                 .time_ns = (int64_t)(pattern->time_s * 1e9)};
    struct as_str text = {0}, how = {0};

    as_str_appendf(&text, "%zu loops, together %.0f %% of the %s, %s; most of it at",
                   pattern->loop_n, pattern->pct, hottest->time_word,
                   as_advise_cause[cause].pattern);
    for (size_t i = 0; i < NAMED_MOST; i++)
        as_str_appendf(&text, "%s %s",
                       i == 0               ? ""
                       : i + 1 < NAMED_MOST ? ","
                                            : " and",
                       pattern->named[i]->place);
    as_str_appendz(&text, ".");
    as_str_appendz(&how, first->how);
    return write_finding(d, &finding, &text, &how, err);
}

static int write_all(struct deck *d, struct as_error *err)
{
    as_vec_foreach (&d->card, card)
        if (card->is_alone && card->copy_n && card->cause_n &&
            (card->n >= LEAST_SAMPLES || !d->advice->run_id))
            AS_TRY(write_card(d, card, err));
    for (uint32_t i = 0; i < as_advise_cause_n; i++) {
        const struct pattern pattern = pattern_of(d, i);

        if (pattern.loop_n >= PATTERN_LOOPS && pattern.pct >= PATTERN_PCT)
            AS_TRY(write_pattern(d, i, &pattern, err));
    }
    return 0;
}

static int open_deck(struct deck *d, const struct as_rule_choice *choice, struct as_error *err)
{
    as_arena_init(&d->arena);
    as_map_u64_init(&d->by_loop);
    d->stretch = (struct as_saving_factor){1, 1};
    if (d->advice->run_id)
        AS_TRY(as_advise_stretch(d->advice, &d->stretch, err));
    AS_TRY(read_all(d, choice, err));
    return arrange(d, err);
}

static void close_deck(struct deck *d)
{
    as_vec_fini(&d->card);
    as_map_u64_fini(&d->by_loop);
    as_arena_fini(&d->arena);
}

int as_advise_cards(const struct as_advice *advice, const struct as_rule_choice *choice,
                    struct as_error *err)
{
    struct deck d = {.advice = advice};
    int rc = open_deck(&d, choice, err);

    if (rc == 0)
        rc = write_all(&d, err);
    close_deck(&d);
    return rc;
}

/* ---- Cause by cause ------------------------------------------------------------------------- */

typedef int (*cause_taker)(void *context, const struct as_cause *cause, struct as_error *err);

static int hand_out(const struct deck *d, cause_taker each, void *context, struct as_error *err)
{
    as_vec_foreach (&d->card, card) {
        for (uint32_t i = 0; i < card->cause_n; i++) {
            const struct as_cause_row *row = &as_advise_cause[card->cause[i].row];
            const struct as_what_if_row *what_if = row->gain ? what_if_named(row->gain) : NULL;
            const struct as_cause cause = {.loop_id = card->loop_id,
                                           .level = card->cause[i].level,
                                           .rule = row->name,
                                           .topic = row->topic,
                                           .text = card->cause[i].what,
                                           .workaround = card->cause[i].how,
                                           .variant = what_if ? what_if->variant : NULL};

            AS_TRY(each(context, &cause, err));
        }
    }
    return 0;
}

int as_advise_causes(struct as_experiment *experiment, const struct as_rule_choice *choice,
                     cause_taker each, void *context, struct as_error *err)
{
    struct as_advice advice = {.experiment = experiment};
    struct deck d = {.advice = &advice};
    int rc = as_advice_open(&advice, err);

    if (rc == 0)
        rc = open_deck(&d, choice, err);
    if (rc == 0)
        rc = hand_out(&d, each, context, err);
    close_deck(&d);
    as_advice_close(&advice);
    return rc;
}
