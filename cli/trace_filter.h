/* SPDX-License-Identifier: Apache-2.0 */
/* The user's choice of which routines are recorded: --filter of `assay trace`. */
#ifndef AS_CLI_TRACE_FILTER_H
#define AS_CLI_TRACE_FILTER_H

#include "cli.h"
#include "trace/filter.h"

struct as_filter_choice {
    const char *path; /* NULL: none was given */
    struct as_trace_filter filter;
    struct as_filter_kept kept;
};

/* Reads and checks the file of --filter, and says what of it has no effect. Release it in any case.
 */
int as_filter_choose(struct as_cli *cli, struct as_filter_choice *out, struct as_error *err);
void as_filter_choice_fini(struct as_filter_choice *choice);

/* Notes that the filter left out calls; 0: it left out none. */
void as_filter_note(struct as_cli *cli, int64_t filtered_n);

#endif
