/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of data/advise/ on two similar runs: in the first it must apply, in the second it must
 * not. */
#include "place.h"

#include "advise/advise.h"
#include "quality/options.h"
#include "rule_case.h"

static const struct rule_case findings[] = {
    {"load_imbalance",
     {RUN, .thread_n = 2, .code = {{"work", "application", 1000, .is_uneven = true}}},
     {RUN, .thread_n = 2, .code = {ALL}}},
    {"load_imbalance", /* each has work of its own */
     {RUN, .thread_n = 2, .no_openmp = true,
      .code = {{"work", "application", 1000, .is_uneven = true}}},
     {RUN, .thread_n = 2, .no_openmp = true,
      .code = {{"work", "application", 1000, .only = 1}, {"read", "application", 500, .only = 2}}}},
    {"load_imbalance", /* their work is a library's: pieces of unequal size, or work of its own */
     {RUN, .thread_n = 2, .no_openmp = true,
      .code = {{"lzma_code", "compression", 1000, .is_uneven = true}}},
     {RUN, .thread_n = 2, .no_openmp = true,
      .code = {{"lzma_code", "compression", 1000, .only = 1},
               {"lzma_crc", "compression", 500, .only = 2}}}},
    {"load_imbalance", /* the longest queues longest, too */
     {.wall_ms = 12000,
      .cpu_n = 2,
      .thread_n = 2,
      .queued_ms = 10000,
      .others_ms = 20000,
      .code = {{"work", "application", 600, .is_uneven = true}}},
     {.wall_ms = 12000,
      .cpu_n = 2,
      .thread_n = 2,
      .code = {{"work", "application", 600, .is_uneven = true}}}},
    /* 60 samples: the longest of two is no longer than chance makes it. */
    {"load_imbalance",
     {.wall_ms = 1000,
      .cpu_n = 2,
      .thread_n = 2,
      .code = {{"work", "application", 900, .is_uneven = true}}},
     {.wall_ms = 60,
      .cpu_n = 2,
      .thread_n = 2,
      .code = {OWN(50), {"rest", "application", 8, .is_uneven = true}}}},
    {"parallel_overhead",
     {RUN, .rank_n = 2, .code = {OWN(600), {"MPI_Wait", "mpi", 300}}},
     {RUN, .rank_n = 1, .code = {OWN(600), {"MPI_Wait", "mpi", 300}}}}, /* one rank */
    {"parallel_overhead",
     {RUN, .thread_n = 2, .code = {OWN(600), {"GOMP_barrier", "openmp", 300}}},
     {RUN, .thread_n = 1, .code = {OWN(600), {"GOMP_barrier", "openmp", 300}}}}, /* one thread */
    /* One rank of two threads: OpenMP counts, MPI has no partner. */
    {"parallel_overhead",
     {RUN, .rank_n = 1, .thread_n = 2, .code = {OWN(600), {"GOMP_barrier", "openmp", 300}}},
     {RUN, .rank_n = 1, .thread_n = 2, .code = {OWN(600), {"MPI_Wait", "mpi", 300}}}},
    /* Starting up and shutting down. */
    {"parallel_overhead",
     {RUN, .rank_n = 2, .code = {OWN(500), {"MPI_Init", "mpi", 200}, {"MPI_Wait", "mpi", 200}}},
     {RUN, .rank_n = 2,
      .code = {OWN(600), {"PMPI_Init_thread", "mpi", 200}, {"MPI_Finalize", "mpi", 100}}}},
    /* Without call stacks the kind of MPI call is unknown. */
    {"parallel_overhead",
     {RUN, .rank_n = 2, .code = {OWN(600), {"MPI_Wait", "mpi", 300}}},
     {RUN, .rank_n = 2, .call_stacks = "off", .code = {OWN(600), {"poll", "mpi", 300}}}},
    /* An interval that touches nothing to gain: 2 samples. */
    {"parallel_overhead",
     {RUN, .rank_n = 2, .code = {OWN(600), {"MPI_Wait", "mpi", 60}}},
     {.wall_ms = 60, .cpu_n = 2, .rank_n = 2, .code = {OWN(50), {"MPI_Wait", "mpi", 2}}}},
    /* Without an idle CPU the work cannot finish sooner. */
    {"parallel_overhead",
     {RUN, .rank_n = 2, .code = {OWN(700), {"MPI_Wait", "mpi", 300}}},
     {.wall_ms = 1400, .cpu_n = 1, .rank_n = 2, .code = {OWN(700), {"MPI_Wait", "mpi", 300}}}},
    {"scalar_arithmetic",
     {RUN, .code = {LOOP}, STEPS(0, 100, 100, 0)},
     {RUN, .code = {LOOP}, STEPS(90, 100, 100, 0)}},
    {"scalar_arithmetic",
     {RUN, .code = {LOOP}, STEPS(0, 100, 100, 0)},
     {RUN, .code = {LOOP}, STEPS(0, 13, 13, 0)}}, /* it waits for memory */
    {"scalar_options",
     {RUN, .code = {OLD}, STEPS(0, 100, 100, 0)},
     {RUN, .code = {FULL}, STEPS(0, 100, 100, 0)}},
    {"scalar_calls",
     {RUN, .call_stacks = "off", .code = {FULL}, SCALAR(1, 1, 0)},
     {RUN, .call_stacks = "off", .code = {FULL}, SCALAR(1, 0, 0)}},
    {"scalar_calls", /* branches keep it from vectors as well */
     {RUN, .call_stacks = "off", .code = {FULL}, SCALAR(4, 1, 0)},
     {RUN, .call_stacks = "off", .code = {FULL}, SCALAR(19, 1, 0)}},
    {"scalar_calls",
     {RUN, .call_stacks = "off", .code = {FULL}, SCALAR(1, 1, 0)},
     {RUN, .call_stacks = "dwarf", .code = {FULL}, SCALAR(1, 1, 0)}}, /* seldom made */
    {"sums_in_memory",
     {RUN, .code = {FULL}, SCALAR_AND("access_rewrite_n")},
     {RUN, .code = {FULL}, SCALAR(1, 0, 1)}}, /* in registers */
    {"sums_in_memory",
     {RUN, .code = {FULL}, SCALAR_AND("access_rewrite_n")},
     {RUN, .call_stacks = "off", .code = {FULL}, /* a function may look at them */
      .metric = {{"fp_packed_pct", 0}, {"flow_paths", 1}, {"access_rewrite_n", 1}, {"call_n", 1}}}},
    {"compared_roots",
     {RUN, .code = {FULL},
      .metric = {{"fp_compared_root_n", 1}, {"cqa_divide_cy", 9}, {"cqa_cycles", 10}}},
     {RUN, .code = {FULL}, /* it waits for something else */
      .metric = {{"fp_compared_root_n", 1}, {"cqa_divide_cy", 4}, {"cqa_cycles", 10}}}},
    {"scalar_chain",
     {RUN, .code = {FULL}, SCALAR(1, 0, 1)},
     {RUN, .code = {FULL}, SCALAR(1, 0, 0)}},
    {"scalar_chain",
     {RUN, .code = {FULL}, SCALAR(1, 0, 1)},
     {RUN, .code = {FULL}, /* much of it is gathered */
      .metric = {{"fp_packed_pct", 0},
                 {"flow_paths", 1},
                 {"fp_carried_n", 1},
                 {"access_indirect_n", 1},
                 {"access_unit_n", 2}}}},
    {"scalar_exit",
     {RUN, .code = {FULL}, SCALAR_AND("data_exit_n")},
     {RUN, .code = {FULL}, SCALAR_AND("fp_carried_n")}},
    {"scalar_chain",
     {RUN, .code = {FULL}, SCALAR_AND("fp_carried_n")},
     {RUN, .code = {FULL}, SCALAR_AND("data_exit_n")}},
    {"narrow_accesses",
     {RUN, .code = {LOOP}, .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}}},
     {RUN, .code = {LOOP}, /* a search */
      .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}, {"data_exit_n", 1}}}},
    {"narrow_accesses",
     {RUN, .code = {LOOP}, .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}}},
     {RUN, .code = {LOOP}, /* a hash */
      .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}, {"other_carried_n", 1}}}},
    {"scalar_branches",
     {RUN, .code = {FULL}, SCALAR(3, 0, 0)},
     {RUN, .code = {FULL}, SCALAR(1, 0, 0)}},
    {"scalar_arithmetic",
     {RUN, .code = {FULL}, SCALAR(1, 0, 0)},
     {RUN, .code = {FULL}, SCALAR(3, 0, 0)}}, /* the cause is known */
    {"scalar_errno",
     {RUN, .code = {FULL}, ROOTS(1, 1)},
     {RUN, .code = {FULL}, ROOTS(1, 2)}}, /* it calls others, too */
    {"scalar_gather", {RUN, .code = {FULL}, GATHERS(5, 5)}, {RUN, .code = {FULL}, GATHERS(1, 9)}},
    {"memory_bandwidth",
     {RUN, .cache = "32768K", .code = {FULL}, WALK(60)},
     {RUN, .cache = "32768K", .code = {FULL}, WALK(40)}}, /* it may stay in the cache */
    {"memory_bandwidth",
     {RUN, .cache = "32768K", .code = {FULL}, WALK(60)},
     {RUN, .code = {FULL}, WALK(60)}}, /* the size of the cache is unknown */
    {"memory_bandwidth", /* a chain of results, or divisions, may take longer than the memory */
     {RUN, .cache = "32768K", .code = {FULL}, WALK(60)},
     {RUN, .cache = "32768K", .code = {FULL}, WALK_AND(60, "fp_carried_n")}},
    {"memory_bandwidth",
     {RUN, .cache = "32768K", .code = {FULL}, WALK(60)},
     {RUN, .cache = "32768K", .code = {FULL}, WALK_AND(60, "fp_divide_n")}},
    {"library_calls",
     {RUN, .code = {OWN(600), {"getenv", "runtime", 400, .module = LIBC, .under = "work"}}},
     {RUN, .code = {OWN(950), {"getenv", "runtime", 50, .module = LIBC, .under = "work"}}}},
    {"library_calls", /* the library's own start calls all */
     {RUN, .code = {OWN(600), {"qsort_r", "runtime", 400, .module = LIBC, .under = "work"}}},
     {RUN, .code = {{"__libc_start_main", "runtime", 0, .module = LIBC},
                    {"work", "application", 1000, .under = "__libc_start_main"}}}},
    {"library_calls",
     {RUN, .code = {OWN(600), {"strcmp", "runtime", 400, .module = LIBC, .under = "work"}}},
     {RUN, .code = {OWN(950), {"strcmp", "runtime", 50, .module = LIBC, .under = "work"}}}},
    {"software_arithmetic",
     {RUN, .code = {OWN(600), {"__multf3", "runtime", 400, .module = LIBGCC, .under = "work"}}},
     {RUN, .code = {OWN(950), {"__multf3", "runtime", 50, .module = LIBGCC, .under = "work"}}}},
    {"slow_thread", {RUN, PIPELINE(950, 400)}, {RUN, PIPELINE(950, 50)}},  /* a helper */
    {"slow_thread", {RUN, PIPELINE(950, 400)}, {RUN, PIPELINE(950, 900)}}, /* both are busy */
    {"memory_pace",
     {RUN, .cache = "32768K", .code = {FULL},
      .metric = {{"operand_walk_b", 6e7}, {"operand_pace_b_s", 8e9}}},
     {RUN, .cache = "32768K", .code = {FULL},
      .metric = {{"operand_walk_b", 6e7}, {"operand_pace_b_s", 1e9}}}},
    {"memory_latency",
     {RUN, .cache = "32768K", .code = {FULL}, .metric = {{"operand_index_b", 6e7}}},
     {RUN, .cache = "32768K", .code = {FULL}, .metric = {{"operand_walk_b", 6e7}}}},
    {"memory_bandwidth", /* what it walks over is not all that it touches */
     {RUN, .cache = "32768K", .code = {FULL}, WALK(60)},
     {RUN, .cache = "32768K", .code = {FULL}, WALK_AND(60, "access_indirect_n")}},
    {"memory_bandwidth", /* all walks together */
     {RUN, .cache = "32768K", .code = {FULL}, WALK_WITH(20, "operand_sweep_b", 45e6)},
     {RUN, .cache = "32768K", .code = {FULL}, WALK_WITH(20, "operand_sweep_b", 35e6)}},
    {"access_by_variable",
     {RUN, .code = {LOOP}, STEADY("access_steady_n", 2)},
     {RUN, .call_stacks = "off", .code = {LOOP}, STEADY("call_n", 1)}},
    {"access_by_variable", /* a search */
     {RUN, .code = {LOOP}, STEADY("access_steady_n", 2)},
     {RUN, .code = {LOOP}, STEADY("data_exit_n", 1)}},
    {"divisions",
     {RUN, .code = {LOOP}, .metric = {{"fp_divide_n", 2}}},
     {RUN, .code = {{"work", "application", 1000, .in_loop = true, .instruction_n = 40}},
      .metric = {{"fp_divide_n", 2}}}}, /* few of many instructions */
    /* Known to wait for memory: faster instructions promise nothing. */
    {"oldest_instruction_set",
     {RUN, .cache = "32768K", .code = {OLD}, WALK_PACKED(40)},
     {RUN, .cache = "32768K", .code = {OLD}, WALK_PACKED(60)}},
    {"narrow_accesses",
     {RUN, .code = {LOOP}, .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}}},
     {RUN, .code = {LOOP},
      .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}, {"fp_packed_pct", 0}}}},
    {"narrow_accesses",
     {RUN, .code = {LOOP}, .metric = {{"wide_access_pct", 0}, {"flow_paths", 1}}},
     {RUN, .code = {LOOP}, .metric = {{"wide_access_pct", 100}, {"flow_paths", 1}}}},
    {"array_access",
     {RUN, .code = {LOOP}, STEPS(0, 13, 60, 0)},
     {RUN, .code = {LOOP}, STEPS(0, 13, 100, 1)}}, /* a bound does not count as a value */
    {"false_sharing",
     {RUN, .thread_n = 2, .code = {LOOP}, .shared = 0.5},
     {RUN, .thread_n = 2, .code = {LOOP}, .shared = 0.05}},
    {"cache_bandwidth", /* 64 bytes an iteration, 20 GB/s; 3 cycles and 10 at 3 GHz */
     {RUN, .code = {LOOP}, .metric = {{"cqa_cycles", 3}}, .near_level = 4, .far_level = 4},
     {RUN, .code = {LOOP}, .metric = {{"cqa_cycles", 10}}, .near_level = 4, .far_level = 4}},
    {"cache_bandwidth", /* the first cache */
     {RUN, .code = {LOOP}, .metric = {{"cqa_cycles", 1}}, .near_level = 2, .far_level = 4},
     {RUN, .code = {LOOP}, .metric = {{"cqa_cycles", 1}}, .near_level = 1, .far_level = 4}},
    {"set_conflicts",
     {RUN, .code = {LOOP}, STRIDES(8192, 16), .near_level = 2, .far_level = 3, .set_n = 1},
     {RUN, .code = {LOOP}, STRIDES(8192, 16), .near_level = 1, .far_level = 3}},
    {"page_walks", /* the TLB reaches 8 MiB */
     {RUN, .code = {LOOP}, INDEXED(64), .huge_pages = "madvise", .near_level = 4, .object_mib = 64},
     {RUN, .code = {LOOP}, INDEXED(12), .huge_pages = "madvise", .near_level = 4,
      .object_mib = 64}},
    {"page_walks",
     {RUN, .code = {LOOP}, INDEXED(64), .huge_pages = "madvise", .near_level = 4, .object_mib = 64},
     {RUN, .code = {LOOP}, INDEXED(64), .huge_pages = "madvise", .near_level = 4, .object_mib = 64,
      .huge_pct = 93}},
    {"page_walks", /* nothing can be asked for */
     {RUN, .code = {LOOP}, INDEXED(64), .huge_pages = "always", .near_level = 4, .object_mib = 64},
     {RUN, .code = {LOOP}, INDEXED(64), .huge_pages = "never", .near_level = 4, .object_mib = 64}},
    {"blocking", /* 8 bytes at 20 GB/s, and 1 or 10 cycles at 3 GHz */
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"cqa_cycles", 1}}, .near_level = 4,
      .access = {AGAIN("data", 8, 40)}},
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"cqa_cycles", 10}}, .near_level = 4,
      .access = {AGAIN("data", 8, 40)}}},
    {"blocking", /* the second cache still has it */
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"cqa_cycles", 1}}, .near_level = 4,
      .access = {AGAIN("data", 8, 40)}},
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"cqa_cycles", 1}}, .near_level = 4,
      .access = {{"a", NULL, "data", 8, 8, 500000, 100}}}},
    {"blocking", /* a loop beside it stores what it loads: the outer loop counts steps of time */
     {RUN, .cache = "32768K", .code = {LOOP, AGAIN_LOOP}, .metric = {{"cqa_cycles", 1}},
      .near_level = 4, .access = {AGAIN("data", 8, 40)}},
     {RUN, .cache = "32768K", .code = {LOOP, AGAIN_LOOP}, .metric = {{"cqa_cycles", 1}},
      .near_level = 4, .access = {{"a", NULL, "data", 8, 8, INT64_C(40) << 20, 100, true}}}},
    {"blocking", /* a transposition; without rows swapped loops are the cure */
     {RUN, .cache = "32768K", .code = {LOOP}, STRIDES(9600, 22), .near_level = 3,
      .access = {AGAIN("line", 9600, 2), {"b", NULL, NULL, 8, 8, 0, 100}}},
     {RUN, .cache = "32768K", .code = {LOOP}, STRIDES(9600, 22), .near_level = 3,
      .access = {AGAIN("line", 9600, 2)}}},
    {"strided_walk", /* the same, the other way round */
     {RUN, .cache = "32768K", .code = {LOOP}, STRIDES(9600, 22), .near_level = 3,
      .access = {AGAIN("line", 9600, 2)}},
     {RUN, .cache = "32768K", .code = {LOOP}, STRIDES(9600, 22), .near_level = 3,
      .access = {AGAIN("line", 9600, 2), {"b", NULL, NULL, 8, 8, 0, 100}}}},
    {"record_members",
     {RUN, .code = {LOOP}, .near_level = 3, .far_level = 3,
      .access = {{"p", "x", NULL, 96, 96, 0, 25}, {"p", "y", NULL, 96, 96, 0, 25}}},
     {RUN, .code = {LOOP}, .near_level = 3, .far_level = 3,
      .access = {{"p", "x", NULL, 96, 96, 0, 80}, {"p", "y", NULL, 96, 96, 0, 80}}}},
    {"record_members", /* the first cache has all records */
     {RUN, .code = {LOOP}, .near_level = 3, .far_level = 3,
      .access = {{"p", "x", NULL, 96, 96, 0, 25}}},
     {RUN, .code = {LOOP}, .near_level = 1, .far_level = 1,
      .access = {{"p", "x", NULL, 96, 96, 0, 25}}}},
    {"strided_walk",
     {RUN, .code = {LOOP}, STRIDES(9616, 16), .near_level = 2, .far_level = 3},
     {RUN, .code = {LOOP}, STRIDES(8, 100)}},
    {"strided_walk", /* the first cache holds its lines until the next entry */
     {RUN, .code = {LOOP}, STRIDES(9616, 16), .far_level = 2},
     {RUN, .code = {LOOP}, STRIDES(9616, 16), .near_level = 1, .far_level = 3}},
    {"array_access", /* so little that it stays there */
     {RUN, .code = {LOOP}, STEPS(0, 13, 60, 0), .far_level = 2},
     {RUN, .code = {LOOP}, STEPS(0, 13, 60, 0), .far_level = 1}},
    {"access_by_variable",
     {RUN, .code = {LOOP}, STEADY("access_unknown_n", 0)},
     {RUN, .code = {LOOP}, STEADY("access_unknown_n", 2)}},
    {"divisions",
     {RUN, .code = {LOOP}, .metric = {{"fp_divide_n", 2}}},
     {RUN, .code = {LOOP}, .metric = {{"fp_divide_n", 0}}}},
    {"calls_in_loop",
     {RUN, .call_stacks = "off", .code = {LOOP}, .metric = {{"call_n", 1}}},
     {RUN, .code = {LOOP}, .metric = {{"call_n", 0}}}},
    {"calls_in_loop",
     {RUN, .call_stacks = "off", .code = {LOOP}, .metric = {{"call_n", 1}}},
     {RUN, .call_stacks = "dwarf", .code = {LOOP}, .metric = {{"call_n", 1}}}}, /* seldom made */
    {"scalar_mathematics",
     {RUN, .code = {OWN(900), {"exp", "math", 100, .module = "/usr/lib/libm.so.6"}}},
     {RUN, .code = {OWN(900), {"exp", "math", 100, .module = "/usr/lib/libmine.so"}}}},
    {"scalar_mathematics", /* access to flags of the floating-point unit does not count as
                            * mathematics */
     {RUN, .code = {OWN(900), {"floor", "math", 100, .module = "/usr/lib/libm.so.6"}}},
     {RUN, .code = {OWN(900), {"fetestexcept", "math", 100, .module = "/usr/lib/libm.so.6"}}}},
    {"oldest_instruction_set",
     {RUN, .code = {OLD}, STEPS(100, 100, 100, 0)},
     {RUN, .code = {OLD}, STEPS(100, 13, 100, 1)}}, /* gathers: waits for memory as far as known */
    {"oldest_instruction_set",                      /* wider vectors are for what is on vectors */
     {RUN, .code = {OLD}, STEPS(100, 100, 100, 0)},
     {RUN, .code = {OLD}, STEPS(0, 100, 100, 0)}},
    {"oldest_instruction_set",
     {RUN, .code = {OLD}, STEPS(100, 100, 100, 0)},
     {RUN, .code = {{"work", "application", 1000, .in_loop = true, .flags = "-O2 -march=native"}},
      STEPS(100, 100, 100, 0)}},
    {"harmful_options",
     {RUN, .code = {OLD}, .metric = {{"option_x87", 1}}},
     {RUN, .code = {OWN(990), {"old", "application", 10}}, .metric = {{"fp_divide_n", 1}}}},
    {"harmful_options", /* that it is not optimised says another */
     {RUN, .code = {OLD}, .metric = {{"option_profiling", 1}}},
     {RUN, .code = {OLD}, .metric = {{"option_no_optimisation", 1}}}},
    {"not_optimised",
     {RUN, .code = {{"work", "application", 1000, .flags = "-O1"}}},
     {RUN, .code = {{"work", "application", 1000, .flags = "-O3"}}}},
    {"memory_management",
     {RUN, .code = {OWN(900), {"malloc", "memory", 100}}},
     {RUN, .code = {OWN(980), {"malloc", "memory", 20}}}},
    {"memory_management", /* the first touch is not its cost */
     {RUN, .code = {OWN(700), {"malloc", "memory", 100, .under = "work"}}},
     {RUN, .code = {OWN(700),
                    {"malloc", "memory", 20, .under = "work"},
                    {"asm_exc_page_fault", "memory", 280, .under = "malloc"}}}},
    {"linear_search",
     {RUN, .code = {FULL}, SEARCH("flow_paths", 1)},
     {RUN, .code = {FULL}, SEARCH("access_resumed_n", 1)}}, /* it goes on where it ended */
    {"merge_walk",
     {RUN, .code = {FULL}, SEARCH("flow_merge_n", 1)},
     {RUN, .code = {FULL}, SEARCH("flow_merge_n", 0)}},
    {"memory_given_back",
     {RUN, .fault_n = 100000, .resident_mib = 40, .code = {FAULTS("free")}},
     {RUN, .fault_n = 12000, .resident_mib = 40, .code = {FAULTS("free")}}}, /* each page once */
    {"memory_given_back",
     {RUN, .fault_n = 100000, .resident_mib = 40, .code = {FAULTS("free")}},
     {RUN, .fault_n = 100000, .resident_mib = 40,
      .code = {FAULTS("work_too")}}}, /* its own doing */
    {"page_faults",                   /* once is enough */
     {RUN, .fault_n = 12000, .resident_mib = 40, .code = {FAULTS("free")}},
     {RUN, .fault_n = 100000, .resident_mib = 40, .code = {FAULTS("free")}}},
    {"system_calls",
     {RUN, .code = {OWN(800), CALLS("getrandom", "other", 200)}},
     {RUN, .code = {OWN(980), CALLS("getrandom", "other", 20)}}},
    {"system_calls", /* it spins, and asks now and then */
     {RUN, .code = {OWN(800), CALLS("getrandom", "other", 200)}},
     {RUN, .code = {OWN(300),
                    {"spin", "other", 650, .under = "work"},
                    {"entry_SYSCALL_64_after_hwframe", "other", 50, .under = "spin"}}}},
    {"system_calls", /* how threads wait for each other */
     {RUN, .code = {OWN(800), CALLS("getrandom", "other", 200)}},
     {RUN, .code = {OWN(800), CALLS("func_1f780", "openmp", 200)}}},
    {"system_calls", /* once is enough */
     {RUN, .code = {OWN(800), CALLS("getrandom", "other", 200)}},
     {RUN, .code = {OWN(800), CALLS("write", "io", 200)}}},
    {"lock_contention",
     {RUN, .thread_n = 2, .code = {OWN(800), {"pthread_mutex_lock", "pthread", 50, 150}}},
     {RUN, .thread_n = 1, .code = {OWN(800), {"pthread_mutex_lock", "pthread", 50, 150}}}},
    {"lock_contention", /* holders of locks have no CPU */
     {RUN, .thread_n = 2, .code = {OWN(800), {"pthread_mutex_lock", "pthread", 10, 150}}},
     {.wall_ms = 10000,
      .cpu_n = 2,
      .thread_n = 2,
      .queued_ms = 9000,
      .others_ms = 18000,
      .code = {OWN(800), {"pthread_mutex_lock", "pthread", 10, 150}}}},
    {"lock_contention", /* waiting threads hardly run */
     {RUN, .thread_n = 2,
      .code = {{"work", "application", 1000, .only = 1},
               {"pthread_mutex_lock", "pthread", 0, 300},
               {"read", "application", 400, .only = 2}}},
     {RUN, .thread_n = 2,
      .code = {{"work", "application", 1000, .only = 1},
               {"pthread_mutex_lock", "pthread", 0, 300, .only = 2},
               {"read", "application", 40, .only = 2}}}},
    {"input_output",
     {RUN, .code = {OWN(900), {"write", "io", 20, 80}}},
     {RUN, .code = {OWN(980), {"write", "io", 20}}}},
    {"compression",
     {RUN, .code = {OWN(900), {"deflate_slow", "compression", 100}}},
     {RUN, .code = {OWN(980), {"deflate_slow", "compression", 20}}}},
    {"copying",
     {RUN, .code = {OWN(800), {"memcpy", "string", 200}}},
     {RUN, .code = {OWN(950), {"memcpy", "string", 50}}}},
    {"page_faults",
     {RUN, .code = {OWN(800), {"exc_page_fault", "kernel", 200}}},
     {RUN, .code = {OWN(800), {"do_futex", "kernel", 200}}}},
    {"kernel_time",
     {RUN, .code = {OWN(800), {"do_futex", "kernel", 200}}},
     {RUN, .code = {OWN(800), {"exc_page_fault", "kernel", 200}}}},
    {"interpreter",
     {RUN, .code = {OWN(600), {"_PyEval_EvalFrameDefault", "python", 400}}},
     {RUN, .code = {OWN(900), {"_PyEval_EvalFrameDefault", "python", 100}}}},
    {"interpreter", /* its own compiled code */
     {RUN,
      .code = {OWN(300), {"_PyEval_EvalFrameDefault", "python", 400}, {"list", "python", 300}}},
     {RUN,
      .code = {OWN(300), {"_PyEval_EvalFrameDefault", "python", 200}, {"sort", "python", 500}}}},
    {"start_up",
     {RUN, .rank_n = 2, .code = {OWN(600), {"MPI_Init", "mpi", 300}}},
     {RUN, .rank_n = 2, .code = {OWN(600), {"MPI_Wait", "mpi", 300}}}},
    {"busy_waiting",
     {RUN, .thread_n = 2, .queued_ms = 300, .code = {OWN(300), {"GOMP_barrier", "openmp", 200}}},
     {RUN, .thread_n = 2, .code = {OWN(300), {"GOMP_barrier", "openmp", 200}}}},
    {"busy_waiting", /* more threads than CPUs have a rule of their own */
     {RUN, .rank_n = 2, .queued_ms = 300, .code = {OWN(300), {"MPI_Wait", "mpi", 200}}},
     {RUN, .rank_n = 4, .queued_ms = 300, .code = {OWN(300), {"MPI_Wait", "mpi", 200}}}},
    /* Without a certain gain: all CPUs are busy. */
    {"parallel_time",
     {.wall_ms = 1400, .cpu_n = 1, .rank_n = 2, .code = {OWN(700), {"MPI_Wait", "mpi", 300}}},
     {.wall_ms = 1400, .cpu_n = 1, .rank_n = 1, .code = {OWN(700), {"MPI_Wait", "mpi", 300}}}},
    {"waiting",
     {RUN, .code = {OWN(500), {"poll", "other", 0, 500}}},
     {RUN, .code = {OWN(900), {"poll", "other", 0, 100}}}},
    {"waiting", /* once is enough */
     {RUN, .code = {OWN(500), {"poll", "other", 0, 500}}},
     {RUN, .code = {OWN(500), {"read", "io", 0, 500}}}},
    {"waiting", /* starting up */
     {RUN, .rank_n = 2, .code = {OWN(500), {"poll", "other", 0, 500}}},
     {RUN, .rank_n = 2, .code = {OWN(500), {"MPI_Init", "mpi", 0, 500}}}},
    {"processors_idle",
     {.wall_ms = 1000, .cpu_n = 8, .thread_n = 2, .code = {ALL}},
     {.wall_ms = 1000, .cpu_n = 1, .thread_n = 2, .code = {ALL}}},
    {"processors_idle", /* a serial program is one */
     {.wall_ms = 1000, .cpu_n = 8, .rank_n = 2, .code = {ALL}},
     {.wall_ms = 1000, .cpu_n = 8, .code = {ALL}}},
    {"affinity",
     {RUN, .rank_n = 2, .migration_n = 400, .code = {ALL}},
     {RUN, .rank_n = 2, .migration_n = 40, .code = {ALL}}},
    {"affinity", /* others move them */
     {RUN, .rank_n = 2, .migration_n = 400, .code = {ALL}},
     {RUN, .rank_n = 2, .migration_n = 400, .others_ms = 1900, .code = {ALL}}},
    {"oversubscribed",
     {.wall_ms = 2000, .cpu_n = 1, .thread_n = 2, .queued_ms = 1000, .code = {ALL}},
     {.wall_ms = 1000, .cpu_n = 2, .thread_n = 2, .queued_ms = 10, .code = {ALL}}},
    {"oversubscribed", /* three that hardly run queue for what others take */
     {.wall_ms = 10000, .cpu_n = 2, .thread_n = 3, .queued_ms = 3300, .code = {OWN(6600)}},
     {.wall_ms = 10000,
      .cpu_n = 2,
      .thread_n = 3,
      .queued_ms = 9000,
      .others_ms = 18000,
      .code = {OWN(300)}}},
    {"oversubscribed", /* beside external load, four ranks on two CPUs are as many as before */
     {.wall_ms = 10000,
      .cpu_n = 2,
      .rank_n = 4,
      .queued_ms = 5000,
      .others_ms = 10000,
      .code = {OWN(2200)}},
     {.wall_ms = 10000,
      .cpu_n = 2,
      .rank_n = 2,
      .queued_ms = 5000,
      .others_ms = 10000,
      .code = {OWN(4400)}}},
    {"oversubscribed", /* others take the CPUs */
     {.wall_ms = 2000, .cpu_n = 1, .thread_n = 2, .queued_ms = 1000, .code = {ALL}},
     {.wall_ms = 2000,
      .cpu_n = 1,
      .thread_n = 2,
      .queued_ms = 1000,
      .others_ms = 2000,
      .code = {ALL}}},
    {"cache_latency",
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"operand_index_b", 8 * 1048576.0}}},
     {RUN, .cache = "32768K", .code = {LOOP}, .metric = {{"operand_index_b", 1048576.0}}}},
    {"dispatch",
     {RUN, .code = {LOOP}, .metric = {{"flow_switch_n", 1}, {"flow_paths", 17}}},
     {RUN, .code = {LOOP}, .metric = {{"flow_switch_n", 0}, {"flow_paths", 17}}}},
    {"meeting_stores",
     {RUN, .code = {LOOP}, .metric = {{"access_meeting_n", 1}}},
     {RUN, .code = {LOOP}, .metric = {{"access_meeting_n", 0}}}},
    {"scalar_gather", /* iterations that may meet stay apart */
     {RUN, .code = {FULL}, GATHERS(3, 1)},
     {RUN, .code = {FULL},
      .metric = {{"fp_packed_pct", 0},
                 {"flow_paths", 1},
                 {"access_indirect_n", 3},
                 {"access_unit_n", 1},
                 {"access_meeting_n", 1}}}},
    {"pointer_chase",
     {RUN, .code = {LOOP},
      .metric = {{"cqa_cycles", 5}, {"cqa_chain_cy", 5}, {"cqa_chain_chase_n", 1}}},
     {RUN, .code = {LOOP},
      .metric = {{"cqa_cycles", 9}, {"cqa_chain_cy", 5}, {"cqa_chain_chase_n", 1}}}},
    {"dependence_chain", /* no sum */
     {RUN, .code = {LOOP}, .metric = {{"cqa_cycles", 5}, {"cqa_chain_cy", 5}, {"cqa_chain_n", 2}}},
     {RUN, .code = {LOOP},
      .metric =
          {{"cqa_cycles", 5}, {"cqa_chain_cy", 5}, {"cqa_chain_n", 2}, {"cqa_chain_chase_n", 1}}}},
    {"no_debug",
     {RUN, .code = {OWN(800), {"dgemm", "math", 200, .module = "/b/libblas.so", .no_debug = true}}},
     {RUN, .rank_n = 2,
      .code = {OWN(800), {"poll", "mpi", 200, .module = "/b/libmpi.so", .no_debug = true}}}},
    {"hottest", {RUN, .code = {ALL}}, {RUN, .code = {LOOP}, .metric = {{"fp_divide_n", 2}}}},
    {"hottest", /* without a function of the kernel */
     {RUN, .code = {OWN(500), {"do_futex", "kernel", 400}}},
     {RUN, .code = {OWN(400), {"do_futex", "kernel", 500}}}},
    {"hottest", /* without a function of an interpreter */
     {RUN, .code = {ALL}},
     {RUN, .code = {{"_PyEval_EvalFrameDefault", "python", 1000}}}},
    {"no_debug",
     {RUN, .code = {OWN(800), {"dgemm", "math", 200, .module = "/b/libblas.so", .no_debug = true}}},
     {RUN, .code = {OWN(800),
                    {"_PyEval_EvalFrameDefault", "python", 200, .module = "/b/python3",
                     .no_debug = true}}}},
    {"flat",
     {RUN, .code = {OWN(90),
                    {"MPI_Wait", "mpi", 480},
                    {"a", "other", 88},
                    {"b", "other", 88},
                    {"c", "other", 88},
                    {"d", "other", 88}}},
     {RUN, .code = {OWN(90), {"MPI_Wait", "mpi", 910}}}},
};

