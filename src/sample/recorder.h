/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the recorder: modules (files with code), address spaces (mappings of each process), the
 * unwinder over both, and the writer of the stream.
 */
#ifndef AS_SAMPLE_RECORDER_H
#define AS_SAMPLE_RECORDER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "container/container.h"
#include "object/object.h"
#include "sample/code_maps.h"
#include "sample/sample.h"

/* ---- Modules ---- */

struct as_module {
    struct as_stream_module fact;
    /* Opened for the first stack through it; NULL: not opened or not available. */
    struct as_object *object;
    bool tried;
    bool sampled;  /* some sample has it on its stack */
    bool nameless; /* the path did not lead to the mapped file when it was first mapped */
    int fd;        /* descriptor of the mapped file; -1: not open */
    uint32_t pid;  /* a process that maps the file */
};

struct as_modules {
    AS_VEC(struct as_module) module; /* 0: unknown, 1: the kernel, 2: generated code */
    struct as_map_view by_key;
    struct as_arena arena;
    const char *keep; /* directory for copies of files without a path, or NULL */
    bool imported;    /* recorded earlier: /proc does not describe these processes */
    int64_t clock_offset_ns, written_ns; /* as in struct as_sample_choice */
    size_t held_n;                       /* number of modules with an open descriptor */
};
#define AS_MODULE_ID_UNKNOWN 0u
#define AS_MODULE_ID_KERNEL  1u
#define AS_MODULE_ID_ANON    2u
/* Max number of module files that are open at the same time. */
#define AS_STOPPED_MAX 256u

struct as_writer;

/* Adds the modules 0 to 2. Call as_modules_fini even after an error. Returns 0 or NOMEM. */
int as_modules_init(struct as_modules *modules);
void as_modules_fini(struct as_modules *modules);
/* Finds or adds the module of a MAP record. Returns 0 or NOMEM. */
int as_modules_of(struct as_modules *modules, const struct as_sample_record *map, uint32_t *out);
/* Finds or adds the module of a Python file. Returns 0 or NOMEM. */
int as_modules_python(struct as_modules *modules, const char *path, uint32_t *out);
/* Returns the file of a module and opens it if necessary; NULL if it cannot be opened. */
struct as_object *as_module_object(struct as_modules *modules, uint32_t index);

/* ---- Files that were mapped ---- */

/*
 * Opens the file of a mapping of a running process and sets `*out` to its identity. Returns a
 * descriptor, or -1 if the file is not available. Sets `*nameless` if its path leads to another
 * file.
 */
int as_mapped_open(const struct as_sample_record *map, struct as_file_identity *out,
                   bool *nameless);
/* As as_mapped_open for a mapping that was recorded earlier, by its path alone. `*out` is the
 * recorded identity. A build-id that cannot be right is removed from it. */
int as_mapped_recorded(const struct as_modules *modules, const struct as_sample_record *map,
                       struct as_file_identity *out);
/* Returns true if `fd` is the mapped file. */
bool as_mapped_is(const struct as_sample_record *map, int fd);
/* Takes `fd` as the file of a module, or closes it if too many are open. */
void as_module_file_take(struct as_modules *modules, uint32_t index, int fd);
/* Copies the files of sampled modules that their paths do not lead to. Copies the files marked
 * `nameless`. With `all` it also checks the path of every open file. Files that cannot be copied
 * are skipped. Returns 0 or the error of the writer. */
int as_module_file_copy(struct as_modules *modules, bool all, struct as_writer *writer);

/* ---- Address spaces ---- */

struct as_mapping {
    uint64_t start, end;
    uint64_t offset; /* offset of `start` in the module */
    uint32_t module;
};

struct as_space {
    uint32_t pid;
    /* Changes with each mapping; cached results of other generations are invalid. */
    uint32_t generation;
    uint32_t threads;              /* running threads; 0: free slot */
    AS_VEC(struct as_mapping) map; /* sorted by start, disjoint */
};

struct as_spaces {
    AS_VEC(struct as_space) space;
    AS_VEC(uint32_t) unused;
    struct as_map_u64 by_pid;
    uint32_t generations;
};

int as_spaces_init(struct as_spaces *spaces);
void as_spaces_fini(struct as_spaces *spaces);
/* Finds or adds the address space of `pid`. Returns 0 or NOMEM. */
int as_space_of(struct as_spaces *spaces, uint32_t pid, uint32_t *out);
/* Adds a mapping; it replaces the parts of earlier mappings that it covers. Returns 0 or NOMEM. */
int as_space_map(struct as_spaces *spaces, uint32_t pid, struct as_mapping mapping);
/* Adds a thread to a space, or makes the space of a child process as a copy of its parent. Returns
 * 0 or NOMEM. */
int as_space_fork(struct as_spaces *spaces, const struct as_sample_record *fork);
/* Removes a thread from a space, and the space with its last thread. */
void as_space_exit(struct as_spaces *spaces, const struct as_sample_record *exit);
/* Removes the mappings of a process that executes another program. */
void as_space_exec(struct as_spaces *spaces, uint32_t pid);
/* Returns the mapping at an address, valid until the space changes, or NULL. */
const struct as_mapping *as_space_at(const struct as_space *space, uint64_t address);

/* ---- Unwinding ---- */

#define AS_DEPTH_MOST 512

struct as_frame {
    uint32_t module;
    uint64_t address;
};

struct as_frames {
    struct as_frame frame[AS_DEPTH_MOST]; /* innermost first */
    uint64_t sp[AS_DEPTH_MOST];           /* stack pointer of each frame of as_unwind */
    unsigned n;
    uint8_t end; /* as_stack_end */
    /* Bytes from the start of the stack copy that unwinding reached. */
    uint64_t reach_b;
};

