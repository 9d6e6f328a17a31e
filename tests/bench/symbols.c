/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark driver: loads the symbols, functions and line table of a file and counts them. "all" as
 * second argument adds inlined instances and declarations. One thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "object/object.h"

int main(int argc, char **argv)
{
    struct as_object *object = NULL;
    struct as_error err = {0};
    struct as_debug debug = {0};
    const struct as_function *function = NULL;
    const struct as_symbol *symbol = NULL;
    size_t functions = 0, damaged = 0;
    as_alloc_keep(); /* as the program does */
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s FILE [all]\n", argv[0]);
        return 2;
    }
    bool all = argc == 3 && !strcmp(argv[2], "all");
    unsigned parts = all ? AS_DEBUG_ALL : AS_DEBUG_UNITS | AS_DEBUG_LINES;
    if (as_object_open(argv[1], NULL, &object, &err) ||
        as_object_functions(object, all, &function, &functions, &err) ||
        as_object_debug(object, parts, 1, &debug, &damaged, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("symbols %zu\nfunctions %zu\nunits %zu\nlines %zu\ninlines %zu\n",
           as_object_symbols(object, &symbol), functions, debug.unit_n, debug.line_n,
           debug.inline_n);
    as_object_close(&object);
    return 0;
}
