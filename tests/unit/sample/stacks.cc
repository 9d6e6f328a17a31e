// SPDX-License-Identifier: Apache-2.0
// A target of difficult stacks. Each case ends in its own leaf, burn_NAME, below a chain of calls
// that the test knows. It burns in turns until it has used its CPU time. Built without frame
// pointers. Usage: stacks CASE CPU_MS [LIBRARY]
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "account.h"

/* A body of its own, called as written: clang makes no copies for constant arguments. */
#ifdef __clang__
#define ALONE  __attribute__((noinline))
#define FRAMED ALONE
#else
#define ALONE  __attribute__((noinline, noclone))
#define FRAMED __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))
#endif

extern "C" {
volatile uint64_t sink;

enum { WORK = 1000000 }; /* rounds of a burn: a millisecond or a few */
struct target_account *account;
struct account_turns turns;
uint64_t enough_ns;

bool is_enough(void);

/* After each burn. */
ALONE bool is_enough(void)
{
    account_add(&account->fair_ns, account_take(&turns, 1));
    return turns.fair_ns >= enough_ns;
}

#define BURN_ENOUGH(burn)                                                                          \
    do                                                                                             \
        burn;                                                                                      \
    while (!is_enough())

/* A leaf: no frame, no call. */
#define BURN(name)                                                                                 \
    ALONE void burn_##name(long n)                                                                 \
    {                                                                                              \
        uint64_t x = sink;                                                                         \
        for (long i = 0; i < n; i++)                                                               \
            x = x * 6364136223846793005u + 1442695040888963407u;                                   \
        sink = x;                                                                                  \
    }
void burn_leaf(long), burn_alloca(long), burn_deep(long), burn_signal(long), burn_tail(long);
void burn_throw(long), burn_aligned(long), burn_sort(long), burn_child(long), burn_wide(long);
void burn_context(long), burn_alternate(long), burn_generated(long), burn_assembly(long);
BURN(leaf)
BURN(alloca)
BURN(deep)
BURN(signal)
BURN(tail)
BURN(throw)
BURN(aligned)
BURN(sort)
BURN(child)
BURN(wide)
BURN(context)
BURN(alternate)
BURN(generated)

void case_leaf(void), case_alloca(int), case_deep(int), case_signal(void), tail_2(long);
void tail_1(long), case_tail(void), case_throw(int), case_aligned(int), case_sort(void);
void case_wide(void), wide_1(void), wide_2(void);
void case_context(void), context_main(void), case_alternate(void), on_alternate(int);
void case_generated(void), case_assembly(void);
void on_signal(int), case_child(void), case_library(const char *), thrower(int);
int compare(const void *, const void *);

ALONE void case_leaf(void)
{
    BURN_ENOUGH(burn_leaf(WORK));
    sink++;
}

ALONE void case_alloca(int n)
{
    volatile char *p = (volatile char *)alloca((size_t)n * 16);
    p[n] = 1;
    BURN_ENOUGH(burn_alloca(WORK));
    p[0] = 2;
}

ALONE void case_deep(int n)
{
    volatile int pad[4] = {n, n, n, n};
    if (n == 0)
        BURN_ENOUGH(burn_deep(WORK));
    else
        case_deep(n - 1);
    sink += (uint64_t)pad[1];
}

/* Frames of 12 KiB each: three are more than the smaller copy holds. All is written to, for the
 * kernel's copy ends at a page that was never touched. */
#define WIDE_B 12288
#define FILL(room)                                                                                 \
    for (int i = 0; i < WIDE_B; i += 512)                                                          \
    (room)[i] = 1
ALONE void wide_2(void)
{
    volatile char room[WIDE_B];
    FILL(room);
    BURN_ENOUGH(burn_wide(WORK));
    sink += (uint64_t)room[0];
}

ALONE void wide_1(void)
{
    volatile char room[WIDE_B];
    FILL(room);
    wide_2();
    sink += (uint64_t)room[0];
}

ALONE void case_wide(void)
{
    volatile char room[WIDE_B];
    FILL(room);
    wide_1();
    sink += (uint64_t)room[0];
}

ALONE void on_signal(int)
{
    BURN_ENOUGH(burn_signal(WORK));
    sink++;
}

ALONE void case_signal(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    sink++;
}

ALONE void tail_2(long n)
{
    burn_tail(n); /* a jump */
}

ALONE void tail_1(long n)
{
    tail_2(n); /* a jump */
}

ALONE void case_tail(void)
{
    BURN_ENOUGH(tail_1(WORK));
    sink++;
}

ALONE void thrower(int n)
{
    if (n == 0)
        throw 1;
    BURN_ENOUGH(burn_throw(n * 10));
    sink++;
}

struct guard {
    ~guard()
    {
        sink++;
    }
};

ALONE void case_throw(int n)
{
    guard g;
    try {
        thrower(0);
    } catch (int) {
        thrower(n / 10);
    }
}

ALONE void case_aligned(int n)
{
    alignas(64) volatile double v[8];
    volatile char *p = (volatile char *)alloca((size_t)n);
    p[n - 1] = 1;
    v[0] = 1;
    BURN_ENOUGH(burn_aligned(WORK));
    sink += (uint64_t)v[0] + (uint64_t)p[0];
}

ALONE int compare(const void *, const void *)
{
    BURN_ENOUGH(burn_sort(WORK));
    return (int)sink & 0;
}

ALONE void case_sort(void)
{
    int two[2] = {1, 2};
    qsort(two, 2, sizeof two[0], compare);
    sink++;
}

ALONE void case_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        account_begin(&turns); /* its clock is its own */
        BURN_ENOUGH(burn_child(WORK));
        sink++;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static ucontext_t around, fiber;

ALONE void context_main(void)
{
    BURN_ENOUGH(burn_context(WORK));
    sink++;
}

/* A stack that makecontext(3) makes: its outermost function returns to no call. */
ALONE void case_context(void)
{
    static char stack[1 << 16];
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof stack;
    fiber.uc_link = &around;
    makecontext(&fiber, context_main, 0);
    swapcontext(&around, &fiber);
    sink++;
}

ALONE void on_alternate(int)
{
    BURN_ENOUGH(burn_alternate(WORK));
    sink++;
}

ALONE void case_alternate(void)
{
    static char stack[1 << 16];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_alternate;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    sink++;
}

/* Generated code that keeps its caller's frame pointer: sub $24,%rsp; mov %rdi,%rax;
 * mov %rsi,%rdi; call *%rax; add $24,%rsp; ret */
FRAMED void case_generated(void)
{
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xf8, 0x48, 0x89,
                                         0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x18, 0xc3};
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*generated)(void (*)(long), long);
    memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    memcpy(&generated, &page, sizeof page);
    BURN_ENOUGH(generated(burn_generated, WORK));
    sink++;
}

