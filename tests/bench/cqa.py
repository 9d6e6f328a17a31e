#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of `assay cqa` over all innermost loops of a library, two threads, reading included:
cqa.py ASSAY BINARY. Writes microseconds of wall time a loop, loops, and MiB at the peak."""
import csv
import io
import os
import resource
import subprocess
import sys
import time

began = time.monotonic()
run = subprocess.run([sys.argv[1], "cqa", "--machine", "zen5", "--format", "csv", "-j", "2",
                      os.path.realpath(sys.argv[2])], capture_output=True, text=True, check=True)
wall = time.monotonic() - began
loops = len({row[0] for row in csv.reader(io.StringIO(run.stdout))}) - 1
peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(f"{1e6 * wall / loops:.0f} {loops} {peak_kib // 1024}")
