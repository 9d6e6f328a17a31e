/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay_report_export, one file each. Each writes all samples that were read and
 * counts the different stacks.
 */
#ifndef AS_REPORT_EXPORT_H
#define AS_REPORT_EXPORT_H

#include <assay/report.h>

#include "base/out.h"
#include "report/stacks.h"

/* One line a stack: frames from the outermost, separated by ';', a blank, and the number of
 * samples, or with `blocked` the nanoseconds waited. */
int as_export_folded(struct as_stacks *stacks, const struct assay_export_options *options,
                     struct as_out *out, uint64_t *stack_n, struct assay_error *err);

/* speedscope's file-format-schema.json: a sampled profile a group, weights in nanoseconds. */
int as_export_speedscope(struct as_stacks *stacks, const struct assay_export_options *options,
                         struct as_out *out, uint64_t *stack_n, struct assay_error *err);

/* github.com/google/pprof/proto/profile.proto, in gzip (RFC 1952). */
int as_export_pprof(struct as_stacks *stacks, const struct assay_export_options *options,
                    struct as_out *out, uint64_t *stack_n, struct assay_error *err);

#endif
