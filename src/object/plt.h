/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the stubs of the procedure linkage table (PLT).
 */
#ifndef AS_OBJECT_PLT_H
#define AS_OBJECT_PLT_H

#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

struct as_plt_entry {
    const char *name; /* "malloc@plt", in the object's arena */
    uint64_t address;
    uint64_t size_b;
};

/*
 * Finds the stubs, sorted by address within each section. `symbols`, in any order, give the names
 * of resolvers of indirect functions. The caller frees `*out` with as_free. Errors: NOMEM.
 */
int as_plt_find(struct as_object *object, const struct as_symbol *symbols, size_t symbol_n,
                struct as_plt_entry **out, size_t *n);

#endif
