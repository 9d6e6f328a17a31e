#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev demo`, after the build: runs the bundled example (examples/cg) with its faults under assay,
# shows what assay found, then the same program without them. Writes build/demo/ alone.
set -eu
cd "$(dirname "$0")/.."
assay=$PWD/build/assay
demo=build/demo
: "${CC:=gcc}" "${FC:=gfortran}"

say() { printf '\n==> %s\n' "$*"; }
command -v "$FC" >/dev/null || {
    echo "demo: $FC is missing, the example has a part in Fortran" >&2
    exit 1
}

cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
[ "$cores" -le 4 ] || cores=4
OMP_NUM_THREADS=${OMP_NUM_THREADS:-$cores}
export OMP_NUM_THREADS
how="--size 64 --loads 4"
faults=divide,stride,scalar,imbalance
# On a busy machine threads that spin for long would take the time of those that work.
GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-20000}
export GOMP_SPINCOUNT

build() { # DIRECTORY MAKE-OPTION...
    directory=$1
    shift
    make -s -C examples/cg BUILD="$PWD/$demo/$directory" CC="$CC" FC="$FC" "$@"
}

say "building examples/cg twice: as it is often done (-O2), and well (-O3 -march=native)"
build plain FLAGS=plain MPI=no
build tuned FLAGS=tuned MPI=no
cd "$demo"

say "assay run -o cg.assay -- plain/cg $how --faults $faults"
# shellcheck disable=SC2086
"$assay" run -o cg.assay --force -- plain/cg $how --faults "$faults"

say "the same without the faults, built well: tuned/cg $how"
# shellcheck disable=SC2086
tuned/cg $how

if command -v mpirun >/dev/null && command -v mpicc >/dev/null; then
    say "ranks are found by themselves: assay profile -o ranks.assay -- mpirun -n 2 ranks/cg ..."
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    cd ../..
    build ranks FLAGS=tuned MPI=yes
    cd "$demo"
    OMP_NUM_THREADS=1 "$assay" profile -q -o ranks.assay --force -- \
        mpirun --oversubscribe -n 2 ranks/cg --size 64 --loads 1 --faults imbalance &&
        "$assay" show ranks.assay --view processes || echo "(mpirun does not work here)"
fi

say "the report, for a browser: $PWD/cg.assay/report.html"
echo "    now yours: build/assay run -- PROGRAM (help: build/assay --help)"
echo "    what would make it faster, tried and measured (5 minutes):"
echo "    build/assay try --source examples/cg --build 'make MPI=no OPTIMISE=\"-O2 {flags}\"' \\"
echo "        -- examples/cg/build/cg $how --faults $faults"
