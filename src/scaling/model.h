/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Efficiency factors by size of the run, and their projection to other sizes. Leaves are fitted; an
 * inner factor is the product of its children. doc/reference/pop.md has the definitions.
 */
#ifndef AS_SCALING_MODEL_H
#define AS_SCALING_MODEL_H

#include "base/vec.h"
#include "scaling/law.h"
#include "scaling/point.h"

/* X(NAME, word, title, depth in the tree, parent), in the order of the tree. */
#define AS_SCALING_FACTORS(X)                                                                      \
    X(GLOBAL, "global_efficiency", "Global efficiency", 0, GLOBAL)                                 \
    X(PARALLEL, "parallel_efficiency", "Parallel efficiency", 1, GLOBAL)                           \
    X(BALANCE, "load_balance", "Load balance", 2, PARALLEL)                                        \
    X(COMMUNICATION, "communication_efficiency", "Communication", 2, PARALLEL)                     \
    X(STARTUP, "startup_efficiency", "MPI start and end", 3, COMMUNICATION)                        \
    X(SERIALISATION, "serialisation_efficiency", "Serialisation", 3, COMMUNICATION)                \
    X(TRANSFER, "transfer_efficiency", "Transfer", 3, COMMUNICATION)                               \
    X(THREADS, "thread_efficiency", "Threads within ranks", 2, PARALLEL)                           \
    X(COMPUTATION, "computation_scalability", "Computation scalability", 1, GLOBAL)                \
    X(INSTRUCTIONS, "instruction_scalability", "Instructions", 2, COMPUTATION)                     \
    X(IPC, "ipc_scalability", "IPC", 2, COMPUTATION)                                               \
    X(FREQUENCY, "frequency_scalability", "Frequency", 2, COMPUTATION)
#define AS_SCALING_ENUM(name, word, title, depth, above) AS_SCALING_##name,
enum as_scaling_factor { AS_SCALING_FACTORS(AS_SCALING_ENUM) AS_SCALING_FACTORS_N };
#undef AS_SCALING_ENUM
const char *as_scaling_word(enum as_scaling_factor factor);
const char *as_scaling_title(enum as_scaling_factor factor);
unsigned as_scaling_depth(enum as_scaling_factor factor);

/* A value with its 95 % interval. NAN means unknown: with one run the interval is unknown. */
struct as_scaling_cell {
    double value, low, high;
};

struct as_scaling_row {
    double size;     /* number of threads of all ranks */
    uint32_t rank_n; /* of the first trace; 0 = no ranks, or a projection */
    size_t trace_n;  /* 0 = a projection */
    struct as_scaling_cell factor[AS_SCALING_FACTORS_N];
    struct as_scaling_cell elapsed_s, speedup;
};

/* With fewer sizes no law can be chosen, so nothing is fitted or projected. */
#define AS_SCALING_SIZES_MIN 3u

struct as_scaling_fit {
    bool is_fitted;
    struct as_law_choice choice;
    /* At the largest projected size. */
    bool has_rival;
    enum as_law_kind used, rival;
    double value, rival_value;
};

enum as_scaling_kind { AS_SCALING_DETECT, AS_SCALING_STRONG, AS_SCALING_WEAK };

struct as_scaling_model {
    AS_VEC(struct as_scaling_row) row; /* measured rows by size, then projections */
    size_t measured_n;
    bool is_weak, is_given;
    bool is_doubtful;  /* the growth of work fits neither weak nor strong scaling */
    double growth;     /* work is proportional to size^growth; NAN with one size */
    bool has_counters; /* growth is that of instructions; else of useful time */
    bool has_threads;  /* some rank has several threads, so the factor THREADS has a meaning */
    struct as_scaling_fit fit[AS_SCALING_FACTORS_N]; /* set for leaves */
};

/*
 * Computes the model. `point` holds traces in any order; traces of one size are repetitions.
 * `project` holds the sizes to project. The reference is the smallest size. Call
 * as_scaling_model_fini even after a failure. Errors: USAGE (no point, too many sizes), NOMEM.
 */
int as_scaling_model_of(const struct as_scaling_point *point, size_t point_n,
                        enum as_scaling_kind kind, const double *project, size_t project_n,
                        struct as_scaling_model *out, struct as_error *err);
void as_scaling_model_fini(struct as_scaling_model *model);

/* Returns true if the factor is fitted: it has no children, or not all of them are known. */
bool as_scaling_is_leaf(const struct as_scaling_model *model, enum as_scaling_factor factor);

#endif
