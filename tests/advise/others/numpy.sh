#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole arrays in Python: what takes the time is in libraries.
# command: /usr/bin/python3 arrays.py;
# has: page_faults system_calls;
# never: scalar_mathematics interpreter load_imbalance parallel_overhead;
cat >arrays.py <<END
import numpy as np
a = np.random.default_rng(1).random((900, 900))
for i in range(3):
    b = a @ a
x = np.random.default_rng(2).random(3_000_000)
for i in range(8):
    y = np.exp(x) * 2 + np.sqrt(x) - x ** 2
    z = np.sort(y[:1_000_000])
print(b.sum(), z[0], abs(np.fft.fft(x[:2 ** 20])).sum())
END
