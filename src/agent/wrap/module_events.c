/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/wrap/module_events.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static int note_library(struct dl_phdr_info *info, size_t size_b, void *context)
{
    struct as_loaded *it = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    (void)size_b;
    for (const char *const *p = it->prefix; *p; p++) {
        if (strncmp(name, *p, strlen(*p)) != 0 || it->library_n == AS_LOADED_MOST)
            continue;
        void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle)
            it->library[it->library_n++] = handle;
        return 0;
    }
    return 0;
}

void as_loaded_collect(struct as_loaded *it)
{
    it->library_n = 0;
    dl_iterate_phdr(note_library, it);
}

static void *symbol_in(void *library, const char *symbol, const char *version)
{
    void *at = version ? dlvsym(library, symbol, version) : NULL;
    return at ? at : dlsym(library, symbol);
}

void *as_loaded_find(const struct as_loaded *it, const char *symbol, const char *version)
{
    void *at = NULL;
    for (unsigned i = 0; i < it->library_n && !at; i++)
        at = symbol_in(it->library[i], symbol, version);
    return at ? at : symbol_in(RTLD_NEXT, symbol, version);
}
