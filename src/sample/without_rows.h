/* SPDX-License-Identifier: Apache-2.0 */
/* Stack facts that can be proven in code without unwind information: assembly, generated code. */
#ifndef AS_SAMPLE_WITHOUT_ROWS_H
#define AS_SAMPLE_WITHOUT_ROWS_H

#include "sample/recorder.h"

/* The last function that was checked: samples repeat. */
struct as_leaf {
    const struct as_object *object;
    uint64_t start, end;
    bool is_steady;
};

/* Returns true if only returns move the stack pointer in the function around `address` of the
 * object. The return address is then at the stack pointer. */
bool as_leaf_is_steady(struct as_leaf *last, struct as_object *object, uint64_t address);

/* Returns true if `value` points behind a call instruction of a mapped file. */
bool as_is_return_address(struct as_modules *modules, const struct as_space *space, uint64_t value);

#endif
