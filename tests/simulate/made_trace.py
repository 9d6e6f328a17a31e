# SPDX-License-Identifier: Apache-2.0
"""Traces of MPI programs that a test writes itself, as .prv: times are ns."""
MS = 1_000_000
BARRIER, SENDRECV, SEND, RECEIVE, INIT, FINALIZE = ((50000002, 8), (50000001, 41), (50000001, 1),
                                                    (50000001, 2), (50000003, 31), (50000003, 32))


class Trace:
    """A .prv of ranks. The case moves their clocks. Times are ns."""

    def __init__(self, ranks):
        self.now, self.lines, self.sites, self.regions = [0] * ranks, [], [], []
        for rank in range(ranks):
            self.call(rank, INIT, MS)

    def call(self, rank, routine, until, site=None):
        """`site`: the calling function and its line, ("sweep", "sweep.c:46")."""
        head = f"2:{rank + 1}:1:{rank + 1}:1"
        caller = ""
        if site:
            if site not in self.sites:
                self.sites.append(site)
            at = self.sites.index(site) + 1
            caller = f":70000001:{at}:80000001:{at}"
        of_world = ":50100001:0:50100002:0:50100004:1" if routine == BARRIER else ""
        self.lines.append((self.now[rank],
                           f"{head}:{self.now[rank]}:{routine[0]}:{routine[1]}{of_world}{caller}"))
        self.lines.append((until, f"{head}:{until}:{routine[0]}:0"))
        self.now[rank] = until

    def compute(self, rank, ns):
        self.now[rank] += ns

    def region(self, rank, name):
        """The rank enters a function; None: it leaves."""
        if name and name not in self.regions:
            self.regions.append(name)
        value = self.regions.index(name) + 1 if name else 0
        self.lines.append((self.now[rank], f"2:{rank + 1}:1:{rank + 1}:1:{self.now[rank]}:"
                           f"60000019:{value}"))

    def barrier(self, site=None):
        until = max(self.now)
        for rank in range(len(self.now)):
            self.call(rank, BARRIER, until + 1, site)

    def message(self, source, sent, target, received, size):
        """Sent and received in calls that begin then, and end at their second times."""
        a, b = source + 1, target + 1
        self.lines.append((sent[0], f"3:{a}:1:{a}:1:{sent[0]}:{sent[0]}:{b}:1:{b}:1:"
                           f"{received[0]}:{received[1]}:{size}:0"))

    def write(self, path):
        ranks = len(self.now)
        until = max(self.now) + MS
        for rank in range(ranks):
            self.call(rank, FINALIZE, until)
        cpus = ",".join(["1:1"] * ranks)
        members = ":".join(str(rank + 1) for rank in range(ranks))
        with open(path, "w", encoding="ascii") as out:
            out.write(f"#Paraver (01/01/2026 at 00:00):{max(self.now)}_ns:1({ranks}):1:"
                      f"{ranks}({cpus}),1\nc:1:1:{ranks}:{members}\n")
            for _, line in sorted(self.lines, key=lambda pair: pair[0]):
                out.write(line + "\n")
        if self.sites or self.regions:
            self.write_labels(path[:-3] + "pcf")

    def write_labels(self, path):
        kinds = (("60000019 User function", self.regions),
                 ("70000001 Caller at level 1", [name for name, _ in self.sites]),
                 ("80000001 Caller line at level 1", [line for _, line in self.sites]))
        with open(path, "w", encoding="ascii") as out:
            for kind, values in kinds:
                if values:
                    out.write(f"EVENT_TYPE\n0 {kind}\nVALUES\n0 End\n")
                    out.writelines(f"{i + 1} {value}\n" for i, value in enumerate(values))
                    out.write("\n")
