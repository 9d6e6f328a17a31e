/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the recorder: modules (files with code), address spaces (what is mapped where in each
 * process), the unwinder over both, and the writer of the stream.
 */
#ifndef AS_SAMPLE_RECORDER_H
#define AS_SAMPLE_RECORDER_H

#include <assay/object.h>
#include <assay/sample.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "container/container.h"
#include "sample/code_maps.h"

/* ---- Modules ---- */

struct as_module {
    struct assay_stream_module fact;
    struct assay_object *object; /* opened at the first stack through it; NULL: cannot be had */
    bool tried;
    bool sampled;  /* it is in the path of a sample */
    bool nameless; /* its path did not lead to it when it was first seen */
    int fd;        /* of the file that was mapped; -1: not held */
    uint32_t pid;  /* a process that maps it */
};

struct as_modules {
    AS_VEC(struct as_module) module; /* 0: nothing known, 1: the kernel, 2: generated code */
    struct as_map_view by_key;
    struct as_arena arena;
    const char *keep; /* directory for copies of nameless files, or NULL */
    bool imported;    /* processes are not those of now: /proc says nothing on them */
    int64_t clock_offset_ns, written_ns; /* as in the choice */
    size_t held_n;                       /* modules with a descriptor */
};
#define AS_MODULE_UNKNOWN 0u
#define AS_MODULE_KERNEL  1u
#define AS_MODULE_ANON    2u
/* Files that are held open at the same time, at most. */
#define AS_HELD_MOST 256u

struct as_writer;

int as_modules_init(struct as_modules *modules);
void as_modules_fini(struct as_modules *modules);
/* The module of a MAP record, new or known. 0 or NOMEM. */
int as_modules_of(struct as_modules *modules, const struct assay_sample_record *map, uint32_t *out);
/* The module of a file of Python, new or known. 0 or NOMEM. */
int as_modules_python(struct as_modules *modules, const char *path, uint32_t *out);
/* Its file, opened now if it was not; NULL when it cannot be. */
struct assay_object *as_module_object(struct as_modules *modules, uint32_t index);

/* ---- Files that were mapped ---- */

/*
 * A descriptor of the file of a mapping of a process of now, and its identity; -1 when it is not to
 * be had. `nameless`: its path does not lead to it.
 */
int as_mapped_open(const struct assay_sample_record *map, struct assay_file_identity *out,
                   bool *nameless);
/* So too of a mapping that was recorded before: the path is all that there is. `out` comes as the
 * recording has it and loses a build-id that cannot be right. */
int as_mapped_recorded(const struct as_modules *modules, const struct assay_sample_record *map,
                       struct assay_file_identity *out);
/* Whether `fd` holds what is mapped there. */
bool as_mapped_is(const struct assay_sample_record *map, int fd);
/* Holds `fd`, or closes it when there are too many. */
void as_module_file_take(struct as_modules *modules, uint32_t index, int fd);
/* Copies files with samples whose path does not lead to them: those that are `nameless`, or all
 * that are held. What cannot be copied is left out. 0 or the writer's error. */
int as_module_file_copy(struct as_modules *modules, bool all, struct as_writer *writer);

/* ---- Address spaces ---- */

struct as_mapping {
    uint64_t start, end;
    uint64_t offset; /* in the module, of start */
    uint32_t module;
};

struct as_space {
    uint32_t pid;
    uint32_t generation;           /* changes with every map: what was cached is void */
    uint32_t threads;              /* 0: the slot is free */
    AS_VEC(struct as_mapping) map; /* by start, apart from each other */
};

struct as_spaces {
    AS_VEC(struct as_space) space;
    AS_VEC(uint32_t) unused;
    struct as_map_u64 by_pid;
    uint32_t generations;
};

int as_spaces_init(struct as_spaces *spaces);
void as_spaces_fini(struct as_spaces *spaces);
/* Index of the space of `pid`, made when there is none. 0 or NOMEM. */
int as_space_of(struct as_spaces *spaces, uint32_t pid, uint32_t *out);
int as_space_map(struct as_spaces *spaces, uint32_t pid, struct as_mapping mapping);
int as_space_fork(struct as_spaces *spaces, const struct assay_sample_record *fork);
void as_space_exit(struct as_spaces *spaces, const struct assay_sample_record *exit);
void as_space_exec(struct as_spaces *spaces, uint32_t pid);
const struct as_mapping *as_space_at(const struct as_space *space, uint64_t address);

/* ---- Unwinding ---- */

#define AS_DEPTH_MOST 512

struct as_frame {
    uint32_t module;
    uint64_t address;
};

struct as_frames {
    struct as_frame frame[AS_DEPTH_MOST]; /* innermost first */
    uint64_t sp[AS_DEPTH_MOST];           /* of frames by as_unwind: the stack pointer there */
    unsigned n;
    uint8_t end;      /* assay_stack_end */
    uint64_t reach_b; /* of the copy of the stack, from its beginning */
};

struct as_unwinder;

int as_unwinder_new(struct as_unwinder **out);
void as_unwinder_free(struct as_unwinder **unwinder);
/* Of what it recorded; borrowed. */
struct as_modules *as_recorder_modules(struct assay_recorder *recorder);
/* The mapping that a MAP record tells of. 0 or NOMEM. */
int as_mapping_of(struct as_modules *modules, const struct assay_sample_record *map,
                  struct as_mapping *out);

