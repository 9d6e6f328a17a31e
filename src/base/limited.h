/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of a foreign library on foreign bytes, in a child process with limits: a crash, an endless
 * loop or a large allocation there is an error here. The answer comes back over a pipe; it is
 * foreign too, as bytes may have taken over the child.
 */
#ifndef AS_BASE_LIMITED_H
#define AS_BASE_LIMITED_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/error.h>

#include "base/str.h"

struct as_limited {
    const char *what;      /* a file, for the sentence */
    uint64_t memory_b;     /* address space, beyond what is mapped now */
    unsigned cpu_s;        /* CPU time; 0: no limit */
    unsigned wall_s;       /* 0: no limit */
    bool may_write;        /* files; without it none can grow */
    uint64_t answer_max_b; /* of the answer */
};

/*
 * Runs `work` in a child and waits for it. `work` appends its answer, or fails with `err`. Errors:
 * those of `work`, CORRUPT (it crashed or ran into a limit), LIMIT (Ctrl-C, no process), IO, NOMEM.
 * The caller checks and frees the answer.
 */
int as_limited_run(const struct as_limited *limits,
                   int (*work)(void *context, struct as_str *answer, struct assay_error *err),
                   void *context, struct as_str *answer, struct assay_error *err);

#endif
