/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of `assay predict` and `assay validate`: the predictor with the user's options,
 * blocks from hexadecimal digits, and the output of one prediction.
 */
#ifndef AS_CLI_PREDICT_H
#define AS_CLI_PREDICT_H

#include "cli.h"
#include "predict/predict.h"
#include "quality/weights.h"
#include "sheet.h"

struct as_predicting {
    struct as_cli *cli;
    struct as_uarch *uarch;
    struct as_predictor *predictor;
    struct as_predict_options options;
    struct as_facts facts; /* JSON */
    bool equal_given;
    bool level[AS_PREDICT_LEVELS];     /* asked for by --level */
    struct as_figures *figures;        /* of this machine, NULL: none were measured */
    struct as_quality_sampled sampled; /* of --experiment */
    struct as_uarch_choice choice;     /* which table it is, where no option says */
};

/* Opens the table of --machine, else the one measured here. Otherwise opens the built-in table of
 * this machine's core or of the nearest core. `choice` names the choice. Errors: NOT_FOUND,
 * CORRUPT, NOMEM. */
int as_core_open(struct as_cli *cli, struct as_uarch **out, struct as_uarch_choice *choice,
                 struct as_error *err);
/* Returns 0 if the core has the instructions of the file: Knights Corner has other vectors.
 * Errors: USAGE. */
int as_core_fits(const struct as_uarch *uarch, struct as_object *object, struct as_error *err);

/* Reads the samples of --experiment for the file; nothing without the option. Errors: those of
 * as_quality_sampled_read and of opening. */
int as_sampled_open(struct as_cli *cli, const struct as_object *object,
                    struct as_quality_sampled *out, struct as_error *err);

/* Opens the table of the core, and what was measured. Errors: those of as_core_open; USAGE. */
int as_predicting_init(struct as_cli *cli, struct as_predicting *p, struct as_error *err);
void as_predicting_fini(struct as_predicting *p);

/* Returns the source of most lines of the table, in words. */
const char *as_table_source(const struct as_uarch *uarch);
/* Returns true if they are published and not measured: the words are "cited". */
bool as_table_is_cited(const struct as_uarch *uarch);

/* Digits to bytes; below 0 with a sentence when they are none, or odd. */
int as_hex_read(const char *text, size_t n, uint8_t *out, size_t most, const char *what,
                struct as_error *err);

/* A piece of code: its records, and its bytes for the assembly text (NULL: none). */
struct as_piece {
    const char *name;
    const struct as_code *code;
    size_t first, n;
    const uint8_t *bytes; /* of each record in turn, or NULL */
    struct as_object *object;
    const struct as_traffic *traffic; /* of its loop, or NULL */
    bool several;                     /* paths, of which this is one: */
    double weight;                    /* its share of the iterations, */
    bool sampled;                     /* as a run went; else as likely as the code tells */
    bool counted;                     /* as it was counted to go */
    double weighted;                  /* cycles of the loop over its paths */
};

/* Predicts and shows, in the format of the command line. */
int as_predict_show(struct as_predicting *p, const struct as_piece *piece, struct as_error *err);

/* ---- Rendering (predict_text.c, predict_json.c) -------------------------------------------- */

struct as_predicted_what_if {
    const char *words;
    const char *key;
    double cycles;
    enum as_bound bound; /* that limits then */
    bool is_there;       /* there is something to change */
};
enum { AS_WHAT_IFS = 6 };

struct as_predicted {
    const struct as_predicting *p;
    const struct as_piece *piece;
    struct as_prediction out;
    double worst; /* cycles with the worst values computed with */
    struct as_predicted_what_if what_if[AS_WHAT_IFS];
    size_t load; /* of "one load fewer": the instruction, from 0 */
    struct {
        double cycles; /* below 0: not known */
        const char *lacking;
    } level[AS_PREDICT_LEVELS];
};

void as_predict_text(struct as_predicting *p, const struct as_predicted *predicted);
void as_predict_json(struct as_predicting *p, const struct as_predicted *predicted);
/* Assembly of record `i` of the piece. */
void as_predict_assembly(const struct as_predicted *predicted, size_t i, char *buf, size_t buf_b);
/* "exact", "alike", "width", "register", "estimated" */
const char *as_predict_match(const struct as_insn_prediction *insn);

#endif
