/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements over an experiment that more than one format of a report shows; ?1 is the run. Their
 * columns are the members of doc/report-data.md, a quantity being five columns from "X.value" on.
 */
#ifndef AS_REPORT_FACTS_H
#define AS_REPORT_FACTS_H

extern const char as_facts_metrics_sql[];
extern const char as_facts_checks_sql[];
extern const char as_facts_findings_sql[];

#endif
