# SPDX-License-Identifier: Apache-2.0
# What others made and we only read: names that drive terminals, links and pipes in experiments,
# damaged and tampered databases.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" x.assay
    build_evil
}
setup() {
    load common.bash
    rm -rf y.assay out err kept
    cp -r x.assay y.assay
    unset DISPLAY WAYLAND_DISPLAY BROWSER
}

# A program whose function, unit, directory, producer and source line try to drive a terminal: by
# ESC, by C1 as UTF-8 (U+009B), by a bidirectional override, by a byte that is no UTF-8.
build_evil() {
    command -v gcc >/dev/null || return 0
    mkdir -p $'ev\033]0;il'
    cat >$'ev\033]0;il/s\302\233rc.c' <<'END'
int twice(int);
int evil(int x)
{
    int s = 0; // ESC[2J here
    for (int i = 0; i < x; i++)
        s += twice(i); // C1
    return s;
}
int twice(int x) { return 2 * x; }
int main(void) { return evil(3); }
END
    sed -i $'s/ESC/\033/; s/C1/\302\2332J \342\200\256 \377/' $'ev\033]0;il/s\302\233rc.c'
    gcc -w -g -O1 -fno-inline -S $'ev\033]0;il/s\302\233rc.c' -o evil.s
    sed -i 's/"GNU C/"\\033[2JGNU C/' evil.s
    gcc -c evil.s -o evil.o
    objcopy --redefine-sym evil=$'ev\033[31mi\302\2332J\342\200\256\377l' evil.o
    gcc evil.o -o evil
}

# Fails when a file holds what drives a terminal; colours of ours are taken out first.
is_calm() {
    python3 - "$@" <<'END'
import re, sys
for name in sys.argv[1:]:
    text = open(name, "rb").read()
    assert text, name
    text = re.sub(rb"\x1b\[(?:[012]|3[1236])m", b"", text).decode("utf-8")
    bad = re.search("[^\n\t\x20-\x7e\xa0-\u200d\u2010-\u2027\u202f-\u2065\u206a-\U0010ffff]|\u061c", text)
    assert not bad, (name, text[max(0, bad.start() - 40):bad.end() + 40])
END
}

@test "no verb lets a binary's names drive the terminal" {
    [ -e evil ] || skip "no gcc here"
    local name=$'ev\033[31mi\302\2332J\342\200\256\377l'

    for color in never always; do
        "$ASSAY" info --color $color evil >info
        "$ASSAY" info --color $color --code evil >info-code
        "$ASSAY" functions --color $color evil >functions
        "$ASSAY" loops --color $color evil >loops
        "$ASSAY" disasm --color $color --bytes --facts --function "$name" evil >disasm
        "$ASSAY" cfg --color $color --function "$name" evil >cfg
        is_calm info info-code functions loops disasm cfg
        grep -qF 'ev\x1b[31mi\u009b2J\u202e\xffl' disasm
        grep -qF 'ev\x1b]0;il/s\u009brc.c' disasm
        grep -qF '// \x1b[2J here' disasm
        grep -qF 'ev\x1b[31mi\u009b2J\u202e\xffl' cfg
        ! grep -q $'\033\[31m' disasm cfg || fails "a colour that is not ours"
    done
    grep -q $'\033\[1m' disasm # which are there
    "$ASSAY" info --format json evil >info
    "$ASSAY" functions --format json evil >functions
    is_calm info functions
}
@test "no message lets a name drive the terminal" {
    local name=$'no\033[2J\302\233such'

    ! "$ASSAY" info "$name" 2>err
    is_calm err
    grep -qF 'no?[2J\u009bsuch' err
    ! "$ASSAY" show "$name.assay" 2>err
    is_calm err
}
