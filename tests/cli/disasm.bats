# SPDX-License-Identifier: Apache-2.0
# assay disasm on a program of two units.

setup_file() { load common.bash; build_program; }
setup() { load common.bash; }

address_of() { nm program | awk -v n="$1" '$3 == n {sub(/^0*/, "", $1); print $1}'; }

@test "instructions start where objdump says" {
    "$ASSAY" disasm --function main --no-source program |
        sed -n 's/^  [> ] 0*\([0-9a-f]*\)  .*/\1/p' >got
    objdump -d --disassemble=main program | sed -n 's/^ *\([0-9a-f]*\):\t.*\t.*/\1/p' >want
    [ -s want ]
    equal "$(cat want)" "$(cat got)"
}
@test "source lines stand between the instructions" {
    "$ASSAY" disasm --function twice program >out
    grep -q 'twice.c$' out
    grep -qx '     3 |     return 2 \* x;' out
    "$ASSAY" disasm --function twice --no-source program >out
    never grep -q 'return' out
}
@test "without the source file the line number remains" {
    cp program moved
    mkdir -p gone
    "$ASSAY" disasm --function twice --source-map "$PWD=/not/there" moved >out
    grep -q '^/not/there/twice.c$' out
    grep -qx '     3 |' out
}
@test "inlined calls are named" {
    "$ASSAY" disasm --function main program >out
    grep -q 'main.c, in square inlined at main.c:16' out
}
@test "targets are labelled" {
    "$ASSAY" disasm --function main program >out
    grep -q 'call .*<twice>$' out
    grep -q 'call .*<printf@plt>$' out
    grep -Eq 'j[a-z]+ .*<main\+0x[0-9a-f]+>$' out
}
@test "--syntax, --bytes and --facts" {
    "$ASSAY" disasm --function twice --no-source program >out
    grep -Eq 'mov +rbp, *rsp' out
    "$ASSAY" disasm --function twice --no-source --syntax att program >out
    grep -Eq 'mov +%rsp, *%rbp' out
    "$ASSAY" disasm --function twice --no-source --bytes program >out
    grep -q '  55  *push' out
    "$ASSAY" disasm --function twice --no-source --facts program >out
    grep -q 'reads rsp.*; writes .*rbp' out
}
@test "JSON carries the facts" {
    "$ASSAY" disasm --function twice --format json program >out
    equal twice "$(json '["ranges"][0]["function"]' <out)"
    equal "0x$(address_of twice)" "$(json '["ranges"][0]["start"]' <out)"
    equal 55 "$(json '["ranges"][0]["instructions"][0]["bytes"]' <out)"
    equal push "$(json '["ranges"][0]["instructions"][0]["class"]' <out)"
    equal '["rsp", "rbp"]' "$(json '["ranges"][0]["instructions"][0]["reads"]' <out)"
    equal 2 "$(json '["ranges"][0]["instructions"][0]["line"]' <out)"
    equal return "$(json '["ranges"][0]["instructions"][-1]["class"]' <out)"
}
@test "--range" {
    local start=$(address_of twice)
    "$ASSAY" disasm --range "$start-$(printf %x $((16#$start + 4)))" --no-source program >out
    like "twice  $start-*, 4 bytes, 2 instructions" "$(head -1 out)"
    equal 2 "$(grep -c '^    0*4' out)"
}
@test "--range where no code is" {
    run "$ASSAY" disasm --range 10-20 program
    equal 2 "$status"
    like "assay: program: no bytes of the file stand at 0x10; *" "$output"
}
@test "--limit" {
    "$ASSAY" disasm --function main --no-source --limit 2 program >out
    equal 2 "$(grep -c '^  [> ] ' out)"
    like "*, the first 2" "$(head -1 out)"
}
@test "a name of several functions is refused with a list" {
    run "$ASSAY" disasm --function hidden program
    equal 2 "$status"
    like "assay: program: 'hidden' names 2 functions: hidden at *-*, hidden at *-*; *" "$output"
}
@test "an unknown name, with near ones" {
    run "$ASSAY" disasm --function twcie program
    equal 2 "$status"
    like "assay: program: no function matches 'twcie'; did you mean twice?" "$output"
}
@test "an alias finds its function" {
    like "*  $(address_of twice)-*" "$("$ASSAY" disasm --function alias_of_twice program)"
    like "*  $(address_of twice)-*" "$("$ASSAY" disasm --function twice program)"
}
@test "a pattern shows all it matches" {
    equal "call_hidden main" "$("$ASSAY" disasm --function '^(main|call_)' --no-source program |
        sed -n 's/^\([a-z_]*\)  .*instructions$/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
}
