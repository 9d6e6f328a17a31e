/* SPDX-License-Identifier: Apache-2.0 */
/* Opens streams of a made-up trace. The test gives the time of each record. */
#ifndef AS_TEST_MADE_STREAM_H
#define AS_TEST_MADE_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "trace/write.h"

/* Opens the stream of thread `how.tid` of process `how.pid` in `directory`. Sets its path, its name
 * and the given clock; other members of `how` remain. */
static inline void made_stream_open(struct as_trace_writer *writer, const char *directory,
                                    struct as_trace_writing how)
{
    char path[300];
    snprintf(path, sizeof path, "%s/stream.%u.1.%u", directory, how.pid, how.tid);
    how.path = path;
    how.clock = AS_TRACE_GIVEN;
    how.name = "made up";
    assert_int_equal(as_trace_writer_open(writer, &how), 0);
}

#endif
