/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the first byte picks core, mode and assumptions, the rest is code. Any bytes have a
 * prediction, and no bound exceeds it. Facts on instructions and times are consistent. The unit
 * tests check that predictions are right.
 */
#include "fuzz.h"

#include <math.h>

#include "predict/predict.h"

enum { CODE_MOST_B = 2048, TIMELINE = 3 };

static void check_prediction(const struct as_prediction *out, const struct as_code *code)
{
    FUZZ_CHECK(isfinite(out->cycles) && out->cycles > 0);
    FUZZ_CHECK(out->insn_n == code->n && out->estimated_n <= code->n && out->alike_n <= code->n);
    FUZZ_CHECK((unsigned)out->bound < AS_BOUNDS);
    for (unsigned i = 0; i < AS_BOUNDS; i++)
        FUZZ_CHECK(isfinite(out->bounds[i]) && out->bounds[i] <= out->cycles + 1e-6);
    for (size_t i = 0; i < out->chain_n; i++)
        FUZZ_CHECK(out->chain[i].insn <= code->n);
    for (size_t i = 0; i < out->timeline_n; i++) {
        const struct as_timeline_entry *e = &out->timeline[i];
        FUZZ_CHECK(e->insn <= code->n && e->iteration < TIMELINE);
        FUZZ_CHECK(e->dispatch <= e->retire && e->issue <= e->done && e->done <= e->retire);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct as_uarch *uarch[2];
    static struct as_predictor *predictor[2];
    static const char *const core[2] = {"zen5", "emeraldrapids"};
    struct as_code code;
    struct as_prediction out;
    struct as_error err;
    if (size < 2 || size > CODE_MOST_B)
        return 0;
    const unsigned which = data[0] & 1;
    if (!predictor[which]) {
        FUZZ_CHECK(as_uarch_open(core[which], &uarch[which], &err) == 0);
        FUZZ_CHECK(as_predictor_new(uarch[which], &predictor[which], &err) == 0);
    }
    const struct as_predict_options options = {.mode = data[0] & 2 ? AS_PREDICT_LOOP
                                                                   : AS_PREDICT_UNROLLED,
                                               .equal_memory = data[0] & 4,
                                               .worst = data[0] & 8,
                                               .simulate = data[0] & 16,
                                               .timeline_n = data[0] & 32 ? TIMELINE : 0};
    FUZZ_CHECK(as_decode(data + 1, size - 1, 0x1000, &code, &err) == 0);
    FUZZ_CHECK(as_predict(predictor[which], &code, 0, code.n, &options, &out, &err) == 0);
    check_prediction(&out, &code);
    as_code_free(&code);
    return 0;
}
