/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libassay.a: the calls of <assay/assay.h>, for programs. The agent is looked for once, by a symbol
 * that it exports; a statically linked program has no dlsym, hence none.
 */
#include <assay/assay.h>
#include <stddef.h>

#include "agent/shared/user.h"

extern void *dlsym(void *handle, const char *symbol) __attribute__((weak));

static const struct as_agent_hooks absent;

static const struct as_agent_hooks *find_hooks(void)
{
    const struct as_agent_hooks *found = dlsym ? dlsym(NULL, "assay_agent_hooks") : NULL;
    return found && found->version == AS_AGENT_HOOKS_VERSION ? found : &absent;
}

static const struct as_agent_hooks *hooks(void)
{
    static const struct as_agent_hooks *known;
    const struct as_agent_hooks *found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
    if (!found) {
        found = find_hooks();
        __atomic_store_n(&known, found, __ATOMIC_RELEASE);
    }
    return found;
}

void assay_region_begin(const char *name)
{
    if (hooks()->begin)
        hooks()->begin(name);
}

void assay_region_end(const char *name)
{
    if (hooks()->end)
        hooks()->end(name);
}

void assay_event(const char *name, double value)
{
    if (hooks()->event)
        hooks()->event(name, value);
}

void assay_datum(const char *name, double value)
{
    if (hooks()->datum)
        hooks()->datum(name, value);
}

void assay_off(void)
{
    if (hooks()->measure)
        hooks()->measure(0);
}

void assay_on(void)
{
    if (hooks()->measure)
        hooks()->measure(1);
}

int assay_is_measured(void)
{
    return hooks()->is_measured && hooks()->is_measured();
}
