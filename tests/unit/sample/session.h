/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the room share: running a target under the sampler, and the stream that comes
 * of it as paths of function names.
 */
#ifndef TEST_SAMPLE_SESSION_H
#define TEST_SAMPLE_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <assay/object.h>
#include <assay/sample.h>

#include "base/vec.h"

/* One sample: names from the innermost frame outwards, "a<b<c"; "?" where none is known. */
struct one {
    char path[1024];
    uint32_t pid, tid, cpu;
    uint64_t period, time_ns;
    uint8_t end;
};

struct session {
    AS_VEC(struct one) sample;
    size_t maps, comms, forks, exits, switches, throttles, bytes;
    uint64_t dropped;
    struct assay_sample_counts counts;
    struct assay_sample_choice choice;
    bool truncated;
};

/* Skips the test, with the reason, where sampling is not permitted. */
void session_needs_events(void);
/* Runs argv[0] under the sampler and reads the stream back. `max_b`, `options`: may be 0, NULL. */
void session_run(struct session *out, const struct assay_sample_options *options, uint64_t max_b,
                 const char *const *argv);
/* As above, on a process that runs already; it is killed at the end. */
void session_attach(struct session *out, const struct assay_sample_options *options,
                    const char *const *argv, int ms);
void session_read(struct session *out, const char *path);
void session_fini(struct session *session);
/* A path for a stream, removed at the end of the program. */
const char *session_stream(void);

#endif
