/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launchers of ranks: by which name each goes, and the variables in which it tells a process its
 * rank. Sources: mpirun(1) of Open MPI 4 and 5, the Hydra and PMI documents of MPICH, srun(1),
 * flux-run(1).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "launch/internal.h"

/* ---- Names --------------------------------------------------------------------------------- */

enum assay_launch_kind as_launcher_of(const char *real_path, bool is_script)
{
    static const struct {
        const char *name;
        enum assay_launch_kind kind;
    } known[] = {
        {"orterun", ASSAY_LAUNCH_OPENMPI},
        {"prterun", ASSAY_LAUNCH_OPENMPI},
        {"mpirun.openmpi", ASSAY_LAUNCH_OPENMPI},
        {"mpiexec.openmpi", ASSAY_LAUNCH_OPENMPI},
        {"mpiexec.hydra", ASSAY_LAUNCH_MPICH},
        {"mpirun.mpich", ASSAY_LAUNCH_MPICH},
        {"mpiexec.mpich", ASSAY_LAUNCH_MPICH},
        {"mpiexec.gforker", ASSAY_LAUNCH_MPICH},
        {"srun", ASSAY_LAUNCH_SRUN},
    };
    const char *slash = strrchr(real_path, '/'), *name = slash ? slash + 1 : real_path;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].kind;
    /* Open MPI installs a program of this name, those made from MPICH a script. */
    if (strcmp(name, "mpirun") == 0 || strcmp(name, "mpiexec") == 0)
        return is_script ? ASSAY_LAUNCH_MPICH : ASSAY_LAUNCH_OPENMPI;
    return ASSAY_LAUNCH_PROGRAM;
}

bool as_launcher_is_away(enum assay_launch_kind kind, const char *const *argv, char *why,
                         size_t why_b)
{
    static const char *const word[] = {
        "-H",        "-host",      "--host",       "-hosts",        "--hosts",
        "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f"};
    if (kind == ASSAY_LAUNCH_SRUN) {
        snprintf(why, why_b, "srun's tasks are started by Slurm's daemon, not by srun");
        return true;
    }
    if (kind != ASSAY_LAUNCH_OPENMPI && kind != ASSAY_LAUNCH_MPICH)
        return false;
    /* Options come before the program, which is a file that can be executed. */
    for (size_t i = 1; argv[i]; i++) {
        if (argv[i][0] != '-' && access(argv[i], X_OK) == 0 && strchr(argv[i], '/'))
            break;
        for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
            if (strcmp(argv[i], word[k]) != 0)
                continue;
            snprintf(why, why_b, "%s may start ranks on other machines", word[k]);
            return true;
        }
    }
    return false;
}

/* ---- Ranks --------------------------------------------------------------------------------- */

static const char *value_of(const char *environment, size_t n, const char *name)
{
    const size_t length = strlen(name);
    for (size_t at = 0; at < n;) {
        const size_t left = n - at, here = strnlen(environment + at, left);
        if (here == left)
            return NULL; /* cut: the last one may be a part */
        if (here > length && environment[at + length] == '=' &&
            memcmp(environment + at, name, length) == 0)
            return environment + at + length + 1;
        at += here + 1;
    }
    return NULL;
}

static int64_t number_of(const char *environment, size_t n, const char *name)
{
    const char *text = value_of(environment, n, name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    const long long value = strtoll(text, &end, 10);
    return *end ? -1 : value;
}

bool assay_launch_rank_of(const char *environment, size_t n, struct assay_launch_rank *out)
{
    /* The more particular first: under srun, Open MPI sets its own too. */
    static const struct {
        const char *launcher, *rank, *size, *local_rank, *local_size;
    } known[] = {
        {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
         "OMPI_COMM_WORLD_LOCAL_SIZE"},
        {"mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""},
        {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_TASKS_PER_NODE"},
        {"pmix", "PMIX_RANK", "", "", ""},
        {"mvapich2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
         "MV2_COMM_WORLD_LOCAL_SIZE"},
    };
    *out = (struct assay_launch_rank){-1, -1, -1, -1, NULL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int64_t rank = number_of(environment, n, known[i].rank);
        if (rank < 0)
            continue;
        out->rank = rank;
        out->size = number_of(environment, n, known[i].size);
        out->local_rank = number_of(environment, n, known[i].local_rank);
        out->local_size = number_of(environment, n, known[i].local_size);
        out->launcher = known[i].launcher;
        return true;
    }
    return false;
}

bool assay_launch_rank_of_process(pid_t pid, struct assay_launch_rank *out)
{
    char path[64];
    size_t n = 0, cap = 64u << 10;
    char *text = NULL;
    *out = (struct assay_launch_rank){-1, -1, -1, -1, NULL};
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t got = 1; got > 0; n += got > 0 ? (size_t)got : 0) {
        char *grown = as_realloc(text, cap, 1);
        if (!grown)
            break;
        text = grown;
        got = read(fd, text + n, cap - n);
        cap += got > 0 && n + (size_t)got == cap ? cap : 0;
    }
    close(fd);
    const bool found = text && assay_launch_rank_of(text, n, out);
    as_free(text);
    return found;
}
