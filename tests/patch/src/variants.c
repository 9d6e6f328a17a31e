/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with instances that run as variants. A variant must not change a byte that the loop does
 * not write. It must not trap, loop for ever, or be visible to handlers. Prints its results. With
 * an argument `crash` it ends by a fault of its own.
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#define ALONE  __attribute__((noinline, noclone))
#define ROUNDS 480

ALONE void triad(long n, double *a, const double *b, const double *c, double x)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + x * c[i];
}

ALONE double gathered(long n, const int *k, const double *x, double d)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[k[i]] / d;
    return s;
}

/* Reads and writes the same. */
ALONE void updated(long n, long *a, long by)
{
    for (long i = 0; i < n; i++)
        a[3 * i] += by;
}

/* Every other byte; the others are another thread's. */
ALONE void even_bytes(long n, volatile unsigned char *p)
{
    for (long i = 0; i < n; i++)
        p[2 * i] = (unsigned char)(p[2 * i] * 5 + i);
}

/* The addresses of stores come from stored values. */
ALONE void held(long n, int *next, int *at)
{
    for (long i = 0; i < n; i++)
        next[at[i]] = (int)(i * 7 % n);
}

/* Its branch reads what it stores, by another name. */
ALONE long named_twice(volatile long *a, volatile long *b)
{
    long n = 0;
    do {
        n += 3;
        *a = *b - 1;
    } while (*b > 0);
    return n;
}

/* Divides by 0 with other data. */
ALONE long dividing(long n, const int *k, int from)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        s += 1000000 / (k[i] - from);
    return s;
}

static volatile sig_atomic_t is_time;

ALONE long waiting(volatile sig_atomic_t *flag)
{
    long n = 0;
    while (!*flag)
        n += 3;
    return n > 0;
}

/* More than anybody would put back. */
ALONE void wide(long n, double *a)
{
    for (long i = 0; i < n; i++)
        a[i ^ 1] = (double)i * 0.5;
}

/* From the end on. */
ALONE void backwards(long n, double *a, const double *b)
{
    for (long i = n - 1; i >= 0; i--)
        a[i] = b[i] * 1.25;
}

/* The addresses of stores come out of memory that the loop does not write. */
ALONE void scattered(long n, double *a, const int *k, const double *b)
{
    for (long i = 0; i < n; i++)
        a[k[i]] = b[i] + 1;
}

/* It stores at some times alone. */
ALONE void chosen(long n, double *a, const double *b, double x)
{
    for (long i = 0; i < n; i++)
        if (b[i] > x)
            a[i] = b[i] - x;
}

static unsigned long told;

ALONE void tell(long i)
{
    told = told * 31 + (unsigned long)i;
}

/* Calls, once in so many iterations: these end its instances. */
ALONE void seldom(long n, double *a, const double *b)
{
    for (long i = 0; i < n; i++) {
        a[i] = b[i] * 0.5 + 1;
        if (__builtin_expect(b[i] < 0, 0))
            tell(i);
    }
}

/* Its counter stands on the stack. */
ALONE void spilled(long n, double *a, const double *b)
{
    volatile long i;
    for (i = 0; i < n; i++)
        a[i] = b[i] * 0.5;
}

/* Long enough to be cut into slices. */
ALONE double once(long n, double *a, const double *b)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        s = b[i & 1023] / (s + 1.5);
        a[i & 511] = s;
    }
    return s;
}

/* So, but where it goes on comes out of memory that it stores to. */
ALONE long walked(long n, int *a)
{
    int at = 0;
    for (long i = 0; i < n; i++) {
        a[at] += 1024;
        at = a[at] & 1023;
    }
    return at;
}

/* Always to the same place, and two to an iteration side by side. */
static volatile long last;

ALONE void paired(long n, int *a)
{
    for (long i = 0; i < n; i++) {
        last = i;
        a[4 * i + 1] = (int)i;
        a[4 * i + 2] = (int)-i;
    }
}

/* Its counter stands in memory that is not its stack. */
struct cursor {
    volatile long at, limit;
};

