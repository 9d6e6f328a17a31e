/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_filter.h"

#include <string.h>

#include "base/error.h"

#define NAMED_MOST 3u

static void note_kept(const struct as_cli *cli, const struct as_filter_choice *choice)
{
    const size_t n = choice->kept.name.n;
    struct as_str names = {0};
    for (size_t i = 0; i < n && i < NAMED_MOST; i++)
        as_str_appendf(&names, "%s%s",
                       i == 0       ? ""
                       : i + 1 == n ? " and "
                                    : ", ",
                       choice->kept.name.at[i]);
    if (n > NAMED_MOST)
        as_str_appendf(&names, " and %zu more", n - NAMED_MOST);
    if (n)
        as_cli_note(cli,
                    "%s: %s stay%s in the trace: without them, the remaining calls of this kind "
                    "would match wrong partners; exclude the whole group in doc/manual/trace.md, "
                    "or none of it",
                    choice->path, as_str_z(&names), n == 1 ? "s" : "");
    as_str_fini(&names);
}

int as_filter_choose(struct as_cli *cli, struct as_filter_choice *out, struct as_error *err)
{
    *out = (struct as_filter_choice){.path = cli->args.value[AS_OPTION_TRACE_FILTER]};
    if (!out->path)
        return 0;
    AS_TRY(as_trace_filter_read(out->path, &out->filter, err));
    if (as_trace_filter_settle(&out->filter, &out->kept) < 0)
        return as_error_nomem(err, "a filter");
    if (out->filter.rules_of_file)
        as_cli_note(cli,
                    "%s: rules for file names have no effect: traced routines have no source file",
                    out->path);
    note_kept(cli, out);
    return 0;
}

void as_filter_choice_fini(struct as_filter_choice *choice)
{
    as_trace_filter_fini(&choice->filter);
    as_filter_kept_fini(&choice->kept);
}

void as_filter_note(struct as_cli *cli, int64_t filtered_n)
{
    if (filtered_n)
        as_cli_note(cli,
                    "trace: %lld calls were left out by the filter; their time counts as the "
                    "program's own work",
                    (long long)filtered_n);
}
