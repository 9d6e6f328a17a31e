/* SPDX-License-Identifier: Apache-2.0 */
/* Warns that other processes used the CPUs while a verb took times. */
#ifndef AS_CLI_EXTERNAL_LOAD_H
#define AS_CLI_EXTERNAL_LOAD_H

#include "cli.h"
#include "machine/machine.h"

struct as_external_watch {
    struct as_host_load begun;
    int64_t wall_ns, own_ns; /* then */
    bool is_said;
};

/* Reads the load before the first time is taken. */
void as_external_begin(struct as_external_watch *load);
/*
 * Says what other processes used since, if that is too much: the first line of a text, else a note.
 * Says it once. A process that was attached to is not ours, so nothing is known then.
 */
void as_external_load_print(struct as_cli *cli, struct as_external_watch *load);

#endif
