#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: many.sh DIRECTORY: makes DIRECTORY/many, a program of 100,000 small functions in 200 files
# with debug information (gcc -O1 -g). Kept there once made; takes about a minute.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -x many ] || exit 0
files=200
functions=500
file=0
while [ "$file" -lt "$files" ]; do
    printf '%s\n' "f$file.o"
    file=$((file + 1))
done >objects
awk -v files=$files -v functions=$functions 'BEGIN {
    for (f = 0; f < files; f++) {
        name = "f" f ".c"
        print "struct state { double x[8]; int n, step; };" >name
        print "static inline int wrap(int i, int n) { return i < n ? i : i - n; }" >name
        for (k = 0; k < functions; k++) {
            id = f * functions + k
            printf "double work_%d(struct state *s, int i)\n{\n", id >name
            printf "    int at = wrap(i + %d, s->n);\n", k % 7 >name
            printf "    if (at > %d)\n        s->step += at;\n", k % 11 >name
            printf "    return s->x[at & 7] * %d.5 + s->step;\n}\n\n", id % 97 >name
        }
        close(name)
    }
    print "int main(void) { return 0; }" >"main.c"
}'
sed 's/o$/c/' objects | xargs -P "${JOBS:-2}" -n 4 gcc -O1 -g -c
gcc -g main.c @objects -o many.new
rm -f f*.c f*.o main.c
mv many.new many
