/* SPDX-License-Identifier: Apache-2.0 */
/* State of the process and of each thread, which all of the agent reads. It refers to nothing. */
#include "agent/core/agent.h"

struct as_agent as_agent;
AS_AGENT_LOCAL struct as_agent_thread as_agent_self;

bool as_agent_is_confined(void)
{
    return as_agent_self.confined || as_agent.confined;
}
