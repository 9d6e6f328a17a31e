/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a loop: first the data, then the core. A variant that takes about as long as the loop
 * contains the limit of the loop; a clearly faster one lacks it. The variants are those of
 * S. Koliai et al., "Quantifying performance bottleneck cost through differential analysis" (ICS
 * 2013), and of the ONE View paper. The order of the questions is our own.
 */
#include "decan/verdict.h"

#include <math.h>

#include "decan/judging.h"

#define NAMED(name, word, title) {word, title},
static const struct {
    const char *word, *title;
} verdicts[AS_DECAN_VERDICTS_N] = {AS_DECAN_VERDICTS(NAMED)};
#undef NAMED

const char *as_decan_verdict_word(enum as_decan_verdict verdict)
{
    return (unsigned)verdict < AS_DECAN_VERDICTS_N ? verdicts[verdict].word : "?";
}

const char *as_decan_verdict_title(enum as_decan_verdict verdict)
{
    return (unsigned)verdict < AS_DECAN_VERDICTS_N ? verdicts[verdict].title : "?";
}

void as_decan_measure_init(struct as_decan_measure *measure)
{
    const double none = (double)NAN;
    *measure =
        (struct as_decan_measure){.load_b = none,
                                  .store_b = none,
                                  .read_b = none,
                                  .written_b = none,
                                  .unstepped_n = none,
                                  .footprint_b = none,
                                  .reach_b = none,
                                  .flops = none,
                                  .flop_peak = none,
                                  .line_b = 64,
                                  .model = {none, none, none, none, none, none, none, none, none}};
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++)
        measure->level[l] = (struct as_decan_ceiling){none, none, none, none, none, false, false};
    measure->level[AS_PREDICT_RAM].size_b = (double)INFINITY;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

struct shares {
    double base, whole; /* cycles of the loop: as a variant; as the program runs it */
    double fp, ls, dl1, fes, nodiv, nored;
};

static struct shares shares_of(const struct as_decan_measure *m)
{
    const double ref = as_decan_cycles_of(m, AS_VARIANT_REF);
    const double orig = as_decan_cycles_of(m, AS_VARIANT_ORIG);
    const double base = as_decan_base_of(m) == AS_VARIANT_REF ? ref : orig;
    const double whole = isnan(orig) ? ref : orig;
    return (struct shares){
        .base = base,
        .whole = whole,
        .fp = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_FP), base),
        .ls = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_LS), base),
        .dl1 = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_DL1), whole),
        .fes = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_FES), base),
        .nodiv = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_NODIV), base),
        .nored = as_decan_ratio_of(as_decan_cycles_of(m, AS_VARIANT_NORED), base),
    };
}

static bool explains(double share)
{
    return share >= as_decan_thresholds.explains;
}

static bool is_clearly_less(double share)
{
    return share < as_decan_thresholds.explains;
}

/* Sets the verdict. `without` is the variant that lacks the cause, or AS_VARIANT_KINDS. */
static void decide_verdict(struct as_decan_judgement *out, enum as_decan_verdict verdict,
                           enum as_variant_kind decided, enum as_variant_kind without)
{
    out->verdict = verdict;
    out->decided = decided;
    out->without = without;
}

/* Returns the slower of FP and LS. */
static enum as_variant_kind longer_kind(const struct shares *s)
{
    return s->fp > s->ls ? AS_VARIANT_FP : AS_VARIANT_LS;
}

/* ---- What the core does ---------------------------------------------------------------------- */

/*
 * Returns true if the recurrence takes at least the share `part` of the loop. The model must agree,
 * since the variant without reductions also lacks their arithmetic.
 */
static bool takes_chain(const struct as_decan_measure *m, const struct shares *s, double part)
{
    const struct as_decan_model *model = &m->model;
    const double apart = as_decan_thresholds.apart;
    return model->chain >= part * fmin(s->base, s->whole) &&
           !(model->arithmetic * apart > model->chain) && !(model->load * apart > model->chain) &&
           !(model->store * apart > model->chain) && !(s->nored >= as_decan_thresholds.supplies);
}

static bool is_chain(const struct as_decan_measure *m, const struct shares *s)
{
    return takes_chain(m, s, as_decan_thresholds.explains);
}

