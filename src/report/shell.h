/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a report fills in, made into C by tools/gen-shell.py: that of web/, or
 * src/report/fallback.html where the program was built without Node.js.
 */
#ifndef AS_REPORT_SHELL_H
#define AS_REPORT_SHELL_H

#include <stddef.h>

extern const char as_report_shell[];
extern const size_t as_report_shell_b; /* without the zero at its end */

#endif
