# SPDX-License-Identifier: Apache-2.0
# An error in a command line prints one sentence on stderr, with exit status 2.

setup() { load common.bash; }

# refused STATUS SENTENCE ARGUMENT...
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" "$@" >out 2>err || status=$?
    equal "$want" "$(cat err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

@test "no verb" {
    refused 2 "assay: no verb given; 'assay --help' lists the verbs"
}
@test "unknown verb, with the nearest" {
    refused 2 "assay: inof: unknown verb; did you mean 'info'?" inof x
}
@test "unknown verb, with nothing near" {
    refused 2 "assay: zzzzzz: unknown verb; 'assay --help' lists the verbs" zzzzzz
}
@test "unknown option, with the nearest" {
    refused 2 "assay: --fitler: unknown option of assay functions; did you mean --filter?" \
        functions --fitler=x a
}
@test "unknown option, with nothing near" {
    refused 2 "assay: --zzzzzzzz: unknown option of assay info; 'assay info --help' lists the options" \
        info --zzzzzzzz a
}
@test "unknown option before the verb" {
    refused 2 "assay: --colour: unknown option; did you mean --color?" --colour info a
}
@test "unknown letter" {
    refused 2 "assay: -x: unknown option; 'assay info --help' lists the options" info -x a
}
@test "an option of another verb" {
    refused 2 "assay: --filter: unknown option of assay info; 'assay info --help' lists the options" \
        info --filter x a
}
@test "choice that is none" {
    refused 2 "assay: --format: invalid value 'xml'; use text, json, csv, dot, svg or html" \
        info --format xml a
}
@test "choice that is none, with the nearest" {
    refused 2 "assay: --view: invalid value 'lops'; did you mean loops?" show --view lops a
    refused 2 "assay: --formt: unknown option of assay show; did you mean --format?" show --formt json a
    refused 2 "assay: --format: invalid value 'jsn'; did you mean json?" info --format jsn a
    refused 2 "assay: --as: invalid value 'foldd'; did you mean folded?" export --as foldd a
    refused 2 "assay: --level: invalid value 'tow'; did you mean two?" run --level tow -- true
    refused 2 "assay: --level: invalid value 'innermst'; did you mean innermost?" \
        loops --level innermst a
    refused 2 "assay: --level: invalid value 'L4'; use L1, L2, L3, RAM or all" \
        predict --level L4 a
    refused 2 "assay: --level: invalid value 'hnit'; did you mean hint?" \
        cqa --level gain,hnit a
    refused 2 "assay: --help metrics: unknown metric run_tme_s; did you mean run_time_s?" \
        --help metrics run_tme_s
    refused 2 "assay: --groups: invalid value 'mpii'; did you mean mpi?" trace --groups mpii -- true
}
@test "number that is none" {
    refused 2 "assay: --jobs: 'two' is not a number; use a whole number from 0 to 2147483647" \
        info -j two a
}
@test "negative number" {
    refused 2 "assay: --limit: '-1' is not a number; use a whole number from 0 to 2147483647" \
        functions --limit -1 a
}
@test "missing value" {
    refused 2 "assay: --format: missing FORMAT; use --format FORMAT" info --format
}
@test "value of a flag" {
    refused 2 "assay: --quiet: does not take a value; use --quiet alone" info --quiet=1 a
}
@test "missing argument" {
    refused 2 "assay: info: missing BIN; use 'assay info [options] BIN...'" info
}
@test "argument too many" {
    refused 2 "assay: functions: one argument too many: b; use 'assay functions [options] BIN'" \
        functions a b
}
@test "source map without =" {
    refused 2 "assay: --source-map: invalid value 'abc'; use OLD=NEW" info --source-map abc "$ASSAY"
}
@test "pattern that is none" {
    "$ASSAY" functions --filter '(' "$ASSAY" 2>err && return 1
    like "assay: --filter: '(' is not a POSIX extended regular expression: *; escape *" "$(cat err)"
}
@test "disasm of nothing" {
    refused 2 "assay: disasm: nothing chosen; use --function NAME, --range A-B or --loop ID" disasm a
}
@test "range that is none" {
    refused 2 "assay: --range: invalid range '10'; use A-B with A below B, both hexadecimal" \
        disasm --range 10 "$ASSAY"
}
@test "file that is not there" {
    "$ASSAY" info ./nowhere 2>err && return 1
    like "assay: ./nowhere: *" "$(cat err)"
    equal 1 "$(wc -l <err)"
}
