/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by name: readable names, finding the ones a user means, and words for their facts.
 */
#ifndef AS_CLI_NAMES_H
#define AS_CLI_NAMES_H

#include <regex.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "object/object.h"

/* Readable name of a linkage name, kept in `arena`; the linkage name itself when `plain` or when
 * nothing applies; NULL when out of memory. */
const char *as_name_readable(struct as_arena *arena, const char *linkage, bool plain);

/* As above, appended to `out`. */
void as_name_append(struct as_str *out, const char *linkage, bool plain);

/* "symbol", "plt", "dwarf", "unwind", "entry". */
const char *as_function_origin_word(unsigned origin);

/* Compiles a POSIX extended regular expression; `option` is for the sentence. Errors: USAGE. */
int as_regex_compile(regex_t *out, const char *text, const char *option, struct as_error *err);

struct as_selection {
    AS_VEC(uint32_t) function; /* indices, ascending, each once */
};

/*
 * Adds the functions that `name` means: the one with this linkage name (or alias), else this
 * readable name, else this readable name without parameters; else, when it has characters special
 * to regular expressions, all that match. Errors: NO_SYMBOL (none, with near names; or several,
 * listed), USAGE, NOMEM.
 */
int as_select_function(const struct as_object *object, const struct as_function *function, size_t n,
                       const char *name, struct as_selection *out, struct as_error *err);

/* The function that covers `address`, or NULL. O(log n). */
const struct as_function *as_function_at(const struct as_function *function, size_t n,
                                         uint64_t address);

#endif
