/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where ranks of a job on several machines meet to compare their clocks
 * (agent/tracer/rendezvous.h): a directory beside the experiments of its ranks, named after the
 * job.
 */
#ifndef AS_PROFILE_TRACE_RENDEZVOUS_H
#define AS_PROFILE_TRACE_RENDEZVOUS_H

#include <limits.h>
#include <stdint.h>

struct as_tracer_part;

struct as_trace_rendezvous {
    uint64_t job;
    uint32_t rank;
    char link[PATH_MAX];      /* in the agent's directory; "": there is none */
    char directory[PATH_MAX]; /* "": nobody meets */
};

/* Whether this process is a rank of such a job: then the part says so. */
void as_trace_rendezvous_prepare(struct as_trace_rendezvous *rendezvous,
                                 struct as_tracer_part *part);
/* The directory of the run is known. Where they cannot meet, clocks are not compared. */
void as_trace_rendezvous_start(struct as_trace_rendezvous *rendezvous, struct as_tracer_part *part,
                               const char *agent_directory, const char *run_directory);
/* What this rank left there goes, and all with the last of them. */
void as_trace_rendezvous_end(struct as_trace_rendezvous *rendezvous);

#endif
