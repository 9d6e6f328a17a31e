/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of as_report_export, one file each. Each function writes all samples that were
 * read and counts the different stacks. Errors: NOMEM, those of as_stacks_walk.
 */
#ifndef AS_REPORT_EXPORT_H
#define AS_REPORT_EXPORT_H

#include "base/out.h"
#include "report/report.h"
#include "report/stacks.h"

/* Writes one line per stack: the frames from the outermost, separated by ';', a blank, and the
 * number of samples. With `blocked` it writes ns of waiting instead. */
int as_export_folded(struct as_stacks *stacks, const struct as_export_options *options,
                     struct as_out *out, uint64_t *stack_n, struct as_error *err);

/* Writes a sampled profile per group with weights in ns (file-format-schema.json of speedscope). */
int as_export_speedscope(struct as_stacks *stacks, const struct as_export_options *options,
                         struct as_out *out, uint64_t *stack_n, struct as_error *err);

/* Writes github.com/google/pprof/proto/profile.proto, compressed with gzip (RFC 1952). */
int as_export_pprof(struct as_stacks *stacks, const struct as_export_options *options,
                    struct as_out *out, uint64_t *stack_n, struct as_error *err);

#endif
