/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a loop, by kind of callee. */
#ifndef AS_QUALITY_CALLEE_H
#define AS_QUALITY_CALLEE_H

#include "catalogue/catalogue.h"

/* Numbers of call instructions of a loop, without its inner loops. */
struct as_quality_calls {
    uint32_t root_n;    /* sqrt and sqrtf of the library */
    uint32_t complex_n; /* complex products and quotients */
    uint32_t math_n;    /* mathematical functions that have vector versions */
    uint32_t pointer_n; /* calls through a pointer: virtual functions, callbacks */
};

struct as_quality_calls as_quality_count_calls(const struct as_catalogue_module *module,
                                               uint32_t loop);

#endif
