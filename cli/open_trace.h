/* SPDX-License-Identifier: Apache-2.0 */
/* The time line that `assay open` serves. */
#ifndef AS_CLI_OPEN_TRACE_H
#define AS_CLI_OPEN_TRACE_H

#include "evaluate.h"
#include "serve/serve.h"
#include "timeline/timeline.h"

struct as_open_trace {
    struct as_evaluating source;
    struct as_timeline_trace timeline;
    bool is_open;
};

/* True for a file that is a trace of Paraver, by its name or content. */
bool as_open_is_trace(const char *path);
/* Opens the trace `path`, or that of the experiment, and its index. `is_open` stays false, without
 * an error, for an experiment without a trace. Errors: those of reading, and of making the index.
 */
int as_open_trace(struct as_cli *cli, const char *path, bool is_experiment,
                  struct as_open_trace *out, struct as_error *err);
void as_open_trace_close(struct as_open_trace *it);
/* For as_server_set_function; the context is a struct as_open_trace. */
int as_open_trace_answer(void *context, const char *name, size_t name_n, const char *query,
                         size_t query_n, struct as_answer *answer);

#endif
