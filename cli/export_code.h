/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and lines of addresses of a trace: from samples of the run, else from its code. */
#ifndef AS_CLI_EXPORT_CODE_H
#define AS_CLI_EXPORT_CODE_H

#include "base/vec.h"
#include "catalogue/catalogue.h"
#include "trace/read.h"

struct as_export_place {
    uint64_t address; /* in the file */
    char *path, *name;
    char *file; /* of the source; empty: not known */
    uint32_t line;
};
/* A file of code that was asked for. */
struct as_export_module {
    const char *path;                 /* the trace's */
    struct as_catalogue_module *code; /* NULL: nothing is known of it */
};
struct as_export_code {
    struct as_experiment *experiment;
    const struct as_trace *trace;
    struct as_catalogue *catalogue; /* NULL until a file is asked for */
    AS_VEC(struct as_export_module) module;
    AS_VEC(char *) owned;
    AS_VEC(struct as_export_place) place; /* by address */
    struct as_trace_code code;            /* for the trace, while this is there */
};

/* Release it in any case, before the trace is closed. */
int as_export_code_read(struct as_experiment *experiment, const struct as_trace *trace,
                        struct as_export_code *out, struct as_error *err);
void as_export_code_fini(struct as_export_code *code);

#endif