static const struct rule_case flags[] = {
    {"killed", {RUN, .exit_signal = 11, .code = {ALL}}, {RUN, .code = {ALL}}},
    {"killed",
     {RUN, .exit_signal = 11, .code = {ALL}},
     {RUN, .exit_signal = 11, .flag = "crashed", .code = {ALL}}},
    {"failed", {RUN, .exit_code = 3, .code = {ALL}}, {RUN, .code = {ALL}}},
    {"no_samples", {RUN, .code = {OWN(0)}}, {RUN, .code = {ALL}}},
    {"few_samples", {RUN, .code = {OWN(400)}}, {RUN, .code = {ALL}}},
    {"few_samples", {RUN, .code = {OWN(400)}}, {RUN, .flag = "unseen_time", .code = {OWN(400)}}},
    {"lost_samples", {RUN, .lost_n = 100, .code = {ALL}}, {RUN, .lost_n = 5, .code = {ALL}}},
    {"overhead", {RUN, .overhead_ms = 80, .code = {ALL}}, {RUN, .overhead_ms = 20, .code = {ALL}}},
    {"unknown_code",
     {RUN, .code = {OWN(900), {"[unknown]", "other", 100}}},
     {RUN, .code = {OWN(980), {"[unknown]", "other", 20}}}},
    {"busy_host", {RUN, .others_ms = 800, .code = {ALL}}, {RUN, .others_ms = 50, .code = {ALL}}},
};

