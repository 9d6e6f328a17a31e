/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that windows are made of, as rows of tables: name as in files, parameters with
 * their defaults, records that bound the pieces, history, evaluator. Help and pages are made of
 * these rows.
 */
#ifndef AS_SEMANTIC_FUNCTION_H
#define AS_SEMANTIC_FUNCTION_H

#include "semantic/quantity.h"
#include "semantic/record.h"

enum as_function_family {
    AS_FUNCTION_THREAD,  /* of the records of a thread */
    AS_FUNCTION_ABOVE,   /* of the values of all objects below */
    AS_FUNCTION_CPU,     /* of what runs on a CPU */
    AS_FUNCTION_COMPOSE, /* of one value */
    AS_FUNCTION_DERIVED, /* of two windows */
    AS_FUNCTION_FAMILIES_N
};

#define AS_PARAMETERS_MAX 2

/* Each parameter is a list of numbers. */
struct as_parameters {
    AS_VEC(struct as_quantity) list[AS_PARAMETERS_MAX];
};

void as_parameters_fini(struct as_parameters *parameters);
/* 0 without such a value. */
struct as_quantity as_parameter(const struct as_parameters *parameters, unsigned list, size_t at);
/* True if the list has the value. */
bool as_parameter_has(const struct as_parameters *parameters, unsigned list,
                      struct as_quantity value);

/* ---- Thread functions ------------------------------------------------------------------------ */

/* A thread function at work on one object. */
struct as_thread_state {
    const struct as_parameters *parameters;
    const struct as_machine_objects *objects;
    bool takes_logical, takes_physical; /* messages */
    bool is_cpu;                        /* the object is a CPU */
    int64_t unit_ns;                    /* of times that are values */
    struct as_quantity value;           /* of the piece before */
    int64_t running;                    /* sums of messages on their way; bandwidths in 10^-12 */
};

/* The piece from `begin` to `end_ns`; `next` is the record that ends it, NULL: the trace ends. Both
 * are missing for functions that do not look ahead. */
typedef struct as_quantity as_thread_function(struct as_thread_state *state,
                                              const struct as_semantic_record *begin,
                                              const struct as_semantic_record *next,
                                              int64_t end_ns);

enum as_ahead {
    AS_AHEAD_NOT,
    AS_AHEAD_NEXT,    /* needs the record that ends the piece */
    AS_AHEAD_RECEIVE, /* needs the next message that is received */
    AS_AHEAD_BYTES,   /* needs the messages in the piece: sent in [begin, end), received in
                         (begin, end] */
};

/* ---- Other functions ------------------------------------------------------------------------- */

/* A function of one value at work on one object. */
struct as_compose_state {
    const struct as_parameters *parameters;
    int64_t unit_ns;
    struct as_quantity value; /* of the piece before */
    AS_VEC(struct as_quantity) stack;
    int64_t count;
    bool failed; /* no memory for the stack */
};

typedef struct as_quantity as_compose_function(struct as_compose_state *state,
                                               struct as_quantity value, int64_t begin_ns,
                                               int64_t end_ns);

/* `changed` is the last of the objects that begin a piece here. */
typedef struct as_quantity as_above_function(const struct as_parameters *parameters,
                                             const struct as_quantity *value, size_t n,
                                             size_t changed);

typedef struct as_quantity as_cpu_function(const struct as_parameters *parameters,
                                           struct as_quantity value);

/* Two windows over one piece. */
struct as_derived_state {
    struct as_quantity last_control;
    int64_t count;
    bool is_cleared;
};

typedef struct as_quantity as_derived_function(struct as_derived_state *state,
                                               struct as_quantity data, struct as_quantity control,
                                               bool new_data);

enum as_function_special {
    AS_SPECIAL_NONE,
    AS_SPECIAL_SENT,    /* bytes sent alone */
    AS_SPECIAL_JOIN,    /* joins pieces of one value */
    AS_SPECIAL_TIMER,   /* cuts pieces */
    AS_SPECIAL_SUM,     /* an above function of the sum alone */
    AS_SPECIAL_AVERAGE, /* of the sum and the number of objects */
    AS_SPECIAL_SUM_SIGN,
    AS_SPECIAL_FOLD_MAXIMUM, /* over the pieces in one piece of the control window */
    AS_SPECIAL_FOLD_ADD,
    AS_SPECIAL_FOLD_AVERAGE,
};

struct as_semantic_function {
    enum as_function_family family;
    const char *name;       /* as in files */
    const char *parameters; /* "Min value|Max value"; "" */
    const char *defaults;   /* "0|1"; "" of a list: empty */
    const char *summary;    /* for help and pages */
    unsigned kinds;         /* records that bound pieces of a thread function */
    enum as_ahead ahead;    /* of a thread function */
    bool has_history;       /* depends on all pieces before */
    bool needs_end;         /* a compose function of the end of its piece */
    bool fills_gaps;        /* a thread function of states: the end of one is a piece without */
    enum as_function_special special;
    union {
        as_thread_function *thread;
        as_compose_function *compose;
        as_above_function *above;
        as_cpu_function *cpu;
        as_derived_function *derived;
    };
};

/* The rows of a family. */
const struct as_semantic_function *as_functions(enum as_function_family family, size_t *n);
/* NULL: none of the family has this name. */
const struct as_semantic_function *as_function_find(enum as_function_family family,
                                                    struct as_view name);
/* How many parameters it has. */
unsigned as_function_parameters_n(const struct as_semantic_function *function);
/* Its defaults, into empty parameters. 0 or NOMEM. */
int as_function_defaults(const struct as_semantic_function *function, struct as_parameters *out);

/* ---- The tables, a file each ---- */
extern const struct as_semantic_function as_thread_functions[], as_above_functions[],
    as_cpu_functions[], as_compose_functions[], as_derived_functions[];
extern const size_t as_thread_functions_n, as_above_functions_n, as_cpu_functions_n,
    as_compose_functions_n, as_derived_functions_n;

/* True if a record is the send, or the receive, of its message for windows of these kinds of
 * messages: the logical one where logical messages are taken. The receive of a logical message is
 * the later of its two. */
bool as_record_is_send(const struct as_thread_state *state,
                       const struct as_semantic_record *record);
bool as_record_is_receive(const struct as_thread_state *state,
                          const struct as_semantic_record *record);

#endif
