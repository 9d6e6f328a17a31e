/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP as a question, for work that ends in order. A second one kills. */
#ifndef AS_CLI_STOPS_H
#define AS_CLI_STOPS_H

#include <stdbool.h>

/* From now on the signals are noted; one that is ignored stays so. */
void as_stops_note(void);
bool as_stops_came(void);
/* The exit status of a process that the noted signal ends. */
int as_stops_status(void);

#endif