/* Returns true if a recurrence takes most of the loop, and no port takes as long. */
static bool is_mostly_chain(const struct as_decan_measure *m, const struct shares *s)
{
    const struct as_decan_model *model = &m->model;
    const double part = as_decan_thresholds.overlaps, most = part * fmin(s->base, s->whole);
    return takes_chain(m, s, part) && model->load < most && model->store < most &&
           !(model->arithmetic >= most);
}

static bool stores_most(const struct as_decan_measure *m)
{
    if (!isnan(m->model.store) && !isnan(m->model.load))
        return m->model.store > m->model.load;
    return m->store_b > m->load_b;
}

static void judge_accesses(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    decide_verdict(out, stores_most(m) ? AS_DECAN_STORE : AS_DECAN_L1, AS_VARIANT_LS,
                   AS_VARIANT_FP);
    out->level = out->nearest = out->farthest = AS_PREDICT_L1;
}

/*
 * Returns true if branches that depend on memory limit the loop. All variants keep these branches
 * and their loads. If nops with them take as long as the loop, the front end is not the limit.
 */
static bool is_decided_by_data(const struct as_decan_measure *m, const struct shares *s)
{
    return m->bits[AS_VARIANT_FES] & AS_VARIANT_DECIDES && s->fes >= as_decan_thresholds.supplies &&
           explains(s->ls) && explains(s->dl1);
}

/*
 * Returns true if the branches of the loop limit all variants. Arithmetic alone and accesses alone
 * then take as long as the loop, and the model predicts far less for both.
 */
static bool is_all_branches(const struct as_decan_measure *m, const struct shares *s)
{
    const struct as_decan_model *model = &m->model;
    const double arithmetic = fmax(model->arithmetic, fmax(model->divide, model->chain));
    const double most = as_decan_thresholds.overlaps * s->base;
    return arithmetic < most && fmax(model->load, model->store) < most;
}

/*
 * Returns true if nops take as long as the loop for another reason than the front end. The model
 * has ports that take clearly longer. A busy sibling thread on the same core has this effect.
 */
static bool is_front_end_shared(const struct as_decan_measure *m, const struct shares *s)
{
    const struct as_decan_model *model = &m->model;
    const double min_cy = as_decan_thresholds.apart * model->front_end;
    if (!(model->front_end > 0))
        return false;
    return (explains(s->fp) && fmax(model->arithmetic, model->divide) >= min_cy) ||
           (explains(s->ls) && fmax(model->load, model->store) >= min_cy);
}

/* Judges the parts of the core. Returns false if none takes as long as the loop. */
static bool judge_core(const struct as_decan_measure *m, const struct shares *s,
                       struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const bool fp = explains(s->fp), ls = explains(s->ls);
    const bool is_starved = s->fes >= t->supplies && !is_front_end_shared(m, s);
    if (s->fes >= t->supplies && !is_starved) {
        out->doubt = "fetching instructions took longer than the model predicts: the core may be "
                     "shared";
        out->confidence = AS_DECAN_MEDIUM;
    }
    if (is_clearly_less(s->nodiv) && !ls)
        decide_verdict(out, AS_DECAN_DIVIDE, AS_VARIANT_NODIV, AS_VARIANT_NODIV);
    else if (is_starved && fp && ls && !is_all_branches(m, s))
        decide_verdict(out, AS_DECAN_BALANCED_STARVED, AS_VARIANT_FES, AS_VARIANT_KINDS);
    else if (is_starved && !isnan(s->fp) && !isnan(s->ls))
        decide_verdict(out, AS_DECAN_FRONT_END, AS_VARIANT_FES, longer_kind(s));
    else if (is_chain(m, s) && !ls)
        decide_verdict(out, AS_DECAN_CHAIN, isnan(s->nored) ? AS_VARIANT_FP : AS_VARIANT_NORED,
                       isnan(s->nored) ? AS_VARIANT_LS : AS_VARIANT_NORED);
    else if (fp && ls && s->fp <= t->apart * s->ls && s->ls <= t->apart * s->fp)
        decide_verdict(out, AS_DECAN_BALANCED_FED, AS_VARIANT_LS, AS_VARIANT_KINDS);
    else if (ls && (!fp || s->ls > s->fp))
        judge_accesses(m, out);
    else if (fp && is_mostly_chain(m, s)) {
        decide_verdict(out, AS_DECAN_CHAIN, AS_VARIANT_FP, AS_VARIANT_LS);
        out->doubt = "its recurrence takes less time than the loop";
        out->confidence = AS_DECAN_MEDIUM;
    } else if (fp)
        decide_verdict(out, AS_DECAN_COMPUTE, AS_VARIANT_FP, AS_VARIANT_LS);
    else
        return false;
    return true;
}

