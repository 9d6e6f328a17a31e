/* SPDX-License-Identifier: Apache-2.0 */
#include "open_trace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "exchange/import.h"
#include "timeline/page.h"

bool as_open_is_trace(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return as_import_names_trace(path); /* as_evaluate_open says that there is none */
    return S_ISREG(st.st_mode) && as_import_kind_of(path) == AS_IMPORT_PRV;
}

static void on_index_step(void *context, uint64_t lines_n)
{
    (void)lines_n;
    as_progress_add(context, AS_TIMELINE_STEP_LINES);
}

static int open_index(struct as_open_trace *it, bool is_experiment, struct as_error *err)
{
    struct as_progress progress;
    const struct as_arguments *args = &it->source.cli->args;
    const struct as_timeline_options options = {.title = args->positional[0],
                                                .files = args->positional + 1,
                                                .files_n = args->positional_n - 1,
                                                .is_temporary = is_experiment,
                                                .has_report = is_experiment,
                                                .verifies = as_given(args, AS_OPTION_VERIFY),
                                                .on_step = on_index_step,
                                                .context = &progress};
    as_progress_begin(&progress, STDERR_FILENO, "Indexing lines of the trace", 0);
    const int rc = as_timeline_open(&it->source.trace, &options, &it->timeline, err);
    as_progress_end(&progress);
    it->is_open = rc == 0;
    if (rc == 0 && *it->timeline.remade.text)
        as_cli_note(it->source.cli, "%s", it->timeline.remade.text);
    if (rc == 0)
        as_evaluate_note_bad(&it->source);
    return rc;
}

int as_open_trace(struct as_cli *cli, const char *path, bool is_experiment,
                  struct as_open_trace *out, struct as_error *err)
{
    struct as_error why = {0};
    *out = (struct as_open_trace){.source = {.cli = cli, .err = err}};
    int rc = as_evaluate_open(&out->source, path, &why);
    if (rc == 0)
        rc = open_index(out, is_experiment, &why);
    if (rc < 0)
        as_open_trace_close(out);
    if (rc == AS_ERR_NOT_FOUND && is_experiment)
        return 0;
    if (rc < 0)
        *err = why;
    return rc;
}

void as_open_trace_close(struct as_open_trace *it)
{
    if (it->is_open)
        as_timeline_close(&it->timeline);
    it->is_open = false;
    as_evaluate_close(&it->source);
}

int as_open_trace_answer(void *context, const char *name, size_t name_n, const char *query,
                         size_t query_n, struct as_answer *answer)
{
    struct as_open_trace *it = context;
    const struct as_view which = {name, name_n};
    struct as_str body = {0};
    int status = 200;
    if (name_n == 0 || as_view_equal(which, as_view_of("timeline"))) {
        answer->is_page = 1;
        as_str_append(&body, as_timeline_page, as_timeline_page_b);
    } else {
        status = as_timeline_answer(&it->timeline, which, (struct as_view){query, query_n}, &body,
                                    &answer->type);
    }
    if (body.failed)
        status = 500;
    answer->body = body.p;
    answer->body_b = body.n;
    return status;
}