/* Appends the user frames of a sample with registers (and stack) to `out`. */
/* Where the code lies that is unwound. */
struct as_places {
    struct as_modules *modules;
    const struct as_spaces *spaces;
    uint32_t space;                  /* of the sample's process */
    const struct as_code_maps *maps; /* of code that was moved; NULL: none is known */
};
void as_unwind(struct as_unwinder *unwinder, const struct as_places *places,
               const struct assay_sample_record *sample, struct as_frames *out);
/* The frame of a user address. */
struct as_frame as_frame_of(const struct as_space *space, uint64_t address);
/* The same, of an address of a sample, that in a clone being one of the original. */
struct as_frame as_frame_moved(const struct as_code_maps *maps,
                               const struct assay_sample_record *sample,
                               const struct as_space *space, uint64_t address);
void as_frames_push(struct as_frames *frames, struct as_frame frame);

/* ---- Stream ---- */

int as_writer_new(const char *path, struct as_writer **out, struct assay_error *err);
int as_writer_finish(struct as_writer **writer, struct assay_error *err);
void as_writer_free(struct as_writer **writer); /* what was not flushed is lost */
int as_writer_flush(struct as_writer *writer, struct assay_error *err);
uint64_t as_writer_bytes(const struct as_writer *writer);
int as_writer_info(struct as_writer *writer, const char *name, const char *value);
int as_writer_process(struct as_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns,
                      const char *name, const char *value);
int as_writer_module(struct as_writer *writer, const struct assay_stream_module *module);
int as_writer_kept(struct as_writer *writer, uint32_t module, const char *name);
/* Index of the node, written when it is new. 0 or NOMEM. */
int as_writer_node(struct as_writer *writer, uint32_t parent, struct as_frame frame, uint32_t *out);
int as_writer_sample(struct as_writer *writer, const struct assay_sample_record *sample,
                     uint32_t node, uint8_t end);
int as_writer_map(struct as_writer *writer, const struct assay_sample_record *map, uint32_t module);
/* COMM, FORK, EXIT, LOST, SWITCH, THROTTLE. */
int as_writer_event(struct as_writer *writer, const struct assay_sample_record *record);
int as_writer_end(struct as_writer *writer, const struct assay_sample_counts *counts,
                  uint64_t dropped);
/* Call between samples: starts the nodes anew when there are too many. */
int as_writer_trim(struct as_writer *writer);

/* Blocks of version 3, packed (stream_pack.c): unpacked in the order in which they were packed. */
struct as_unpacker;
int as_unpacker_new(struct as_unpacker **out); /* 0 or NOMEM */
void as_unpacker_free(struct as_unpacker **unpacker);
/* Unpacks to `to` (AS_BLOCK_B); false: damaged, or more than a block. */
bool as_unpack(struct as_unpacker *unpacker, const uint8_t *bytes, size_t n, uint8_t *to,
               size_t *to_n);

/* Tags of records; a sample has its own bit and flags. */
enum as_tag {
    AS_TAG_INFO = 1,
    AS_TAG_MODULE,
    AS_TAG_THREAD,
    AS_TAG_NODE,
    AS_TAG_RESET,
    AS_TAG_MAP,
    AS_TAG_COMM,
    AS_TAG_EXEC,
    AS_TAG_FORK,
    AS_TAG_EXIT,
    AS_TAG_LOST,
    AS_TAG_SWITCH_IN,
    AS_TAG_SWITCH_OUT,
    AS_TAG_PREEMPT,
    AS_TAG_THROTTLE,
    AS_TAG_UNTHROTTLE,
    AS_TAG_END,
    AS_TAG_PROCESS,
    AS_TAG_KEPT,
    AS_TAG_SAMPLE = 0x80, /* + flags */
};
enum {
    AS_SAME_THREAD = 1, /* from version 4 on: no other thread had a record in between */
    AS_SAME_CPU = 2,
    AS_SAME_PERIOD = 4,
    AS_STACK_END_SHIFT = 3,
    AS_WAITS = 0x20
};

/*
 * What is more than this was never measured: bytes are damaged, or made to harm. 2^62 ns are 146
 * years, by any clock; a sample stands for 2^48 ns (3 days) or events at most, so that sums of them
 * stay numbers that the database holds.
 */
#define AS_TIME_MOST_NS ((UINT64_C(1) << 62) - 1)
#define AS_PERIOD_MOST  (UINT64_C(1) << 48)

#define AS_STREAM_MAGIC   "ASSAYSMP"
#define AS_STREAM_VERSION 4u
/* From this version on blocks are packed, and what samples have in common is written once. */
#define AS_STREAM_PACKED 3u
/* And from this one on a stream is a container of blocks of threads. */
#define AS_STREAM_BLOCKS 4u
/* Payload of a block, at most: a record never crosses its end. */
#define AS_BLOCK_B AS_CONTAINER_BLOCK_B
/* In the length of a block of version 3: its payload is not packed, and not part of what others
 * refer to. */
#define AS_BLOCK_PLAIN (UINT32_C(1) << 31)
/* The same packed: bytes that cannot be made fewer become a little more. */
#define AS_PACKED_B (AS_BLOCK_B + (1u << 10))

#endif
