/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the forms of a core table in several processes at once, each on its own core: the cycles
 * of a form depend on one core only. A hypervisor may hide that two CPUs are threads of one core.
 * Such CPUs are not used together. All processes append complete lines to one file.
 */
#include "measure/workers.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "measure/chain.h"

enum { WORKERS_MOST = 8, CORES_MOST = 1024 };
enum { CANARIES_OF_LOOK = 64, CANARIES_LEAST = 8 };
/* A single check may coincide with external load. The majority of these counts, within a max number
 * of checks. */
enum { CLEAR_LOOKS = 3, LOOKS_MOST = 12, LOOKS_APART_MS = 20 };
enum { SPINNER_STARTS_MS = 3, PROGRESS_MS = 100 };

/* Result of a worker in shared memory. */
struct worker_report {
    pid_t pid;
    int rc;
    size_t measured_n, refused_n, noisy_n;
    double waited_s;
    struct as_error err;
};

struct crowd {
    _Atomic uint64_t done; /* forms done */
    struct worker_report worker[WORKERS_MOST];
};

/* ---- Cores ----------------------------------------------------------------------------------- */

static void stay_on(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

/* Starts a process that computes increments on a CPU until it is killed. Returns its pid, or a
 * negative value. */
static pid_t start_spinner(int cpu)
{
    const pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN);
        stay_on(cpu);
        for (;;)
            as_canary_ticks();
    }
    return pid;
}

/* Checks once. Returns 1 if load on `other` slows down `cpu`, 0 if not, and a negative value if
 * there was other load. */
static int look_beside(int cpu, int other)
{
    struct as_gate gate = {0};

    stay_on(cpu);
    as_gate_calibrate(&gate, CANARIES_OF_LOOK);
    const unsigned alone = as_gate_passes(&gate, CANARIES_OF_LOOK);
    const pid_t spinner = start_spinner(other);
    if (spinner < 0)
        return -1;
    pause_ms(SPINNER_STARTS_MS);
    const unsigned beside = as_gate_passes(&gate, CANARIES_OF_LOOK);
    kill(spinner, SIGKILL);
    while (waitpid(spinner, NULL, 0) < 0 && errno == EINTR)
        ;
    return alone < CANARIES_LEAST ? -1 : beside < alone / 2;
}

/* Returns true if two CPUs are threads of one core, or if this is unclear. */
static bool slows_down(int cpu, int other)
{
    int clear = 0, slowed = 0;

    for (int i = 0; i < LOOKS_MOST && clear < CLEAR_LOOKS; i++) {
        const int look = look_beside(cpu, other);
        clear += look >= 0;
        slowed += look > 0;
        if (look != 0)
            pause_ms(LOOKS_APART_MS);
    }
    return 2 * slowed >= clear;
}

/* Lists the cores that this process may use. */
static size_t usable_cores(const struct as_host *host, const cpu_set_t *allowed,
                           int cpu[CORES_MOST])
{
    size_t found = host->topology ? as_topology_cores(host->topology, -1, cpu, CORES_MOST) : 0;
    size_t n = 0;

    found = found < CORES_MOST ? found : CORES_MOST;
    for (size_t i = 0; i < found; i++)
        if (cpu[i] >= 0 && cpu[i] < CPU_SETSIZE && CPU_ISSET((size_t)cpu[i], allowed))
            cpu[n++] = cpu[i];
    return n;
}

/* Limits the number of cores to the quota of the control group. */
static size_t granted(size_t n)
{
    struct as_host_load load;

    as_host_load_read(NULL, 0, &load);
    const size_t quota = load.quota_cpu_n > 0 ? (size_t)load.quota_cpu_n : n;
    return quota < 1 ? 1 : quota < n ? quota : n;
}

/* Moves independent cores to the front. Returns how many may work at once. */
static size_t choose_cores(int *cpu, size_t n)
{
    const size_t most = granted(n) < WORKERS_MOST ? granted(n) : WORKERS_MOST;
    size_t chosen = n > 0;

    for (size_t i = 1; i < n && i < 2 * (size_t)WORKERS_MOST && chosen < most; i++) {
        bool shares = false;
        for (size_t k = 0; k < chosen && !shares; k++)
            shares = slows_down(cpu[k], cpu[i]);
        if (shares)
            continue;
        const int next = cpu[i];
        cpu[i] = cpu[chosen];
        cpu[chosen++] = next;
    }
    return chosen;
}

/* ---- A worker -------------------------------------------------------------------------------- */

struct worker_place {
    size_t index, of; /* index of this worker; number of workers */
    const int *cpu;
    size_t cpu_n;
};

/* Binds a worker to its core and to unused cores as a reserve under external load. */
static void settle_down(const struct worker_place *at)
{
    cpu_set_t own;

    CPU_ZERO(&own);
    for (size_t i = at->index; i < at->cpu_n; i += at->of)
        CPU_SET((size_t)at->cpu[i], &own);
    sched_setaffinity(0, sizeof own, &own);
}

static void drop_forms_of_others(struct as_form_list *forms, const struct worker_place *at)
{
    size_t i = 0;

    as_vec_foreach (&forms->cases, one)
        if (one->n > 0 && i++ % at->of != at->index)
            one->n = 0;
}

