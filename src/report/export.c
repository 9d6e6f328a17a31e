/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: reads the call stacks of a run and writes them in one of the formats. */
#include "report/export.h"

#include "base/error.h"

int as_report_export(struct as_experiment *experiment, int64_t run_id,
                     const struct as_export_options *options, struct as_out *out, uint64_t *stack_n,
                     struct as_error *err)
{
    struct as_stacks stacks;
    uint64_t counted = 0;
    int rc = as_stacks_read(experiment, run_id, options->blocked, &stacks, err);

    if (rc == 0)
        switch (options->format) {
        case AS_EXPORT_FOLDED:
            rc = as_export_folded(&stacks, options, out, &counted, err);
            break;
        case AS_EXPORT_SPEEDSCOPE:
            rc = as_export_speedscope(&stacks, options, out, &counted, err);
            break;
        case AS_EXPORT_PPROF:
            rc = as_export_pprof(&stacks, options, out, &counted, err);
            break;
        default:
            rc = as_error_set(err, AS_ERR_INTERNAL, "export format %d", (int)options->format);
        }
    if (stack_n)
        *stack_n = counted;
    as_stacks_release(&stacks);
    return rc;
}
