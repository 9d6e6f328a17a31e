/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often each instruction of a piece of code is executed. A child process sets the trap
 * flag, and a signal handler counts each next instruction. It needs no permission.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/internal.h"

#define COUNT_SECONDS 20
#define TRAP_FLAG     0x100

struct counted {
    volatile uint32_t is_done;
    uint32_t at[];
};

/* Data of the signal handler in the child. */
static struct {
    uint64_t base, size_b;
    struct counted *to;
} stepped;

static void count_step(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *user = context;
    const uint64_t offset = (uint64_t)user->uc_mcontext.gregs[REG_RIP] - stepped.base;

    (void)signal, (void)info;
    if (offset < stepped.size_b)
        stepped.to->at[offset]++;
}

/* Starts with the instruction behind the interrupted one. */
static void begin_steps(int signal, siginfo_t *info, void *context)
{
    ucontext_t *user = context;

    (void)signal, (void)info;
    user->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void end_steps(int signal, siginfo_t *info, void *context)
{
    ucontext_t *user = context;

    (void)signal, (void)info;
    user->uc_mcontext.gregs[REG_EFL] &= ~(long long)TRAP_FLAG;
}

_Noreturn static void count_in_child(const struct as_meter_work *work, bool longer)
{
    const struct {
        int signal;
        void (*handler)(int, siginfo_t *, void *);
    } caught[] = {{SIGTRAP, count_step}, {SIGUSR1, begin_steps}, {SIGUSR2, end_steps}};

    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        const struct sigaction action = {.sa_sigaction = caught[i].handler, .sa_flags = SA_SIGINFO};
        sigaction(caught[i].signal, &action, NULL);
    }
    /* Replaces the handlers of this program. */
    const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C at the terminal: the parent decides */
    alarm(COUNT_SECONDS);
    raise(SIGUSR1);
    work->run(work->context, longer, 1);
    raise(SIGUSR2);
    stepped.to->is_done = 1;
    _exit(0);
}

int as_meter_count(const struct as_meter_work *work, bool longer, uint64_t base, size_t size_b,
                   uint32_t *count, enum as_meter_status *status, struct as_error *err)
{
    const size_t room_b = sizeof(struct counted) + size_b * sizeof *count;
    struct counted *to =
        mmap(NULL, room_b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int end = 0;

    if (to == MAP_FAILED)
        return as_error_nomem(err, "counts of instructions");
    stepped.base = base;
    stepped.size_b = size_b;
    stepped.to = to;
    const pid_t pid = fork();
    if (pid == 0)
        count_in_child(work, longer);
    while (pid > 0 && waitpid(pid, &end, 0) < 0 && errno == EINTR)
        ;
    *status = to->is_done                                    ? AS_METER_OK
              : WIFSIGNALED(end) && WTERMSIG(end) == SIGALRM ? AS_METER_TIMEOUT
                                                             : AS_METER_FAULTING;
    memcpy(count, to->at, size_b * sizeof *count);
    munmap(to, room_b);
    if (pid < 0)
        return as_error_set(err, AS_ERR_IO, "measuring: no process can be started: %s",
                            strerror(errno));
    return 0;
}
