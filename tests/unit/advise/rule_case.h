/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of runs in which a rule speaks or is silent, and what many of them share. */
#ifndef RULE_CASE_H
#define RULE_CASE_H

#include "story.h"

/* Stories name what matters to a rule; all else of them is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Nearly all of a run is the program's. */
#define ALL                                                                                        \
    {                                                                                              \
        "work", "application", 1000                                                                \
    }
#define LOOP                                                                                       \
    {                                                                                              \
        "work", "application", 1000, .in_loop = true                                               \
    }
#define OLD                                                                                        \
    {                                                                                              \
        "work", "application", 1000, .in_loop = true, .flags = "-O2"                               \
    }
#define FULL                                                                                       \
    {                                                                                              \
        "work", "application", 1000, .in_loop = true, .flags = "-O3"                               \
    }
#define NESTED                                                                                     \
    {                                                                                              \
        "work", "application", 1000, .in_loop = true, .flags = "-O3", .depth = 2                   \
    }
#define SCALAR(ways, calls, carried)                                                               \
    .metric = {                                                                                    \
        {"fp_packed_pct", 0}, {"flow_paths", ways}, {"call_n", calls}, {"fp_carried_n", carried}}
#define SEARCH(name, n)                                                                            \
    .metric = {{"data_exit_n", 1},                                                                 \
               {"access_unit_n", 1},                                                               \
               {"access_strided_n", 0},                                                            \
               {"other_carried_n", 0},                                                             \
               {"cqa_insn_class_store_n", 0},                                                      \
               {"cqa_fp_op_n", 0},                                                                 \
               {name, n}}
#define SCALAR_AND(with) .metric = {{"fp_packed_pct", 0}, {"flow_paths", 1}, {with, 1}}
#define ROOTS(roots, calls)                                                                        \
    .metric = {{"fp_packed_pct", 0}, {"flow_paths", 1}, {"call_n", calls}, {"root_call_n", roots}}
#define GATHERS(indirect, unit)                                                                    \
    .metric = {{"fp_packed_pct", 0},                                                               \
               {"flow_paths", 1},                                                                  \
               {"access_indirect_n", indirect},                                                    \
               {"access_unit_n", unit}}
#define WALK_WITH(reach_mib, with, value)                                                          \
    .metric = {{"operand_walk_b", (reach_mib)*1048576.0},                                          \
               {"flow_paths", 1},                                                                  \
               {"access_unit_n", 3},                                                               \
               {"access_unknown_n", 0},                                                            \
               {"access_steady_n", 0},                                                             \
               {"access_strided_n", 0},                                                            \
               {"fp_packed_pct", 0},                                                               \
               {"access_indirect_n", 0},                                                           \
               {with, value}} /* a value that is set twice has the last */
#define WALK_AND(reach_mib, with) WALK_WITH(reach_mib, with, 1)
#define WALK(reach_mib)           WALK_AND(reach_mib, "flow_paths")
#define WALK_PACKED(reach_mib)    WALK_WITH(reach_mib, "fp_packed_pct", 100)
/* Memory that is given back by way of `by`, and page faults. */
#define FAULTS(by)                                                                                 \
    OWN(700), {by, "memory", 10, .under = "work"}, {"brk", "memory", 90, .under = by},             \
    {                                                                                              \
        "asm_exc_page_fault", "kernel", 200, .under = "work"                                       \
    }
#define CALLS(by, category, ms)                                                                    \
    {by, category, 0, .under = "work"},                                                            \
    {                                                                                              \
        "entry_SYSCALL_64_after_hwframe", category, ms, .under = by                                \
    }
#define STEPS(packed, least, most, indirect)                                                       \
    .metric = {{"flow_paths", 1},                                                                  \
               {"fp_packed_pct", packed},                                                          \
               {"array_access_least_pct", least},                                                  \
               {"array_access_most_pct", most},                                                    \
               {"access_strided_n", (most) < 100},                                                 \
               {"access_indirect_n", indirect}}
/* Two accesses with a stride that nothing shows. */
#define STEADY(with, value)                                                                        \
    .metric = {{"array_access_least_pct", 13},                                                     \
               {"array_access_most_pct", 100},                                                     \
               {"access_steady_n", 2},                                                             \
               {"access_unknown_n", 0},                                                            \
               {"access_indirect_n", 0},                                                           \
               {with, value}} /* a value that is set twice has the last */
