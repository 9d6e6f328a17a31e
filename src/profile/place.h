/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one module of the run, and what stands at an address of it: function, loop, block,
 * line, inlined calls. Files that matter are analysed whole; of others functions and lines are
 * known; the kernel and generated code have names only.
 */
#ifndef AS_PROFILE_PLACE_H
#define AS_PROFILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/code.h>
#include <assay/object.h>

#include "base/vec.h"
#include "profile/tally.h"

/* A name for a range of addresses of a module without file. */
struct as_name {
    uint64_t start, end;
    const char *name;
};

struct as_place_code {
    const struct as_tally_module *module;
    struct assay_object *object;   /* NULL: no file, or it could not be opened */
    struct assay_program *program; /* NULL: not analysed */
    const struct assay_function *function;
    size_t function_n;
    struct assay_debug debug;
    AS_VEC(uint32_t) by_start; /* blocks of the program by address */
    AS_VEC(struct as_name) name;
    struct as_arena arena;      /* texts of names */
    struct assay_error trouble; /* why there is no object; code 0: nothing wrong */
    bool not_analysed;          /* a file too unimportant for its size */
};

/* What a place belongs to; ASSAY_NONE where nothing is known. */
struct as_place {
    uint32_t function; /* for as_place_function */
    uint32_t loop, block;
    uint32_t file, line; /* of `debug` */
    uint32_t inlined;    /* innermost inlined call, of debug.inlines */
};

struct as_place_function {
    const char *linkage_name;
    uint64_t start, size_b;
    uint32_t unit; /* of `debug` */
    uint32_t file, line;
    uint32_t body; /* of the program, or ASSAY_NONE */
    const char *known_from;
};

struct as_place_options {
    const char *directory; /* of the run: copies of files, maps of generated code */
    const struct assay_object_options *open;
    unsigned jobs;
    double share; /* of the run's samples that are in it or below */
    uint32_t pid; /* ANON: of the process */
};

/* Opens and analyses. What cannot be had is left out, see `trouble`. Errors: NOMEM. */
int as_place_open(struct as_place_code *code, const struct as_tally_module *module,
                  const struct as_place_options *options, struct assay_error *err);
void as_place_close(struct as_place_code *code);

/* Fills `name` of a module without file. */
int as_place_names(struct as_place_code *code, const struct as_place_options *options,
                   struct assay_error *err);

/* Link-time address of an address of the stream; false when the file has no such place. */
bool as_place_address(const struct as_place_code *code, uint64_t recorded, uint64_t *address);
void as_place_find(const struct as_place_code *code, uint64_t address, struct as_place *out);
void as_place_function(const struct as_place_code *code, uint32_t function,
                       struct as_place_function *out);

#endif
