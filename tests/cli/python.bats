# SPDX-License-Identifier: Apache-2.0
# Functions and lines of CPython 3.11 in profiles. Shares are known by the work that functions do,
# in turns of random length; limits of shares are 5.2 deviations (a chance of 2e-7) and 3 points.

setup_file() {
    load common.bash
    PYTHON=$(readlink -f /usr/bin/python3 || true)
    export PYTHON
    cat >work.py <<'END'
import os, sys, threading, zlib


def spin(n):
    s = 0
    for i in range(n):
        s += i
    return s


def three(n):
    spin(3 * n)


def once(n):
    spin(n)


def turns(rounds):
    state = 1
    for _ in range(rounds):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        n = 20000 + (state >> 40) % 60000
        three(n)
        once(n)


def produce(n):
    for i in range(n):
        yield sum(range(300))


def consume(n):
    for value in produce(n):
        pass


def dive(depth, n):
    if depth:
        return dive(depth - 1, n)
    return spin(n)


def pack(data):
    return zlib.compress(data, 9)


def alpha(n):
    spin(n)


def beta(rounds):
    data = os.urandom(1 << 19)
    for _ in range(rounds):
        pack(data)


def child(n):
    spin(n)


def threads():
    both = [threading.Thread(target=alpha, args=(4000000,)), threading.Thread(target=beta, args=(16,))]
    [t.start() for t in both]
    [t.join() for t in both]


def processes():
    if os.fork() == 0:
        child(4000000)
        os._exit(0)
    os.wait()
    os.execv(sys.executable, [sys.executable, sys.argv[0], "once"])


def inner():
    import _xxsubinterpreters as interpreters

    it = interpreters.create()
    interpreters.run_string(
        it, "def within():\n    s = 0\n    for i in range(4000000):\n        s += i\nwithin()\n"
    )


what = sys.argv[1]
if what == "turns":
    turns(int(sys.argv[2]))
elif what == "deep":
    dive(40, 6000000)
    consume(60000)
elif what == "threads":
    threads()
elif what == "processes":
    processes()
elif what == "inner":
    inner()
elif what == "sort":
    data = [i * 7919 % 1000003 for i in range(200000)]
    for _ in range(25):
        sorted(data)
else:
    once(4000000)
END
}

