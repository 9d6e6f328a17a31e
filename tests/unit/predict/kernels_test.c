/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels on the toy core (toy.h), one for each possible limit. The cycles are computed by hand
 * beside each kernel.
 */
#include "toy.h"

#include <math.h>
#include <string.h>

/* lea rax..r?,[r8+8]; each writes another register and waits for none */
#define NOPS_8 NOP NOP NOP NOP NOP NOP NOP NOP
#define NOP_2  "6690"
#define NOP_6  "660f1f440000"
#define NOP_9  "660f1f840000000000"
#define NOP_15 "666666666666660f1f840000000000"
/* cmp rax,rbx and jnz are one: five bytes, three and two. */
#define COMPARE        "4839d8"
#define BACK_BY(n)     "75" n
#define LEA            "498d4008"
#define IMUL           "490fafc0" /* imul rax,r8 */
#define NOP            "90"
#define DIV            "48f7f1" /* div rcx */
#define LOOP_AT_ITSELF "75fb"   /* jnz -3, behind three bytes */

static struct toy toy;

/* A path of `jumps` jmp, each over a byte that is not of it, and the branch back. */
static void toy_path(struct toy *on, unsigned jumps, const struct as_predict_options *options)
{
    enum { JUMPS_MOST = 8 };
    uint8_t bytes[3 * JUMPS_MOST + 5];
    struct as_code code;
    struct as_error err;
    size_t n = 0;
    for (unsigned i = 0; i < jumps; i++, n += 3)
        memcpy(bytes + n, "\xeb\x01\xcc", 3);
    memcpy(bytes + n, "\x48\x39\xd8\x75\x80", 5); /* cmp rax,rbx; jnz */
    assert_int_equal(as_decode(bytes, n + 5, 0x1000, &code, &err), 0);
    size_t kept = 0; /* as the instructions of a path: without what is jumped over */
    for (size_t i = 0; i < code.n; i++)
        if (bytes[code.insn[i].address - 0x1000] != 0xcc)
            code.insn[kept++] = code.insn[i];
    assert_int_equal(as_predict(on->predictor, &code, 0, kept, options, &on->out, &err), 0);
    as_code_free(&code);
}

static int set_up(void **state)
{
    (void)state;
    toy_init(&toy, "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    toy_fini(&toy);
    return 0;
}

static void dispatch_limits_what_takes_no_port(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, NOP NOP NOP NOP NOP NOP), 1.5); /* 6 slots, 4 a cycle */
    assert_int_equal(toy.out.bound, AS_BOUND_DISPATCH);
}

static void ports_limit_by_the_busiest_set(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, LEA LEA LEA), 1.5); /* 3 operations on a and b */
    assert_string_equal(toy.out.limit, "a b");
    /* xor breaks the chain of imul: 2 multiplications on a, 1 lea goes to b: a is busy 2 cycles */
    toy_expect(toy_cycles(&toy, "31c0" IMUL "31c0" IMUL LEA), 2);
    assert_string_equal(toy.out.limit, "a");
    /* 3 on f and g, 3 on g and h, none waits for another: 6 operations on three ports; neither pair
     * of ports alone has more than 1.5 a port */
    toy_expect(toy_cycles(&toy, "c5f959d1c5f959d1c5f959d1"
                                "c5f956d9c5f956d9c5f956d9"),
               2);
    assert_string_equal(toy.out.limit, "f g h");
    /* with 3 more lea both are busy: 2 + 4 operations on two ports */
    toy_expect(toy_cycles(&toy, "31c0" IMUL "31c0" IMUL LEA LEA LEA LEA), 3);
    assert_string_equal(toy.out.limit, "a b");
}

static void units_that_are_not_pipelined_limit(void **state)
{
    const struct as_predict_options worst = {
        .mode = AS_PREDICT_UNROLLED, .without = AS_WITHOUT_SIMULATION, .worst = true};
    (void)state;
    /* rax and rdx go from one to the next: latency 10; worst 20. Without the chain the unit: 7, 18
     */
    toy_expect(toy_cycles(&toy, DIV), 10);
    assert_true(toy.out.varies);
    toy_expect(toy_cycles_as(&toy, DIV, &worst), 20);
    toy_expect(toy_cycles(&toy, "31c031d2" DIV), 7);
    toy_expect(toy_cycles_as(&toy, "31c031d2" DIV, &worst), 18);
}

static void chains_of_registers_limit(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, "480fafc0"), 3); /* imul rax,rax */
    toy_expect(toy_cycles(&toy, "480fafc0"
                                "4c01c0"),
               4); /* and add rax,r8 */
    assert_int_equal(toy.out.bound, AS_BOUND_LATENCY);
    assert_int_equal(toy.out.chain_n, 2);
    assert_true(toy.out.insn[0].chain && toy.out.insn[1].chain);
    /* pointer chasing: mov rsi,[rsi], 4 a load */
    toy_expect(toy_cycles(&toy, "488b36"), 4);
    /* a load with a ready address: limited by the port */
    toy_expect(toy_cycles(&toy, "488b37"), 1);
}

