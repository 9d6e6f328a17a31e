# SPDX-License-Identifier: Apache-2.0
# assay info on a program of two units.

setup_file() { load common.bash; build_program; }
setup() { load common.bash; }

# fact NAME: its value in the text
fact() { sed -n "s/^  $1  *//p" out; }

@test "text" {
    "$ASSAY" info program >out
    equal program "$(head -1 out)"
    equal "ELF64 x86-64 executable at a fixed address" "$(fact format)"
    equal "libc.so.6" "$(fact needs)"
    equal "/lib64/ld-linux-x86-64.so.2" "$(fact loader)"
    equal "$(readelf -n program | sed -n 's/.*Build ID: //p')" "$(fact build-id)"
    like "in the file, DWARF 5*" "$(fact 'debug info')"
    equal "2, 2 different builds:" "$(fact units)"
    equal 2 "$(grep -Ec '^    1 x C[0-9]+, gcc [0-9.]+, DWARF 5$' out)"
    grep -Eq '^ +.*-O1' out
    grep -Eq '^ +.*-O0' out
}
@test "units of a kind are counted" {
    for i in a b c; do
        echo "int f_$i(void) { return 1; }" >$i.c
        gcc -g -O2 -c $i.c
    done
    gcc -shared a.o b.o c.o -o three.so
    "$ASSAY" info three.so >out
    equal "3, all with the same build:" "$(fact units)"
    grep -Eq '^    3 x C[0-9]+, gcc [0-9.]+, DWARF 5$' out
    equal "ELF64 x86-64 shared library" "$(fact format)"
}
@test "stripped, without debug information" {
    strip -o stripped program
    "$ASSAY" info stripped >out
    like "stripped: *" "$(fact symbols)"
    like "none*-g*" "$(fact 'debug info')"
    "$ASSAY" info --format json stripped >out
    equal true "$(json '["binaries"][0]["stripped"]' <out)"
    equal none "$(json '["binaries"][0]["debug"]["kind"]' <out)"
    equal "[]" "$(json '["binaries"][0]["units"]' <out)"
}
@test "JSON" {
    "$ASSAY" info --format json program >out
    equal executable "$(json '["binaries"][0]["type"]' <out)"
    equal "$(stat -c %s program)" "$(json '["binaries"][0]["size_b"]' <out)"
    equal '["libc.so.6"]' "$(json '["binaries"][0]["needed"]' <out)"
    equal embedded "$(json '["binaries"][0]["debug"]["kind"]' <out)"
    equal 5 "$(json '["binaries"][0]["debug"]["dwarf_version_max"]' <out)"
    equal gcc "$(json '["binaries"][0]["units"][0]["compiler"]' <out)"
    equal "$(gcc -dumpfullversion)" "$(json '["binaries"][0]["units"][1]["compiler_version"]' <out)"
    like "*-O1*" "$(json '["binaries"][0]["units"][0]["flags"]' <out)"
    like "*twice.c" "$(json '["binaries"][0]["units"][1]["name"]' <out)"
}
@test "CSV" {
    "$ASSAY" info --format csv program >out
    equal "property,value" "$(head -1 out)"
    grep -qx 'binaries.0.type,executable' out
    grep -qx 'binaries.0.needed.0,libc.so.6' out
    grep -qx 'binaries.0.units.1.language,C' out
}
@test "--source-map renames units" {
    "$ASSAY" info --format json --source-map main.c=/elsewhere/main.c \
        --source-map "$PWD=/elsewhere" program >out
    like "/elsewhere/*" "$(json '["binaries"][0]["units"][0]["name"]' <out)"
}
