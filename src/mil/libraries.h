/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries with functions that probes call. */
#ifndef AS_MIL_LIBRARIES_H
#define AS_MIL_LIBRARIES_H

#include "mil/probe.h"

/* Writes the absolute path of the library to `out` (4096 bytes), so that a program may change
 * its directory. If the library does not exist, returns false and copies the path of the probe
 * file. */
bool as_probe_library_path(const struct as_probe_call *call, char *out);

#endif
