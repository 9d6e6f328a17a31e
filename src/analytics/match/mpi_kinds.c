/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of MPI operations, by the names of their routines. */
#include <string.h>

#include "analytics/state/walking.h"

bool as_mpi_is(const char *routine, const char *operation)
{
    const char *name = strncasecmp(routine, "MPI_", 4) == 0 ? routine + 4 : routine;
    const size_t n = strlen(operation);
    return strncasecmp(name, operation, n) == 0 ||
           ((*name == 'I' || *name == 'i') && strncasecmp(name + 1, operation, n) == 0);
}

enum as_collective_kind as_mpi_collective_of(const char *routine)
{
    static const struct {
        const char *begins;
        enum as_collective_kind kind;
    } names[] = {
        {"barrier", AS_COLLECTIVE_KIND_BARRIER},
        {"bcast", AS_COLLECTIVE_KIND_ONE_TO_ALL},
        {"scatter", AS_COLLECTIVE_KIND_ONE_TO_ALL},
        {"reduce_scatter", AS_COLLECTIVE_KIND_ALL_TO_ALL},
        {"reduce", AS_COLLECTIVE_KIND_ALL_TO_ONE},
        {"gather", AS_COLLECTIVE_KIND_ALL_TO_ONE},
        {"scan", AS_COLLECTIVE_KIND_SCAN},
        {"exscan", AS_COLLECTIVE_KIND_SCAN},
        {"neighbor", AS_COLLECTIVE_KIND_NEIGHBOURHOOD},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (as_mpi_is(routine, names[i].begins))
            return names[i].kind;
    return AS_COLLECTIVE_KIND_ALL_TO_ALL;
}

/* The mode of a send stands in the name of its routine, in every format of traces. */
uint32_t as_mpi_send_bits(const char *routine)
{
    if (as_mpi_is(routine, "ssend"))
        return AS_MESSAGE_SYNCHRONOUS;
    return as_mpi_is(routine, "bsend") || as_mpi_is(routine, "rsend") ? AS_MESSAGE_LOCAL : 0;
}

bool as_mpi_is_file(const char *routine)
{
    return as_mpi_is(routine, "file_read") || as_mpi_is(routine, "file_write") ||
           as_mpi_is(routine, "file_iread") || as_mpi_is(routine, "file_iwrite");
}
