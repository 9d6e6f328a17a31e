/* SPDX-License-Identifier: Apache-2.0 */
/* A program that gives up a system call which the agent makes, and begins a thread then. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

__attribute__((noinline)) unsigned long work(unsigned long n)
{
    unsigned long s = 1;
    for (unsigned long i = 0; i < n; i++)
        s = s * 5 ^ i;
    return s;
}

static void *one_thread(void *result)
{
    *(unsigned long *)result = work(100);
    return NULL;
}

static unsigned long run_thread(void)
{
    pthread_t thread;
    unsigned long result = 0;
    pthread_create(&thread, NULL, one_thread, &result);
    pthread_join(thread, NULL);
    return result;
}

int main(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    printf("before: %lu\n", run_thread());
    const int rc = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    printf("after: %d %lu %lu\n", rc, run_thread(), work(10));
    return 0;
}
