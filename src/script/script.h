/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users' own analyses: a Lua 5.4 script reads objects of the analyses (modules, functions, loops,
 * blocks, instructions, quality metrics, experiments) and prints its result. It cannot change the
 * objects. doc/manual/script.md has every name of the interface.
 */
#ifndef AS_SCRIPT_SCRIPT_H
#define AS_SCRIPT_SCRIPT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/uarch.h"
#include "object/object.h"

struct as_figures;

struct as_script_request {
    const char *path;            /* of the script */
    const char *subject;         /* a binary or an experiment, or NULL */
    const char *const *argument; /* its further arguments */
    size_t argument_n;
    /* All of Lua's libraries; else those that reach nothing outside the script. */
    bool trusted;
    uint64_t time_limit_ns;                   /* from the call on; 0: none */
    uint64_t memory_limit_b;                  /* of Lua's values; 0: none */
    const volatile sig_atomic_t *interrupted; /* not 0: the script stops; may be NULL */
    unsigned jobs;
    /* Opens a binary. */
    int (*open)(void *context, const char *path, struct as_object **out, struct as_error *err);
    /* The table of the core that metrics are for, and what was measured of the machine (may stay
     * NULL); called once, when a script first asks for metrics. The script frees both. */
    int (*machine)(void *context, struct as_uarch **uarch, struct as_figures **figures,
                   struct as_error *err);
    /* Takes what it writes. */
    void (*write)(void *context, const char *text, size_t n);
    void *context;
};

struct as_script_result {
    bool interrupted;
    bool is_false; /* it returned false */
};

/*
 * Runs a script. Errors: USAGE (a fault in it, with file and line), LIMIT (time or memory limit, or
 * interrupted), NOT_FOUND and the like for the file itself, NOMEM.
 */
int as_script_run(const struct as_script_request *request, struct as_script_result *result,
                  struct as_error *err);

#endif
