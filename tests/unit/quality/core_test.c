/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abilities of cores: widths and peaks of every table, code that a core cannot run, and shares of a
 * peak. No loop exceeds a peak.
 */
#include "analysed.h"
#include "quality/cqa.h"

struct core_peaks {
    const char *core;
    unsigned vector_b;
    double f64, load_b, store_b; /* a cycle */
};

/*
 * Operations: two pipes of fused multiply-adds, or one that adds beside one that multiplies.
 * Intel: Optimization Reference Manual (248966), tables of execution units and of the bandwidth of
 * the first level; Knights Corner: 327364. AMD: Software Optimization Guides 55723 (Zen), 56305
 * (Zen 2), 56665 (Zen 3), 57647 (Zen 4), 58455 (Zen 5), load-store unit and floating-point pipes.
 */
static const struct core_peaks peaks[] = {{"core2", 16, 4, 16, 16},
                                          {"nehalem", 16, 4, 16, 16},
                                          {"sandybridge", 32, 8, 32, 16},
                                          {"ivybridge", 32, 8, 32, 16},
                                          {"haswell", 32, 16, 64, 32},
                                          {"skylake-sp", 64, 32, 128, 64},
                                          {"icelake-sp", 64, 32, 128, 64},
                                          {"sapphirerapids", 64, 32, 128, 64},
                                          {"emeraldrapids", 64, 32, 128, 64},
                                          {"graniterapids", 64, 32, 128, 64},
                                          {"knightslanding", 64, 32, 128, 64},
                                          {"knightscorner", 64, 16, 64, 64},
                                          {"zen1", 32, 8, 32, 16},
                                          {"zen2", 32, 16, 64, 32},
                                          {"zen3-cited", 32, 16, 64, 32},
                                          {"zen3", 32, 16, 64, 32},
                                          {"zen4-cited", 64, 16, 64, 32},
                                          {"zen4", 64, 16, 64, 32},
                                          {"zen5", 64, 32, 128, 64}};

static void expect(const char *core, const char *what, double got, double expected)
{
    if (fabs(got - expected) > 0.001)
        fail_msg("%s: %s is %g, expected %g", core, what, got, expected);
}

static void widths_and_peaks_are_those_published(void **state)
{
    struct as_error err;
    size_t tables = 0;
    (void)state;

    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        const struct core_peaks *of = &peaks[i];
        struct as_uarch *uarch;
        struct as_cqa_engine *engine;

        assert_int_equal(as_uarch_open(of->core, &uarch, &err), 0);
        assert_int_equal(as_cqa_engine_new(uarch, &engine, &err), 0);
        expect(of->core, "width", engine->native_b, of->vector_b);
        expect(of->core, "peak of arithmetic", engine->peak_f64, of->f64);
        expect(of->core, "peak of loads", engine->peak_load, of->load_b);
        expect(of->core, "peak of stores", engine->peak_store, of->store_b);
        as_cqa_engine_free(&engine);
        as_uarch_free(&uarch);
    }
    while (as_uarch_names()[tables])
        tables++;
    assert_int_equal(tables, sizeof peaks / sizeof *peaks);
}

/* Measured loads and stores of each width agree with the published bytes. */
static void measured_lines_agree_with_what_is_published(void **state)
{
    static const char *const measured[] = {"zen4", "zen5", "emeraldrapids", "graniterapids"};
    struct as_error err;
    (void)state;

    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct as_uarch *uarch;
        struct as_cqa_engine *engine;

        assert_int_equal(as_uarch_open(measured[i], &uarch, &err), 0);
        const double load_b = uarch->set[AS_UARCH_load_b];
        const double store_b = uarch->set[AS_UARCH_store_b];
        uarch->set[AS_UARCH_load_b] = uarch->set[AS_UARCH_store_b] = 0;
        assert_int_equal(as_cqa_engine_new(uarch, &engine, &err), 0);
        expect(measured[i], "measured loads", engine->peak_load, load_b);
        expect(measured[i], "measured stores", engine->peak_store, store_b);
        as_cqa_engine_free(&engine);
        as_uarch_free(&uarch);
    }
}

#define TRIAD(v)                                                                                   \
    "vmovupd " v "1,[rsi+rax]\nvfmadd213pd " v "1," v "0,[rdi+rax]\nvmovupd [rcx+rax]," v "1\n"    \
    "add rax,64\ncmp rax,rdx\njne 1b"