static void test_findings(void **state)
{
    (void)state;
    rule_cases_check(findings, sizeof findings / sizeof *findings, "v_findings", "rule");
    rule_cases_check(rule_topics, rule_topic_n, "v_findings", "rule");
    rule_cases_check(rule_instructions, rule_instruction_n, "v_findings", "rule");
}

static void test_flags(void **state)
{
    (void)state;
    rule_cases_check(flags, sizeof flags / sizeof *flags, "v_flags", "name");
}

/* ---- Texts --------------------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    const struct story story = {RUN, .rank_n = 2, .migration_n = 45812, .code = {ALL}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, "SELECT text FROM v_findings WHERE rule = 'affinity'",
               "Threads change processor 45,800 times a second, and find cold caches each time.");
    fine(as_experiment_close(&e, err));
}

/* In a run of several processes, a process may wait for another of them. */
static void test_pipes(void **state)
{
    struct story story = {RUN, .rank_n = 2, .code = {OWN(600), {"read", "io", 150, 200}}};
    const char *sql = "SELECT level, text LIKE '%for other processes of the run.',"
                      " workaround LIKE '%what makes that one faster.' FROM v_findings"
                      " WHERE rule = 'input_output'";

    (void)state;
    for (int i = 0; i < 3; i++) {
        static const char *const wanted[] = {"hint 1 1", "potential 0 0", "potential 0 0"};
        struct as_experiment *e = story_tell(&story);

        expect_row(e, sql, wanted[i]);
        fine(as_experiment_close(&e, err));
        if (i == 0)
            story.code[1] = (struct story_code){"read", "io", 200, 20}; /* it works */
        else
            story = (struct story){RUN, .code = {OWN(600), {"read", "io", 20, 200}}};
    }
}

