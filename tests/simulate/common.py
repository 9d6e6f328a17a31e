# SPDX-License-Identifier: Apache-2.0
"""Programs as .dim text, running `assay simulate` on them, and results as TAP."""
import json
import os
import subprocess
import sys
import tempfile

PARTS = ("computing", "latency", "link", "bus", "transfer", "collective", "blocked")


def dim_lines(rank, action):
    kind = action[0]
    if kind == "compute":
        return "1:%d:0:%d.%09d" % (rank, action[1] // 10**9, action[1] % 10**9)
    if kind == "send":
        _, target, size, tag, comm, synchronous, immediate = action
        return "2:%d:0:%d:0:%d:%d:%d:%d" % (rank, target, size, tag, comm,
                                            synchronous + 2 * immediate)
    if kind in ("receive", "irecv"):
        return "3:%d:0:%d:0:0:%d:%d:%d" % (rank, action[1], action[2], action[3], kind == "irecv")
    if kind == "collective":
        return "10:%d:0:%d:%d:0:0:%d:%d:%d" % ((rank,) + action[1:5] + (len(action) == 5,))
    raise ValueError(kind)


def write_dim(path, program, comms=None):
    """A wait names its receive or collective, as the file has no requests."""
    with open(path, "w", encoding="ascii") as out:
        n = len(program)
        out.write('#DIMEMAS:"test":1,0:%d(%s),%d,0\n' % (n, ",".join(["1"] * n), len(comms or {})))
        for number, members in sorted((comms or {}).items()):
            out.write("d:1:%d:%d%s\n" % (number, len(members), "".join(":%d" % m for m in members)))
        for rank, actions in enumerate(program):
            begun = {}
            for action in actions:
                if action[0] == "irecv":
                    begun[action[4]] = "3:%d:0:%d:0:0:%d:%d:2" % ((rank,) + action[1:4])
                elif action[0] == "collective" and len(action) > 5:
                    begun[action[5]] = "10:%d:0:%d:%d:0:0:0:0:2" % ((rank,) + action[1:3])
                if action[0] == "wait":
                    out.write(begun.pop(action[1]) + "\n")
                else:
                    out.write(dim_lines(rank, action) + "\n")


class Tap:
    def __init__(self, assay):
        self.assay, self.n, self.failed = assay, 0, 0
        self.place = tempfile.TemporaryDirectory(prefix="assay-simulate-test")

    def path(self, name):
        return os.path.join(self.place.name, name)

    def call(self, *words):
        return subprocess.run([self.assay, "simulate", *words], capture_output=True, text=True,
                              check=False)

    def simulate(self, program, *options, comms=None):
        """The JSON of the last simulation: its ends and parts by rank, ns."""
        write_dim(self.path("program.dim"), program, comms)
        done = self.call(self.path("program.dim"), "--format", "json", *options)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        facts = json.loads(done.stdout)
        ranks = facts["rank_times"]
        for rank in ranks:  # the parts of a rank are its whole time
            assert sum(rank[p + "_ns"] for p in PARTS) == rank["end_ns"], rank
        return facts, [r["end_ns"] for r in ranks], [{p: r[p + "_ns"] for p in PARTS}
                                                     for r in ranks]

    def check(self, name, good, why=""):
        self.n += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.n, name))
        if not good:
            for line in str(why).splitlines():
                print("# " + line)

    def end(self):
        print("1..%d" % self.n)
        sys.exit(self.failed > 0)
