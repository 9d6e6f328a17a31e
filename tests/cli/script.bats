# SPDX-License-Identifier: Apache-2.0
# assay script: what scripts see is what the verbs say; mistakes, limits, and what they may not do.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >kernels.c <<'EOC'
void daxpy(double *restrict y, const double *restrict x, double a, long n)
{
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}
double horner(const double *a, double x, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * x + a[i];
    return s;
}
__attribute__((noinline)) int step(int x)
{
    __asm__ volatile("");
    return x + 1;
}
int calls(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += step(s);
    return s;
}
double nest(const double *a, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            s += a[i * n + j];
    return s;
}
long choose(const long *a, long n)
{
    long s = 0;
    for (long i = 0; i < n; i++) {
        if (a[i] & 1)
            __asm__ volatile("nop");
        s += a[i];
    }
    return s;
}
EOC
    cat >burn.c <<'EOC'
static volatile double sink;
int main(void)
{
    for (long i = 0; i < 100000000; i++)
        sink = sink * 0.5 + 1;
    return 0;
}
EOC
    gcc -g -O1 burn.c -o program
    gcc -g -O1 -shared -fPIC kernels.c -o scalar.so
    gcc -g -O3 -mavx2 -mfma -ffast-math -fno-builtin -shared -fPIC kernels.c -o vector.so
}
setup() {
    load common.bash
    core="--machine zen5"
}

# The script on standard input over the words.
script() {
    cat >own.lua
    # shellcheck disable=SC2086
    "$ASSAY" script own.lua $core "$@" 2>err
}
# mistake STATUS PATTERN [WORD...]: the script on standard input ends so.
mistake() {
    local want=$1 sentence=$2 status=0
    shift 2
    script "$@" >out || status=$?
    equal "$want" "$status"
    like "$sentence" "$(cat err)"
    equal 1 "$(wc -l <err)"
}

