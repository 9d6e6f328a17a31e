/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that come and go. The loader looks at who calls dlopen: a name without a slash is
 * searched along the RUNPATH of the caller. Such calls are passed on by a jump, which makes the
 * program the caller, and are told later; the others are watched to their end.
 */
#include <string.h>

#include "agent/core/agent.h"
#include "base/clock.h"

static void notify_modules_changed(uint64_t since_ns)
{
    const uint64_t outer_ns = as_agent_self.loading_ns;
    as_agent_self.loading_ns = since_ns;
    AS_AGENT_NOTIFY(modules_changed);
    as_agent_self.loading_ns = outer_ns;
}

void as_agent_notify_loaded(void)
{
    if (atomic_exchange(&as_agent.loaded, 0))
        notify_modules_changed(as_monotonic_ns());
}

AS_AGENT_API void *dlopen(const char *name, int flags)
{
    if (!name || !as_agent_active())
        return AS_AGENT_REAL(dlopen)(name, flags);
    if (strchr(name, '/') && !strchr(name, '$')) {
        const uint64_t begun_ns = as_monotonic_ns();
        void *handle = AS_AGENT_REAL(dlopen)(name, flags);
        if (handle) {
            atomic_store(&as_agent.loaded, 0);
            notify_modules_changed(begun_ns);
        }
        return handle;
    }
    as_agent_notify_loaded(); /* of an earlier one */
    atomic_store(&as_agent.loaded, 1);
    AS_AGENT_NOTIFY(modules_unseen);
    return AS_AGENT_REAL(dlopen)(name, flags);
}

AS_AGENT_API int dlclose(void *handle)
{
    if (!as_agent_active())
        return AS_AGENT_REAL(dlclose)(handle);
    as_agent_notify_loaded();
    const int rc = AS_AGENT_REAL(dlclose)(handle);
    AS_AGENT_NOTIFY(modules_changed);
    return rc;
}