/* Assembly without .cfi directives. */
__asm__(".text\n"
        ".globl burn_assembly\n"
        ".type burn_assembly, @function\n"
        "burn_assembly:\n"
        "    mov %rdi, %rax\n"
        "1:  mov %rax, -8(%rsp)\n"
        "    dec %rax\n"
        "    jnz 1b\n"
        "    ret\n"
        ".size burn_assembly, . - burn_assembly\n");

ALONE void case_assembly(void)
{
    BURN_ENOUGH(burn_assembly(WORK));
    sink++;
}

ALONE void case_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        exit(3);
    unlink(path);
    void (*f)(long);
    *(void **)&f = dlsym(library, "library_entry");
    BURN_ENOUGH(f(WORK));
    dlclose(library);
}
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    account = account_open();
    enough_ns = (argc > 2 ? strtoul(argv[2], NULL, 10) : 200) * 1000000u;
    account_begin(&turns);
    if (!strcmp(name, "leaf"))
        case_leaf();
    else if (!strcmp(name, "alloca"))
        case_alloca(argc * 100);
    else if (!strcmp(name, "deep"))
        case_deep(60);
    else if (!strcmp(name, "wide"))
        case_wide();
    else if (!strcmp(name, "signal"))
        case_signal();
    else if (!strcmp(name, "tail"))
        case_tail();
    else if (!strcmp(name, "throw"))
        case_throw(WORK);
    else if (!strcmp(name, "aligned"))
        case_aligned(argc * 100);
    else if (!strcmp(name, "sort"))
        case_sort();
    else if (!strcmp(name, "child"))
        case_child();
    else if (!strcmp(name, "context"))
        case_context();
    else if (!strcmp(name, "alternate"))
        case_alternate();
    else if (!strcmp(name, "generated"))
        case_generated();
    else if (!strcmp(name, "assembly"))
        case_assembly();
    else if (!strcmp(name, "library"))
        case_library(argv[3]);
    else
        return 2;
    sink++;
    return 0;
}
