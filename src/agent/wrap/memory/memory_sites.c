/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the allocator as blocks with a site, for profiles; see memory_wrap.h and objects.h. An
 * allocator of the program's own that stands before the wrappers is found by a call.
 */
#include "agent/shared/objects.h"
#include "agent/wrap/memory/memory_wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

static const struct as_objects_hooks *hooks; /* NULL: not looked for yet, or none */
static AS_MEMORY_LOCAL bool probing, was_entered;

/* ---- The allocator of the program
 * ---------------------------------------------------------------- */

static bool is_in_this_library(const void *address)
{
    Dl_info found, ours;
    return dladdr(address, &found) && dladdr((const void *)&hooks, &ours) &&
           found.dli_fbase == ours.dli_fbase;
}

/* Returns true if the program calls the wrappers. The address of malloc may be a stub of the
 * program. */
static bool is_called(void)
{
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
    if (!allocate || !release || is_in_this_library((const void *)allocate))
        return true;
    probing = true;
    was_entered = false;
    void *block = allocate(AS_OBJECTS_LEAST_B);
    release(block);
    probing = false;
    return was_entered;
}

__attribute__((constructor)) static void find_objects(void)
{
    const int saved = errno;
    const struct as_objects_hooks *found = dlsym(RTLD_DEFAULT, "assay_objects_hooks");
    as_memory_real(AS_MEMORY_MALLOC);
    if (found && found->version == AS_OBJECTS_HOOKS_VERSION) {
        as_memory_min_b = AS_OBJECTS_LEAST_B;
        if (is_called())
            hooks = found;
        else
            found->unseen();
    }
    if (!hooks)
        as_memory_min_b = UINT64_MAX;
    errno = saved;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

bool as_memory_enter(struct as_memory_call *call, enum as_memory_routine routine)
{
    const int saved = errno;
    was_entered |= probing;
    call->thread = NULL;
    call->routine = routine;
    const bool is_on = hooks && hooks->enter();
    call->enter = is_on ? (uint64_t)hooks->now() : 0;
    errno = saved;
    return is_on;
}

void as_memory_gave(const struct as_memory_call *call, void *block, size_t size_b)
{
    (void)call;
    if (block && as_memory_is_recorded(block, size_b))
        hooks->allocated(block, size_b, false);
    hooks->leave();
}

void as_memory_took(const struct as_memory_call *call, const void *block)
{
    hooks->released(block, call->enter);
    hooks->leave();
}

void as_memory_resized(const struct as_memory_call *call, const void *before, void *now,
                       size_t size_b)
{
    if (before && (now || size_b == 0))
        hooks->released(before, call->enter);
    as_memory_gave(call, now, size_b);
}

void as_memory_mapped(const struct as_memory_call *call, const void *at, size_t size_b, int flags)
{
    (void)call;
    if (at && flags & MAP_ANONYMOUS)
        hooks->allocated(at, size_b, true);
    hooks->leave();
}
