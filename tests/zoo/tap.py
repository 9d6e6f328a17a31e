# SPDX-License-Identifier: Apache-2.0
"""Test points in TAP 13, counted as they come; the plan is printed last."""
import sys


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def point(self, good, name, why=""):
        """One test point. `why` says what was wrong, one line a fact; it is printed on failure."""
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good and why:
            for line in str(why).splitlines()[:40]:
                print(f"#   {line}")
        return good

    def equal(self, got, want, name):
        return self.point(got == want, name, f"got:  {got!r}\nwant: {want!r}")

    def same_set(self, got, want, name):
        got, want = set(got), set(want)
        missing = sorted(map(str, want - got))[:15]
        extra = sorted(map(str, got - want))[:15]
        return self.point(got == want, name, "\n".join([f"missing {len(want - got)}:"] + missing +
                                                       [f"too many {len(got - want)}:"] + extra))

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}")

    def end(self):
        print(f"1..{self.count}")
        sys.stdout.flush()
        return 1 if self.failed else 0
