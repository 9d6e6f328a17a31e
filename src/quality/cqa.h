/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared parts of code quality analysis: paths as lists of items with roles, and lists of other
 * instructions. Also the engine, which owns their memory, and the metrics by number.
 */
#ifndef AS_QUALITY_CQA_H
#define AS_QUALITY_CQA_H

#include "base/arena.h"
#include "base/vec.h"
#include "quality/cqa_metrics.h"
#include "quality/metrics.h"
#include "quality/quality.h"

extern const struct as_metric_row as_cqa_metric_row[AS_CQA_METRICS];
/* Computes the metrics that have a formula from the metrics above them in the list. */
void as_cqa_derive(double *m);

/* Purpose of an instruction. */
enum as_cqa_role {
    AS_ROLE_ADDRESS,    /* scalar integers for addresses, branches between paths, no-operations */
    AS_ROLE_CONTROL,    /* counts iterations or ends the loop */
    AS_ROLE_DATA,       /* scalar integers, not addresses: data of an integer loop */
    AS_ROLE_VECTOR,     /* in vector registers: loads, stores, moves, integers */
    AS_ROLE_ARITHMETIC, /* floating-point arithmetic */
    AS_ROLE_CALL
};

/* Kinds of instructions with vectorisation metrics. Kind i is bit i of as_cqa_item.kinds. */
#define AS_CQA_KIND_LIST(X)                                                                        \
    X(ALL) X(LOAD) X(STORE) X(ADD_SUB) X(MUL) X(FMA) X(DIV_SQRT) X(OTHER) X(INT) X(FP)
enum as_cqa_kind {
#define AS_CQA_KIND_ENUM(name) AS_KIND_##name,
    AS_CQA_KIND_LIST(AS_CQA_KIND_ENUM)
#undef AS_CQA_KIND_ENUM
        AS_KINDS
};

struct as_cqa_item {
    uint32_t insn; /* index in program.code.insn */
    const struct as_form *form;
    uint8_t role;       /* as_cqa_role */
    uint16_t kinds;     /* bits of as_cqa_kind; 0 if not packable */
    bool packed;        /* vectorised */
    bool packable;      /* packed, or has a packed equivalent */
    bool loads, stores; /* has an explicit memory operand */
    bool frame;         /* the memory operand is in the stack frame */
    bool after_load;    /* scalar: loads, or uses a value loaded earlier on the path */
    bool leaves;        /* the next instruction of the path is not at the next address */
    uint8_t stride;     /* as_stride of the explicit operand; UNKNOWN if there is none */
    uint16_t width_b;
    int64_t stride_b;
};

/* An array that the loop traverses, and the part that the path accesses. */
struct as_cqa_array {
    bool touched;
    uint64_t step_b; /* stride of its strided operands, at most a cache line */
    uint64_t used;   /* bit i: byte i of each stride is accessed */
};

/* One path: its items and their contiguous records. */
struct as_cqa_body {
    const struct as_program *program;
    uint32_t loop; /* AS_NONE for code outside loops */
    struct as_cqa_item *item;
    struct as_effects *effects; /* by item */
    struct as_code code;
    size_t n;
    const struct as_streams *streams; /* streams of the loop, or NULL */
    bool *on_path;                    /* by stream: an item accesses it */
    struct as_cqa_array *array;       /* by array number, streams->arrays entries */
};

/* A list of instructions that may replace those of a path. */
struct as_cqa_list {
    AS_VEC(struct as_insn) insn;
    AS_VEC(bool) leaves;            /* by instruction: the next one is not at the next address */
    AS_VEC(struct as_regset) ready; /* registers that are ready, by instruction; or empty */
    bool failed;                    /* out of memory */
};

#define AS_CQA_FEW_MOST 24
/* Kinds of instructions that cores execute on few ports, in the order of their metrics. */
enum as_cqa_few {
    AS_FEW_SHUFFLE,
    AS_FEW_CONVERT,
    AS_FEW_MULTIPLY, /* of integers */
    AS_FEW_BITS,
    AS_FEW_MASK,
    AS_FEW_TRANSFER, /* between general and vector registers */
    AS_FEWS,
    AS_FEW_NONE = AS_FEWS
};

struct as_cqa_engine {
    const struct as_uarch *uarch;
    struct as_predictor *predictor;
    struct as_arena arena;            /* of the current result */
    struct as_vector_verdict verdict; /* of the current loop */
    struct as_cqa_list list;
    const struct as_figures *figures; /* figures of the machine, or NULL */
    unsigned native_b, native_int_b;  /* bytes of the widest vectors */
    double peak_f32, peak_f64, peak_load, peak_store;
    uint64_t few[AS_CQA_FEW_MOST]; /* sets of one or two ports that compute (cqa_ports.c) */
    unsigned few_n;
};

/* ---- A path (cqa_body.c, cqa_role.c) ------------------------------------------------------- */

/* Makes a body of the instructions of `block_n` blocks, in order. `streams` are those of the loop,
 * or NULL. `arena` owns the memory. Returns 0 or AS_ERR_NOMEM. */
int as_cqa_body_make(struct as_arena *arena, const struct as_program *program, uint32_t loop,
                     const uint32_t *block, size_t block_n, const struct as_streams *streams,
                     struct as_cqa_body *out);
