/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops on cores with cited tables, with cycles computed by hand from published figures or known
 * from a publication. Also measured loops.
 */
#include "toy.h"

static void loop_takes(const char *core, const char *hex, double cycles)
{
    const struct as_predict_options options = {.mode = AS_PREDICT_LOOP, .simulate = true};
    struct toy toy;
    toy_open(&toy, core);
    const double got = toy_cycles_as(&toy, hex, &options);
    if (got < 0.995 * cycles || got > 1.005 * cycles)
        fail_msg("%s: %g cycles in place of %g, by %s", core, got, cycles, toy.out.limit);
    toy_fini(&toy);
}

/* vmovapd ymm1,[rsi+rax]; vfmadd231pd ymm0,ymm1,[rdi+rax]; add rax,32; cmp rax,rdx; jne: the chain
 * of the FMA. Haswell and Zen 2 take 5 cycles, Skylake 4 (optimization manuals). */
static void a_product_waits_for_the_sum(void **state)
{
    static const char dot[] = "c5fd280c06c4e2f5b804074883c0204839d075ec";
    (void)state;
    loop_takes("haswell", dot, 5);
    loop_takes("skylake-sp", dot, 4);
    loop_takes("zen2", dot, 5);
}

/* vaddpd ymm0,ymm0,[rdi+rax]; add rax,32; cmp rax,rdx; jne */
static void a_sum_waits_for_itself(void **state)
{
    static const char sum[] = "c5fd5804074883c0204839d075f2";
    (void)state;
    loop_takes("sandybridge", sum, 3);
    loop_takes("haswell", sum, 3);
    loop_takes("skylake-sp", sum, 4);
    loop_takes("zen2", sum, 3);
}

/* Ten vfmadd231pd of ten sums, dec rcx, jne: two pipes take five cycles; Zen 1 makes halves. */
static void many_sums_wait_for_pipes(void **state)
{
    static const char sums[] =
        "c4c29db8c5c4c29db8cdc4c29db8d5c4c29db8ddc4c29db8e5c4c29db8edc4c29db8f5c4c29db8fdc4429db8c5"
        "c4429db8cd48ffc975c9";
    (void)state;
    loop_takes("haswell", sums, 5);
    loop_takes("skylake-sp", sums, 5);
    loop_takes("zen2", sums, 5);
    loop_takes("zen1", sums, 10);
}

/* Four times vmovapd ymm0,[rsi+rax+..]; vmovapd [rdi+rax+..],ymm0; add, cmp, jne: stores. 32 bytes
 * a cycle; 16 bytes on Sandy Bridge and Zen 1. */
static void a_copy_waits_for_stores(void **state)
{
    static const char copy[] =
        "c5fd280406c5fd290407c5fd28440620c5fd29440720c5fd28440640c5fd29440740c5fd"
        "28440660c5fd294407604805800000004839d075c7";
    (void)state;
    loop_takes("sandybridge", copy, 8);
    loop_takes("haswell", copy, 4);
    loop_takes("skylake-sp", copy, 4);
    loop_takes("zen1", copy, 8);
    loop_takes("zen2", copy, 4);
}

/* add eax,1; add ebx,1; add esi,1; dec rcx; jne: two a cycle on the narrow core (3 where the branch
 * and dec do not become one). */
static void a_narrow_core_takes_two(void **state)
{
    (void)state;
    loop_takes("knightslanding", "83c00183c30183c60148ffc975f2", 3);
}

/*
 * The loop of QMC=Chem in A. Charif-Rubial et al., "CQA: a code quality analyzer tool at binary
 * level" (HiPC 2014). It is written by hand after the reports in figures 12 to 15, on Sandy Bridge.
 * With 128 bits, 8 multiplications of p0 take 8 cycles. With 256 bits and 320 bytes loaded, the
 * loads take 10 (32 bytes per cycle). With 192 bytes loaded, the arithmetic takes 8 again.
 */
/* Chains between register files, as timed on cores of Zen 4 and Zen 3: movq there and back, pextrq
 * and movq, cvttsd2si and cvtsi2sd; a conversion waits for what it merges into. */
static void moves_between_files_take_their_round_trip(void **state)
{
    (void)state;
    loop_takes("zen4", "66480f6ec066480f7ec0", 7);
    loop_takes("zen4", "c4e1f96ec0c4e1f97ec0", 6);
    loop_takes("zen4", "66480f3a16c00166480f6ec0", 8);
    loop_takes("zen4", "f20f2cc0f20f2ac0", 12);
    loop_takes("zen4", "f20f2ac3", 3);
    loop_takes("zen3", "66480f6ec066480f7ec0", 6);
    loop_takes("zen3", "66480f3a16c00166480f6ec0", 7);
    loop_takes("zen3", "f20f2cc0f20f2ac0", 13);
    loop_takes("zen3", "f20f2ac3", 3);
}

/* Loops over long double and single forms, within a tenth of what a core of Zen 4 took. Each time
 * is the minimum of 1500 runs of two lengths. */
