#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file is packed by zlib: it computes, and hardly waits for files.
# command: h5repack -f GZIP=6 -l CHUNK=100x100 grid.h5 packed.h5;
# has: compression;
# never: input_output waiting load_imbalance parallel_overhead;
cat >grid.conf <<END
PATH /grid
INPUT-CLASS TEXTFP
RANK 2
DIMENSION-SIZES 1200 1200
OUTPUT-SIZE 64
END
awk 'BEGIN { srand(1); for (i = 0; i < 1440000; i++)
    printf "%.4f%s", rand() + i % 1200 / 300, (i + 1) % 1200 ? " " : "\n" }' >grid.txt
h5import grid.txt -c grid.conf -o grid.h5