static void flags_make_chains(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, "19c0"), 1); /* sbb eax,eax waits for itself */
    struct toy breaks;
    toy_init(&breaks, "set\tsbb_breaks\t1\ts\n");
    /* now for the carry alone, which it makes itself: still one */
    toy_expect(toy_cycles(&breaks, "19c0"), 1);
    /* cmp rbx,rsi makes the carry anew: no chain, two operations on two ports */
    toy_expect(toy_cycles(&breaks, "4839f3"
                                   "19c0"),
               1);
    assert_true(breaks.out.bounds[AS_BOUND_LATENCY] == 0);
    toy_fini(&breaks);
}

/* The names of the x87 stack rotate; values do not move. */
static void stack_of_x87_is_renamed(void **state)
{
    struct toy x87;
    (void)state;
    toy_init(&x87, "form\tfld m64\t1\t-\t2\t-\ts\nform\tfstp m64\t1\t-\t0\t-\ts\n"
                   "form\tfadd m64\t1\t-\t6\t-\ts\nform\tfmul st0,st\t1\t-\t7\t-\ts\n"
                   "form\tfxch st0,st\t1\t-\t2\t-\ts\n");
    /* fld [rdi]; fadd [rsi]; fstp [rbx]: each iteration has a value of its own, no chain */
    toy_cycles(&x87, "dd07"
                     "dc06"
                     "dd1b");
    assert_true(x87.out.bounds[AS_BOUND_LATENCY] == 0);
    /* fadd [rsi]: sums up in st(0), which it does not name */
    toy_expect(toy_cycles(&x87, "dc06"), 6);
    assert_int_equal(x87.out.bound, AS_BOUND_LATENCY);
    /* fld [rdi]; fmul st,st(1); fstp [rbx]: reads the one below, which stays */
    toy_cycles(&x87, "dd07"
                     "d8c9"
                     "dd1b");
    assert_true(x87.out.bounds[AS_BOUND_LATENCY] == 0);
    /* fadd [rsi]; fxch; fxch: back where it was, and the exchange takes no time */
    toy_expect(toy_cycles(&x87, "dc06"
                                "d9c9"
                                "d9c9"),
               6);
    toy_fini(&x87);
}

/* A locked operation without a line costs what another locked one does, never what it does without
 * the lock; in a table with none, what most cores take. */
static void locks_stand_for_locks(void **state)
{
    struct toy locked;
    (void)state;
    toy_init(&locked, "form\tlock add m64,r64\t8\town:7\t1\t-\ts\n");
    toy_expect(toy_cycles(&locked, "f0ff07"), 7);     /* lock inc dword [rdi] */
    toy_expect(toy_cycles(&locked, "f0480fc107"), 7); /* lock xadd [rdi],rax */
    toy_expect(toy_cycles(&locked, "488707"), 7);     /* xchg [rdi],rax is locked too */
    assert_int_equal(locked.out.estimated_n, 0);
    assert_int_equal(locked.out.alike_n, 1);
    toy_fini(&locked);
    toy_expect(toy_cycles(&toy, "f0ff07"), 18);
    assert_int_equal(toy.out.estimated_n, 1);
}

/* Groups of four. A form of eight slots fills two of its own, and others begin the next. */
static void microcode_fills_groups(void **state)
{
    static const char form[] = "form\trcr r32,cl\t8\t-\t1\tmicrocode\ts\n";
    const struct as_predict_options all = {.mode = AS_PREDICT_UNROLLED};
    struct toy plain, groups;
    char text[128];
    (void)state;
    toy_init(&plain, form);
    toy_expect(toy_cycles_as(&plain, "d3da" NOP, &all), 2.25);
    toy_fini(&plain);
    snprintf(text, sizeof text, "set\tmicrocode_groups\t1\ts\n%s", form);
    toy_init(&groups, text);
    toy_expect(toy_cycles_as(&groups, "d3da", &all), 2); /* rcr edx,cl */
    toy_expect(toy_cycles_as(&groups, "d3da" NOP, &all), 3);
    toy_expect(toy_cycles_as(&groups, "d3da" NOP NOP NOP NOP, &all), 3);
    toy_expect(toy_cycles_as(&groups, "d3da" NOP NOP NOP NOP NOP, &all), 4);
    toy_expect(toy_cycles_as(&groups, NOP "d3da" NOP "d3da", &all), 6);
    toy_fini(&groups);
}

/* Branches and calls are the front end's business: nothing of them is guessed. */
static void branches_are_not_estimated(void **state)
{
    (void)state;
    toy_cycles(&toy, "e800000000"); /* call */
    assert_int_equal(toy.out.estimated_n, 0);
    toy_cycles(&toy, NOP "75fd"); /* jnz, not fused */
    assert_int_equal(toy.out.estimated_n, 0);
    assert_false(toy.out.insn[1].estimated);
}

