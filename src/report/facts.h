/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements over an experiment that more than one format of a report shows; ?1 is the run. Their
 * columns are the members of doc/reference/report-data.md, a quantity being five columns from
 * "X.value" on.
 */
#ifndef AS_REPORT_FACTS_H
#define AS_REPORT_FACTS_H

/* Findings of the run in their order, and how many of them are shown first. */
#define AS_FACTS_FINDINGS                                                                          \
    "v_findings WHERE ifnull(run_id, 0) IN (0, ?1)"                                                \
    " ORDER BY rank, finding_id"
#define AS_FACTS_FINDINGS_FIRST "7"

/* Flags by what they leave of the rest: the gravest first. */
#define AS_FACTS_GRAVEST "name IN ('unseen_time', 'crashed', 'killed', 'failed', 'no_samples') DESC"

extern const char as_facts_metrics_sql[];
extern const char as_facts_checks_sql[];
extern const char as_facts_findings_sql[];

#endif
