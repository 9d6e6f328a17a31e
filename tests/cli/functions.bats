# SPDX-License-Identifier: Apache-2.0
# assay functions on a program of two units.

setup_file() { load common.bash; build_program; }
setup() { load common.bash; }

# row NAME FIELD: of the JSON in `out`
row() {
    python3 - "$1" "$2" <<'END'
import json, sys
rows = [f for f in json.load(open("out"))["functions"] if f["name"] == sys.argv[1]]
print(*[r[sys.argv[2]] for r in rows])
END
}

@test "addresses and sizes are those of nm" {
    "$ASSAY" functions --format json program >out
    for name in main twice call_hidden _start; do
        set -- $(nm -S program | awk -v n="$name" '$4 == n {print $1, $2}')
        equal "0x$(echo "$1" | sed 's/^0*//')" "$(row "$name" address)"
        [ -z "$2" ] || equal "$((16#$2))" "$(row "$name" size_b)"
    done
    equal symbol "$(row main origin)"
    equal plt "$(row printf@plt origin)"
}
@test "source lines, compilers and aliases" {
    "$ASSAY" functions --format json program >out
    like "*/main.c" "$(row main file)"
    equal 12 "$(row main line)"
    equal gcc "$(row main compiler)"
    equal C "$(row main language)"
    equal 1 "$(row "$(grep -o '"alias_of_twice"\|"twice"' out | head -1 | tr -d '"')" aliases)"
    equal 2 "$(row hidden address | wc -w)"
}
@test "--filter" {
    equal "main call_hidden" "$("$ASSAY" functions --filter '^(main|call_hidden)$' --format csv \
        program | tail -n +2 | cut -d, -f3 | tr '\n' ' ' | sed 's/ $//')"
    like "address *main*call_hidden*" "$("$ASSAY" functions --filter '^(main|call_)' program)"
}
@test "--filter that nothing matches" {
    "$ASSAY" functions --filter nothing_like_it program >out
    like "0 functions*" "$(tail -1 out)"
    equal "[]" "$("$ASSAY" functions --filter nothing_like_it --format json program |
        json '["functions"]')"
}
@test "--sort size and --limit" {
    "$ASSAY" functions --sort size --limit 3 --format csv program | tail -n +2 | cut -d, -f2 >sizes
    equal 3 "$(wc -l <sizes)"
    equal "$(sort -rn sizes)" "$(cat sizes)"
}
@test "--sort name and address" {
    "$ASSAY" functions --sort name --format csv program | tail -n +2 | cut -d, -f3 >names
    [ -s names ]
    equal "$(LC_ALL=C sort names)" "$(cat names)"
    "$ASSAY" functions --format csv program | tail -n +2 | cut -d, -f1 >addresses
    [ -s addresses ]
    equal "$(sort addresses)" "$(cat addresses)"
}
@test "--no-demangle" {
    command -v g++ >/dev/null || skip "no g++ here"
    echo 'namespace ns { int f(int x) { return x; } }' >ns.cc
    g++ -c ns.cc -o ns.o
    like "*ns::f(int)*" "$("$ASSAY" functions ns.o)"
    like "*_ZN2ns1fEi*" "$("$ASSAY" functions --no-demangle ns.o)"
}
