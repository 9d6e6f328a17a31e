/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the C library that are known by their instructions: stripped libraries name none. */
#ifndef AS_OBJECT_KNOWN_CODE_H
#define AS_OBJECT_KNOWN_CODE_H

#include "object/internal.h"

/* Returns the name of the function whose instructions begin at `address`, static; NULL if they are
 * not known. */
const char *as_known_code_name(const struct assay_object *object, uint64_t address);

#endif
