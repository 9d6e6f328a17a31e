/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and labels of Paraver traces. The tables are generated from data/trace/paraver.txt. */
#ifndef AS_EXCHANGE_PRV_NAMES_H
#define AS_EXCHANGE_PRV_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct as_prv_label {
    uint32_t type; /* of events; 0: none */
    uint32_t number;
    /* In `doings`, `calls` and `routines` a routine name. A star at its end is any text. */
    const char *label;
};

extern const struct as_prv_label as_prv_states[], as_prv_doings[], as_prv_types[], as_prv_values[],
    as_prv_calls[], as_prv_routines[];
extern const size_t as_prv_states_n, as_prv_doings_n, as_prv_types_n, as_prv_values_n,
    as_prv_calls_n, as_prv_routines_n;

enum as_prv_state {
    AS_PRV_IDLE = 0,
    AS_PRV_RUNNING = 1,
    AS_PRV_SYNCHRONISING = 5,
    AS_PRV_FORK_JOIN = 7,
    AS_PRV_BLOCKED = 9,
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
    /* Extension of assay: at the start of the operation and at its end. */
    AS_PRV_GROUP_REQUEST = 50109001,
    /* A call that stands for several: their number, and the time in them. */
    AS_PRV_IPROBE_N = 50000300,
    AS_PRV_GET_STATUS_N = 50000302,
    AS_PRV_TEST_N = 50000304,
    AS_PRV_IMPROBE_N = 50000306,
    AS_PRV_SUM_N = 50109002,       /* extension: of other routines */
    AS_PRV_SUM_LONGEST = 50109004, /* extension: of any routine, and the bytes */
    AS_PRV_SUM_SENT = 50109005,
    AS_PRV_SUM_RECEIVED = 50109006,
    AS_PRV_RMA_SIZE = 50001000,
    AS_PRV_RMA_TARGET = 50001001,
    AS_PRV_OMP_CALL = 60000000,
    AS_PRV_PARALLEL = 60000001,
    AS_PRV_WORK = 60000002,
    AS_PRV_OMP_BARRIER = 60000005,
    AS_PRV_CRITICAL = 60000006,
    AS_PRV_OMP_LOCK = 60000009,
    AS_PRV_OMP_FUNCTION = 60000018,
    AS_PRV_USER = 60000019,
    AS_PRV_TASKWAIT = 60000022,
    AS_PRV_TASKGROUP = 60000025,
    AS_PRV_TASK = 60000028,
    AS_PRV_TASKLOOP = 60000029,
    AS_PRV_LOCK_ADDRESS = 60000032,
    AS_PRV_THREADS = 61000000,
    AS_PRV_THREADS_LAST = 61000013,
    AS_PRV_OPENCL = 64000000,
    AS_PRV_OPENCL_SIZE = 64099999,
    AS_PRV_OPENCL_DEVICE = 64100000, /* on a queue */
    AS_PRV_OPENCL_KERNEL = 64200000,
    AS_PRV_FILES = 40000004,
    AS_PRV_FILE_NUMBER = 40000010,
    AS_PRV_FILE_SIZE = 40000011,
    AS_PRV_TRACING = 40000012,
    AS_PRV_PROCESSES = 40000027,
    AS_PRV_MEMORY = 40000040,
    AS_PRV_MEMORY_SIZE = 40000041,
    AS_PRV_MEMORY_IN = 40000042,
    AS_PRV_MEMORY_OUT = 40000043,
    AS_PRV_HARDWARE = 42000000,        /* of a CPU: count since the last value */
    AS_PRV_HARDWARE_OTHERS = 42001000, /* counters without a public number */
    AS_PRV_COUNTERS = 44000000,        /* first counter */
    /* Plus the level: 1 is the position of the thread, then its callers. */
    AS_PRV_SAMPLED = 30000000,
    AS_PRV_SAMPLED_LINE = 30000100,
    AS_PRV_CALLER = 70000000, /* of calls, plus the level from 1 */
    AS_PRV_CALLER_LINE = 80000000
};

/* Values of some event types. */
enum as_prv_value {
    AS_PRV_REGION_OPEN = 3,
    AS_PRV_WORK_LOOP = 4,
    AS_PRV_WORK_SECTIONS = 5,
    AS_PRV_WORK_SINGLE = 6,
    AS_PRV_OPENCL_RUNS_KERNEL = 15,
    AS_PRV_UNLOCKED = 0,
    AS_PRV_LOCKING = 3,
    AS_PRV_LOCKED = 6,
    AS_PRV_TASKGROUP_END = 2
};

/* First value of routines without a number in public tools. */
#define AS_PRV_OWN_ROUTINES 1000u

#define AS_PRV_LEVELS_N  8u  /* levels of samples */
#define AS_PRV_CALLERS_N 16u /* levels of calls */

/* Special values of functions and lines. */
#define AS_PRV_UNRESOLVED  1u
#define AS_PRV_FIRST_PLACE 3u

/* Values of user events are multiplied by ten to this power. */
#define AS_PRV_PRECISION 6

#endif
