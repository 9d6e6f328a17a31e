/* SPDX-License-Identifier: Apache-2.0 */
/* Matches a name with packed rules. In the agent, the rules are a file that may be damaged. */
#include <string.h>

#include "base/glob.h"
#include "trace/filter_match.h"

enum as_filter_verdict as_filter_verdict_of(const char *rules, size_t rules_b, const char *name)
{
    const struct as_view text = {name, strlen(name)};
    enum as_filter_verdict verdict = AS_FILTER_RECORDED;
    for (const char *at = rules, *end = rules + rules_b; at < end;) {
        const char *pattern = at + 1;
        const char *stop = pattern < end ? memchr(pattern, 0, (size_t)(end - pattern)) : NULL;
        if (!stop)
            break;
        const unsigned said = (unsigned)(*at - '0');
        const struct as_view glob = {pattern, (size_t)(stop - pattern)};
        if (said <= AS_FILTER_FOUND && said != verdict && as_glob_match(glob, text))
            verdict = (enum as_filter_verdict)said;
        at = stop + 1;
    }
    return verdict;
}
