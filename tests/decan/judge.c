/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decan-judge FILE: judges the measurements of a file, a line each. truth.py measured them on loops
 * with a known bottleneck. Prints a line each: the name, the repetition, the allowed verdicts, the
 * verdict, its confidence, the level, and the sentence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decan/verdict.h"

enum { LINE_B = 8192 };

struct reader {
    const char *path;
    unsigned line;
    char *at;
};

static void fail(const struct reader *r, const char *why)
{
    fprintf(stderr, "decan-judge: %s:%u: %s\n", r->path, r->line, why);
    exit(2);
}

static char *next_word(struct reader *r)
{
    char *word = r->at;
    if (!word || !*word)
        fail(r, "has too few columns");
    r->at = strchr(word, '\t');
    if (r->at)
        *r->at++ = 0;
    return word;
}

static double next_number(struct reader *r)
{
    char *word = next_word(r), *end;
    const double value = strtod(word, &end);
    if (*end || end == word)
        fail(r, "has a word where a number belongs");
    return value;
}

static void read_timing(struct reader *r, struct as_decan_timing *timing)
{
    timing->n = (uint32_t)next_number(r);
    timing->median = next_number(r);
    timing->least = next_number(r);
    timing->low = next_number(r);
    timing->high = next_number(r);
    timing->instance = next_number(r);
}

/* In the order of truth.py. */
static void read_measure(struct reader *r, struct as_decan_measure *m)
{
    static const enum as_variant_kind kinds[] = {AS_VARIANT_ORIG,  AS_VARIANT_REF,  AS_VARIANT_FP,
                                                 AS_VARIANT_LS,    AS_VARIANT_DL1,  AS_VARIANT_FES,
                                                 AS_VARIANT_NODIV, AS_VARIANT_NORED};
    double *const of_code[] = {&m->load_b,     &m->store_b,     &m->read_b, &m->written_b,
                               &m->indirect_n, &m->footprint_b, &m->reach_b};
    double *const of_model[] = {&m->model.cycles, &m->model.arithmetic, &m->model.divide,
                                &m->model.load,   &m->model.store,      &m->model.chain};
    as_decan_measure_init(m);
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        read_timing(r, &m->timing[kinds[k]]);
    for (unsigned k = 0; k < sizeof of_code / sizeof of_code[0]; k++)
        *of_code[k] = next_number(r);
    for (unsigned k = 0; k < sizeof of_model / sizeof of_model[0]; k++)
        *of_model[k] = next_number(r);
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) {
        m->level[l].size_b = next_number(r);
        m->level[l].read_b = next_number(r);
        m->level[l].write_b = next_number(r);
        m->level[l].latency = next_number(r);
        m->level[l].moving = next_number(r);
    }
    if (!r->at) /* measured before there were these */
        return;
    read_timing(r, &m->timing[AS_VARIANT_AGAIN]);
    m->level[AS_PREDICT_L3].is_claimed = next_number(r) > 0;
}

static void judge_line(struct reader *r)
{
    static const char *const sure[] = {"low", "medium", "high"};
    struct as_decan_measure measure;
    struct as_decan_judgement judgement;
    char text[1024];
    const char *name = next_word(r), *repetition = next_word(r), *truth = next_word(r);
    read_measure(r, &measure);
    if (r->at)
        fail(r, "has too many columns");
    as_decan_judge(&measure, &judgement);
    as_decan_explain(&measure, &judgement, text, sizeof text);
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, repetition, truth,
           as_decan_verdict_word(judgement.verdict), sure[judgement.confidence],
           as_predict_level_name(judgement.level), text);
}

int main(int argc, char **argv)
{
    static char line[LINE_B];
    struct reader r = {.path = argc == 2 ? argv[1] : ""};
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!f) {
        fprintf(stderr, "usage: decan-judge FILE\n");
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        r.line++;
        line[strcspn(line, "\n")] = 0;
        r.at = line;
        if (line[0] && line[0] != '#')
            judge_line(&r);
    }
    fclose(f);
    return 0;
}
