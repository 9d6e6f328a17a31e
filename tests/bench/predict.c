/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many blocks a second are predicted, and the predictions: bench-predict CORE FILE.csv [WITHOUT
 * [MODE]] with lines id,hex,... ; writes id,cycles,bound,simulated,estimated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "predict/predict.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static char line[65536];
    struct as_error err;
    struct as_uarch *uarch;
    struct as_predictor *predictor;
    struct as_predict_options options = {.mode = AS_PREDICT_UNROLLED};
    if (argc < 3 || as_uarch_open(argv[1], &uarch, &err) < 0 ||
        as_predictor_new(uarch, &predictor, &err) < 0)
        return fprintf(stderr, "bench-predict: %s\n", argc < 3 ? "CORE FILE" : err.text), 1;
    options.without = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 0;
    options.mode = argc > 4 && strcmp(argv[4], "loop") == 0 ? AS_PREDICT_LOOP : AS_PREDICT_UNROLLED;
    options.simulate = argc > 5 && strchr(argv[5], 's');
    options.equal_memory = argc > 5 && strchr(argv[5], 'e');
    FILE *f = fopen(argv[2], "re");
    size_t blocks = 0;
    double seconds = 0;
    printf("id,cycles,bound,simulated,estimated,alike,limit\n");
    while (f && fgets(line, sizeof line, f)) {
        char *hex = strchr(line, ',');
        uint8_t bytes[8192];
        struct as_code code;
        struct as_prediction out;
        if (!hex)
            continue;
        *hex++ = 0;
        const size_t n = as_hex_get(hex, bytes, sizeof bytes);
        if (!n)
            continue;
        const double from = now();
        if (as_decode(bytes, n, 0x1000, &code, &err) < 0 ||
            as_predict(predictor, &code, 0, code.n, &options, &out, &err) < 0) {
            fprintf(stderr, "%s: %s\n", line, err.text);
            continue;
        }
        seconds += now() - from;
        printf("%s,%.4f,%s,%.4f,%u,%u,%s\n", line, out.cycles, as_bound_name(out.bound),
               out.simulated, out.estimated_n, out.alike_n, out.limit);
        as_code_free(&code);
        blocks++;
    }
    if (f)
        fclose(f);
    as_predictor_free(&predictor);
    as_uarch_free(&uarch);
    fprintf(stderr, "%zu blocks, %.0f a second\n", blocks, (double)blocks / seconds);
    return 0;
}
