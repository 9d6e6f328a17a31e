/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs that make a profile share; see profiling.h.
 */
#include "profiling.h"

#include <string.h>
#include <unistd.h>

#include <assay/report.h>

#include "base/term.h"

const char *as_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void as_free_name(const char *name, struct as_str *out)
{
    for (unsigned i = 1; i < 100000; i++) {
        as_str_clear(out);
        as_str_appendz(out, name);
        if (i > 1)
            as_str_appendf(out, "-%u", i);
        as_str_appendz(out, ".assay");
        if (access(as_str_z(out), F_OK) != 0)
            return;
    }
}

void as_stage_show(void *context, const char *name, uint64_t done, uint64_t total)
{
    struct as_stage *stage = context;
    if (stage->quiet)
        return;
    if (stage->name != name) {
        as_stage_end(stage);
        as_progress_begin(&stage->progress, STDERR_FILENO, name, total);
        stage->is_on = true;
        stage->name = name;
        stage->done = 0;
    }
    if (done > stage->done)
        as_progress_add(&stage->progress, done - stage->done);
    stage->done = done;
}

void as_stage_end(struct as_stage *stage)
{
    if (stage->is_on)
        as_progress_end(&stage->progress);
    stage->is_on = false;
}

/* Text goes beside what the program wrote, JSON and CSV where results go. */
int as_summary_show(struct as_cli *cli, struct assay_experiment *experiment, int64_t run_id,
                    struct assay_error *err)
{
    struct as_out out;
    const size_t width = as_term_width(STDERR_FILENO);
    const struct assay_report_text_options options = {
        .width = width && width < 120 ? (unsigned)width
                 : width              ? 120
                                      : 80,
        .colour = as_color_use((enum as_color)cli->args.number[AS_OPTION_COLOR], STDERR_FILENO),
        .utf8 = assay_report_locale_is_utf8(),
    };
    if (as_given(&cli->args, AS_OPTION_QUIET))
        return 0;
    as_out_init_fd(&out, STDERR_FILENO, "standard error");
    as_out_c(&out, '\n');
    int rc = assay_report_profile(experiment, run_id, &options, &out, err);
    const int flushed = as_out_flush(&out, rc < 0 ? NULL : err);
    as_out_fini(&out);
    return rc < 0 ? rc : flushed;
}
