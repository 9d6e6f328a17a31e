# SPDX-License-Identifier: Apache-2.0
# assay try as a user runs it. Gains are never asserted: the host of the test may be busy. Tests
# that record are skipped if runs cannot be recorded.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    mkdir -p src
    cat >src/work.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile double sink;
/* work HOW: what it does when it finds LD_BIND_NOW in its environment, as one candidate has it */
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int is_tried = getenv("LD_BIND_NOW") != NULL;
    double sum = 0;
    for (int i = 0; i < 3000000; i++)
        sum += i * 0.5;
    sink = sum;
    if (strcmp(how, "touch") == 0)
        fclose(fopen("was-here", "w"));
    if (is_tried && strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (is_tried && strcmp(how, "fail") == 0) {
        fprintf(stderr, "cannot go on\n");
        return 7;
    }
    if (is_tried && strcmp(how, "hang") == 0) {
        if (fork() == 0)
            execlp("sleep", "sleep", getenv("NAP"), (char *)NULL);
        pause();
    }
    if (is_tried && strcmp(how, "digit") == 0)
        sum *= 1.000000001;
    if (is_tried && strcmp(how, "other") == 0)
        sum = 1;
    printf("sum %.15g\n", sum);
    if (strcmp(how, "wild") == 0) { /* a word more each time */
        FILE *ran = fopen("ran", "a");
        fputc('.', ran);
        for (long n = ftell(ran); n; n--)
            printf("word\n");
        fclose(ran);
    }
    for (int i = 0; strcmp(how, "slow") == 0 && i < 100000000; i++)
        sink += 1;
    return strcmp(how, "never") == 0;
}
END
    cat >src/Makefile <<'END'
CFLAGS = -O1 -g
work: work.o
	$(CC) $(CFLAGS) -o $@ $^
work.o: work.c
	$(CC) $(CFLAGS) -c -o $@ $<
