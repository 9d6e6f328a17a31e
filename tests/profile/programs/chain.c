/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of processes. Each burns in a function of its own depth and forks a child. The child
 * burns, and executes the program anew, one deeper; the parent waits for it. Each prints {"pid",
 * "ppid", "depth", "own_ns", "fork_ns"} on a line. Usage: chain DEPTH MILLISECONDS
 */
#define _GNU_SOURCE
#include "truth.h"

#include <sys/wait.h>
#include <unistd.h>

static uint64_t each_ns;
static NOINLINE void burn_here(void)
{
    for (uint64_t end = thread_ns() + each_ns; thread_ns() < end;)
        SPIN(100000);
}
static NOINLINE void burn_before_exec(void)
{
    for (uint64_t end = thread_ns() + each_ns; thread_ns() < end;)
        SPIN(100000);
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 0;
    each_ns = 1000000u * (uint64_t)(argc > 2 ? atoi(argv[2]) : 50);
    char line[160];

    uint64_t begin = thread_ns();
    burn_here();
    snprintf(line, sizeof line, "{\"pid\": %d, \"ppid\": %d, \"depth\": %d, \"own_ns\": %llu}\n",
             getpid(), getppid(), depth, (unsigned long long)(thread_ns() - begin));
    if (write(1, line, strlen(line)) < 0)
        return 3;
    if (depth == 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        burn_before_exec();
        snprintf(number, sizeof number, "%d", depth - 1);
        execl("/proc/self/exe", argv[0], number, argv[2], (char *)NULL);
        _exit(3);
    }
    int status = 3;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
