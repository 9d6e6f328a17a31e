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
    equal "info functions disasm loops patch cfg predict cqa validate profile run import merge attribute show report open scale repeat try vprof compare query export machine" "$(verbs | tr '\n' ' ' | sed 's/ $//')"
    for verb in '' $(verbs); do
        "$ASSAY" $verb --help >text
        [ "$(wc -L <text)" -le 80 ] || fails "help of '$verb' is wider than 80 columns"
    done
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
    equal "text json csv dot svg " "$(complete_bash assay info --format =)"
    equal "address size name " "$(complete_bash assay functions --sort '')"
}
@test "the zsh completion parses" {
    command -v zsh >/dev/null || skip "no zsh here"
    zsh -n "$ASSAY_ZSH"
}
