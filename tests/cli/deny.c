/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deny ERROR [ptrace] COMMAND...: runs a command with a filter of system calls, as in a container.
 * For it and its children, perf_event_open(2), or ptrace(2), fails with ERROR: EPERM, EACCES,
 * ENOENT or ENOSYS. Exit status 99: system calls cannot be filtered here. Source: seccomp(2),
 * Linux' bpf(2).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned error_of(const char *name)
{
    static const struct {
        const char *name;
        unsigned error;
    } known[] = {{"EPERM", EPERM}, {"EACCES", EACCES}, {"ENOENT", ENOENT}, {"ENOSYS", ENOSYS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].error;
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned error = argc > 2 ? error_of(argv[1]) : 0;
    const bool traces = argc > 3 && strcmp(argv[2], "ptrace") == 0;
    char **command = argv + (traces ? 3 : 2);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, traces ? SYS_ptrace : SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (!error)
        return 98;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 99;
    execvp(command[0], command);
    return 97;
}
