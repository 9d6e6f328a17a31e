/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the attribution of memory operands: a loop with the registers of its samples. They give
 * strides (strides.c) and addresses (addresses.c). These give objects (objects.c), the size of an
 * entry (entries.c) and false sharing (sharing.c). accesses.c writes the rows.
 */
#ifndef AS_PROFILE_ACCESSES_H
#define AS_PROFILE_ACCESSES_H

#include "code/bases.h"

#include "profile/attribute.h"

#define AS_STRIDE_SHARE_SURE 0.9 /* of the samples, from which on a stride is the loop's */

/* One instruction with samples, and the loop that it is in. */
struct as_register_site {
    int64_t loop_id;
    uint32_t loop;    /* of the program */
    uint64_t address; /* in the program */
    const struct as_tally_registers *registers;
};

struct as_seen_stride {
    int64_t stride_b, shortest_b; /* of most samples; of any */
    double share;                 /* of the samples that have stride_b; NAN: the code says it */
    double known;                 /* share of the samples with a known stride */
};

enum as_reuse_kind { AS_REUSE_NONE, AS_REUSE_LINE, AS_REUSE_DATA };

/* The part of a walk that an outer loop touches again. */
struct as_outer_reuse {
    enum as_reuse_kind kind; /* NONE: none is known */
    uint32_t loop;           /* the outer loop, in the program */
    double between_b;        /* bytes of lines that are touched before that; 0: not known */
};

/* A loop of a run. */
struct as_operand_loop {
    struct as_catalogue_module *module;
    const struct as_register_site *site;
    size_t site_n;
    uint64_t sample_n;
    struct as_streams streams;
    struct as_seen_stride *seen;  /* by stream */
    struct as_line_use *use;      /* by stream: of its array */
    struct as_line_use all_use;   /* of all arrays */
    int64_t *object_id;           /* by stream: most of its addresses are there; 0: not known */
    int64_t *offset_b;            /* by stream: of an address there, in it; -1: not known */
    struct as_outer_reuse *reuse; /* by stream */
};

/* True for an operand that moves by the same step in each iteration, off the stack. */
static inline bool as_stream_walks(const struct as_memory_stream *stream)
{
    return !stream->stack && stream->stride_b &&
           (stream->stride == AS_STRIDE_UNIT || stream->stride == AS_STRIDE_CONSTANT);
}

/* Sets `seen`, and gives the streams the strides that were seen; of several the shortest, which
 * uses most of each line. */
void as_strides_see(struct as_operand_loop *loop);

/* The address of a stream in a sample at `at`; false: registers of the address may have changed. */
bool as_stream_address(const struct as_operand_loop *loop, const struct as_memory_stream *stream,
                       uint64_t at, const struct as_tally_draw *draw, uint64_t *out);

/* The bytes [low, high) that an operand touches in a sample. */
struct as_sampled_address {
    uint32_t process, tid, stream;
    uint64_t low, high, time_ns;
    double weight; /* samples that it stands for */
    bool beside;   /* it may be that of an iteration before or after */
};

typedef AS_VEC(struct as_sampled_address) as_address_list;

/* All such of a loop but those on the stack, by stream. A stream that walks and has none gets those
 * of all samples of the loop. Together they weigh as one sample. 0 or NOMEM. */
int as_addresses_of(const struct as_operand_loop *loop, as_address_list *out, struct as_error *err);

/* The share of the accesses of a stream of vectors that cross a cache line; NAN: unknown. */
double as_split_share(const struct as_operand_loop *loop, uint32_t stream,
                      const as_address_list *address);

/* ---- Objects --------------------------------------------------------------------------------- */

/* The object of an address. */
struct as_object_hit {
    int64_t object_id;
    uint64_t start, end;                /* in the memory of its process */
    uint64_t data;                      /* where its first element is; 0: not known */
    const struct as_tally_block *block; /* NULL: none that was recorded */
    int8_t huge_pct;                    /* of its memory in huge pages; -1: not known */
};

/* Addresses of one operand in one object. */
struct as_touched {
    struct as_object_hit object;
    uint32_t process, stream;
    uint64_t low, high; /* [low, high) */
    uint64_t n;
    double weight; /* samples that these addresses stand for */
};

typedef AS_VEC(struct as_touched) as_touched_list;

struct as_objects;

/* Objects of the run; sorts its ranges. Errors: NOMEM. */
int as_objects_new(struct as_attribution *all, struct as_objects **out, struct as_error *err);
void as_objects_free(struct as_objects **objects);

