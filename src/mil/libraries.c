/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before any run that the libraries of probes exist and export the called functions. */
#include "mil/libraries.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool as_probe_library_path(const struct as_probe_call *call, char *out)
{
    char whole[PATH_MAX];
    const bool is_there = realpath(call->library, whole);
    snprintf(out, 4096, "%s", is_there ? whole : call->library);
    return is_there;
}

static bool has_function(const struct as_object *object, const char *name)
{
    const struct as_symbol *symbol;
    const size_t n = as_object_symbols(object, &symbol);
    for (size_t i = 0; i < n; i++)
        if (symbol[i].binding != AS_BIND_LOCAL && !symbol[i].hidden &&
            (symbol[i].kind == AS_SYMBOL_FUNCTION || symbol[i].kind == AS_SYMBOL_IFUNC) &&
            strcmp(symbol[i].name, name) == 0)
            return true;
    return false;
}

static int find_library(const struct as_mil_probe *probe, const struct as_probe_call *call,
                        struct as_error *err)
{
    char path[4096];
    struct as_object *object;
    if (!as_probe_library_path(call, path))
        return as_error_set(err, AS_ERR_USAGE,
                            "probe '%s' (line %u): the library %s is missing; build it, or use "
                            "its path from the current directory",
                            probe->name, call->line, call->library);
    AS_TRY(as_object_open(path, NULL, &object, err));
    const bool is_library = as_object_info(object)->type == AS_OBJECT_SHARED;
    const bool has = is_library && has_function(object, call->function);
    as_object_close(&object);
    if (!is_library)
        return as_error_set(err, AS_ERR_USAGE,
                            "probe '%s' (line %u): %s is not a shared library; build it with "
                            "-shared -fPIC",
                            probe->name, call->line, call->library);
    return has ? 0
               : as_error_set(err, AS_ERR_USAGE,
                              "probe '%s' (line %u): %s exports no function '%s'; check nm -D %s",
                              probe->name, call->line, call->library, call->function,
                              call->library);
}

int as_probes_find_libraries(const struct as_probes *probes, struct as_error *err)
{
    as_vec_foreach (&probes->probe, probe)
        as_vec_foreach (&probe->call, call)
            AS_TRY(find_library(probe, call, err));
    return 0;
}