static void and_not_of_itself_waits_for_nobody(void **state)
{
    struct toy breaks;
    (void)state;
    /* pandn xmm0,xmm0; addps xmm0,xmm1 */
    static const char pair[] = "660fdfc0"
                               "0f58c1";
    toy_init(&breaks, "set\tandn_breaks\t1\ts\n");
    assert_true(toy_cycles(&toy, pair) > 1.5);
    assert_int_equal(toy.out.bound, AS_BOUND_LATENCY);
    toy_cycles(&breaks, pair);
    assert_true(breaks.out.bounds[AS_BOUND_LATENCY] == 0);
    toy_fini(&breaks);
}

static void idioms_and_moves_are_free(void **state)
{
    const struct as_predict_options executed = {
        .mode = AS_PREDICT_UNROLLED, .without = AS_WITHOUT_SIMULATION | AS_WITHOUT_MOVES};
    (void)state;
    /* xor eax,eax; imul rax,rax: no chain, one on a */
    toy_expect(toy_cycles(&toy, "31c0"
                                "480fafc0"),
               1);
    /* mov rax,rbx; mov rbx,rax: two slots, no time; executed, two cycles of a chain */
    toy_expect(toy_cycles(&toy, "4889d8"
                                "4889c3"),
               0.5);
    toy_expect(toy_cycles_as(&toy,
                             "4889d8"
                             "4889c3",
                             &executed),
               2);
}

static void results_reach_other_units_later(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, "c5f958c1"), 2); /* vaddpd to itself */
    /* vaddpd (2, and 1 to another class), vmulpd (4) */
    toy_expect(toy_cycles(&toy, "c5f958c1"
                                "c5f959c1"),
               7);
    /* vmulpd xmm0,xmm1,xmm0: through its last source it takes 1 */
    toy_expect(toy_cycles(&toy, "c5f159c0"), 1);
}

static void stores_hand_on_to_loads(void **state)
{
    (void)state;
    /* mov [rsp+8],rax; mov rax,[rsp+8]: data to result 6 */
    toy_expect(toy_cycles(&toy, "4889442408"
                                "488b442408"),
               6);
    assert_true(toy.out.chain[0].memory || toy.out.chain[1].memory);
    /* mov [rsp+8],rax; mov eax,[rsp+8]: half of what was stored, still 6 */
    toy_expect(toy_cycles(&toy, "4889442408"
                                "8b442408"),
               6);
    /* mov [rsp+8],eax; mov rax,[rsp+8]: more than was stored, 20 */
    toy_expect(toy_cycles(&toy, "89442408"
                                "488b442408"),
               20);
    /* add qword [rsp+8],1: 6 and its own 1 */
    toy_expect(toy_cycles(&toy, "488344240801"), 7);
    /* movss xmm0 of what eax stored: no chain; two on each of the ports of stores? one: a cycle */
    toy_expect(toy_cycles(&toy, "89442408"
                                "f30f10442408"),
               1);
    /* mov [rdi+8 rcx],rax; mov rax,[rdi+8 rcx-16]; inc rcx: what one iteration loads the next
     * one stores and the third one loads: 6 in 3 iterations */
    toy_expect(toy_cycles(&toy, "488904cf"
                                "488b44cff0"
                                "48ffc1"),
               2);
    assert_true(toy.out.chain_n > 0);
    /* mov [rdi+8 rcx],rax; mov rax,[rsp+8]: bases that differ are apart */
    toy_expect(toy_cycles(&toy, "488904cf"
                                "488b442408"),
               1);
}

static void stores_rename_to_loads(void **state)
{
    struct toy renames;
    (void)state;
    toy_init(&renames, "set\trename_memory\t1\ts\n");
    /* the same expression: no time; the ports of the store and of the load take a cycle each */
    toy_expect(toy_cycles(&renames, "4889442408"
                                    "488b442408"),
               1);
    /* an address that changes in between is another expression: mov rcx written anew by inc */
    toy_expect(toy_cycles(&renames, "488904cf"
                                    "48ffc1"
                                    "488b44cff8"),
               6);
    toy_fini(&renames);
}

/* A call leaves the slots of the stack where they were. */
static void calls_leave_the_stack_as_it_was(void **state)
{
    (void)state;
    /* mov [rsp+8],rax; call; mov rax,[rsp+8]: data to result 6 */
    toy_expect(toy_cycles(&toy, "4889442408"
                                "e800000000"
                                "488b442408"),
               6);
    /* mov [rsp+8],rax; call; mov rax,[rsp+16]: another slot, two stores an iteration */
    toy_expect(toy_cycles(&toy, "4889442408"
                                "e800000000"
                                "488b442410"),
               2);
}

