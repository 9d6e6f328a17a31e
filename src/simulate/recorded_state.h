/* SPDX-License-Identifier: Apache-2.0 */
/* State of reading the trace of a run, for the files of recorded.h. */
#ifndef AS_SIMULATE_RECORDED_STATE_H
#define AS_SIMULATE_RECORDED_STATE_H

#include <stddef.h>

#include "base/id_table.h"
#include "base/index.h"
#include "simulate/recorded.h"

#define AS_RECORDED_NO_PLACE UINT32_MAX

/* ---- What is known while it is read ---------------------------------------------------------- */

struct recorded_frame {
    int64_t name;
    uint32_t speed_name; /* 1 + place in the names; 0: none */
    uint32_t region;     /* its own: 1 + place in the regions; 0: none */
    bool is_mpi;
};

struct recorded_event {
    uint8_t kind;
    int64_t field[6];
};

struct recorded_thread {
    const struct as_trace_process *process;
    struct as_trace_stream *stream;
    int64_t since_ns; /* computing since then, where it is outside MPI */
    int64_t temporary_n;
    uint32_t mpi_depth;
    uint32_t speed_name;
    const char *routine; /* of MPI, the outermost; the trace's */
    bool has_begun, is_over, is_off, is_init, is_collective;
    AS_VEC(struct recorded_frame) frame;
    AS_VEC(struct recorded_event) said;
    AS_VEC(struct as_action) queue;
    size_t queue_at;
    uint64_t queue_first; /* number of the action at queue.at[0] */
    uint64_t unresolved_n;
    int64_t events_n; /* read until now */
};

/* Persistent operations, and receives without a known partner. */
struct recorded_request {
    struct as_numbered id;
    bool is_persistent;
    uint64_t unresolved; /* 1 + number of the action; 0: none */
    struct as_action action;
};
_Static_assert(offsetof(struct recorded_request, id) == 0,
               "a row of a numbered table begins with its id");

struct recorded_comm {
    uint64_t global;
    uint32_t place;
};

struct recorded_reader {
    const struct as_trace *trace;
    struct as_recorded *recorded;
    AS_VEC(struct recorded_thread) thread;
    AS_VEC(struct recorded_comm) comm;
    struct as_index comm_index;
    struct as_numbered_table requests;
    const char **name; /* borrowed texts */
    size_t name_n;
    const struct as_recorded *marked_since; /* its begins; NULL: no marks */
    const char *const *region;              /* borrowed; have marks */
    size_t region_n;
};

/* recorded_comms.c: the place of a communicator in the program, by its global number; NO_PLACE:
 * unknown. Fills the communicators of the program; 0 or AS_ERR_NOMEM. */
uint32_t as_recorded_place(const struct recorded_reader *reader, uint64_t global);
int as_recorded_add_comms(struct recorded_reader *reader, struct as_simulated_program *program);
/* recorded.c: as as_simulated_program.read. */
int as_recorded_read(void *context, uint32_t rank, struct as_action *out, size_t capacity,
                     size_t *n, struct as_error *err);

#endif