/*
 * Judges parts that overlap incompletely: the part that is clearly the longest, or two of the same
 * length. Returns false if there is neither.
 */
static bool judge_longest(const struct as_decan_measure *m, const struct shares *s,
                          struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double fp = s->fp, ls = s->ls, longest = fmax(fmax(fp, ls), s->fes);
    if (isnan(fp) || isnan(ls) || isnan(s->fes) || !(longest >= t->overlaps))
        return false;
    if (ls >= t->apart * fmax(fp, s->fes))
        judge_accesses(m, out);
    else if (fp >= t->apart * fmax(ls, s->fes))
        decide_verdict(out, AS_DECAN_COMPUTE, AS_VARIANT_FP, AS_VARIANT_LS);
    else if (s->fes >= t->apart * fmax(fp, ls))
        decide_verdict(out, AS_DECAN_FRONT_END, AS_VARIANT_FES, longer_kind(s));
    else if (fmin(fp, ls) >= t->apart * s->fes)
        decide_verdict(out, AS_DECAN_BALANCED_FED, AS_VARIANT_LS, AS_VARIANT_KINDS);
    else
        return false;
    out->doubt = "no part alone takes as long as the loop";
    out->confidence = AS_DECAN_MEDIUM;
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

/*
 * Judges a loop that is slower than DL1. Returns false if its data are in L1 anyway. The cause is
 * then another one, such as store addresses that collide or a pause before the loop.
 */
static bool judge_far(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    decide_verdict(out, AS_DECAN_BEYOND_L1, AS_VARIANT_DL1, AS_VARIANT_DL1);
    as_decan_judge_data(m, out);
    if (out->verdict != AS_DECAN_L1)
        return true;
    out->doubt = NULL;
    out->confidence = AS_DECAN_HIGH;
    return false;
}

/* Returns true for a recurrence through memory, which variants without loads or stores break. */
static bool is_chain_in_memory(const struct as_decan_measure *m, const struct shares *s)
{
    return !explains(s->ls) && m->indirect_n <= 0 &&
           m->model.chain >= as_decan_thresholds.explains * s->whole;
}

/*
 * Returns true for a search through a list: the same loads give the next address and end the loop.
 * All variants keep these loads. With one path, the branches only leave the loop. Mispredictions
 * then do not explain the time of an iteration, but the loads do.
 */
static bool is_walk_that_decides(const struct as_decan_measure *m, const struct shares *s)
{
    const double first = m->level[AS_PREDICT_L1].latency; /* NAN if unknown: comparisons fail */
    return m->model.path_n <= 1 && m->indirect_n > 0 &&
           m->model.chain >= as_decan_thresholds.load_cycles &&
           !(m->model.chain < as_decan_thresholds.explains * first) &&
           fmax(m->model.cycles, m->model.chain) <= as_decan_thresholds.overlaps * s->whole;
}

/* Judges a chain of loads. Returns false if its data are in L1. */
static bool judge_walk(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    decide_verdict(out, AS_DECAN_BEYOND_L1, AS_VARIANT_ORIG, AS_VARIANT_KINDS);
    as_decan_judge_data(m, out);
    if (out->verdict == AS_DECAN_L1)
        return false;
    as_decan_trust_at_most(out, AS_DECAN_MEDIUM,
                           "its branches depend on its loads, so all variants keep these loads");
    return true;
}

/*
 * Returns true if accesses take far longer than the model predicts for L1. Loops with gathers have
 * no variant DL1.
 */
static bool is_far_by_model(const struct as_decan_measure *m, const struct shares *s)
{
    return isnan(s->dl1) && explains(s->ls) && m->model.cycles > 0 &&
           m->model.cycles <= as_decan_thresholds.overlaps * s->whole;
}

static void judge_by_shares(const struct as_decan_measure *m, const struct shares *s,
                            struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const bool is_far = is_clearly_less(s->dl1);
    if (is_far &&
        (explains(s->ls) || out->ratio.orig_ref >= t->warmed ||
         out->ratio.orig_again >= t->warmed) &&
        judge_far(m, out))
        return;
    if (is_far && isnan(s->ls) && judge_far(m, out)) {
        out->doubt = "its accesses alone were not measured";
        out->confidence = AS_DECAN_LOW;
        return;
    }
    if (is_far_by_model(m, s) && judge_far(m, out)) {
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM,
                               "its accesses were not measured with their data in L1");
        out->decided = AS_VARIANT_LS;
        out->without = AS_VARIANT_KINDS;
        return;
    }
    if (is_far && is_chain_in_memory(m, s)) {
        decide_verdict(out, AS_DECAN_CHAIN, AS_VARIANT_DL1, AS_VARIANT_DL1);
        return;
    }
    if (is_decided_by_data(m, s)) {
        if (is_walk_that_decides(m, s) && judge_walk(m, out))
            return;
        decide_verdict(out, AS_DECAN_UNKNOWN, AS_VARIANT_ORIG, AS_VARIANT_KINDS);
        out->doubt = "the code for its branches takes as long as the loop, and all variants keep "
                     "it";
        return;
    }
    if (judge_core(m, s, out))
        return;
    if (is_far && s->dl1 < t->far && judge_far(m, out)) {
        out->doubt = "its accesses alone take a different time than in the loop";
        out->confidence = AS_DECAN_LOW;
        return;
    }
    if (is_far && s->ls >= t->overlaps && !(s->ls < s->fp) && judge_far(m, out)) {
        out->doubt = "arithmetic and memory accesses do not overlap";
        out->confidence = AS_DECAN_LOW;
        return;
    }
    if (!is_far && judge_longest(m, s, out))
        return;
    decide_verdict(out, AS_DECAN_UNKNOWN, AS_VARIANT_ORIG, AS_VARIANT_KINDS);
    out->doubt = isnan(s->fp) || isnan(s->ls) || isnan(s->dl1)
                     ? "the decisive variants could not run"
                     : "no variant takes as long as the loop";
}

