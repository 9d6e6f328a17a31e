/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits output into words; see output.h. A word is a number, or the text between numbers and
 * blanks.
 */
#include "trial/output.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void as_output_model_fini(struct as_output_model *model)
{
    as_str_fini(&model->text);
    as_vec_fini(&model->word);
}

/* ---- Words --------------------------------------------------------------------------------- */

/* Returns true if a number begins at `at`: a digit, or a sign or point before one. A digit
 * inside a name does not count. */
static bool begins_number(const char *text, size_t at, size_t n)
{
    size_t i = at;

    if (at && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_'))
        return false;
    if (i < n && (text[i] == '-' || text[i] == '+'))
        i++;
    if (i < n && text[i] == '.')
        i++;
    return i < n && isdigit((unsigned char)text[i]);
}

static size_t digits_from(const char *text, size_t at, size_t n)
{
    while (at < n && isdigit((unsigned char)text[at]))
        at++;
    return at;
}

/* Returns the end of the number at `at`, in Fortran or C notation. */
static size_t number_end(const char *text, size_t at, size_t n)
{
    if (text[at] == '-' || text[at] == '+')
        at++;
    at = digits_from(text, at, n);
    if (at < n && text[at] == '.')
        at = digits_from(text, at + 1, n);
    if (at + 1 < n && strchr("eEdD", text[at])) {
        const size_t sign = text[at + 1] == '-' || text[at + 1] == '+';
        const size_t end = digits_from(text, at + 1 + sign, n);
        at = end > at + 1 + sign ? end : at;
    }
    return at;
}

static size_t word_end(const char *text, size_t at, size_t n)
{
    for (at++; at < n && !isspace((unsigned char)text[at]) && !begins_number(text, at, n);)
        at++;
    return at;
}

/* Appends the words of a text. Errors: NOMEM. */
static int list_words(const char *text, size_t n, as_word_list *out)
{
    uint32_t line = 1;

    for (size_t at = 0; at < n;) {
        if (isspace((unsigned char)text[at])) {
            line += text[at++] == '\n';
            continue;
        }
        const bool is_number = begins_number(text, at, n);
        const size_t end = is_number ? number_end(text, at, n) : word_end(text, at, n);
        const struct as_word word = {
            .at = (uint32_t)at, .n = (uint32_t)(end - at), .line = line, .is_number = is_number};
        if (as_vec_push(out, word) < 0)
            return AS_ERR_NOMEM;
        at = end;
    }
    return 0;
}

static double number_of(const char *text, const struct as_word *word)
{
    char copy[64];
    const size_t n = word->n < sizeof copy - 1 ? word->n : sizeof copy - 1;

    memcpy(copy, text + word->at, n);
    copy[n] = '\0';
    for (char *c = copy; *c; c++)
        if (*c == 'd' || *c == 'D')
            *c = 'e';
    return strtod(copy, NULL);
}

static bool is_same_word(const char *a, const struct as_word *x, const char *b,
                         const struct as_word *y)
{
    return x->n == y->n && memcmp(a + x->at, b + y->at, x->n) == 0;
}

/* ---- Model --------------------------------------------------------------------------------- */

static void mark_varying(struct as_output_model *model, const char *text, const as_word_list *word)
{
    if (word->n != model->word.n)
        model->is_wild = true;
    for (size_t i = 0; i < word->n && !model->is_wild; i++) {
        struct as_word *known = &model->word.at[i];
        if (known->line != word->at[i].line || known->is_number != word->at[i].is_number)
            model->is_wild = true;
        if (known->varies || is_same_word(as_str_z(&model->text), known, text, &word->at[i]))
            continue;
        known->varies = true;
        model->varying_n++;
    }
}

int as_output_learn(struct as_output_model *model, const char *text, size_t n)
{
    as_word_list word = {0};
    int rc = list_words(text, n, &word);

    if (rc == 0 && model->run_n++ == 0) {
        as_str_append(&model->text, text, n);
        rc = model->text.failed ? AS_ERR_NOMEM : list_words(text, n, &model->word);
    } else if (rc == 0) {
        mark_varying(model, text, &word);
    }
    as_vec_fini(&word);
    return rc;
}

/* ---- Comparison ---------------------------------------------------------------------------- */

static void note_difference(struct as_output_difference *out, const struct as_output_model *model,
                            const struct as_word *known, const char *text,
                            const struct as_word *word)
{
    out->line = known->line;
    snprintf(out->text, sizeof out->text, "line %u: %.*s instead of %.*s", known->line,
             (int)(word->n < 60 ? word->n : 60), text + word->at,
             (int)(known->n < 60 ? known->n : 60), as_str_z(&model->text) + known->at);
    for (char *c = out->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* Returns the relative difference of two numbers; infinite if one of them is not finite. */
static double relative_difference(double a, double b)
{
    const double most = fmax(fabs(a), fabs(b));
    if (isnan(a) || isnan(b) || isinf(most))
        return a == b || (isnan(a) && isnan(b)) ? 0 : INFINITY;
    return most > 0 ? fabs(a - b) / most : 0;
}

/* Returns the position of the first differing digit of two numbers, from 1. */
static int first_digit(double a, double b)
{
    const double most = fmax(fabs(a), fabs(b)), off = fabs(a - b);
    const int digit = (int)(floor(log10(most)) - floor(log10(off * (1 + 1e-6)))) + 1;
    return digit > 1 ? digit : 1;
}

static void compare_word(const struct as_output_model *model, const struct as_word *known,
                         const char *text, const struct as_word *word, double tolerance,
                         struct as_output_difference *out)
{
    double relative = INFINITY;

    if (known->varies || is_same_word(as_str_z(&model->text), known, text, word))
        return;
    if (known->is_number && word->is_number)
        relative =
            relative_difference(number_of(as_str_z(&model->text), known), number_of(text, word));
    if (relative > out->relative && !isinf(relative))
        out->digit = first_digit(number_of(as_str_z(&model->text), known), number_of(text, word));
    if (relative > out->relative || (!out->line && relative > 0)) {
        out->relative = relative;
        note_difference(out, model, known, text, word);
    }
    out->differs |= relative > tolerance;
}

int as_output_compare(const struct as_output_model *model, const char *text, size_t n,
                      double tolerance, struct as_output_difference *out)
{
    as_word_list word = {0};

    *out = (struct as_output_difference){.is_known = model->run_n && !model->is_wild};
    if (!out->is_known)
        return 0;
    const int rc = list_words(text, n, &word);
    const size_t both = word.n < model->word.n ? word.n : model->word.n;
    for (size_t i = 0; i < both && !isinf(out->relative); i++)
        compare_word(model, &model->word.at[i], text, &word.at[i], tolerance, out);
    if (word.n != model->word.n && !isinf(out->relative)) {
        out->differs = true;
        out->relative = INFINITY;
        snprintf(out->text, sizeof out->text, "%zu words instead of %zu", word.n, model->word.n);
    }
    as_vec_fini(&word);
    return rc;
}

static const char *ordinal_ending(int n)
{
    if (n % 100 >= 11 && n % 100 <= 13)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

void as_output_describe(const struct as_output_difference *it, char *text, size_t size_b)
{
    if (!it->is_known) {
        snprintf(text, size_b, "results not compared");
    } else if (it->relative <= 0 && !it->differs) {
        snprintf(text, size_b, "same results");
    } else if (isinf(it->relative)) {
        snprintf(text, size_b, "results differ: %s", it->text);
    } else {
        snprintf(text, size_b, "results differ in the %d%s digit", it->digit,
                 ordinal_ending(it->digit));
    }
}
