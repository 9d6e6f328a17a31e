/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that probes call. */
#ifndef AS_MIL_LIBRARIES_H
#define AS_MIL_LIBRARIES_H

#include "mil/probe.h"

/* The path as a program finds it that changes its directory; `out` has 4096 bytes. False: it is not
 * there, and `out` what the user wrote. */
bool as_probe_library_path(const struct as_probe_call *call, char *out);

#endif
