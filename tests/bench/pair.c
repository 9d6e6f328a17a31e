/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two commands side by side: runs A B A B ..., and prints one JSON object. It has the median,
 * minimum and maximum ratio of their CPU times over the pairs, and their peak resident memory. CPU
 * time is user plus system time, with children. Interleaving spreads a slow phase of the host over
 * both. CPU time excludes other work on the host. --wall uses wall time, for gains of threads. The
 * program knows nothing of the commands.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MOST 99

struct run {
    double cpu_s, wall_s;
    long peak_kib;
};

/* Standard output goes to `out` (NULL: nowhere). Ends the program when the command fails. */
static struct run run_command(char **argv, const char *out)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
            execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    int status = 0;
    struct rusage use;
    if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "pair: %s failed (wait status %d)\n", argv[0], status);
        exit(1);
    }
    double user_s = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec * 1e-6;
    double system_s = (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec * 1e-6;
    clock_gettime(CLOCK_MONOTONIC, &end);
    double wall_s =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    return (struct run){user_s + system_s, wall_s, use.ru_maxrss};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, by_value);
    return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

static void print_command(const char *key, char **argv)
{
    printf("\"%s\":\"", key);
    for (int i = 0; argv[i]; i++) {
        printf("%s", i ? " " : "");
        for (const char *c = argv[i]; *c; c++)
            printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    printf("\",");
}

static void measure(int pairs, bool wall, const char *out, char **a, char **b)
{
    static double ratio[PAIRS_MOST], time_a[PAIRS_MOST], time_b[PAIRS_MOST];
    long peak_a = 0, peak_b = 0;
    for (int i = 0; i < pairs; i++) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r    pair %d of %d", i + 1, pairs);
        struct run ra = run_command(a, out), rb = run_command(b, NULL);
        time_a[i] = wall ? ra.wall_s : ra.cpu_s;
        time_b[i] = wall ? rb.wall_s : rb.cpu_s;
        ratio[i] = time_b[i] > 0 ? time_a[i] / time_b[i] : 0;
        peak_a = ra.peak_kib > peak_a ? ra.peak_kib : peak_a;
        peak_b = rb.peak_kib > peak_b ? rb.peak_kib : peak_b;
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    double middle = median(ratio, pairs); /* sorts */
    printf("{");
    print_command("command", a);
    print_command("peer", b);
    printf("\"pairs\":%d,\"ratio\":%.4f,\"ratio_min\":%.4f,\"ratio_max\":%.4f,", pairs, middle,
           ratio[0], ratio[pairs - 1]);
    printf("\"clock\":\"%s\",", wall ? "wall" : "cpu");
    printf("\"time_s\":%.4f,\"peer_time_s\":%.4f,\"peak_kib\":%ld,\"peer_peak_kib\":%ld}\n",
           median(time_a, pairs), median(time_b, pairs), peak_a, peak_b);
}

int main(int argc, char **argv)
{
    bool wall = argc > 1 && !strcmp(argv[1], "--wall");
    int at = 3, split = 0;
    argc -= wall;
    argv += wall;
    for (int i = at; i < argc; i++)
        if (!strcmp(argv[i], "--vs"))
            split = i;
    int pairs = argc > 2 ? atoi(argv[1]) : 0;
    if (split <= at || split + 1 >= argc || pairs < 1 || pairs > PAIRS_MOST) {
        fprintf(stderr, "usage: %s [--wall] PAIRS OUTPUT-OF-A A... --vs B...\n", argv[0]);
        return 2;
    }
    argv[split] = NULL;
    measure(pairs, wall, argv[2], argv + at, argv + split + 1);
    return 0;
}
