# SPDX-License-Identifier: Apache-2.0
# Names of a run after its files were replaced, deleted or overwritten, during the recording or
# before they are read. Names are those of the files that ran, or are missing. They never come from
# another file.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    # Burns CPU time in MINE. First it burns for a while, so that all mappings are seen. It burns
    # again after the requested change of its files.
    cat >prog.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sink;
static int cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}
__attribute__((noinline)) void MINE(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}
static void spend(void (*burn)(unsigned long), int ms)
{
    for (int end = cpu_ms() + ms; cpu_ms() < end;)
        burn(500000);
}
static void use(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW);
    void (*burn)(unsigned long) = handle ? (void (*)(unsigned long))dlsym(handle, "in_library") : NULL;
    if (!burn)
        exit(3);
    spend(burn, 600);
    dlclose(handle);
    if (unlink(library) < 0)
        exit(4);
}
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "library") == 0) {
        use("./library.so");
        return 0;
    }
    spend(MINE, 400);
    if (strcmp(how, "unlink") == 0 && unlink(argv[0]) < 0)
        return 3;
    if (strcmp(how, "replace") == 0 && rename("new", argv[0]) < 0)
        return 3;
    if (strcmp(how, "unlink") == 0 && fork() == 0)
        how = "child";
    spend(MINE, 400);
    if (strcmp(how, "unlink") == 0)
        wait(NULL);
    return 0;
}
END
    echo 'volatile unsigned long there;
