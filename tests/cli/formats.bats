# SPDX-License-Identifier: Apache-2.0
# --format of every verb: it is obeyed, or refused before anything runs.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >steps.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static double a[4096];
__attribute__((noipa)) double chain(const double *x, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * 0.5 + x[i];
    return s;
}
int main(int argc, char **argv)
{
    double s = 0;
    fclose(fopen("started", "w"));
    for (int i = 0; i < 40000; i++)
        s += chain(a, 4096);
    return s != 0 || (argc > 1 && atoi(argv[1]));
}
END
    gcc -O2 -g -o steps steps.c
    "$MAKE_EXPERIMENT" made.assay
    echo 'print(1)' >one.lua
    printf 'probe entries\n    at function entry\n    where function = "chain"\n    do count\nend\n' >entries.probe
    printf 'id,hex,cycles\na,4801d8,1\n' >blocks.csv
    {
        echo '#Paraver (01/02/2020 at 10:20):1000_us:1(2):1:2(1:1,1:1),0'
        for i in $(seq 0 10 900); do echo "1:1:1:1:1:$i:$((i + 9)):1"; done
    } >t.prv
    "$ASSAY" count -q -o counted.assay -- ./steps >counted.txt
    printf 'machine\tname\tmade\nfigure\tbandwidth.read.L1.core\t1e15\tB/s\t0.01\t9\tcalm\t2026-01-01T00:00:00Z\n' >one.tsv
    printf '#DIMEMAS:"pair":1,0:2(1,1),0,0\n2:0:0:1:0:8:0:0:0\n3:1:0:0:0:8:0:0:0\n' >pair.dim
    cat >parse.py <<'END'
"""parse.py FORMAT FILE: the file is one document of the format; its size in values or rows."""
import csv, json, sys

if sys.argv[1] == "json":
    document = json.load(open(sys.argv[2]))
    assert document, "an empty document"
else:
    rows = list(csv.reader(open(sys.argv[2])))
    assert rows and len(rows[0]) > 1, rows
    assert all(len(row) == len(rows[0]) for row in rows), rows
END
}
setup() {
    load common.bash
    export ASSAY_NO_MEASURE=1
}
verbs() { "$ASSAY" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

# Sets `command`, which shows a result of the verb.
command_of() {
    local record="$1 -q -o new.assay --force"
    case $1 in
    info | functions | loops | patch | cqa) command="$1 steps" ;;
    disasm | cfg) command="$1 --function chain steps" ;;
    predict) command="predict --machine zen5 --function chain steps" ;;
    validate) command="validate --machine zen5 --blocks blocks.csv" ;;
    profile | run | trace | vprof | count | roofline) command="$record -- ./steps" ;;
    decan) command="$record --runs 1 --variants dl1 -- ./steps" ;;
    scale) command="$record --threads 1 -- ./steps" ;;
    repeat) command="$record -n 2 -- ./steps" ;;
    try) command="$record --budget 3 --what env -- ./steps" ;;
    probe) command="$record entries.probe -- ./steps" ;;
    import) command="$record t.prv" ;;
    simulate) command="simulate pair.dim" ;;
    project) command="project counted.assay --from one.tsv --to one.tsv" ;;
    merge) command="merge -q made.assay -o merged.assay --force" ;;
    attribute | open) command="$1 made.assay" ;;
    show) command="show made.assay --view functions" ;;
    report) command="report made.assay -o page --force" ;;
    compare) command="compare made.assay made.assay" ;;
    query) command="query made.assay SELECT+run_id,kind+FROM+run" ;;
    export) command="export made.assay" ;;
    evaluate) command="evaluate t.prv" ;;
    edit) command="edit t.prv" ;;
    script) command="script one.lua" ;;
    machine) command="machine" ;;
    *) fails "tests/cli/formats.bats has no command of '$1': add one" ;;
    esac
}
# Formats that a verb refuses; it does nothing then.
is_refused() { # VERB FORMAT
    case $1:$2 in
    attribute:* | open:* | export:* | edit:* | script:* | profile:csv | run:csv | merge:csv | predict:csv) ;;
    *) return 1 ;;
    esac
}
checked() { # VERB FORMAT
    local command words status=0
    command_of "$1" || return 1
    read -ra words <<<"$command"
    words=("${words[@]//+/ }")
    rm -rf started page out err
    "$ASSAY" "${words[0]}" --format "$2" "${words[@]:1}" >out 2>err || status=$?
    if is_refused "$1" "$2"; then
        equal 2 "$status" || fails "$1 --format $2 is not refused: $(cat err)"
        like "assay: --format: *; use *" "$(cat err)"
        equal 1 "$(wc -l <err)"
        [ ! -s out ] || fails "$1 --format $2 is refused, but writes: $(cat out)"
        [ ! -e started ] || fails "$1 --format $2 is refused after the program ran"
        return 0
    fi
    case $1:$status in
    *:0 | try:3 | try:4) ;;
    *) fails "$1 --format $2 ends with status $status: $(cat err)" ;;
    esac
    [ "$1" != report ] || { [ -d page ] && cat page/functions.csv || cat page; } >out
    python3 parse.py "$2" out 2>why || fails "$1 --format $2:" "$(cat why)" "$(head -c 500 out)"
}

@test "every verb writes JSON or refuses" {
    for verb in $(verbs); do checked "$verb" json; done
}
@test "every verb writes CSV or refuses" {
    for verb in $(verbs); do checked "$verb" csv; done
}
@test "the common --format is refused before a verb with its own" {
    for verb in report compare; do
        run "$ASSAY" --format json "$verb" made.assay
        equal 2 "$status"
        like "assay: --format: '$verb' has a --format of its own, *; use 'assay $verb --format json'" "$output"
    done
}
@test "formats of graphs and pages are refused by all other verbs" {
    for verb in $(verbs); do
        for format in dot svg html; do
            case $verb:$format in cfg:dot | cfg:svg | evaluate:svg | cqa:html | report:html | compare:html) continue ;; esac
            command_of "$verb"
            run "$ASSAY" "$verb" --format $format ${command#"$verb"}
            equal 2 "$status"
            like "assay: --format: *; *" "$output"
        done
    done
}
@test "JSON of run and profile is that of show" {
    for verb in profile run; do
        "$ASSAY" "$verb" --format json -q -o new.assay --force -- ./steps >out
        "$ASSAY" show new.assay --format json >want
        cmp want out
        equal 1 "$(json '["functions"]' <out | grep -c '"chain"')"
    done
}
@test "the help of a verb names the formats that it writes" {
    like "*--format FORMAT *Write text (the default) or json.*" "$("$ASSAY" run --help | tr -s ' \n' ' ')"
    like "*--format FORMAT *Write text (the default), json, csv, dot or svg.*" \
        "$("$ASSAY" cfg --help | tr -s ' \n' ' ')"
}
