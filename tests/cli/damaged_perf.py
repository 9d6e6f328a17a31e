#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: damaged_perf.py OUT: files of perf that are damaged in one place each, some so that only
the numbers are absurd, and OUT/whole, which is not. The bytes are those of
tests/fuzz/seeds_samples.py.
"""
import itertools
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "zoo"))
import seeds_samples as perf  # noqa: E402
from turn import turns  # noqa: E402

KINDS = perf.IP | perf.TID | perf.TIME | perf.CPU | perf.PERIOD | perf.CHAIN
MOST = 2**64 - 1


def one_event(records, features):
    return perf.perf_file([(perf.attr(1, 0, KINDS), [])], b"".join(records), features)


def sample(time=1007, period=1001001):
    made = perf.sample(KINDS, time)
    return made.replace(perf.words(1001001), perf.words(period))


def absurd():
    """Yields a name and a file with a valid structure and absurd values."""
    every, features = perf.every_record(KINDS), perf.features()
    fork = struct.pack("<IIIIQ", 200, 100, 201, 101, MOST) + perf.trailer(KINDS, 1005)
    lost = perf.words(9, MOST) + perf.trailer(KINDS, 1008)
    yield "first-time", one_event(every, features | {21: perf.words(2**63, MOST)})
    yield "clock", one_event(every, features | {29: struct.pack("<IIQQ", 1, 1, 2**63, MOST)})
    yield "clock-wide", one_event(every, features | {29: struct.pack("<IIQQ", 1, 1, 1, 2**63)})
    yield "memory", one_event(every, features | {10: perf.words(MOST)})
    for value in (2**62, 2**63 - 1, 2**63, MOST):
        yield f"time-{value:x}", one_event(every + [sample(time=value)], features)
        yield f"time-alone-{value:x}", one_event([sample(time=value)], {})
        yield f"period-{value:x}", one_event(every + [sample(period=value)] * 3, features)
    yield "fork-time", one_event(every + [perf.record(7, fork)], features)
    yield "lost", one_event(every + [perf.record(2, lost)] * 2, features)
    pipe = b"PERFILE2" + perf.words(16) + perf.record(64, perf.attr(1, 0, KINDS) + perf.words(5))
    yield "trace", pipe + perf.record(71, perf.words(2**64 - 48 - 168, 0, 0, 0, 0)) + sample()
    told = KINDS | perf.IDENTIFIER
    many = perf.record(64, perf.attr(1, 0, told) + perf.words(5))
    yield "events", b"PERFILE2" + perf.words(16) + many * 5000 + perf.sample(told, 1007, 5)
    yield "empty", b"PERFILE2" + perf.words(104) + b"\0" * 88
    yield "nothing", b""


def broken(whole, turn, n):
    """Cut at places, and with eight bytes overwritten at places, others in each turn."""
    rng = random.Random(20260101 + turn)
    for i in range(n):
        at = rng.randrange(len(whole))
        yield f"cut-{at}", whole[:at]
        at = rng.randrange(len(whole) - 8)
        value = rng.choice((0, 1, 2**31, 2**63, MOST, rng.getrandbits(64)))
        yield f"over-{at}", whole[:at] + perf.words(value) + whole[at + 8:]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir()
    whole = one_event(perf.every_record(KINDS), perf.features())
    some = itertools.chain.from_iterable(broken(whole, turn, 10) for turn in turns())
    for name, data in [("whole", whole), *absurd(), *some]:
        (out / f"{name}.data").write_bytes(data)


if __name__ == "__main__":
    main()
