/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that measures one block and exits. Pages of the block are mapped when it faults on
 * them, all to a few physical pages. Then it takes samples of two lengths between chains and
 * canaries. It allocates nothing and holds no lock, because it is forked from a program with
 * threads.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "measure/internal.h"

#define CHILD_SECONDS 20 /* after this time the child hangs */
#define AGREE         0.01
enum { AGREE_MOST = 64 }; /* sorted on the stack */
enum { LOOPS_MIN = 400 }; /* of the longer form, so that no loop exit is predicted */
#define WARM_ROUNDS 200   /* a round maps pages; limits the walk of blocks through memory */

/* Data of the fault handler, which runs with the segment bases of the block. */
static struct {
    struct as_cycles *result;
    int memory;
    unsigned page_n, distinct_n;
    volatile unsigned faults;
    uint64_t page[AS_METER_PAGES_MAX]; /* the first page_n are mapped */
} at_fault;

#define IN_HANDLER                                                                                 \
    __attribute__((no_stack_protector, no_sanitize("address", "undefined"),                        \
                   target("general-regs-only")))

IN_HANDLER static inline long raw_call(long number, const long argument[6])
{
    register long r10 __asm__("r10") = argument[3];
    register long r8 __asm__("r8") = argument[4];
    register long r9 __asm__("r9") = argument[5];
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(argument[0]), "S"(argument[1]), "d"(argument[2]), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Returns true if a block may use the address: no code or data of the meter or the loader is
 * there. */
IN_HANDLER static inline bool may_map(uint64_t address)
{
    return address < AS_METER_CODE + UINT64_C(0x20000000) &&
           !(address >= UINT64_C(0x550000000000) && address < UINT64_C(0x580000000000));
}

IN_HANDLER static bool map_page(uint64_t address)
{
    const long page = (long)(address & ~UINT64_C(4095));
    const long mapping[6] = {page,
                             4096,
                             PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED_NOREPLACE,
                             at_fault.memory,
                             (long)(at_fault.page_n % at_fault.distinct_n) * 4096};

    if (!may_map(address) || at_fault.page_n == AS_METER_PAGES_MAX ||
        raw_call(SYS_mmap, mapping) != page)
        return false;
    at_fault.page[at_fault.page_n++] = (uint64_t)page;
    at_fault.faults++;
    return true;
}

IN_HANDLER static void on_fault(int signal, siginfo_t *info, void *context)
{
    static const long ending[6] = {0};
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;

    (void)context;
    if (signal == SIGSEGV && info->si_code == SEGV_MAPERR && map_page(address))
        return;
    at_fault.result->signal = signal;
    at_fault.result->address = address;
    at_fault.result->page_n = at_fault.page_n;
    at_fault.result->status = at_fault.page_n == AS_METER_PAGES_MAX && at_fault.faults
                                  ? AS_METER_PAGES
                              : signal == SIGILL ? AS_METER_UNSUPPORTED
                                                 : AS_METER_FAULTING;
    raw_call(SYS_exit_group, ending);
}

static void catch_faults(const struct as_child *child)
{
    static uint8_t stack[1 << 16];
    const stack_t on = {.ss_sp = stack, .ss_size = sizeof stack};
    const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    at_fault.result = child->result;
    at_fault.memory = child->memory;
    at_fault.distinct_n = child->page_n;
    sigaltstack(&on, NULL);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C at the terminal: the parent decides */
    signal(SIGALRM, SIG_DFL);
    alarm(CHILD_SECONDS);
}

/* Fills the vector registers. A mask selects all lanes of any width: a load without lanes takes a
 * hundred cycles on Zen 4. */
static void fill_vectors(struct as_meter_slots *slots, uint32_t lane_masks)
{
    const uint64_t all_signs = 0xbf80808080808080;

    for (unsigned i = 0; i < 32; i++)
        for (unsigned k = 0; k < 8; k++)
            if (lane_masks >> i & 1)
                memcpy(&slots->vector[i][k], &all_signs, sizeof all_signs);
            else
                slots->vector[i][k] = 1 + (i + 1) / 32. + k / 512.;
}

static bool make_room(struct as_meter_slots **slots)
{
    void *area =
        mmap((void *)(uintptr_t)AS_METER_CODE, AS_METER_CODE_B, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if ((uintptr_t)area != AS_METER_CODE)
        return false;
    *slots = area;
    (*slots)->mxcsr = 0x9fc0; /* denormals are zero, no exception traps */
    return true;
}

/* ---- Two lengths ----------------------------------------------------------------------------- */

struct pair {
    const struct as_child *child;
    struct as_meter_slots *slots;
    struct as_shape shorter, longer;
    void (*run_shorter)(void);
    void (*run_longer)(void);
    bool is_heavy;       /* chains are those of heavy 64-byte operations */
    uint64_t last_chain; /* chain directly after the last sample; 0: first sample */
};

static uint64_t work_ticks(const struct pair *p, bool longer)
{
    const struct as_meter_work *work = p->child->work;
    _mm_lfence();
    const uint64_t begin = __rdtsc();
    _mm_lfence();
    work->run(work->context, longer, p->longer.repeats);
    _mm_lfence();
    const uint64_t end = __rdtsc();
    _mm_lfence();
    return end - begin;
}

/* The count includes the code around both lengths, which cancels in their difference. */
static uint64_t counted_cycles(const struct pair *p, bool longer)
{
    struct as_counter *counter = p->child->counter;
    const uint64_t from = counter->read(counter);

    if (p->child->work)
        p->child->work->run(p->child->work->context, longer, p->longer.repeats);
    else
        (longer ? p->run_longer : p->run_shorter)();
    return counter->read(counter) - from;
}

/* Returns ticks of the time stamp counter, or cycles if they are counted. */
static uint64_t run_ticks(const struct pair *p, bool longer)
{
    if (p->child->counter)
        return counted_cycles(p, longer);
    if (p->child->work)
        return work_ticks(p, longer);
    (longer ? p->run_longer : p->run_shorter)();
    return p->slots->end - p->slots->begin;
}

/* Chooses enough copies to fill the reorder window in both lengths. */
static void choose_unrolled(struct pair *p)
{
    const size_t insn_n = p->child->block->code.n, size_b = p->child->block->size_b;
    unsigned copies = (unsigned)((600 + insn_n - 1) / insn_n);

    while (3 * copies * size_b > 24000 && copies > 4)
        copies--;
    copies = copies < 4 ? 4 : copies;
    p->shorter = (struct as_shape){.copies = copies, .counter = -1};
    p->longer = (struct as_shape){.copies = 3 * copies, .counter = -1};
}

static bool choose_loop(struct pair *p)
{
    const struct as_metered_block *block = p->child->block;
    const bool is_long = block->code.n > 40;
    int counter = 15;

    while (counter >= 0 && (counter == 4 || block->general >> counter & 1))
        counter--;
    p->shorter = (struct as_shape){.copies = 1, .loops = is_long ? 400 : 800, .counter = counter};
    p->longer = (struct as_shape){.copies = 1, .loops = is_long ? 1600 : 4000, .counter = counter};
    return counter >= 0;
}

static bool emit_pair(struct pair *p, unsigned repeats)
{
    uint8_t *at = (uint8_t *)p->slots + 4096;

    p->shorter.repeats = p->longer.repeats = repeats;
    if (p->child->work)
        return true;
    p->run_shorter = as_frame_emit(p->child->frame, p->child->block, &p->shorter, &at);
    p->run_longer = as_frame_emit(p->child->frame, p->child->block, &p->longer, &at);
    return p->run_shorter && p->run_longer;
}

/* Returns the executions of the block. For work it is the difference of both lengths and 0. */
static double executions(const struct pair *p, const struct as_shape *shape)
{
    if (p->child->work)
        return shape == &p->longer ? shape->repeats * p->child->work->span : 0;
    return (double)shape->repeats * shape->copies * (shape->loops ? (double)shape->loops : 1);
}

/* Runs both lengths until they touch no new page. */
static void touch_pages(const struct pair *p)
{
    for (unsigned round = 0; round < WARM_ROUNDS; round++) {
        const unsigned before = at_fault.faults;
        run_ticks(p, true);
        run_ticks(p, false);
        if (at_fault.faults == before)
            break;
    }
}

static void forget_pages(void)
{
    for (unsigned i = 0; i < at_fault.page_n; i++)
        munmap((void *)(uintptr_t)at_fault.page[i], 4096);
    at_fault.page_n = 0;
}

/* Shortens a loop until its data fit L1. Lines of many pages evict each other, and pages with the
 * same physical page miss the way predictor. Returns false if it cannot be emitted. */
static bool fit_loop(struct pair *p)
{
    touch_pages(p);
    while (p->longer.loops > LOOPS_MIN && at_fault.page_n > (unsigned)AS_METER_NEAR_PAGES) {
        p->longer.loops /= 2;
        p->shorter.loops = p->longer.loops / 2;
        forget_pages();
        if (!emit_pair(p, 1))
            return false;
        touch_pages(p);
    }
    return true;
}

/* Maps all touched pages, and repeats short blocks until the clock resolution is negligible. */
static bool warm_up(struct pair *p)
{
    uint64_t best = UINT64_MAX;

    if (!fit_loop(p))
        return false;
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t ticks = run_ticks(p, true);
        best = ticks < best ? ticks : best;
    }
    const double a_tick =
        p->child->counter ? 1 : as_gate_cycles(&p->child->gate) / (double)as_chain_ticks();
    const double cycles = (double)best * a_tick;
    const unsigned repeats = cycles >= 40000 ? 1 : (unsigned)(40000 / (cycles + 1));
    if (!emit_pair(p, repeats > 400 ? 400 : repeats < 1 ? 1 : repeats))
        return false;
    for (unsigned i = 0; i < 4; i++) {
        run_ticks(p, false);
        run_ticks(p, true);
    }
    return true;
}

static void run_longer_of(void *context)
{
    run_ticks(context, true);
}

static uint64_t chain_ticks_beside(const struct pair *p)
{
    return p->is_heavy ? as_chain_held_ticks() : as_chain_ticks();
}

static bool chains_agree(uint64_t a, uint64_t b)
{
    const double difference = a < b ? (double)(b - a) : (double)(a - b);
    return difference <= AS_CHAIN_DRIFT * (double)(a < b ? a : b);
}

/* Takes a sample: chain, canary, short, chain, canary, long, canary, chain. They show
 * disturbances. */
static bool measure_pair_sample(struct pair *p, struct as_sample_series *series)
{
    const struct as_gate *gate = &p->child->gate;
    uint64_t chain[3], canary[3];

    /* Storing the last sample took longer than the state of heavy operations lasts. */
    chain[0] = p->last_chain && !p->is_heavy ? p->last_chain : chain_ticks_beside(p);
    canary[0] = as_canary_ticks();
    const uint64_t shorter = run_ticks(p, false);
    chain[1] = chain_ticks_beside(p);
    canary[1] = as_canary_ticks();
    const uint64_t longer = run_ticks(p, true);
    canary[2] = as_canary_ticks();
    chain[2] = p->last_chain = chain_ticks_beside(p);
    const bool counted = p->child->counter != NULL; /* independent of the frequency */
    if (!counted && (!chains_agree(chain[0], chain[1]) || !chains_agree(chain[1], chain[2])))
        return false;
    const double cycles = as_gate_cycles(gate);
    const double first = cycles / ((double)(chain[0] + chain[1]) / 2);
    const double second = cycles / ((double)(chain[1] + chain[2]) / 2);
    double slowest = as_gate_rate(gate, canary[0], chain[0]);
    for (unsigned i = 1; i < 3; i++) {
        const double rate = as_gate_rate(gate, canary[i], chain[i]);
        slowest = rate < slowest ? rate : slowest;
    }
    const bool clean = slowest >= AS_CANARY_PASSES * gate->best;
    series->canary[series->n] = slowest;
    series->shorter[series->n] = (double)shorter * (counted ? 1 : first);
    series->longer[series->n] = (double)longer * (counted ? 1 : second);
    series->ratio[series->n] = second;
    series->clean[series->n++] = clean;
    return clean;
}

/* Returns true if the middle half of the clean samples lies within 1 %. Checked after every
 * eighth. */
static bool agree_already(const struct as_child *child, unsigned clean)
{
    const struct as_sample_series *series = child->series;
    double value[AGREE_MOST];
    size_t n = 0;

    if (child->enough == 0 || clean < child->enough || clean % 8 || clean > AGREE_MOST)
        return false;
    for (size_t i = 0; i < series->n && n < AGREE_MOST; i++)
        if (series->clean[i])
            value[n++] = series->longer[i] - series->shorter[i];
    const double low = as_sample_quantile(value, n, 0.25),
                 high = as_sample_quantile(value, n, 0.75);
    return high - low <= AGREE * low;
}

static void measure_pair_samples(struct pair *p)
{
    const struct as_child *child = p->child;
    struct as_sample_series *series = child->series;
    int64_t now_ns = as_monotonic_ns();
    const int64_t until_ns = now_ns + (int64_t)child->limit_ms * 1000000;
    unsigned clean = 0, tried = 0;

    series->n = 0;
    series->refused_ns = 0;
    series->span = executions(p, &p->longer) - executions(p, &p->shorter);
    while (clean < child->samples && series->n < AS_METER_SAMPLES) {
        const bool is_clean = measure_pair_sample(p, series);
        clean += is_clean;
        tried++;
        const int64_t began_ns = now_ns;
        now_ns = as_monotonic_ns();
        series->refused_ns += is_clean ? 0 : now_ns - began_ns;
        if (now_ns > until_ns || (is_clean && agree_already(child, clean)))
            break;
    }
    child->result->noisy_n = tried - clean;
}

static void pin_and_hurry(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set); /* if it is refused, the chains show it */
    setpriority(PRIO_PROCESS, 0, -10);
}