static void lacks(const char *core, const char *loop, uint64_t extensions)
{
    struct fixture f = analyse_on(core, loop, NULL);

    if (f.out.lacks != extensions)
        fail_msg("%s lacks %#llx, expected %#llx", core, (unsigned long long)f.out.lacks,
                 (unsigned long long)extensions);
    assert_int_equal(f.out.path_n == 0, extensions != 0);
    assert_true(as_cqa_promise(&f.out) >= 0);
    done(&f);
}

static void code_that_a_core_cannot_run_has_no_figures(void **state)
{
    static const char half[] = "vmovupd ymm17,[rsi+rax]\nadd rax,32\ncmp rax,rdx\njne 1b";
    static const char scalar[] = "addsd xmm0,[rsi+rax]\nadd rax,8\ncmp rax,rdx\njne 1b";
    (void)state;

    lacks("zen3", TRIAD("zmm"), AS_EXTENSION_BIT(AVX512F));
    lacks("zen3", TRIAD("ymm"), 0);
    lacks("zen4", TRIAD("zmm"), 0);
    lacks("sandybridge", TRIAD("ymm"), AS_EXTENSION_BIT(FMA));
    lacks("core2", TRIAD("ymm"), AS_EXTENSION_BIT(AVX) | AS_EXTENSION_BIT(FMA));
    lacks("core2", scalar, 0);
    lacks("skylake-sp", half, 0);
    lacks("knightslanding", half, AS_EXTENSION_BIT(AVX512VL));
    lacks("knightscorner", scalar, AS_EXTENSION_BIT(SSE));
    /* GCC writes tzcnt for every core: older ones read it as bsf. */
    lacks("core2", "tzcnt rcx,[rsi+rax]\nadd rax,8\ncmp rax,rdx\njne 1b", 0);
    lacks("core2", "lzcnt rcx,[rsi+rax]\nadd rax,8\ncmp rax,rdx\njne 1b", AS_EXTENSION_BIT(LZCNT));
}

static void below_peak(const char *core, const char *loop)
{
    static const char *const share[] = {"fp_peak_pct", "load_peak_pct", "store_peak_pct",
                                        "vec_eff_all_pct"};
    struct fixture f = analyse_on(core, loop, NULL);

    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        if (metric(&f.out.mean, share[i]) > 100.01)
            fail_msg("%s: %s is %g", core, share[i], metric(&f.out.mean, share[i]));
    done(&f);
}

static void no_loop_exceeds_a_peak(void **state)
{
    /* Two fused multiply-adds beside two additions: AMD's cores start all four in a cycle. */
    static const char mix[] = "vfmadd231pd ymm0,ymm8,ymm9\nvfmadd231pd ymm1,ymm8,ymm9\n"
                              "vaddpd ymm2,ymm8,ymm9\nvaddpd ymm3,ymm8,ymm9\ndec rcx\njne 1b";
    /* Vectors and integers use different ports of loads, and of stores. */
    static const char loads[] = "vmovupd ymm0,[rsi]\nvmovupd ymm1,[rsi+32]\nmov rax,[rsi+64]\n"
                                "dec rcx\njne 1b";
    static const char stores[] = "vmovupd [rsi],ymm1\nmov [rsi+32],rax\ndec rcx\njne 1b";
    (void)state;

    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        if (peaks[i].vector_b >= 32 && strcmp(peaks[i].core, "knightscorner") != 0) {
            below_peak(peaks[i].core, loads);
            below_peak(peaks[i].core, stores);
            if (peaks[i].f64 > 8 || peaks[i].vector_b > 32)
                below_peak(peaks[i].core, mix);
        }
    below_peak("skylake-sp", TRIAD("zmm"));
    below_peak("icelake-sp", TRIAD("zmm"));
    below_peak("knightslanding", TRIAD("zmm"));
}

static void shares_of_peaks_are_known(void **state)
{
    static const char copy[] = "vmovupd ymm1,[rsi+rax]\nvmovupd [rdi+rax],ymm1\nadd rax,32\n"
                               "cmp rax,rdx\njne 1b";
    (void)state;
    struct fixture f = analyse_on("zen3", copy, NULL);

    is(&f.out.mean, "cycles", 1);
    is(&f.out.mean, "store_peak_pct", 100); /* 32 of 32 bytes */
    is(&f.out.mean, "load_peak_pct", 50);
    done(&f);
    f = analyse_on("skylake-sp", TRIAD("zmm"), NULL);
    is(&f.out.mean, "vec_eff_all_pct", 100);
    is(&f.out.mean, "store_peak_pct", 100 / metric(&f.out.mean, "cycles"));
    done(&f);
}

