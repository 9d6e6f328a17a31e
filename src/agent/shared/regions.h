/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent and its reader share of regions, events and data that the program names
 * (<assay/assay.h>): one file for each process and execution. Rows are claimed by compare-and-swap
 * and then written by their thread alone; all counts are exact at any time, so that nothing is lost
 * when the program is killed. Neither side trusts the other's numbers.
 */
#ifndef AS_AGENT_REGIONS_H
#define AS_AGENT_REGIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/shared/control.h"

#define AS_REGIONS_CLIENT  "regions"
#define AS_REGIONS_PREFIX  "regions"           /* regions.PID.TIME */
#define AS_REGIONS_MAGIC   0x4e4f494745525341u /* "ASREGION" */
#define AS_REGIONS_VERSION 1u
#define AS_REGIONS_NAME_B  64u /* with its zero; longer ones are cut */
#define AS_REGIONS_NAMES_N 512u
#define AS_REGIONS_ROWS_N  16384u

enum as_region_kind { AS_REGION_TIMED = 1, AS_REGION_EVENT, AS_REGION_DATUM };

struct as_region_name {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 there */
    uint32_t kind;          /* as_region_kind */
    char text[AS_REGIONS_NAME_B];
};

/* Of a name in a thread. Of a region: the times that it was begun, and how long the outermost ones
 * took that have ended. Of an event: how often, and the sum of its values. Of a datum: the latest
 * value. */
struct as_region_row {
    _Atomic uint32_t name; /* and 1; 0: free */
    uint32_t tid;
    uint64_t n, ns;
    uint64_t begun_ns;  /* of the outermost that is open; CLOCK_MONOTONIC */
    uint32_t depth;     /* that are open */
    uint32_t unmatched; /* ends without a beginning */
    double sum, least, most;
};

struct as_regions {
    _Atomic uint64_t magic; /* written last */
    uint32_t version, pid;
    _Atomic uint64_t lost; /* calls without room for their name or thread */
    _Atomic uint32_t rows; /* that were claimed, ever */
    uint32_t unused[9];
    struct as_region_name name[AS_REGIONS_NAMES_N];
    struct as_region_row row[AS_REGIONS_ROWS_N];
};

_Static_assert(sizeof(struct as_region_name) == 72 && sizeof(struct as_region_row) == 64 &&
                   sizeof(struct as_regions) ==
                       64 + AS_REGIONS_NAMES_N * 72 + AS_REGIONS_ROWS_N * 64,
               "layout of files of regions");
_Static_assert(offsetof(struct as_regions, rows) == 24, "layout of files of regions");
_Static_assert(offsetof(struct as_regions, name) == 64, "layout of files of regions");
_Static_assert(offsetof(struct as_region_row, n) == 8, "layout of files of regions");
_Static_assert(offsetof(struct as_region_row, sum) == 40, "layout of files of regions");
_Static_assert(offsetof(struct as_region_name, text) == 8, "layout of files of regions");

#endif
