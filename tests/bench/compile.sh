#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: compile.sh DIRECTORY: makes DIRECTORY/large.i and small.i, C for a compiler to work on for
# some forty seconds and three: programs with deep call stacks, nearly all of them different.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -r small.i ] || exit 0

program() { # FUNCTIONS
    awk -v n="$1" 'BEGIN {
        print "#include <math.h>\n#include <stdlib.h>\n#include <string.h>"
        print "struct state { double x[64], y[64]; int n, kind; struct state *next; };"
        for (k = 0; k < n; k++) {
            printf "static double mean_%d(const struct state *s, int from, int to)\n{\n", k
            printf "    double sum = %d.25;\n", k % 13
            print "    for (int i = from; i < to && i < s->n; i++)"
            printf "        sum += s->x[i] * s->y[(i + %d) & 63] - sqrt(s->x[i & 31] + %d);\n",
                   k % 7, k % 5
            print "    return to > from ? sum / (to - from) : 0;\n}"
            printf "double work_%d(struct state *s, int depth)\n{\n    double best = 0;\n", k
            print "    for (struct state *at = s; at; at = at->next) {"
            printf "        switch ((at->kind + %d) %% 6) {\n", k % 11
            printf "        case 0: best += mean_%d(at, 0, %d); break;\n", k, 8 + k % 50
            printf "        case 1: for (int i = 1; i < at->n; i++) for (int j = i; j < %d; j++)\n",
                   16 + k % 40
            print "            at->x[i & 63] = at->x[(i - 1) & 63] * 0.5 + at->y[j & 63]; break;"
            print "        case 2: memmove(at->x, at->y, (size_t)at->n % 64 * 8); break;"
            printf "        case 3: if (depth < %d) best -= work_%d(at->next, depth + 1);\n",
                   3 + k % 5, k
            print "            /* fall through */"
            printf "        case 4: best = fmax(best, at->y[%d]); break;\n", k % 64
            printf "        default: at->n = abs(at->n - %d);\n        }\n    }\n", k % 9
            print "    return best;\n}"
        }
    }'
}

program 1800 >large.c
program 180 >small.c
gcc -E large.c -o large.i
gcc -E small.c -o small.new
mv small.new small.i