@test "every field of every kind gives what the list says" {
    for file in scalar.so vector.so; do
        # shellcheck disable=SC2086
        equal checked "$("$ASSAY" script $core "$SCRIPTS/fields.lua" $file)"
    done
}
@test "the page lists the names that there are" {
    "$ASSAY" script "$SCRIPT_DOC" | sed '$d' >names
    [ "$(wc -l <names)" -gt 150 ]
    sed -n '/^### assay$/,$p' "$SCRIPT_PAGE" | diff names -
}
@test "loops are those of assay loops" {
    script vector.so >got <<'EOL'
for _, l in ipairs(assay.subject.loops) do
    print(l.id, ("0x%x"):format(l.address), l.func.name, l.level, l.depth, l.instruction_n, l.path_n,
          l.role, l.parent and l.parent.id, l.first_line, l.last_line, l.entry_n, l.exit_n, l.unroll)
    assert(#l.blocks > 0 and #l.instructions == l.instruction_n)
    for _, inner in ipairs(l.inner) do assert(inner.parent == l) end
    assert(l.header.loop == l and l.header.address == l.address)
end
EOL
    "$ASSAY" loops vector.so --format json | python3 -c "
import json, sys
for l in json.load(sys.stdin)['loops']:
    none = lambda v: 'nil' if v is None else v
    print(l['id'], l['address'], l['function'], l['level'], l['depth'], l['instructions'], l['paths'],
          l['role'], none(l['parent']), none(l['first_line']), none(l['last_line']), l['entries'],
          l['exits'], none(l['unroll']), sep='\t')" >want
    diff want got
    [ "$(wc -l <got)" -gt 5 ]
}
@test "instructions are those of assay disasm" {
    script scalar.so >got <<'EOL'
for _, i in ipairs(assay.subject:func("horner").instructions) do
    print(("0x%x"):format(i.address), i.text)
    assert(i.block.func.name == "horner" and assay.subject:instruction(i.address) == i)
end
EOL
    "$ASSAY" disasm scalar.so --function horner --format json | python3 -c "
import json, sys
for f in json.load(sys.stdin)['ranges']:
    for i in f['instructions']:
        print(i['address'], i['text'], sep='\t')" >want
    diff want got
}
@test "operands, memory and lines of an instruction" {
    script scalar.so >got <<'EOL'
for _, i in ipairs(assay.subject:func("daxpy").instructions) do
    if i.mnemonic == "mulsd" then
        local o, m = i.operands, i.memory[1]
        print(i.class, i.element, i.lanes, i.flops, i.is_packed, i.is_scalar, i.line, #o,
              o[1].register, o[1].access, o[2].kind, m.base, m.index, m.scale, m.width_b, m.access)
    end
end
for _, i in ipairs(assay.subject:func("calls").instructions) do
    if i.class == "call" then print(i.callee and i.callee.name or i.target ~= nil) end
end
EOL
    like "mul	f64	1	1	false	true	4	2	xmm*	rw	memory	r*	r*	8	8	r" "$(head -n 1 got)"
}
@test "edges, dominators, streams and dependences" {
    script scalar.so >got <<'EOL'
local m = assay.subject
local nest = m:func("nest")
local backs = 0
for _, b in ipairs(nest.blocks) do
    for _, e in ipairs(b.successors) do
        backs = backs + (e.is_back and 1 or 0)
        local found = false
        for _, p in ipairs(e.to.predecessors) do found = found or p.from == b end
        assert(found and e.from == b)
    end
    assert(b == nest.entry or b.is_unreached or b.dominator)
end
print(backs, #nest.loops)
local loop = m:func("horner").loops[1]
for _, s in ipairs(loop:streams()) do print(s.stride, s.stride_b, s.access, s.width_b) end
local carried = {}
for _, d in ipairs(loop:dependences()) do
    if d.distance == 1 and d.register and d.register:find("mm") then
        carried[#carried + 1] = d.from.mnemonic .. ">" .. d.to.mnemonic
    end
end
print(table.concat(carried, " "))
EOL
    equal "2	2
unit	8	r	8
addsd>mulsd" "$(cat got)"
}
@test "metrics and what-ifs are those of assay cqa, cycles those of assay predict" {
    for file in scalar.so vector.so; do
        "$ASSAY" cqa $file --machine zen5 --level expert --format json >cqa.json
        "$ASSAY" predict $file --machine zen5 --loop 0 --format json >predict.json
        script $file >got <<'EOL'
for _, loop in ipairs(assay.subject.loops) do
    if #loop.inner == 0 then
        local q = loop:quality()
        for name, value in pairs(q.metrics) do
            assay.printf("%d %s %.17g\n", loop.id, name, value)
        end
        for name, it in pairs(q.what_ifs) do
            if it.applies then assay.printf("%d %s.speedup %.17g\n", loop.id, name, it.speedup) end
        end
    end
end
assay.printf("predict %.17g\n", assay.subject:loop(0):predict().cycles)
EOL
        python3 "$CHECK_SCRIPT" cqa.json predict.json got
    done
}
@test "an experiment's rows, metrics and code" {
    "$ASSAY" profile -q -o x.assay -- ./program >/dev/null
    script x.assay >got <<'EOL'
local e = assay.subject
print(#e.runs, e.runs[1].run_id, e.path)
for _, row in ipairs(e:query("SELECT run_id, state FROM v_runs WHERE run_id = ?1", 1)) do
    print(row.run_id, row.state)
end
local n = 0
for row in e:rows("SELECT name FROM metric ORDER BY name LIMIT ?1", 3) do n = n + 1 end
local id = e:query("SELECT module_id FROM module WHERE path LIKE ?1", "%/program")[1].module_id
print(n, e:module(id):func("main").name, e:module(id) == e:module(id))
EOL
    equal "1	1	x.assay
1	$("$ASSAY" query x.assay "SELECT state FROM v_runs" --format csv | tail -n 1)
3	main	true" "$(cat got)"
    mistake 2 'assay: own.lua:1: *SELECT*' x.assay <<<'assay.subject:query("DELETE FROM run")'
    mistake 2 'assay: own.lua:1: *no loop of the experiment*' x.assay <<<'assay.subject:loop(99999)'
    mistake 2 "assay: own.lua:1: no metric is called 'q'*" x.assay <<<'assay.subject:metric("q")'
}
@test "the examples run" {
    # shellcheck disable=SC2086
    run() { "$ASSAY" script "$EXAMPLE_SCRIPTS/$1.lua" $core "${@:2}"; }
    run loops-with-calls scalar.so >got
    like "* calls *kernels.c:2[01]  *" "$(head -n 1 got)"
    equal "1 of 6 loops call" "$(tail -n 1 got)"
    run vector-ratio scalar.so 1 >got
    like "  0.0 %  of * " "$(cat got) "
    run vector-ratio vector.so >got
    grep -q '^ *[1-9][0-9.]* %  of .* daxpy$' got
    run chains scalar.so >got
    grep -q '^loop [0-9]* in horner: 6.00 cycles, ' got
    equal 1 "$(grep -c mulsd got)"
    "$ASSAY" profile -q -o hot.assay -- ./program >/dev/null
    run hottest hot.assay 5 >got
    like "* s  main  *.?? cycles, limited by *" "$(head -n 1 got)"
    for script in "$EXAMPLE_SCRIPTS"/*.lua; do
        grep -q "run $(basename "$script" .lua) \|script .*/$(basename "$script")" \
            "$BATS_TEST_DIRNAME"/*.bats || fails "no test runs $script"
    done
}
@test "a mistake is reported with file and line, status 2" {
    mistake 2 "assay: own.lua:2: oh" <<<'local x
error("oh")'
    mistake 2 "assay: own.lua:1: unexpected symbol near '='" <<<'x = = 1'
    mistake 2 "assay: own.lua:1: a module has no field 'lops'; did you mean 'loops'?" scalar.so \
        <<<'print(assay.subject.lops)'
    mistake 2 "assay: own.lua:1: a loop cannot be changed" scalar.so \
        <<<'assay.subject.loops[1].id = 3'
    mistake 2 "assay: own.lua:1: bad argument #1 to 'loop' (no loop has this number)" scalar.so \
        <<<'assay.subject:loop(99)'
    mistake 2 "assay: own.lua:1: bad argument #1 to 'quality' (the loop has no path*" scalar.so \
        <<<'assay.subject:loop(0):quality(99)'
    mistake 2 "assay: own.lua:1: bad argument #1 to 'streams' (loop expected, got table)" scalar.so \
        <<<'local streams = assay.subject:loop(0).streams; streams({})'
    mistake 2 "assay: own.lua:2: nothing" <<<'#!/usr/bin/env -S assay script
error(setmetatable({}, {__tostring = function() return "own.lua:2: nothing" end}))'
    mistake 2 "assay: nothere: no such file*" nothere <<<'print(1)'
    status=0
    "$ASSAY" script nothere.lua 2>err || status=$?
    equal 2 $status
    like "assay: nothere.lua: the script is missing*" "$(cat err)"
    mistake 2 "assay: --format: *" --format json <<<'print(1)'
}
@test "results and arguments of a script" {
    mistake 1 "" <<<'return false' || [ ! -s err ]
    script scalar.so one two <<<'print(table.concat(assay.arguments, " ")); return true' >got
    equal "one two" "$(cat got)"
    "$ASSAY" script own.lua scalar.so a --output file
    equal a "$(cat file)"
}
@test "a runaway script stops, also one that catches errors" {
    mistake 1 "assay: own.lua:1: stopped: it ran for 1 s; --time-limit allows more" --time-limit 1 \
        <<<'while true do end'
    mistake 1 "assay: own.lua:1: stopped: *" --time-limit 1 \
        <<<'while true do pcall(function() while true do end end) end'
    mistake 1 "assay: own.lua:1: stopped: *" --time-limit 1 \
        <<<'while true do coroutine.wrap(pcall)(function() while true do end end) end'
    mistake 1 "assay: own.lua:2: stopped: its values take more than 20 MiB; *" --memory-limit 20 \
        <<<'local t = {}
for i = 1, 1e9 do t[i] = ("x"):rep(1000) .. i end'
    mistake 1 "assay: script: stopped: a call exceeded *" --time-limit 1 \
        <<<'string.find(("a"):rep(100000), ".-.-.-.-.-b")'
}
@test "SQL of a script has the limits of the script" {
    endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    [ -d sql.assay ] || "$MAKE_EXPERIMENT" sql.assay
    cat >sql.lua <<EOL
local e = assay.subject
for i = 1, 3 do pcall(e.query, e, assay.arguments[1]) end
EOL
    for sql in "SELECT randomblob(9000) AS b FROM n ORDER BY b" "SELECT max(i) FROM n"; do
        run "$ASSAY" script sql.lua sql.assay "$endless $sql" --time-limit 2 --memory-limit 64
        equal 1 "$status"
        like "assay: sql.lua:2: stopped: *" "$output"
    done
    run "$ASSAY" script sql.lua sql.assay "SELECT 1" --time-limit 100 --memory-limit 64
    equal 0 "$status"
}
@test "SQL of a script reaches no memory of the process" {
    [ -d sql.assay ] || "$MAKE_EXPERIMENT" sql.assay
    cat >tokens.lua <<'EOL'
local e = assay.subject
for _, sql in ipairs{"SELECT fts3_tokenizer('simple', X'4141414141414141')",
                     "SELECT token FROM fts3tokenize('x')"} do
    print((pcall(e.query, e, sql)))
end
EOL
    run "$ASSAY" script tokens.lua sql.assay
    equal 0 "$status"
    equal "$(printf 'false\nfalse')" "$output"
}
@test "Ctrl-C ends a script" {
    echo 'print("begun") while true do end' >endless.lua
    # A background process of a script ignores SIGINT; this child of python's does not.
    python3 - "$ASSAY" <<'EOP'
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen([sys.argv[1], "script", "endless.lua"], stderr=subprocess.PIPE,
                     stdout=subprocess.DEVNULL)
while not any("SigCgt" in l and int(l.split()[1], 16) >> (signal.SIGINT - 1) & 1
              for l in open(f"/proc/{p.pid}/status")):
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
err = p.communicate(timeout=300)[1].decode()
assert p.returncode == 130 and "endless.lua:1: interrupted" in err, (p.returncode, err)
EOP
}
@test "a script reaches nothing outside unless it is trusted" {
    script <<<'print(io.open, io.popen, os.execute, os.getenv, os.remove, package, debug, dofile,
                     loadfile, string.dump, load("\27Lua"))' >got
    equal "nil	nil	nil	nil	nil	nil	nil	nil	nil	nil	nil	attempt to load a binary chunk (mode is 't')" \
        "$(cat got)"
    script --trusted <<<'print(type(io.open), type(os.getenv), type(debug.traceback))' >got
    equal "function	function	function" "$(cat got)"
    mkdir -p parts
    echo 'return {name = "part"}' >parts/one.lua
    script <<<'print(require("parts.one").name, require("parts.one") == require("parts.one"))' >got
    equal "part	true" "$(cat got)"
    for name in ../x /etc/passwd .x x..y x. 'a\\b'; do
        mistake 2 "assay: own.lua:1: require: *is no name of a part*" <<<"require('$name')"
    done
    script <<<'print(load("return x", "c", "t", {x = 7})(), load("return x", "c", "t", nil) ~= nil)' >got
    equal "7	true" "$(cat got)"
}
@test "the name of a binary does not drive the terminal" {
    script <<<'print("\27[31mred")' >got
    equal '\x1b[31mred' "$(cat got)"
}
