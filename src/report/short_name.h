/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long names of C++ functions told short: what stands in template and parameter brackets gives way
 * to "...". Knows no grammar beyond brackets; a name it does not understand stays as it is.
 */
#ifndef AS_REPORT_SHORT_NAME_H
#define AS_REPORT_SHORT_NAME_H

#include <stddef.h>

#include "base/str.h"

/* Appends `name`, short if it has more than `most` bytes. */
void as_short_name(struct as_str *to, const char *name, size_t most);

#endif
