/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis of loops on a made-up core, with figures computed by hand beside each. The
 * core has four slots per cycle, vectors of 32 bytes, and two integer ports, one of which branches.
 * It has two ports of loads, one of addresses and one of data of stores. One port each adds,
 * multiplies and shuffles, and a divider exists.
 */
#include "analysed.h"
#include "quality/weights.h"

static const char core[] =
    "core\tmade\ta made-up core\nsource\ts\tmade up\n"
    "set\tdispatch_width\t4\ts\nset\tretire_width\t8\ts\nset\trob\t500\ts\n"
    "set\tload_int\t4\ts\nset\tload_fp\t6\ts\nset\tload_fp_indexed\t6\ts\n"
    "set\topcache_width\t100\ts\nset\topcache_line_b\t0\ts\nset\topcache_line_slots\t100\ts\n"
    "set\tfuse_branch\t2\ts\nset\tvector_b\t32\ts\nset\tvector_int_b\t32\ts\n"
    "group\tALU\ta b\ts\ngroup\tBR\tb\ts\ngroup\tLD\tl0 l1\ts\ngroup\tSTA\tt\ts\n"
    "group\tSTD\td\ts\ngroup\tFADD\tf0\ts\ngroup\tFMUL\tf1\ts\ngroup\tFSHUF\tf2\ts\n"
    "group\tFANY\tf0 f1 f2\ts\ngroup\tFDIV\tdiv\ts\n"
    "form\tinc r64\t1\tALU:1\t1\t-\ts\nform\tadd r64,imm8\t1\tALU:1\t1\t-\ts\n"
    "form\tcmp r64,r64\t1\tALU:1\t1\t-\ts\nform\tlea r64,address64\t1\tALU:1\t1\t-\ts\n"
    "form\tmovsxd r64,m32\t1\tLD:1\t0\t-\ts\nform\tmov r64,m64\t1\tLD:1\t0\t-\ts\n"
    "form\tvmovsd xmm,m64\t1\tLD:1\t0\t-\ts\nform\tvmovsd m64,xmm\t1\tSTA:1 STD:1\t0\t-\ts\n"
    "form\tvmovupd ymm,m256\t1\tLD:1\t0\t-\ts\nform\tvmovupd m256,ymm\t1\tSTA:1 STD:1\t0\t-\ts\n"
    "form\tvmovups ymm,m256\t1\tLD:1\t0\t-\ts\nform\tvmovups m256,ymm\t1\tSTA:1 STD:1\t0\t-\ts\n"
    "form\tvmulsd xmm,xmm,xmm\t1\tFMUL:1\t4\t-\ts\nform\tvaddsd xmm,xmm,xmm\t1\tFADD:1\t3\t-\ts\n"
    "form\tvaddsd xmm,xmm,m64\t1\tFADD:1 LD:1\t3\t-\ts\n"
    "form\tvaddpd ymm,ymm,m256\t1\tFADD:1 LD:1\t3\t-\ts\n"
    "form\tvmulpd ymm,ymm,ymm\t1\tFMUL:1\t4\t-\ts\nform\tvaddpd ymm,ymm,ymm\t1\tFADD:1\t3\t-\ts\n"
    "form\tvdivsd xmm,xmm,xmm\t1\tFDIV:5-9\t13-17\t-\ts\n"
    "form\tvdivpd ymm,ymm,ymm\t1\tFDIV:8-16\t13-17\t-\ts\n"
    "form\tvmovhpd xmm,xmm,m64\t1\tLD:1 FSHUF:1\t1\t-\ts\n"
    "form\tvmovhpd m64,xmm\t1\tSTA:1 STD:1\t0\t-\ts\n"
    "form\tvinsertf128 ymm,ymm,xmm,imm8\t1\tFSHUF:1\t1\t-\ts\n"
    "form\tvextractf128 xmm,ymm,imm8\t1\tFSHUF:1\t3\t-\ts\n"
    "form\tvgatherdpd ymm,m256,ymm\t4\tLD:16\t1\t-\ts\n";

/* The same on the made-up core. */
static struct fixture analyse(const char *loop, const struct as_cqa_options *options)
{
    struct fixture f = {0};
    struct as_error err;
    char text[2048];

    snprintf(text, sizeof text,
             ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:\n1: %s\nret\n", loop);
    assert_int_equal(as_uarch_parse(core, sizeof core - 1, "made", &f.uarch, &err), 0);
    analyse_text(&f, text, options);
    return f;
}

static void takes(const struct as_cqa_path *path, enum as_cqa_variant variant, double cycles,
                  enum as_bound bound)
{
    const struct as_cqa_what_if *it = &path->what_if[variant];

