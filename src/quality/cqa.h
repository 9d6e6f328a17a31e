/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of code quality analysis share: one path as a list of items with their roles, the
 * engine that holds the memory for it, lists of other instructions, and the metrics by number.
 */
#ifndef AS_QUALITY_CQA_H
#define AS_QUALITY_CQA_H

#include <assay/quality.h>

#include "base/arena.h"
#include "base/vec.h"
#include "quality/cqa_metrics.h"
#include "quality/metrics.h"

extern const struct as_metric_row as_cqa_metric_row[AS_CQA_METRICS];
/* Computes metrics whose formula is one, of those above them. */
void as_cqa_derive(double *m);

/* What an instruction is there for. */
enum as_cqa_role {
    AS_ROLE_ADDRESS,    /* scalar integers: addresses, branches between ways, no-operations */
    AS_ROLE_CONTROL,    /* counts the loop and ends it */
    AS_ROLE_DATA,       /* scalar integers that are no address: what a loop of integers computes */
    AS_ROLE_VECTOR,     /* in vector registers: loads, stores, moves, integers */
    AS_ROLE_ARITHMETIC, /* computes with floating-point values */
    AS_ROLE_CALL
};

/* Vectorisation is told of these; bit i of `kinds`. */
#define AS_CQA_KIND_LIST(X)                                                                        \
    X(ALL) X(LOAD) X(STORE) X(ADD_SUB) X(MUL) X(FMA) X(DIV_SQRT) X(OTHER) X(INT) X(FP)
enum as_cqa_kind {
#define AS_CQA_KIND_ENUM(name) AS_KIND_##name,
    AS_CQA_KIND_LIST(AS_CQA_KIND_ENUM)
#undef AS_CQA_KIND_ENUM
        AS_KINDS
};

struct as_cqa_item {
    uint32_t insn; /* into program.code.insn */
    const struct assay_form *form;
    uint8_t role;       /* as_cqa_role */
    uint16_t kinds;     /* where packable */
    bool packed;        /* works on whole vectors */
    bool packable;      /* does, or has an equivalent that does */
    bool loads, stores; /* by an explicit operand */
    bool frame;         /* that is in the frame of the function */
    bool after_load;    /* integers: what was loaded goes into it */
    bool leaves;        /* the next instruction does not stand behind it */
    uint8_t stride;     /* assay_stride of the explicit operand; UNKNOWN where there is none */
    uint16_t width_b;
    int64_t stride_b;
};

/* An array that the loop walks along, as far as the path touches it. */
struct as_cqa_array {
    bool touched;
    uint64_t step_b; /* of operands with holes; a cache line at most */
    uint64_t used;   /* bytes of it that they touch, a bit each */
};

/* One path: items, and their records one behind the other. */
struct as_cqa_body {
    const struct assay_program *program;
    uint32_t loop; /* ASSAY_NONE: straight code */
    struct as_cqa_item *item;
    struct assay_effects *effects; /* by item */
    struct assay_code code;
    size_t n;
    const struct assay_streams *streams; /* of the loop, or NULL */
    bool *on_path;                       /* by stream */
    struct as_cqa_array *array;          /* by number, streams->arrays */
};

/* A list of instructions that might stand in place of a path. */
struct as_cqa_list {
    AS_VEC(struct assay_insn) insn;
    AS_VEC(bool) leaves;               /* by instruction: the next one stands elsewhere */
    AS_VEC(struct assay_regset) ready; /* as many as instructions, or none */
    bool failed;                       /* out of memory */
};

#define AS_CQA_FEW_MOST 24
/* Kinds of instructions that cores execute on few of their ports, in the order of their metrics. */
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

struct assay_cqa_engine {
    const struct assay_uarch *uarch;
    struct assay_predictor *predictor;
    struct as_arena arena;               /* of the answer at hand */
    struct assay_vector_verdict verdict; /* on the loop at hand */
    struct as_cqa_list list;
    const struct assay_figures *figures; /* of the machine, or NULL */
    unsigned native_b, native_int_b;     /* bytes of the widest vectors */
    double peak_f32, peak_f64, peak_load, peak_store;
    uint64_t few[AS_CQA_FEW_MOST]; /* sets of one port or two that execute (cqa_ports.c) */
    unsigned few_n;
};

/* ---- A path (cqa_body.c, cqa_role.c) ------------------------------------------------------- */

/* Items of the blocks, in their order; `streams` of the loop, or NULL. */
int as_cqa_body_make(struct as_arena *arena, const struct assay_program *program, uint32_t loop,
                     const uint32_t *block, size_t block_n, const struct assay_streams *streams,
                     struct as_cqa_body *out);
void as_cqa_find_roles(struct as_cqa_body *body);
/* The last writer of each register before every instruction, the path repeated for ever: calls
 * `each` for each register that an instruction reads and some instruction writes. */
struct as_cqa_reads {
    void *context;
    void (*each)(void *context, size_t reader, unsigned reg, size_t writer);
};
void as_cqa_walk_reads(const struct as_cqa_body *body, const struct as_cqa_reads *reads);

