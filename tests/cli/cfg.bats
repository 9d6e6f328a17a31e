# SPDX-License-Identifier: Apache-2.0
# assay cfg on a function with blocks and edges known from its assembly.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >hand.s <<'END'
    .text
    .globl walk
    .type walk, @function
walk:                       # b0: entry
    test %rdi, %rdi
    je .Lout
.Lhead:                     # b1: header
    dec %rsi
    js .Lskip
    add $1, %rax            # b2
.Lskip:                     # b3: latch
    dec %rdi
    jnz .Lhead
.Lout:                      # b4
    ret
    .size walk, . - walk
    .globl pick
    .type pick, @function
pick:                       # b0
    cmp $2, %rdi
    ja .Ldefault
    lea .Ltable(%rip), %rdx # b1
    movslq (%rdx,%rdi,4), %rax
    add %rdx, %rax
    jmp *%rax
.La: mov $10, %eax          # b2
    ret
.Lb: mov $20, %eax          # b3
    ret
.Lc: mov $30, %eax          # b4
    ret
.Ldefault:                  # b5
    xor %eax, %eax
    ret
    .size pick, . - pick
    .section .rodata
    .balign 4
.Ltable: .long .La - .Ltable, .Lb - .Ltable, .Lc - .Ltable
    .section .note.GNU-stack, "", @progbits
END
    gcc -shared -nostdlib hand.s -o hand.so
}
setup() { load common.bash; }

edges() { "$ASSAY" cfg --function "$1" --format csv hand.so | tail -n +2 | tr -d '\r' | xargs; }

@test "blocks and edges are those written" {
    equal '0,1,fall,false 0,4,taken,false 1,2,fall,false 1,3,taken,false 2,3,fall,false 3,4,fall,false 3,1,taken,true' \
        "$(edges walk)"
}
@test "a jump table leads to its entries and no further" {
    equal '0,1,fall,false 0,5,taken,false 1,2,table,false 1,3,table,false 1,4,table,false' \
        "$(edges pick)"
}
@test "JSON has dominators, loops and marks" {
    "$ASSAY" cfg --function walk --format json hand.so >out
    equal '[null, 0, 1, 1, 0]' "$(python3 -c "
import json; print(json.dumps([b['immediate_dominator'] for b in json.load(open('out'))['blocks']]))")"
    equal '[4, 3, 3, 4, null]' "$(python3 -c "
import json; print(json.dumps([b['immediate_post_dominator'] for b in json.load(open('out'))['blocks']]))")"
    equal '[null, 0, 0, 0, null]' "$(python3 -c "
import json; print(json.dumps([b['loop'] for b in json.load(open('out'))['blocks']]))")"
    equal '["entry"]' "$(json '["blocks"][0]["marks"]' <out)"
    equal '["returns"]' "$(json '["blocks"][4]["marks"]' <out)"
    equal True "$(json '["blocks"][1]["header"]' <out | sed 's/true/True/')"
}
@test "--loop shows the loop alone" {
    equal '0,1,fall,false 0,2,taken,false 1,2,fall,false 2,0,taken,true' \
        "$("$ASSAY" cfg --loop 0 --format csv hand.so | tail -n +2 | tr -d '\r' | xargs)"
    "$ASSAY" cfg --loop 0 hand.so | grep -q '    -> 0x[0-9a-f]* outside, fall'
}
@test "the listing" {
    "$ASSAY" cfg --function walk --instructions hand.so >out
    head -1 out | grep -qx 'walk: 5 blocks, 7 edges'
    grep -q '^  b1  0x[0-9a-f]*  2 instructions, loop 0 (header)$' out
    grep -q '^ *dec rsi$' out
}
@test "SVG is well-formed and holds every block and edge" {
    "$ASSAY" cfg --function walk --instructions --format svg -o walk.svg hand.so
    python3 - <<'END'
import xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
root = tree.parse("walk.svg").getroot()
boxes = [g.get("id") for g in root.iter(ns + "g") if g.get("id")]
assert boxes == ["b0", "b1", "b2", "b3", "b4"], boxes
edges = [p for p in root.iter(ns + "path") if "edge" in p.get("class")]
assert len(edges) == 7, len(edges)
assert sum("back" in p.get("class") for p in edges) == 1
assert any("dec rsi" in (t.text or "") for t in root.iter(ns + "text"))
assert root.find(ns + "title").text == "walk"
END
}
@test "DOT" {
    "$ASSAY" cfg --function walk --format dot hand.so >out
    grep -qx '  "b3" -> "b1" \[color="#2c7a3f" penwidth=2\];' out
    equal 7 "$(grep -c -- '->' out)"
    equal 5 "$(grep -c 'label=' out)"
    command -v dot >/dev/null || skip "no dot here"
    dot -Tsvg out >/dev/null
}
@test "wrong use" {
    run -2 "$ASSAY" cfg hand.so
    equal 'assay: cfg: nothing chosen; use --function NAME or --loop ID' "$output"
    run -2 "$ASSAY" cfg --loop 7 hand.so
    equal "assay: --loop: 7 is no loop of hand.so, they are 0 to 0; 'assay loops' lists them" "$output"
    run -2 "$ASSAY" loops --format svg hand.so
    equal "assay: --format: 'loops' does not write svg; use text, json or csv" "$output"
}