/* The objects at these addresses of a loop, sorted by object, process and place; sets object_id
 * and offset_b of the loop. Errors: NOMEM, those of the experiment. */
int as_objects_touched(struct as_objects *objects, struct as_operand_loop *loop,
                       const as_address_list *address, as_touched_list *out, struct as_error *err);

/* Objects of one kind that one process touches. */
struct as_touched_sum {
    int64_t object_n, touched_b;
};

/* Sums up those from `at` on that have its object and process; returns where others begin. */
const struct as_touched *as_touched_sum(const struct as_touched *at, const struct as_touched *end,
                                        struct as_touched_sum *out);

/* ---- Names ----------------------------------------------------------------------------------- */

enum { AS_ACCESS_BODIES = 8 };

/* Bodies that were looked at last, of one module. All zero: none. */
struct as_access_names {
    struct {
        uint32_t body;
        bool is_known;
        struct as_bases *bases; /* NULL: none */
    } at[AS_ACCESS_BODIES];
    unsigned next;
};

struct as_access_name {
    struct as_base_name base;    /* empty text: not proved */
    uint64_t element_b;          /* 0: not known */
    int64_t row_n;               /* elements of the contiguous dimension; 0: no constant */
    unsigned dimension_n;        /* 0: a pointer to elements, or not known */
    struct as_member member;     /* of the record that an element is; empty path: none */
    char extent[AS_BASE_TEXT_B]; /* the stride is a multiple of it; empty: not proved */
    int64_t extent_n;
};

/* The variable of the source that stream `s` belongs to. Errors: NOMEM. */
int as_access_name_of(struct as_access_names *names, const struct as_operand_loop *loop, size_t s,
                      struct as_access_name *out, struct as_error *err);
void as_access_names_fini(struct as_access_names *names);

/* ---- Entries --------------------------------------------------------------------------------- */

/* Data caches of the machine of the run. */
struct as_caches {
    double size_b[4]; /* of level 1, 2, ... */
    unsigned n;
};

int as_caches_read(struct as_attribution *all, struct as_caches *out, struct as_error *err);

/* The nearest level that holds so much. */
unsigned as_level_of(const struct as_caches *caches, double size_b);

/* The memory that an entry of a loop touches; 0 where it is not known. */
struct as_entry {
    double iteration_n, line_b, page_n;
    unsigned set_n; /* of FIRST_SETS (entries.c), if the lines fall into too few; 0: they do not */
    unsigned near_level; /* nearest cache that holds line_b; caches.n + 1: none does */
};

/* Iterations of an entry of the loop, or of one around it, that ends by `limit`: the mean over
 * iterations; 0: not known. */
double as_iterations_of(const struct as_operand_loop *loop, const struct as_loop_limit *limit);

struct as_entry as_entry_of(const struct as_operand_loop *loop, const struct as_caches *caches);

/* Sets `reuse` of the loop, all of which is zero; after the objects. Errors: NOMEM. */
int as_reuse_see(struct as_operand_loop *loop, const struct as_entry *entry, struct as_error *err);

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* All walks of a loop together; 0 where it is not known. */
struct as_sweep {
    double reach_b;         /* they range over so much at least, in one process */
    double iteration_per_s; /* of one thread */
};

/* Operands of a run, by loop. */
struct as_loop_operands {
    const struct as_tally_operand **at;
    size_t n;
};

/* The caller releases `out`. Errors: NOMEM. */
int as_loop_operands_new(const struct as_tally *tally, struct as_loop_operands *out,
                         struct as_error *err);
void as_loop_operands_free(struct as_loop_operands *list);

/* By the addresses of the loop, and the moves at its instructions. Errors: NOMEM. */
int as_sweep_of(const struct as_operand_loop *loop, const struct as_loop_operands *operands,
                uint32_t rate_hz, const as_address_list *address, struct as_sweep *out,
                struct as_error *err);

/* ---- Sharing --------------------------------------------------------------------------------- */

/* Lines of a loop that several threads write, each other bytes; line_n 0: none was seen. */
struct as_sharing {
    unsigned line_n, thread_n; /* threads: in the line with most */
    uint32_t stream;           /* one that writes there */
    uint64_t gap_b;            /* from the bytes of one thread to those of another, at least */
    double share;              /* of the stores of the loop that go to such lines */
};

int as_sharing_find(const struct as_operand_loop *loop, const as_address_list *address,
                    struct as_sharing *out, struct as_error *err);

#endif