__attribute__((noinline)) void in_library(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        there += i;
}' >library.c
    for id in none sha1; do
        gcc -O1 -g -Wl,--build-id=$id -DMINE=guilty -o prog-$id prog.c
        gcc -O1 -g -Wl,--build-id=$id -DMINE=innocent -o new-$id prog.c
        gcc -O1 -g -Wl,--build-id=$id -shared -fPIC -o library-$id library.c
    done
}
setup() {
    load common.bash
    rm -rf ./*.assay prog new tmp library.so perf.data ran gate
    mkdir -p tmp
    export TMPDIR=$PWD/tmp
}

teardown() {
    [ -z "$ELSEWHERE" ] || rm -rf "$ELSEWHERE"
    [ -z "$killed" ] || kill -KILL "$killed" 2>/dev/null || true
    go_on
}

# made BUILD_ID: ./prog, which burns in guilty, ./new, which burns in innocent, and ./library.so.
made() {
    rm -f prog new library.so
    cp "$BATS_FILE_TMPDIR/prog-$1" prog
    cp "$BATS_FILE_TMPDIR/new-$1" new
    cp "$BATS_FILE_TMPDIR/library-$1" library.so
}
query() { "$ASSAY" query --format csv x.assay "$(echo "$1" | tr '\n' ' ')" | tail -n +2; }
# share FUNCTION: of the time outside the kernel, which includes other work of the host.
share() {
    query "SELECT coalesce(round(100 * sum(iif(name = '$1', exclusive_pct, 0)) / sum(exclusive_pct)), 0)
           FROM v_functions WHERE coalesce(module, '') <> '[kernel]'"
}
flags() { query "SELECT count(*) FROM flag WHERE name = '$1'"; }

# mostly FUNCTION: its time is nearly all there is, and another file gave no names.
mostly() {
    [ "$(share "$1")" -ge 90 ] || fails "$1 has $(share "$1") %" "$(query "SELECT name, exclusive_pct FROM v_functions LIMIT 5")"
    equal 0 "$(query "SELECT count(*) FROM v_functions WHERE name = 'innocent'")"
    equal 0 "$(flags no_file)"
}
# nameless: no names of another file, and it is said.
nameless() {
    equal 0 "$(query "SELECT count(*) FROM v_functions WHERE name IN ('innocent', 'guilty')")"
    equal 1 "$(flags no_file)"
    [ "$(share '[unknown]')" -ge 90 ] ||
        fails "unnamed: $(share '[unknown]') %" "$(query "SELECT name, module, exclusive_pct FROM v_functions LIMIT 5")"
}

# with EVENT COMMAND...: into x.assay; skipped where there are no such events.
with() {
    local event=$1
    shift
    rm -rf x.assay
    "$ASSAY" profile -q -o x.assay --event "$event" -- "$@" 2>err ||
        { [ "$event" = cpu-clock ] && grep -q perf_event_paranoid err && skip "perf events are refused here"; } ||
        fails "$(cat err)"
    [ "$(query "SELECT event FROM v_runs")" = "$event" ] || skip "perf events are refused here"
}

replaced() {
    made "$2"
    with "$1" ./prog replace
    mostly guilty
    equal 1 "$(query "SELECT count(*) FROM module WHERE path LIKE '%/prog' AND kept_path NOT NULL")"
}
@test "identity: a program that is replaced while it runs, by timers" { replaced timer sha1; }
@test "identity: a replaced program without a build-id, by timers" { replaced timer none; }
@test "identity: a replaced program, by perf events" { replaced cpu-clock sha1; }
@test "identity: a replaced program without a build-id, by perf events" { replaced cpu-clock none; }

unlinked() {
    made "$2"
    with "$1" ./prog unlink
    mostly guilty
    equal 1 "$(query "SELECT count(*) FROM v_modules WHERE path LIKE '%/prog%'")"
    # One copy, of what has samples and is gone.
    equal "$(ls x.assay/run-001/module-*)" "x.assay/$(query "SELECT kept_path FROM module WHERE kept_path NOT NULL")"
}
@test "identity: a program that deletes itself and forks, by timers" { unlinked timer none; }
@test "identity: a program that deletes itself and forks, by perf events" {
    unlinked cpu-clock none
    unlinked cpu-clock sha1
}

library() {
    made "$2"
    with "$1" ./prog library
    mostly in_library
}
@test "identity: a library that is deleted after dlclose, by timers" {
    library timer none
    library timer sha1
}
@test "identity: a library that is deleted after dlclose, by perf events" {
    library cpu-clock none
    library cpu-clock sha1
}

@test "identity: a stripped program that deletes itself" {
    made none
    strip prog
    with timer ./prog unlink
    equal 0 "$(flags no_file)"
    [ "$(query "SELECT round(sum(exclusive_pct)) FROM v_functions WHERE name GLOB 'func_*'")" -ge 90 ]
}

@test "identity: to a user without rights" {
    [ "$(id -u)" = 0 ] || skip "only root can become another user"
    command -v setpriv >/dev/null || skip "no setpriv here"
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    ELSEWHERE=$(mktemp -d /tmp/assay-identity-XXXXXX) # those above bats's own are closed to others
    cd "$ELSEWHERE"
    chmod 777 .
    nobody test -x "$ASSAY" || skip "another user cannot come to $ASSAY"
    for how in unlink replace library; do
        made none
        rm -rf x.assay
        TMPDIR=$ELSEWHERE nobody "$ASSAY" profile -q -o x.assay --event timer -- ./prog $how
        if [ $how = library ]; then mostly in_library; else mostly guilty; fi
    done
}

# ran_and_killed: ./prog has run into x.assay. assay was killed while the shell that started it
# waited idly for a write by go_on.
ran_and_killed() {
    rm -rf x.assay ran gate
    mkfifo gate
    exec {gate}<>gate
    "$ASSAY" profile -q -o x.assay --event timer -- \
        sh -c './prog & wait; echo done >ran; read -r line <gate' 3>&- {gate}>&- &
    killed=$!
    until_so test -e ran
    after_flush "$killed"
    kill -KILL "$killed"
    wait "$killed" || true
    killed=
    go_on
}
go_on() {
    [ -n "$gate" ] || return 0
    echo >&"$gate"
    exec {gate}>&-
    gate=
}
# A file that was not copied before the kill is not replaced by the present file of that name.
@test "identity: read after a kill, when another file has its name" {
    for id in none sha1; do
        made $id
        ran_and_killed
        mv new prog
        "$ASSAY" attribute -q x.assay
        nameless
    done
}
@test "identity: read after a kill, when the file has been written over" {
    made none
    ran_and_killed
    cat new >prog
    "$ASSAY" attribute -q x.assay
    nameless
}

# recorded HOW BUILD_ID OPTION...: by perf, into perf.data; HOW the file was replaced, if it was.
recorded() {
    local how=$1 id=$2
    shift 2
    command -v perf >/dev/null || skip "no perf here"
    made "$id"
    perf record -q "$@" -o perf.data ./prog "$how" >piped 2>err || skip "perf may not sample here"
    [ ! -s piped ] || mv piped perf.data
    case $how in
    after) mv new prog ;;
    over) cat new >prog ;;
    esac
    rm -rf x.assay
    "$ASSAY" import -q -o x.assay perf.data
}
# Without build-ids: -B -N keeps them out of the file, and what goes to a pipe has none.
@test "identity: perf.data without build-ids, of the file that ran" {
    for id in none sha1; do
        recorded not $id -B -N
        mostly guilty
    done
}
@test "identity: perf.data without build-ids, of a file that was replaced" {
    for how in replace after over; do
        recorded $how sha1 -B -N
        nameless
        recorded $how none
        nameless
    done
}
@test "identity: perf.data from a pipe, of a file that was replaced" {
    command -v perf >/dev/null || skip "no perf here"
    for how in not replace after; do
        made sha1
        perf record -q -o - ./prog $how >perf.data 2>err || skip "perf may not sample here"
        [ $how != after ] || mv new prog
        rm -rf x.assay
        "$ASSAY" import -q -o x.assay perf.data
        if [ $how = not ]; then mostly guilty; else nameless; fi
    done
}
# perf reads build-ids when it ends, at the paths: that of the new file, then.
@test "identity: perf.data with the build-id of the file that came in its place" {
    recorded replace sha1
    nameless
}

# Loops and values of hot code are of the copy.
@test "identity: hot code is read from the copy" {
    made none
    rm -rf x.assay
    "$ASSAY" run -q -o x.assay --event timer -- ./prog replace
    mostly guilty
    equal 0 "$(flags code_not_read)"
    [ "$(query "SELECT count(*) FROM v_values v JOIN loop l ON l.loop_id = v.object_id AND
        v.object_kind = 'loop' JOIN function f USING (function_id)
        WHERE v.metric = 'flow_paths' AND f.name = 'guilty'")" -ge 1 ]
}
