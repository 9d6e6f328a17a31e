/* SPDX-License-Identifier: Apache-2.0 */
#include "toy.h"

#include <math.h>

#include "base/str.h"

static void make_predictor(struct toy *toy)
{
    struct as_error err;
    if (as_predictor_new(toy->uarch, &toy->predictor, &err) < 0)
        fail_msg("%s", err.text);
}

void toy_init(struct toy *toy, const char *more)
{
    static char text[16384];
    struct as_error err;
    const int n = snprintf(text, sizeof text, "%s%s%s%s", TOY_HEAD, more, TOY_PORTS, TOY_FORMS);
    *toy = (struct toy){0};
    if (as_uarch_parse(text, (size_t)n, "toy", &toy->uarch, &err) < 0)
        fail_msg("%s", err.text);
    make_predictor(toy);
}

void toy_open(struct toy *toy, const char *name)
{
    struct as_error err;
    *toy = (struct toy){0};
    if (as_uarch_open(name, &toy->uarch, &err) < 0)
        fail_msg("%s", err.text);
    make_predictor(toy);
}

void toy_fini(struct toy *toy)
{
    as_predictor_free(&toy->predictor);
    as_uarch_free(&toy->uarch);
}

double toy_cycles_as(struct toy *toy, const char *hex, const struct as_predict_options *options)
{
    static uint8_t bytes[4096];
    struct as_code code;
    struct as_error err;
    const size_t n = as_hex_get(hex, bytes, sizeof bytes);
    const struct as_bytes range = {
        .bytes = bytes, .size_b = n, .address = 0x1000, .k1om = toy->uarch->set[AS_UARCH_mvex] > 0};
    if (as_decode_ranges(&range, 1, &code, NULL, &err) < 0 ||
        as_predict(toy->predictor, &code, 0, code.n, options, &toy->out, &err) < 0)
        fail_msg("%s", err.text);
    as_code_free(&code);
    return toy->out.cycles;
}

double toy_cycles(struct toy *toy, const char *hex)
{
    const struct as_predict_options options = {.mode = AS_PREDICT_UNROLLED,
                                               .without = AS_WITHOUT_SIMULATION};
    return toy_cycles_as(toy, hex, &options);
}

void toy_expect(double got, double want)
{
    if (fabs(got - want) > 0.001 * (1 + want))
        fail_msg("%g cycles instead of %g", got, want);
}