static void the_stack_engine_moves_rsp(void **state)
{
    struct toy plain;
    (void)state;
    /* push rax; pop rax: forwarded data, rsp costs nothing */
    toy_expect(toy_cycles(&toy, "50"
                                "58"),
               6);
    /* push r; add rsp,8: rsp is made whole (1) and added to (1) */
    toy_expect(toy_cycles(&toy, "50"
                                "4883c408"),
               2);
    toy_init(&plain, "set\tstack_engine\t0\ts\n");
    toy_expect(toy_cycles(&plain, "58"), 1); /* rsp by an addition: a load a cycle anyway */
    toy_fini(&plain);
}

static void loops_end_in_a_branch(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    (void)state;
    toy_expect(toy_cycles_as(&toy, NOP, &loop), 1); /* a taken branch a cycle */
    toy_expect(toy.out.bounds[AS_BOUND_BRANCH], 1);
    /* cmp rax,rbx; jnz: one slot with fusion, two without */
    toy_expect(toy_cycles_as(&toy, "4839d8" LOOP_AT_ITSELF, &loop), 1);
    toy_expect(toy.out.bounds[AS_BOUND_DISPATCH], 0.25);
    assert_true(toy.out.insn[1].fused);
    const struct as_predict_options apart = {.mode = AS_PREDICT_LOOP,
                                             .without = AS_WITHOUT_SIMULATION | AS_WITHOUT_FUSION};
    toy_cycles_as(&toy, "4839d8" LOOP_AT_ITSELF, &apart);
    toy_expect(toy.out.bounds[AS_BOUND_DISPATCH], 0.5);
}

static void lines_of_the_op_cache_limit_loops(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy lines;
    (void)state;
    toy_init(&lines,
             "set\topcache_line_b\t64\ts\nset\topcache_fetch\t4\ts\nset\topcache_again\t2\ts\n");
    /* 3 nop and the fused dec and jnz: 4 slots of one line, read at once */
    toy_cycles_as(&lines, NOP NOP NOP, &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 1);
    /* one more: the line is read twice, 2 cycles later */
    toy_cycles_as(&lines, NOP NOP NOP NOP, &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 3);
    toy_fini(&lines);
}

/* A line a cycle, whatever it has, where loops read lines of one window after the other. */
static void windows_of_code_are_read_one_a_cycle(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    static const char parameters[] = "set\topcache_line_b\t32\ts\nset\topcache_line_slots\t8\ts\n"
                                     "set\topcache_fetch\t0\ts\nset\topcache_loop\t%u\ts\n";
    (void)state;
    for (unsigned by_windows = 0; by_windows < 2; by_windows++) {
        struct toy lines;
        char text[256];
        snprintf(text, sizeof text, parameters, by_windows);
        toy_init(&lines, text);
        /* four slots in 28 bytes, and in 37 */
        toy_cycles_as(&lines, NOP_15 NOP_6 NOP_2 COMPARE BACK_BY("e4"), &loop);
        toy_expect(lines.out.bounds[AS_BOUND_DECODE], 1);
        toy_cycles_as(&lines, NOP_15 NOP_15 NOP_2 COMPARE BACK_BY("db"), &loop);
        toy_expect(lines.out.bounds[AS_BOUND_DECODE], 1 + by_windows);
        toy_fini(&lines);
    }
}

