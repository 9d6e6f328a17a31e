/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C half of the runner: the code page, the scratch memory with its guard pages, and signal
 * handlers. These turn a fault into an outcome. Signals run on their own stack because the
 * instruction under test may have left any value in rsp.
 */
#include "run.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

extern struct hx_state hx_in, hx_out;
extern const void *hx_code;
extern int hx_level;
void hx_enter(void);
void hx_exit(void);
void hx_exit_taken(void);

_Static_assert(offsetof(struct hx_state, flags) == 128, "enter.S");
_Static_assert(offsetof(struct hx_state, mask) == 192, "enter.S");
_Static_assert(offsetof(struct hx_state, vec) == 256, "enter.S");
_Static_assert(offsetof(struct hx_state, fx) == 2304, "enter.S");
_Static_assert(sizeof(struct hx_state) == 2816, "enter.S");

static sigjmp_buf back;
static volatile sig_atomic_t running;
static uint8_t *area; /* guard, code, guard, memory, guard */
static uint8_t signal_stack[65536] __attribute__((aligned(64)));

static void on_signal(int number)
{
    if (!running) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    running = 0;
    siglongjmp(back, number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTRAP};
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

/* rdpid, cpuid and lsl depend on the CPU: stay on one, so that runs can be compared. */
static void stay_on_this_processor(void)
{
    cpu_set_t set;
    const int cpu = sched_getcpu();
    CPU_ZERO(&set);
    if (cpu >= 0 && cpu < CPU_SETSIZE) {
        CPU_SET((size_t)cpu, &set);
        sched_setaffinity(0, sizeof set, &set); /* not allowed: then it moves seldom */
    }
}

bool hx_init(const char **reason)
{
    stay_on_this_processor();
    __builtin_cpu_init();
    hx_level = HX_LEVEL_SSE;
    if (__builtin_cpu_supports("avx"))
        hx_level = HX_LEVEL_AVX;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        hx_level = HX_LEVEL_AVX512;
    if (area)
        return true;
    uint8_t *p = mmap(NULL, 5 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (p == MAP_FAILED || mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) < 0 ||
        mprotect(p + 3 * 4096, HX_MEM_B, PROT_READ | PROT_WRITE) < 0) {
        *reason = "no memory that is both writable and executable";
        return false;
    }
    area = p;
    hx_code = area + 4096;
    return true;
}

int hx_vector_level(void)
{
    return hx_level;
}

size_t hx_vector_b(void)
{
    return (size_t)16 << hx_level;
}

size_t hx_vector_n(void)
{
    return hx_level == HX_LEVEL_AVX512 ? 32 : 16;
}

uint8_t *hx_memory(void)
{
    return area + 3 * 4096;
}

uint8_t *hx_code_page(void)
{
    return area + 4096;
}

/* jmp *0(%rip) followed by the target; touches no register and no flag. */
static void place_jump(uint8_t *at, void (*target)(void))
{
    static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &target, sizeof target);
}

void hx_load(const uint8_t *bytes, size_t length)
{
    catch_signals(); /* each time: test frameworks put their own handlers in between */
    uint8_t *page = hx_code_page();
    memset(page, 0xcc, 256);
    memcpy(page, bytes, length);
    place_jump(page + length, hx_exit);
    place_jump(page + length + HX_BRANCH, hx_exit_taken);
}

enum hx_outcome hx_run(const struct hx_state *in, struct hx_state *out)
{
    memcpy(&hx_in, in, sizeof hx_in);
    hx_out.taken = 0;
    const int number = sigsetjmp(back, 0);
    if (number == 0) {
        running = 1;
        hx_enter();
        running = 0;
        memcpy(out, &hx_out, sizeof hx_out);
        return HX_DONE;
    }
    switch (number) {
    case SIGILL:
        return HX_ILL;
    case SIGFPE:
        return HX_FPE;
    case SIGBUS:
        return HX_BUS;
    case SIGTRAP:
        return HX_TRAP;
    default:
        return HX_SEGV;
    }
}

const char *hx_outcome_name(enum hx_outcome outcome)
{
    static const char *const name[HX_OUTCOMES] = {"done",   "SIGILL", "SIGSEGV",
                                                  "SIGFPE", "SIGBUS", "SIGTRAP"};
    return name[outcome];
}