void as_cqa_find_roles(struct as_cqa_body *body);
/* Calls `each` for registers that an instruction reads and an instruction of the path writes.
 * Passes the last writer before the read. The path repeats endlessly. */
struct as_cqa_reads {
    void *context;
    void (*each)(void *context, size_t reader, unsigned reg, size_t writer);
};
void as_cqa_walk_reads(const struct as_cqa_body *body, const struct as_cqa_reads *reads);

/* ---- Figures (cqa_count.c, cqa_model.c) ---------------------------------------------------- */

void as_cqa_count(const struct as_cqa_body *body, double *m);
/* Sets the numbers of registers that are live at once (cqa_pressure.c). */
void as_cqa_count_pressure(const struct as_cqa_body *body, double *m);
/* Returns the iterations per entry of the loop, or NAN if constants in the code do not tell. */
double as_cqa_trips(const struct as_program *program, uint32_t loop,
                    const struct as_streams *streams);
void as_cqa_count_alignment(const struct as_cqa_body *body, double *m);
/* Sets the bytes that `streams` move and the cycles per memory level. `streams` may be NULL. Call
 * it after AS_CQA_CYCLES is set. */
void as_cqa_set_levels(const struct as_cqa_engine *engine, const struct as_streams *streams,
                       double *m);
/* Sets the vector widths and peaks of the engine by the table of its core. Call it
 * once per engine. */
void as_cqa_find_peaks(struct as_cqa_engine *engine);
void as_cqa_set_machine(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                        double *m);
/* Returns the max operations per cycle on the widest vectors, for the operation mix of the path.
 * Returns 0 if the path has no operations. */
double as_cqa_peak_of_mix(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                          const struct as_prediction *prediction);
/* Returns the cycles that an instruction alone takes on its ports and units; 0 if
 * `timing` is NULL. */
double as_cqa_own_throughput(const struct as_uarch *uarch, const struct as_core_timing *timing);
/* Sets the metrics of a prediction. */
void as_cqa_set_prediction(const struct as_cqa_engine *engine,
                           const struct as_prediction *prediction, double *m);

/* ---- Ports (cqa_ports.c) ------------------------------------------------------------------- */

/* Finds the sets of few ports. Call it once per engine. */
void as_cqa_find_few(struct as_cqa_engine *engine);
/* Returns the kind of an instruction, or AS_FEW_NONE. */
enum as_cqa_few as_cqa_few_of(const struct as_form *form);
/* Sets the metrics of all kinds. Returns the kind with the most cycles, or AS_FEW_NONE. */
enum as_cqa_few as_cqa_set_few(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                               const struct as_prediction *prediction, double *m);

/* ---- What if (cqa_variant.c, cqa_vector.c, cqa_obstacle.c, cqa_why.c) ---------------------- */

/* A path as it is, the baseline of its variants. */
struct as_cqa_as_is {
    const struct as_cqa_body *body;
    double cycles, bounds[AS_BOUNDS];
    enum as_bound bound;
    char limit[32];
    size_t chain_n; /* steps of the longest chain */
    const struct as_chain_step *chain;
    uint32_t obstacles;
    enum as_cqa_few few; /* kind with the most cycles on few ports, and these cycles */
    double few_cy, load_cy;
    bool simulate;
};

/* Returns the as_cqa_obstacle bits of the path. `ways` is true if the loop has several paths;
 * `verdict` is that of the loop, or NULL. */
uint32_t as_cqa_obstacles(const struct as_cqa_body *body, const struct as_vector_verdict *verdict,
                          bool ways);
int as_cqa_what_ifs(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                    struct as_cqa_what_if *out, struct as_error *err);
/* Predicts the variants that as_cqa_best may choose. The others get the result of the path as it
 * is. */
int as_cqa_best_what_ifs(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                         struct as_cqa_what_if *out, struct as_error *err);
/* Obstacles with which vectorised code would compute other results. */
#define AS_CQA_UNSOUND                                                                             \
    (AS_CQA_OBSTACLE_CALL | AS_CQA_OBSTACLE_WAYS | AS_CQA_OBSTACLE_RECURRENCE |                    \
     AS_CQA_OBSTACLE_MEMORY | AS_CQA_OBSTACLE_X87)
/* Predicts the vectorised variant FP_VECTOR or VECTOR. */
int as_cqa_vectorise(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                     enum as_cqa_variant variant, struct as_cqa_what_if *out, struct as_error *err);

void as_cqa_list_clear(struct as_cqa_list *list);
void as_cqa_list_add(struct as_cqa_list *list, const struct as_insn *insn, bool leaves);
void as_cqa_list_fini(struct as_cqa_list *list);
/* Sets the addresses of the instructions, contiguous except after jumps. */
void as_cqa_list_place(struct as_cqa_list *list, uint64_t start);
/* Predicts the cycles of one iteration of the list. */
int as_cqa_list_predict(struct as_cqa_engine *engine, bool simulate, uint32_t without,
                        struct as_prediction *out, struct as_error *err);

/* Returns the reason why a variant is not faster or does not apply; a static text. */
const char *as_cqa_why(enum as_cqa_variant variant, const struct as_cqa_what_if *what_if,
                       const struct as_cqa_as_is *as_is);

#endif
