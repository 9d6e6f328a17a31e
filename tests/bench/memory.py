#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of strides, names and objects of loops: memory.py ASSAY ATTRIBUTE DIRECTORY [ROUNDS]

Makes a program of LOOPS loops over arrays of known names, strides and sizes, and a program that
allocates. Prints a line "NAME VALUE" each: how much slower each program is with --objects, by its
own CPU time; CPU time and memory of the attribution (bench-attribute); operands with a wrong name,
stride or size, and operands without one, in percent.
"""
import pathlib
import shutil
import statistics
import subprocess
import sys

LOOPS, TURNS, PAIRS = 100, 30, 200000

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define ALONE __attribute__((noinline, noipa))
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
"""


def elements(loop):
    return 20000 + 1000 * loop


def walks():
    """A loop reads rows in order, columns by a leading dimension, and both by way of an index."""
    text = [HEAD]
    for i in range(LOOPS):
        text.append(f"""ALONE double walk{i}(const double *row{i}, const double *column{i},
                                     const int *index{i}, long n, long ld)
{{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += row{i}[i] * column{i}[i * ld] + row{i}[index{i}[i]];
    return s;
}}
""")
    text.append("int main(void)\n{\n    double s = 0;\n")
    for i in range(LOOPS):
        n = elements(i)
        text.append(f"    double *a{i} = calloc({n}, 8);\n    double *b{i} = calloc({n}, 8);\n"
                    f"    int *k{i} = calloc({n}, 4);\n")
    text.append(f"    const double from = cpu_s();\n    for (int t = 0; t < {TURNS}; t++) {{\n")
    for i in range(LOOPS):
        text.append(f"        for (int r = 0; r < 20; r++)\n"
                    f"            s += walk{i}(a{i}, b{i}, k{i}, {elements(i) // 3}, 3);\n")
    text.append('    }\n    fprintf(stderr, "%.6f\\n", cpu_s() - from);\n    return s > 1;\n}\n')
    return "".join(text)


def pairs():
    return HEAD + f"""int main(void)
{{
    const double from = cpu_s();
    for (long i = 0; i < {PAIRS}; i++) {{
        char *volatile p = malloc(70000 + i % 100);
        p[0] = 1;
        free(p);
    }}
    fprintf(stderr, "%.6f\\n", cpu_s() - from);
    return 0;
}}
"""


def own_time(command):
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    return float(done.stderr.split()[0])


def build(where, name, text):
    source, program = where / f"{name}.c", where / name
    source.write_text(text, encoding="ascii")
    subprocess.run(["gcc", "-O2", "-g", "-fno-tree-vectorize", "-o", program, source], check=True)
    return str(program)


def truth(text):
    """(function, variable): stride in bytes, KiB of the array, line of its allocation."""
    of = {}
    lines = text.splitlines()
    for i in range(LOOPS):
        for name, own, stride_b, element_b in (("row", "a", 8, 8), ("column", "b", 24, 8),
                                               ("index", "k", 4, 4)):
            line = next(k for k, it in enumerate(lines, 1) if f" *{own}{i} = calloc" in it)
            of[f"walk{i}", f"{name}{i}"] = (stride_b, elements(i) * element_b / 1024, line)
    return of


def judge(assay, experiment, expected):
    """Percent of the operands that are wrong, and of those without a name or an object."""
    rows = subprocess.run(
        [assay, "query", "--format", "csv", str(experiment),
         "SELECT function, variable, stride, ifnull(stride_b, 0), object, ifnull(site_line, 0)"
         " FROM v_loop_accesses WHERE function GLOB 'walk*'"],
        check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    wrong = missing = 0
    for row in rows:
        function, variable, stride, stride_b, its_object, line = row.split(",")
        if not variable or not its_object.startswith("block of "):
            missing += 1
            continue
        is_b, is_kib, is_line = expected.get((function, variable), (0, 0, 0))
        kib = float(its_object.split()[2])
        wrong += not ((stride == "indirect" or int(stride_b) == is_b) and int(line) == is_line
                      and abs(kib - is_kib) <= 0.03 * is_kib)
    return 100 * wrong / len(rows), 100 * missing / len(rows)


def slow_down(program, where, assay, rounds):
    profiled = [assay, "profile", "-q", "--objects", "--force", "-o", str(where / "x.assay"), "--",
                program]
    return [(own_time([program]), own_time(profiled)) for _ in range(rounds)]


def main():
    assay, attribute, where = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    where.mkdir(parents=True, exist_ok=True)
    walk, pair = build(where, "walks", walks()), build(where, "pairs", pairs())
    times = slow_down(walk, where, assay, rounds)
    print(f"walks {statistics.median(with_s / s for s, with_s in times):.3f}", flush=True)
    times = slow_down(pair, where, assay, rounds)
    added = statistics.median(with_s - s for s, with_s in times)
    print(f"pair_ns {1e9 * added / PAIRS:.0f}", flush=True)
    own_time([assay, "profile", "-q", "--objects", "--rate", "10000", "--force", "-o",
              str(where / "walks.assay"), "--", walk])
    counted = subprocess.run([assay, "query", "--format", "csv", str(where / "walks.assay"),
                              "SELECT sample_n FROM v_runs"], check=True, capture_output=True,
                             text=True)
    made = where / "attributed"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    stream = str(where / "walks.assay" / "run-001" / "main.samples")
    done = subprocess.run(["bash", "-c", 'TIMEFORMAT="%U %S"; time "$@"', "bash", attribute,
                           "--jobs", "1", stream, str(made)], check=True, capture_output=True,
                          text=True)
    cpu_s = sum(float(word) for word in done.stderr.split()[-2:])
    print(f"samples {counted.stdout.split()[-1]}")
    print(f"loop_ms {1000 * cpu_s / LOOPS:.2f}")
    print(f"peak_mib {int(done.stdout.split()[-1]) / 1024:.1f}")
    wrong, missing = judge(assay, where / "walks.assay", truth(walks()))
    print(f"wrong_pct {wrong:.2f}")
    print(f"missing_pct {missing:.2f}")


main()
