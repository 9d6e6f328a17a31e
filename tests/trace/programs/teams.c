/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constructs of OpenMP in random order, each logged by the thread that meets it as the trace has
 * it: `teams LOG SEED STEPS` writes a line "thread TID" and then that thread's lines.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINES_B (1u << 20)
#define TEAM    3

struct own_log {
    long tid;
    size_t n;
    char text[LINES_B];
    struct own_log *next;
};

static struct own_log *logs;
static __thread struct own_log *own_lines;
static unsigned state;
static volatile double sink;

static void say(const char *format, ...)
{
    va_list arguments;
    if (!own_lines) {
        own_lines = calloc(1, sizeof *own_lines);
        own_lines->tid = syscall(SYS_gettid);
        do
            own_lines->next = __atomic_load_n(&logs, __ATOMIC_ACQUIRE);
        while (!__sync_bool_compare_and_swap(&logs, own_lines->next, own_lines));
    }
    va_start(arguments, format);
    own_lines->n += (size_t)vsnprintf(own_lines->text + own_lines->n, LINES_B - own_lines->n,
                                      format, arguments);
    va_end(arguments);
}

static unsigned drawn(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % n;
}

static void work(int n)
{
    for (int i = 0; i < 200 * n; i++)
        sink = sink + i;
}

static void wait_for_all(void)
{
    say("barrier 0\n");
#pragma omp barrier
    say("barrier end 0\n");
}

/* The arguments of a task must arrive whole: sizes differ. */
static void make_task(int n)
{
    char text[64];
    struct {
        long number[5];
    } wide = {{n, n + 1, n + 2, n + 3, n + 4}};
    memset(text, 'a' + n % 26, sizeof text);
    say("task create\n");
    if (n % 2) {
#pragma omp task firstprivate(n, text)
        {
            say("task begin\n");
            work(n);
            if (text[n] != 'a' + n % 26)
                abort();
            say("task end\n");
        }
    } else {
#pragma omp task firstprivate(wide) if (wide.number[0] % 4)
        {
            say("task begin\n");
            if (wide.number[4] != wide.number[0] + 4)
                abort();
            say("task end\n");
        }
    }
}

/* One that makes others and waits for them. */
static void make_family(int n)
{
    say("task create\n");
#pragma omp task firstprivate(n)
    {
        say("task begin\n");
        for (int i = 0; i < n % 3; i++)
            make_task(n + i);
        say("barrier 2\n");
#pragma omp taskwait
        say("barrier end 2\n");
        work(n);
        say("task end\n");
    }
}

static void step_of(unsigned kind, int n)
{
    switch (kind) {
    case 0:
        wait_for_all();
        break;
    case 1:
        say("work 0 %d\n", n);
#pragma omp for schedule(dynamic, 2) nowait
        for (int i = 0; i < n; i++)
            work(i);
        say("work end 0\n");
        wait_for_all();
        break;
    case 2:
#pragma omp single nowait
    {
        say("work 2 1\n");
        work(n);
        say("work end 2\n");
    }
        wait_for_all();
        break;
    case 3:
        say("work 1 3\n");
#pragma omp sections nowait
        {
#pragma omp section
            work(1);
#pragma omp section
            work(n);
#pragma omp section
            work(2);
        }
        say("work end 1\n");
        wait_for_all();
        break;
    case 4:
        for (int i = 0; i < n % 4; i++)
            make_task(n + i);
        say("barrier 2\n");
#pragma omp taskwait
        say("barrier end 2\n");
        break;
    case 5:
#pragma omp taskgroup
    {
        make_task(n);
        say("barrier 3\n");
    }
        say("barrier end 3\n");
        break;
    case 6:
#pragma omp critical(one)
        work(n);
        break;
    case 7:
        make_family(n);
        break;
    default:
        make_task(n); /* runs wherever one waits next */
        break;
    }
}

int main(int argc, char **argv)
{
    static unsigned kind[64], n[64];
    if (argc != 4)
        return 2;
    state = (unsigned)atoi(argv[2]);
    const int steps = atoi(argv[3]);
    for (int region = 0; region < steps; region++) {
        const unsigned many = 1 + drawn(12);
        for (unsigned i = 0; i < many; i++)
            kind[i] = drawn(9), n[i] = 1 + drawn(20);
        say("parallel %d\n", TEAM);
#pragma omp parallel num_threads(TEAM)
        {
            say("implicit task %d %d\n", omp_get_thread_num(), omp_get_num_threads());
            for (unsigned i = 0; i < many; i++)
                step_of(kind[i], (int)n[i]);
            say("implicit task end %d\n", omp_get_thread_num());
        }
        say("parallel end\n");
    }
    FILE *file = fopen(argv[1], "w");
    for (struct own_log *log = logs; file && log; log = log->next)
        fprintf(file, "thread %ld\n%s", log->tid, log->text);
    return !file || fclose(file) != 0;
}
