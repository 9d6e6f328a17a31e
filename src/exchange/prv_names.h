/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and labels of Paraver traces; made from data/trace/paraver.txt. */
#ifndef AS_EXCHANGE_PRV_NAMES_H
#define AS_EXCHANGE_PRV_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct as_prv_label {
    uint32_t type; /* of events; 0 where there is none */
    uint32_t number;
    const char
        *label; /* of `doings` and `routines` a routine's name; a star at its end: any text */
};

extern const struct as_prv_label as_prv_states[], as_prv_doings[], as_prv_types[], as_prv_values[],
    as_prv_routines[];
extern const size_t as_prv_states_n, as_prv_doings_n, as_prv_types_n, as_prv_values_n,
    as_prv_routines_n;

enum as_prv_state {
    AS_PRV_IDLE = 0,
    AS_PRV_RUNNING = 1,
    AS_PRV_SYNCHRONISING = 5,
    AS_PRV_FORK_JOIN = 7,
    AS_PRV_IO = 12,
    AS_PRV_GROUP = 13,
    AS_PRV_OTHERS = 15,
    AS_PRV_REMOTE = 20
};

enum as_prv_type {
    AS_PRV_MPI_POINT = 50000001,
    AS_PRV_MPI_GROUP = 50000002,
    AS_PRV_MPI_OTHER = 50000003,
    AS_PRV_MPI_RMA = 50000004,
    AS_PRV_MPI_IO = 50000005,
    AS_PRV_GROUP_SENT = 50100001,
    AS_PRV_GROUP_RECEIVED = 50100002,
    AS_PRV_GROUP_ROOT = 50100003,
    AS_PRV_GROUP_COMM = 50100004,
    AS_PRV_PARALLEL = 60000001,
    AS_PRV_OMP_BARRIER = 60000005,
    AS_PRV_USER = 60000019,
    AS_PRV_THREADS = 61000000,
    AS_PRV_FILES = 40000004
};

#endif
