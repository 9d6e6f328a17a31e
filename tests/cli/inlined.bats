# SPDX-License-Identifier: Apache-2.0
# Inlined functions in what a user reads, on the experiment of tests/unit/experiment/fixture.c: its
# inner loop becomes one of `dot`, inlined into `blend`, inlined into `solve`.

setup_file() {
    load common.bash
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    "$MAKE_EXPERIMENT" x.assay
    sqlite3 x.assay/experiment.db "
        INSERT INTO function (module_id, name, linkage_name, known_from, line_id)
            SELECT module_id, 'blend', 'blend', 'inlined', line_id FROM function WHERE name = 'solve';
        INSERT INTO function (module_id, name, linkage_name, known_from)
            SELECT module_id, 'dot', 'dot', 'inlined' FROM function WHERE name = 'solve';
        INSERT INTO inlining (function_id, inlined_id) SELECT s.function_id, i.function_id
            FROM function s, function i WHERE s.name = 'solve' AND i.name = 'blend';
        INSERT INTO inlining (function_id, parent_id, inlined_id) SELECT s.function_id, 1,
            i.function_id FROM function s, function i WHERE s.name = 'solve' AND i.name = 'dot';
        UPDATE loop SET inlining_id = 2 WHERE depth = 2;
        UPDATE location SET inlining_id = 2 WHERE loop_id = (SELECT loop_id FROM loop WHERE depth = 2);
        DELETE FROM object_time; DELETE FROM thread_time;"
    "$ASSAY" attribute x.assay
}
setup() {
    load common.bash
    [ -d x.assay ] || skip "no sqlite3 here"
}

line() { "$ASSAY" show x.assay --view "$@" --format csv; }
# columns VIEW COLUMN...: of a view, rows separated by ;
columns() {
    local view=$1
    shift
    line "$view" ${more:+"$more"} | python3 -c "
import csv, sys
rows = csv.DictReader(sys.stdin)
print('; '.join(' '.join(row[c] for c in sys.argv[1:]) for row in rows))" "$@"
}

@test "functions: the inlined one has its own time, and the binary's stays visible" {
    equal "dot true 100 ; MPI_Wait false 60 60; fib false 29 29; memcpy false 6 6; solve false 5 105; main false 0 0; blend true 0 " \
        "$(columns functions name is_inlined exclusive_sample_n binary_sample_n)"
    more=--no-inline
    equal "solve false 105 105; MPI_Wait false 60 60; fib false 29 29; memcpy false 6 6; main false 0 0" \
        "$(columns functions name is_inlined exclusive_sample_n binary_sample_n)"
}
@test "functions: as text" {
    "$ASSAY" show x.assay --view functions >out
    like "*50.0 * dot (inlined)" "$(sed -n 2p out)"
    like "*2.5 * solve (52.5 % with inlined)" "$(grep "solve (" out)"
    COLUMNS=80 "$ASSAY" show x.assay --view functions >out
    [ "$(wc -L <out)" -le 80 ] || fails "wider than 80 columns: $(cat out)"
    "$ASSAY" show x.assay --view functions --no-inline >out
    like "*52.5 * solve" "$(sed -n 2p out)"
    equal 0 "$(grep -c inlined out)"
}
@test "loops: in the function of the source, with what it is inlined into" {
    equal "dot solve;blend solve 100; solve  solve 5" \
        "$(columns loops function inlined_into binary_function exclusive_sample_n)"
    more=--no-inline
    equal "solve  solve 100; solve  solve 5" \
        "$(columns loops function inlined_into binary_function exclusive_sample_n)"
}
@test "call paths: inlined functions are called by what they are inlined into" {
    columns callpaths path is_inlined exclusive_sample_n inclusive_sample_n >out
    like "*main;solve false 5 134*" "$(cat out)"
    like "*main;solve;blend true 0 104*" "$(cat out)"
    like "*main;solve;blend;dot true 100 104*" "$(cat out)"
    like "*main;solve;blend;dot;fib false 4 4*" "$(cat out)"
    more=--no-inline
    columns callpaths path is_inlined exclusive_sample_n inclusive_sample_n >out
    like "*main;solve false 105 134*" "$(cat out)"
    equal 0 "$(grep -c dot out)"
}
@test "the summary marks them, and says what the binary's functions have" {
    LC_ALL=C COLUMNS=80 "$ASSAY" show x.assay >out
    grep -q '^    50.0  6.9   1.000  dot (inlined)  solver' out
    grep -q '^  Including inlined functions: solve 52.5 %.$' out
    LC_ALL=C COLUMNS=80 "$ASSAY" show x.assay --no-inline >out
    equal 0 "$(grep -c inlined out)"
    grep -q '^    52.5  6.9   1.050  solve ' out
    "$ASSAY" show x.assay --format json >out
    equal true "$(json '["functions"][0]["is_inlined"]' <out)"
    equal "solve;blend" "$(json '["loops"][0]["inlined_into"]' <out)"
    "$ASSAY" show x.assay --no-inline --format json >out
    equal '"solve" false' "$(json '["functions"][0]["name"]' <out | sed 's/.*/"&"/') $(json '["functions"][0]["is_inlined"]' <out)"
}
@test "reports: tables, call tree and workbook with and without them" {
    mkdir -p with without
    "$ASSAY" report x.assay --format json,csv,xlsx,text -o with
    "$ASSAY" report x.assay --format json,csv,xlsx,text --no-inline -o without
    grep -q '^dot,' with/report-csv/functions.csv
    equal 0 "$(grep -c '^dot,' without/report-csv/functions.csv)"
    tree() {
        python3 -c "
import json, sys
t = json.load(open(sys.argv[1]))['calltree']
name = [t['function']['dict'][i] for i in t['function']['i']]
print('; '.join(f'{name[t[\"parent\"][i]] if t[\"parent\"][i] >= 0 else \"\"}>{name[i]} {t[\"inlined\"][i]} {t[\"self_n\"][i]}'
                for i in range(t['row_n']) if t['inlined'][i] or name[i] == 'solve'))" "$1"
    }
    equal "main>solve 0 5; solve>blend 1 0; blend>dot 1 100" "$(tree with/report.json)"
    equal "main>solve 0 105" "$(tree without/report.json)"
    for of in with without; do
        python3 -c "
import sys, zipfile
book = zipfile.ZipFile(sys.argv[1])
print(any(b'>dot<' in book.read(name) for name in book.namelist()))" $of/report.xlsx
    done >out
    equal "True False" "$(tr '\n' ' ' <out | sed 's/ $//')"
    grep -q 'dot (inlined)' with/report.txt
    equal 0 "$(grep -c 'inlined' without/report.txt)"
}
@test "export: the frames of the call tree" {
    "$ASSAY" export x.assay >out
    grep -q '^main;solve;blend;dot 100$' out
    grep -q '^main;solve;blend;dot;fib 4$' out
}