static bool is_balanced(enum as_decan_verdict verdict)
{
    return verdict == AS_DECAN_BALANCED_STARVED || verdict == AS_DECAN_BALANCED_FED;
}

/* Returns the speed-up without the cause. DL1 is compared with the loop as the program runs it. */
static double gain_at(const struct as_decan_measure *m, const struct as_decan_judgement *of,
                      enum as_decan_end end)
{
    if (of->without == AS_VARIANT_KINDS)
        return is_balanced(of->verdict) ? 1 : (double)NAN;
    const enum as_variant_kind from =
        of->without == AS_VARIANT_DL1 ? as_decan_whole_of(m) : of->base;
    const double gain = as_decan_over(m, from, of->without, end);
    return gain < 1 ? 1 : gain;
}

static void set_gain(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    out->gain = gain_at(m, out, AS_DECAN_AT_MEDIAN);
    out->gain_low = gain_at(m, out, AS_DECAN_AT_LOW);
    out->gain_high = gain_at(m, out, AS_DECAN_AT_HIGH);
}

void as_decan_judge(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const struct shares s = shares_of(measure);
    *out = (struct as_decan_judgement){.verdict = AS_DECAN_UNKNOWN,
                                       .confidence = AS_DECAN_HIGH,
                                       .farthest = AS_PREDICT_RAM,
                                       .base = as_decan_base_of(measure),
                                       .decided = AS_VARIANT_ORIG,
                                       .without = AS_VARIANT_KINDS};
    as_decan_fill_ratios(measure, AS_DECAN_AT_MEDIAN, &out->ratio);
    as_decan_fill_ratios(measure, AS_DECAN_AT_LOW, &out->low);
    as_decan_fill_ratios(measure, AS_DECAN_AT_HIGH, &out->high);
    if (isnan(s.base))
        out->doubt = "no instance was timed";
    else
        judge_by_shares(measure, &s, out);
    set_gain(measure, out);
    as_decan_judge_trust(measure, out);
}