ALONE void counted(long n, double *a, const double *b, struct cursor *to)
{
    while (to->at < n) {
        const long i = to->at;
        a[i] = b[i] * 0.25;
        to->at = i + 1;
    }
}

/* So, of a variable of the module. */
static volatile long spent;

ALONE void spending(long n, double *a, const double *b)
{
    for (spent = 0; spent < n; spent = spent + 1)
        a[spent] = b[spent] + 2;
}

/* Its branches read what it stores, but it never stores. */
ALONE long guarded(long n, const int *k, struct cursor *to)
{
    long s = 0;
    for (long i = 0; i < n; i++) {
        if (k[i] < 0)
            to->limit = 0;
        if (to->limit < 0)
            return s;
        s += k[i];
    }
    return s;
}

/* One loop in another. */
ALONE void nested(long n, long m, double *a, const double *b)
{
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long k = 0; k < m; k++)
            s += b[i + k];
        a[i] = s;
    }
}

/* The stride is known to the run alone. */
ALONE double strode(long n, long by, const double *a)
{
    double s = 0;
    for (long i = 0; i < n; i++, a += by)
        s += *a;
    return s;
}

/* ---- Threads, handlers ----------------------------------------------------------------------- */

static unsigned char bytes[2048];
static volatile int stop;

static void *odd_bytes(void *seen)
{
    unsigned char *mine = seen;
    for (long round = 0; !stop; round++)
        for (long i = 1; i < 2048; i += 2) {
            if (*(volatile unsigned char *)&bytes[i] != mine[i])
                mine[0] = 1;
            mine[i] = (unsigned char)(round * 3 + i);
            *(volatile unsigned char *)&bytes[i] = mine[i];
        }
    return NULL;
}

static double in_handler[64], with[64];
static long handled;

static void on_alarm(int signal)
{
    (void)signal;
    triad(64, in_handler, with, with, 2);
    for (int i = 0; i < 64; i++)
        handled += in_handler[i] != 3 * with[i];
    is_time = 1;
}

static sigjmp_buf back;

ALONE void idle(long n, volatile double *a)
{
    for (long i = 0; i < n; i++)
        a[i & 63] = (double)i;
}

static volatile sig_atomic_t leaves; /* handlers leave by a jump, or end their thread */

static void on_jump(int signal)
{
    if (leaves == 1)
        siglongjmp(back, signal);
    if (leaves == 2)
        pthread_exit(NULL);
}

/* Loops that a handler leaves: what began there never ends. */
static void run_left(void)
{
    static double room[64];
    struct itimerval soon = {{0, 0}, {0, 3000}};
    volatile int left = 0;
    signal(SIGALRM, on_jump);
    while (left < 12) {
        if (sigsetjmp(back, 1)) {
            left++;
            continue;
        }
        leaves = 1;
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            idle(20000, room);
    }
    leaves = 0;
    printf("left %d\n", left);
}

static void *ending(void *unused)
{
    double room[64];
    (void)unused;
    for (int i = 0; i < 50; i++)
        idle(500, room);
    pthread_kill(pthread_self(), SIGUSR2);
    for (;;)
        idle(500, room);
    return NULL;
}

/* Threads that end within a loop. */
static void run_ending(void)
{
    signal(SIGUSR2, on_jump);
    leaves = 2;
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, ending, NULL);
        pthread_join(thread, NULL);
    }
    leaves = 0;
    printf("ended\n");
}

/* ---- Threads that work together --- */

enum { TEAM = 2 };
static pthread_barrier_t barrier;
static double shared[2][8192];

static void *member(void *number)
{
    const long own = (long)(intptr_t)number * (8192 / TEAM);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        triad(8192 / TEAM, shared[0] + own, shared[1] + own, shared[1] + own, round);
    }
    return NULL;
}

static void run_team(void)
{
    pthread_t thread[TEAM];
    for (int i = 0; i < 8192; i++)
        shared[1][i] = i % 100;
    pthread_barrier_init(&barrier, NULL, TEAM);
    for (long i = 0; i < TEAM; i++)
        pthread_create(&thread[i], NULL, member, (void *)(intptr_t)i);
    for (int i = 0; i < TEAM; i++)
        pthread_join(thread[i], NULL);
    double s = 0;
    for (int i = 0; i < 8192; i++)
        s = s * 0.5 + shared[0][i];
    printf("team %.17g\n", s);
}

