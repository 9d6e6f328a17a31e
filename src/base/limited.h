/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a foreign library on foreign bytes in a child process with limits. A crash, an endless loop
 * or a large allocation in the child becomes an error in this process. The answer comes back
 * through a pipe. The answer is foreign too, because the bytes may have taken over the child.
 */
#ifndef AS_BASE_LIMITED_H
#define AS_BASE_LIMITED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct as_limited {
    const char *what;      /* names the file in errors */
    uint64_t memory_b;     /* allowed address space in addition to the memory mapped now */
    unsigned cpu_s;        /* allowed CPU time; 0: no limit */
    unsigned wall_s;       /* allowed wall time; 0: no limit */
    bool may_write;        /* true if the child may write to files; otherwise no file can grow */
    uint64_t answer_max_b; /* max size of the answer in bytes */
};

/*
 * Runs `work` in a child and waits for it. `work` appends its answer to `answer`, or returns a
 * negative code and fills `err`. Errors: those of `work`, CORRUPT (a crash or a limit of the
 * child), LIMIT (Ctrl-C, no process), IO, NOMEM. The caller checks the answer and releases it.
 */
int as_limited_run(const struct as_limited *limits,
                   int (*work)(void *context, struct as_str *answer, struct as_error *err),
                   void *context, struct as_str *answer, struct as_error *err);

#endif
