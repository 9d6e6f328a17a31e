/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the job of a rank: a number that is equal in all its ranks. It differs from other jobs
 * as far as the launcher gives enough information. Hydra sets no such variable. Its proxies, one
 * per machine, all get the port of their mpiexec as an argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/task.h"
#include "launch/internal.h"
#include "launch/launch.h"

#define ANCESTORS_MOST 16 /* max shells and similar processes up to the proxy */
#define WORDS_B        8192

/* Variables that identify a job. `also`, if any, must be set too. */
static const struct {
    const char *name, *also;
} variables[] = {
    {"PMIX_NAMESPACE", NULL},
    {"FLUX_JOB_ID", NULL},
    {"PALS_APID", NULL},
    {"SLURM_JOB_ID", "SLURM_STEP_ID"},
    {"SLURM_JOB_ID", "SLURM_STEPID"},
};

static void add_word(uint64_t *hash, const char *word)
{
    *hash = as_fnv_mix(*hash, word, strlen(word) + 1);
}

/* Adds the arguments that are equal for all proxies of a job:
 * "NAME\0--control-port\0HOST:PORT\0--pgid\0N\0". Returns true if the port is among them. */
static bool hash_proxy_words(const char *words, size_t n, uint64_t *hash)
{
    bool has_port = false;
    for (const char *at = words; at < words + n; at += strlen(at) + 1) {
        const bool is_port = strcmp(at, "--control-port") == 0;
        if (!is_port && strcmp(at, "--pgid") != 0)
            continue;
        at += strlen(at) + 1;
        if (at >= words + n)
            break;
        add_word(hash, at);
        has_port |= is_port;
    }
    return has_port;
}

static bool find_proxy(uint64_t *hash)
{
    char words[WORDS_B];
    pid_t pid = getppid();
    for (int i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
        struct as_task task;
        const ssize_t n = as_process_text(pid, "cmdline", words, sizeof words);
        if (n > 0 && strstr(words, "hydra_pmi_proxy"))
            return hash_proxy_words(words, (size_t)n, hash);
        pid = as_task_read((uint32_t)pid, &task) ? (pid_t)task.parent : 0;
    }
    return false;
}

static bool find_variable(uint64_t *hash)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].name);
        const char *also = variables[i].also ? getenv(variables[i].also) : "";
        if (!value || !*value || !also)
            continue;
        add_word(hash, variables[i].name);
        add_word(hash, value);
        add_word(hash, also);
        return true;
    }
    return false;
}

bool as_launch_job_of_self(const struct as_job_rank *rank, uint64_t *out)
{
    uint64_t hash = AS_FNV_BASIS;
    const bool is_hydra = rank->launcher && strcmp(rank->launcher, "mpich") == 0;
    *out = 0;
    if (rank->size < 2 || !((is_hydra && find_proxy(&hash)) || find_variable(&hash)))
        return false;
    *out = hash ^ (uint64_t)rank->size;
    return true;
}