static void measure_block(const struct as_child *child)
{
    struct pair p = {.child = child};

    catch_faults(child);
    if (!make_room(&p.slots))
        return;
    fill_vectors(p.slots, child->block->lane_masks);
    if (child->mode == AS_METER_UNROLLED) {
        choose_unrolled(&p);
    } else if (!choose_loop(&p)) {
        child->result->status = AS_METER_REGISTERS;
        return;
    }
    if (!emit_pair(&p, 1) || !warm_up(&p))
        return;
    p.is_heavy = child->block->is_wide && as_chain_is_left(run_longer_of, as_chain_ticks, &p);
    measure_pair_samples(&p);
    child->result->page_n = at_fault.page_n;
    child->result->status = AS_METER_OK;
}

/* Measures a function of the program with the denormal mode of the harness. */
static void measure_work(const struct as_child *child)
{
    struct pair p = {.child = child};

    catch_faults(child);
    at_fault.page_n = AS_METER_PAGES_MAX; /* its memory is mapped, so a fault is an error */
    _mm_setcsr(0x9fc0);
    if (!emit_pair(&p, 1) || !warm_up(&p))
        return;
    measure_pair_samples(&p);
    child->result->status = AS_METER_OK;
}

_Noreturn void as_child_run(const struct as_child *child)
{
    pin_and_hurry(child->cpu);
    if (child->counter && !child->counter->open(child->counter))
        _exit(0); /* reported as no sample in time */
    if (child->work)
        measure_work(child);
    else
        measure_block(child);
    _exit(0);
}