/* Another loop of the function before. */
#define AGAIN_LOOP                                                                                 \
    {                                                                                              \
        "work", "application", 100, .in_loop = true, .is_of_before = true                          \
    }
#define STRIDES(stride, use)                                                                       \
    .metric = {{"operand_stride_b", stride}, {"operand_line_use_pct", use}, {"access_steady_n", 2}}
/* A product and a sum among 6 instructions that take 3 cycles. */
#define MULTIPLIES(with, value)                                                                    \
    .metric = {                                                                                    \
        {"cqa_fp_mul_n", 1},  {"cqa_fp_add_n", 1}, {"cqa_fp_fma_n", 0},     {"cqa_fp_op_n", 2},    \
        {"cqa_fp_insn_n", 2}, {"cqa_insn_n", 6},   {"cqa_front_end_cy", 1}, {"cqa_ports_cy", 3},   \
        {"cqa_cycles", 3},    {with, value}} /* a value that is set twice has the last */

/* Loads at random from so many MiB. */
#define INDEXED(mib) .metric = {{"operand_index_b", (mib)*1048576.0}}
/* A load of `a` that an outer loop brings again after so many MiB. */
#define AGAIN(reuse, stride_b, mib)                                                                \
    {                                                                                              \
        "a", NULL, reuse, stride_b, 8, INT64_C(mib) << 20, 100                                     \
    }

#define LIBC   "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBGCC "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1"
/* Two threads, each with a function of its own. */
#define PIPELINE(first_ms, second_ms)                                                              \
    .no_openmp = true, .thread_n = 2,                                                              \
    .code = {{"decode", "application", first_ms, .only = 1},                                       \
             {"consume", "application", second_ms, .only = 2}}
/* A vectorised loop with vectors that fill `pct` of those of the CPU. */
#define VECTORS(native_b, pct)                                                                     \
    .metric = {                                                                                    \
        {"cqa_vec_ratio_all_pct", 100}, {"cqa_native_b", native_b}, {"cqa_vec_eff_all_pct", pct}}
#define CODE(name, value) .metric = {{name, value}, {"fp_packed_pct", 100}}

struct rule_case {
    const char *rule;
    struct story speaks, silent;
};

/* Eight cycles, so many of them by one kind of instructions on its ports, and by any. */
#define FILLED(kind, own, any)                                                                     \
    {                                                                                              \
        RUN, .code = {FULL}, .metric = {                                                           \
            {"cqa_few_ports_" #kind "_cy", own},                                                   \
            {"cqa_few_ports_any_cy", any},                                                         \
            {"cqa_cycles", 8}                                                                      \
        }                                                                                          \
    }

/* Two ways, with so many divisions in both and an iteration. */
#define BRANCHING(tongue, all, each)                                                               \
    {                                                                                              \
        RUN,                                                                                       \
            .code = {{"work", "application", 1000, .in_loop = true, .instruction_n = 100,          \
                      .flags = "-O3", .language = tongue}},                                        \
            .metric = {                                                                            \
                {"flow_paths", 2},                                                                 \
                {"call_n", 0},                                                                     \
                {"fp_divide_n", all},                                                              \
                {"cqa_insn_class_divide_n", each},                                                 \
                {"fp_packed_pct", 100}                                                             \
            }                                                                                      \
    }

/* Cases differ by statements and rows, which SQLite works on, and it has no sanitizer in it: under
 * one the same code of ours would be looked at some hundred times, for minutes. There each sixth
 * case runs; ./dev test runs all of them. */
#ifdef __SANITIZE_ADDRESS__
enum { CASE_STEP = 6 };
#else
enum { CASE_STEP = 1 };
#endif

extern const struct rule_case rule_topics[];
extern const size_t rule_topic_n;
extern const struct rule_case rule_instructions[];
extern const size_t rule_instruction_n;

/* Each rule speaks once in the one story, and not in the other: rows of `table` that name it. */
void rule_cases_check(const struct rule_case *at, size_t n, const char *table, const char *column);

#endif