_Noreturn static void work_as(const struct as_table_work *whole, const struct worker_place *at,
                              struct worker_report *report)
{
    struct as_instruction_options options = *whole->options;
    struct as_table_work w = *whole;
    const struct as_meter_options meter = w.meter_options;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    settle_down(at);
    drop_forms_of_others(&w.forms, at);
    options.progress_fd = -1;
    w.options = &options;
    w.waited_most_s = whole->waited_most_s / (double)at->of;
    w.measured_n = w.refused_n = w.noisy_n = 0;
    w.meter = NULL;
    int rc = w.made_up ? 0 : as_meter_new(&meter, &w.meter, &report->err);
    if (rc == 0)
        rc = as_table_forms(&w, &report->err);
    report->measured_n = w.measured_n;
    report->refused_n = w.refused_n;
    report->noisy_n = w.noisy_n;
    report->waited_s = as_table_waited_s(&w);
    report->rc = rc; /* before, it is the code of a killed process */
    _exit(0);
}

/* ---- All workers --------------------------------------------------------------------------- */

static size_t start_workers(struct as_table_work *w, struct crowd *crowd, size_t n, const int *cpu,
                            size_t cpu_n)
{
    fflush(NULL); /* so that no buffer is written twice */
    for (size_t i = 0; i < n; i++) {
        struct worker_report *report = &crowd->worker[i];
        const struct worker_place at = {.index = i, .of = n, .cpu = cpu, .cpu_n = cpu_n};
        report->rc = AS_ERR_IO;
        const pid_t pid = fork(); /* only the parent writes the pid to the shared memory */
        if (pid == 0)
            work_as(w, &at, report);
        report->pid = pid;
    }
    size_t started = 0;
    for (size_t i = 0; i < n; i++)
        started += crowd->worker[i].pid > 0;
    return started;
}

/* Waits for all workers. Passes on a stop request that only the parent received. */
static void wait_for_workers(const struct as_table_work *w, struct crowd *crowd, size_t n,
                             struct as_progress *progress)
{
    const struct timespec pause = {.tv_nsec = PROGRESS_MS * 1000000L};
    bool is_passed_on = false;
    uint64_t shown = 0;

    for (;;) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++) {
            struct worker_report *report = &crowd->worker[i];
            if (report->pid > 0 && waitpid(report->pid, NULL, WNOHANG) == 0)
                left++;
            else
                report->pid = 0;
        }
        const uint64_t done = atomic_load(&crowd->done);
        as_progress_add(progress, done - shown);
        shown = done;
        if (left == 0)
            return;
        if (as_table_is_to_stop(w) && !is_passed_on) {
            is_passed_on = true;
            for (size_t i = 0; i < n; i++)
                if (crowd->worker[i].pid > 0)
                    kill(crowd->worker[i].pid, SIGINT);
        }
        nanosleep(&pause, NULL);
    }
}

static int add_up(struct as_table_work *w, const struct crowd *crowd, size_t n,
                  struct as_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct worker_report *report = &crowd->worker[i];
        w->measured_n += report->measured_n;
        w->refused_n += report->refused_n;
        w->noisy_n += report->noisy_n;
        w->waited_s += report->waited_s / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        if (crowd->worker[i].rc < 0 && !as_table_is_to_stop(w)) {
            const struct as_error *why = &crowd->worker[i].err;
            if (*why->text)
                *err = *why;
            else
                as_error_set(err, AS_ERR_IO,
                             "measuring: a measuring process was ended; its results are stored: "
                             "repeat the command to continue");
            return crowd->worker[i].rc;
        }
    return 0;
}

int as_table_forms_on(struct as_table_work *w, size_t n, const int *cpu, size_t cpu_n,
                      struct as_error *err)
{
    struct as_progress progress;
    uint64_t left = 0;
    struct crowd *crowd =
        mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (crowd == MAP_FAILED)
        return as_error_nomem(err, "the processes that measure");
    as_table_want(w);
    as_vec_foreach (&w->forms.cases, one)
        left += one->n > 0;
    as_progress_begin(&progress, w->options->progress_fd, "measuring instructions", left);
    w->done = &crowd->done;
    int rc = 0;
    if (start_workers(w, crowd, n, cpu, cpu_n) == 0)
        rc = as_error_set(err, AS_ERR_IO, "measuring: no process can be started: %s",
                          strerror(errno));
    wait_for_workers(w, crowd, n, &progress);
    as_progress_end(&progress);
    w->done = NULL;
    if (rc == 0)
        rc = add_up(w, crowd, n, err);
    munmap(crowd, sizeof *crowd);
    return rc;
}

int as_table_forms_by_workers(struct as_table_work *w, struct as_error *err)
{
    cpu_set_t allowed;
    int *cpu = as_calloc(CORES_MOST, sizeof *cpu);

    if (!cpu)
        return as_error_nomem(err, "the processes that measure");
    size_t cpu_n = 0, n = 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        cpu_n = usable_cores(w->host, &allowed, cpu);
        n = choose_cores(cpu, cpu_n);
        sched_setaffinity(0, sizeof allowed, &allowed);
    }
    const int rc = n > 1 ? as_table_forms_on(w, n, cpu, cpu_n, err) : as_table_forms(w, err);
    as_free(cpu);
    return rc;
}
