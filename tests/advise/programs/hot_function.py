# SPDX-License-Identifier: Apache-2.0
# finding: python_function; repair: the sum runs in compiled code;
# says: distance .* runs as byte code
import operator

N = 3000
STEPS = 12000
first = [k % 7 * 0.5 for k in range(N)]
second = [k % 11 * 0.25 for k in range(N)]


def distance(a, b):
    if REPAIRED:  # noqa: F821 (a line above this file says it)
        return sum(map(operator.mul, a, b))
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


result = 0.0
for step in range(STEPS):
    result += distance(first, second)
print(result)
