/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread and the first one touch pages, sleep and compute in regions: `counters LOG PAGES` writes
 * LOG with lines "NAME TID FAULTS SWITCHES FAULTS SWITCHES": the counts of the thread (getrusage)
 * within the region's calls, then around them.
 */
#include <assay/assay.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE_B 4096l

static FILE *log_file;
static long page_n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double kept;

struct counts {
    long faults, switches;
};

static struct counts count(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (struct counts){usage.ru_minflt, usage.ru_nvcsw + usage.ru_nivcsw};
}

static void touch(void)
{
    char *at = mmap(NULL, (size_t)(page_n * PAGE_B), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, (size_t)(page_n * PAGE_B), MADV_NOHUGEPAGE);
    for (long i = 0; i < page_n; i++)
        at[i * PAGE_B] = 1;
    munmap(at, (size_t)(page_n * PAGE_B));
}

static void rest(void)
{
    for (int i = 0; i < 50; i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void compute(void)
{
    for (long i = 0; i < 20000000; i++)
        kept = kept * 0.5 + 1;
}

static void run_region(const char *name, void (*work)(void))
{
    const struct counts before = count();
    assay_region_begin(name);
    const struct counts begin = count();
    work();
    const struct counts end = count();
    assay_region_end(name);
    const struct counts after = count();
    pthread_mutex_lock(&lock);
    fprintf(log_file, "%s %ld %ld %ld %ld %ld\n", name, syscall(SYS_gettid),
            end.faults - begin.faults, end.switches - begin.switches, after.faults - before.faults,
            after.switches - before.switches);
    pthread_mutex_unlock(&lock);
}

static void *run_all(void *argument)
{
    run_region("touch", touch);
    run_region("rest", rest);
    run_region("compute", compute);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 3 || !(log_file = fopen(argv[1], "w")))
        return 2;
    page_n = atol(argv[2]);
    pthread_create(&thread, NULL, run_all, NULL);
    run_all(NULL);
    pthread_join(thread, NULL);
    fflush(log_file);
    if (fork() == 0) { /* the child counts for itself */
        run_region("child", touch);
        fclose(log_file);
        _exit(0);
    }
    sleep(1);
    return fclose(log_file);
}