static volatile int storms;

static void *send_signals(void *to)
{
    const struct timespec pause = {0, 20000};
    while (storms) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void on_storm(int signal)
{
    (void)signal;
    triad(16, in_handler, with, with, 2);
}

static void on_fault(int signal)
{
    siglongjmp(back, signal);
}

static void check_own_handlers(void)
{
    struct sigaction action = {.sa_handler = on_fault}, old;
    sigaction(SIGSEGV, NULL, &old);
    printf("default %d\n", old.sa_handler == SIG_DFL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGSEGV, NULL, &old);
    printf("mine %d\n", old.sa_handler == on_fault);
    for (int i = 0; i < 3; i++) {
        const int got = sigsetjmp(back, 1);
        if (got == 0)
            *(volatile int *)(intptr_t)16 = 1;
        printf("fault %d\n", got);
    }
    printf("previous %d\n", signal(SIGSEGV, SIG_DFL) == on_fault);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void run_calm(long n)
{
    double *a = calloc((size_t)n, 8), *b = calloc((size_t)n, 8), *c = calloc((size_t)n, 8), s = 0;
    long *l = calloc((size_t)n, 24), t = 0;
    int *k = calloc((size_t)n, 4);
    for (long i = 0; i < n; i++) {
        b[i] = (double)i * 0.25;
        c[i] = (double)(n - i) * 1e-3;
        k[i] = (int)(i * 7 % n);
        l[3 * i] = i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        triad(n, a, b, c, round * 0.5);
        s += a[round % n] + gathered(n, k, a, 1.5 + round);
        updated(n, l, round);
        t += dividing(n, k, 0x40000000);
    }
    for (long i = 0; i < n; i++)
        t = t * 31 + l[3 * i];
    printf("calm %.17g %ld\n", s, t);
}

static void run_bytes(void)
{
    static unsigned char mine[2048];
    pthread_t thread;
    pthread_create(&thread, NULL, odd_bytes, mine);
    for (int round = 0; round < ROUNDS; round++)
        even_bytes(1024, bytes);
    stop = 1;
    pthread_join(thread, NULL);
    long s = 0;
    for (int i = 0; i < 2048; i += 2)
        s = s * 31 + bytes[i];
    printf("bytes %ld, of the other %s\n", s, mine[0] ? "changed" : "its own");
}

static void run_odd(void)
{
    static int at[512];
    long t = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 512; i++)
            at[i] = (i * 5 + round) % 512;
        held(500, at, at);
        for (int i = 0; i < 512; i++)
            t = t * 31 + at[i];
    }
    for (int round = 0; round < 4; round++) {
        long left = 100 + round;
        t = t * 31 + named_twice(&left, &left);
    }
    const long n = 9 << 20;
    double *a = malloc((size_t)n * 8);
    wide(n, a);
    printf("odd %ld %.17g\n", t, a[n - 1]);
}

static void run_handlers(void)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    for (int i = 0; i < 64; i++)
        with[i] = i;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    run_calm(200);
    (void)waiting(&is_time);
    often = (struct itimerval){{0, 0}, {0, 20000}};
    for (long waited = 0; !waited;) { /* it may be time before the loop is entered */
        setitimer(ITIMER_REAL, &never, NULL);
        is_time = 0;
        setitimer(ITIMER_REAL, &often, NULL);
        waited = waiting(&is_time);
    }
    printf("handled badly %ld\n", handled);
}

/* All kinds of places that are stored to. */
static void run_places(void)
{
    static double a[1024], b[1024], c[1024];
    static int k[1024], p[4096];
    double s = 0;
    for (int i = 0; i < 1024; i++) {
        b[i] = i * 0.75;
        k[i] = i * 3 % 1000;
        c[i] = i % 300 == 299 ? -b[i] : b[i];
    }
    for (int round = 0; round < ROUNDS; round++) {
        backwards(700, a, b);
        scattered(600, a, k, b);
        chosen(500, a, b, round);
        paired(300, p);
        spilled(400, a + 512, b);
        seldom(900, a, c);
        s += a[round];
        s += a[512 + round] + a[round] + a[699 - round] + p[4 * (round % 300) + 1] + (double)last;
    }
    printf("places %.17g %d %lu\n", s, p[1198], told);
}

