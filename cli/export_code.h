/* SPDX-License-Identifier: Apache-2.0 */
/* What functions and lines stand at addresses of samples, by the profile of their run. */
#ifndef ASSAY_CLI_EXPORT_CODE_H
#define ASSAY_CLI_EXPORT_CODE_H

#include <assay/experiment.h>

#include "base/vec.h"
#include "trace/read.h"

struct as_export_place {
    uint64_t address; /* in the file */
    char *path, *name;
    char *file; /* of the source; empty: not known */
    uint32_t line;
};
struct as_export_code {
    AS_VEC(struct as_export_place) place; /* by address */
    struct as_trace_code code;            /* for the trace, while this is there */
};

/* Release it in any case. */
int as_export_code_read(struct assay_experiment *experiment, struct as_export_code *out,
                        struct assay_error *err);
void as_export_code_fini(struct as_export_code *code);

#endif
