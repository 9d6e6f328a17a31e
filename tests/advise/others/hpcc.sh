#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One rank over a library of threads that spin.
# command: hpcc;
# has: system_calls no_debug;
# never: array_access load_imbalance parallel_overhead;
sed -e "/ Ns\$/s/^[0-9]*/2000/; / [PQ]s\$/s/^[0-9]*/1/" \
    /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
