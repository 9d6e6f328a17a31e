/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/real.h"

#define NAME_OF(name) #name,
static const char *const names[] = {AS_AGENT_REALS(NAME_OF)};
static void *_Atomic found[AS_AGENT_REALS_N];

/* Before our constructor ran, others may call. */
void *as_agent_real_at(enum as_agent_real_index number)
{
    void *at = found[number];
    if (!at)
        found[number] = at = dlsym(RTLD_NEXT, names[number]);
    return at;
}

void as_agent_real_find(void)
{
    for (unsigned i = 0; i < AS_AGENT_REALS_N; i++)
        as_agent_real_at(i);
}
