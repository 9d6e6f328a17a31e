/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of the agent, in the order in which they begin. */
#include "agent/patcher/patcher.h"
#include "agent/shared/objects.h"
#include "agent/tracer/tracer.h"

extern const struct as_agent_client as_agent_objects;

const struct as_agent_client *const as_agent_clients[] = {&as_agent_sampler, &as_agent_patcher,
                                                          &as_agent_regions, &as_agent_tracer,
                                                          &as_agent_objects, NULL};

_Static_assert(sizeof as_agent_clients / sizeof *as_agent_clients <= AS_AGENT_CLIENTS_N + 1,
               "each has an area and a bit");
