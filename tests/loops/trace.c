/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptrace(2): single steps inside the image. Outside, an injected mprotect(2) makes the image not
 * executable. So control that returns to it raises SIGSEGV at an address of the image.
 */
#include "trace.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

struct tracee {
    pid_t pid;
    uint64_t low, end; /* of the image, as loaded */
    uint64_t bias;
    uint64_t abroad; /* an executable address outside the image */
    bool guarded;    /* the image is not executable now */
    bool over;
    int status;
};

static uint64_t ip_of(const struct tracee *t)
{
    errno = 0;
    long ip = ptrace(PTRACE_PEEKUSER, t->pid, offsetof(struct user, regs.rip), 0);
    return (uint64_t)ip;
}

static bool is_inside(const struct tracee *t, uint64_t ip)
{
    return ip >= t->low && ip < t->end;
}

/* Lets it go on; returns the signal it stopped with, -1 when it is over. */
static int go_on(struct tracee *t, enum __ptrace_request how, int signal)
{
    if (ptrace(how, t->pid, 0, (void *)(intptr_t)signal) < 0 ||
        waitpid(t->pid, &t->status, 0) < 0 || !WIFSTOPPED(t->status)) {
        t->over = true;
        return -1;
    }
    return WSTOPSIG(t->status);
}

/* mprotect of the image by the program itself, at the address `abroad`. */
static bool protect(struct tracee *t, int rights)
{
    struct user_regs_struct saved, regs;
    if (ptrace(PTRACE_GETREGS, t->pid, 0, &saved) < 0)
        return false;
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, t->pid, (void *)t->abroad, 0);
    if (errno)
        return false;
    long with_syscall = (word & ~0xffffL) | 0x050f; /* 0f 05 */
    uint64_t low = t->low & ~(uint64_t)(PAGE - 1);
    regs = saved;
    regs.rip = t->abroad;
    regs.rax = SYS_mprotect;
    regs.orig_rax = UINT64_MAX; /* no system call to restart */
    regs.rdi = low;
    regs.rsi = (t->end - low + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    regs.rdx = (uint64_t)rights;
    bool good = ptrace(PTRACE_POKETEXT, t->pid, (void *)t->abroad, (void *)with_syscall) == 0 &&
                ptrace(PTRACE_SETREGS, t->pid, 0, &regs) == 0 &&
                go_on(t, PTRACE_SINGLESTEP, 0) == SIGTRAP &&
                ptrace(PTRACE_GETREGS, t->pid, 0, &regs) == 0 && regs.rax == 0;
    saved.orig_rax = UINT64_MAX;
    good = good && ptrace(PTRACE_POKETEXT, t->pid, (void *)t->abroad, (void *)word) == 0 &&
           ptrace(PTRACE_SETREGS, t->pid, 0, &saved) == 0;
    t->guarded = !(rights & PROT_EXEC);
    return good;
}

/* From an address outside until control is inside again, or the end. */
static bool run_abroad(struct tracee *t)
{
    if (!t->guarded && !protect(t, PROT_READ))
        return false;
    int signal = 0;
    for (;;) {
        signal = go_on(t, PTRACE_CONT, signal);
        if (t->over)
            return true;
        if (signal == SIGSEGV && is_inside(t, ip_of(t)))
            return protect(t, PROT_READ | PROT_EXEC);
        if (signal == SIGTRAP)
            signal = 0;
    }
}

static uint64_t entry_of(pid_t pid)
{
    char path[64];
    Elf64_auxv_t aux[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, aux, sizeof aux);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *aux; i++) {
        if (aux[i].a_type == AT_ENTRY)
            return aux[i].a_un.a_val;
    }
    return 0;
}

static void child(char **argv)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    personality(ADDR_NO_RANDOMIZE);
    setenv("OMP_NUM_THREADS", "1", 1);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[0], argv);
    _exit(127);
}

static const char *start(struct tracee *t, char **argv, const struct trace_image *image)
{
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    /* Both on one CPU: switching between them takes the most time. */
    CPU_SET(sched_getcpu(), &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    t->pid = fork();
    if (t->pid == 0)
        child(argv);
    if (t->pid < 0 || waitpid(t->pid, &t->status, 0) < 0 || !WIFSTOPPED(t->status))
        return "the program cannot be started under ptrace";
    ptrace(PTRACE_SETOPTIONS, t->pid, 0, (void *)PTRACE_O_EXITKILL);
    uint64_t entry = entry_of(t->pid);
    if (!entry)
        return "the program's place in memory is unknown";
    t->bias = entry - image->entry;
    t->low = image->low + t->bias;
    t->end = image->end + t->bias;
    return NULL;
}

int trace_run(char **argv, const struct trace_image *image, uint64_t most_steps, trace_step *step,
              void *user, struct trace_result *out, const char **why)
{
    struct tracee t = {0};
    *out = (struct trace_result){0};
    *why = start(&t, argv, image);
    uint64_t from = TRACE_OUTSIDE;
    int signal = 0;
    while (!*why && !t.over && out->steps < most_steps) {
        uint64_t ip = ip_of(&t);
        if (!is_inside(&t, ip)) {
            if (from != TRACE_OUTSIDE)
                step(user, from, TRACE_OUTSIDE);
            from = TRACE_OUTSIDE;
            t.abroad = ip;
            if (!run_abroad(&t))
                *why = "the program's code cannot be guarded";
            continue;
        }
        step(user, from, ip - t.bias);
        from = ip - t.bias;
        out->steps++;
        signal = go_on(&t, PTRACE_SINGLESTEP, signal);
        if (signal == SIGTRAP)
            signal = 0;
        else if (signal > 0)
            from = TRACE_OUTSIDE; /* a handler comes between */
    }
    out->limited = !t.over;
    out->status = t.status;
    if (!t.over && t.pid > 0) {
        kill(t.pid, SIGKILL);
        waitpid(t.pid, &t.status, 0);
    }
    return *why ? -1 : 0;
}
