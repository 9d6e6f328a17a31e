#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One rank of MPI: starting and ending MPI is no cost of being parallel.
# command: lmp -log none -in melt.in;
# has: no_debug;
# never: scalar_gather scalar_calls array_access scalar_chain load_imbalance parallel_overhead;
sed 's/^run 300/run 100/' "$HERE/../bench/melt.in" >melt.in
