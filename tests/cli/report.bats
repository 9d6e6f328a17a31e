# SPDX-License-Identifier: Apache-2.0
# report and open, on the experiment of tests/unit/experiment/fixture.c.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" x.assay
    "$ASSAY" report x.assay
    mkdir pages
    mv x.assay/report.html pages/x.html
}
setup() {
    load common.bash
    rm -rf y.assay out dir
    cp -r x.assay y.assay
    unset DISPLAY WAYLAND_DISPLAY BROWSER
}

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

@test "report: a page in the experiment, and its name" {
    equal "y.assay/report.html" "$("$ASSAY" report y.assay)"
    equal "experiment.db report.html" "$(ls y.assay | tr '\n' ' ' | sed 's/ $//')"
    equal 644 "$(umask 022 && "$ASSAY" report y.assay >/dev/null && stat -c %a y.assay/report.html)"
    grep -q '<title>mpirun -n 2 ./solver 100</title>' y.assay/report.html
    grep -q 'Profile of mpirun -n 2 ./solver 100' y.assay/report.html # for readers without scripts
}
@test "report: several formats in one call" {
    equal "y.assay/report.html y.assay/report.txt y.assay/report.json y.assay/report-csv" \
        "$("$ASSAY" report y.assay --format json,csv --format html,text | tr '\n' ' ' | sed 's/ $//')"
    equal "Profile of mpirun -n 2 ./solver 100" "$(head -1 y.assay/report.txt)"
    equal "mpirun -n 2 ./solver 100" "$(json '["title"]' <y.assay/report.json)"
    equal "flags.csv functions.csv hosts.csv" \
        "$(ls y.assay/report-csv | sed -n '/^[fh]/p' | tr '\n' ' ' | sed 's/ $//')"
}
@test "report: the data of the page is that of --format json" {
    "$ASSAY" report y.assay --format html,json
    python3 - <<'END'
import base64, json, re, zlib
page = open("y.assay/report.html", encoding="utf-8").read()
slot = re.search(r'<script type="application/octet-stream" id="assay-data"[^>]*>([^<]*)</script>', page)
data = json.loads(zlib.decompress(base64.b64decode(slot.group(1))))
want = json.load(open("y.assay/report.json"))
data["made_utc"] = want["made_utc"]
assert data == want
END
}
@test "report: CSV has the columns and rows of the data" {
    "$ASSAY" report y.assay --format csv,json
    python3 - <<'END'
import csv, json
for view in json.load(open("y.assay/report.json"))["views"]:
    table = list(csv.reader(open(f"y.assay/report-csv/{view['name']}.csv")))
    names = [column["name"] for column in view["columns"]]
    assert table[0] == names, (view["name"], table[0])
    assert len(table) == view["row_n"] + 1
    for i, name in enumerate(names):
        cells = view["data"][name]
        want = cells.get("v") or [cells["dict"][k] if k >= 0 else None for k in cells["i"]]
        for row, value in enumerate(want):
            got = table[row + 1][i]
            assert got == ("" if value is None else str(value)) or float(got) == value, (name, got)
END
}
@test "report: each cell of the workbook is what the data and SQL say" {
    equal "$(printf 'y.assay/report.xlsx\ny.assay/report.json')" \
        "$("$ASSAY" report y.assay --format json,xlsx)"
    like "*[0-9][0-9][0-9] cells, [0-9][0-9][0-9] by SQL" "$(python3 "$CHECK_XLSX" "$ASSAY" y.assay)"
    equal "experiment.db report.json report.xlsx" "$(ls -A y.assay | tr '\n' ' ' | sed 's/ $//')"
}
@test "report: names that could break a page or a workbook" {
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("y.assay/experiment.db")
evil = b"</script><!--\"'&\x01\x1b[2J\xff\xc3(\n=1+1"
db.execute("UPDATE function SET name = CAST(? AS TEXT) WHERE name = 'solve'", (evil,))
db.execute("UPDATE function SET name = ? WHERE name = 'fib'", ("x" * 40000,))
db.execute("UPDATE run SET command = CAST(? AS TEXT)", (evil * 20,))
db.commit()
END
    "$ASSAY" report y.assay --format html,json,xlsx,text,csv >out
    equal 5 "$(wc -l <out)"
    python3 "$CHECK_XLSX" "$ASSAY" y.assay
    equal "$(grep -c '</script>' pages/x.html)" "$(grep -c '</script>' y.assay/report.html)"
    equal "" "$(LC_ALL=C tr -d '\n\t -~\200-\377' <y.assay/report.html)"
    iconv -f UTF-8 -t UTF-8 y.assay/report.html y.assay/report.json >/dev/null
}
@test "report: a busy host is the first line" {
    python3 - <<'END'
import sqlite3
with sqlite3.connect("y.assay/experiment.db") as database:
    database.execute("INSERT INTO flag (run_id, object_kind, object_id, name, n, text) "
                     "VALUES (1, 'run', 1, 'busy_host', 1, 'other processes used 1.50 of 2 CPUs')")
END
    "$ASSAY" show y.assay >out
    equal "other processes used 1.50 of 2 CPUs" "$(head -1 out)"
    grep -q "^Profile of mpirun" out
}
@test "report: --output, one file or a directory that is there" {
    equal out "$("$ASSAY" report y.assay --format text -o out)"
    equal "Profile of mpirun -n 2 ./solver 100" "$(head -1 out)"
    mkdir dir
    equal "dir/report.html dir/report.json" \
        "$("$ASSAY" report y.assay --format html,json -o dir | tr '\n' ' ' | sed 's/ $//')"
    refused 2 "assay: --output: several formats need a directory, and out2 is not one; create it first" \
        report y.assay --format html,json -o out2
    ln -s dir/report.txt link
    "$ASSAY" report y.assay --format text -o link
    [ -L link ]
    [ -s dir/report.txt ]
    ln -s ring ring
    refused 1 "assay: ring: cannot be written: it is a link to itself; *" \
        report y.assay --format text -o ring
    [ -L ring ]
    "$ASSAY" report y.assay --format text -o /dev/stdout -q | grep -q "^Profile of"
}
@test "report: what cannot be" {
    refused 2 "assay: nowhere.assay: no such experiment: *" report nowhere.assay
    refused 2 "assay: y.assay: has no run 7; its last is 1" report y.assay --run 7
    refused 2 "assay: --format: invalid value 'pdf'; use html, xlsx, text, json or csv" \
        report y.assay --format html,pdf
    refused 2 "assay: --format: 'report' has a --format of its own, *; use 'assay report --format json'" \
        --format json report y.assay
    refused 1 "assay: nowhere/x.html: cannot be written: No such file or directory; create its directory first" \
        report y.assay -o nowhere/x.html
}
@test "report: a full disk leaves what was there, and no half file" {
    echo before >y.assay/report.json
    (
        ulimit -f 8
        refused 1 "assay: y.assay/report.json: cannot write: File too large; *" \
            report y.assay --format json
    )
    equal before "$(cat y.assay/report.json)"
    for kb in 1 2 4 8; do # of the workbook itself, or of what it is put together from
        (
            ulimit -f $kb
            refused 1 "assay: y.assay/report.xlsx: cannot be written: *" report y.assay --format xlsx
        )
    done
    equal "experiment.db report.json" "$(ls -A y.assay | tr '\n' ' ' | sed 's/ $//')"
    [ -w /dev/full ] || skip "no /dev/full here"
    refused 1 "assay: /dev/full: cannot write: No space left on device; free some space*" \
        report y.assay --format json -o /dev/full
}
@test "report: an experiment that cannot be written" {
    [ "$(id -u)" != 0 ] || skip "root may write everywhere"
    chmod a-w y.assay
    refused 1 "assay: y.assay/report.html: cannot be written: Permission denied; *" report y.assay
    chmod u+w y.assay
}
@test "report: a run of which nothing is known yet" {
    command -v sqlite3 >/dev/null || skip "no sqlite3 here"
    sqlite3 y.assay/experiment.db "DELETE FROM object_time; DELETE FROM callpath_time;
        DELETE FROM sample; DELETE FROM value; DELETE FROM finding; DELETE FROM flag;
        DELETE FROM what_if_object; DELETE FROM what_if"
    equal 5 "$("$ASSAY" report y.assay --format html,xlsx,text,json,csv | wc -l)"
    python3 "$CHECK_XLSX" "$ASSAY" y.assay
    equal "processes threads runs hosts machine machine_places machine_findings waits late phases trace_gains calls messages message_sizes ranks" \
        "$(python3 -c 'import json; print(*[it["name"] for it in json.load(open("y.assay/report.json"))["views"]])')"
}
@test "open: makes the page each time" {
    "$ASSAY" open y.assay >out 2>err
    equal y.assay/report.html "$(cat out)"
    like "assay: no display: open that file in a browser*" "$(cat err)"
    echo other >y.assay/report.html
    "$ASSAY" open y.assay -q
    grep -q '<title>' y.assay/report.html
}
@test "open: starts the browser of BROWSER" {
    printf '#!/bin/sh\necho "shown: $*"\n' >browser
    chmod +x browser
    page=$PWD/y.assay/report.html
    equal "y.assay/report.html shown: $page" "$(BROWSER=./browser "$ASSAY" open y.assay | xargs)"
    equal "y.assay/report.html shown: --new $page -x" \
        "$(BROWSER='false:./browser --new %s -x:./none' "$ASSAY" open y.assay | xargs)"
    BROWSER=./nowhere "$ASSAY" open y.assay >out 2>err
    like "*assay: no browser could be started: open that file in a browser, or set BROWSER" "$(cat err)"
    mv y.assay 'y $(touch out2) "z.assay'
    equal "shown: $PWD/y \$(touch out2) \"z.assay/report.html" \
        "$(BROWSER=./browser "$ASSAY" open 'y $(touch out2) "z.assay' | tail -1)"
    [ ! -e out2 ]
    rm -r 'y $(touch out2) "z.assay'
}
@test "open: does not wait for a browser with a window" {
    printf '#!/bin/sh\necho $$ >shows\nexec sleep 1000 >/dev/null 2>&1 3>&-\n' >browser
    chmod +x browser
    DISPLAY=:77 BROWSER=./browser timeout 300 "$ASSAY" open y.assay >out 3>&-
    equal y.assay/report.html "$(cat out)"
    until_so test -s shows
    kill "$(cat shows)"
}
@test "open: serves the page to this machine only" {
    equal served "$(python3 "$CHECK_SERVE" "$ASSAY" y.assay)"
    refused 2 "assay: --port: needs --serve; add it" open y.assay --port 8000
    refused 2 "assay: --port: invalid port 70000; use 1 to 65535" open y.assay --serve --port 70000
}
@test "report and open: of one run asked for, in a file of its own" {
    equal y.assay/report-run-1.html "$("$ASSAY" report y.assay --run 1)"
    equal "y.assay/report-run-1.json y.assay/report-run-1-csv" \
        "$("$ASSAY" report y.assay --run 1 --format json,csv | tr '\n' ' ' | sed 's/ $//')"
    equal y.assay/report-run-1.html "$("$ASSAY" open y.assay --run 1 -q)"
    [ ! -e y.assay/report.html ]
}
