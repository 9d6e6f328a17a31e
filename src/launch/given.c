/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records before main() the settings that a program inherits through execve(2) and that assay
 * changes for itself: ignored signals, limits, CPU affinity. So the observed program gets the
 * settings that its user chose. The working directory, descriptors and process group are never
 * changed.
 */
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include "launch/internal.h"

/* Max number of CPUs of Linux (CONFIG_NR_CPUS). */
#define CPUS_MOST 8192

/* Written before main(), read-only afterwards. */
static struct {
    bool ignored[NSIG];
    sigset_t mask;
    struct rlimit limit[RLIM_NLIMITS];
    bool limit_known[RLIM_NLIMITS];
    cpu_set_t cpus[CPUS_MOST / CPU_SETSIZE];
    size_t cpus_b; /* bytes of `cpus` from the kernel; 0: unknown */
} given;

static void note_processors(void)
{
    const int rc = sched_getaffinity(0, sizeof given.cpus, given.cpus);
    given.cpus_b = rc == 0 ? sizeof given.cpus : 0;
}

__attribute__((constructor)) static void note(void)
{
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        given.ignored[i] = sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    sigprocmask(SIG_SETMASK, NULL, &given.mask);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        given.limit_known[i] = getrlimit((__rlimit_resource_t)i, &given.limit[i]) == 0;
    note_processors();
}

static void restore_processors(void)
{
    cpu_set_t now[CPUS_MOST / CPU_SETSIZE];
    memset(now, 0, sizeof now);
    if (given.cpus_b && sched_getaffinity(0, sizeof now, now) == 0 &&
        memcmp(now, given.cpus, sizeof now) != 0)
        sched_setaffinity(0, given.cpus_b, given.cpus);
}

void as_given_restore(void)
{
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action = {.sa_handler = given.ignored[i] ? SIG_IGN : SIG_DFL};
        sigaction(i, &action, NULL); /* fails for signals that cannot be changed */
    }
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit now;
        if (given.limit_known[i] && getrlimit((__rlimit_resource_t)i, &now) == 0 &&
            (now.rlim_cur != given.limit[i].rlim_cur || now.rlim_max != given.limit[i].rlim_max))
            setrlimit((__rlimit_resource_t)i, &given.limit[i]);
    }
    restore_processors();
}

const sigset_t *as_given_mask(void)
{
    return &given.mask;
}

bool as_given_ignores(int signal)
{
    return signal > 0 && signal < NSIG && given.ignored[signal];
}
