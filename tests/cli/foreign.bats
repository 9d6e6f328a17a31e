# SPDX-License-Identifier: Apache-2.0
# Foreign files that assay only reads: names that drive terminals, links and pipes in experiments,
# damaged and tampered databases.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" x.assay
    build_evil
}
setup() {
    load common.bash
    rm -rf y.assay out err kept
    cp -r x.assay y.assay
    unset DISPLAY WAYLAND_DISPLAY BROWSER
}

# A program that tries to drive a terminal with the names of its function, unit, directory, producer
# and source line. It uses ESC, C1 as UTF-8 (U+009B), a bidirectional override, and an invalid byte
# of UTF-8.
build_evil() {
    command -v gcc >/dev/null || return 0
    mkdir -p $'ev\033]0;il'
    cat >$'ev\033]0;il/s\302\233rc.c' <<'END'
int twice(int);
int evil(int x)
{
    int s = 0; // ESC[2J here
    for (int i = 0; i < x; i++)
        s += twice(i); // C1
    return s;
}
int twice(int x) { return 2 * x; }
int main(void) { return evil(3); }
END
    sed -i $'s/ESC/\033/; s/C1/\302\2332J \342\200\256 \377/' $'ev\033]0;il/s\302\233rc.c'
    gcc -w -g -O1 -fno-inline -S $'ev\033]0;il/s\302\233rc.c' -o evil.s
    sed -i 's/"GNU C/"\\033[2JGNU C/' evil.s
    gcc -c evil.s -o evil.o
    objcopy --redefine-sym evil=$'ev\033[31mi\302\2332J\342\200\256\377l' evil.o
    gcc evil.o -o evil
}

# Fails when a file holds what drives a terminal; colours of ours are taken out first.
is_calm() {
    python3 - "$@" <<'END'
import re, sys
for name in sys.argv[1:]:
    text = open(name, "rb").read()
    assert text, name
    text = re.sub(rb"\x1b\[(?:[012]|3[1236])m", b"", text).decode("utf-8")
    bad = re.search("[^\n\t\x20-\x7e\xa0-\u200d\u2010-\u2027\u202f-\u2065\u206a-\U0010ffff]|\u061c", text)
    assert not bad, (name, text[max(0, bad.start() - 40):bad.end() + 40])
END
}

@test "no verb lets a binary's names drive the terminal" {
    [ -e evil ] || skip "no gcc here"
    local name=$'ev\033[31mi\302\2332J\342\200\256\377l'

    for color in never always; do
        "$ASSAY" info --color $color evil >info
        "$ASSAY" info --color $color --code evil >info-code
        "$ASSAY" functions --color $color evil >functions
        "$ASSAY" loops --color $color evil >loops
        "$ASSAY" disasm --color $color --bytes --facts --function "$name" evil >disasm
        "$ASSAY" cfg --color $color --function "$name" evil >cfg
        is_calm info info-code functions loops disasm cfg
        grep -qF 'ev\x1b[31mi\u009b2J\u202e\xffl' disasm
        grep -qF 'ev\x1b]0;il/s\u009brc.c' disasm
        grep -qF '// \x1b[2J here' disasm
        grep -qF 'ev\x1b[31mi\u009b2J\u202e\xffl' cfg
        ! grep -q $'\033\[31m' disasm cfg || fails "a colour that is not ours"
    done
    grep -q $'\033\[1m' disasm # which are there
    "$ASSAY" info --format json evil >info
    "$ASSAY" functions --format json evil >functions
    is_calm info functions
}
@test "no message lets a name drive the terminal" {
    local name=$'no\033[2J\302\233such'

    never "$ASSAY" info "$name" 2>err
    is_calm err
    grep -qF 'no?[2J\u009bsuch' err
    never "$ASSAY" show "$name.assay" 2>err
    is_calm err
}

# ---- Received experiments --------------------------------------------------------------------

# refused STATUS SENTENCE ARGUMENT...: one sentence, no output, and no waiting.
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    timeout 300 "$ASSAY" "$@" >out 2>err </dev/null || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

