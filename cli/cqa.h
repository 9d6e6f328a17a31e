/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared data of the files of `assay cqa`: the chosen loops, one at a time, and their output.
 */
#ifndef AS_CLI_CQA_H
#define AS_CLI_CQA_H

#include "advise/advise.h"
#include "base/arena.h"
#include "base/vec.h"
#include "catalogue/catalogue.h"
#include "code/source_text.h"
#include "predict.h"
#include "program.h"
#include "quality/options.h"
#include "quality/quality.h"
#include "quality/remarks.h"

/* Bits of --level, in its order. */
enum as_cqa_level {
    AS_LEVEL_GAIN = 1 << 0,
    AS_LEVEL_POTENTIAL = 1 << 1,
    AS_LEVEL_HINT = 1 << 2,
    AS_LEVEL_EXPERT = 1 << 3
};

/* Results of rules for the loops of a batch; without a module none. */
struct as_cqa_advice {
    struct as_experiment *experiment;
    struct as_catalogue *catalogue;
    struct as_catalogue_module *module;
    AS_VEC(struct as_cause) cause;
    int64_t *row; /* of the experiment, by loop of the batch */
    struct as_arena arena;
};

struct as_quality_view {
    struct as_cli *cli;
    struct as_chosen chosen;
    struct as_uarch *uarch;
    struct as_figures *figures; /* of this machine, or NULL */
    struct as_sources sources;
    struct as_facts facts; /* JSON */
    struct as_csv csv;
    unsigned levels;            /* as_cqa_level bits */
    uint32_t path;              /* --path, 0: all */
    bool reports;               /* else a line each */
    bool bodies;                /* code outside loops in place of loops */
    struct as_remarks *remarks; /* of compilers; NULL: none given */
    bool remarks_met;           /* one was of a loop that was asked for */
    struct as_cqa_advice advice;
    size_t at;                         /* of the batch: the loop that is shown */
    struct as_quality_sampled sampled; /* of --experiment */
    size_t shown;
};

/* Writes the place of a loop or body: "dot, kernels.c:12-13". */
void as_cqa_place_words(const struct as_quality_view *view, const struct as_cqa *cqa,
                        struct as_str *out);
/* "ports l0 l1", "latency". */
void as_cqa_bound_words(enum as_bound bound, const char *limit, struct as_str *out);
/* Words of the n-th obstacle of as_cqa_obstacle, NULL behind the last: key, and a sentence. */
const char *as_cqa_obstacle_key(unsigned n);
const char *as_cqa_obstacle_words(unsigned n);
/* Assembly of instruction `insn` of the program. */
void as_cqa_assembly(const struct as_quality_view *view, uint32_t insn, char *buf, size_t buf_b);
double as_cqa_value(const struct as_cqa_path *path, const char *metric);

/* Says that the core's table is cited, and how to measure it; nothing of a measured one. */
void as_cqa_text_table(struct as_quality_view *view);
void as_cqa_text_head(struct as_quality_view *view);
/* `first` (ASCII), and behind it `text`, in lines of a report; further ones begin at `indent`. */
void as_cqa_wrapped(struct as_quality_view *view, const char *first, unsigned indent,
                    const struct as_str *text);
void as_cqa_text_row(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_text_report(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_text_expert(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_json(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_csv_head(struct as_quality_view *view);
void as_cqa_csv(struct as_quality_view *view, const struct as_cqa *cqa);

/* Writes advice on a reduction in order, by the options of its unit. */
void as_cqa_order_words(const struct as_quality_view *view, const struct as_cqa *cqa,
                        struct as_str *out);
void as_cqa_options_report(struct as_quality_view *view, const struct as_cqa *cqa);

/* Advice of the rules for reports; a batch's answers are asked before they are shown. */
int as_cqa_advice_open(struct as_quality_view *view, struct as_error *err);
void as_cqa_advice_close(struct as_quality_view *view);
int as_cqa_advice_batch(struct as_quality_view *view, const struct as_cqa *answer, size_t n,
                        struct as_error *err);
void as_cqa_advice_report(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_advice_json(struct as_quality_view *view, const struct as_cqa *cqa);

/* The page: loops `loop`, analysed with `options`, those that may gain most first. */
int as_cqa_page(struct as_quality_view *view, const uint32_t *loop, size_t n,
                const struct as_cqa_options *options, struct as_error *err);

/* Records of --opt-record; nothing where it is not given. */
int as_cqa_remarks_open(struct as_quality_view *view, struct as_error *err);
void as_cqa_remarks_close(struct as_quality_view *view);
void as_cqa_remarks_row(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_remarks_report(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_remarks_json(struct as_quality_view *view, const struct as_cqa *cqa);
void as_cqa_remarks_csv(struct as_quality_view *view, const struct as_cqa *cqa);

#endif
