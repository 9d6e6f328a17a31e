# SPDX-License-Identifier: Apache-2.0
# Stored secrets of a command line, and reports that are mailed.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >burn.c <<'END'
static volatile double sink;
int main(void)
{
    for (long i = 0; i < 100000000; i++)
        sink = sink * 0.5 + 1;
    return 0;
}
END
    mkdir -p private
    gcc -g -O1 burn.c -o private/burn
    MPI_TOKEN=tr0ub4dor "$ASSAY" profile -q -o x.assay -- \
        env API_TOKEN=tr0ub4dor ./private/burn --password tr0ub4dor --key=tr0ub4dor plain
}
setup() {
    load common.bash
    [ -d x.assay ] || skip "no gcc here"
}

@test "no file of the experiment has a secret" {
    never grep -rq tr0ub4dor x.assay
    query() { "$ASSAY" query --format csv x.assay "$1" | tail -n +2; }
    equal "'env' stored" "$(query "SELECT iif(command LIKE 'env API_TOKEN=<redacted> %', '''env'' stored', command) FROM run")"
    like "*--password <redacted> --key=<redacted> plain" "$(query "SELECT command FROM run")"
    equal "<redacted>" "$(query "SELECT value FROM run_environment WHERE name = 'MPI_TOKEN'")"
    equal 700 "$(stat -c %a x.assay)"
}
@test "no report has a secret" {
    "$ASSAY" report x.assay --format html,json,text,csv >out
    "$ASSAY" export x.assay --as speedscope -o speedscope
    never grep -rq tr0ub4dor x.assay speedscope
}
@test "--keep-secrets and --shared" {
    (umask 022 && "$ASSAY" profile -q -o kept.assay --keep-secrets --shared -- ./private/burn --password tr0ub4dor)
    like "*--password tr0ub4dor" "$("$ASSAY" query kept.assay "SELECT command FROM run")"
    equal 755 "$(stat -c %a kept.assay)"
}
@test "a redacted command is not run again" {
    run "$ASSAY" try --add -o x.assay
    equal 2 "$status"
    like "*assay: --add: the stored command lacks its secrets (API_TOKEN=<redacted>); repeat the command after --" \
        "$output"
}
@test "a report that is mailed" {
    "$ASSAY" report "$PWD/x.assay" --redact --format json,text,csv >out
    host=$(uname -n)
    python3 - "$PWD" "$host" "$(id -un)" x.assay/report.json x.assay/report.txt x.assay/report-csv/*.csv <<'END'
import re, sys
place, host, user, *names = sys.argv[1:]
for name in names:
    text = open(name, encoding="utf-8").read()
    assert place not in text, (name, place)
    for word in (host, user) if user != "root" else (host,):
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
        assert not found, (name, word, text[max(0, found.start() - 60):found.end() + 60])
END
    # Sources and code are found all the same.
    grep -q '"path":"dir[0-9]*/burn.c","language":[^,]*,"first":[0-9]*,"lines":\["' x.assay/report.json
}