/* ---- Figures (cqa_count.c, cqa_model.c) ---------------------------------------------------- */

void as_cqa_count(const struct as_cqa_body *body, double *m);
/* How many registers are live at once (cqa_pressure.c). */
void as_cqa_count_pressure(const struct as_cqa_body *body, double *m);
/* Iterations each time the loop is entered; not a number where constants do not tell. */
double as_cqa_trips(const struct assay_program *program, uint32_t loop,
                    const struct assay_streams *streams);
void as_cqa_count_alignment(const struct as_cqa_body *body, double *m);
/* What `streams` (NULL: none) move, and what that takes; behind the cycles of the first level. */
void as_cqa_set_levels(const struct assay_cqa_engine *engine, const struct assay_streams *streams,
                       double *m);
/* What the table of a core says of its widest operations; once for an engine. */
void as_cqa_find_peaks(struct assay_cqa_engine *engine);
void as_cqa_set_machine(const struct assay_cqa_engine *engine, const struct as_cqa_body *body,
                        double *m);
/* Operations that ports start in a cycle if all are of the mix of the path, on the widest vectors;
 * 0: none. */
double as_cqa_peak_of_mix(const struct assay_cqa_engine *engine, const struct as_cqa_body *body,
                          const struct assay_prediction *prediction);
/* Cycles that an instruction takes of the ports and units it needs, alone; 0 without a line. */
double as_cqa_own_throughput(const struct assay_uarch *uarch, const struct assay_timing *timing);
/* Metrics of a prediction. */
void as_cqa_set_prediction(const struct assay_cqa_engine *engine,
                           const struct assay_prediction *prediction, double *m);

/* ---- Ports (cqa_ports.c) ------------------------------------------------------------------- */

/* Sets of ports to look at; once for an engine. */
void as_cqa_find_few(struct assay_cqa_engine *engine);
/* The kind of an instruction; AS_FEW_NONE: any other. */
enum as_cqa_few as_cqa_few_of(const struct assay_form *form);
/* The metrics of all kinds; returns the one that takes longest, or NONE. */
enum as_cqa_few as_cqa_set_few(const struct assay_cqa_engine *engine,
                               const struct as_cqa_body *body,
                               const struct assay_prediction *prediction, double *m);

/* ---- What if (cqa_variant.c, cqa_vector.c, cqa_obstacle.c, cqa_why.c) ---------------------- */

/* A path as it is, to which its variants are held. */
struct as_cqa_as_is {
    const struct as_cqa_body *body;
    double cycles, bounds[ASSAY_BOUNDS];
    enum assay_bound bound;
    char limit[32];
    size_t chain_n; /* of the longest chain */
    const struct assay_chain_step *chain;
    uint32_t obstacles;
    enum as_cqa_few few; /* the kind that takes few ports longest, and how long */
    double few_cy, load_cy;
    bool simulate;
};

/* assay_cqa_obstacle bits of the path; `ways`: there are several; `verdict` on the loop, or NULL.
 */
uint32_t as_cqa_obstacles(const struct as_cqa_body *body,
                          const struct assay_vector_verdict *verdict, bool ways);
int as_cqa_what_ifs(struct assay_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                    struct assay_cqa_what_if *out, struct assay_error *err);
/* Those that assay_cqa_best may choose, the others as if there were nothing to change. */
int as_cqa_best_what_ifs(struct assay_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                         struct assay_cqa_what_if *out, struct assay_error *err);
/* Obstacles with which vectorised code would not compute the same. */
#define AS_CQA_UNSOUND                                                                             \
    (ASSAY_CQA_OBSTACLE_CALL | ASSAY_CQA_OBSTACLE_WAYS | ASSAY_CQA_OBSTACLE_RECURRENCE |           \
     ASSAY_CQA_OBSTACLE_MEMORY | ASSAY_CQA_OBSTACLE_X87)
/* The vectorised ones. */
int as_cqa_vectorise(struct assay_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                     enum assay_cqa_variant variant, struct assay_cqa_what_if *out,
                     struct assay_error *err);

void as_cqa_list_clear(struct as_cqa_list *list);
void as_cqa_list_add(struct as_cqa_list *list, const struct assay_insn *insn, bool leaves);
void as_cqa_list_fini(struct as_cqa_list *list);
/* Gives the instructions addresses one behind the other. */
void as_cqa_list_place(struct as_cqa_list *list, uint64_t start);
/* Predicts the list; cycles of one of its iterations. */
int as_cqa_list_predict(struct assay_cqa_engine *engine, bool simulate, uint32_t without,
                        struct assay_prediction *out, struct assay_error *err);

/* Why a variant is no faster, or does not apply; borrowed. */
const char *as_cqa_why(enum assay_cqa_variant variant, const struct assay_cqa_what_if *what_if,
                       const struct as_cqa_as_is *as_is);

#endif