/* A function of one category here, and of another there, counts where it is of this one. */
static void test_caller_of_category(void **state)
{
    const struct story story = {
        RUN, .code = {{"main", "application", 600},
                      {"wrap", "application", 50},
                      {"lib", "python", 100},
                      {"read", "io", 0, 300, .under = "wrap"},
                      {"read", "python", 10, 200, .under = "lib", .is_of_before = true},
                      {"open", "io", 10, .under = "main"}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, "SELECT text FROM v_findings WHERE rule = 'input_output'",
               "0.31 s go into input and output: 0.01 s running, 0.3 s waiting; most of it in "
               "read called from wrap.");
    fine(as_experiment_close(&e, err));
}

/* Perl is not Python, and NumPy does not help it. */
static void test_other_language(void **state)
{
    const struct story story = {
        RUN, .code = {OWN(300), {"Perl_runops", "interpreter", 700, .module = "/usr/bin/perl"}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e, "SELECT text FROM v_findings WHERE rule = 'interpreter'",
        "70.0 % of the time goes into perl, the machine of the language that it is written in.");
    expect_row(e, "SELECT workaround FROM v_findings WHERE rule = 'interpreter'",
               "Move the hot loops into compiled code: a library in C, C++ or Fortran.");
    fine(as_experiment_close(&e, err));
}

/* The loop with the most time is named, at any position. */
static void test_hottest_loop(void **state)
{
    const struct story story = {
        RUN, .code = {{"work", "application", 300, .in_loop = true},
                      {"work", "application", 600, .in_loop = true, .is_of_before = true},
                      {"work", "application", 100, .in_loop = true, .is_of_before = true}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, "SELECT text FROM v_findings WHERE rule = 'hottest'",
               "No cause found for the loop at a.c:20 in work (60 % of the time).");
    fine(as_experiment_close(&e, err));
}

/* A unit that is always busy by a model says nothing where branches or clocks say otherwise. */
static void test_hottest_of_branches(void **state)
{
    const struct story branches = {RUN, .code = {LOOP},
                                   .metric = {{"data_branch_n", 2},
                                              {"mispredict_cy", 17},
                                              {"branch_stall_pct", 10},
                                              {"cqa_ports_cy", 3},
                                              {"cqa_cycles", 3}}};
    const struct story timed = {
        RUN, .code = {LOOP},
        .metric = {{"loop_model_ratio", 4}, {"cqa_ports_cy", 3}, {"cqa_cycles", 3}}};
    const struct story busy = {
        RUN, .code = {LOOP},
        .metric = {
            {"cqa_ports_cy", 3}, {"cqa_divide_cy", 0}, {"cqa_front_end_cy", 1}, {"cqa_cycles", 3}}};
    static const char sql[] = "SELECT text FROM v_findings WHERE rule = 'hottest'";
    struct as_experiment *e = story_tell(&branches);

    (void)state;
    expect_row(e, sql,
               "No cause found for the loop at a.c:10 in work (100 % of the time): its 2 branches "
               "on data may take 17 cycles of an iteration if mispredicted; a model has 3 without "
               "that.");
    fine(as_experiment_close(&e, err));
    e = story_tell(&timed);
    expect_row(e, sql,
               "No cause found for the loop at a.c:10 in work (100 % of the time): timed, it takes "
               "4 times the 3 cycles of a model.");
    fine(as_experiment_close(&e, err));
    e = story_tell(&busy);
    expect_row(e, sql,
               "Nothing better is known for the loop at a.c:10 in work (100 % of the time): its "
               "busiest unit works in 100 % of the cycles, by a model.");
    fine(as_experiment_close(&e, err));
}

/* Kernel time: its avoidable part, and its cause. */
static void test_given_back(void **state)
{
    const struct story story = {RUN, .fault_n = 102400, .resident_mib = 40,
                                .code = {FAULTS("free")}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    /* 0.29 s of it, but for the first of ten times. */
    expect_row(
        e,
        "SELECT level, printf('%.3f', gain_s), gain_low_s > 0.1, gain_high_s < 0.6, text"
        " FROM v_findings WHERE rule = 'memory_given_back'",
        "gain 0.261 1 1 102,000 page faults for the 40 MiB that it holds at most: memory is "
        "freed, given back to the kernel and handed out again, 10 times each page, most of it "
        "from work.");
    fine(as_experiment_close(&e, err));
}

/* Memory that goes back to the kernel comes again, in a longer run too. */
static void test_first_touch(void **state)
{
    const struct story once = {RUN, .code = {OWN(800), {"exc_page_fault", "kernel", 200}}};
    const struct story again = {RUN, .code = {OWN(750),
                                              {"free", "memory", 0, .under = "work"},
                                              {"munmap", "memory", 50, .under = "free"},
                                              {"exc_page_fault", "kernel", 200}}};
    const char *sql = "SELECT workaround LIKE '%In a longer run it is less%',"
                      " workaround LIKE '%MALLOC_MMAP_MAX_=0%' FROM v_findings"
                      " WHERE rule = 'page_faults'";
    struct as_experiment *e = story_tell(&once);

    (void)state;
    expect_row(e, sql, "1 0");
    fine(as_experiment_close(&e, err));
    e = story_tell(&again);
    expect_row(e, sql, "0 1");
    fine(as_experiment_close(&e, err));
}

/* The advice on a system call depends on its caller and its purpose. */
static void test_calls(void **state)
{
#define READ(copied)                                                                               \
    {                                                                                              \
        RUN, .code = {                                                                             \
            OWN(800),                                                                              \
            CALLS("read", "other", 200 - (copied)),                                                \
            {"_copy_to_iter", "other", copied, .under = "entry_SYSCALL_64_after_hwframe"}          \
        }                                                                                          \
    }
    const struct {
        struct story story;
        const char *advice;
    } told[] = {
        {READ(20), "Each call moves little"},
        {READ(150), "The kernel copies much"},
        {{RUN, .code = {OWN(800), CALLS("sched_yield", "kernel", 200)}}, "Who gives way in a loop"},
        {{RUN, .code = {OWN(790),
                        {"dgemm_thread", "math", 10, .under = "work"},
                        {"sched_yield", "kernel", 0, .under = "dgemm_thread"},
                        {"entry_SYSCALL_64_after_hwframe", "kernel", 200, .under = "sched_yield"}}},
         "Threads of the mathematical"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct as_experiment *e = story_tell(&told[i].story);
        char sql[256];

        snprintf(sql, sizeof sql,
                 "SELECT substr(workaround, 1, %zu) FROM v_findings WHERE rule = 'system_calls'",
                 strlen(told[i].advice));
        expect_row(e, sql, told[i].advice);
        fine(as_experiment_close(&e, err));
    }
}

/* A check shows only its score if a rule has reported its subject. */
static void test_said_once(void **state)
{
    const struct story busy = {RUN, .rank_n = 2, .migration_n = 400, .code = {ALL}};
    const struct story quiet = {RUN, .rank_n = 2, .migration_n = 40, .code = {ALL}};
    struct as_experiment *e = story_tell(&busy);

    (void)state;
    expect_row(e, "SELECT advice IS NULL FROM v_checks WHERE name = 'affinity'", "1");
    fine(as_experiment_close(&e, err));
    e = story_tell(&quiet);
    expect_row(e, "SELECT advice IS NULL FROM v_checks WHERE name = 'affinity'", "0");
    fine(as_experiment_close(&e, err));
}

/* ---- Width --------------------------------------------------------------------------------- */

static void test_width_of_means(void **state)
{
    struct story story = {
        RUN,
        .code = {LOOP, {"other", "application", 500, .in_loop = true}},
        .metric = {{"array_access_efficiency_pct", 100},
                   {"array_access_least_pct", 100},
                   {"array_access_most_pct", 100}},
    };
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 2};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    /* The second is between 10 and 100 %, a third of the time. */
    fine(as_experiment_value(e,
                             integer_of(e, "SELECT metric_id FROM metric WHERE name ="
                                           " 'array_access_least_pct'"),
                             &loop, as_value_exact(10, 1), err));
    fine(as_experiment_value(e,
                             integer_of(e, "SELECT metric_id FROM metric WHERE name ="
                                           " 'array_access_most_pct'"),
                             &loop, as_value_exact(100, 1), err));
    fine(as_advise_run(e, 1, err));
    expect_row(e,
               "SELECT round(value), low BETWEEN 65 AND 70.1, high, n FROM v_values"
               " WHERE metric = 'array_access_pct'",
               "70.0 1 100.0 1500");
    /* Unknown for more than half of the time. */
    fine(as_experiment_close(&e, err));
    story.code[1].ms = 1500;
    e = story_tell(&story);
    fine(as_experiment_value(e,
                             integer_of(e, "SELECT metric_id FROM metric WHERE name ="
                                           " 'array_access_most_pct'"),
                             &loop, as_value_exact(100, 1), err));
    fine(as_experiment_value(e,
                             integer_of(e, "SELECT metric_id FROM metric WHERE name ="
                                           " 'array_access_least_pct'"),
                             &loop, as_value_exact(100, 1), err));
    fine(as_advise_run(e, 1, err));
    expect_row(e, "SELECT count(*) FROM v_values WHERE metric = 'array_access_pct'", "0");
    fine(as_experiment_close(&e, err));
}

/* ---- Cards --------------------------------------------------------------------------------- */

/* Several observations of a loop are one finding of its seconds; what contradicts is left out. */
static void test_one_card(void **state)
{
    const struct story story = {RUN, .call_stacks = "off",
                                .code = {FULL, {"rest", "application", 1000, .in_loop = true}},
                                .metric = {{"fp_packed_pct", 0},
                                           {"array_access_most_pct", 13},
                                           {"array_access_efficiency_pct", 13},
                                           {"access_strided_n", 2},
                                           {"flow_paths", 3},
                                           {"call_n", 2}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e,
        "SELECT count(*), group_concat(rule), sum(time_s), group_concat(text) FROM v_findings"
        " WHERE object_kind = 'loop'",
        "1 array_access 1.0 The loop at a.c:10 uses 13 % of the bytes of the cache lines that "
        "it touches.");
    expect_row(e,
               "SELECT more LIKE 'It calls functions, from 2 places. %' FROM v_findings"
               " WHERE object_kind = 'loop'",
               "1");
    fine(as_experiment_close(&e, err));
}

/* Measured and possible cycles per iteration become seconds of the run, by the share of the loop. A
 * gain without a lower bound ranks after certain gains. */
static void test_gain_of_code(void **state)
{
    struct story story = {RUN, .call_stacks = "off", .code = {FULL},
                          .metric = {{"fp_packed_pct", 0},
                                     {"flow_paths", 1},
                                     {"cqa_cycles", 8},
                                     {"cqa_vector_x", 4},
                                     {"cqa_vector_sound", 1}}};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e,
        "SELECT level, round(gain_s, 2), gain_low_s, gain_high_s > gain_s, text LIKE '% takes "
        "8 cycles, and could take 2 with %' FROM v_findings WHERE rule = 'scalar_arithmetic'",
        "potential 0.75 0.0 1 1");
    expect_row(e,
               "SELECT round(gain_s, 2), gain_low_s, round(gain_high_s, 2), to_80_n FROM v_what_ifs"
               " WHERE name = 'fully_vectorised'",
               "0.75 0.0 0.8 1");
    expect_row(e,
               "SELECT round(gain_s, 2), position FROM v_what_if_objects"
               " WHERE name = 'fully_vectorised'",
               "0.75 1");
    fine(as_experiment_close(&e, err));
    story.metric[4].value = 0; /* something stands against it */
    e = story_tell(&story);
    expect_row(e,
               "SELECT gain_s, text LIKE '%could take%' FROM v_findings"
               " WHERE rule = 'scalar_arithmetic'",
               "- 0");
    expect_row(e, "SELECT gain_s FROM v_what_ifs WHERE name = 'fully_vectorised'", "0.0");
    fine(as_experiment_close(&e, err));
    story.metric[2] = (struct story_metric){"other_carried_n", 0}; /* not analysed */
    e = story_tell(&story);
    expect_row(e, "SELECT count(*) FROM v_what_ifs WHERE name = 'fully_vectorised'", "0");
    fine(as_experiment_close(&e, err));
}

/* Several chains are one card; it says how many there are, and of what kind. */
static void test_chains(void **state)
{
    static const struct {
        double chains, sums;
        const char *text, *how;
    } want[] = {
        {1, 1, "the result of the one before (a sum or product).", "%its rounding."},
        {1, 0, "the result of the one before (a recurrence).", "A recurrence needs another way%"},
        {3, 3, "3 results of the one before (sums or products).", "%its rounding."},
        {2, 0, "2 results of the one before (recurrences).", "A recurrence needs another way%"},
        {3, 2, "3 results of the one before (2 of them a sum or product).",
         "A sum or product: %its rounding. A recurrence needs another way%"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct story story = {RUN, .code = {FULL},
                                    .metric = {{"fp_packed_pct", 0},
                                               {"flow_paths", 1},
                                               {"fp_carried_n", want[i].chains},
                                               {"fp_sum_n", want[i].sums}}};
        struct as_experiment *e = story_tell(&story);
        char sql[256], expected[256];

        snprintf(sql, sizeof sql,
                 "SELECT count(*), max(workaround LIKE '%s'), max(text) FROM"
                 " v_findings WHERE object_kind = 'loop'",
                 want[i].how);
        snprintf(expected, sizeof expected,
                 "1 1 The loop at a.c:10 does 0 %% of its floating-point"
                 " arithmetic on whole vectors, because each iteration needs %s",
                 want[i].text);
        expect_row(e, sql, expected);
        fine(as_experiment_close(&e, err));
    }
}

/* A loop that waits for memory gains nothing from fewer instructions. */
static void test_no_contradiction(void **state)
{
    const struct story story = {RUN, .cache = "32768K", .code = {FULL}, WALK(60)};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e,
        "SELECT count(*), group_concat(rule), group_concat(text) LIKE '%bandwidth of the memory.'"
        " FROM v_findings WHERE object_kind = 'loop'",
        "1 memory_bandwidth 1");
    fine(as_experiment_close(&e, err));
}

/* Threads that share the memory: one that waits leaves it to the others. */
static void test_shared_memory(void **state)
{
    struct story story = {
        RUN, .thread_n = 2, .cache = "32768K",
        .code = {{"work", "application", 600, .in_loop = true}, {"GOMP_barrier", "openmp", 300}},
        WALK(60)};
    const char *sql =
        "SELECT level, gain_s IS NULL, text LIKE '%while a thread waits, the others %'"
        " FROM v_findings WHERE rule = 'parallel_overhead'";
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, sql, "potential 1 1");
    fine(as_experiment_close(&e, err));
    story.cache = "131072K"; /* it holds them */
    e = story_tell(&story);
    expect_row(e, sql, "gain 0 0");
    fine(as_experiment_close(&e, err));
}

#define SMALL(name, ms)                                                                            \
    {                                                                                              \
        name, "application", ms, .in_loop = true, .flags = "-O3"                                   \
    }

/* Loops too small for a finding each are one on what they share. */
static void test_pattern(void **state)
{
    struct story story = {.wall_ms = 1000,
                          .cpu_n = 1,
                          .loop_n = 5,
                          .code = {SMALL("a", 15), SMALL("b", 14), SMALL("c", 12), SMALL("d", 10),
                                   SMALL("e", 9), OWN(940)},
                          SCALAR(2, 0, 0)};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e, "SELECT rule, object_kind, time_s, text FROM v_findings WHERE topic = 'vectorisation'",
        "scalar_branches run 0.06 5 loops, together 6 % of the time, work on one value at a "
        "time, and branch; most of it at a.c:10, a.c:20 and a.c:30.");
    fine(as_experiment_close(&e, err));
    story.loop_n = 2; /* two do not make a pattern, and take little time together */
    e = story_tell(&story);
    expect_row(e, "SELECT count(*) FROM v_findings WHERE topic = 'vectorisation'", "0");
    fine(as_experiment_close(&e, err));
}

/* Time outside the program's own code does not make a fix of a loop less valuable. */
static void test_share_of_category(void **state)
{
    struct story story = {.wall_ms = 1000,
                          .cpu_n = 1,
                          .rank_n = 2,
                          .code = {SMALL("a", 30), {"MPI_Wait", "mpi", 970}},
                          SCALAR(2, 0, 0)};
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(e, "SELECT count(*) FROM v_findings WHERE rule = 'scalar_branches'", "1");
    fine(as_experiment_close(&e, err));
    story.code[1] = (struct story_code)OWN(970);
    e = story_tell(&story);
    expect_row(e, "SELECT count(*) FROM v_findings WHERE rule = 'scalar_branches'", "0");
    fine(as_experiment_close(&e, err));
}

/* ---- Without a run ------------------------------------------------------------------------- */

static void test_code_alone(void **state)
{
    static const char *const topic[] = {"expensive_arithmetic"};
    const enum as_object_kind loops[] = {AS_OBJECT_LOOP};
    const struct as_rule_choice one = {topic, 1, loops, 1}, all = {.object = loops, 1};
    const struct as_row_module module = {.path = "/a", .name = "a", .kind = "executable"};
    const char *const name[] = {"fp_divide_n", "call_n"};
    struct as_row_function function = {.name = "f", .address = as_known(16)};
    struct as_row_loop loop = {.address = 16, .depth = 1, .is_innermost = true};
    struct as_subject subject = {.kind = AS_OBJECT_LOOP};
    struct as_experiment *e;
    char path[64];

    (void)state;
    fine(as_experiment_transient(&e, err));
    refused(as_experiment_run_directory(e, 1, path, sizeof path, err), UNSUPPORTED, "in memory");
    fine(as_experiment_add_module(e, &module, &function.module_id, err));
    fine(as_experiment_add_function(e, &function, &loop.function_id, err));
    fine(as_experiment_add_loop(e, &loop, &subject.object_id, err));
    for (int i = 0; i < 2; i++) {
        const struct as_metric metric = {.name = name[i],
                                         .unit = "1",
                                         .meaning = "m",
                                         .formula = "f",
                                         .better = AS_BETTER_LOWER};
        int64_t id;

        fine(as_experiment_metric(e, &metric, &id, err));
        fine(as_experiment_value(e, id, &subject, as_value_exact(2, 1), err));
    }
    fine(as_advise_code(e, &one, err));
    expect_row(e,
               "SELECT rank, level, object_kind, object_id, text, time_s, run_id, gain_s"
               " FROM v_findings",
               "1 potential loop 1 A loop of f has 2 divisions or square roots. - - -");
    fine(as_advise_code(e, &all, err));
    expect_row(
        e, "SELECT rule, text, workaround, more FROM v_findings",
        "divisions A loop of f has 2 divisions or square roots. Divide once before the loop and "
        "multiply in it; reuse what does not change; single precision or -ffast-math unless given "
        "(reciprocals) where the result allows it. It calls functions, from 2 places. Small "
        "functions in another file are not inlined: build with -flto unless given, or move them "
        "to this file.");
    fine(as_experiment_close(&e, err));
}

/* ---- No option that is given is recommended -------------------------------------------------- */

/* Options that compilers record in builds of the suite of loops, and further options of users. */
static const char *const built_with[] = {
    "-mtune=generic -march=x86-64 -g -O2",
    "-mtune=generic -march=x86-64 -g -O3",
    "-march=x86-64-v3 -g -O3",
    "-mtune=generic -march=x86-64 -g -O3 -ffast-math",
    "-march=znver3 -mno-xop -g -Ofast -flto -funroll-loops -fopenmp",
    "-march=skylake-avx512 -mprefer-vector-width=512 -O3 -ffast-math -flto -mrecip -fopenmp-simd",
    "-O2 -fno-math-errno -fcx-limited-range -march=native",
};

/* Sets given_NAME of all useful options, as the pass over the units does. */
static void give_options(struct story *story, const char *given)
{
    struct as_unit_options unit;
    int n = 0;

    while (n < STORY_METRIC_N && story->metric[n].name)
        n++;
    as_unit_options("gcc", given, &unit);
    for (size_t i = 0; i < as_compiler_option_count() && n < STORY_METRIC_N; i++) {
        static char name[64][64];

        if (as_compiler_option_get(i)->harmful)
            continue;
        snprintf(name[i], sizeof name[i], "given_%s", as_compiler_option_get(i)->name);
        story->metric[n++] = (struct story_metric){name[i], (double)(unit.given >> i & 1)};
    }
    assert_true(n < STORY_METRIC_N);
    for (int k = 0; k < STORY_CODE_N && story->code[k].name; k++)
        story->code[k].flags = given;
}

/* A word that stands alone in `text`, or is said to be a part of one that does. */
static bool is_given(const char *given, const char *word, size_t n)
{
    static const char *const parts[] = {"-ffast-math", "-fno-math-errno", "-fcx-limited-range",
                                        "-ffinite-math-only", "-fno-signed-zeros"};

    for (const char *at = given; (at = strstr(at, "-")); at++)
        if ((at == given || at[-1] == ' ') && strcspn(at, " ") == n && !memcmp(at, word, n))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i]) == n && !memcmp(parts[i], word, n))
            return strstr(given, "-Ofast") || (i && strstr(given, "-ffast-math"));
    return n > 7 && !memcmp(word, "-march=", 7) && strstr(given, "-march=") &&
           !strstr(given, "-march=x86-64 ");
}

