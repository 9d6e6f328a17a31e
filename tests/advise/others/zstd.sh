#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compressor with one thread.
# command: zstd -q -f -9 --single-thread numbers -o numbers.zst;
# has: no_debug hottest;
# never: scalar_arithmetic input_output system_calls load_imbalance parallel_overhead;
seq 1 2500000 >numbers