/* Maps a private page of a file: it has what the file has until something stores there. */
static struct cursor *map_cursor(int *file)
{
    const struct cursor is = {1, 2};
    *file = memfd_create("cursor", 0);
    if (*file < 0 || pwrite(*file, &is, sizeof is, 0) != sizeof is)
        exit(3);
    return mmap(NULL, sizeof is, PROT_READ | PROT_WRITE, MAP_PRIVATE, *file, 0);
}

/* Counters in memory, nests, strides of the run; and loops that many others run before. */
static void run_shapes(void)
{
    static double a[8192], b[8192], x[64 * 512];
    static long c[8192];
    static int k[512];
    const struct cursor changed = {1, 77};
    int file;
    struct cursor *common = map_cursor(&file);
    double s = 0;
    for (int i = 0; i < 8192; i++)
        b[i] = i * 0.5;
    for (int i = 0; i < 64 * 512; i++)
        x[i] = i % 97;
    for (int i = 0; i < 512; i++)
        k[i] = i;
    for (int round = 0; round < 40 * ROUNDS; round++) { /* a bucket each: 8 to 7168 */
        const long n = (long)(8 + 2 * (round & 3)) << round / 4 % 10;
        triad(n, a, b, b, round);
        updated(n / 3, c, 1);
    }
    s += a[77] + (double)c[3];
    for (int round = 0; round < ROUNDS; round++) {
        struct cursor *to = calloc(1, sizeof *to);
        counted(300, a, b, to);
        s += a[round % 300] + (double)to->at;
        free(to);
        spending(200, a, b);
        nested(64, 32, a, b + round);
        s += a[round % 64] + (double)spent + strode(500, 64, x + round % 64);
    }
    for (int round = 0; round < ROUNDS; round++)
        s += (double)guarded(500, k, common);
    if (pwrite(file, &changed, sizeof changed, 0) != sizeof changed)
        exit(3);
    printf("shapes %.17g, not stored to %ld\n", s, common->limit);
}

/* One entry each: signals and all. */
static void run_once(void)
{
    static double a[1024], b[1024];
    static int next[1024];
    struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    double s = 0;
    for (int i = 0; i < 1024; i++) {
        b[i] = i * 0.25 + 1;
        next[i] = (i * 5 + 7) % 1024;
    }
    for (int i = 0; i < 64; i++)
        with[i] = i;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    s += once(40000000, a, b);
    setitimer(ITIMER_REAL, &never, NULL);
    s += (double)walked(3000000, next);
    for (int i = 0; i < 1024; i++)
        s = s * 0.5 + a[i & 511] + next[i];
    printf("once %.17g\n", s);
}

/* Signals come all the time. */
static void run_storm(void)
{
    pthread_t sender, own = pthread_self();
    signal(SIGUSR1, on_storm);
    storms = 1;
    pthread_create(&sender, NULL, send_signals, &own);
    run_calm(150);
    storms = 0;
    pthread_join(sender, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "team") == 0) {
        run_team();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "once") == 0) {
        run_once();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "shapes") == 0) {
        run_shapes();
        return 0;
    }
    run_calm(1000);
    run_calm(333);
    if (argc > 1 && strcmp(argv[1], "crash") == 0) {
        fflush(stdout);
        *(volatile int *)(intptr_t)16 = 1;
    }
    check_own_handlers();
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    run_calm(100);
    fedisableexcept(FE_ALL_EXCEPT);
    _mm_setcsr(_mm_getcsr() | 0x8040); /* what is too small is 0 */
    run_calm(50);
    printf("mode %x\n", _mm_getcsr() & 0x8040);
    run_bytes();
    run_odd();
    run_handlers();
    run_places();
    run_storm();
    run_left();
    run_ending();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_calm(77);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
