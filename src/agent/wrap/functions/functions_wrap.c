/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program as those who see them tell the tracer: calls that compilers put in
 * (-finstrument-functions), and points that the patcher wrote (`assay trace --functions`). What
 * stood behind these names before is called as well.
 */
#include <assay/probe.h>
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "agent/tracer/tracer.h"
#include "agent/tracer/tracer_functions.h"

#define FUNCTIONS_API __attribute__((visibility("default"), no_instrument_function))
#define FUNCTIONS_OWN static __attribute__((no_instrument_function))

typedef void compiled_call(void *function, void *site);
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void assay_function_begins(const struct assay_probe_hit *hit);
void assay_function_ends(const struct assay_probe_hit *hit);

static struct {
    const struct as_tracer_hooks *hooks; /* NULL: not found */
    int is_found, is_begun;
    const struct as_tracer_hooks *compiled; /* NULL: nobody wants them */
    const struct as_tracer_hooks *patched;
    compiled_call *enter, *exit; /* of others; NULL: there are none */
    uintptr_t bias;              /* of the program's file */
} tells;

/* The first is the program. */
FUNCTIONS_OWN int store_program_bias(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uintptr_t *)context = info->dlpi_addr;
    return 1;
}

/* Two threads write the same. */
FUNCTIONS_OWN __attribute__((constructor)) void find_functions(void)
{
    const struct as_tracer_hooks *hooks = dlsym(RTLD_DEFAULT, "assay_tracer_hooks");
    tells.hooks = hooks && hooks->version == AS_TRACER_VERSION ? hooks : NULL;
    tells.enter = (compiled_call *)dlsym(RTLD_NEXT, "__cyg_profile_func_enter");
    tells.exit = (compiled_call *)dlsym(RTLD_NEXT, "__cyg_profile_func_exit");
    dl_iterate_phdr(store_program_bias, &tells.bias);
    __atomic_store_n(&tells.is_found, 1, __ATOMIC_RELEASE);
}

/* Not before the program runs: when the patcher loads us the agent knows no groups yet. */
FUNCTIONS_OWN __attribute__((noinline)) void begin_functions(void)
{
    if (!__atomic_load_n(&tells.is_found, __ATOMIC_ACQUIRE))
        find_functions();
    const uint32_t groups = tells.hooks ? tells.hooks->groups() : 0;
    tells.compiled = groups & AS_TRACER_FUNCTIONS ? tells.hooks : NULL;
    tells.patched = groups ? tells.hooks : NULL;
    __atomic_store_n(&tells.is_begun, 1, __ATOMIC_RELEASE);
}

/* ---- By compilers ---------------------------------------------------------------------------- */

FUNCTIONS_API void __cyg_profile_func_enter(void *function, void *site)
{
    if (!__atomic_load_n(&tells.is_begun, __ATOMIC_ACQUIRE))
        begin_functions();
    if (tells.compiled) {
        const uintptr_t address = (uintptr_t)function;
        const struct as_tracer_function it = {.key = address,
                                              .address = address,
                                              .frame = (uintptr_t)__builtin_frame_address(0),
                                              .site = (uintptr_t)site,
                                              .behind = (uintptr_t)__builtin_return_address(0)};
        tells.compiled->begins(&it);
    }
    if (tells.enter)
        tells.enter(function, site);
}

/* A call that replaced the function's return comes back to where that would. */
FUNCTIONS_API void __cyg_profile_func_exit(void *function, void *site)
{
    if (tells.compiled)
        tells.compiled->ends((uintptr_t)function, (uintptr_t)__builtin_frame_address(0),
                             __builtin_return_address(0) == site);
    if (tells.exit)
        tells.exit(function, site);
}

/* ---- By points ------------------------------------------------------------------------------- */

/* Where the return address stands is one place at both; as much lower as our frame would be, were
 * it called from there. */
#define FRAME_OF(hit) ((uintptr_t)(hit)->general[4] - 16)
/* Probes come in pairs (mil/functions.c): no function lies that low. */
#define KEY_OF(hit) ((uintptr_t)(hit)->probe / 2 + 1)

FUNCTIONS_API void assay_function_begins(const struct assay_probe_hit *hit)
{
    if (!__atomic_load_n(&tells.is_begun, __ATOMIC_ACQUIRE))
        begin_functions();
    const struct as_tracer_function it = {.key = KEY_OF(hit),
                                          .address = tells.bias + (uintptr_t)hit->address,
                                          .name = hit->name,
                                          .frame = FRAME_OF(hit),
                                          .site = *(const uintptr_t *)hit->general[4],
                                          .behind = (uintptr_t)hit->address};
    if (tells.patched)
        tells.patched->begins(&it);
}

FUNCTIONS_API void assay_function_ends(const struct assay_probe_hit *hit)
{
    if (tells.patched)
        tells.patched->ends(KEY_OF(hit), FRAME_OF(hit), false);
}
