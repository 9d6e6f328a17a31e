/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of code with measured and predicted cycles, and statistics of both. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "validate/internal.h"

const char *as_judged_kind_word(unsigned kind)
{
    static const char *const word[] = {
#define KIND_WORD(name, text) text,
        AS_JUDGED_KIND_LIST(KIND_WORD)
#undef KIND_WORD
    };
    return kind < AS_JUDGED_KINDS ? word[kind] : "?";
}

int as_validation_new(struct as_predictor *predictor, const struct as_predict_options *options,
                      struct as_validation **out, struct as_error *err)
{
    struct as_validation *v = as_calloc(1, sizeof *v);
    *out = v;
    if (!v)
        return as_error_nomem(err, "what predictions are compared with");
    v->predictor = predictor;
    v->options = *options;
    as_arena_init(&v->arena);
    return 0;
}

void as_validation_free(struct as_validation **validation)
{
    struct as_validation *v = *validation;
    *validation = NULL;
    if (!v)
        return;
    as_vec_fini(&v->piece);
    as_vec_fini(&v->left_out);
    as_arena_fini(&v->arena);
    as_free(v);
}

/* ---- Pieces -------------------------------------------------------------------------------- */

uint32_t as_judged_kinds(const struct as_code *code, enum as_bound bound)
{
    uint32_t kinds = 1u << AS_JUDGED_ALL;
    size_t memory = 0;
    bool fp = false, packed = false;
    for (size_t i = 0; i < code->n; i++) {
        const struct as_form *form = as_form_get(code->insn[i].form);
        memory += code->insn[i].bits & AS_INSN_MEM && form->insn_class != AS_CLASS_LEA &&
                  form->insn_class != AS_CLASS_NOP;
        fp |= form->flops > 0;
        packed |= form->flops > 0 && form->traits & AS_TRAIT_PACKED;
        if (form->insn_class == AS_CLASS_DIV || form->insn_class == AS_CLASS_SQRT)
            kinds |= 1u << AS_JUDGED_DIVIDE;
    }
    kinds |= 1u << (packed ? AS_JUDGED_FP_VECTOR : fp ? AS_JUDGED_FP_SCALAR : AS_JUDGED_INTEGER);
    kinds |= memory * 2 >= code->n ? 1u << AS_JUDGED_MEMORY : 0;
    return kinds | (bound == AS_BOUND_LATENCY ? 1u << AS_JUDGED_CHAIN : 0);
}

int as_judged_push(struct as_validation *v, const struct as_judged *judged, const uint8_t *bytes,
                   size_t size_b, struct as_error *err)
{
    struct as_judged one = *judged;
    char *hex = bytes ? as_arena_alloc(&v->arena, 2 * size_b + 1, 1) : NULL;
    one.id = as_arena_strndup(&v->arena, judged->id, strlen(judged->id));
    if (hex)
        as_hex_encode(hex, bytes, size_b);
    one.hex = hex;
    if (!one.id || (bytes && !hex) || as_vec_push(&v->piece, one) < 0)
        return as_error_nomem(err, "the measured pieces of code");
    return 0;
}

int as_validation_add(struct as_validation *v, const char *id, double measured, double spread,
                      const struct as_code *code, const uint8_t *bytes, size_t size_b,
                      struct as_error *err)
{
    struct as_prediction out;
    AS_TRY(as_predict(v->predictor, code, 0, code->n, &v->options, &out, err));
    const struct as_judged judged = {.id = id,
                                     .address = code->insn[0].address,
                                     .measured = measured,
                                     .predicted = out.cycles,
                                     .spread = spread,
                                     .bound = out.bound,
                                     .kinds = as_judged_kinds(code, out.bound)};
    return as_judged_push(v, &judged, bytes, size_b, err);
}

int as_validation_leave_out(struct as_validation *v, const char *why, struct as_error *err)
{
    as_vec_foreach (&v->left_out, it) {
        if (strcmp(it->why, why) == 0) {
            it->n++;
            return 0;
        }
    }
    const struct as_left_out one = {why, 1};
    return as_vec_push(&v->left_out, one) < 0 ? as_error_nomem(err, "what is left out") : 0;
}

size_t as_validation_pieces(const struct as_validation *v, const struct as_judged **out)
{
    *out = v->piece.at;
    return v->piece.n;
}

size_t as_validation_left_out(const struct as_validation *v, const struct as_left_out **out)
{
    *out = v->left_out.at;
    return v->left_out.n;
}

/* ---- Statistics ---------------------------------------------------------------------------- */

double as_judged_error(const struct as_judged *judged)
{
    return fabs(judged->predicted - judged->measured) / judged->measured;
}

/* Returns Kendall's tau-b of values rounded to 0.01 cycles. O(n^2) suffices for small n. */
static double rank_correlation(const struct as_judged *const *at, size_t n)
{
    double agree = 0, only_x = 0, only_y = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const double x = rint(100 * at[i]->measured) - rint(100 * at[k]->measured);
            const double y = rint(100 * at[i]->predicted) - rint(100 * at[k]->predicted);
            agree += x * y > 0 ? 1 : x * y < 0 ? -1 : 0;
            only_x += x == 0; /* NOLINT: whole numbers */
            only_y += y == 0;
            pairs++;
        }
    const double scale = sqrt((pairs - only_x) * (pairs - only_y));
    return scale > 0 ? agree / scale : NAN;
}

static void sum_up(const struct as_judged *const *at, double *error, struct as_judgement *out)
{
    const double n = (double)out->n;
    for (size_t i = 0; i < out->n; i++) {
        error[i] = as_judged_error(at[i]);
        out->mape += error[i] * 100 / n;
        out->within5 += (error[i] <= 0.05) * 100 / n;
        out->within10 += (error[i] <= 0.1) * 100 / n;
    }
    as_sort_doubles(error, out->n);
    if (out->n) {
        out->median = 100 * error[out->n / 2];
        out->tau = rank_correlation(at, out->n);
    }
}

int as_judge(const struct as_judged *piece, size_t n, unsigned kind, struct as_judgement *out,
             struct as_error *err)
{
    const struct as_judged **at = as_calloc(n + 1, sizeof *at);
    double *error = as_calloc(n + 1, sizeof *error);
    *out = (struct as_judgement){.tau = NAN};
    for (size_t i = 0; at && i < n; i++)
        if (piece[i].kinds >> kind & 1)
            at[out->n++] = &piece[i];
    if (at && error)
        sum_up(at, error, out);
    const int rc = at && error ? 0 : as_error_nomem(err, "the pieces of one kind");
    as_free(at);
    as_free(error);
    return rc;
}
