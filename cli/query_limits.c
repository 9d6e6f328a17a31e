/* SPDX-License-Identifier: Apache-2.0 */
#include "query_limits.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"

#define DEFAULT_TIME_S     600
#define DEFAULT_MEMORY_MIB 4096
#define AFTER_S            3 /* what asks had that time to stop by itself */
#define MAX_MEMORY_MIB     (UINT64_MAX >> 20)

static uint64_t given_or(const struct as_arguments *args, int option, uint64_t otherwise)
{
    return as_given(args, option) ? args->number[option] : otherwise;
}

int as_limits_of(const struct as_arguments *args, struct as_limits *out, struct as_error *err)
{
    *out = (struct as_limits){given_or(args, AS_OPTION_TIME_LIMIT, DEFAULT_TIME_S),
                              given_or(args, AS_OPTION_MEMORY_LIMIT, DEFAULT_MEMORY_MIB)};
    if (out->time_s > INT32_MAX)
        return as_error_set(err, AS_ERR_USAGE,
                            "--time-limit: value out of range; use 0 for no limit");
    if (out->memory_mib > MAX_MEMORY_MIB)
        return as_error_set(err, AS_ERR_USAGE,
                            "--memory-limit: value out of range; use 0 for no limit");
    return 0;
}

static const char *stuck_sentence;

static void end_stuck(int signal)
{
    (void)signal;
    (void)!write(STDERR_FILENO, stuck_sentence, strlen(stuck_sentence));
    _exit(1);
}

void as_limits_watch(const struct as_limits *limits, int timer, const char *sentence)
{
    const struct sigaction stuck = {.sa_handler = end_stuck};
    const struct itimerval when = {.it_value.tv_sec = (time_t)limits->time_s + AFTER_S};

    if (!limits->time_s)
        return;
    stuck_sentence = sentence;
    sigaction(timer == ITIMER_PROF ? SIGPROF : SIGALRM, &stuck, NULL);
    setitimer(timer, &when, NULL);
}

void as_limits_watch_no_more(int timer)
{
    const struct itimerval never = {0};

    setitimer(timer, &never, NULL);
}