/* Advice names harmful options in order to have them left out. */
static void check_words(const char *rule, const char *given, const char *advice)
{
    for (const char *at = advice; (at = strstr(at, "-")); at++) {
        const size_t n =
            strspn(at, "-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=");

        if (at > advice && !strchr(" (", at[-1]))
            continue;
        if (n > 2 && is_given(given, at, n))
            fail_msg("%s recommends %.*s, which is given: %s", rule, (int)n, at, advice);
    }
}

static unsigned check_story(struct story story, const char *given)
{
    struct as_experiment *e;
    struct as_rows *rows;
    unsigned n = 0;

    give_options(&story, given);
    e = story_tell(&story);
    fine(as_rows_open(e,
                      "SELECT rule, workaround FROM v_findings WHERE pass = 'advise'"
                      " AND rule <> 'harmful_options' AND workaround IS NOT NULL",
                      &rows, err));
    while (as_rows_next(rows, NULL) > 0) {
        check_words(as_rows_text(rows, 0), given, as_rows_text(rows, 1));
        n++;
    }
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
    return n;
}

static void test_given_options(void **state)
{
    unsigned n = 0;

    (void)state;
    for (size_t f = 0; f < sizeof built_with / sizeof *built_with; f++) {
        for (size_t i = 0; i < rule_topic_n; i++)
            n += check_story(rule_topics[i].speaks, built_with[f]);
        for (size_t i = 0; f % 2 && i < sizeof findings / sizeof *findings; i++) /* many */
            n += check_story(findings[i].speaks, built_with[f]);
    }
    assert_true(n > 300);
}

