/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knights Corner: pairs and waits computed by hand from the published rules (the head of
 * src/predict/in_order.c). Cycles are those of one thread, which issues every second cycle at most.
 * U stands for instructions of the first pipe, V for the second. A comment lists the issues of an
 * iteration with their cycles.
 */
#include "toy.h"

/* zmm0 = zmm1 + zmm2 and its like. */
#define VADD_0   "62f1700858c2"
#define VADD_3   "62f1700858da" /* zmm3 = zmm1 + zmm2 */
#define SUM      "62f1780858c1" /* zmm0 += zmm1 */
#define ADD_K1   "62f1700958c2" /* zmm0 {k1} = zmm1 + zmm2 */
#define FMA(reg) "62f27108b8" reg
#define LOAD     "62f178082806" /* vmovaps zmm0,[rsi] */
#define STORE    "62f178082906"
#define ADD_RAX  "4883c001"
#define ADD_RBX  "4883c301"
#define ADD_RSI  "4883c640"
#define SHL_RAX  "48c1e002"   /* by 2 */
#define BACK(b)  "48ffc975" b /* dec rcx; jnz */

static struct toy knc;

static int set_up(void **state)
{
    (void)state;
    toy_open(&knc, "knightscorner");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    toy_fini(&knc);
    return 0;
}

static void takes(const char *hex, enum as_predict_mode mode, double cycles)
{
    const struct as_predict_options options = {.mode = mode, .simulate = true};
    toy_expect(toy_cycles_as(&knc, hex, &options), cycles);
    assert_int_equal(knc.out.estimated_n, 0);
}

static void block_takes(const char *hex, double cycles)
{
    takes(hex, AS_PREDICT_UNROLLED, cycles);
}

static void loop_takes(const char *hex, double cycles)
{
    takes(hex, AS_PREDICT_LOOP, cycles);
}

static void simple_integers_go_by_two(void **state)
{
    (void)state;
    block_takes(ADD_RAX ADD_RBX, 2); /* U V at 0 */
    /* U V at 0, U V at 2 */
    block_takes(ADD_RAX ADD_RBX "4883c20148ffc6", 4);
    /* add, dec at 0; jnz at 2 alone: it goes through V as the second of a pair, not behind one */
    loop_takes(ADD_RAX BACK("f7"), 4);
    /* two add at 0; dec and jnz at 2 */
    loop_takes(ADD_RAX ADD_RBX BACK("f3"), 4);
}

static void who_waits_for_the_first_is_no_second(void **state)
{
    (void)state;
    /* add rax,rbx at 0; add rdx,rax at 2 with dec; jnz at 4 */
    loop_takes("4801d8"
               "4801c2" BACK("f5"),
               6);
    /* mov rax,rbx; mov rax,rdi write the same: likewise. Into rdx they pair, dec and jnz too */
    loop_takes("4889d8"
               "4889f8" BACK("f5"),
               6);
    loop_takes("4889d8"
               "4889fa" BACK("f5"),
               4);
}

static void vectors_and_shifts_are_first(void **state)
{
    (void)state;
    loop_takes(VADD_0 ADD_RAX BACK("f1"), 4); /* vaddps, add at 0; dec, jnz at 2 */
    /* add at 0; vaddps at 2 with dec; jnz at 4 */
    loop_takes(ADD_RAX VADD_0 BACK("f1"), 6);
    loop_takes(SHL_RAX ADD_RBX BACK("f3"), 4);
    loop_takes(ADD_RBX SHL_RAX BACK("f3"), 6);
    block_takes(VADD_0 VADD_3, 4); /* at 0 and 2: there is one vector unit, behind U */
    assert_int_equal(knc.out.bound, AS_BOUND_PORTS);
    assert_string_equal(knc.out.limit, "u");
}

static void chains_of_vectors_take_four(void **state)
{
    (void)state;
    block_takes(SUM, 4);
    assert_int_equal(knc.out.bound, AS_BOUND_LATENCY);
    block_takes(FMA("c2"), 4);                               /* zmm0 += zmm1 * zmm2 */
    block_takes(FMA("c2") FMA("da"), 4);                     /* at 0 and 2: both wait for 4 */
    block_takes(FMA("c2") FMA("da") FMA("e2") FMA("ea"), 8); /* at 0, 2, 4, 6 */
    block_takes(VADD_0, 2);                                  /* waits for none */
    block_takes(ADD_K1, 4); /* what the mask leaves out comes from the sum before */
}

static void addresses_are_made_three_cycles_before(void **state)
{
    (void)state;
    block_takes("488b36", 3); /* mov rsi,[rsi]: the load's value counts from its issue, too */
    /* add rsi at 0; load at 3, with the next add; the load behind that at 6 */
    block_takes(ADD_RSI LOAD, 3);
    block_takes(ADD_RSI STORE, 3);
    /* The load first: load and add at 0, dec and jnz at 2, the next load at 4 > 3 */
    loop_takes(LOAD ADD_RSI BACK("f1"), 4);
}

static void memory_keeps_a_pipe(void **state)
{
    (void)state;
    block_takes("480306", 2); /* add rax,[rsi]: 2 cycles, so is the next issue's distance */
    /* add [rdi],rax: loaded at 1, added at 2, back at 6 as what the next one, issued at 5, loads */
    block_takes("480107", 5);
    /* add [rdi],5: 3 cycles, with another address each: add rdi in V */
    block_takes("48830705"
                "4883c740",
                3);
}

static void a_thread_issues_every_second_cycle(void **state)
{
    const struct as_predict_options perfect = {.mode = AS_PREDICT_UNROLLED,
                                               .without = AS_WITHOUT_FRONT_END};
    (void)state;
    /* Several threads, or another rule of issue: every cycle. */
    toy_expect(toy_cycles_as(&knc, VADD_0 VADD_3, &perfect), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_integers_go_by_two),
        cmocka_unit_test(who_waits_for_the_first_is_no_second),
        cmocka_unit_test(vectors_and_shifts_are_first),
        cmocka_unit_test(chains_of_vectors_take_four),
        cmocka_unit_test(addresses_are_made_three_cycles_before),
        cmocka_unit_test(memory_keeps_a_pipe),
        cmocka_unit_test(a_thread_issues_every_second_cycle),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
