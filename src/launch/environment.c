/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a run: which variables have to do with speed, and a digest of all that could.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/launch.h>

/* Beginnings of names. */
static const char *const matters[] = {
    "OMP_",    "GOMP_", "KMP_",     "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_",
    "I_MPI_",  "FI_",   "UCX_",     "MKL_",      "OPENBLAS_", "BLIS_",     "GOTO_",
    "MALLOC_", "LD_",   "GLIBC_",   "SLURM_CPU", "PBS_NUM",   "CUDA_",     "NCCL_",
    "HIP_",    "ROCR_", "NUMEXPR_", "VECLIB_",   "TBB_",      "GFORTRAN_"};

/* Differ from one shell or terminal to the next and change no program's speed. */
static const char *const passing[] = {
    "SSH_",  "XDG_", "DBUS_", "WINDOWID", "TERM",   "COLUMNS",       "LINES",   "SHLVL", "OLDPWD",
    "PWD=",  "_=",   "PS1",   "LS_COLOR", "TMUX",   "STY=",          "GPG_",    "TTY",   "DISPLAY",
    "COLOR", "VTE_", "LESS",  "PAGER",    "EDITOR", "INVOCATION_ID", "JOURNAL_"};

static bool begins(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool assay_launch_variable_matters(const char *name)
{
    return begins(name, matters, sizeof matters / sizeof *matters);
}

/* FNV-1a of one variable; all are added up, so that their order does not count. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

void assay_launch_environment_digest(const char *const *environment, char out[17])
{
    uint64_t sum = 0;
    if (!environment)
        environment = (const char *const *)environ;
    for (; *environment; environment++)
        if (!begins(*environment, passing, sizeof passing / sizeof *passing))
            sum += hash_of(*environment);
    snprintf(out, 17, "%016llx", (unsigned long long)sum);
}
