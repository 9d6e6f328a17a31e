/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the attribution: what its steps hand to each other. In order: tally (streams to sums),
 * modules (addresses to functions and locations), subjects (processes, threads), paths (nodes to
 * call paths, sums to samples), excerpts (source and assembly of what is hot), trust (flags).
 */
#ifndef AS_PROFILE_ATTRIBUTE_H
#define AS_PROFILE_ATTRIBUTE_H

#include <assay/catalogue.h>
#include <assay/profile.h>

#include "profile/category.h"
#include "profile/tally.h"

/* A function of the run's code. */
struct as_function_fact {
    int64_t id;
    uint32_t category;
};

/* An inlined call that has a category of its own by a rule, or stands in one that has. */
struct as_inlined_fact {
    int64_t inlining_id;
    uint32_t outer;    /* what it stands in: as in as_node_fact */
    uint32_t category; /* ASSAY_NONE: that of what it stands in */
};

/* What is known of a node of the tally. */
struct as_node_fact {
    int64_t location_id;
    uint32_t function; /* into as_attribution.function */
    uint32_t inlined;  /* innermost inlined call: 1 + its place in as_attribution.inlined, or 0 */
    uint64_t own_n;    /* running samples exactly here */
};

/* Where a module stands among the others, for the flags. */
struct as_module_fact {
    int64_t id;
    const char *name;
    bool has_debug, is_system, no_file;
    char trouble[ASSAY_ERROR_TEXT_B]; /* why it has no file, or is not analysed */
};

struct as_attribution {
    struct assay_experiment *experiment;
    int64_t run_id, host_id;
    const struct assay_attribute_options *options;
    struct assay_attribute_options defaults;
    struct as_tally tally;
    struct as_categories *categories;
    AS_VEC(int64_t) category_id;
    char directory[4096]; /* of the run */
    AS_VEC(struct as_function_fact) function;
    AS_VEC(struct assay_row_location) location; /* new ones, by number from 1: not written yet */
    struct as_index location_index;
    bool has_locations; /* earlier runs have left some */
    AS_VEC(struct as_inlined_fact) inlined;
    struct as_node_fact *node;     /* by node of the tally */
    struct as_module_fact *module; /* by module of the tally */
    int64_t *process_id, *thread_id;
    struct assay_catalogue *catalogue;
    struct assay_catalogue *own; /* the same, where the caller gave none */
};

/* Each is one step, in a batch of the caller. Errors: NOMEM, those of the experiment. */
int as_attribute_module(struct as_attribution *all, uint32_t module, const uint32_t *node,
                        size_t node_n, struct assay_error *err);
/* A file of the distribution, or no file. */
bool as_attribute_is_system(const struct as_tally_module *module);
/* Opens the code of a module for its functions and lines; the caller closes it. */
int as_attribute_open(struct as_attribution *all, uint32_t module,
                      struct assay_catalogue_module **out, struct assay_error *err);
/* Writes the locations that the modules have. */
int as_attribute_locations(struct as_attribution *all, struct assay_error *err);
int as_attribute_subjects(struct as_attribution *all, struct assay_error *err);
/* What threads did over time, by length of bins; the tally has the longest after that. */
int as_attribute_levels(struct as_attribution *all, struct assay_error *err);
/* Before the levels, which double the bins. */
int as_attribute_phases(struct as_attribution *all, struct assay_error *err);
int as_attribute_paths(struct as_attribution *all, struct assay_error *err);
int as_attribute_trust(struct as_attribution *all, struct assay_error *err);

/* Sorts the operands and values of the tally by place, and sets the location and the innermost loop
 * of each; after the paths. */
int as_attribute_places(struct as_attribution *all, struct assay_error *err);
/* Behind the last of `n` sorted elements of `size_b` bytes that has the module of element `from`.
 * Each begins with a struct as_tally_place. */
size_t as_places_end(void *first, size_t n, size_t size_b, size_t from);
/* What operands tell of loops; after the places. */
int as_attribute_operands(struct as_attribution *all, struct assay_error *err);
/* The memory operands of hot loops, with the strides that registers of samples show. */
int as_attribute_accesses(struct as_attribution *all, struct assay_error *err);

/* Holds the samples to the kernel's account of processor time, and flags what they miss. */
int as_attribute_unseen(struct as_attribution *all, struct assay_error *err);
/* Flags ranks that ended badly, and other processes that crashed. */
int as_attribute_crashes(struct as_attribution *all, struct assay_error *err);
/* Sets a flag; `n` 0 counts as 1. */
int as_attribute_flag(struct as_attribution *all, enum assay_object_kind kind, int64_t id,
                      const char *name, uint64_t n, struct assay_error *err, const char *format,
                      ...) __attribute__((format(printf, 7, 8)));
/* A fact on the recording of `stream`; NULL when it does not say. */
const char *as_attribute_fact(const struct as_attribution *all, uint32_t stream, const char *name);

#endif