/* Entries of four slots, two a cycle; what a loop of two lines takes depends on where it begins. */
static void lines_of_the_op_cache_share_a_cycle(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy lines;
    (void)state;
    toy_init(&lines, "set\topcache_line_b\t32\ts\nset\topcache_fetch\t8\ts\n"
                     "set\topcache_again\t2\ts\nset\topcache_line_slots\t4\ts\n");
    /* three in 32 bytes, then the branch: an entry of each line */
    toy_cycles_as(&lines, NOP_15 NOP_15 NOP_2 COMPARE BACK_BY("db"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 1);
    /* five: two entries, and one */
    toy_cycles_as(&lines, NOP_15 NOP_9 NOP_6 NOP NOP COMPARE BACK_BY("db"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 2);
    /* the fourth, or the fifth, begins in the first line; its end alone makes the second be read */
    toy_cycles_as(&lines, NOP_15 NOP_15 NOP COMPARE BACK_BY("dc"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 1);
    toy_cycles_as(&lines, NOP_15 NOP_9 NOP_6 NOP COMPARE BACK_BY("dc"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 2);
    /* ten of one line: eight, and two cycles later the rest */
    toy_cycles_as(&lines, NOPS_8 NOP COMPARE BACK_BY("f2"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 3);
    /* nine of a line behind the first one: four entries in all, two a cycle, without a pause */
    toy_cycles_as(&lines, NOP_15 NOP_15 NOP_2 NOPS_8 COMPARE BACK_BY("d3"), &loop);
    toy_expect(lines.out.bounds[AS_BOUND_DECODE], 2);
    toy_fini(&lines);
}

/* vmovups ymm0,[rax+n]: at a multiple of its width within a line, else half of them cross. */
static void loads_across_lines_take_their_port_twice(void **state)
{
    (void)state;
    toy_expect(toy_cycles(&toy, "c5fc104020"), 1);
    toy_expect(toy_cycles(&toy, "c5fc104010"), 1.5);
    toy_expect(toy_cycles(&toy, "c5fc1040f8"
                                "c5fc104008"),
               3);
    toy_expect(toy_cycles(&toy, "c5f8104008"), 1.25); /* 16 bytes: every fourth */
    toy_expect(toy_cycles(&toy, "f30f104002"), 1);    /* too short to count */
}

/* One port loads; a store beside a store takes half a cycle of it from vector loads. */
static void stores_in_runs_hold_up_vector_loads(void **state)
{
    const char load[] = "c5fc104020",
               scalar[] = "488b03";                      /* vmovups ymm0,[rax+32]; mov rax,[rbx] */
    const char store[] = "48890a", other[] = "48894a08"; /* mov [rdx],rcx; mov [rdx+8],rcx */
    struct toy runs;
    char hex[256];
    (void)state;
    toy_init(&runs, "set\tstore_run\t0.5\ts\n");
    snprintf(hex, sizeof hex, "%s%s%s%s%s%s", load, load, load, load, store, other);
    toy_expect(toy_cycles(&runs, hex), 5); /* 4 loads, 2 halves */
    toy_expect(toy_cycles(&toy, hex), 4);
    snprintf(hex, sizeof hex, "%s%s%s%s%s" NOP "%s", load, load, load, load, store, other);
    toy_expect(toy_cycles(&runs, hex), 5); /* an instruction without memory does not part them */
    snprintf(hex, sizeof hex, "%s%s%s%s%s%s", store, load, load, load, load, other);
    toy_expect(toy_cycles(&runs, hex), 5); /* beside each other around the end */
    snprintf(hex, sizeof hex, "%s%s%s%s%s%s", load, load, store, load, load, other);
    toy_expect(toy_cycles(&runs, hex), 4);
    snprintf(hex, sizeof hex, "%s%s%s%s%s", load, load, load, load, store);
    toy_expect(toy_cycles(&runs, hex), 4);
    snprintf(hex, sizeof hex, "%s%s%s%s%s%s", scalar, scalar, scalar, scalar, store, other);
    toy_expect(toy_cycles(&runs, hex), 4);
    toy_fini(&runs);
}

/* Two taken branches a cycle, but none twice in one. */
static void two_branches_share_a_cycle(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy pairs;
    (void)state;
    toy_init(&pairs, "set\ttaken_branch\t0.5\ts\n");
    toy_cycles_as(&pairs, NOP COMPARE BACK_BY("fa"), &loop);
    toy_expect(pairs.out.bounds[AS_BOUND_BRANCH], 1); /* the same one, once a cycle */
    toy_path(&pairs, 1, &loop);
    toy_expect(pairs.out.bounds[AS_BOUND_BRANCH], 1);
    toy_path(&toy, 1, &loop);
    toy_expect(toy.out.bounds[AS_BOUND_BRANCH], 2);
    toy_path(&pairs, 3, &loop);
    toy_expect(pairs.out.bounds[AS_BOUND_BRANCH], 2);
    toy_fini(&pairs);
}

/* One port loads; three loads and stores a cycle where integers and vectors are mixed. */
static void loads_of_both_kinds_share_addresses(void **state)
{
    const char vector[] = "c5fc104020",
               scalar[] = "488b03"; /* vmovups ymm0,[rax+32]; mov rax,[rbx] */
    const char store[] = "48890a";  /* mov [rdx],rcx */
    struct toy mixed;
    char hex[256];
    (void)state;
    toy_init(&mixed, "set\tmemory_mixed\t0.5\ts\n");
    snprintf(hex, sizeof hex, "%s%s%s", vector, scalar, store);
    toy_expect(toy_cycles(&mixed, hex), 6); /* three, one in two cycles */
    toy_expect(toy_cycles(&toy, hex), 2);
    snprintf(hex, sizeof hex, "%s%s%s%s", vector, vector, vector, scalar);
    toy_expect(toy_cycles(&mixed, hex), 8);
    snprintf(hex, sizeof hex, "%s%s%s%s%s", vector, vector, vector, vector, scalar);
    toy_expect(toy_cycles(&mixed, hex), 5); /* less than a quarter: the port of loads alone */
    snprintf(hex, sizeof hex, "%s%s", scalar, store);
    toy_expect(toy_cycles(&mixed, hex), 1);
    toy_fini(&mixed);
}

/* The effect of changes of the code, on the toy: a load per cycle, a divider of 7 to 18. */
static void a_load_less_and_no_division(void **state)
{
    struct as_predict_options options = {.mode = AS_PREDICT_UNROLLED,
                                         .without = AS_WITHOUT_SIMULATION};
    (void)state;
    /* mov rax,[rbx]; mov rcx,[rdx]; add rax,rcx */
    toy_expect(toy_cycles_as(&toy,
                             "488b03"
                             "488b0a"
                             "4801c8",
                             &options),
               2);
    options.without_load = 2;
    toy_expect(toy_cycles_as(&toy,
                             "488b03"
                             "488b0a"
                             "4801c8",
                             &options),
               1);
    toy_expect(toy.out.bounds[AS_BOUND_DISPATCH], 0.5); /* the move is gone with it */
    options.without_load = 3;                           /* loads nothing */
    toy_expect(toy_cycles_as(&toy,
                             "488b03"
                             "488b0a"
                             "4801c8",
                             &options),
               2);
    /* mov rax,[rax]: the chain goes with the load */
    options.without_load = 0;
    toy_expect(toy_cycles_as(&toy, "488b00", &options), 4);
    options.without_load = 1;
    toy_expect(toy_cycles_as(&toy, "488b00", &options), 0);
    /* vdivpd xmm0,xmm0,xmm1: 9 on the divider, 13 from one to the next; as a product 4 */
    options.without_load = 0;
    toy_expect(toy_cycles_as(&toy, "c5f95ec1", &options), 13);
    options.without |= AS_WITHOUT_DIVISION;
    toy_expect(toy_cycles_as(&toy, "c5f95ec1", &options), 4);
    toy_expect(toy_cycles_as(&toy, "48f7f1", &options), 10); /* of integers: as it is */
}

static void legacy_decode_stalls(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy legacy;
    (void)state;
    toy_init(&legacy, "set\topcache_width\t0\ts\nset\tdecode_width\t4\ts\nset\tdecode_b\t16\ts\n");
    /* 6 nop: groups of 4 and 2, and the branch in the second */
    toy_cycles_as(&legacy, NOP NOP NOP NOP NOP NOP, &loop);
    toy_expect(legacy.out.bounds[AS_BOUND_DECODE], 2);
    /* 5 of 4 bytes and 5 of the branch: 25 bytes, 16 a cycle */
    toy_cycles_as(&legacy, LEA LEA LEA LEA LEA, &loop);
    toy_expect(legacy.out.bounds[AS_BOUND_DECODE], 2);
    toy_fini(&legacy);
    toy_init(&legacy, "set\topcache_width\t0\ts\nset\tdecode_width\t4\ts\nset\tdecode_b\t16\ts\n"
                      "set\tlcp_stall\t3\ts\n");
    /* cmp si,0x200: a prefix changes its length; one group and 3 cycles */
    toy_cycles_as(&legacy, "6681fe0002", &loop);
    toy_expect(legacy.out.bounds[AS_BOUND_DECODE], 4);
    toy_fini(&legacy);
}

#define NOPS_24 NOPS_8 NOPS_8 NOPS_8
#define NOP_9   "660f1f840000000000"
#define COMPARE "4839d8"

static void branches_at_the_end_of_32_bytes_are_decoded(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy erratum;
    (void)state;
    toy_init(&erratum, "set\tjcc_erratum\t1\ts\nset\tdecode_width\t4\ts\n"
                       "set\tdecode_b\t16\ts\n");
    /* bytes 26 to 30: one row of the op cache, which has 100 slots */
    toy_cycles_as(&erratum, NOPS_24 NOP NOP COMPARE BACK_BY("e1"), &loop);
    toy_expect(erratum.out.bounds[AS_BOUND_DECODE], 1);
    /* 27 to 31, the last of the 32: decoded, 28 in groups of four */
    toy_cycles_as(&erratum, NOPS_24 NOP NOP NOP COMPARE BACK_BY("e0"), &loop);
    toy_expect(erratum.out.bounds[AS_BOUND_DECODE], 7);
    /* 28 to 32, over the end: 29, eight groups */
    toy_cycles_as(&erratum, NOPS_24 NOP NOP NOP NOP COMPARE BACK_BY("df"), &loop);
    toy_expect(erratum.out.bounds[AS_BOUND_DECODE], 8);
    /* The branch that is added to code without one, dec and jnz, stands behind it. */
    toy_cycles_as(&erratum, NOPS_24 NOP NOP NOP, &loop);
    toy_expect(erratum.out.bounds[AS_BOUND_DECODE], 7);
    toy_fini(&erratum);
    /* Other cores do not mind: the same as one byte on. */
    toy_cycles_as(&toy, NOPS_24 NOP NOP NOP COMPARE BACK_BY("e0"), &loop);
    toy_expect(toy.out.bounds[AS_BOUND_DECODE], 1);
}

static void small_loops_run_out_of_the_loop_buffer(void **state)
{
    const struct as_predict_options loop = {.mode = AS_PREDICT_LOOP,
                                            .without = AS_WITHOUT_SIMULATION};
    struct toy buffer;
    (void)state;
    toy_init(&buffer, "set\tloop_buffer\t7\ts\nset\tdecode_width\t1\ts\n"
                      "set\topcache_width\t0\ts\nset\tjcc_erratum\t1\ts\n");
    /* 5 and the fused branch: two rounds of four slots, as an iteration begins a new one */
    toy_cycles_as(&buffer, NOP NOP NOP NOP NOP COMPARE BACK_BY("f6"), &loop);
    toy_expect(buffer.out.bounds[AS_BOUND_DECODE], 2);
    /* 8 do not fit: decoded, one a cycle */
    toy_cycles_as(&buffer, NOP NOP NOP NOP NOP NOP NOP COMPARE BACK_BY("f4"), &loop);
    toy_expect(buffer.out.bounds[AS_BOUND_DECODE], 8);
    /* straight code never loops */
    toy_cycles(&buffer, NOP NOP NOP NOP NOP);
    toy_expect(buffer.out.bounds[AS_BOUND_DECODE], 5);
    /* what the erratum keeps out of the op cache is not in the buffer either: three of nine bytes,
     * and the branch ends with the 32 */
    toy_cycles_as(&buffer, NOP_9 NOP_9 NOP_9 COMPARE BACK_BY("e0"), &loop);
    toy_expect(buffer.out.bounds[AS_BOUND_DECODE], 4);
    toy_cycles_as(&buffer, NOP_9 NOP_9 NOP COMPARE BACK_BY("e8"), &loop);
    toy_expect(buffer.out.bounds[AS_BOUND_DECODE], 1);
    toy_fini(&buffer);
}

static void what_is_unknown_is_estimated(void **state)
{
    (void)state;
    /* vpgatherdd is not in the table: an answer, marked */
    assert_true(toy_cycles(&toy, "c4e269900488") > 0);
    assert_int_equal(toy.out.estimated_n, 1);
    assert_true(toy.out.insn[0].estimated);
    /* also bytes that do not form an instruction */
    assert_true(toy_cycles(&toy, "06") > 0);
    toy_cycles(&toy, LEA);
    assert_int_equal(toy.out.estimated_n, 0);
}

static const struct as_predict_options simulated = {.mode = AS_PREDICT_UNROLLED, .simulate = true};

static void the_simulation_agrees_with_clear_bounds(void **state)
{
    (void)state;
    toy_expect(toy_cycles_as(&toy, NOP NOP NOP NOP NOP NOP, &simulated), 1.5);
    toy_expect(toy_cycles_as(&toy, LEA LEA LEA, &simulated), 1.5);
    toy_expect(toy_cycles_as(&toy,
                             "480fafc0"
                             "4c01c0",
                             &simulated),
               4);
    toy_expect(toy_cycles_as(&toy, "31c031d2" DIV, &simulated), 7);
    assert_true(toy.out.simulated > 0);
}

/*
 * A reorder buffer of 2. Two loads enter in cycle 0. One issues in 1 and one in 2 (one port). They
 * are done in 5 and 6, retire then and free their entries in 6 and 7. The next two enter in 6 and
 * 7, and so on. So two loads take 6 cycles; the port alone would take 2.
 */
static void a_small_window_limits(void **state)
{
    struct toy small;
    (void)state;
    toy_init(&small, "set\trob\t2\ts\n");
    const double cycles = toy_cycles_as(&small,
                                        "488b37"
                                        "488b37",
                                        &simulated);
    toy_expect(cycles, 6);
    assert_int_equal(small.out.bound, AS_BOUND_WINDOW);
    toy_fini(&small);
}

/* imul rax,rax waits for itself: started 3 cycles apart, the time line says so. */
static void the_time_line_is_that_of_the_chain(void **state)
{
    const struct as_predict_options options = {.mode = AS_PREDICT_UNROLLED, .timeline_n = 4};
    (void)state;
    toy_cycles_as(&toy, "480fafc0", &options);
    assert_int_equal(toy.out.timeline_n, 4);
    for (size_t i = 1; i < 4; i++) {
        const struct as_timeline_entry *e = &toy.out.timeline[i];
        assert_int_equal(e->issue - e[-1].issue, 3);
        assert_int_equal(e->done - e->issue, 3);
        assert_true(e->dispatch < e->issue && e->done <= e->retire);
    }
}

/* rax is assumed to be a pointer: mov rax,[rdi]; mov [rax],rcx; mov rdx,[rsi]; mov rcx,[rdx]. With
 * equal pointers, the load reads the stored value. */
static void equal_pointers_are_an_assumption(void **state)
{
    const char *hex = "488b07"
                      "488908"
                      "488b16"
                      "488b0a";
    const struct as_predict_options equal = {
        .mode = AS_PREDICT_UNROLLED, .without = AS_WITHOUT_SIMULATION, .equal_memory = true};
    (void)state;
    toy_expect(toy_cycles(&toy, hex), 3); /* three loads on one port */
    toy_expect(toy_cycles_as(&toy, hex, &equal), 6);
}

/* Whichever allocation fails: a sentence and no answer, then the same answer as before. */
static void running_out_of_memory_is_said(void **state)
{
    const uint8_t bytes[] = {0x48, 0x89, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x44, 0x24, 0x08};
    const struct as_predict_options options = {
        .mode = AS_PREDICT_LOOP, .simulate = true, .timeline_n = 2};
    struct as_code code;
    struct as_error err;
    int rc = -1;
    (void)state;
    assert_int_equal(as_decode(bytes, sizeof bytes, 0x1000, &code, &err), 0);
    for (int64_t after = 0; rc < 0; after++) {
        struct toy fresh;
        toy_init(&fresh, "");
        as_alloc_fail_after(after);
        rc = as_predict(fresh.predictor, &code, 0, code.n, &options, &fresh.out, &err);
        as_alloc_fail_after(-1);
        if (rc < 0) {
            assert_int_equal(rc, AS_ERR_NOMEM);
            assert_true(strlen(err.text) > 10);
            assert_int_equal(
                as_predict(fresh.predictor, &code, 0, code.n, &options, &fresh.out, &err), 0);
        }
        toy_expect(fresh.out.cycles, 6);
        assert_true(after > 3 || rc < 0);
        toy_fini(&fresh);
    }
    as_code_free(&code);
}

static void values_that_are_there_are_not_waited_for(void **state)
{
    const struct as_regset rax[] = {{{1, 0}}, {{1, 0}}};
    const struct as_predict_options ready = {
        .mode = AS_PREDICT_UNROLLED, .without = AS_WITHOUT_SIMULATION, .ready = rax};
    (void)state;
    /* imul rax,rax: a chain of 3; one per cycle without dependences */
    toy_expect(toy_cycles(&toy, "480fafc0"), 3);
    toy_expect(toy_cycles_as(&toy, "480fafc0", &ready), 1);
    /* add rax,r8 after it waits for it no more: two operations on a and b */
    toy_expect(toy_cycles_as(&toy,
                             "480fafc0"
                             "4c01c0",
                             &ready),
               1);
}

static void ports_of_memory_and_the_divider_are_told(void **state)
{
    (void)state;
    /* mov rcx,[rdi]; mov rdx,[rdi+8]; mov [rsi],rcx; add qword [rbx],1: three loads, two stores */
    toy_cycles(&toy, "488b0f"
                     "488b5708"
                     "48890e"
                     "48830301");
    toy_expect(toy.out.load_cy, 3);
    toy_expect(toy.out.store_cy, 2);
    toy_expect(toy.out.slots, 5);
    toy_cycles(&toy, "31c031d2" DIV);
    toy_expect(toy.out.divide_cy, 7);
    toy_expect(toy.out.divide_worst_cy, 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatch_limits_what_takes_no_port),
        cmocka_unit_test(ports_limit_by_the_busiest_set),
        cmocka_unit_test(units_that_are_not_pipelined_limit),
        cmocka_unit_test(chains_of_registers_limit),
        cmocka_unit_test(flags_make_chains),
        cmocka_unit_test(stack_of_x87_is_renamed),
        cmocka_unit_test(locks_stand_for_locks),
        cmocka_unit_test(microcode_fills_groups),
        cmocka_unit_test(branches_are_not_estimated),
        cmocka_unit_test(and_not_of_itself_waits_for_nobody),
        cmocka_unit_test(idioms_and_moves_are_free),
        cmocka_unit_test(results_reach_other_units_later),
        cmocka_unit_test(stores_hand_on_to_loads),
        cmocka_unit_test(stores_rename_to_loads),
        cmocka_unit_test(calls_leave_the_stack_as_it_was),
        cmocka_unit_test(the_stack_engine_moves_rsp),
        cmocka_unit_test(loops_end_in_a_branch),
        cmocka_unit_test(lines_of_the_op_cache_limit_loops),
        cmocka_unit_test(windows_of_code_are_read_one_a_cycle),
        cmocka_unit_test(lines_of_the_op_cache_share_a_cycle),
        cmocka_unit_test(loads_across_lines_take_their_port_twice),
        cmocka_unit_test(stores_in_runs_hold_up_vector_loads),
        cmocka_unit_test(two_branches_share_a_cycle),
        cmocka_unit_test(loads_of_both_kinds_share_addresses),
        cmocka_unit_test(a_load_less_and_no_division),
        cmocka_unit_test(values_that_are_there_are_not_waited_for),
        cmocka_unit_test(ports_of_memory_and_the_divider_are_told),
        cmocka_unit_test(legacy_decode_stalls),
        cmocka_unit_test(branches_at_the_end_of_32_bytes_are_decoded),
        cmocka_unit_test(small_loops_run_out_of_the_loop_buffer),
        cmocka_unit_test(what_is_unknown_is_estimated),
        cmocka_unit_test(the_simulation_agrees_with_clear_bounds),
        cmocka_unit_test(a_small_window_limits),
        cmocka_unit_test(the_time_line_is_that_of_the_chain),
        cmocka_unit_test(equal_pointers_are_an_assumption),
        cmocka_unit_test(running_out_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