@test "a link where a report belongs is replaced, what it leads to stays" {
    local name
    for name in report.html report.xlsx report.txt report.json; do
        echo mine >kept
        ln -s ../kept y.assay/$name
    done
    "$ASSAY" report y.assay --format html,xlsx,text,json
    equal mine "$(cat kept)"
    for name in report.html report.xlsx report.txt report.json; do
        [ ! -L y.assay/$name ] && [ -s y.assay/$name ] || fails "$name is still a link"
        rm y.assay/$name
        ln -s ../kept y.assay/$name
    done
    "$ASSAY" open y.assay -q
    (cd y.assay && "$ASSAY" report . --format json,text -o .) # by another name of the directory
    equal mine "$(cat kept)"
    [ ! -L y.assay/report.html ]
    [ ! -L y.assay/report.json ]
    ln -sf ../kept y.assay/report-run-1.html
    "$ASSAY" report y.assay --run 1
    equal mine "$(cat kept)"
}
@test "a link or a pipe where the directory of CSV belongs" {
    mkdir -p kept-csv
    echo mine >kept-csv/functions.csv
    ln -s ../kept-csv y.assay/report-csv
    refused 1 "assay: y.assay/report-csv: cannot be written: *" report y.assay --format csv
    equal "mine" "$(cat kept-csv/*)"
    rm y.assay/report-csv
    mkdir y.assay/report-csv
    ln -s ../../kept-csv/functions.csv y.assay/report-csv/functions.csv
    mkfifo y.assay/report-csv/loops.csv
    timeout 300 "$ASSAY" report y.assay --format csv
    equal "mine" "$(cat kept-csv/*)"
    [ -f y.assay/report-csv/loops.csv ]
    rm -r kept-csv
}
@test "a pipe where a report belongs is replaced" {
    mkfifo y.assay/report.html y.assay/report.json y.assay/report.xlsx
    timeout 300 "$ASSAY" report y.assay --format html,json,xlsx
    [ -f y.assay/report.html ]
    [ -f y.assay/report.json ]
    [ -f y.assay/report.xlsx ]
}
@test "a foreign page is never shown" {
    echo '<script>theirs</script>' >y.assay/report.html
    touch -d '1 hour' y.assay/report.html
    "$ASSAY" open y.assay -q
    never grep -q theirs y.assay/report.html
    grep -q '<title>mpirun -n 2 ./solver 100</title>' y.assay/report.html
}
@test "an experiment that cannot be written is shown from elsewhere" {
    command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] || skip "needs root and setpriv"
    local as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    local place
    place=$(mktemp -d)
    cp -r y.assay "$place/y.assay"
    echo theirs >"$place/y.assay/report.html"
    mkdir "$place/tmp"
    chmod 755 "$place" "$place/y.assay"
    chmod 777 "$place/tmp"
    TMPDIR=$place/tmp $as_nobody "$ASSAY" --version >/dev/null 2>&1 || skip "others may not run it"
    TMPDIR=$place/tmp $as_nobody "$ASSAY" open "$place/y.assay" -q >out
    like "$place/tmp/assay-open-*/report.html" "$(cat out)"
    grep -q '<title>' "$(cat out)"
    equal 700 "$(stat -c %a "$(dirname "$(cat out)")")"
    equal theirs "$(cat "$place/y.assay/report.html")"
    rm -r "$place"
}
@test "links and pipes in place of the database" {
    local name
    for name in experiment.db experiment.db-wal experiment.db-journal experiment.db-shm; do
        rm -rf y.assay
        cp -r x.assay y.assay
        rm -f y.assay/$name
        mkfifo y.assay/$name
        refused 2 "assay: y.assay: not an experiment: $name in it is a directory, pipe or device, not a regular file; *" \
            show y.assay
        refused 2 "assay: y.assay: not an experiment: $name in it is *" report y.assay
        refused 2 "assay: y.assay: not an experiment: $name in it is *" attribute y.assay
        rm y.assay/$name
        echo mine >kept
        ln -s "$PWD/kept" y.assay/$name
        refused 2 "assay: y.assay: not an experiment: $name in it is a link, not a regular file; *" \
            show y.assay
        equal mine "$(cat kept)"
    done
    ln -s x.assay link.assay # named so by the user: fine
    "$ASSAY" show link.assay | grep -q "Profile of"
    rm link.assay
}
@test "a link where the samples of a run belong" {
    command -v gcc >/dev/null || skip "no gcc here"
    mkdir -p kept-run
    ln -s ../kept-run y.assay/run-002
    printf 'int main(void) { for (volatile long i = 0; i < 20000000; i++) ; return 0; }\n' >spin.c
    gcc -O1 spin.c -o spin
    never "$ASSAY" run --add -o y.assay -q -- ./spin 2>err
    like "*assay: y.assay/run-002: is a link instead of a directory of assay; remove it*" "$(cat err)"
    equal "" "$(ls -A kept-run)"
    rm -r kept-run
}
@test "--force removes links, and nothing behind them" {
    command -v gcc >/dev/null || skip "no gcc here"
    mkdir -p kept-run/sub
    echo mine >kept-run/sub/kept
    ln -s ../kept-run y.assay/run-001
    mkdir y.assay/run-002
    ln -s ../../kept-run/sub y.assay/run-002/sub
    rm y.assay/experiment.db
    ln -s ../kept-run/sub/kept y.assay/experiment.db
    printf 'int main(void) { for (volatile long i = 0; i < 20000000; i++) ; return 0; }\n' >spin.c
    gcc -O1 spin.c -o spin
    "$ASSAY" profile --force -o y.assay -q -- ./spin
    equal mine "$(cat kept-run/sub/kept)"
    [ -f y.assay/experiment.db ]
    [ ! -L y.assay/experiment.db ]
    [ ! -L y.assay/run-001 ]
    rm -r kept-run
}
@test "a pipe in place of the samples" {
    "$ASSAY" query y.assay "SELECT 1" >/dev/null
    mkdir -p y.assay/run-001
    mkfifo y.assay/run-001/main.samples
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("y.assay/experiment.db")
db.execute("DELETE FROM run_file")
db.execute("DELETE FROM process")
db.execute("UPDATE run SET state = 'interrupted'")
db.commit()
END
    local status=0
    timeout 300 "$ASSAY" attribute y.assay >out 2>err || status=$?
    [ $status = 1 ] || [ $status = 2 ] || fails "status $status: $(cat err)"
    like "*main.samples: the stream of a run is not a regular file; *" "$(cat err)"
}
@test "schemas that there cannot be" {
    local version
    for version in -4 -2147483648 0; do
        python3 -c "import sqlite3; sqlite3.connect('y.assay/experiment.db').execute('PRAGMA user_version = $version')"
        refused 2 "assay: y.assay/experiment.db: not an experiment: its database is incomplete; *" show y.assay
        refused 2 "assay: y.assay/experiment.db: not an experiment: its database is incomplete; *" report y.assay
        refused 2 "assay: y.assay/experiment.db: not an experiment: its database is incomplete; *" attribute y.assay
    done
}
@test "a database with foreign code" {
    local sql
    for sql in \
        "DROP VIEW v_runs; CREATE VIEW v_runs AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT * FROM c" \
        "DROP VIEW v_functions; CREATE TABLE v_functions (a)" \
        "ALTER TABLE run ADD COLUMN evil INT AS (abs(-9223372036854775808))" \
        "DROP VIEW v_runs; CREATE VIEW v_runs AS SELECT load_extension('/tmp/x.so')" \
        "CREATE VIEW set_evil AS SELECT 1" \
        "CREATE TABLE set_evil (a INT, b AS (a + 1))" \
        "CREATE TRIGGER evil AFTER UPDATE ON run BEGIN DELETE FROM sample; END" \
        "CREATE VIRTUAL TABLE evil USING fts5(a)"; do
        rm -rf y.assay
        cp -r x.assay y.assay
        python3 -c "import sqlite3, sys; sqlite3.connect('y.assay/experiment.db').executescript(sys.argv[1])" "$sql"
        refused 2 "assay: y.assay: not an experiment of this assay: * of its database differs; *" show y.assay
        refused 2 "assay: y.assay: not an experiment of this assay: * of its database differs; *" \
            query y.assay "SELECT * FROM v_runs"
        refused 2 "assay: y.assay: not an experiment of this assay: * of its database differs; *" attribute y.assay
    done
    # What SQL alone cannot make: rows of the schema itself.
    for sql in \
        "INSERT INTO sqlite_schema VALUES ('view', 'run', 'run', 0, 'CREATE TEMP VIEW run AS SELECT 1')" \
        "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'run'" \
        "UPDATE sqlite_schema SET sql = 'CREATE VIEW v_hosts AS SELECT 1' WHERE name = 'v_runs'" \
        "DELETE FROM sqlite_schema WHERE name = 'v_runs'"; do
        rm -rf y.assay
        cp -r x.assay y.assay
        python3 -c "
import sqlite3, sys
db = sqlite3.connect('y.assay/experiment.db')
db.execute('PRAGMA writable_schema = ON')
db.execute(sys.argv[1])
db.commit()" "$sql"
        refused 2 "assay: y.assay*: *" show y.assay
        refused 2 "assay: y.assay*: *" report y.assay
    done
}
@test "additions of users to a database do no harm" {
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("y.assay/experiment.db")
db.executescript("""CREATE TABLE my_notes (text TEXT, n INTEGER PRIMARY KEY, word UNIQUE);
    CREATE VIEW my_view AS SELECT name FROM function; CREATE INDEX my_index ON function (name);
    ANALYZE""")
END
    "$ASSAY" show y.assay | grep -q "Profile of"
    equal name "$("$ASSAY" --format csv query y.assay 'SELECT * FROM my_view LIMIT 1' | head -1)"
}
@test "a journal that names another file is not rolled back: SQLite would delete it" {
    echo mine >kept
    python3 - <<'END'
import os, struct
page = 4096
size = os.path.getsize("y.assay/experiment.db")
name = os.path.abspath("kept").encode()
data = open("y.assay/experiment.db", "rb").read(page)
head = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(">IIIII", 1, 0, size // page, 512, page)
record = struct.pack(">I", 1) + data
check = 0
for i in range(page - 200, 0, -200):
    check += data[i]
record += struct.pack(">I", check & 0xffffffff)
end = struct.pack(">I", 0x40000000 // page + 1) + name
end += struct.pack(">II", len(name), sum(name)) + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
open("y.assay/experiment.db-journal", "wb").write(head.ljust(512, b"\0") + record + end)
END
    refused 2 "assay: y.assay: not an experiment: its journal is not from assay; *" show y.assay
    refused 2 "assay: y.assay: not an experiment: its journal is not from assay; *" attribute y.assay
    equal mine "$(cat kept)"
}
@test "a pipe where a source or a binary is expected" {
    [ -e evil ] || skip "no gcc here"
    mkdir -p src
    printf 'int f(int x)\n{\n    return x;\n}\n' >src/f.c
    gcc -g -c "$PWD/src/f.c" -o f.o
    rm src/f.c
    mkfifo src/f.c
    timeout 300 "$ASSAY" disasm --function f f.o >out
    grep -q 'src/f.c$' out
    refused 2 "assay: src/f.c: is a pipe, not a regular file; *" info src/f.c
    refused 2 "assay: src/f.c: *" import src/f.c
    rm -r src
}

# ---- Tables ----------------------------------------------------------------------------------

@test "names that a spreadsheet takes for formulas or codes" {
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("y.assay/experiment.db")
names = ("solve", "fib", "main")
for name, evil in zip(names, ("=cmd|'/C calc'!A1", "_x0041_ and _x00g0_ _x005F_", "-2+3\x1b[2J")):
    db.execute("UPDATE function SET name = ? WHERE name = ?", (evil, name))
db.commit()
END
    "$ASSAY" report y.assay --format csv,json,xlsx
    grep -qE "(^|,)=cmd[|]" y.assay/report-csv/functions.csv # as it is, for programs
    python3 "$CHECK_XLSX" "$ASSAY" y.assay
    python3 - <<'END'
import zipfile
book = zipfile.ZipFile("y.assay/report.xlsx")
text = b"".join(book.read(name) for name in book.namelist())
assert b"_x005F_x0041_ and _x00g0_ _x005F_x005F_" in text
END
    "$ASSAY" report y.assay --format csv --csv-safe
    grep -qE "(^|,)'=cmd[|]" y.assay/report-csv/functions.csv
    grep -qF "'-2+3\\x1b[2J" y.assay/report-csv/functions.csv
    never grep -q "$(printf '\033')" y.assay/report-csv/*.csv
    "$ASSAY" --format csv --csv-safe query y.assay "SELECT '=1' AS a, -5 AS b, '-6' AS c, '@x' AS d" >out
    equal "a,b,c,d '=1,-5,-6,'@x" "$(tr '\n' ' ' <out | sed 's/ $//')"
    "$ASSAY" --format csv query y.assay "SELECT '=1' AS a" >out
    equal "a =1" "$(xargs <out)"
}

# ---- Damage ----------------------------------------------------------------------------------

@test "damaged databases end in a sentence" {
    like "*refused" "$(python3 "$CHECK_DAMAGE" "$ASSAY" x.assay 101)"
}

# ---- Where results go ------------------------------------------------------------------------

@test "a result on standard output is alone there" {
    local name
    for name in - /dev/stdout /dev/fd/1; do
        "$ASSAY" report y.assay --format json -o $name >out
        equal "mpirun -n 2 ./solver 100" "$(json '["title"]' <out)"
        "$ASSAY" report y.assay --format json -o $name | json '["title"]' >out
        equal "mpirun -n 2 ./solver 100" "$(cat out)"
        "$ASSAY" report y.assay --format html -o $name >out
        equal "<!doctype html>" "$(head -1 out)"
        equal "</html>" "$(tail -1 out)"
        echo before >out
        "$ASSAY" --format json show y.assay -o $name >>out
        equal before "$(head -1 out)"
        "$ASSAY" --format csv query y.assay "SELECT 7 AS n" -o $name >out
        equal "n 7" "$(xargs <out)"
        "$ASSAY" export y.assay --as folded -o $name >out
        [ -s out ]
        "$ASSAY" compare x.assay y.assay --format html -o $name >out
        equal "<!doctype html>" "$(head -1 out)"
    done
    [ ! -e ./- ] || fails "a file of that name was made"
    refused 2 "assay: --output: several formats need a directory, and - is standard output; use one format" \
        report y.assay --format html,json -o -
    refused 2 "assay: standard output: a workbook needs a file; use --output" \
        report y.assay --format xlsx -o -
    refused 2 "assay: standard output: CSV writes one file per view; use --output with a directory" \
        report y.assay --format csv -o -
    refused 2 "assay: --output: an experiment is a directory, not standard output; use --output NAME.assay" \
        profile -o - -- true
}
