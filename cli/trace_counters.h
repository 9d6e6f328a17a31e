/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the counters of a trace, by thread. */
#ifndef AS_CLI_TRACE_COUNTERS_H
#define AS_CLI_TRACE_COUNTERS_H

#include "report/parallel.h"
#include "sheet.h"

int as_trace_counters_text(struct as_cli *cli, const struct as_parallel *parallel,
                           struct as_error *err);
/* Under "counters". */
void as_trace_counters_facts(struct as_facts *facts, const struct as_parallel *parallel);

#endif
