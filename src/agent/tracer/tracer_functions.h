/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own functions as calls in its trace. Who tells of them is code that a compiler put
 * in (functions_wrap.c) or points of a plan (patch/); either says when a function begins and ends,
 * and neither says all ends: what longjmp or an exception left is closed when its frame is seen to
 * be gone.
 */
#ifndef AS_AGENT_TRACER_FUNCTIONS_H
#define AS_AGENT_TRACER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct as_tracer_function {
    uintptr_t key;     /* one function's: its address, or a number below the first page's end */
    uintptr_t address; /* where it begins */
    const char *name;  /* stays where it is; NULL: that which the symbols of its file have */
    /* Of this activation. `frame` orders them: an inner one's is lower than an outer one's, or the
     * same for what was inlined; the caller's stack pointer is 16 above it. */
    uintptr_t frame;
    uintptr_t site;   /* where it returns to; what was inlined says that of the function around */
    uintptr_t behind; /* the code that tells of it, whichever place that is */
};

/* As the agent begins, where something is traced; false: there is no memory for it. */
bool as_tracer_functions_start(void);
void as_tracer_function_begins(const struct as_tracer_function *function);
/*
 * `frame` is that of the beginning, or lower. Of a function whose frame `is_gone` already (the call
 * replaced its return) it is higher than its own, and not higher than that of whatever called it.
 */
void as_tracer_function_ends(uintptr_t key, uintptr_t frame, bool is_gone);

void as_tracer_functions_thread_end(void);
/* In the child of a fork: what is open is in its parent's stream. */
void as_tracer_functions_forked(void);
/* Addresses may mean other functions from now on. */
void as_tracer_functions_forget(void);

#endif
