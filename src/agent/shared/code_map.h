/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which original code the clones and stubs of a module stand for: written by the agent before the
 * first of them can run, read by who takes samples. One file a module and time that it is cloned,
 * patchmap.PID.TIME; a head, then pieces by address.
 */
#ifndef AS_AGENT_CODE_MAP_H
#define AS_AGENT_CODE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define AS_CODE_MAP_PREFIX  "patchmap"
#define AS_CODE_MAP_MAGIC   0x50414d4559415353u /* "SSAYEMAP" */
#define AS_CODE_MAP_VERSION 1u

struct as_code_map {
    uint64_t magic; /* written last */
    uint32_t version, pid;
    uint64_t begun_ns;      /* CLOCK_MONOTONIC */
    uint64_t ended_ns;      /* the code is gone from then on; 0: it is there */
    uint64_t start, size_b; /* addresses */
    uint64_t n;             /* pieces */
    uint64_t unused;
};

/* From its place to that of the next. */
struct as_code_piece {
    uint64_t original; /* address in memory; 0: no code */
    uint32_t at;       /* from the map's start */
    uint16_t depth_b;  /* so much more lies on the stack than there */
    uint16_t steps;    /* 1: byte for byte the same code; 0: all of it stands for `original` */
};

_Static_assert(sizeof(struct as_code_map) == 64, "layout of code maps");
_Static_assert(sizeof(struct as_code_piece) == 16, "layout of code maps");
_Static_assert(offsetof(struct as_code_map, begun_ns) == 16, "layout of code maps");
_Static_assert(offsetof(struct as_code_map, n) == 48, "layout of code maps");
_Static_assert(offsetof(struct as_code_piece, at) == 8, "layout of code maps");
_Static_assert(offsetof(struct as_code_piece, steps) == 14, "layout of code maps");

#endif