static void zen4_takes_what_was_measured(void **state)
{
    static const struct {
        const char *words, *hex;
        double cycles;
    } loop[] = {
        {"a sum", "db2c0fdec14883c11081e1ff03000049ffcf75ec", 6.6},
        {"a copy", "db2c0fdb3c0e4883c11081e1ff03000049ffcf75eb", 9.0},
        {"a sum of products", "db2c0fdbac0f00080000d8cadec1db3c0e4883c11081e1ff03000049ffcf75e0",
         13.0},
        {"a maximum", "db2c0fdbe9dad1ddd94883c11081e1ff03000049ffcf75e8", 15.0},
        {"r = q, q = x q - p, p = r", "d9c1d8cbdee1d9ca49ffcf75f3", 13.9},
        {"quotients", "d8f149ffcf75f9", 15.0},
        {"eight exchanges", "d9c9d9cad9cbd9c9d9c9d9cad9cbd9c949ffcf75eb", 2.0},
        {"pinsrw and movd", "660fc4c001660f7ec049ffcf75f2", 7.0},
        {"pextrw and movd", "660fc5c000660f6ec049ffcf75f2", 8.0},
        {"vcmpps and vpmovm2d of 64 bytes", "62f17c48c2cd0062f27e4838c149ffcf75ee", 6.1},
        {"vcmppd and vpmovm2q of 32 bytes", "62f1fd28c2cd0062f2fe2838c149ffcf75ee", 5.0},
        {"vpcmpub and vpmovm2b of 16 bytes", "62f37d083ecd0162f27e0828c149ffcf75ee", 4.0},
        {"kmovw there and back", "c5f893c1c5f892c849ffcf75f3", 9.0},
        {"kmovq there and back", "c4e1fb93c1c4e1fb92c849ffcf75f1", 10.0},
        {"kortestw, sbb, kmovw", "c5f898c94819c0c5f892c849ffcf75f0", 11.0},
        {"add [rax+48],1; mov rax,[rax+256]", "83403001488b80000100004885c075f0", 4.0},
        {"shld", "480fa4d80349ffcf75f6", 2.0},
        {"vpternlogd", "62f3754825c29649ffcf75f4", 1.0},
        {"lea of three parts over its index", "8d4441d049ffcf75f7", 1.0},
        {"lea of three parts over its base", "8d4448d049ffcf75f7", 2.0},
        {"lea eax,[rax+1]", "8d400149ffcf75f8", 1.0},
        {"four mul", "4c89d049f7e34c89d049f7e34c89d049f7e34c89d049f7e349ffcf75e3", 5.0},
        {"movntdq, a line of 16 bytes each",
         "660fe703660fe74310660fe74320660fe743304883c34049ffcf75e4", 8.8},
        {"vmovntdq, a line of 32 bytes each", "c5fde703c5fde743204883c34049ffcf75ee", 8.9},
        {"vmovntdq of 64 bytes", "62f17d48e7034883c34049ffcf75f1", 4.2},
        {"ptest, sbb, movq", "660f3817c04819c066480f6ec049ffcf75ee", 10.0},
    };
    const struct as_predict_options options = {.mode = AS_PREDICT_LOOP, .simulate = true};
    struct toy toy;
    (void)state;
    toy_open(&toy, "zen4");
    for (size_t i = 0; i < sizeof loop / sizeof *loop; i++) {
        const double got = toy_cycles_as(&toy, loop[i].hex, &options);
        if (got < 0.9 * loop[i].cycles || got > 1.1 * loop[i].cycles)
            fail_msg("%s: %g cycles in place of %g", loop[i].words, got, loop[i].cycles);
    }
    toy_fini(&toy);
}

/* Eight stores of an element each are none of one cycle. A division waits for no assist. */
static void forms_cost_what_their_kind_costs(void **state)
{
    (void)state;
    loop_takes("zen3", "c4e2558e0749ffcf75f6", 12);    /* vpmaskmovd [rdi],ymm5,ymm0 */
    loop_takes("graniterapids", "d8f149ffcf75f9", 13); /* fdiv st,st(1): estimated */
}

/* Zen 3 renames values through memory: 0.9 to 2.0 cycles were measured, and not 7 or 8. */
static void zen3_renames_memory(void **state)
{
    (void)state;
    loop_takes("zen3", "4883070149ffcf75f7", 1);     /* add qword ptr [rdi],1 */
    loop_takes("zen3", "488907488b0749ffcf75f5", 1); /* mov [rdi],rax; mov rax,[rdi] */
}

static void the_loop_of_a_paper_takes_what_it_says(void **state)
{
    (void)state;
    loop_takes(
        "sandybridge",
        "410f102480410f59e0410f102c81410f59e90f58e5410f102c82410f59ea0f58e5410f102c83410f59eb0f58e5"
        "0f5824870f292487410f102480410f59e4410f102c81410f59ed0f58e5410f102c82410f59ee0f58e5410f10"
        "2c83410f59ef0f58e50f5824860f2924864883c0044839d0728d",
        8);
    loop_takes(
        "sandybridge",
        "c4c13c592480c4c134592c81c5dc58e5c4c12c592c82c5dc58e5c4c124592c83c5dc58e5c5dc582487c5fc2924"
        "87c4c11c592480c4c114592c81c5dc58e5c4c10c592c82c5dc58e5c4c104592c83c5dc58e5c5dc582486c5fc29"
        "24864883c0084839d0729b",
        10);
    loop_takes(
        "sandybridge",
        "c4c17c280480c4c17c280c81c4c17c281482c4c17c281c83c5bc59e0c5b459e9c5dc58e5c5ac59eac5dc58e5c5"
        "a459ebc5dc58e5c5dc582487c5fc292487c59c59e0c59459e9c5dc58e5c58c59eac5dc58e5c58459ebc5dc58e5"
        "c5dc582486c5fc2924864883c0084839d07293",
        8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_waits_for_the_sum),
        cmocka_unit_test(a_sum_waits_for_itself),
        cmocka_unit_test(many_sums_wait_for_pipes),
        cmocka_unit_test(a_copy_waits_for_stores),
        cmocka_unit_test(a_narrow_core_takes_two),
        cmocka_unit_test(moves_between_files_take_their_round_trip),
        cmocka_unit_test(zen4_takes_what_was_measured),
        cmocka_unit_test(forms_cost_what_their_kind_costs),
        cmocka_unit_test(zen3_renames_memory),
        cmocka_unit_test(the_loop_of_a_paper_takes_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
