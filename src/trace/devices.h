/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of devices (OpenCL) become streams of their own when the program has ended: one for each
 * queue, with its commands in times of the host's clock. A queue with overlapping commands, which
 * run out of order, has as many streams as commands at once.
 */
#ifndef AS_TRACE_DEVICES_H
#define AS_TRACE_DEVICES_H

#include <stdint.h>

#include "base/error.h"

struct as_trace_devices {
    uint64_t queues_n, streams_n;
    uint64_t commands_n; /* that were enqueued */
    uint64_t lost_n;     /* without stamps of the device */
    int64_t error_ns;    /* of times of the host for stamps of a device, at most */
};

/* Writes the streams of queues of all processes into a directory of streams; a trace without queues
 * stays as it is. Errors: NOMEM, IO. */
int as_trace_devices_make(const char *directory, struct as_trace_devices *out,
                          struct as_error *err);

/* A clock of a device: stamp x is x + offset_ns + (x - begin_ns) * drift of the host's. */
struct as_device_clock {
    int64_t begin_ns, offset_ns;
    double drift;
    int64_t error_ns;
};
/* A reading: the stamp is at host_ns, give or take width_ns. */
struct as_device_reading {
    int64_t device_ns, host_ns, width_ns;
};

/* Returns the clock that fits all readings: one without drift if there is such a clock, else the
 * line through exact readings of both ends. n > 0. */
struct as_device_clock as_device_clock_of(const struct as_device_reading *reading, size_t n);
int64_t as_device_clock_at(const struct as_device_clock *clock, int64_t device_ns);

#endif
