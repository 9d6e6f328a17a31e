/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the steps of the attribution share. The tally turns streams into sums. The modules turn
 * addresses into functions and locations. The subjects are processes and threads. The paths turn
 * nodes into call paths, and sums into samples. The excerpts are source and assembly of hot code.
 * The trust step sets flags.
 */
#ifndef AS_PROFILE_ATTRIBUTE_H
#define AS_PROFILE_ATTRIBUTE_H

#include "catalogue/catalogue.h"
#include "profile/category.h"
#include "profile/profile.h"
#include "profile/tally.h"

/* A function of the run's code. */
struct as_function_fact {
    int64_t id;
    uint32_t category;
};

/* An inlined call with its own category by a rule, or inside of such a call. */
struct as_inlined_fact {
    int64_t inlining_id;
    uint32_t outer;    /* enclosing inlined call, numbered as as_node_fact.inlined */
    uint32_t category; /* AS_NONE: the category of the enclosing call */
};

/* Facts about a node of the tally. */
struct as_node_fact {
    int64_t location_id;
    uint32_t function; /* into as_attribution.function */
    uint32_t inlined;  /* innermost inlined call: 1 + index into as_attribution.inlined, or 0 */
    uint64_t own_n;    /* running samples at this node, without its callees */
};

/* Facts about a module of the tally, for the flags. */
struct as_module_fact {
    int64_t id;
    const char *name;
    bool has_debug, is_system, no_file;
    char trouble[AS_ERROR_TEXT_B]; /* reason why it has no file, or is not analysed */
};

struct as_attribution {
    struct as_experiment *experiment;
    int64_t run_id, host_id;
    const struct as_attribute_options *options;
    struct as_attribute_options defaults;
    struct as_tally tally;
    struct as_categories *categories;
    AS_VEC(int64_t) category_id;
    char directory[4096]; /* of the run */
    AS_VEC(struct as_function_fact) function;
    AS_VEC(struct as_row_location) location; /* new ones, not yet written; numbers start at 1 */
    struct as_index location_index;
    bool has_locations; /* the experiment has locations of earlier runs */
    AS_VEC(struct as_inlined_fact) inlined;
    struct as_node_fact *node;     /* by node of the tally */
    struct as_module_fact *module; /* by module of the tally */
    int64_t *process_id, *thread_id;
    struct as_catalogue *catalogue;
    struct as_catalogue *own; /* made here if the caller gave none; else NULL */
};

/* Each function is one step, in a batch of the caller. Errors: NOMEM, those of the experiment.
 * as_attribute_module writes the functions, loops and locations of one module; `node` are its
 * nodes.
 */
int as_attribute_module(struct as_attribution *all, uint32_t module, const uint32_t *node,
                        size_t node_n, struct as_error *err);
/* Returns true for a module of the distribution, or without a file. */
bool as_attribute_is_system(const struct as_tally_module *module);
/* Opens the code of a module with functions and lines. The caller closes `*out`. */
int as_attribute_open(struct as_attribution *all, uint32_t module, struct as_catalogue_module **out,
                      struct as_error *err);
/* Writes the new locations of all modules. */
int as_attribute_locations(struct as_attribution *all, struct as_error *err);
int as_attribute_subjects(struct as_attribution *all, struct as_error *err);
/* Writes the activity of threads over time, for several lengths of bins. Doubles the bins of the
 * tally. */
int as_attribute_levels(struct as_attribution *all, struct as_error *err);
/* Writes the phases of processes. Runs before as_attribute_levels, which changes the bins. */
int as_attribute_phases(struct as_attribution *all, struct as_error *err);
int as_attribute_paths(struct as_attribution *all, struct as_error *err);
int as_attribute_trust(struct as_attribution *all, struct as_error *err);

/* Sorts the operands and values of the tally by place, and sets the location and the innermost loop
 * of each; after the paths. */
int as_attribute_places(struct as_attribution *all, struct as_error *err);
/* Returns the end index of the elements with the module of element `from`. The `n` sorted elements
 * have `size_b` bytes and begin with a struct as_tally_place. */
size_t as_places_end(void *first, size_t n, size_t size_b, size_t from);
/* Writes the facts about loops that sampled operands give. Runs after as_attribute_places. */
int as_attribute_operands(struct as_attribution *all, struct as_error *err);
/* Writes the memory operands of hot loops, with strides from registers of samples. */
int as_attribute_accesses(struct as_attribution *all, struct as_error *err);

/* Compares the samples with the CPU time that the kernel counted, and flags missing time. */
int as_attribute_unseen(struct as_attribution *all, struct as_error *err);
/* Flags ranks that failed, and other processes that crashed. */
int as_attribute_crashes(struct as_attribution *all, struct as_error *err);
/* Sets a flag on an object. `n` is the number of occurrences; 0 counts as 1. */
int as_attribute_flag(struct as_attribution *all, enum as_object_kind kind, int64_t id,
                      const char *name, uint64_t n, struct as_error *err, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/* Returns a fact of the recording `stream`, or NULL if it has no fact with this name. */
const char *as_attribute_fact(const struct as_attribution *all, uint32_t stream, const char *name);

#endif
