# SPDX-License-Identifier: Apache-2.0
# Help, man page and completions name every verb and option, and are well formed.

setup() { load common.bash; }

verbs() { "$ASSAY" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

@test "--help, help and help VERB agree" {
    equal "$("$ASSAY" --help)" "$("$ASSAY" help)"
    equal "$("$ASSAY" info --help)" "$("$ASSAY" help info)"
    equal "$("$ASSAY" info --help)" "$("$ASSAY" --help info)"
}
@test "--version" {
    like "assay [0-9]*.[0-9]*.[0-9]*" "$("$ASSAY" --version)"
    equal "$("$ASSAY" --version)" "$("$ASSAY" info -V)"
}
@test "help lists the verbs and fits 80 columns" {
    equal "info functions disasm loops patch cfg predict cqa validate profile run import merge attribute show report open scale repeat try vprof decan count roofline project compare query export evaluate edit probe simulate trace script machine" "$(verbs | tr '\n' ' ' | sed 's/ $//')"
    for verb in '' $(verbs); do
        "$ASSAY" $verb --help >text
        [ "$(wc -L <text)" -le 80 ] || fails "help of '$verb' is wider than 80 columns"
    done
}
# Examples that are wrong mislead: each is parsed, up to the command that it runs.
@test "every verb has two examples, and their options exist" {
    for verb in $(verbs); do
        COLUMNS=200 "$ASSAY" $verb --help | sed '1,/^Examples:$/d' | grep '^  [a-z]' >examples ||
            fails "$verb has no example"
        [ "$(wc -l <examples)" -ge 2 ] || fails "$verb has one example"
        while read -r line; do
            case $line in *"assay $verb"*) ;; *) fails "an example of $verb: $line" ;; esac
            line="\"\$ASSAY\" $verb --help ${line#*assay "$verb"}"
            eval "${line%% [|>]*}" >text 2>err || fails "$line" "$(cat err)"
            grep -q '^Usage: assay' text
        done <examples
    done
}
@test "the manual's index names every verb" {
    for verb in $(verbs); do
        grep -q "^| \`assay $verb[ \`]" "$MANUAL" || fails "the table of $MANUAL lacks '$verb'"
    done
}
# Prints the commands of the pages of the manual: lines of their own, and text between backticks.
manual_commands() {
    cd "$(dirname "$MANUAL")" || return
    sed -n 's/^ \{4,\}\(.*[; ]\)\{0,1\}\(assay [a-z].*\)/\2/p' ./*.md how-to/*.md | sed 's/ *#.*//'
    grep -oh '`assay [a-z][^`]*`' ./*.md how-to/*.md | tr -d '`'
}
@test "verbs and options in the manual exist" {
    # Numbers stand for placeholders; a synopsis has brackets, some texts end before a value.
    manual_commands | sed 's/ [|>\\].*//; s/ \(ID\|PID\|N\|S\)\b/ 1/g' |
        grep -v '\[\|--view$\|--against$' | sort -u >commands
    [ "$(wc -l <commands)" -gt 200 ]
    while read -r _ verb rest; do
        # Text about a verb may have no more than its name.
        eval "\"\$ASSAY\" $verb --help $rest" >text 2>err </dev/null ||
            fails "assay $verb $rest" "$(cat err)"
    done <commands
}
@test "help metrics lists the metrics of doc/reference/metrics.md with their units" {
    "$ASSAY" --help metrics >text
    [ "$(wc -L <text)" -le 80 ]
    equal "$(cat text)" "$("$ASSAY" help metrics)"
    # Name and unit of all rows with a unit, in their order.
    sed -n '/^## What-ifs/q; s/^- `\([A-Za-z0-9_]*\)` (\([^;)]*\)[;)].*/\1 [\2]/p' "$METRICS_DOC" >want
    [ "$(wc -l <want)" -gt 50 ]
    sed -n 's/^  \([A-Za-z0-9_]* \[[^]]*\]\).*/\1/p' text >got
    diff want got
    # The words, however they are wrapped.
    like "*run_time_s \[s\] Run time. Wall time of the run.*" "$(tr -s ' \n' ' ' <text)"
    like "*OF: gpr, xmm, ymm, zmm, mask.*" "$(tr -s ' \n' ' ' <text)"
}
@test "help metrics takes a name or a pattern" {
    equal "cycles cycles_worst cycles_source " "$("$ASSAY" --help metrics 'cycles*' |
        sed -n 's/^  \([a-z_]*\) \[cy\].*/\1/p' | tr '\n' ' ')"
    equal 1 "$("$ASSAY" help metrics ipc | grep -c '\[')"
    run "$ASSAY" --help metrics 'no*such'
    equal 2 "$status"
    like "*unknown metric no\*such*" "$output"
    run "$ASSAY" --help metrics one two
    equal 2 "$status"
    like "*one argument too many: two*" "$output"
}
@test "help findings explains the rules of doc/reference/rules.md" {
    "$ASSAY" --help findings >text
    [ "$(wc -L <text)" -le 80 ]
    sed -n 's/^- `\([a-z0-9_]*\)` (\([^)]*\)):.*/\1 [\2]/p; s/^- `\([a-z0-9_]*\)`:.*/\1/p' "$RULES_DOC" >want
    [ "$(wc -l <want)" -gt 100 ]
    sed -n 's/^  \([a-z][a-z0-9_]*\( \[[a-z ]*\]\)\{0,1\}\)\(  .*\)\{0,1\}$/\1/p' text >got
    diff want got
    like "*strided_walk \[potential or hint\] Registers of samples show the stride*" "$(tr -s ' \n' ' ' <text)"
    run "$ASSAY" --help findings strided_wak
    equal 2 "$status"
    like "*--help findings: unknown finding strided_wak; did you mean strided_walk?" "$output"
}
@test "help widens with COLUMNS" {
    [ "$(COLUMNS=120 "$ASSAY" info --help | wc -l)" -lt "$("$ASSAY" info --help | wc -l)" ]
}
@test "help, man page and completions name the same verbs and options" {
    run sh "$CHECK_OPTIONS" "$(dirname "$ASSAY")"
    like "options: [0-9]* checked in help, man page and completions" "$output"
}
@test "the man page is clean roff" {
    command -v mandoc >/dev/null || skip "no mandoc here"
    run mandoc -Tlint -Wwarning "$ASSAY_MAN"
    equal "" "$output"
}
@test "the bash completion parses and completes" {
    bash -n "$ASSAY_BASH"
    complete_bash() { # WORD...: the last is being completed
        bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay 2>/dev/null
                 printf "%s\n" "${COMPREPLY[@]}"' "$ASSAY_BASH" "$@" | tr '\n' ' '
    }
    equal "info " "$(complete_bash assay in)"
    equal "--filter " "$(complete_bash assay functions --fi)"
    equal "json " "$(complete_bash assay info --format j)"
    equal "json " "$(complete_bash assay info --format = j)"
    equal "text json csv dot svg html " "$(complete_bash assay info --format =)"
    equal "address size name " "$(complete_bash assay functions --sort '')"
}
@test "the zsh completion parses" {
    command -v zsh >/dev/null || skip "no zsh here"
    zsh -n "$ASSAY_ZSH"
}
@test "the fish completion parses and completes" {
    command -v fish >/dev/null || skip "no fish here"
    fish --no-execute "$ASSAY_FISH"
    complete_fish() { # LINE: what may stand at its end
        HOME=$PWD fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$ASSAY_FISH" "$1" |
            cut -f 1 | tr '\n' ' '
    }
    equal "functions " "$(complete_fish "assay fun")"
    equal "--filter " "$(complete_fish "assay functions --fi")"
    equal "address name size " "$(complete_fish "assay functions --sort ")"
    equal "json " "$(complete_fish "assay info --format j")"
    equal "" "$(complete_fish "assay info --against")"
}
