/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up core for the tests of the predictor, small enough to compute by hand. It has four slots
 * per cycle and two integer ports, one of which multiplies. Loads, addresses of stores and data of
 * stores have one port each. There are two vector ports and a divider.
 */
#ifndef AS_TESTS_TOY_H
#define AS_TESTS_TOY_H

#include "unit.h"

#include "predict/predict.h"

#define TOY_HEAD                                                                                   \
    "core\ttoy\ta toy\nsource\ts\tmade up\n"                                                       \
    "set\tdispatch_width\t4\ts\nset\tretire_width\t4\ts\nset\trob\t1000\ts\n"                      \
    "set\tsched_int\t500\ts\nset\tload_queue\t500\ts\nset\tstore_queue\t500\ts\n"                  \
    "set\tload_int\t4\ts\nset\tload_int_indexed\t4\ts\nset\tforward_int\t6\ts\n"                   \
    "set\tload_fp\t7\ts\nset\tforward_fp\t9\ts\nset\tforward_mixed\t8\ts\n"                        \
    "set\tforward_failed\t20\ts\n"                                                                 \
    "set\topcache_width\t100\ts\nset\topcache_line_b\t0\ts\nset\topcache_line_slots\t100\ts\n"     \
    "set\tlcp_stall\t0\ts\nset\tstack_sync\t0\ts\n"
#define TOY_PORTS                                                                                  \
    "group\tALU\ta b\ts\ngroup\tMUL\ta\ts\ngroup\tLD\tl\ts\ngroup\tSTA\tt\ts\ngroup\tSTD\td\ts\n"  \
    "group\tFANY\tf g\ts\ngroup\tFSHUF\tg h\ts\ngroup\tDIV\tdiv\ts\nbypass\tfadd\t!fadd\t1\ts\n"
#define TOY_FORMS                                                                                  \
    "form\tadd r64,r64\t1\tALU:1\t1\t-\ts\nform\tadd r64,imm8\t1\tALU:1\t1\t-\ts\n"                \
    "form\tinc r64\t1\tALU:1\t1\t-\ts\nform\tcmp r64,r64\t1\tALU:1\t1\t-\ts\n"                     \
    "form\tcmp r16,imm16\t1\tALU:1\t1\t-\ts\n"                                                     \
    "form\tlea r64,address64 [bd]\t1\tALU:1\t1\t-\ts\n"                                            \
    "form\timul r64,r64\t1\tMUL:1\t3\t-\ts\n"                                                      \
    "form\tmov r64,r64\t1\t-\t0\tmove\ts\nform\txor r32,r32 [same]\t1\t-\t0\tzero\ts\n"            \
    "form\tsbb r32,r32\t1\tALU:1\t1\t-\ts\nform\tnop\t1\t-\t-\t-\ts\n"                             \
    "form\tdiv r64\t2\tDIV:7-18\t10-20\t-\ts\n"                                                    \
    "form\tmov r64,m64\t1\tLD:1\t0\t-\ts\nform\tmov r32,m32\t1\tLD:1\t0\t-\ts\n"                   \
    "form\tmov m64,r64\t1\tSTA:1 STD:1\t0\t-\ts\nform\tmov m32,r32\t1\tSTA:1 STD:1\t0\t-\ts\n"     \
    "form\tadd m64,imm8\t2\tLD:1 ALU:1 STA:1 STD:1\t1\t-\ts\n"                                     \
    "form\tpush r64\t1\tSTA:1 STD:1\t0\t-\ts\nform\tpop r64\t1\tLD:1\t0\t-\ts\n"                   \
    "form\tvmovups ymm,m256\t1\tLD:1\t0\t-\ts\nform\tvmovups xmm,m128\t1\tLD:1\t0\t-\ts\n"         \
    "form\tvdivpd xmm,xmm,xmm\t1\tFANY:1 DIV:9\t13\t-\ts\n"                                        \
    "form\tmovss xmm,m32\t1\tLD:1\t0\t-\ts\n"                                                      \
    "form\tvaddpd xmm,xmm,xmm\t1\tFANY:1\t2\tclass=fadd\ts\n"                                      \
    "form\tvorpd xmm,xmm,xmm\t1\tFSHUF:1\t1\t-\ts\n"                                               \
    "form\tvmulpd xmm,xmm,xmm\t1\tFANY:1\t4 2>0:1\t-\ts\n"

/* A predictor for the toy with `more` lines before its groups (sets that differ). */
struct toy {
    struct as_uarch *uarch;
    struct as_predictor *predictor;
    struct as_prediction out;
};

void toy_init(struct toy *toy, const char *more);
void toy_open(struct toy *toy, const char *name); /* a table of the program */
void toy_fini(struct toy *toy);

/* Cycles of hexadecimal code, unrolled, by bounds alone unless `options` says otherwise. */
double toy_cycles(struct toy *toy, const char *hex);
double toy_cycles_as(struct toy *toy, const char *hex, const struct as_predict_options *options);

/* Within a thousandth. */
void toy_expect(double got, double want);

#endif