/* Vectors come from the compiler or from the source: the loop itself has 4 iterations. */
static void test_trips_of_vectors(void **state)
{
    struct story story = {RUN, .code = {NESTED},
                          .metric = {{"cqa_trip_n", 4}, {"cqa_insn_n", 6}, {"cqa_unroll_n", 8}}};

    story.code[0].language = "C17";
    struct as_experiment *e = story_tell(&story);

    (void)state;
    expect_row(
        e, "SELECT substr(workaround, 1, 155) FROM v_findings WHERE topic = 'full_unroll'",
        "Have it unrolled wholly, and what it computes becomes straight code: #pragma GCC unroll 4 "
        "before it (32 if the source counts the elements of its vectors on");
    fine(as_experiment_close(&e, err));
}

/* ---- Code without a compiler, or with an unknown one --------------------------------------- */

static void each_advice(const struct story *story, void (*look)(const char *rule, const char *text))
{
    struct as_experiment *e = story_tell(story);
    struct as_rows *rows;

    fine(as_rows_open(e,
                      "SELECT rule, workaround FROM v_findings WHERE pass = 'advise' AND "
                      "object_kind = 'loop' AND workaround IS NOT NULL",
                      &rows, err));
    while (as_rows_next(rows, NULL) > 0)
        look(as_rows_text(rows, 0), as_rows_text(rows, 1));
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

static unsigned advice_n;

/* Options, and what is said to compilers or done by them. */
static void no_compiler(const char *rule, const char *text)
{
    static const char *const word[] = {" -m",      " -f",    " -O",      "(-",
                                       "ompiler",  "pragma", "restrict", "Build it",
                                       "omp simd", "GCC",    "Clang",    "header"};

    advice_n++;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strstr(text, word[i]))
            fail_msg("%s of assembly: %s", rule, text);
}

