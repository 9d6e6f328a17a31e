#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check-options.sh BUILD
# Every verb and option that the built program's help names stands in its man page and in all
# completions, and the man page and the completions name no other. They are made from one table;
# this checks that the making is right. Prints what is missing; exit status 1 then.
set -eu

build=$1
man=$build/cli/assay.1
bash=$build/cli/assay
zsh=$build/cli/_assay
fish=$build/cli/assay.fish
count=0
faults=0

fault() {
    printf 'check-options: %s\n' "$1"
    faults=$((faults + 1))
}

plain_man() { sed 's/\\//g' "$man"; } # without roff's escapes
verbs() { "$build/assay" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'; }
in_help() { # VERB: its long options, the common ones too
    "$build/assay" "$1" --help | sed -n 's/^  \(    \|-., \)--\([a-z-]*\).*/\2/p' | sort -u
}

for verb in $(verbs); do
    plain_man | grep -q "^.SS assay $verb\$" || fault "man page: no verb $verb"
    grep -q "^    $verb) words" "$bash" || fault "bash completion: no verb $verb"
    grep -q "'$verb:" "$zsh" || fault "zsh completion: no verb $verb"
    grep -q -e "-f -a $verb -d" "$fish" || fault "fish completion: no verb $verb"
    for option in $(in_help "$verb"); do
        count=$((count + 1))
        plain_man | grep -q -e "fB--${option}fR" || fault "man page: no --$option"
        grep -q -e " --${option}[ ']" "$bash" || fault "bash completion: no --$option"
        grep -q -e "'\\**--$option=\\{0,1\\}\\[" "$zsh" || fault "zsh completion: no --$option"
        grep -q -e " -l $option " "$fish" || fault "fish completion: no --$option"
    done
done

known=$(for verb in $(verbs); do in_help "$verb"; done | sort -u)
others() { # NAME, its options on standard input
    while read -r option; do
        printf '%s\n' "$known" | grep -qx -e "$option" || fault "$1: --$option is in no help"
    done
    [ "$faults" = 0 ]
}
plain_man | sed -n 's/.*fB--\([a-z-]*\)fR.*/\1/p' | others "man page" || faults=1
grep -o -e ' --[a-z][a-z-]*' "$bash" | sed 's/ --//' | others "bash completion" || faults=1
sed -n "s/^ *'\\**--\\([a-z-]*\\)=\\{0,1\\}\\[.*/\\1/p" "$zsh" | others "zsh completion" || faults=1
sed -n "s/^complete .* -l \\([a-z-]*\\) .*/\\1/p" "$fish" | others "fish completion" || faults=1

[ "$count" -gt 0 ] || fault "the help names no option"
[ "$faults" = 0 ] || exit 1
printf 'options: %s checked in help, man page and completions\n' "$count"
