# SPDX-License-Identifier: Apache-2.0
# assay probe: times of functions, values that are recorded, functions of libraries that are called.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >values.c <<'EOC'
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
struct pair { long first; int second; float third; double fourth; };
static jmp_buf home;
static volatile long sink;
static volatile sig_atomic_t handled;
#define OWN __attribute__((noinline, noipa))
OWN long whole(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return sink = a + b + c + d + e + f + g * h;
}
OWN double real(double x, int n, float y)
{
    return x * n + y;
}
OWN long through(const struct pair *p)
{
    return p ? p->first + p->second : -1;
}
OWN long element(const int *at, long i)
{
    return at[i];
}
OWN long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
OWN void leap(long n)
{
    sink = n;
    if (n % 4 == 3)
        longjmp(home, 1);
    sink = n + 1;
}
OWN long tail(long n)
{
    return fib(n + 1);
}
OWN void *work(void *context)
{
    long s = 0;
    for (long i = 1; i <= 1000; i++)
        s += whole((long)context, i, 0, 0, 0, 0, i, 2);
    return (void *)s;
}
OWN long in_handler(long n)
{
    return sink = n;
}
static void on_alarm(int signal)
{
    handled++;
    in_handler(signal);
}
OWN double dot(const double *x, const double *y, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}
int main(void)
{
    struct pair pair = {40, -2, 1.5f, 0.25};
    int table[10];
    double x[1000], y[1000], sum = 0;
    pthread_t thread[3];
    for (long i = 0; i < 10; i++)
        table[i] = (int)(i * i - 20);
    for (long i = 0; i < 100; i++)
        sink = whole(i, -i, i * i, 4, 5, 6, 7 * i, 8);
    for (int i = 0; i < 20; i++)
        sum += real(i * 0.5 - 2, i, (float)-i);
    sum += real(NAN, 1, 0) > 0;
    for (long i = 0; i < 30; i++) {
        pair.second = (int)i - 10;
        sink = through(i % 3 ? &pair : NULL);
        sink = element(table, i % 10);
    }
    printf("fib %ld %ld\n", fib(12), tail(5));
    volatile long i = 0;
    while (i < 20)
        if (!setjmp(home))
            leap(i++);
    for (long t = 0; t < 3; t++)
        pthread_create(&thread[t], NULL, work, (void *)t);
    for (long t = 0; t < 3; t++) {
        void *s;
        pthread_join(thread[t], &s);
        printf("thread %ld\n", (long)s);
    }
    for (long k = 0; k < 1000; k++) {
        x[k] = 1 / (double)(k + 1);
        y[k] = k * 0.125;
    }
    errno = 77;
    for (int k = 0; k < 10; k++)
        sum += dot(x, y, 1000);
    printf("sum %.17g %a %d\n", sum, dot(y, y, 999), errno);
    fflush(stdout);
    if (fork() == 0)
        _exit((int)(whole(1, 1, 1, 1, 1, 1, 1, 1) & 0));
    wait(NULL);
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval every = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (handled < 500)
        in_handler(-1);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    dprintf(3, "%d\n", (int)handled);
    return 0;
}
EOC
    gcc -g -O1 -fno-inline -pthread values.c -o values -lm
    cat >seen.c <<'EOC'
#include <assay/probe.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile double noise = 3;
static long hits;
static double arguments;
/* Leaves nothing of vector registers, flags, errno and the rounding as it was. */
static void disturb(void)
{
    unsigned control = 0x7f80;
    for (int i = 0; i < 9; i++)
        noise = noise * 1.25 + 1 / noise;
    __asm__ volatile("ldmxcsr %0\n\tfld1\n\tfld1\n\tstd\n\tpcmpeqd %%xmm0, %%xmm0\n\t"
                     "pcmpeqd %%xmm1, %%xmm1\n\tpcmpeqd %%xmm2, %%xmm2\n\tpcmpeqd %%xmm15, %%xmm15\n\t"
                     "cld" ::"m"(control)
                     : "xmm0", "xmm1", "xmm2", "xmm15", "st", "st(1)", "memory");
    errno = 5;
}
void seen(const struct assay_probe_hit *hit)
{
    if (hit->size_b != sizeof *hit || strcmp(hit->name, "library") != 0 || hit->probe != 0)
        _exit(9);
    __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
    disturb();
}
void real_seen(const struct assay_probe_hit *hit)
{
    if (!isnan(hit->floating[0]))
        arguments += hit->floating[0] + (double)hit->general[7];
    disturb();
}
static int hidden(void) { return 1; }
__attribute__((destructor)) static void told(void)
{
    FILE *file = fopen("seen.txt", "a");
    if (file)
        fprintf(file, "%ld %g\n", hits, arguments + 0 * hidden());
    if (file)
        fclose(file);
}
EOC
    gcc -O1 -shared -fPIC -I"$USER_INCLUDE" seen.c -o seen.so -lm
    ./values 3>/dev/null >alone.txt
}
setup() { load common.bash; }

