/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises MPI launchers without running them, and decides whether their ranks will be
 * descendants of this process. Sources: mpirun(1) of Open MPI 4 and 5, MPICH's Hydra, srun(1).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filemap.h"
#include "base/untrusted_open.h"
#include "launch/internal.h"

/* Bytes of a file named mpirun that are searched for marks of its MPI. */
#define SEARCHED_B (4u << 20)

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Finds the MPI of a program or script named mpirun or mpiexec from its content. The mpirun of Open
 * MPI 5 runs prterun. That of Intel is a script that runs mpiexec.hydra. */
static enum as_launch_kind maker_of(const char *path)
{
    static const struct {
        const char *text;
        enum as_launch_kind kind;
    } mark[] = {{"orterun", AS_LAUNCH_OPENMPI}, {"prterun", AS_LAUNCH_OPENMPI},
                {"PRTE_", AS_LAUNCH_OPENMPI},   {"OMPI_", AS_LAUNCH_OPENMPI},
                {"hydra", AS_LAUNCH_MPICH},     {"HYDRA", AS_LAUNCH_MPICH}};
    enum as_launch_kind kind = AS_LAUNCH_PROGRAM;
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0 || st.st_size <= 0) {
        if (fd >= 0)
            close(fd);
        return kind;
    }
    struct as_filemap map;
    const int number =
        as_filemap_open(fd, st.st_size < SEARCHED_B ? (size_t)st.st_size : SEARCHED_B, path, &map);
    close(fd);
    if (number)
        return kind;
    for (size_t i = 0; i < sizeof mark / sizeof *mark && !kind; i++)
        if (memmem(map.at, map.n, mark[i].text, strlen(mark[i].text)))
            kind = mark[i].kind;
    as_filemap_close(&map);
    return kind;
}

enum as_launch_kind as_launcher_of(const char *real_path)
{
    static const struct {
        const char *name;
        enum as_launch_kind kind;
    } known[] = {
        {"orterun", AS_LAUNCH_OPENMPI},        {"prterun", AS_LAUNCH_OPENMPI},
        {"mpirun.openmpi", AS_LAUNCH_OPENMPI}, {"mpiexec.openmpi", AS_LAUNCH_OPENMPI},
        {"mpiexec.hydra", AS_LAUNCH_MPICH},    {"mpirun.mpich", AS_LAUNCH_MPICH},
        {"mpiexec.mpich", AS_LAUNCH_MPICH},    {"srun", AS_LAUNCH_SRUN},
    };
    const char *name = base_name(real_path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].kind;
    if (strcmp(name, "mpirun") == 0 || strcmp(name, "mpiexec") == 0)
        return maker_of(real_path);
    return AS_LAUNCH_PROGRAM;
}

void as_launcher_places(struct as_launch_plan *plan)
{
    if (plan->kind != AS_LAUNCH_SRUN)
        return;
    plan->away = true;
    snprintf(plan->away_reason, sizeof plan->away_reason,
             "srun's tasks are started by Slurm's daemon on each node, not by srun");
}
