/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL statements that several report formats use; ?1 is the run. Columns are the members of
 * doc/reference/report-data.md. A quantity has five columns from "X.value" on.
 */
#ifndef AS_REPORT_FACTS_H
#define AS_REPORT_FACTS_H

/* Findings of the run in order, and the number of findings shown first. */
#define AS_FACTS_FINDINGS                                                                          \
    "v_findings WHERE ifnull(run_id, 0) IN (0, ?1)"                                                \
    " ORDER BY rank, finding_id"
#define AS_FACTS_FINDINGS_FIRST "7"

/* Order of flags by their effect on the rest of the report: the most severe first. */
#define AS_FACTS_GRAVEST "name IN ('unseen_time', 'crashed', 'killed', 'failed', 'no_samples') DESC"

extern const char as_facts_metrics_sql[];
extern const char as_facts_checks_sql[];
extern const char as_facts_findings_sql[];

#endif
