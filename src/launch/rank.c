/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the rank of a process in the variables of its launcher. Sources: mpirun(1) of Open MPI, the
 * PMI and Hydra documents of MPICH, srun(1), flux-run(1), jsrun, PALS, MVAPICH2's guide.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "launch/internal.h"

/* Max size of an environment; the limit of the kernel is 6 MiB. */
#define ENVIRONMENT_MOST_B (8u << 20)

struct environment_block {
    const char *p;
    size_t n;
};

static const char *value_of(const struct environment_block *block, const char *name)
{
    const size_t length = strlen(name);
    for (size_t at = 0; at < block->n;) {
        const char *here = block->p + at;
        const size_t n = strnlen(here, block->n - at);
        if (n == block->n - at)
            return NULL; /* no terminating zero: the last value may be truncated */
        if (n > length && here[length] == '=' && memcmp(here, name, length) == 0)
            return here + length + 1;
        at += n + 1;
    }
    return NULL;
}

/* Returns the value of a variable as a number >= 0, or -1. */
static int64_t parse_rank(const struct environment_block *block, const char *name)
{
    const char *text = name ? value_of(block, name) : NULL;
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    const long long value = strtoll(text, &end, 10);
    return *end ? -1 : value;
}

struct known {
    const char *launcher, *rank, *size, *local_rank, *local_size;
};

/* Launchers that start ranks inside a task of another launcher come first. The variables of the
 * outer launcher are inherited: the daemons of mpirun are tasks of srun, and each has
 * SLURM_PROCID. */
static const struct known first[] = {
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
     "JSM_NAMESPACE_LOCAL_SIZE"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", NULL},
    {"pals", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "PMI_LOCAL_SIZE"},
};
static const struct known hydra = {"mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                                   "MPI_LOCALNRANKS"};
static const struct known slurm = {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                                   NULL};
static const struct known pmix = {"pmix", "PMIX_RANK", NULL, NULL, NULL};

static bool read_rank_variables(const struct environment_block *block, const struct known *known,
                                struct as_job_rank *out)
{
    const int64_t rank = parse_rank(block, known->rank);
    if (rank < 0)
        return false;
    *out = (struct as_job_rank){.rank = rank,
                                .size = parse_rank(block, known->size),
                                .local_rank = parse_rank(block, known->local_rank),
                                .local_size = parse_rank(block, known->local_size),
                                .launcher = known->launcher};
    return true;
}

/* Returns the number for `node` in a Slurm list. "2(x3),1" means 2 tasks on nodes 0, 1 and 2, and
 * one task on node 3. */
static int64_t tasks_on(const char *list, int64_t node)
{
    while (list && *list >= '0' && *list <= '9' && node >= 0) {
        char *end;
        const long long tasks = strtoll(list, &end, 10);
        long long times = 1;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoll(end + 2, &end, 10);
            end += *end == ')';
        }
        if (node < times)
            return tasks;
        node -= times;
        list = *end == ',' ? end + 1 : NULL;
    }
    return -1;
}

/*
 * Reads the rank of a Slurm task. A batch script and an interactive shell have SLURM_PROCID 0, but
 * are not tasks. Their steps have names, or numbers from 0xfffffff0 on.
 */
static bool read_slurm_rank(const struct environment_block *block, struct as_job_rank *out)
{
    int64_t step = parse_rank(block, "SLURM_STEP_ID");
    if (step < 0)
        step = parse_rank(block, "SLURM_STEPID");
    if (step < 0 || step >= 0xfffffff0 || !read_rank_variables(block, &slurm, out))
        return false;
    if (out->size < 0)
        out->size = parse_rank(block, "SLURM_NTASKS");
    out->local_size =
        tasks_on(value_of(block, "SLURM_STEP_TASKS_PER_NODE"), parse_rank(block, "SLURM_NODEID"));
    return true;
}

bool as_launch_rank_of(const char *environment, size_t n, struct as_job_rank *out)
{
    const struct environment_block block = {environment, n};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (read_rank_variables(&block, &first[i], out))
            return true;
    /* srun uses PMI too, with the same numbers; only Hydra sets MPI_LOCALRANKID. */
    if (parse_rank(&block, "MPI_LOCALRANKID") >= 0 && read_rank_variables(&block, &hydra, out))
        return true;
    if (read_slurm_rank(&block, out) || read_rank_variables(&block, &hydra, out) ||
        read_rank_variables(&block, &pmix, out))
        return true;
    *out = (struct as_job_rank){-1, -1, -1, -1, NULL};
    return false;
}

bool as_launch_rank_of_process(pid_t pid, struct as_job_rank *out)
{
    char path[64], *text = NULL;
    size_t n = 0, room = 0;
    ssize_t got = 0;
    *out = (struct as_job_rank){-1, -1, -1, -1, NULL};
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    do {
        if (n == room) {
            room = room ? 2 * room : 16u << 10;
            char *grown = room > ENVIRONMENT_MOST_B ? NULL : as_realloc(text, room, 1);
            if (!grown)
                break;
            text = grown;
        }
        got = read(fd, text + n, room - n);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    close(fd);
    const bool found = text && as_launch_rank_of(text, n, out);
    as_free(text);
    return found;
}

bool as_launch_rank_of_self(struct as_job_rank *out)
{
    struct as_str all = {0};
    for (char **word = environ; word && *word; word++)
        as_str_append(&all, *word, strlen(*word) + 1);
    const bool found = as_launch_rank_of(as_str_z(&all), all.n, out);
    as_str_fini(&all);
    return found;
}
