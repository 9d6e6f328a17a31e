/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a report in its experiment. */
#ifndef AS_CLI_REPORT_PATH_H
#define AS_CLI_REPORT_PATH_H

#include "base/str.h"
#include "cli.h"
#include "report/report.h"

/* "DIRECTORY/report.html", or "DIRECTORY/report-run-2.html" where --run was given. */
void as_report_path(const struct as_cli *cli, const char *directory, enum as_report_format format,
                    struct as_str *path);

#endif
