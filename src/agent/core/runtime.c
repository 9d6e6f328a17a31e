/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Beginnings of names of files. */
static const char *const others[] = {"libassay",  "libgomp", "libiomp", "libomp",
                                     "libOpenCL", "libpocl", NULL};
static const char *const networks[] = {"libevent", "libfabric", "libmpi",     "libopen-",
                                       "libpmix",  "libpsm",    "libucm",     "libucp",
                                       "libucs",   "libuct",    "libibverbs", NULL};

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* <dlfcn.h> has it */
#pragma weak _dl_find_object

static const char *file_of(const void *address)
{
    struct dl_find_object found;
    if (!_dl_find_object || _dl_find_object((void *)address, &found) != 0 || !found.dlfo_link_map)
        return "";
    return found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "";
}
#else
static const char *file_of(const void *address)
{
    (void)address;
    return "";
}
#endif

static bool begins_as_one(const void *address, const char *const *beginning)
{
    const char *path = file_of(address), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (; *beginning; beginning++)
        if (strncmp(name, *beginning, strlen(*beginning)) == 0)
            return true;
    return false;
}

bool as_runtime_owns(const void *address)
{
    return begins_as_one(address, networks) || begins_as_one(address, others);
}

bool as_runtime_is_network(const void *address)
{
    return begins_as_one(address, networks);
}