END
    gcc -O1 -g -o work src/work.c
    make -s -C src
    if ! "$ASSAY" profile -q -o probe.assay -- ./work >/dev/null 2>probe.err; then
        cat probe.err >&2
        touch refused
    fi
}
setup() {
    load common.bash
    rm -rf ./*.assay copy elsewhere was-here ran tmp
    mkdir tmp
    export NAP=976.$$ # so long sleeps nobody else
    export TMPDIR=$PWD/tmp
    unset LD_BIND_NOW MAKEFLAGS
}

records() { [ ! -e refused ] || skip "no run can be recorded here: $(cat probe.err)"; }
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }
words() { tr '\n' ' ' | sed 's/ $//'; }

# tries ARGUMENT...: out and err; something gains, or nothing
tries() {
    local status=0 made
    "$ASSAY" try "$@" >out 2>err </dev/null || status=$?
    case $status in 0 | 3 | 4) ;; *) fails "status $status" "$(cat err)" ;; esac
    made=$(printf '%s\n' "$@" | grep 'x[.]assay$')
    [ "$status" != 0 ] || equal 1 "$(query "$made" "SELECT count(*) > 0 FROM v_tries WHERE verdict = 'gain'")"
    [ -z "$(ls "$TMPDIR")" ] || fails "left behind: $(ls "$TMPDIR")"
}

# tries_until TEXT ARGUMENT...: the same, ended by Ctrl-C when TEXT is on standard error. It serves
# checks that do not depend on the final verdicts, so the budget can be large for busy hosts.
tries_until() {
    local status=0 pid text=$1
    shift
    : >err # what an earlier one said is not waited for: the shell goes on before its child opens it
    setsid env --default-signal=INT "$ASSAY" try --budget 600 "$@" >out 2>err </dev/null &
    pid=$!
    said_or_over() { grep -q "$1" err || ! kill -0 "$2" 2>/dev/null; }
    until_so said_or_over "$text" "$pid"
    kill -INT -- "-$pid" 2>/dev/null || true
    wait "$pid" || status=$?
    case $status in 0 | 3 | 4 | 130) ;; *) fails "status $status" "$(cat err)" ;; esac
    [ -z "$(ls "$TMPDIR")" ] || fails "left behind: $(ls "$TMPDIR")"
}

nobody_naps() { ! pgrep -f "sleep $NAP\$" >/dev/null; }

# Sets variables to the values of tries, because a value that is set already is not tried. Only
# bind_now and installed libraries are left of the environment.
bind_now_alone() {
    export MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_MMAP_MAX_=0 MALLOC_TOP_PAD_=67108864
    export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
}

# refused STATUS SENTENCE ARGUMENT...: one sentence, and nothing is left behind
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" "$@" >out 2>err </dev/null || status=$?
    like "$want" "$(grep -v '^assay: build 1 of 1: base$' err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
    [ -z "$(ls -d ./*.assay 2>/dev/null)" ] || fails "left behind: $(ls -d ./*.assay)"
    [ -z "$(ls "$TMPDIR")" ] || fails "left behind: $(ls "$TMPDIR")"
}

@test "try: a campaign that decides nothing has a status of its own" {
    records
    local status=0
    tries_until 'round 1, ' --what env -o x.assay -- ./work
    "$ASSAY" try --read x.assay >out 2>err || status=$?
    equal 4 "$status"
    like "Nothing is decided: * of * settings ran; *set a longer --budget*" "$(cat out)"
}

@test "try: runs in turns, rows, labels and what to type" {
    records
    tries_until 'round 6' --what env -o x.assay -- ./work
    # Beside other load nothing may be decided, and the first line says so.
    like "*[0-9] ways*; the unchanged program takes * s, *time*interval*runs*verdict*what*bind_now*" "$(cat out)"
    like "*round 1, * in it, at most * s left: base*" "$(cat err)"
    [ "$(awk '{ if (length > 80) n++ } END { print n + 0 }' out)" = 0 ] || fails "wider than 80 columns"
    # Base begins and ends each round; the others are between, in one order.
    equal "main base" "$(query x.assay "SELECT role, label FROM run WHERE run_id = 1" | tr , ' ')"
    equal "base" "$(query x.assay "SELECT label FROM run WHERE run_id = 2")"
    query x.assay "SELECT label FROM run WHERE run_id > 1 ORDER BY run_id" >order
    python3 - <<'END'
labels = open("order").read().split()
rounds = " ".join(labels).split("base")
assert rounds[0] == "" and len(rounds) > 4, labels
first = rounds[1].split()
assert first and len(first) == len(set(first))
for later in rounds[2:]:
    assert [name for name in first if name in later.split()] == later.split()
END
    equal "LD_BIND_NOW=1 ./work" "$(query x.assay "SELECT command FROM v_tries WHERE name = 'bind_now'")"
    equal "0" "$(query x.assay "SELECT count(*) FROM v_tries WHERE n >= 4 AND (ratio_low > ratio OR ratio > ratio_high OR result <> 'same results')")"
    equal "env:LD_BIND_NOW=1" \
        "$(query x.assay "SELECT DISTINCT name || '=' || value FROM run_setting JOIN run USING (run_id) WHERE label = 'bind_now'")"
    # The run that is shown is the unchanged program.
    like "*run 1*" "$("$ASSAY" show x.assay --format json | head -40 | tr -d '" ' | sed 's/run_id:/run /')"
    status=0
    "$ASSAY" try --read x.assay --format json >json || status=$?
    python3 - <<'END'
import json
tries = json.load(open("json"))["tries"]
assert [t["rank"] for t in tries] == list(range(1, len(tries) + 1))
for t in tries:
    assert t["verdict"] in "open gain harm none same unbuilt failed hung differs unrun".split()
    if t["verdict"] == "gain":
        assert t["ratio_high"] < 1
    if t["verdict"] == "harm":
        assert t["ratio_low"] > 1
END
    "$ASSAY" try --read x.assay --format csv >csv || true
    like "name,title,what,verdict,said,n,*" "$(head -1 csv)"
    like "*rank*verdict*time*bind_now*" "$("$ASSAY" show x.assay --view tries)"
    like "*A*B*" "$("$ASSAY" compare x.assay:base x.assay:bind_now)"
}
@test "try: a candidate that crashes, fails, hangs or gives other results is a row of its own" {
    records
    bind_now_alone
    for how in "crash failed" "fail failed" "hang hung" "other -" "digit -"; do
        set -- $how
        # A variant with other results is known to have no gain after four runs of all.
        if [ "$1" = other ]; then
            tries_until 'round 6' --what env --force -o x.assay -- ./work "$1"
        else
            tries_until 'round 2' --what env --force -o x.assay -- ./work "$1"
        fi
        row=$(query x.assay "SELECT verdict, ifnull(said, ''), ifnull(result, '') FROM v_tries WHERE name = 'bind_now'")
        case $1 in
        crash) like "failed,was killed by signal 11*" "$row" ;;
        fail) like "failed,ended with exit status 7: cannot go on,*" "$row" ;;
        hang)
            like "hung,ended after * s*" "$row"
            until_so nobody_naps
            ;;
        other)
            like "*results differ in the 1st digit*" "$row"
            equal 0 "$(query x.assay "SELECT count(*) FROM v_tries WHERE name = 'bind_now' AND verdict = 'gain'")"
            ;;
        digit) like "*results differ in the 10th digit*" "$row" ;;
        esac
    done
}
@test "try: --same-output, --tolerance, --check, output that differs by itself" {
    records
    tries_until 'round 6' --what env --same-output -o x.assay -- ./work digit
    equal 0 "$(query x.assay "SELECT count(*) FROM v_tries WHERE name = 'bind_now' AND verdict = 'gain'")"
    tries_until 'round 2' --what env --force -o x.assay -- ./work wild
    equal "results not compared" "$(query x.assay "SELECT DISTINCT result FROM v_tries WHERE n > 0")"
    tries_until 'round 2' --what env --check 'grep -q sum "$ASSAY_OUTPUT" && echo "no good" && [ -z "$LD_BIND_NOW" ] && ! grep -q "^sum 1$" "$ASSAY_OUTPUT"' \
        --force -o x.assay -- ./work other
    equal "results differ: the check failed: no good" "$(query x.assay "SELECT result FROM v_tries WHERE name = 'bind_now'")"
}
@test "try: a check that refuses the unchanged program, or hangs" {
    records
    local status=0
    "$ASSAY" try --what env --budget 600 -o x.assay --check 'echo no good; false' -- ./work >out 2>err || status=$?
    equal 2 "$status"
    like "*assay: --check: 'echo no good; false' rejects the results of the unchanged program: no good; fix the check*" "$(cat err)"
    rm -rf x.assay
    bind_now_alone
    tries_until 'round 2' --what env -o x.assay --check 'if grep -q "^sum 1$" "$ASSAY_OUTPUT"; then sleep "$NAP"; fi' -- ./work other
    like "results differ: the check was stopped after * s" "$(query x.assay "SELECT result FROM v_tries WHERE name = 'bind_now'")"
    until_so nobody_naps
}
@test "try: --add tries what the findings of an experiment ask for" {
    records
    local status
    refused 2 "assay: --add: no experiment named*" try --add -- ./work
    "$ASSAY" run -q -o x.assay -- ./work >/dev/null
    tries_until 'round 2' --add --what env -o x.assay
    like "*testing the findings of run 1: ./work*" "$(cat err)"
    equal "1 1" "$(query x.assay "SELECT min(run_id) || ' ' || max(run_id) FROM v_tries")"
    equal "1" "$(query x.assay "SELECT count(*) FROM run WHERE kind = 'profile'")"
    equal "base" "$(query x.assay "SELECT label FROM run WHERE run_id = 2")"
    rows=$(query x.assay "SELECT count(*) FROM v_tries")
    tries_until 'round 2' --add --what placement -o x.assay -- ./work
    equal 1 "$(query x.assay "SELECT count(*) > $rows AND count(*) = count(DISTINCT rank) FROM v_tries")"
    mkdir elsewhere
    cd elsewhere
    status=0
    "$ASSAY" try --add -o ../x.assay >out 2>err || status=$?
    equal 2 "$status"
    like "*assay: --add: the program ran in *; run assay there, or add its command after --" "$(cat err)"
}
@test "try: builds with flags in copies, never in the user's directory" {
    records
    (cd src && find . -type f -printf '%p %T@ %s\n' | sort) >before
    cd src
    tries_until 'round 2' --what flags --build 'make CFLAGS="-O1 -g {flags}"' -o ../x.assay -- ./work
    cd ..
    (cd src && find . -type f ! -name out ! -name err -printf '%p %T@ %s\n' | sort) >after
    equal "" "$(diff before after)"
    like "*build 1 of 1: base*build * of *: o3*" "$(cat src/err)"
    # The same code is not run, and what is run is another program.
    equal "0" "$(query x.assay "SELECT sum(n) FROM v_tries WHERE verdict = 'same'")"
    equal "1" "$(query x.assay "SELECT count(*) > 0 FROM v_tries WHERE verdict = 'same' AND said LIKE 'the same code as %'")"
    equal "make CFLAGS=\"-O1 -g -O3\" && ./work" "$(query x.assay "SELECT command FROM v_tries WHERE name = 'o3'" | sed 's/^"//; s/"$//; s/""/"/g')"
    # Sources are named as the user has them.
    equal "1" "$(query x.assay "SELECT count(*) > 0 FROM source_file WHERE path LIKE '%/src/work.c' AND path NOT LIKE '%assay-try%'")"
}
@test "try: a candidate that does not build is a row with its error" {
    records
    cd src
    tries_until 'round 2' --what flags --build 'case "{flags}" in *-O3*) echo "work.c:1: error: no O3 here" >&2; exit 1;; esac; make CFLAGS="-O1 -g {flags}"' \
        -o ../x.assay -- ./work
    cd ..
    equal "unbuilt,work.c:1: error: no O3 here" "$(query x.assay "SELECT verdict, said FROM v_tries WHERE name = 'o3'")"
}
@test "try: a program guided by its own profile is built in two steps" {
    records
    cd src
    tries_until 'round 2' --what flags --build 'make CFLAGS="-O1 -g {flags}"' -o ../x.assay -- ./work
    cd ..
    equal "0" "$(query x.assay "SELECT count(*) FROM v_tries WHERE name = 'profile_guided' AND verdict = 'unbuilt'")"
    like "make CFLAGS=*-fprofile-generate*./work && make it anew: make CFLAGS=*-fprofile-use*" \
        "$(query x.assay "SELECT command FROM v_tries WHERE name = 'profile_guided'" | sed 's/^"//; s/""/"/g')"
}
@test "try: builds that cannot be" {
    records
    cd src
    refused 2 "assay: --build: 'make' has no {flags}; add it to the compiler options*" \
        try --build make -- ./work
    refused 2 "assay: --build: 'no-such-compiler {flags} work.c' fails in a copy of *: *no-such-compiler*not found" \
        try --build 'no-such-compiler {flags} work.c' -- ./work
    refused 2 "assay: --build: 'true {flags}' does not build the program of the command*" \
        try --build 'true {flags}' -- ./work
    refused 2 "assay: --source: /no/such/place: No such file*" \
        try --source /no/such/place --build 'make {flags}' -- ./work
    truncate -s 10G large.bin
    refused 2 "assay: */src: 10.0 GiB in * files would be copied for each build; use --source*or --copy*" \
        try --build 'make CFLAGS="{flags}"' -- ./work
    rm large.bin
    cd ..
    refused 2 "assay: --what flags: the build command is missing; add --build*" try --what flags -- ./work
}
@test "try: a full disk is said, and nothing is left" {
    records
    unshare -m true 2>/dev/null || skip "no file system can be mounted here"
    head -c 300000 /dev/zero >src/data.bin
    status=0
    unshare -m sh -c 'mount -t tmpfs -o size=128k none tmp && cd src && "$ASSAY" try --build "make CFLAGS={flags}" \
        --budget 600 -o ../x.assay -- ./work >out 2>err; status=$?; ls ../tmp >left; exit $status' || status=$?
    rm src/data.bin
    equal 2 "$status"
    like "*fails in a copy of *: cannot be copied to: No space left on device; free some space, or set TMPDIR*" "$(cat src/err)"
    equal "" "$(cat src/left)"
    rm src/left
}
@test "try: --copy runs the program in a copy of its directory" {
    records
    mkdir copy
    cp work copy/
    cd copy
    tries_until 'round 2' --copy --what env -o ../x.assay -- ./work touch
    [ ! -e was-here ] || fails "it ran in the user's directory"
}
@test "try: Ctrl-C: what was measured stays and is shown" {
    records
    : >err
    setsid env --default-signal=INT "$ASSAY" try --what env --budget 600 -o x.assay -- ./work slow >out 2>err </dev/null &
    pid=$!
    until_so grep -q "round 2" err
    kill -INT -- "-$pid"
    status=0
    wait "$pid" || status=$?
    equal 130 "$status"
    like "*interval*runs*verdict*what*" "$(cat out)"
    like "*interrupted; *the experiment is x.assay*" "$(cat err)"
    equal 1 "$(query x.assay "SELECT max(n) >= 1 FROM v_tries")"
    [ -z "$(ls "$TMPDIR")" ] || fails "left behind: $(ls "$TMPDIR")"
}
@test "try: the budget ends it" {
    records
    tries --what env,placement --budget 6 -o x.assay -- ./work
    # At the end of the budget a run may be under way. The host and the build decide how long that
    # run and the output take, but no run begins then. Without a budget it would take a hundred
    # runs, and minutes.
    equal 1 "$(query x.assay "SELECT count(*) >= 1 AND max(start_ns) - min(start_ns) < 26e9 FROM run")"
    # Tries without time to run are listed in lines that fit.
    rm -rf x.assay
    tries --what env,placement --budget 0.01 -o x.assay -- ./work
    like "* not run: *'assay show EXP --view tries' lists them" "$(tr -s ' \n' ' ' <out | sed 's/ $//')"
    [ "$(wc -L <out)" -le 80 ] || fails "$(cat out)"
}
@test "try: a program that fails, is not there, or reads a pipe" {
    records
    status=0
    "$ASSAY" try --budget 600 -o x.assay -- ./work never >out 2>err </dev/null || status=$?
    equal 2 "$status"
    like "*assay: ./work: ended with exit status 1: sum*; nothing can be compared with it*" "$(cat err)"
    rm -rf x.assay
    refused 2 "assay: no-such-command: no such command*" try -- no-such-command
    status=0
    echo text | "$ASSAY" try -- ./work >out 2>err || status=$?
    equal 2 "$status"
    like "assay: standard input: a pipe *" "$(cat err)"
}
@test "try: wrong arguments" {
    refused 2 "assay: try: no command given*" try
    refused 2 "assay: --budget: invalid time 'soon'*" try --budget soon -- ./work
    refused 2 "assay: --tolerance: invalid value '2'; use a number from 0 to 1*" try --tolerance 2 -- ./work
    refused 2 "assay: --same-output, --tolerance and --check exclude*" try --same-output --check true -- ./work
    refused 2 "assay: --what: *" try --what luck -- ./work
    records
    "$ASSAY" profile -q -o plain.assay -- ./work >/dev/null
    status=0
    "$ASSAY" try --read plain.assay >out 2>err || status=$?
    equal 2 "$status"
    like "assay: plain.assay: has no trials*" "$(cat err)"
}
