/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the room: runs a target under the sampler, and reads the stream as paths
 * of function names.
 */
#ifndef TEST_SAMPLE_SESSION_H
#define TEST_SAMPLE_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include "account.h"
#include "base/vec.h"
#include "object/object.h"
#include "sample/sample.h"

/* One sample: names from the innermost frame outwards, "a<b<c"; "?" where none is known. */
struct one {
    char path[1024];
    uint32_t pid, tid, cpu;
    uint64_t period, time_ns;
    uint8_t end;
};

/* A thread enters or leaves a CPU. */
struct turn {
    uint32_t tid, cpu;
    bool main, out;
};

struct session {
    AS_VEC(struct one) sample;
    AS_VEC(struct turn) turn;
    size_t maps, comms, forks, exits, throttles, bytes;
    uint64_t cpu_ns;  /* that the target used while it was sampled, by the kernel's account */
    uint64_t fair_ns; /* of these, the CPU time that the target received, by its own account */
    uint64_t dropped;
    struct as_sample_counts counts;
    struct as_sample_choice choice;
    bool truncated;
};

/* False, with the reason told, where sampling is not permitted. */
bool session_has_events(void);
/* Runs argv[0] under the sampler and reads the stream back. `max_b`, `options`: may be 0, NULL. */
void session_run(struct session *out, const struct as_sample_options *options, uint64_t max_b,
                 const char *const *argv);
/* As above, on a process that runs `threads` threads already. The process is killed after `cpu_ms`
 * of CPU time from then on. */
void session_attach(struct session *out, const struct as_sample_options *options,
                    const char *const *argv, int threads, unsigned cpu_ms);
/* A child that waits before it executes the target, its output at the descriptor `output` (-1: as
 * ours); session_release lets it go and closes `go`. */
pid_t session_start(const char *const *argv, int output, int *go);
void session_release(int go);
/* Returns the account of the latest target (account.h), also after its end; session_start begins
 * it. */
const struct target_account *session_account(void);
void session_begin_account(void);
void session_read(struct session *out, const char *path);
void session_fini(struct session *session);
/* A path for a stream, removed at the end of the program. */
const char *session_stream(void);

#endif
