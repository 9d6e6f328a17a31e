# SPDX-License-Identifier: Apache-2.0
# Named files: an output is written whole or not at all, and is not read. An input never blocks.

setup_file() {
    load common.bash
    build_program
    "$MAKE_EXPERIMENT" made.assay
}
listed() { find . -maxdepth 1 ! -name err ! -name out | sort; }
setup() {
    load common.bash
    rm -rf old exp.assay bin fifo
    echo old >old
    cp program bin
    cp -r made.assay exp.assay
    before=$(listed)
}
# refused ARGUMENT...: status 2, one sentence, nothing more in this directory
refused() {
    status=0
    timeout 60 "$ASSAY" "$@" >out 2>err </dev/null || status=$?
    equal 2 "$status" || fails "$*" "$(cat err)"
    equal 1 "$(wc -l <err)"
    [ -z "${before:-}" ] || equal "$before" "$(listed)"
}

make_trace() { # FILE
    echo '#Paraver (01/02/2020 at 10:20):1000_us:1(2):1:2(1:1,1:1),0'
    for i in $(seq 0 10 9000); do echo "1:1:1:1:1:$i:$((i + 9)):1"; done
} >"$1"

@test "an output that is an input is refused, with --force too" {
    for force in "" --force; do
        for command in "disasm bin -o bin" "cqa bin -o ./bin" "info -o bin program bin" "patch bin --plan bin" \
            "predict bin --loop 0 -o bin" "script old -o old"; do
            refused $command $force
        done
        ln bin hard
        before=
        refused functions hard -o bin $force
        rm hard
    done
    cmp bin program
    equal old "$(cat old)"
}
@test "two outputs may not be one file" {
    before=
    refused validate --blocks old --save new -o new
    like "assay: new: cannot be written: the command reads or writes it already; *" "$(cat err)"
    [ ! -e new ]
}
@test "files of an experiment are refused as output, its reports are not" {
    before=
    ln -sf exp.assay/experiment.db link
    for force in "" --force; do
        for file in exp.assay/experiment.db exp.assay/new link; do
            refused query exp.assay "SELECT 1" -o $file $force
            like "assay: $file: cannot be written: it is inside the experiment */exp.assay; *" "$(cat err)"
        done
        refused info bin -o exp.assay/experiment.db $force
    done
    rm link
    cmp exp.assay/experiment.db made.assay/experiment.db
    "$ASSAY" report exp.assay
    "$ASSAY" report exp.assay # which replaces its own
    "$ASSAY" report exp.assay --format text -o exp.assay/report.txt --force
    "$ASSAY" show exp.assay -o exp.assay/report-mine.txt
}
@test "a failing input costs no output and leaves none" {
    echo 'error("no")' >bad.lua
    before=$(listed)
    for command in "show none" "query none x" "cqa none" "predict none" "validate --binary none" \
        "validate --blocks none" "script bad.lua" "script none.lua" "patch none" "disasm none" "loops none" \
        "info none" "functions none" "cfg --function x none" "export none" "compare none none" \
        "export none --as speedscope" "export none --as pprof" "export none --as prv" "query exp.assay SELEC" \
        "info --format json none"; do
        refused $command -o old --force
        refused $command -o new
    done
    rm bad.lua
    equal old "$(cat old)"
}
@test "a file with content is replaced by --force alone" {
    refused info bin -o old
    refused report exp.assay -o old
    equal old "$(cat old)"
    for n in 1 2; do
        "$ASSAY" info bin -o old --force
        "$ASSAY" info bin | cmp - old
    done
    equal "$before" "$(listed)"
    : >old # as mktemp makes them
    "$ASSAY" info bin -o old
    [ -s old ]
    "$ASSAY" report exp.assay -o old --force
    grep -q '<html' old
}
@test "no verb replaces a file without --force" {
    before=
    printf 'id,hex,cycles\na,4801d8,1\n' >blocks.csv
    echo 'print(1)' >one.lua
    make_trace t.prv
    "$ASSAY" import -q t.prv -o t.assay >out
    for command in "functions bin" "disasm --function main bin" "loops bin" "patch bin" "cfg --function main bin" \
        "info bin" "predict --machine zen5 --function main bin" "validate --machine zen5 --blocks blocks.csv" \
        "cqa bin" "cqa --format html bin" "show exp.assay" "query exp.assay VALUES(1)" "export exp.assay" \
        "export exp.assay --as speedscope" "export exp.assay --as pprof" "compare exp.assay exp.assay" \
        "compare exp.assay exp.assay --format html" "machine" "script one.lua" "report exp.assay" \
        "report exp.assay --format csv"; do
        refused $command -o old
        like "assay: old: exists; use another name, or replace it with --force" "$(cat err)"
    done
    for command in "patch bin --plan" "validate --machine zen5 --blocks blocks.csv --save" "machine --export" \
        "trace --score t.assay --write-filter"; do
        refused $command old
        like "assay: old: exists; use another name, or replace it with --force" "$(cat err)"
    done
    for verb in profile run trace count vprof decan scale repeat try; do
        for name in exp.assay old; do
            refused $verb -o $name -- ./program
            like "assay: $name: exists*; use another name*" "$(cat err)"
        done
    done
    refused import t.prv -o t.assay
    refused merge exp.assay -o t.assay
    equal old "$(cat old)"
    # Traces and CSV are several files.
    for format in prv otf2 perfetto; do
        "$ASSAY" export -q t.assay --as $format -o new.$format
        refused export t.assay --as $format -o new.$format
        like "assay: new*: exists; use another name*" "$(cat err)"
    done
    mkdir csv
    "$ASSAY" report exp.assay --format csv -o csv >out
    refused report exp.assay --format csv -o csv
    like "assay: csv/report-csv/*.csv: exists; use another name, or replace it with --force" "$(cat err)"
    "$ASSAY" report exp.assay --format csv -o csv --force >out
    rm -rf blocks.csv one.lua t.prv t.assay csv new.*
}
@test "a partial result is a result" {
    status=0
    "$ASSAY" info bin none -o new 2>err || status=$?
    equal 2 "$status"
    grep -q '^bin' new
    rm new
}
@test "links are followed, devices are written" {
    ln -sf old to
    "$ASSAY" info bin -o to --force
    [ -L to ]
    "$ASSAY" info bin | cmp - old
    rm to
    "$ASSAY" info bin -o /dev/null
    "$ASSAY" info bin -o >(cat >piped)
    until_so [ -s piped ]
    "$ASSAY" info bin | cmp - piped
    "$ASSAY" info bin -o - | cmp - piped
    rm piped
}
@test "a trace for Paraver is three files or none" {
    before=
    echo mine >x.row
    refused export exp.assay --as prv -o x.prv
    like "assay: x.row: exists; *" "$(cat err)"
    equal mine "$(cat x.row)"
    [ ! -e x.prv ] && [ ! -e x.pcf ]
    rm x.row
}
@test "an input that would block is refused" {
    mkfifo fifo
    before=
    for file in fifo /dev/zero . none; do
        for command in "predict --hex-file $file" "validate --blocks $file" "machine --topology $file" \
            "cqa bin --opt-record $file" "predict --hex 90 --machine ./$file" "machine --diff $file $file" \
            "script $file" "info $file" "profile --categories $file -- true" "trace --filter $file -- true" \
            "import $file" "show $file" "validate --blocks old --against $file" "probe --check $file bin"; do
            refused $command
        done
    done
}
@test "a pipe that the command line names is read" {
    "$ASSAY" predict --machine zen5 --hex-file <(echo 1,90) >a
    echo 1,90 | "$ASSAY" predict --machine zen5 --hex-file - >b
    cmp a b
    equal 2 "$(wc -l <a)"
    rm a b
}
@test "a part of a script stays in the folder of the script" {
    before=
    mkdir -p in/lib elsewhere
    echo 'print(require("lib.part"))' >in/s.lua
    echo 'return 5' >in/lib/part.lua
    echo 'return 6' >elsewhere/part.lua
    equal 5 "$("$ASSAY" script in/s.lua)"
    ln -sf ../../elsewhere/part.lua in/lib/part.lua
    refused script in/s.lua
    like "*in/lib/part.lua: *a link, which is not followed here; *" "$(cat err)"
    rm -r in/lib
    ln -s ../elsewhere in/lib
    refused script in/s.lua
    rm -r in elsewhere
}
@test "a binary that is truncated while it is read ends in a sentence" {
    command -v gcc >/dev/null || skip "no gcc here"
    gcc -O1 -shared -fPIC -o truncates.so "$BATS_TEST_DIRNAME/truncates.c"
    before=
    for verb in functions loops cqa; do
        cp "$ASSAY" big
        status=0
        TRUNCATE=big LD_PRELOAD=$PWD/truncates.so \
            ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
            "$ASSAY" "$verb" big >out 2>err || status=$?
        equal 2 "$status"
        like "assay: big: *" "$(cat err)"
        equal 1 "$(grep -c '' err)"
        [ ! -s big ] || fails "it was not truncated"
    done
    rm -f big out err truncates.so
}
@test "an import that fails keeps what --force would replace" {
    before=
    make_trace t.prv
    gzip -c t.prv | head -c 600 >bad.prv.gz
    "$ASSAY" import -q t.prv -o p.assay >out
    cp -r p.assay kept
    refused import bad.prv.gz -o p.assay --force
    like "assay: bad.prv.gz:*: the compressed file ends early; *" "$(cat err)"
    cmp p.assay/experiment.db kept/experiment.db
    "$ASSAY" import -q t.prv -o p.assay --force --label again >out
    equal again "$("$ASSAY" query p.assay --format csv 'SELECT label FROM run' | tail -1)"
    equal "" "$(find . -name 'p.assay.*')"
    # A failed archive leaves no directory.
    mkdir locked
    "$ASSAY" export p.assay --as otf2 -o good.otf2
    echo 'x' >locked/file
    run "$ASSAY" export p.assay --as otf2 -o locked/file/a.otf2
    [ "$status" -ne 0 ]
    equal "file" "$(ls locked)"
    rm -rf t.prv bad.prv.gz p.assay kept good.otf2 locked
}
@test "few descriptors: one sentence, and the program does not run in vain" {
    before=
    for n in 8 12 16; do
        for verb in run vprof count trace; do
            status=0
            (ulimit -n $n && exec timeout 100 "$ASSAY" $verb -q -o few.assay -- ./program) >out 2>err || status=$?
            equal 1 "$status" || fails "$verb with $n: $(cat err)"
            equal 1 "$(grep -c '^assay: ' err)" || fails "$verb with $n: $(cat err)"
            like "*ulimit -n*" "$(cat err)"
            [ ! -e few.assay ] || fails "$verb with $n leaves an experiment"
        done
    done
}
@test "a full disk: what is kept is said" {
    user=
    [ "$(id -u)" -eq 0 ] || user=-Ur
    mkdir -p small
    make_trace t.prv
    "$ASSAY" import -q t.prv -o p.assay >out
    unshare $user -m mount -t tmpfs none small 2>/dev/null || skip "nothing can be mounted here"
    export ASSAY
    unshare $user -m sh -c 'mount -t tmpfs -o size=100k none small
        "$ASSAY" profile -o small/x.assay -- ./program 2>err >/dev/null; echo $? >status; ls small >listed
        seq 100000 >small/fill 2>/dev/null; echo old >old
        "$ASSAY" functions --format json "$ASSAY" -o small/out 2>err2; echo $? >status2; ls small >listed2
        "$ASSAY" export p.assay --as otf2 -o small/a 2>err3; echo $? >status3; ls small >listed3'
    equal 1 "$(cat status)"
    equal "" "$(cat listed)"
    like "assay: small/x.assay/*: cannot be written: *; free some space *; nothing was stored" "$(cat err)" ||
        like "assay: small/x.assay*No space left*" "$(cat err)"
    never grep -q 'is kept,' err
    equal 1 "$(cat status2)"
    equal fill "$(cat listed2)"
    equal 1 "$(cat status3)"
    equal fill "$(cat listed3)"
    like "assay: small/a.otf2: cannot be written: *; free some space *" "$(cat err3)"
}