struct as_unwinder;

int as_unwinder_new(struct as_unwinder **out);
void as_unwinder_free(struct as_unwinder **unwinder);
/* Returns the modules of a recorder, borrowed. */
struct as_modules *as_recorder_modules(struct as_recorder *recorder);
/* Makes the mapping of a MAP record. Returns 0 or NOMEM. */
int as_mapping_of(struct as_modules *modules, const struct as_sample_record *map,
                  struct as_mapping *out);

/* The code that as_unwind needs. */
struct as_places {
    struct as_modules *modules;
    const struct as_spaces *spaces;
    uint32_t space;                  /* index of the address space of the sample */
    const struct as_code_maps *maps; /* maps of moved code; NULL: none */
};
/* Appends the user frames of a sample with registers (and stack) to `out`. */
void as_unwind(struct as_unwinder *unwinder, const struct as_places *places,
               const struct as_sample_record *sample, struct as_frames *out);
/* Returns the frame of a user address. */
struct as_frame as_frame_of(const struct as_space *space, uint64_t address);
/* As as_frame_of for an address of a sample. An address in a clone becomes the original address. */
struct as_frame as_frame_moved(const struct as_code_maps *maps,
                               const struct as_sample_record *sample, const struct as_space *space,
                               uint64_t address);
void as_frames_push(struct as_frames *frames, struct as_frame frame);

/* ---- Stream ---- */

/* Creates the stream file `path`. It must not exist. Errors: IO, NOMEM. */
int as_writer_new(const char *path, struct as_writer **out, struct as_error *err);
/* Flushes the stream, ends the file and frees the writer, even after an error. Errors: IO. */
int as_writer_finish(struct as_writer **writer, struct as_error *err);
void as_writer_free(struct as_writer **writer); /* loses data that was not flushed */
/* Writes all pending records, so that a reader can see them. Errors: IO. */
int as_writer_flush(struct as_writer *writer, struct as_error *err);
/* Returns the bytes in the file and in memory. */
uint64_t as_writer_bytes(const struct as_writer *writer);
/* Write definitions and records. They return 0, IO or NOMEM. Texts are cut to 4096 bytes. */
int as_writer_info(struct as_writer *writer, const char *name, const char *value);
int as_writer_process(struct as_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns,
                      const char *name, const char *value);
int as_writer_module(struct as_writer *writer, const struct as_stream_module *module);
int as_writer_kept(struct as_writer *writer, uint32_t module, const char *name);
/* Finds or writes a node and sets `*out` to its index. Returns 0 or NOMEM. */
int as_writer_node(struct as_writer *writer, uint32_t parent, struct as_frame frame, uint32_t *out);
int as_writer_sample(struct as_writer *writer, const struct as_sample_record *sample, uint32_t node,
                     uint8_t end);
int as_writer_map(struct as_writer *writer, const struct as_sample_record *map, uint32_t module);
/* Writes a COMM, FORK, EXIT, LOST, SWITCH or THROTTLE record. */
int as_writer_event(struct as_writer *writer, const struct as_sample_record *record);
int as_writer_end(struct as_writer *writer, const struct as_sample_counts *counts,
                  uint64_t dropped);
/* Restarts the tree of nodes if there are too many. Call it between samples. */
int as_writer_trim(struct as_writer *writer);

/* Unpacks blocks of version 3 in the order in which they were packed; see stream_pack.c. */
struct as_unpacker;
int as_unpacker_new(struct as_unpacker **out); /* returns 0 or NOMEM */
void as_unpacker_free(struct as_unpacker **unpacker);
/* Unpacks a block to `to` (AS_BLOCK_B bytes). Returns false if it is damaged or too large. */
bool as_unpack(struct as_unpacker *unpacker, const uint8_t *bytes, size_t n, uint8_t *to,
               size_t *to_n);

/* Record tags. A sample has its own bit and flags. */
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
    AS_TAG_SAMPLE = 0x80, /* plus flags */
};
enum {
    AS_SAME_THREAD = 1, /* since version 4: no other thread has a record in between */
    AS_SAME_CPU = 2,
    AS_SAME_PERIOD = 4,
    AS_STACK_END_SHIFT = 3,
    AS_WAITS = 0x20
};

/*
 * Limits of plausible values: larger values mean damaged or malicious bytes. 2^62 ns are 146 years
 * on any clock. A sample stands for at most 2^48 ns (3 days) or events, so that sums fit the
 * integers of the database.
 */
#define AS_TIME_MOST_NS ((UINT64_C(1) << 62) - 1)
#define AS_PERIOD_MOST  (UINT64_C(1) << 48)

#define AS_STREAM_MAGIC   "ASSAYSMP"
#define AS_STREAM_VERSION 4u
/* First version with packed blocks, in which repeated values are written once. */
#define AS_STREAM_PACKED 3u
/* First version that is a container of blocks of threads. */
#define AS_STREAM_BLOCKS 4u
/* Max payload of a block in bytes. No record crosses the end of a block. */
#define AS_BLOCK_B AS_CONTAINER_BLOCK_B
/* Flag in the length of a version 3 block: the payload is not packed, and later blocks do not refer
 * to it. */
#define AS_BLOCK_PLAIN (UINT32_C(1) << 31)
/* Max size of a packed block in bytes: incompressible bytes grow a little. */
#define AS_PACKED_B (AS_BLOCK_B + (1u << 10))

#endif