/* A search as GCC rotates it: one branch is taken, the back edge falls through to the header. */
static void a_rotated_loop_takes_one_branch(void **state)
{
    static const char search[] =
        ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:\njmp 2f\n"
        "1: add rax,1\ncmp rax,rdi\nje 3f\n2: cmp [rsi+rax*4],edx\njne 1b\n3: ret\n";
    struct fixture f = {0};
    struct as_error err;
    (void)state;

    assert_int_equal(as_uarch_open("zen3", &f.uarch, &err), 0);
    analyse_text(&f, search, NULL);
    is(&f.out.mean, "branch_cy", 1);
    is(&f.out.mean, "cycles", 1);
    done(&f);
}

/* The loop lies in one line of 64 bytes, though it would not from its header on. Measured on Zen 4:
 * 1.00 cycles. */
static void a_rotated_loop_is_read_where_it_stands(void **state)
{
    static const char search[] =
        ".intel_syntax noprefix\n.p2align 6\n.skip 0x28\n.globl f\n.type f,@function\nf:\n"
        "jmp 2f\n1: add rax,1\ncmp rax,rdi\nje 3f\n2: cmp [rsi+rax*4],edx\njne 1b\n3: ret\n";
    struct fixture f = {0};
    struct as_error err;
    (void)state;

    assert_int_equal(as_uarch_open("zen4", &f.uarch, &err), 0);
    analyse_text(&f, search, NULL);
    is(&f.out.mean, "cycles", 1);
    done(&f);
}

static struct fixture analyse_function(const char *text)
{
    struct fixture f = {0};
    struct as_error err;

    assert_int_equal(as_uarch_open("zen3", &f.uarch, &err), 0);
    analyse_text(&f, text, NULL);
    return f;
}

#define FUNCTION ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:\n"

static double share_of_calls(const struct fixture *f)
{
    double share = 0;

    for (size_t i = 0; i < f->out.path_n; i++)
        if (metric(&f->out.path[i], "insn_class_call_n") > 0)
            share += f->out.path[i].weight;
    return share;
}

/* A square root that sets errno, and a product of complex numbers that may be no numbers: both call
 * functions out of line, hardly ever. */
static void unlikely_paths_weigh_little(void **state)
{
    (void)state;
    struct fixture f =
        analyse_function(FUNCTION "1: movss xmm0,[rdi+rax*4]\nucomiss xmm1,xmm0\nja 3f\n"
                                  "sqrtss xmm0,xmm0\n2: movss [rsi+rax*4],xmm0\n"
                                  "add rax,1\ncmp rax,rdx\njne 1b\nret\n"
                                  "3: call sqrtf\njmp 2b\n");

    assert_int_equal(f.out.path_n, 2);
    assert_false(f.out.weighed);
    assert_true(share_of_calls(&f) > 0 && share_of_calls(&f) < 0.05);
    assert_true(fabs(metric(&f.out.mean, "insn_class_call_n") - share_of_calls(&f)) < 1e-9);
    done(&f);
    f = analyse_function(FUNCTION "1: mulsd xmm0,[rdi+rax*8]\nucomisd xmm0,xmm0\njp 3f\n"
                                  "2: movsd [rsi+rax*8],xmm0\nadd rax,1\ncmp rax,rdx\njne 1b\n"
                                  "ret\n3: call __muldc3\njmp 2b\n");
    assert_true(share_of_calls(&f) < 0.01);
    done(&f);
    /* In line, a call is less likely than none, no more. */
    f = analyse_function(FUNCTION "1: mov ecx,[rdi+rax*4]\ncmp ecx,edx\njb 2f\ncall g\n"
                                  "2: add rax,1\ncmp rax,rbx\njne 1b\nret\n");
    assert_true(fabs(share_of_calls(&f) - 0.22) < 0.01);
    done(&f);
    /* Nothing speaks for one way or the other. */
    f = analyse_function(FUNCTION "1: mov ecx,[rdi+rax*4]\ntest cl,1\nje 2f\nadd ebx,ecx\n"
                                  "2: add rax,1\ncmp rax,rdx\njne 1b\nret\n");
    assert_true(fabs(f.out.path[0].weight - 0.5) < 1e-9);
    done(&f);
}

