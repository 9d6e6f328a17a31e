/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tracer/tracer_filter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/tracer/tracer.h"
#include "trace/filter_match.h"

static const char *rules; /* NULL: there are none */
static size_t rules_b;

void as_tracer_filter_begin(void)
{
    char path[AS_AGENT_PAGE_B];
    struct stat status;
    void *at = MAP_FAILED;
    as_agent_path(AS_TRACE_FILTER, path);
    const int fd = as_agent_open(path, O_RDONLY);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    rules = at == MAP_FAILED ? NULL : at;
    rules_b = rules ? (size_t)status.st_size : 0;
}

uint32_t as_tracer_filter_bits(const char *name)
{
    if (!rules)
        return 0;
    switch (as_filter_verdict_of(rules, rules_b, name)) {
    case AS_FILTER_LEFT_OUT:
        return AS_TRACER_LEFT_OUT;
    case AS_FILTER_FOUND:
        return AS_TRACER_NO_POLLS;
    default:
        return 0;
    }
}
