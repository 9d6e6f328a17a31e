# SPDX-License-Identifier: Apache-2.0
# show and query, on the experiment of tests/unit/experiment/fixture.c.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" x.assay
}
setup() { load common.bash; }

query() { "$ASSAY" query --format csv x.assay "$1" | tail -n +2; }

# refused STATUS SENTENCE ARGUMENT...
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" "$@" >out 2>err || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

@test "show: without a view it is the summary, as text and JSON" {
    LC_ALL=C COLUMNS=80 "$ASSAY" show x.assay >out
    equal "Profile of mpirun -n 2 ./solver 100" "$(head -1 out)"
    grep -q '^  Application    67.0  6.5   1.340          ################$' out
    grep -q '^    52.5  6.9   1.050  solve     solver        solver.c:21$' out
    equal "0" "$(LC_ALL=C grep -c '[^ -~]' out)"
    [ "$(wc -L <out)" -le 80 ]
    LC_ALL=C.UTF-8 COLUMNS=80 "$ASSAY" show x.assay --view summary | grep -q '█'
    LC_ALL=C "$ASSAY" show x.assay --color always | grep -q "$(printf '\033')"
    "$ASSAY" show x.assay --format json >out
    equal 200 "$(json '["run"]["sample_n"]' <out)"
    equal solve "$(json '["functions"][0]["name"]' <out)"
    equal 1.34 "$(json '["categories"][0]["time_s"]' <out)"
    equal lost_samples "$(json '["flags"][0]["name"]' <out)"
    equal "assay show x.assay --view functions" "$(json '["commands"][0]' <out)"
}
@test "show: what the summary cannot do" {
    refused 2 "assay: --format: the summary has no CSV; use --view*" \
        show x.assay --format csv
    refused 2 "assay: --sort: the summary has a fixed order; use --view" \
        show x.assay --sort name
    refused 2 "assay: --run: x.assay has no run 7; its last is 1" show x.assay --run 7
}
@test "show: hottest functions as text, with interval and mark of few samples" {
    "$ASSAY" show x.assay --view functions >out
    like "self %  95 % interval  self s  total %  category     where         function" "$(sed -n 1p out)"
    like " *52.5      45.6-59.3    1.05     67.0  application  solver.c:21   solve" "$(sed -n 2p out)"
    like " *14.5?* fib" "$(sed -n 4p out)"
    equal 6 "$(wc -l <out)"
}
@test "show: JSON is an array of objects with the columns of the view" {
    for view in functions loops modules threads categories callpaths runs processes hosts blocks \
        lines metrics values findings flags; do
        "$ASSAY" show x.assay --view $view --format json >out.json
        "$ASSAY" show x.assay --view $view --format csv >out.csv
        "$ASSAY" query x.assay "SELECT * FROM v_$view" --format csv | head -1 >columns
        equal "$(cat columns)" "$(head -1 out.csv)"
        python3 - <<'END'
import csv, json
rows = json.load(open("out.json"))
table = list(csv.reader(open("out.csv")))
assert isinstance(rows, list) and rows
assert all(list(row) == table[0] for row in rows), rows[0]
assert len(rows) == len(table) - 1
END
    done
}
@test "show: values keep their type in JSON" {
    "$ASSAY" show x.assay --view loops --format json >out
    equal 50 "$(json '[0]["exclusive_pct"]' <out)"
    equal true "$(json '[0]["is_innermost"]' <out)"
    equal 0x1140 "$(json '[0]["address"]' <out)"
    equal null "$(json '[1]["role"]' <out)"
}
@test "show: --sort, --limit and --run" {
    equal "MPI_Wait" "$("$ASSAY" show x.assay --view functions --sort name --limit 1 --format json | json '[0]["name"]')"
    equal "main" "$("$ASSAY" show x.assay --view functions --sort inclusive_pct --limit 1 --run 1 \
        --format json | json '[0]["name"]')"
    refused 2 "assay: --sort: no column 'inclusive_pc' in the view functions; did you mean inclusive_pct?" \
        show x.assay --view functions --sort inclusive_pc
    refused 2 "assay: --run: x.assay has no run 7; its last is 1" \
        show x.assay --view functions --run 7
    refused 2 "assay: --view: invalid value 'function'; *" show x.assay --view function
}
@test "show: text fits 80 columns" {
    views=$("$ASSAY" show --help | tr -s ' \n' ' ' | sed 's/.*VIEW is summary, //; s/\. .*//; s/, / /g; s/ or / /')
    [ "$(wc -w <<<"$views")" -gt 25 ]
    for view in $views; do
        COLUMNS=80 "$ASSAY" show x.assay --view $view >out
        [ "$(wc -L <out)" -le 80 ] || fails "$view is wider than 80 columns: $(cat out)"
    done
}
@test "show: columns that do not fit are left out, names stay" {
    COLUMNS=60 "$ASSAY" show x.assay --view functions >out
    equal "self %  95 % interval  self s  where         function" "$(head -1 out)"
    like "*52.5      45.6-59.3    1.05  solver.c:21   solve" "$(sed -n 2p out)"
}
@test "show: call paths are a tree, in JSON and CSV flat" {
    "$ASSAY" show x.assay --view callpaths >out
    equal "total %  95 % interval  total s  self %  call path
  100.0     98.1-100.0     2.00     0.0  main  [application]
   67.0      60.2-73.1     1.34    52.5    solve
  12.5?       8.6-17.8     0.25    5.0?      fib
   7.5?       4.6-12.0     0.15    4.0?        fib
   3.5?        1.7-7.0     0.07    3.5?          fib
   2.0?        0.8-5.0     0.04    2.0?      fib
   33.0      26.9-39.8     0.66    30.0    MPI_Wait  [mpi]
   3.0?        1.4-6.4     0.06    3.0?      memcpy" "$(cat out)"
    # The hottest, and their callers.
    equal "main solve fib MPI_Wait" "$("$ASSAY" show x.assay --view callpaths --limit 4 |
        awk 'NR > 1 { print $5 }' | tr '\n' ' ' | sed 's/ $//')"
    equal "main;solve;fib" "$("$ASSAY" show x.assay --view callpaths --format json | json '[3]["path"]')"
    # With --sort rows are flat; the function of the row stays.
    COLUMNS=80 "$ASSAY" show x.assay --view callpaths --sort exclusive_time_s >out
    like "* main;solve" "$(sed -n 2p out)"
}
@test "show: a name that is too long for the tree gives way in its middle" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    cp -r x.assay named.assay
    sqlite3 named.assay/experiment.db "UPDATE function SET name = 'a_name_that_is_too_long_for_the_column_of_names' \
        WHERE name = 'solve'"
    COLUMNS=80 "$ASSAY" show named.assay --view callpaths >out
    like "*52.5    a_name_that_is_too…he_column_of_names" "$(grep a_name out)"
    [ "$(wc -L <out)" -le 80 ]
}
@test "show: sentences of findings are whole, at any width" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    cp -r x.assay told.assay
    sqlite3 told.assay/experiment.db "UPDATE finding SET text = 'The loop at solver.c:21 does 0 % of its \
arithmetic on whole vectors, and its options (-O2) vectorise few loops.'"
    COLUMNS=50 "$ASSAY" show told.assay --view findings >out
    [ "$(wc -L <out)" -le 50 ] || fails "$(cat out)"
    like "*The loop at solver.c:21 does 0 % of its arithmetic on whole vectors, and its options (-O2) vectorise \
few loops. → Use -O3.*" "$(tr -s ' \n' ' ' <out)"
    "$ASSAY" show told.assay --view findings >out
    equal 4 "$(wc -l <out)"
}
@test "show, export, report: a run that is not attributed" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    cp -r x.assay killed.assay
    sqlite3 killed.assay/experiment.db "DELETE FROM process; DELETE FROM object_time; UPDATE run SET state = 'interrupted'"
    "$ASSAY" show killed.assay >out
    like "*not attributed*    assay attribute killed.assay" "$(cat out)"
    never grep -q "Samples   \|No sample" out
    equal false "$("$ASSAY" show killed.assay --format json | json '["run"]["is_attributed"]')"
    want="assay: killed.assay: run 1 is not attributed: *; run 'assay attribute killed.assay'"
    like "$want" "$("$ASSAY" show killed.assay --view functions 2>&1 >out)"
    like "$want" "$("$ASSAY" export killed.assay 2>&1 >out)"
    like "$want" "$("$ASSAY" report killed.assay -o killed.html 2>&1 >out)"
    equal "" "$("$ASSAY" show -q killed.assay --view functions --format csv 2>&1 | tail -n +2)"
    # Killed before the sums were made: they are made up for.
    cp -r x.assay unsummed.assay
    sqlite3 unsummed.assay/experiment.db "DELETE FROM object_time; DELETE FROM thread_time"
    like "assay: unsummed.assay: run 1 is not*" "$("$ASSAY" show unsummed.assay --view functions 2>&1 >out)"
    equal "assay: run 1 is attributed" "$("$ASSAY" attribute unsummed.assay 2>&1)"
    equal "$("$ASSAY" show x.assay --view functions)" "$("$ASSAY" show unsummed.assay --view functions 2>&1)"
}
@test "query: text, JSON and CSV" {
    sql="SELECT 1 AS a, 2.5 AS b, 'x,y' AS c, NULL AS d, x'00ff' AS a"
    equal "$(printf 'a    b  c    d  a_2\n1  2.5  x,y     00ff')" "$("$ASSAY" query x.assay "$sql")"
    equal "$(printf 'a,b,c,d,a_2\n1,2.5,"x,y",,00ff')" "$("$ASSAY" query x.assay "$sql" --format csv)"
    equal '[{"a": 1, "b": 2.5, "c": "x,y", "d": null, "a_2": "00ff"}]' \
        "$("$ASSAY" query x.assay "$sql" --format json | json '')"
    equal "[]" "$("$ASSAY" query x.assay "SELECT 1 WHERE 0" --format json)"
    equal "a" "$("$ASSAY" query x.assay "SELECT 1 AS a WHERE 0" --format csv)"
}
@test "query: wrong SQL is one sentence with its place" {
    refused 2 "assay: SQL: no such column: absent, at line 1, character 8: 'absent FROM*" \
        query x.assay "SELECT absent FROM v_functions"
    refused 2 "assay: SQL: near \"SELEC\": syntax error, at line 1, character 1*" query x.assay "SELEC"
    refused 2 "assay: SQL: more than one statement*" query x.assay "SELECT 1; SELECT 2"
}
@test "query: nothing can be changed" {
    cp -r x.assay before.assay
    for sql in "DELETE FROM run" "DROP VIEW v_runs" "ATTACH 'y.db' AS y" "VACUUM INTO 'y.db'" \
        "PRAGMA journal_mode = WAL"; do
        refused 2 "assay: SQL: changes the experiment or reaches beyond it; write a SELECT" \
            query x.assay "$sql"
    done
    cmp x.assay/experiment.db before.assay/experiment.db
    [ ! -e y.db ]
}
@test "query: time and memory are limited" {
    endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    refused 1 "assay: SQL: stopped: needs more than 64 MiB of memory; raise --memory-limit" \
        query x.assay "$endless SELECT randomblob(9000) AS b FROM n ORDER BY b" --memory-limit 64
    refused 1 "assay: SQL: stopped at the time limit; raise --time-limit" \
        query x.assay "$endless SELECT max(i) FROM n" --time-limit 1
    # One call that takes hours: 10^12 comparisons.
    refused 1 "assay: SQL: stopped: a call exceeded --time-limit, and the output is lost; raise the limit" \
        query x.assay "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')" \
        --time-limit 1
}
@test "query: many rows line up and stream" {
    "$MAKE_EXPERIMENT" long.assay 5000
    "$ASSAY" query long.assay "SELECT number, text FROM line WHERE number >= 1000" >out
    equal 5001 "$(wc -l <out)"
    equal "number  text" "$(head -1 out)"
    equal "  5999  x" "$(tail -1 out)"
    equal "8" "$(sed -n '2,$s/x$//p' out | awk '{print length}' | sort -u)"
    "$ASSAY" query long.assay "SELECT * FROM line" --format csv 2>err | head -1 >out
    equal "" "$(cat err)"
}
@test "any client of SQLite sees the views" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    equal "solve|52.5" "$(sqlite3 x.assay/experiment.db \
        'SELECT name, exclusive_pct FROM v_functions ORDER BY 2 DESC LIMIT 1')"
}
@test "an experiment that is none" {
    refused 2 "assay: nowhere.assay: no such experiment: *" show nowhere.assay
    refused 2 "assay: x: no such experiment; did you mean x.assay?" show x
    mkdir -p empty.assay
    refused 2 "assay: empty.assay: not an experiment: *" query empty.assay "SELECT 1"
    echo text >file
    refused 2 "assay: file: not an experiment: it is not a directory; *" show file
}
@test "an experiment of a newer assay" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    cp -r x.assay newer.assay
    sqlite3 newer.assay/experiment.db "PRAGMA user_version = 77"
    refused 2 "assay: newer.assay: written by a newer assay: schema 77*; use a newer assay" \
        show newer.assay
}
@test "a full disk under the result" {
    [ -w /dev/full ] || skip "no /dev/full here"
    run "$ASSAY" query -o /dev/full x.assay "SELECT 1"
    equal 1 "$status"
    like "assay: /dev/full: *No space left on device*" "$output"
}
@test "doc/reference/experiment.md names every table, view and column" {
    query "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'" >names
    query "SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
           WHERE s.type IN ('table', 'view')" >>names
    [ "$(wc -l <names)" -gt 150 ]
    while read -r name; do
        grep -q -F "\`$name\`" "$EXPERIMENT_DOC" || fails "doc/reference/experiment-tables.md does not name $name"
    done <names
}
