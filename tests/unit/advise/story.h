/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment of one run, told in a few words: what ran how long in how many threads. A sample is
 * a millisecond.
 */
#ifndef AS_TESTS_STORY_H
#define AS_TESTS_STORY_H

#include "experiment/experiment.h"

/* Common parts of stories: a run of a second on two CPUs; a function of the program in it. */
#define MS  INT64_C(1000000)
#define RUN .wall_ms = 1000, .cpu_n = 2
#define OWN(n)                                                                                     \
    {                                                                                              \
        "work", "application", n                                                                   \
    }

#define STORY_CODE_N   8
#define STORY_METRIC_N 32
#define STORY_ACCESS_N 3

/* A function in which each thread spends `ms` running and `blocked_ms` waiting. */
struct story_code {
    const char *name, *category;
    int64_t ms, blocked_ms;
    const char *module;   /* path; NULL: /opt/program */
    const char *under;    /* name of one before that calls it; NULL: it is outermost */
    const char *flags;    /* of its compilation; NULL: not recorded */
    const char *language; /* of its unit, too where there are no flags */
    bool in_loop;         /* its samples are in a loop of it, the first of which has the metrics */
    bool is_of_before;    /* not a function of its own, but the one before, in another loop
                           * or under another one */
    int instruction_n;    /* of that loop; 0: 9 */
    int depth;            /* of that loop in its nest; 0: 1 */
    bool is_uneven;       /* thread i spends 1 / (i + 1) of it; rank i where each has one */
    int only;             /* thread or such a rank that has it, from 1 on; 0: each */
    bool no_debug, is_linked; /* is_linked: it has a linkage name with a quote in it */
};

struct story {
    struct story_code code[STORY_CODE_N];
    struct story_metric {
        const char *name;
        double value;
    } metric[STORY_METRIC_N];
    int loop_n; /* loops that have them, of the first; 0: one. Those that samples show are of the
                   run */
    bool no_openmp;       /* its threads are its own */
    int thread_n, rank_n; /* threads in each rank; 0: one, and no ranks */
    int64_t wall_ms, cpu_n, exit_code, exit_signal, overhead_ms, lost_n, migration_n;
    int64_t queued_ms, others_ms;  /* of each thread; of the host */
    int64_t fault_n, resident_mib; /* page faults; memory held at most */
    const char *call_stacks, *huge_pages;
    const char *cache; /* of level 3, as the kernel has it; then that of level 2 has 512 KiB */
    const char *flag;  /* that the recording has made */
    int64_t near_level, far_level, set_n; /* of the data of the first loop; 0: not known */
    struct story_access {                 /* a load of the first loop */
        const char *variable, *member, *reuse;
        int64_t stride_b, element_b, reuse_b; /* 0: not known */
        double use_pct;
        bool is_stored; /* by the second loop, which that outer loop enters again, too */
    } access[STORY_ACCESS_N];
    int64_t object_mib, huge_pct; /* a block that it touches; of that in huge pages */
    double shared; /* share of the stores of the first loop that go to lines of several
                    * threads */
};

/* The run is number 1, summed up and advised on, in a transient experiment. */
struct as_experiment *story_tell(const struct story *story);

#endif