setup() {
    load common.bash
    rm -rf ./*.assay
    [ "$("$PYTHON" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null)" = "(3, 11)" ] ||
        skip "/usr/bin/python3 is not CPython 3.11"
}

query() { "$ASSAY" query --format csv x.assay "$(echo "$1" | tr '\n' ' ')" | tail -n +2; }
one() { [ "$(query "$1")" = 1 ] || fails "not so: $1"; }

# record ARGUMENT...: into x.assay
record() { "$ASSAY" profile -q -o x.assay "$@" >out 2>err || fails "$(cat err)"; }

# share PART WHOLE PERCENT: samples of 100 that are PERCENT of WHOLE, of at least 60
share() {
    python3 - "$@" <<'END' || fails "share $*"
import math, sys
part, whole, percent = (float(a or 0) for a in sys.argv[1:])
p = percent / 100
limit = 5.2 * math.sqrt(whole * p * (1 - p)) + 0.03 * whole
sys.exit(whole < 60 or abs(part - p * whole) > limit)
END
}

# samples below a call of a function of work.py by the caller
below() {
    query "SELECT ifnull(sum(t.inclusive_n), 0) FROM callpath p JOIN function f USING (function_id)
        JOIN callpath q ON q.callpath_id = p.parent_id JOIN function g ON g.function_id = q.function_id
        JOIN callpath_time t ON t.callpath_id = p.callpath_id WHERE f.name = '$2' AND g.name = '$1'"
}

check_turns() {
    local three once
    three=$(below turns three) once=$(below turns once)
    share "$three" $((three + once)) 75
    # All of their time is that of the loop in spin, which no other function calls.
    one "SELECT count(*) FROM v_functions WHERE name = 'spin' AND module = 'work.py' AND line = 4"
    one "SELECT sum(exclusive_sample_n) >= 0.9 * $((three + once)) FROM v_functions
        WHERE name = 'spin'"
    one "SELECT sum(l.exclusive_sample_n) >= 0.9 * $((three + once)) FROM v_lines l
        WHERE l.source_file LIKE '%work.py' AND l.line IN (6, 7)"
    equal "" "$(query "SELECT text FROM v_flags WHERE name = 'python_frames'")"
}

@test "functions and lines have their shares, beside perf events" {
    record -- "$PYTHON" work.py turns 60
    check_turns
}

@test "functions and lines have their shares where perf events are refused" {
    "$DENY" EACCES true || skip "system calls cannot be filtered here"
    "$DENY" EACCES "$ASSAY" profile -q -o x.assay -- "$PYTHON" work.py turns 60 >out 2>err ||
        fails "$(cat err)"
    equal timer "$(query "SELECT event FROM v_runs")"
    check_turns
}

@test "a recursion has its depth, and a generator its caller" {
    record -- "$PYTHON" work.py deep
    # dive(40) to dive(0) are 41 frames, with spin inside and the module outside.
    equal 41 "$(query "WITH RECURSIVE up(at, n) AS (SELECT p.parent_id, 0 FROM callpath p
        JOIN function f USING (function_id) WHERE f.name = 'spin' UNION ALL SELECT p.parent_id, n + 1
        FROM up JOIN callpath p ON p.callpath_id = up.at JOIN function f USING (function_id)
        WHERE f.name = 'dive') SELECT max(n) FROM up")"
    [ "$(below consume produce)" -ge 5 ] || fails "the generator has no caller"
}

@test "threads have their own functions, and compiled code stands below" {
    record -- "$PYTHON" work.py threads
    # alpha and beta are in one thread each, and never in the same.
    equal "" "$(query "SELECT s.thread_id FROM sample s JOIN callpath p USING (callpath_id)
        JOIN callpath_time t USING (callpath_id) JOIN function f USING (function_id)
        WHERE f.name IN ('alpha', 'beta') GROUP BY 1 HAVING count(DISTINCT f.name) > 1")"
    [ "$(below beta pack)" -ge 20 ] || fails "no samples below pack"
    # zlib is called by pack: at once, or by the library's own functions.
    equal 0 "$(query "SELECT count(*) FROM callpath p JOIN function f USING (function_id)
        JOIN module m USING (module_id) JOIN callpath q ON q.callpath_id = p.parent_id
        JOIN callpath_time t ON t.callpath_id = p.callpath_id AND t.inclusive_n > 0
        JOIN function g ON g.function_id = q.function_id JOIN module n ON n.module_id = g.module_id
        WHERE m.name GLOB 'libz.so*' AND n.module_id <> m.module_id AND g.name <> 'pack'")"
    one "SELECT count(*) > 0 FROM callpath p JOIN function f USING (function_id)
        JOIN module m USING (module_id) WHERE m.name GLOB 'libz.so*'"
}

@test "a fork, another execution and an interpreter within have their functions" {
    record -- "$PYTHON" work.py processes
    [ "$(below processes child)" -ge 5 ] || fails "nothing of the child"
    [ "$(below '<module>' once)" -ge 5 ] || fails "nothing of what was executed"
    rm -rf x.assay
    "$PYTHON" -c 'import _xxsubinterpreters' 2>/dev/null || skip "no module for sub-interpreters"
    record -- "$PYTHON" work.py inner
    [ "$(below '<module>' within)" -ge 5 ] || fails "nothing of the sub-interpreter"
}

@test "a virtual environment, a script and an embedded interpreter are read" {
    "$PYTHON" -m venv --without-pip env || skip "no module venv"
    record -- env/bin/python work.py once
    [ "$(below '<module>' once)" -ge 5 ] || fails "nothing in the environment"
    rm -rf x.assay
    { echo "#!$PYTHON"; cat work.py; } >work
    chmod +x work
    record -- ./work once
    [ "$(below '<module>' once)" -ge 5 ] || fails "nothing of the script"
    rm -rf x.assay
    command -v gcc >/dev/null || skip "no gcc here"
    cat >embeds.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (argc < 3 || !library)
        return 77;
    ((void (*)(void))dlsym(library, "Py_Initialize"))();
    return ((int (*)(const char *))dlsym(library, "PyRun_SimpleString"))(argv[2]);
}
END
    gcc -o embeds embeds.c
    local library=/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0
    [ -e "$library" ] || skip "no shared library of Python"
    record --event timer -- ./embeds "$library" 'def f():
    s = 0
    for i in range(4000000): s += i
f()'
    [ "$(below '<module>' f)" -ge 5 ] || fails "nothing of the embedded interpreter"
}

# fake NAME VERSION WHAT: a program that says that it is an interpreter. It puts nonsense into what it
# has, and its thread has a state if WHAT is "state".
fake() {
    command -v gcc >/dev/null || skip "no gcc here"
    cat >fake.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
union { unsigned char byte[4096]; uint64_t word[512]; } _PyRuntime, state, interpreter, nothing[4];
uint64_t PyCode_Type[64];
const unsigned long Py_Version = VERSION;
static uint64_t seed = 1;
static uint64_t draw(void) { return (seed = seed * 6364136223846793005 + 1442695040888963407) >> 20; }
static uint64_t nonsense(void)
{
    static void *gone;
    uint64_t local;
    if (!gone) {
        gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(gone, 4096);
    }
    switch (draw() % 8) {
    case 0: return 0;
    case 1: return draw() % 4096;
    case 2: return (uint64_t)gone;
    case 3: return (uint64_t)&nothing[draw() % 4].word[draw() % 500];
    case 4: return (uint64_t)&local + draw() % 512 * 8;
    case 5: return (uint64_t)&state;
    case 6: return (uint64_t)&nothing[3].byte[4090];
    default: return draw() << 20 | draw();
    }
}
int main(void)
{
    pthread_key_t key;
    const int has_state = !strcmp(WHAT, "state") || !strcmp(WHAT, "own");
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &state);
    for (clock_t end = clock() + 12 * CLOCKS_PER_SEC / 10; clock() < end;) {
        for (int i = 0; i < 512; i++)
            for (int k = 0; k < 4; k++)
                nothing[k].word[i] = draw() % 3 ? nonsense() : (uint64_t)PyCode_Type;
        if (!has_state)
            continue;
        for (int i = 0; i < 60; i++)
            state.word[i] = nonsense();
        memcpy(_PyRuntime.byte + 592, (int[]){1, (int)key}, 8);
        if (!strcmp(WHAT, "own")) {
            state.word[19] = (uint64_t)pthread_self();
            state.word[2] = (uint64_t)&interpreter;
            interpreter.word[5] = (uint64_t)&_PyRuntime;
            _PyRuntime.word[5] = (uint64_t)&interpreter;
            interpreter.word[0] = (uint64_t)&interpreter;
            interpreter.word[2] = (uint64_t)&state;
            state.word[1] = (uint64_t)&state;
        }
    }
    return 0;
}
END
    gcc -O1 -w -rdynamic -DVERSION="$2" -DWHAT="\"$3\"" -o "$1" fake.c -pthread
}

@test "a hot function of Python is a finding, and a compiled one is not" {
    "$ASSAY" run -q -o x.assay -- "$PYTHON" work.py turns 40 >out 2>err || fails "$(cat err)"
    one "SELECT count(*) FROM v_findings WHERE rule = 'python_function'
        AND (text LIKE 'spin (work.py:6) runs as byte code for %' OR text LIKE 'spin (work.py:7) %')
        AND workaround LIKE 'Replace its loop by one call of compiled code%'"
    equal 0 "$(query "SELECT count(*) FROM v_findings WHERE rule IN ('interpreter', 'hottest')")"
    rm -rf x.assay
    "$ASSAY" run -q -o x.assay -- "$PYTHON" work.py sort >out 2>err || fails "$(cat err)"
    equal 0 "$(query "SELECT count(*) FROM v_findings WHERE rule = 'python_function'")"
    one "SELECT sum(exclusive_pct) > 70 FROM v_modules WHERE name GLOB 'python3*' AND kind <> 'python'"
}

@test "other versions are refused by name" {
    fake python3.13 0x030d01f0ul none
    record -- ./python3.13
    like 'Python 3.13.1: its frames are not read*' \
        "$(query "SELECT text FROM v_flags WHERE name = 'python_frames'" | tr -d '"')"
    [ "$(query "SELECT sum(exclusive_sample_n) FROM v_functions")" -ge 20 ] || fails "no samples"
}

@test "an interpreter without symbols is reported" {
    command -v gcc >/dev/null || skip "no gcc here"
    printf 'int main(void) { for (volatile long i = 0; i < 300000000; i++); return 0; }' >plain.c
    gcc -o python3 plain.c
    record -- ./python3
    like '*no symbol _PyRuntime was found*' \
        "$(query "SELECT text FROM v_flags WHERE name = 'python_frames'")"
}

@test "structures that are not those of 3.11 are noticed, and end no program" {
    for what in state own; do
        rm -rf x.assay
        fake python3.11 0x030b02f0ul "$what"
        record --event timer -- ./python3.11
        like '*Python 3.11.2: its structures differ*' \
            "$(query "SELECT text FROM v_flags WHERE name = 'python_frames'")"
        equal 0 "$(query "SELECT count(*) FROM v_modules WHERE kind = 'python'")"
    done
}

@test "offsets are those of the headers" {
    local include=/usr/include/python3.11
    [ -e $include/internal/pycore_frame.h ] || skip "no headers of CPython 3.11"
    command -v gcc >/dev/null || skip "no gcc here"
    # prose: off (C)
    cat >offsets.c <<'END'
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#include "agent/sampler/python_layout.h"
#define CHECK(name, structure, member, offset)                                                    \
    _Static_assert(offsetof(structure, member) == (offset), #structure "." #member);
AS_PYTHON_LAYOUT(CHECK)
_Static_assert(sizeof(PyASCIIObject) == AS_PYTHON_ASCII_B, "ASCII");
_Static_assert(sizeof(PyCompactUnicodeObject) == AS_PYTHON_COMPACT_B, "compact");
_Static_assert(sizeof(_PyInterpreterFrame) == AS_PYTHON_FRAME_B, "frame");
_Static_assert(sizeof(_PyCFrame) == AS_PYTHON_CFRAME_B, "cframe");
END
    # prose: on
    gcc -w -fsyntax-only -I"$SOURCE" -I$include -I$include/internal offsets.c
    sed 's/AS_PYTHON_FRAME_B, "frame"/AS_PYTHON_FRAME_B + 8, "frame"/' offsets.c >wrong.c
    never gcc -w -fsyntax-only -I"$SOURCE" -I$include -I$include/internal wrong.c 2>/dev/null
}