# run_probes NAME: the probes on standard input in a run; the answer in NAME.json.
run_probes() {
    cat >"$1.probe"
    "$ASSAY" probe -q -o "$1.assay" --format json "$1.probe" -- ./values 3>handled.txt >"$1.json"
    cat "$1.assay"/run-*/output.txt >"$1.out" 2>/dev/null || true
    for text in "$1.assay"/run-*/output.txt; do
        equal "$(cat alone.txt)" "$(cat "$text")"
    done
}

@test "the time of functions: recursion, jumps out of them, threads, jumps to others" {
    run_probes time <<'EOP'
probe times
    at function
    where function = "fib", "leap", "whole", "work", "tail", "in_handler"
    do count, time
end
probe whole_run
    at function
    where function = "main"
    do time
end
EOP
    python3 - <<'EOP'
import json
by = {s["function"]: s for s in json.load(open("time.json"))["sites"]}
for s in by.values():
    assert s["refused"] is None, s
fib = [0, 1]
def calls(n):
    return 1 if n < 2 else 1 + calls(n - 1) + calls(n - 2)
assert by["fib"]["count"] == calls(12) + calls(6), by["fib"]
assert by["leap"]["count"] == 20 and by["leap"]["cut"] == 5, by["leap"]
assert by["whole"]["count"] == 100 + 3000 + 1 and by["whole"]["cut"] == 0
assert by["tail"]["count"] == 1 and by["tail"]["cut"] == 0
assert by["main"]["cut"] == 0
for name in ("fib", "leap", "whole", "main", "work"):
    s = by[name]
    assert 0 <= s["least_s"] <= s["largest_s"] <= s["time_s"] * (1 + 1e-9), s
assert by["main"]["time_s"] > by["fib"]["time_s"] and by["work"]["time_s"] > 0
EOP
}
@test "values: registers, arguments, memory" {
    run_probes values <<'EOP'
probe arguments
    at function entry
    where function = "whole"
    do record argument 1, record argument 2, record argument 7, record argument 8, record register rdx
end
probe reals
    at function
    where function = "real"
    do record double argument 1, record argument 1, record float argument 2
end
probe memory
    at function entry
    where function = "through"
    do count, record memory "[rdi]", record int memory "[rdi + 8]", record float memory "[rdi+0xc]"
end
probe element
    at function entry
    where function = "element"
    do record int memory "[rdi+rsi*4]"
end
probe result
    at function exit
    where function = "fib"
    do record register rax
end
probe before
    at call before
    where function = "main" and callee = "whole"
    do record argument 7
end
probe after
    at call after
    where function = "main" and callee = "real"
    do record double register xmm0
end
probe insn
    at instruction
    where function = "element" and class = "return"
    do record int register rax
end
probe block
    at block
    where function = "in_handler"
    do record register rdi
end
EOP
    python3 - <<'EOP'
import collections, json, math
by = collections.defaultdict(list)
for s in json.load(open("values.json"))["sites"]:
    assert s["refused"] is None, s
    by[s["probe"]].append(s)
def row(name, what):
    rows = [s for s in by[name] if s["value"] == what]
    assert len(rows) == 1, (name, what, by[name])
    return rows[0]
def is_about(name, what, values, missed=0):
    s = row(name, what)
    assert (s["recorded"], s["missed"], s["lost"]) == (len(values), missed, 0), (s, len(values))
    assert s["least"] == min(values) and s["largest"] == max(values), s
    mean = math.fsum(values) / len(values)
    assert abs(s["mean"] - mean) <= 1e-12 * max(1, abs(mean)), (s, mean)
    often = collections.Counter(values)
    if len(often) <= 8:
        got = {float(w.split(" x ")[0]): int(w.split(" x ")[1]) for w in s["frequent"]}
        assert got == dict(often), (got, often)
own = range(100)
first = list(own) + [t for t in range(3) for i in range(1000)] + [1]
is_about("arguments", "argument 1", first)
is_about("arguments", "argument 2", [-i for i in own] + [i for i in range(1, 1001)] * 3 + [1])
is_about("arguments", "argument 7", [7 * i for i in own] + [i for i in range(1, 1001)] * 3 + [1])
is_about("arguments", "argument 8", [8] * 100 + [2] * 3000 + [1])
is_about("arguments", "register rdx", [i * i for i in own] + [0] * 3000 + [1])
reals = row("reals", "double argument 1")
assert reals["recorded"] == 21 and reals["least"] == -2 and reals["largest"] == 7.5, reals
assert abs(reals["mean"] - sum(i * 0.5 - 2 for i in range(20)) / 20) < 1e-12
is_about("reals", "argument 1", list(range(20)) + [1])
is_about("reals", "float argument 2", [-i for i in range(20)] + [0])
there = [i - 10 for i in range(30) if i % 3]
assert by["memory"][0]["count"] == 30
is_about("memory", "memory [rdi]", [40] * 20, 10)
is_about("memory", "int memory [rdi + 8]", there, 10)
is_about("memory", "float memory [rdi+0xc]", [1.5] * 20, 10)
squares = [(i % 10) ** 2 - 20 for i in range(30)]
is_about("element", "int memory [rdi+rsi*4]", squares)
is_about("insn", "int register rax", squares)
def fib(n, out):
    out.append(n if n < 2 else fib(n - 1, out) + fib(n - 2, out))
    return out[-1]
results = []
fib(12, results)
fib(6, results)
s = row("result", "register rax")
assert s["recorded"] == len(results) and s["largest"] == 144 and s["least"] == 0, s
assert abs(s["mean"] - sum(results) / len(results)) < 1e-12
before = [s for s in by["before"]]
# A call right behind another leaves no room for a jump between them.
assert sum(s["recorded"] for s in before) == 101 and max(s["largest"] for s in before) == 693
after = by["after"]
assert sum(s["recorded"] for s in after) in (20, 21)
assert max(s["largest"] for s in after if s["largest"] is not None) == max((i * .5 - 2) * i - i for i in range(20)), after
# Handlers: the values exclude those that interrupted another event; these are counted as lost.
s = row("block", "register rdi")
handled = int(open("handled.txt").read().split()[-1])
often = {w.split(" x ")[0]: int(w.split(" x ")[1]) for w in s["frequent"]}
assert often["14"] + s["lost"] >= handled and often["14"] <= handled and s["least"] == -1, (s, handled)
EOP
    # How values lie, and those of each thread, are tables of the run.
    "$ASSAY" query values.assay --format json \
        "SELECT name, columns, cells FROM detail WHERE name LIKE 'probe_%'" >tables.json
    python3 - <<'EOP'
import json
tables = {}
for t in json.load(open("tables.json")):
    names = json.loads(t["columns"])
    tables[t["name"]] = [dict(zip(names, row)) for row in json.loads(t["cells"])]
threads = [r for r in tables["probe_threads"]
           if r["probe"] == "arguments" and r["value"] == "argument 2"]
assert len(threads) == 5 and sorted(r["recorded"] for r in threads) == [1, 100, 1000, 1000, 1000]
for r in threads:
    if r["recorded"] == 1000:
        assert r["first"] == "1 2 3 4 5 6 7 8", r
        assert r["last"] == "993 994 995 996 997 998 999 1000", r
    elif r["recorded"] == 100:
        assert r["last"] == " ".join(str(-i) for i in range(92, 100)), r
    else:
        assert r["first"] == r["last"] == "1", r
lies = {(r["from"], r["to"]): r["times"] for r in tables["probe_buckets"]
        if r["probe"] == "arguments" and r["value"] == "argument 2"}
assert sum(lies.values()) == 3101 and lies[(0, 0)] == 1 and lies[(-128, -64)] == 36, lies
assert lies[(1, 2)] == 3 + 1 and lies[(512, 1024)] == 3 * 489, lies
reals = {(r["from"], r["to"]): r["times"] for r in tables["probe_buckets"]
         if r["probe"] == "reals" and r["value"] == "double argument 1"}
assert sum(reals.values()) == 20 and reals[(-2, -1)] == 2 and reals[(0.5, 1)] == 1, reals
kept = [r for r in tables["probe_values"] if r["value"] == "double argument 1"]
assert kept[0]["no numbers"] == 1 and kept[0]["recorded"] == 21, kept
EOP
}
@test "functions of a library are called, and disturb nothing" {
    rm -f seen.txt
    run_probes called <<'EOP'
probe library
    at block
    where function = "dot"
    do count, call "./seen.so" "seen"
end
probe reals
    at function entry
    where function = "real"
    do call "seen.so" "real_seen"
end
EOP
    python3 - <<'EOP'
import json
sites = json.load(open("called.json"))["sites"]
blocks = [s for s in sites if s["probe"] == "library"]
assert blocks and all(s["refused"] is None for s in sites), sites
for s in blocks:
    assert s["calls"] == s["count"] and s["lost"] == 0, s
reals = [s for s in sites if s["probe"] == "reals"]
assert [s["calls"] for s in reals] == [21]
# Counts of the parent and its child, which made no calls of its own: it left by _exit.
hits, arguments = open("seen.txt").read().split()[-2:]
assert int(hits) == sum(s["calls"] for s in blocks), (hits, blocks)
assert float(arguments) == sum(i * 0.5 - 2 + i for i in range(20)), arguments
EOP
}
@test "impossible values and calls are refused before anything runs" {
    refuse() {
        status=0
        cat >bad.probe
        "$ASSAY" probe -q -o bad.assay bad.probe -- ./values 2>err >out 3>/dev/null || status=$?
        equal 2 $status
        like "$1" "$(cat err)"
        [ ! -e bad.assay/run-001 ]
    }
    refuse "assay: *the library ./nothere.so is missing; build it, or use its path*" <<'EOP'
probe a
    at function
    do call "./nothere.so" "seen"
end
EOP
    refuse "assay: *seen.so exports no function 'hidden'*" <<'EOP'
probe a
    at function
    do call "./seen.so" "hidden"
end
EOP
    refuse "assay: *./values is not a shared library*" <<'EOP'
probe a
    at function
    do call "./values" "main"
end
EOP
    refuse "assay: bad.probe:4:1: probe 'a': loop entry can be counted and timed only*" <<'EOP'
probe a
    at loop entry
    do record register rdi
end
EOP
    refuse "assay: bad.probe:4:1: probe 'a': program has no code address*" <<'EOP'
probe a
    at program
    do call "./seen.so" "seen"
end
EOP
    refuse "assay: bad.probe:4:1: probe 'a': arguments are known only at function*" <<'EOP'
probe a
    at block
    do record argument 1
end
EOP
    refuse "assay: bad.probe:4:1: probe 'a': function entry has no duration*" <<'EOP'
probe a
    at function entry
    do time
end
EOP
    refuse "assay: bad.probe:3:24: 'xmm1' stands here; expected a general register*" <<'EOP'
probe a
    at function
    do record register xmm1
end
EOP
    refuse "assay: bad.probe:3:30: '9' stands here; expected 1 to 8*" <<'EOP'
probe a
    at function
    do record float argument 9
end
EOP
    refuse "assay: bad.probe:3:22: '\[rdi+rsi\*3\]' stands here; expected the place in quotes*" <<'EOP'
probe a
    at function
    do record memory "[rdi+rsi*3]"
end
EOP
}
@test "a program that takes no library: its functions are counted, not timed" {
    gcc -g -O1 -fno-inline -pthread -static values.c -o static -lm 2>/dev/null || skip "no static C library"
    cat >static.probe <<'EOP'
probe t
    at function
    where function = "fib"
    do time
end
EOP
    "$ASSAY" probe --check --format json static.probe static >static.json
    like "*the agent library cannot be loaded*" "$(cat static.json)"
}
