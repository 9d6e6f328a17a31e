/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths known by construction, one kind a run: structure KIND SECONDS. Each key of the JSON
 * printed is the path below main to where the time was burnt; nothing else of this file burns time
 * worth mentioning. '*' in a key stands for any functions in between, of the C library or none.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static uint64_t seed = 1;
static uint64_t some(void)
{
    return 100000 + truth_random(&seed) % 300000;
}

/* ---- One function from several callers ---------------------------------------------------- */

static NOINLINE void leaf(uint64_t n)
{
    SPIN(n);
}
static NOINLINE void from_a(uint64_t n)
{
    leaf(n);
    STAY();
}
static NOINLINE void from_b(uint64_t n)
{
    leaf(n);
    STAY();
}
static NOINLINE void middle(uint64_t n)
{
    leaf(n);
    STAY();
}
static NOINLINE void from_c(uint64_t n)
{
    middle(n);
    STAY();
}
static void callers(void)
{
    MEASURE("callers;from_a;leaf", from_a(some()));
    MEASURE("callers;from_b;leaf", from_b(3 * some()));
    MEASURE("callers;from_c;middle;leaf", from_c(2 * some()));
    MEASURE("callers;leaf", leaf(some()));
}

/* ---- Recursion ---------------------------------------------------------------------------- */

static NOINLINE void descend(unsigned depth, uint64_t n)
{
    if (depth == 0)
        SPIN(n);
    else
        descend(depth - 1, n);
    STAY();
}
static void pong(unsigned depth, uint64_t n);
static NOINLINE void ping(unsigned depth, uint64_t n)
{
    if (depth == 0)
        SPIN(n);
    else
        pong(depth - 1, n);
    STAY();
}
static NOINLINE void pong(unsigned depth, uint64_t n)
{
    if (depth == 0)
        SPIN(n);
    else
        ping(depth - 1, n);
    STAY();
}
static void recursion(void)
{
    MEASURE("recursion;descend", descend(0, some()));
    MEASURE("recursion;descend;descend;descend", descend(2, 2 * some()));
    MEASURE("recursion;descend;descend;descend;descend;descend;descend;descend",
            descend(6, some()));
    MEASURE("recursion;ping;pong;ping", ping(2, some()));
    MEASURE("recursion;pong;ping", pong(1, 2 * some()));
}
/* Deeper than any copy of the stack: the way to main is cut, the function is not. */
static void deep(void)
{
    MEASURE("deep;descend", descend(3000, 20 * some()));
    MEASURE("deep;leaf", leaf(20 * some()));
}

/* ---- Calls that are jumps ----------------------------------------------------------------- */

static NOINLINE void tail_last(uint64_t n)
{
    SPIN(n);
}
static NOINLINE void tail_second(uint64_t n)
{
    tail_last(n + 1);
}
static NOINLINE void tail_first(uint64_t n)
{
    tail_second(n + 1);
}
static void tail(void)
{
    MEASURE("tail;tail_last", tail_first(some()));
    MEASURE("tail;leaf", leaf(some()));
}

/* ---- Frames of unknown size, and frames left behind ---------------------------------------- */

static NOINLINE void with_alloca(size_t size, uint64_t n)
{
    volatile char *room = alloca(size);
    room[0] = room[size - 1] = 1;
    SPIN(n);
    room[size / 2] = 1;
}
static NOINLINE void alloca_caller(size_t size, uint64_t n)
{
    volatile char *room = alloca(size);
    room[0] = room[size - 1] = 1;
    leaf(n);
    room[size / 2] = 1;
}
static void dynamic(void)
{
    size_t size = 16 + truth_random(&seed) % 3000;
    MEASURE("dynamic;with_alloca", with_alloca(size, some()));
    MEASURE("dynamic;alloca_caller;leaf", alloca_caller(size, some()));
}

static jmp_buf back;
static NOINLINE void jumper(unsigned depth)
{
    if (depth == 0)
        longjmp(back, 1);
    if (depth > 0)
        jumper(depth - 1);
    STAY();
}
static NOINLINE void landing(uint64_t n)
{
    if (setjmp(back) == 0)
        jumper(10);
    leaf(n);
    STAY();
}
static void jump(void)
{
    MEASURE("jump;landing;leaf", landing(some()));
}

/* ---- Through code of others ---------------------------------------------------------------- */

static uint64_t compare_ns;
static NOINLINE int compare(const void *a, const void *b)
{
    uint64_t begin = thread_ns();
    SPIN(100000);
    compare_ns += thread_ns() - begin;
    return *(const int *)a - *(const int *)b;
}
static NOINLINE void sorter(void)
{
    int numbers[32];
    for (int i = 0; i < 32; i++)
        numbers[i] = (int)(truth_random(&seed) % 1000);
    qsort(numbers, 32, sizeof numbers[0], compare);
    STAY();
}
static void callback(void)
{
    compare_ns = 0;
    sorter();
    truth_add("callback;sorter;*;compare", compare_ns);
}

static volatile uint64_t handler_ns;
static uint64_t handler_spins = 400000;
static NOINLINE void handler_burns(uint64_t n)
{
    SPIN(n);
}
static NOINLINE void on_alarm(int number)
{
    uint64_t begin = thread_ns();
    (void)number;
    handler_burns(*(volatile uint64_t *)&handler_spins);
    handler_ns += thread_ns() - begin;
}
static NOINLINE void interrupted(uint64_t n)
{
    SPIN(n);
}
static void handler(void)
{
    uint64_t was = handler_ns, begin = thread_ns();
    interrupted(10 * some());
    uint64_t spent = thread_ns() - begin, inside = handler_ns - was;
    truth_add("handler;*;on_alarm;handler_burns", inside);
    truth_add("handler;interrupted", spent - inside);
}
static void handler_begin(int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART | flags};
    const struct itimerval every = {{0, 1300}, {0, 1300}};
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {
        {"callers", callers},   {"recursion", recursion}, {"deep", deep},
        {"tail", tail},         {"dynamic", dynamic},     {"jump", jump},
        {"callback", callback}, {"handler", handler},     {"altstack", handler},
    };
    const char *kind = argc > 1 ? argv[1] : "callers";
    uint64_t end = (uint64_t)(1e9 * (argc > 2 ? atof(argv[2]) : 0.3));
    void (*run)(void) = NULL;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i].name) == 0)
            run = kinds[i].run;
    if (!run)
        return 2;
    if (run == handler)
        handler_begin(strcmp(kind, "altstack") == 0 ? SA_ONSTACK : 0);
    while (thread_ns() < end)
        run();
    signal(SIGALRM, SIG_IGN);
    truth_print(stdout);
    return 0;
}
