/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of MPI: each routine is a jump through a slot (made by tools/gen-wrappers.py), which
 * leads here at first. The MPI may be needed by the program, or come late by dlopen without being
 * seen by others (Python): it is looked for among all that is loaded.
 */
#include "agent/wrap/mpi/mpi_parts.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/wrap/module_events.h"
#include "agent/wrap/mpi/mpi_front.h"

static const char *const prefixes[] = {"libmpi", NULL};
static struct as_loaded loaded = {.prefix = prefixes}; /* what has MPI's routines */
static void *real[AS_MPI_ROUTINES_MOST], *real_fortran[AS_MPI_ROUTINES_MOST];

/* ---- Which MPI ---------------------------------------------------------------------------- */

static void *find_symbol(const char *symbol)
{
    return as_loaded_find(&loaded, symbol, NULL);
}

static void *find_data(const char *symbol)
{
    void *at = dlsym(RTLD_DEFAULT, symbol);
    return at ? at : find_symbol(symbol);
}

/* Beside this library. */
static bool wrapper_path(const char *name, char *path, size_t path_b)
{
    Dl_info own;
    const char *slash;
    if (!dladdr((void *)as_mpi_resolve, &own) || !(slash = strrchr(own.dli_fname, '/')))
        return false;
    const size_t directory_b = (size_t)(slash + 1 - own.dli_fname), name_b = strlen(name) + 1;
    if (directory_b + name_b > path_b)
        return false;
    memcpy(path, own.dli_fname, directory_b);
    memcpy(path + directory_b, name, name_b);
    return true;
}

static void wrap_routines(const struct as_mpi_front *front)
{
    char path[4096];
    const bool is_open = front->find("ompi_mpi_comm_world") != NULL;
    const char *name = is_open ? "libassay-mpi-openmpi.so" : "libassay-mpi-mpich.so";
    void *handle =
        wrapper_path(name, path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    as_mpi_wrap_function *wrap = handle ? (as_mpi_wrap_function *)dlsym(handle, AS_MPI_WRAP) : NULL;
    if (wrap)
        wrap(front, as_mpi_slot, as_mpi_slot_fortran, as_mpi_slot_profiling);
}

/* ---- The first call ----------------------------------------------------------------------- */

/* What was asked for and is nowhere: as the loader would have said. */
static void absent_routine(void)
{
    static const char text[] = "assay: an MPI routine was called that the loaded MPI does not "
                               "have\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

static void *find_profiling(const char *name)
{
    char symbol[128] = "P";
    const size_t name_b = strlen(name) + 1;
    if (name_b + 1 > sizeof symbol)
        return (void *)absent_routine;
    memcpy(symbol + 1, name, name_b);
    void *at = find_symbol(symbol);
    return at ? at : (void *)absent_routine;
}

static void find_all(void)
{
    as_loaded_collect(&loaded);
    for (size_t i = 0; i < as_mpi_routines_n; i++) {
        real[i] = find_symbol(as_mpi_name[i]);
        real_fortran[i] = find_symbol(as_mpi_name_fortran[i]);
        as_mpi_slot_profiling[i] = find_profiling(as_mpi_name[i]);
    }
    for (size_t i = 0; i < as_mpi_routines_n; i++) {
        as_mpi_slot[i] = real[i] ? real[i] : (void *)absent_routine;
        as_mpi_slot_fortran[i] = real_fortran[i] ? real_fortran[i] : (void *)absent_routine;
    }
}

void as_mpi_resolve(void)
{
    static _Atomic int state;
    enum { NOBODY, SOMEBODY, READY };
    int nobody = NOBODY;
    if (!atomic_compare_exchange_strong(&state, &nobody, SOMEBODY)) {
        while (atomic_load(&state) != READY)
            syscall(SYS_sched_yield);
        return;
    }
    static struct as_mpi_front front;
    front = (struct as_mpi_front){.hooks = dlsym(RTLD_DEFAULT, "assay_tracer_hooks"),
                                  .find = find_symbol,
                                  .find_data = find_data,
                                  .n = as_mpi_routines_n,
                                  .real = real,
                                  .real_fortran = real_fortran};
    find_all();
    if (front.hooks && front.hooks->version == AS_TRACER_VERSION &&
        (front.hooks->groups() & AS_TRACER_MPI))
        wrap_routines(&front);
    atomic_store(&state, READY);
}
