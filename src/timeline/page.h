/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of the time line, made into C by tools/gen-shell.py: that of web/, or
 * src/timeline/fallback.html where the program was built without Node.js.
 */
#ifndef AS_TIMELINE_PAGE_H
#define AS_TIMELINE_PAGE_H

#include <stddef.h>

extern const char as_timeline_page[];
extern const size_t as_timeline_page_b; /* without the zero at its end */

#endif
