/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The template of report pages, converted to C by tools/gen-shell.py. It is built from web/, or it
 * is src/report/fallback.html in a build without Node.js.
 */
#ifndef AS_REPORT_SHELL_H
#define AS_REPORT_SHELL_H

#include <stddef.h>

extern const char as_report_shell[];
extern const size_t as_report_shell_b; /* without the terminating zero */

#endif
