/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP loops, threads that start and end, and a fork in the middle. A library is loaded while
 * threads run, unloaded and loaded again (its path is the first argument).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

ALONE double sum(long n, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i];
    return s;
}

static double x[100];
static _Atomic int over;
static _Atomic long turns;

static void *once(void *unused)
{
    (void)unused;
    return sum(100, x) == 4950 ? x : NULL;
}

static void *forever(void *unused)
{
    (void)unused;
    while (!over) {
        if (sum(50, x) != 1225)
            exit(9);
        turns++;
    }
    return NULL;
}

static double use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return -1;
    double (*scaled)(long, const double *) =
        (double (*)(long, const double *))(uintptr_t)dlsym(library, "scaled");
    double s = 0;
    for (int i = 0; i < 25; i++)
        s += scaled(100, x);
    dlclose(library);
    return s;
}

int main(int argc, char **argv)
{
    double s = 0;
    pthread_t runner, thread;
    for (int i = 0; i < 100; i++)
        x[i] = i;
#pragma omp parallel for reduction(+ : s) num_threads(3)
    for (int k = 0; k < 60; k++)
        s += sum(100, x) * k;
    pthread_create(&runner, NULL, forever, NULL);
    long good = 0;
    for (int i = 0; i < 40; i++) {
        void *got;
        pthread_create(&thread, NULL, once, NULL);
        pthread_join(thread, &got);
        good += got != NULL;
    }
    if (argc > 1)
        s += use(argv[1]) + use(argv[1]);
    while (turns < 100)
        ;
    over = 1;
    pthread_join(runner, NULL);
    int status = 0;
    fflush(stdout);
    if (fork() == 0) {
        double t = 0;
        for (int i = 0; i < 30; i++)
            t += sum(100, x);
        _exit(t == 30 * 4950.0 ? 3 : 4);
    }
    wait(&status);
    printf("%.17g %ld %d\n", s, good, WEXITSTATUS(status));
    return 0;
}
