/* SPDX-License-Identifier: Apache-2.0 */
/* --time-limit and --memory-limit, and a timer that ends a call which ignores them. */
#ifndef AS_CLI_QUERY_LIMITS_H
#define AS_CLI_QUERY_LIMITS_H

#include "options.h"

struct as_limits {
    uint64_t time_s, memory_mib; /* 0: no limit */
};

/* The limits of the options, or the defaults. USAGE for values that are out of range. */
int as_limits_of(const struct as_arguments *args, struct as_limits *out, struct as_error *err);

/*
 * One long call of SQLite or Lua does not ask whether it should stop: some seconds beyond the time
 * limit (0: never) the process says `sentence`, a whole line, and ends with status 1. `timer` is
 * that of setitimer(2): ITIMER_REAL, or ITIMER_PROF for time in which it ran.
 */
void as_limits_watch(const struct as_limits *limits, int timer, const char *sentence);
void as_limits_watch_no_more(int timer);

#endif