static void paths_in_a_section_of_their_own_are_cold(void **state)
{
    (void)state;
    struct fixture f =
        analyse_function(FUNCTION "1: mov ecx,[rdi+rax*4]\ncmp ecx,edx\njb f.cold\n"
                                  "2: add rax,1\ncmp rax,rbx\njne 1b\nret\n.size f,.-f\n"
                                  ".section .text.unlikely,\"ax\"\n.type f.cold,@function\n"
                                  "f.cold: imul ebx,ecx\njmp 2b\n.size f.cold,.-f.cold\n");

    assert_int_equal(f.out.path_n, 2);
    is(&f.out.mean, "insn_n",
       metric(&f.out.path[0], "insn_n") * f.out.path[0].weight +
           metric(&f.out.path[1], "insn_n") * f.out.path[1].weight);
    assert_true(fmin(f.out.path[0].weight, f.out.path[1].weight) < 0.002);
    done(&f);
}

/* Around the loop: to SSE and back. Clean upper halves cost nothing, and vectors of 16 bytes leave
 * them as they are. */
static void transitions_are_counted(void **state)
{
    (void)state;
    struct fixture f = analyse_on("zen3",
                                  "vaddpd ymm0,ymm0,[rdi]\nmulpd xmm1,[rsi]\nmovapd [rsi],xmm1\n"
                                  "dec rcx\njne 1b",
                                  NULL);
    is(&f.out.mean, "transition_n", 2);
    done(&f);
    f = analyse_on("zen3", "vaddpd ymm0,ymm0,[rdi]\nvzeroupper\nmulpd xmm1,[rsi]\ndec rcx\njne 1b",
                   NULL);
    is(&f.out.mean, "transition_n", 0);
    done(&f);
    f = analyse_on("zen3", "vaddpd xmm0,xmm0,[rdi]\nmulpd xmm1,[rsi]\ndec rcx\njne 1b", NULL);
    is(&f.out.mean, "transition_n", 0);
    done(&f);
}

static void hazards_are_counted(void **state)
{
    (void)state;
    struct fixture f = analyse_on("skylake-sp",
                                  "mov [rdi],eax\nmov [rdi+4],edx\nmov rbx,[rdi]\nadd rdi,8\n"
                                  "dec rcx\njne 1b",
                                  NULL);
    is(&f.out.mean, "forward_failed_n", 1);
    is(&f.out.mean, "page_alias_n", 0);
    done(&f);
    f = analyse_on("skylake-sp",
                   "vmovupd [rdi+rax],ymm0\nvmovupd ymm1,[rdi+rax+8192]\nadd rax,32\n"
                   "cmp rax,rdx\njne 1b",
                   NULL);
    is(&f.out.mean, "forward_failed_n", 0);
    is(&f.out.mean, "page_alias_n", 1);
    done(&f);
    /* cmp and jne stand in bytes 26 to 32 of the code. */
    f = analyse_on("skylake-sp", ".p2align 5\n.rept 25\nnop\n.endr\n5: cmp rax,rdx\njne 5b", NULL);
    is(&f.out.mean, "branch_at_end_n", 0);
    done(&f);
    f = analyse_on("skylake-sp", ".p2align 5\n.rept 27\nnop\n.endr\n5: cmp rax,rdx\njne 5b", NULL);
    is(&f.out.mean, "branch_at_end_n", 1);
    done(&f);
    f = analyse_on("haswell", ".p2align 5\n.rept 27\nnop\n.endr\n5: cmp rax,rdx\njne 5b", NULL);
    is(&f.out.mean, "branch_at_end_n", 0);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_and_peaks_are_those_published),
        cmocka_unit_test(measured_lines_agree_with_what_is_published),
        cmocka_unit_test(code_that_a_core_cannot_run_has_no_figures),
        cmocka_unit_test(no_loop_exceeds_a_peak),
        cmocka_unit_test(shares_of_peaks_are_known),
        cmocka_unit_test(a_rotated_loop_takes_one_branch),
        cmocka_unit_test(a_rotated_loop_is_read_where_it_stands),
        cmocka_unit_test(unlikely_paths_weigh_little),
        cmocka_unit_test(paths_in_a_section_of_their_own_are_cold),
        cmocka_unit_test(transitions_are_counted),
        cmocka_unit_test(hazards_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
