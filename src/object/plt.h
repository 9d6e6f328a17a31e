/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Naming the stubs of the procedure linkage table.
 */
#ifndef AS_OBJECT_PLT_H
#define AS_OBJECT_PLT_H

#include <stddef.h>
#include <stdint.h>

#include <assay/object.h>

struct as_plt_entry {
    const char *name; /* "malloc@plt", in the object's arena */
    uint64_t address;
    uint64_t size_b;
};

/*
 * Stubs by address. `symbols` (in any order) name the resolvers of indirect functions. `*out` is
 * on the heap: as_free it, also when 0 were found. 0 or ASSAY_ERR_NOMEM.
 */
int as_plt_find(struct assay_object *object, const struct assay_symbol *symbols, size_t symbol_n,
                struct as_plt_entry **out, size_t *n);

#endif