/* Options with unknown state. */
static void no_claim(const char *rule, const char *text)
{
    static const char *const option[] = {"-march=native", "-ffast-math",
                                         "-flto",         "-funroll-loops",
                                         "-mrecip",       "-mprefer-vector-width=512"};

    advice_n++;
    if (strstr(text, "Ask the compiler"))
        fail_msg("%s of code that nobody may have compiled: %s", rule, text);
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        for (const char *at = text; (at = strstr(at, option[i])); at++)
            if (!strstr(at, " unless given") && !strstr(text, "part of -ffast-math"))
                fail_msg("%s takes %s not to be given: %s", rule, option[i], text);
}

/* Words of C: of Fortran, and of files that do not tell their language. */
static void no_c(const char *rule, const char *text)
{
    static const char *const word[] = {
        "restrict", "#pragma", "memcpy", "header",      "__builtin",     "size_t", "float)",
        " ? ",      "+= ",     "1.0f",   "long double", "aligned_alloc", "_MM_"};

    advice_n++;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strstr(text, word[i]))
            fail_msg("%s, of code that need not be C: %s", rule, text);
}

/* Neither those of Fortran. */
static void no_tongue(const char *rule, const char *text)
{
    no_c(rule, text);
    if (strstr(text, "real(") || strstr(text, "!$omp") || strstr(text, "!GCC$") ||
        strstr(text, "merge("))
        fail_msg("%s, of code that need not be Fortran: %s", rule, text);
}