    if (!it->applies || fabs(it->cycles - cycles) > 0.004 * cycles || it->bound != bound)
        fail_msg("%s: %s, %g cycles, bounded by %s; expected %g, %s", as_cqa_variant_name(variant),
                 it->applies ? "applies" : "does not apply", it->cycles, as_bound_name(it->bound),
                 cycles, as_bound_name(bound));
}

#define DAXPY                                                                                      \
    "vmovsd xmm1,[rsi+rax*8]\nvmulsd xmm1,xmm1,xmm0\nvaddsd xmm1,xmm1,[rdi+rax*8]\n"               \
    "vmovsd [rdi+rax*8],xmm1\ninc rax\ncmp rax,rdx\njne 1b"

static void counts_of_daxpy(void **state)
{
    (void)state;
    struct fixture f = analyse(DAXPY, NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    assert_int_equal(f.out.path_n, 1);
    is(p, "insn_n", 7);
    is(p, "slot_n", 6); /* cmp and jne are one */
    is(p, "fused_n", 1);
    is(p, "fp_op_n", 2);
    is(p, "fp_add_n", 1);
    is(p, "fp_mul_n", 1);
    is(p, "fp_insn_n", 2);
    is(p, "scalar_insn_n", 2); /* inc, cmp */
    is(p, "insn_class_load_n", 2);
    is(p, "insn_class_store_n", 1);
    is(p, "insn_class_branch_n", 1);
    is(p, "load_b", 16);
    is(p, "store_b", 8);
    is(p, "access_64_n", 3);
    is(p, "intensity_per_b", 2.0 / 24);
    is(p, "stream_unit_n", 3);
    is(p, "array_n", 2);
    is(p, "reg_gpr_n", 4); /* rsi rdi rax rdx */
    is(p, "reg_xmm_n", 2);
    is(p, "reg_ymm_n", 0);
    is(p, "vex_insn_n", 4);
    is(p, "packable_all_n", 4);
    is(p, "packed_all_n", 0);
    is(p, "vec_ratio_all_pct", 0);
    is(p, "vec_eff_all_pct", 25); /* 8 of 32 bytes */
    is(p, "vec_eff_load_pct", 25);
    is(p, "vec_ratio_fma_pct", NAN); /* there is none */
    is(p, "stack_load_n", 0);
    done(&f);
}

static void cycles_of_daxpy(void **state)
{
    (void)state;
    struct fixture f = analyse(DAXPY, NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 1.5); /* 6 slots, 4 a cycle */
    assert_int_equal(p->bound, AS_BOUND_DISPATCH);
    is(p, "rename_cy", 1.5);
    is(p, "load_cy", 1); /* 2 on 2 ports */
    is(p, "store_cy", 1);
    is(p, "ports_cy", 1);
    is(p, "chain_cy", 1); /* inc */
    is(p, "ipc", 7 / 1.5);
    is(p, "load_per_cy", 16 / 1.5);
    is(p, "fp_per_cy", 2 / 1.5);
    is(p, "peak_fp_per_cy", 8); /* an addition and a multiplication of 4 lanes */
    is(p, "fp_peak_pct", 100 * 2 / 1.5 / 8);
    is(p, "peak_load_per_cy", 64); /* 2 ports, 32 bytes */
    is(p, "load_peak_pct", 100 * 16 / 1.5 / 64);
    is(p, "peak_store_per_cy", 32);
    is(p, "divide_cy", 0);
    /* The mean of one path is that path. */
    is(&f.out.mean, "cycles", 1.5);
    is(&f.out.mean, "fp_peak_pct", 100 * 2 / 1.5 / 8);
    done(&f);
}

static void stages_and_buffers_are_told(void **state)
{
    static const struct as_cqa_options simulated = {.simulate = true};
    (void)state;
    struct fixture f = analyse(DAXPY, NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "single_port_n", 3); /* vmulsd, vaddsd, the store */
    is(p, "single_port_cy", 1);
    is(p, "store_address_cy", 1);
    is(p, "loop_buffer_pct", NAN); /* the made-up core has none */
    is(p, "redecoded_n", 0);
    is(p, "live_gpr_n", 4);
    is(p, "live_vector_n", 2);
    is(p, "pressure_gpr_pct", 100 * 4 / 15.0);
    is(p, "pressure_vector_pct", 100 * 2 / 16.0);
    is(p, "depth_n", 1);
    is(p, "path_n", 1);
    done(&f);
    /* Divisions take 13 cycles each behind the other. The 97 entries of the scheduler are full long
     * before the 500 slots: what is renamed waits from one division's end to the next. */
    f = analyse("vdivsd xmm0,xmm0,xmm1\ncmp rax,rdx\njne 1b", &simulated);
    is(&f.out.path[0], "chain_cy", 13);
    is(&f.out.path[0], "full_scheduler_cy", 13);
    is(&f.out.path[0], "full_reorder_cy", 0);
    is(&f.out.path[0], "full_loads_cy", 0);
    is(&f.out.path[0], "full_stores_cy", 0);
    done(&f);
    f = analyse("prefetcht0 [rsi+rax]\nadd rax,64\ncmp rax,rdx\njne 1b", NULL);
    is(&f.out.path[0], "prefetch_per_cy", 64 / metric(&f.out.path[0], "cycles"));
    done(&f);
}

/* Three shuffles on the one port that shuffles, whatever runs beside: two loads, the counter and
 * the branch are four slots, a cycle. */
static void few_ports_are_told(void **state)
{
    (void)state;
    struct fixture f = analyse("vmovsd xmm1,[rsi+rax*8]\nvmovsd xmm5,[rdi+rax*8]\n"
                               "vinsertf128 ymm2,ymm1,xmm5,1\nvinsertf128 ymm3,ymm1,xmm5,0\n"
                               "vinsertf128 ymm4,ymm5,xmm1,1\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 3);
    is(p, "few_ports_shuffle_cy", 3);
    is(p, "few_ports_any_cy", 3);
    is(p, "few_ports_multiply_cy", 0);
    takes(p, AS_CQA_FEW_PORTS, 1, AS_BOUND_DISPATCH);
    assert_int_equal(p->what_if[AS_CQA_FEW_PORTS].insn_n, 5);
    done(&f);
    f = analyse(DAXPY, NULL); /* ports of arithmetic do not belong to this kind */
    is(&f.out.path[0], "few_ports_any_cy", 0);
    assert_false(f.out.path[0].what_if[AS_CQA_FEW_PORTS].applies);
    done(&f);
    /* Haswell multiplies integers on port 1 alone, and deposits bits there, too. */
    f = analyse_on("haswell",
                   "imul r8,rsi,7\nimul r9,rdi,9\nimul r10,rcx,11\npdep r11,rsi,rdi\n"
                   "inc rax\ncmp rax,rdx\njne 1b",
                   NULL);
    p = &f.out.path[0];
    is(p, "ports_cy", 4);
    is(p, "few_ports_multiply_cy", 3);
    is(p, "few_ports_bits_cy", 1);
    is(p, "few_ports_any_cy", 3);
    takes(p, AS_CQA_FEW_PORTS, 1, p->what_if[AS_CQA_FEW_PORTS].bound);
    done(&f);
    /* And moves values from general to vector registers on port 5, shuffles, too. */
    f = analyse_on("haswell",
                   "vmovq xmm1,rsi\nvmovq xmm2,rdi\nvpunpcklqdq xmm3,xmm1,xmm2\n"
                   "inc rax\ncmp rax,rdx\njne 1b",
                   NULL);
    is(&f.out.path[0], "few_ports_transfer_cy", 2);
    is(&f.out.path[0], "few_ports_shuffle_cy", 1);
    done(&f);
}

static void stages_of_known_cores_are_told(void **state)
{
    (void)state;
    /* 66 05 34 12 is an instruction with a prefix that changes its length. */
    struct fixture f = analyse_on("haswell",
                                  "vxorpd xmm2,xmm2,xmm2\nmov rcx,rdx\nvaddsd xmm1,xmm1,[rdi]\n"
                                  "vmovsd [rsi],xmm1\nadd ax,0x1234\ninc r8\ncmp r8,r9\njne 1b",
                                  NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "idiom_n", 1);
    is(p, "moved_n", 1);
    is(p, "eliminated_n", 2);
    is(p, "micro_fused_n", 2); /* the addition with its load, address and data of the store */
    is(p, "fused_n", 1);
    is(p, "fetch_cy", metric(p, "code_b") / 16);
    is(p, "predecode_cy", 3);
    is(p, "redecoded_n", 0);
    is(p, "loop_buffer_pct", 100 * metric(p, "slot_n") / 56);
    is(p, "cached_cy", ceil(metric(p, "slot_n") / 4)); /* whole rounds of the loop buffer */
    assert_true(metric(p, "decoder_cy") >= 2);         /* 7 operations, 4 decoders */
    is(p, "live_vector_n", 1);                         /* what xmm2 is set to is never read */
    done(&f);
    /* 18 slots are the loop buffer of a Core 2, which has no cache behind it. */
    f = analyse_on("core2", ".rept 20\nadd rax,1\n.endr\ncmp rax,rdx\njne 1b", NULL);
    is(&f.out.path[0], "redecoded_n", 1);
    is(&f.out.path[0], "cached_cy", NAN);
    is(&f.out.path[0], "decode_cy", metric(&f.out.path[0], "decoder_cy"));
    done(&f);
}

static void variants_of_daxpy(void **state)
{
    (void)state;
    struct fixture f = analyse(DAXPY, NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    assert_false(p->what_if[AS_CQA_CLEAN].applies); /* inc, cmp, jne are loop control */
    /* Four iterations at once in the same seven instructions: 1.5 / 4. */
    takes(p, AS_CQA_VECTOR, 0.375, AS_BOUND_DISPATCH);
    assert_int_equal(p->what_if[AS_CQA_VECTOR].iterations, 4);
    assert_int_equal(p->what_if[AS_CQA_VECTOR].insn_n, 7);
    assert_true(p->what_if[AS_CQA_VECTOR].sound);
    /* Each vector of loads: vmovsd, vmovhpd, vmovsd, vmovhpd, vinsertf128; of stores: vmovsd,
     * vmovhpd, vextractf128, vmovsd, vmovhpd. Shuffles: 2 * (2 + 1) + 1 = 7 on one port. */
    takes(p, AS_CQA_FP_VECTOR, 7.0 / 4, AS_BOUND_PORTS);
    assert_string_equal(p->what_if[AS_CQA_FP_VECTOR].limit, "f2");
    assert_int_equal(p->what_if[AS_CQA_FP_VECTOR].insn_n, 3 * 5 + 2 + 3);
    takes(p, AS_CQA_INDEPENDENT, 1.5, AS_BOUND_DISPATCH); /* the counter alone was carried */
    takes(p, AS_CQA_NEXT_LIMIT, 1, AS_BOUND_DECODE);      /* several bounds of 1: the first */
    takes(p, AS_CQA_ONLY_FP, 1, AS_BOUND_DISPATCH);       /* 4 slots; a port each */
    takes(p, AS_CQA_ONLY_ARITHMETIC, 1, AS_BOUND_PORTS);  /* 2 slots; a port each */
    assert_int_equal(p->what_if[AS_CQA_ONLY_ARITHMETIC].insn_n, 2);
    /* vmulsd, vaddsd of registers, inc, cmp and jne: 4 slots. */
    assert_int_equal(p->what_if[AS_CQA_PERFECT_L1].insn_n, 5);
    takes(p, AS_CQA_PERFECT_L1, 1, AS_BOUND_DISPATCH);
    done(&f);
}

static void address_arithmetic_is_cleaned_away(void **state)
{
    (void)state;
    /* Two pointers are read anew in each iteration and added up: 4 scalar integers beside the
     * loop's own 2. 10 instructions, 9 slots: 2.25 cycles; 4 loads and fewer ports do not limit.
     * Clean: 3 of vectors, inc, cmp and jne: 5 slots, 1.25. */
    struct fixture f = analyse("mov r8,[rcx]\nmov r9,[rcx+8]\nlea r8,[r8]\nlea r9,[r9]\n"
                               "vmovsd xmm1,[r8+rax*8]\nvaddsd xmm1,xmm1,xmm0\n"
                               "vmovsd [r9+rax*8],xmm1\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 2.25);
    is(p, "scalar_insn_n", 6);
    is(p, "int_share_pct", 60);
    takes(p, AS_CQA_CLEAN, 1.25, AS_BOUND_DISPATCH);
    assert_int_equal(p->what_if[AS_CQA_CLEAN].insn_n, 6);
    assert_true(fabs(p->what_if[AS_CQA_CLEAN].speedup - 1.8) < 0.01);
    done(&f);
}

static void a_sum_is_a_reduction(void **state)
{
    (void)state;
    /* 3 cycles of latency. Vectorised the same chain does four iterations. */
    struct fixture f = analyse("vaddsd xmm0,xmm0,[rdi+rax*8]\ninc rax\ncmp rax,rdx\njne 1b", NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 3);
    is(p, "chain_n", 1);
    assert_int_equal(p->bound, AS_BOUND_LATENCY);
    assert_int_equal(p->obstacles, AS_CQA_OBSTACLE_REDUCTION);
    takes(p, AS_CQA_VECTOR, 0.75, AS_BOUND_LATENCY);
    assert_true(p->what_if[AS_CQA_VECTOR].sound);
    takes(p, AS_CQA_INDEPENDENT, 1, AS_BOUND_DECODE); /* and all others: the first */
    /* The load is gone, the sum waits for itself still: what is loaded is there. */
    takes(p, AS_CQA_ONLY_ARITHMETIC, 3, AS_BOUND_LATENCY);
    done(&f);
}

static void a_recurrence_stays_as_long_as_it_is(void **state)
{
    (void)state;
    /* s = s * a[i] + b: 4 + 3 cycles, and no vector changes that. */
    struct fixture f = analyse("vmovsd xmm3,[rdi+rax*8]\nvmulsd xmm0,xmm0,xmm3\n"
                               "vaddsd xmm0,xmm0,xmm2\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 7);
    assert_true(p->obstacles & AS_CQA_OBSTACLE_RECURRENCE);
    takes(p, AS_CQA_VECTOR, 7, AS_BOUND_LATENCY);
    assert_false(p->what_if[AS_CQA_VECTOR].sound);
    assert_true(strstr(p->what_if[AS_CQA_VECTOR].why, "recurrence") != NULL);
    done(&f);
}

static void a_value_that_is_kept_is_no_recurrence(void **state)
{
    (void)state;
    /* Stored and loaded again, as around a call: it stays what it is. */
    struct fixture f = analyse("vmovsd xmm1,[rdi+rax*8]\nvmulsd xmm1,xmm1,xmm2\n"
                               "vmovsd [rdi+rax*8],xmm1\nvmovsd [rsp-16],xmm2\n"
                               "vmovsd xmm2,[rsp-16]\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);

    assert_false(f.out.path[0].obstacles & AS_CQA_OBSTACLE_RECURRENCE);
    done(&f);
}

static void what_is_gone_makes_nobody_wait(void **state)
{
    (void)state;
    /* A list is followed: 4 cycles of load latency. The addition alone takes its port for 1. It
     * does not wait 3 cycles for itself, though no other instruction in the list writes its
     * register. */
    struct fixture f = analyse("vmovsd xmm1,[rdi+8]\nvaddsd xmm1,xmm1,xmm0\nvmovsd [rdi+8],xmm1\n"
                               "mov rdi,[rdi]\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 4);
    takes(p, AS_CQA_ONLY_ARITHMETIC, 1, AS_BOUND_PORTS);
    done(&f);
}

static void stores_do_not_meet_loads_that_have_moved(void **state)
{
    (void)state;
    /* Three loads in a row find the next address: 12 cycles. Without them the address stands still,
     * but the store is not what the next iteration loads: 3 slots, one addition, 1 cycle. */
    struct fixture f = analyse("vmovsd xmm1,[rdi+64]\nvaddsd xmm1,xmm1,xmm0\nvmovsd [rdi+64],xmm1\n"
                               "mov rdi,[rdi]\nmov rdi,[rdi]\nmov rdi,[rdi]\n"
                               "inc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 12);
    takes(p, AS_CQA_ONLY_FP, 1, AS_BOUND_PORTS);
    done(&f);
}

static void the_divider_has_two_ends(void **state)
{
    (void)state;
    /* 5 to 9 cycles of the unit; vectorised 8 for four. */
    struct fixture f = analyse("vmovsd xmm1,[rdi+rax*8]\nvdivsd xmm1,xmm2,xmm1\n"
                               "vmovsd [rdi+rax*8],xmm1\ninc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 5);
    is(p, "cycles_worst", 9);
    is(p, "divide_cy", 5);
    is(p, "divide_worst_cy", 9);
    is(p, "insn_class_divide_n", 1);
    takes(p, AS_CQA_VECTOR, 2, AS_BOUND_PORTS);
    assert_string_equal(p->what_if[AS_CQA_VECTOR].limit, "div");
    done(&f);
}

static void indices_are_gathered_or_put_together(void **state)
{
    (void)state;
    /* Elements put together: 4 index loads and 4 loads on two ports, 4 cycles; a gather takes 16
     * port-cycles of loads, 8 cycles: the former is taken. */
    struct fixture f = analyse("movsxd rcx,dword ptr [rsi+rax*4]\nvmovsd xmm1,[rdi+rcx*8]\n"
                               "vmulsd xmm1,xmm1,xmm0\nvmovsd [r8+rax*8],xmm1\n"
                               "inc rax\ncmp rax,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "stream_indirect_n", 1);
    assert_true(p->obstacles & AS_CQA_OBSTACLE_INDIRECT);
    takes(p, AS_CQA_VECTOR, 1, AS_BOUND_PORTS);
    assert_int_equal(p->what_if[AS_CQA_VECTOR].replicated_n, 1);
    assert_int_equal(p->what_if[AS_CQA_VECTOR].gathered_n, 0);
    done(&f);
}

static void holes_are_told(void **state)
{
    (void)state;
    struct fixture f = analyse("vmovsd xmm1,[rdi]\nvaddsd xmm1,xmm1,xmm0\nvmovsd [rdi],xmm1\n"
                               "add rdi,24\ncmp rdi,rdx\njne 1b",
                               NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "stream_strided_n", 2);
    is(p, "hole_b", 16); /* 24 bytes, of which both operands touch the same 8 */
    assert_true(p->obstacles & AS_CQA_OBSTACLE_STRIDE);
    done(&f);
}

#define WAYS                                                                                       \
    "vmovsd xmm1,[rdi+rax*8]\ncmp rax,rcx\njb 2f\nvaddsd xmm1,xmm1,xmm0\nvaddsd xmm1,xmm1,xmm0\n"  \
    "2: vmovsd [rdi+rax*8],xmm1\ninc rax\ncmp rax,rdx\njne 1b"

static void ways_have_weights(void **state)
{
    (void)state;
    static const double weight[] = {3, 1};
    const struct as_cqa_options weighted = {.weight = weight, .weight_n = 2};
    struct fixture f = analyse(WAYS, NULL);

    assert_int_equal(f.out.path_n, 2);
    const double a = metric(&f.out.path[0], "fp_op_n"), b = metric(&f.out.path[1], "fp_op_n");
    assert_true(a + b == 2 && a * b == 0); /* both additions on one way */
    is(&f.out.mean, "fp_op_n", 1);
    assert_true(f.out.path[0].obstacles & AS_CQA_OBSTACLE_WAYS);
    assert_false(f.out.path[0].what_if[AS_CQA_VECTOR].sound);
    done(&f);
    f = analyse(WAYS, &weighted);
    is(&f.out.mean, "fp_op_n", 0.75 * a + 0.25 * b);
    const double cycles =
        0.75 * metric(&f.out.path[0], "cycles") + 0.25 * metric(&f.out.path[1], "cycles");
    is(&f.out.mean, "cycles", cycles);
    is(&f.out.mean, "fp_per_cy", (0.75 * a + 0.25 * b) / cycles); /* of the means, no mean */
    done(&f);
}

/* Nine of ten iterations go one way: its blocks have samples as they have instructions, of which
 * those of the other way take `cost` times as long. */
static void weigh_ways(int64_t cost)
{
    struct fixture f = analyse(WAYS, NULL);
    const struct as_program *program = f.built.program;
    const uint32_t loop = built_loop(&f.built, "f", 0);
    struct as_block_samples samples[16];
    struct as_paths paths;
    struct as_arena arena;
    double *weight, cycles[2] = {0, 0};
    struct as_error err;
    size_t n = 0, path_n;

    assert_int_equal(as_loop_paths(program, loop, 0, &paths, &err), 0);
    assert_int_equal(paths.path_n, 2);
    for (size_t i = 0; i < paths.block_n; i++) {
        const struct as_block *block = &program->block[paths.block[i]];
        const bool other = i >= paths.path[1].first;
        const int64_t passes = other ? 10 * cost : 90;
        size_t at = 0;

        while (at < n && samples[at].address != block->start)
            at++;
        assert_true(at < 16);
        if (at == n)
            samples[n++] = (struct as_block_samples){block->start, 0};
        samples[at].n += passes * block->insns;
        cycles[other] += (double)(other ? cost : 1) * block->insns;
    }
    as_arena_init(&arena);
    assert_int_equal(as_quality_weights(&arena, program, loop, samples, n, false,
                                        cost > 1 ? cycles : NULL, &weight, &path_n, &err),
                     0);
    assert_int_equal(path_n, 2);
    samples[n] = (struct as_block_samples){1, 1000000}; /* of another loop */
    assert_int_equal(as_quality_weights(&arena, program, loop, samples, n + 1, false,
                                        cost > 1 ? cycles : NULL, &weight, &path_n, &err),
                     0);
    assert_true(fabs(weight[0] - 0.9) < 0.005);
    assert_true(fabs(weight[1] - 0.1) < 0.005);
    samples[0].n = 20; /* too few tell nothing */
    samples[1] = samples[n];
    assert_int_equal(
        as_quality_weights(&arena, program, loop, samples, 2, false, NULL, &weight, &path_n, &err),
        0);
    assert_null(weight);
    /* Counted, a few do, and instructions are nothing. */
    memset(samples, 0, sizeof samples);
    n = 0;
    for (size_t i = 0; i < paths.block_n; i++) {
        const uint64_t address = program->block[paths.block[i]].start;
        size_t at = 0;

        while (at < n && samples[at].address != address)
            at++;
        n += at == n;
        samples[at].address = address;
        samples[at].n += i < paths.path[1].first ? 7 : 1;
    }
    assert_int_equal(as_quality_weights(&arena, program, loop, samples, n, true,
                                        cost > 1 ? cycles : NULL, &weight, &path_n, &err),
                     0);
    assert_true(fabs(weight[0] - 0.875) < 1e-9);
    assert_true(fabs(weight[1] - 0.125) < 1e-9);
    as_arena_fini(&arena);
    as_paths_free(&paths);
    done(&f);
}

static void samples_weigh_ways(void **state)
{
    (void)state;
    weigh_ways(1);
    weigh_ways(5);
}

static void beyond_the_limit_ways_are_one(void **state)
{
    (void)state;
    const struct as_cqa_options one = {.path_limit = 1};
    struct fixture f = analyse(WAYS, &one);

    assert_true(f.out.merged);
    assert_int_equal(f.out.path_n, 1);
    assert_int_equal(f.out.path[0].number, 0);
    assert_true(f.out.path_count == 2);
    is(&f.out.path[0], "fp_op_n", 2); /* everything that stands on some way */
    done(&f);
}

/* ---- The figures of the CQA paper, on its core --------------------------------------------- */

#define INDEXED(op, reg, array) op " " reg ",[" array "+rax]\n"
#define STORED(op, reg, array)  op " [" array "+rax]," reg "\n"
#define CLOSED(step)            "add rax," step "\ncmp rax,rdx\njb 1b"

/* QMC=Chem as it came: a column of A times two factors, on halves of vectors (figure 13). */
#define COLUMN_HALF(array, first, second)                                                          \
    INDEXED("movaps", "xmm2", array)                                                               \
    "movaps xmm3,xmm2\nmulps xmm2," first "\nmulps xmm3," second                                   \
    "\naddps xmm0,xmm2\naddps xmm1,xmm3\n"
/* With whole vectors, each column is loaded for each factor (figure 14). */
#define COLUMN_TWICE(array, first, second)                                                         \
    "vmulps ymm10," first ",[" array "+rax]\nvaddps ymm8,ymm8,ymm10\n"                             \
    "vmulps ymm10," second ",[" array "+rax]\nvaddps ymm9,ymm9,ymm10\n"
/* And once, with fixed bounds (figure 15). */
#define COLUMN_ONCE(array, first, second)                                                          \
    INDEXED("vmovups", "ymm10", array)                                                             \
    "vmulps ymm11," first ",ymm10\nvaddps ymm8,ymm8,ymm11\n"                                       \
    "vmulps ymm12," second ",ymm10\nvaddps ymm9,ymm9,ymm12\n"

#define QMC_HALF                                                                                   \
    INDEXED("movaps", "xmm0", "rdi")                                                               \
    INDEXED("movaps", "xmm1", "rsi")                                                               \
    COLUMN_HALF("r8", "xmm8", "xmm12")                                                             \
    COLUMN_HALF("r9", "xmm9", "xmm13")                                                             \
    COLUMN_HALF("r10", "xmm10", "xmm14")                                                           \
    COLUMN_HALF("r11", "xmm11", "xmm15")                                                           \
    STORED("movaps", "xmm0", "rdi") STORED("movaps", "xmm1", "rsi") CLOSED("16")
#define QMC_WHOLE(column)                                                                          \
    INDEXED("vmovups", "ymm8", "rdi")                                                              \
    INDEXED("vmovups", "ymm9", "rsi")                                                              \
    column("r8", "ymm0", "ymm4") column("r9", "ymm1", "ymm5") column("r10", "ymm2", "ymm6")        \
        column("r11", "ymm3", "ymm7") STORED("vmovups", "ymm8", "rdi")                             \
            STORED("vmovups", "ymm9", "rsi") CLOSED("32")

static void the_paper_counts_half_vectors(void **state)
{
    (void)state;
    struct fixture f = analyse_on("sandybridge", QMC_HALF, NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 8);
    is(p, "fp_op_n", 64);
    is(p, "peak_fp_per_cy", 16);
    is(p, "fp_peak_pct", 50);
    is(p, "vec_ratio_all_pct", 100);
    is(p, "vec_eff_all_pct", 50);
    /* "from 8.00 to 4.00 cycles (2.00x speedup)": but loads of whole vectors take two cycles of a
     * port, as they do for the paper afterwards: 6 of them, and 4 cycles of additions. */
    takes(p, AS_CQA_VECTOR, 4, AS_BOUND_PORTS);
    done(&f);
}

static void the_paper_counts_whole_vectors(void **state)
{
    (void)state;
    struct fixture f = analyse_on("sandybridge", QMC_WHOLE(COLUMN_TWICE), NULL);
    const struct as_cqa_path *p = &f.out.path[0];

    is(p, "cycles", 10);
    assert_int_equal(p->bound, AS_BOUND_PORTS);
    is(p, "load_b", 320);
    is(p, "store_b", 64);
    is(p, "fp_peak_pct", 80);
    is(p, "load_cy", 10);
    is(p, "peak_load_per_cy", 32);
    is(p, "load_peak_pct", 100);
    is(p, "vec_eff_all_pct", 100);
    done(&f);
    f = analyse_on("sandybridge", QMC_WHOLE(COLUMN_ONCE), NULL);
    p = &f.out.path[0];
    is(p, "cycles", 8);
    is(p, "load_b", 192);
    is(p, "fp_peak_pct", 100);
    done(&f);
}

/* Table I: pairs of nodes in three forms. Two pointers to structures with arrays of any stride; one
 * pointer, with strides on the stack; contiguous arrays. Additions and products of integers share
 * port 1: 6 and 3, 4 and 3. In the last form loads and stores on two ports decide: 7 and 2. */
#define DESCRIPTOR(offset, index)                                                                  \
    "mov rsi,[r15+rcx+" offset "]\nmov r13,[rsi+64]\nneg r13\nadd r13,r11\n"                       \
    "imul r13,[rsi+56]\nmov rdi,[rsi]\nmovsxd " index ",dword ptr [rdi+r13]\n"
#define PAIR(first, second, factor, sum, other)                                                    \
    "vmovss xmm0,[" second "]\nvsubss xmm1,xmm0,[" first "]\nvmulss xmm4,xmm1,[" factor "]\n"      \
    "vaddss xmm2,xmm4,[" sum "]\nvmovss [" sum "],xmm2\nvmovss xmm3,[" other "]\n"                 \
    "vsubss xmm5,xmm3,xmm4\nvmovss [" other "],xmm5\n"
#define TWO_POINTERS                                                                               \
    DESCRIPTOR("8", "rdx")                                                                         \
    DESCRIPTOR("16", "r13")                                                                        \
    "inc r11\nmov rsi,rbp\nmov rdi,rbp\nimul rsi,r13\nimul rdi,rdx\nimul rdx,rax\nimul "           \
    "r13,rax\n" PAIR("rdi+r14", "rsi+r14", "r10+r12", "rdx+rbx",                                   \
                     "r13+rbx") "add r10,r8\ncmp r9,r11\njle 1b"
#define ONE_POINTER                                                                                \
    "movsxd rsi,dword ptr [r8]\nmovsxd rdi,dword ptr [r9]\nadd r8,[rsp+8]\nadd r9,[rsp+16]\n"      \
    "mov rax,rsi\nimul rax,rbp\nmov rdx,rdi\nimul rdx,rbp\nimul rsi,[rsp+24]\n"                    \
    "imul rdi,[rsp+32]\n" PAIR("rax+r14", "rdx+r14", "r10", "rsi+rbx",                             \
                               "rdi+rbx") "add r10,r12\ninc r11\ncmp r11,r15\njle 1b"
#define ALLOCATABLES                                                                               \
    "movsxd rsi,dword ptr [r8+rcx*4]\nmovsxd rdi,dword ptr [r9+rcx*4]\n" PAIR(                     \
        "r10+rsi*4", "r10+rdi*4", "r11+rcx*4", "rbx+rsi*4",                                        \
        "rbx+rdi*4") "inc rcx\ncmp rcx,rdx\njle 1b"

/* A Sandy Bridge that never waits for room: its scheduler of 54 entries alone makes the first of
 * the three loops wait, 11.06 cycles in place of 9. */
static void write_endless_core(const char *path)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs("like\tsandybridge\ncore\tendless\twithout limits of buffers\nsource\tx\tmade up\n"
          "set\trob\t1000\tx\nset\tsched_int\t1000\tx\nset\tload_queue\t1000\tx\n"
          "set\tstore_queue\t1000\tx\nset\tregs_int\t1000\tx\nset\tregs_fp\t1000\tx\n",
          out);
    assert_int_equal(fclose(out), 0);
}

static void the_paper_counts_addresses(void **state)
{
    static const char endless[] = "./cqa-endless.tsv";
    static const struct {
        const char *loop;
        double cycles, insn_n, load_b, stack_n;
    } step[] = {
        {TWO_POINTERS, 9, 32, 92, 0}, {ONE_POINTER, 7, 22, 60, 4}, {ALLOCATABLES, 4.5, 13, 28, 0}};

    (void)state;
    write_endless_core(endless);
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        struct fixture f = analyse_on("sandybridge", step[i].loop, NULL);
        const struct as_cqa_path *p = &f.out.path[0];

        is(p, "ports_cy", step[i].cycles);
        is(p, "insn_n", step[i].insn_n);
        is(p, "load_b", step[i].load_b);
        is(p, "stack_load_n", step[i].stack_n);
        is(p, "fp_op_n", 4);
        /* "The core of the out-of-order engine is not modeled": what waits in it. */
        assert_true(metric(p, "cycles") >= step[i].cycles);
        done(&f);
        f = analyse_on(endless, step[i].loop, NULL);
        assert_true(metric(&f.out.path[0], "cycles") < 1.01 * step[i].cycles);
        done(&f);
    }
    unlink(endless);
}

/* ---- Loops of compilers -------------------------------------------------------------------- */

static const char loops_in_c[] =
    "#include <stddef.h>\n"
    "void axpy(float *restrict y, const float *restrict x, float a, size_t n)\n"
    "{ for (size_t i = 0; i < n; i++) y[i] += a * x[i]; }\n"
    "double dot(const double *x, const double *y, size_t n)\n"
    "{ double s = 0; for (size_t i = 0; i < n; i++) s += x[i] * y[i]; return s; }\n"
    "void divide(double *x, const float *y, size_t n)\n"
    "{ for (size_t i = 0; i < n; i++) x[i] = 1 / (x[i] + y[i]); }\n"
    "void scatter(double *restrict x, const double *restrict y, const int *restrict k, size_t n)\n"
    "{ for (size_t i = 0; i < n; i++) x[k[i]] = y[i] * 2; }\n"
    "double column(double (*x)[10], size_t n)\n"
    "{ double s = 0; for (size_t i = 0; i < n; i++) s += x[i][3] * x[i][5]; return s; }\n"
    "double horner(const double *x, double a, size_t n)\n"
    "{ double s = 0; for (size_t i = 0; i < n; i++) s = s * a + x[i]; return s; }\n"
    "void prefix(double *x, size_t n) { for (size_t i = 1; i < n; i++) x[i] += x[i - 1]; }\n"
    "int greatest(const int *x, size_t n)\n"
    "{ int m = 0; for (size_t i = 0; i < n; i++) if (x[i] > m) m = x[i]; return m; }\n"
    "size_t count(const char *x) { size_t n = 0; while (x[n]) n++; return n; }\n"
    "void add(int *restrict x, const short *restrict y, size_t n)\n"
    "{ for (size_t i = 0; i < n; i++) x[i] = 3 * x[i] + y[i]; }\n"
    "void stencil(double *restrict x, const double *restrict y, size_t n)\n"
    "{ for (size_t i = 1; i < n; i++) x[i] = (y[i - 1] + y[i] + y[i + 1]) / 3; }\n"
    "long double wide(const long double *x, size_t n)\n"
    "{ long double s = 0; for (size_t i = 0; i < n; i++) s += x[i]; return s; }\n"
    "double f(double);\n"
    "void calls(double *x, size_t n) { for (size_t i = 0; i < n; i++) x[i] = f(x[i]) + 1; }\n";

static void parts_add_up(const struct as_cqa_path *p)
{
    static const char *const operation[] = {"fp_add_n",  "fp_mul_n", "fp_fma_n",   "fp_div_n",
                                            "fp_sqrt_n", "fp_rcp_n", "fp_rsqrt_n", "fp_other_n"};
    static const char *const kind[] = {"all", "load",     "store", "add_sub", "mul",
                                       "fma", "div_sqrt", "other", "int",     "fp"};
    double sum = 0;

    for (size_t i = 0; i < sizeof operation / sizeof *operation; i++)
        sum += metric(p, operation[i]);
    is(p, "fp_op_n", sum);
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        char packed[64], packable[64], width[64];

        snprintf(packed, sizeof packed, "packed_%s_n", kind[i]);
        snprintf(packable, sizeof packable, "packable_%s_n", kind[i]);
        snprintf(width, sizeof width, "vec_eff_%s_pct", kind[i]);
        assert_true(metric(p, packed) <= metric(p, packable));
        assert_true(metric(p, packable) <= metric(p, "packable_all_n"));
        assert_true(!(metric(p, width) > 100));
    }
    is(p, "packable_all_n", metric(p, "packable_int_n") + metric(p, "packable_fp_n"));
}

/* Taking away never costs, and what is said of a variant fits together. */
static void variants_are_bounded(const struct as_cqa_path *p, const char *what)
{
    static const bool takes_away[AS_CQA_VARIANTS] = {
        [AS_CQA_CLEAN] = true,     [AS_CQA_INDEPENDENT] = true, [AS_CQA_NEXT_LIMIT] = true,
        [AS_CQA_ONLY_FP] = true,   [AS_CQA_FEW_PORTS] = true,   [AS_CQA_ONLY_ARITHMETIC] = true,
        [AS_CQA_PERFECT_L1] = true};
    const double cycles = metric(p, "cycles");

    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &p->what_if[v];

        assert_true(it->why && *it->why);
        if (!it->applies) {
            assert_false(it->sound);
            continue;
        }
        if (takes_away[v] && (it->cycles > cycles * (1 + 1e-9) || it->insn_n > metric(p, "insn_n")))
            fail_msg("%s: %s: %g cycles of %g", what, as_cqa_variant_name((enum as_cqa_variant)v),
                     it->cycles, cycles);
        assert_true(it->cycles > 0 && fabs(it->speedup * it->cycles - cycles) < 1e-6 * cycles);
        assert_true(it->iterations >= 1 &&
                    (takes_away[v] ? it->iterations == 1 : it->iterations > 1));
    }
    /* A list within another is never slower. */
    if (p->what_if[AS_CQA_ONLY_FP].applies && p->what_if[AS_CQA_ONLY_ARITHMETIC].applies)
        assert_true(p->what_if[AS_CQA_ONLY_ARITHMETIC].insn_n <= p->what_if[AS_CQA_ONLY_FP].insn_n);
}

/* A promise computed alone equals the promise among all others. With a threshold out of reach it is
 * never larger. */
static void promise_stays(struct as_cqa_engine *engine, const struct built *b, uint32_t loop,
                          double promise)
{
    struct as_cqa_options options = {.promise_only = true, .least = promise};
    struct as_error err;
    struct as_cqa out;

    assert_int_equal(as_cqa_loop(engine, b->program, loop, &options, &out, &err), 0);
    assert_true(fabs(as_cqa_promise(&out) - promise) <= 1e-9 * promise);
    options.bounds_only = true; /* order and buffers cost something or nothing */
    assert_int_equal(as_cqa_loop(engine, b->program, loop, &options, &out, &err), 0);
    assert_true(out.path_n == 0 || out.mean.value[as_cqa_metric_find("cycles")] > 0);
    options.least = 1e9;
    assert_int_equal(as_cqa_loop(engine, b->program, loop, &options, &out, &err), 0);
    assert_true(as_cqa_promise(&out) <= promise * (1 + 1e-9));
}

static void hold_loops(const struct built *b, const char *core_name, const char *what)
{
    struct as_uarch *uarch;
    struct as_cqa_engine *engine;
    struct as_error err;
    size_t seen = 0, promising = 0;

    assert_int_equal(as_uarch_open(core_name, &uarch, &err), 0);
    assert_int_equal(as_cqa_engine_new(uarch, &engine, &err), 0);
    for (uint32_t i = 0; i < b->program->loop_n; i++) {
        struct as_cqa out;

        assert_int_equal(as_cqa_loop(engine, b->program, i, NULL, &out, &err), 0);
        for (size_t k = 0; k < out.path_n; k++, seen++) {
            parts_add_up(&out.path[k]);
            variants_are_bounded(&out.path[k], what);
        }
        promising += as_cqa_promise(&out) > 0;
        promise_stays(engine, b, i, as_cqa_promise(&out));
    }
    assert_true(seen >= 10 && promising > 0);
    as_cqa_engine_free(&engine);
    as_uarch_free(&uarch);
}

static void invariants_hold_for_compilers(void **state)
{
    static const char *const flags[] = {"-O0", "-O1", "-O3", "-O3 -mavx2 -mfma",
                                        ("-O3 -mavx512f -mavx512vl -mavx512dq -ffast-math "
                                         "-mprefer-vector-width=512")};
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct built b = built_new(TEST_CC, flags[i], "c", loops_in_c);

        hold_loops(&b, "zen5", flags[i]);
        hold_loops(&b, "emeraldrapids", flags[i]);
        built_free(&b);
    }
}

static void obstacles_of(const struct built *b, const char *function, uint32_t all, uint32_t none)
{
    struct as_uarch *uarch;
    struct as_cqa_engine *engine;
    struct as_error err;
    struct as_cqa out;

    assert_int_equal(as_uarch_open("zen5", &uarch, &err), 0);
    assert_int_equal(as_cqa_engine_new(uarch, &engine, &err), 0);
    assert_int_equal(as_cqa_loop(engine, b->program, built_hot(b, function), NULL, &out, &err), 0);
    if ((out.mean.obstacles & all) != all || out.mean.obstacles & none)
        fail_msg("%s: obstacles %x", function, out.mean.obstacles);
    as_cqa_engine_free(&engine);
    as_uarch_free(&uarch);
}

static void obstacles_are_those_of_the_source(void **state)
{
    struct built b = built_new(TEST_CC, "-O1", "c", loops_in_c);
    const uint32_t any = ~(uint32_t)0;

    (void)state;
    obstacles_of(&b, "axpy", 0, any);
    obstacles_of(&b, "dot", AS_CQA_OBSTACLE_REDUCTION, AS_CQA_OBSTACLE_RECURRENCE);
    obstacles_of(&b, "horner", AS_CQA_OBSTACLE_RECURRENCE, AS_CQA_OBSTACLE_REDUCTION);
    obstacles_of(&b, "scatter", AS_CQA_OBSTACLE_INDIRECT, AS_CQA_OBSTACLE_STRIDE);
    obstacles_of(&b, "column", AS_CQA_OBSTACLE_STRIDE | AS_CQA_OBSTACLE_REDUCTION,
                 AS_CQA_OBSTACLE_INDIRECT);
    obstacles_of(&b, "wide", AS_CQA_OBSTACLE_X87, AS_CQA_OBSTACLE_CALL);
    obstacles_of(&b, "calls", AS_CQA_OBSTACLE_CALL, AS_CQA_OBSTACLE_X87);
    built_free(&b);
}

/* The same loop in Fortran: what is counted is what the source says. */
static void fortran_counts_as_the_source_says(void **state)
{
    static const char source[] = "subroutine axpy(n, a, x, y)\n"
                                 "  integer, intent(in) :: n\n"
                                 "  real(8), intent(in) :: a, x(n)\n"
                                 "  real(8), intent(inout) :: y(n)\n"
                                 "  integer :: i\n"
                                 "  do i = 1, n\n"
                                 "    y(i) = y(i) + a * x(i)\n"
                                 "  end do\n"
                                 "end subroutine\n";
    struct as_uarch *uarch;
    struct as_cqa_engine *engine;
    struct as_error err;
    struct as_cqa out;

    (void)state;
    if (!built_has("gfortran"))
        skip();
    struct built b = built_new("gfortran", "-O1", "f90", source);
    assert_int_equal(as_uarch_open("zen5", &uarch, &err), 0);
    assert_int_equal(as_cqa_engine_new(uarch, &engine, &err), 0);
    assert_int_equal(as_cqa_loop(engine, b.program, built_hot(&b, "axpy_"), NULL, &out, &err), 0);
    is(&out.mean, "fp_op_n", 2);
    is(&out.mean, "load_b", 16);
    is(&out.mean, "store_b", 8);
    is(&out.mean, "stream_unit_n", 3);
    is(&out.mean, "array_n", 2);
    is(&out.mean, "vec_ratio_all_pct", 0);
    assert_true(out.mean.what_if[AS_CQA_VECTOR].sound);
    assert_int_equal(out.mean.what_if[AS_CQA_VECTOR].iterations, 8);
    as_cqa_engine_free(&engine);
    as_uarch_free(&uarch);
    built_free(&b);
}

static void every_metric_is_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < as_cqa_metric_count(); i++) {
        const struct as_metric *it = as_cqa_metric(i);

        assert_true(it->name && it->unit && it->meaning && it->formula && it->title && it->topic);
        assert_int_equal(as_cqa_metric_find(it->name), (int)i);
        assert_null(strchr(it->meaning, '{'));
    }
    assert_null(as_cqa_metric(as_cqa_metric_count()));
    assert_true(as_cqa_metric_find("nonsense") < 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_daxpy),
        cmocka_unit_test(cycles_of_daxpy),
        cmocka_unit_test(variants_of_daxpy),
        cmocka_unit_test(address_arithmetic_is_cleaned_away),
        cmocka_unit_test(a_sum_is_a_reduction),
        cmocka_unit_test(a_recurrence_stays_as_long_as_it_is),
        cmocka_unit_test(a_value_that_is_kept_is_no_recurrence),
        cmocka_unit_test(what_is_gone_makes_nobody_wait),
        cmocka_unit_test(stores_do_not_meet_loads_that_have_moved),
        cmocka_unit_test(the_divider_has_two_ends),
        cmocka_unit_test(indices_are_gathered_or_put_together),
        cmocka_unit_test(holes_are_told),
        cmocka_unit_test(ways_have_weights),
        cmocka_unit_test(samples_weigh_ways),
        cmocka_unit_test(beyond_the_limit_ways_are_one),
        cmocka_unit_test(the_paper_counts_half_vectors),
        cmocka_unit_test(the_paper_counts_addresses),
        cmocka_unit_test(the_paper_counts_whole_vectors),
        cmocka_unit_test(stages_and_buffers_are_told),
        cmocka_unit_test(few_ports_are_told),
        cmocka_unit_test(stages_of_known_cores_are_told),
        cmocka_unit_test(invariants_hold_for_compilers),
        cmocka_unit_test(obstacles_are_those_of_the_source),
        cmocka_unit_test(fortran_counts_as_the_source_says),
        cmocka_unit_test(every_metric_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
