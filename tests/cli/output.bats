# SPDX-License-Identifier: Apache-2.0
# Formats, files, colours, broken outputs and several inputs.

setup_file() { load common.bash; build_program; }
setup() { load common.bash; }

@test "--output writes what standard output would get" {
    "$ASSAY" info program >a
    "$ASSAY" info -o b program
    cmp a b
}
@test "--output that cannot be made is a failure" {
    run "$ASSAY" info -o nowhere/x program
    equal 1 "$status"
    like "assay: nowhere/x: cannot be written: *" "$output"
}
@test "a full disk is a failure" {
    [ -w /dev/full ] || skip "no /dev/full here"
    run "$ASSAY" info -o /dev/full program
    equal 1 "$status"
    like "assay: /dev/full: *No space left on device*" "$output"
}
@test "a closed pipe prints no error" {
    { "$ASSAY" functions --format json "$ASSAY" 2>err || echo $? >status; } | head -c 1 >/dev/null
    equal "" "$(cat err)"
}
@test "colour: never in a pipe, always when asked, never with NO_COLOR" {
    local escape=$'\033'
    "$ASSAY" info program >plain
    "$ASSAY" info --color always program >coloured
    never grep -q "$escape" plain
    grep -q "$escape" coloured
    equal "$(cat plain)" "$(sed "s/$escape\[[0-9]*m//g" coloured)"
    "$ASSAY" info --color always --format json program | { ! grep -q "$escape"; }
}
@test "several inputs: the good are shown, the bad are said, the worst decides" {
    echo text >file
    local status=0
    "$ASSAY" info program file ./nowhere twice.o >out 2>err || status=$?
    equal 2 "$status"
    equal "program twice.o" "$(grep -v '^ ' out | tr -s '\n' ' ' | sed 's/ $//')"
    equal 2 "$(wc -l <err)"
    "$ASSAY" info --format json program file >out 2>/dev/null || true
    equal program "$(json '["binaries"][0]["path"]' <out)"
    equal file "$(json '["errors"][0]["path"]' <out)"
}
@test "every verb: JSON is one object with schema, version and command" {
    for verb in "info" "functions" "disasm --function main"; do
        "$ASSAY" $verb --format json program >out
        equal 1 "$(json '["schema"]' <out)"
        equal "$("$ASSAY" --version)" "assay $(json '["assay"]' <out)"
        equal "${verb%% *}" "$(json '["command"]' <out)"
        equal "[]" "$(json '["errors"]' <out)"
    done
}
@test "every verb: CSV rows are as wide as the header" {
    for verb in "info" "functions" "disasm --function main"; do
        "$ASSAY" $verb --format csv program >out
        python3 - <<'END'
import csv
rows = list(csv.reader(open("out")))
assert len(rows) > 5, rows
assert all(len(row) == len(rows[0]) for row in rows)
assert all(rows[0])
END
    done
}
@test "text fits 80 columns" {
    for verb in info functions; do
        COLUMNS=80 "$ASSAY" $verb program >out
        [ "$(wc -L <out)" -le 80 ] || fails "$verb is wider than 80 columns: $(cat out)"
    done
}