static void each_rule_of_loops(const char *language,
                               void (*look)(const char *rule, const char *text))
{
    const struct rule_case *table[] = {findings, rule_topics};
    const size_t n[] = {sizeof findings / sizeof *findings, rule_topic_n};

    advice_n = 0;
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < n[t]; i += CASE_STEP) {
            struct story story = table[t][i].speaks;

            if (!story.code[0].in_loop)
                continue;
            story.code[0].flags = NULL;
            story.code[0].language = language;
            each_advice(&story, look);
        }
    assert_true(advice_n > 40 / CASE_STEP);
}

static void test_assembly(void **state)
{
    (void)state;
    each_rule_of_loops("Assembly", no_compiler);
}

/* Without a record of the compiler, options and language are unknown. */
static void nothing_known(const char *rule, const char *text)
{
    no_claim(rule, text);
    no_tongue(rule, text);
}

static void test_nothing_known(void **state)
{
    (void)state;
    each_rule_of_loops(NULL, nothing_known);
}

static void test_words_of_fortran(void **state)
{
    (void)state;
    each_rule_of_loops("Fortran 2008", no_c);
}

/* With an argument only what tells many stories: some hundred, each of which takes all rules. Under
 * sanitizers the suites of arguments do not run, and some of their stories come with the others. */
int main(int argc, char **argv)
{
    const struct CMUnitTest options[] = {cmocka_unit_test(test_given_options)};
    const struct CMUnitTest languages[] = {
        cmocka_unit_test(test_assembly),
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_words_of_fortran),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_hottest_loop),
        cmocka_unit_test(test_hottest_of_branches),
        cmocka_unit_test(test_other_language),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_caller_of_category),
        cmocka_unit_test(test_said_once),
        cmocka_unit_test(test_width_of_means),
        cmocka_unit_test(test_code_alone),
        cmocka_unit_test(test_one_card),
        cmocka_unit_test(test_no_contradiction),
        cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_gain_of_code),
        cmocka_unit_test(test_pattern),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_share_of_category),
        cmocka_unit_test(test_first_touch),
        cmocka_unit_test(test_trips_of_vectors),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_assembly),
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_words_of_fortran),
#endif
    };

    if (argc > 1 && strcmp(argv[1], "options") == 0)
        return cmocka_run_group_tests(options, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "languages") == 0)
        return cmocka_run_group_tests(languages, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
