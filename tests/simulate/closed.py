# SPDX-License-Identifier: Apache-2.0
"""Programs with times that are formulas: one case for each element of the model.

Symbols of the comments: L latency, s size, B bandwidth, c computing, P ranks. With B = 1GB/s a byte
takes 1 ns, so s bytes take s ns.
"""
import math
import os
import sys

from common import Tap, write_dim

L, B = 100, "1GB/s"
NETWORK = ("--latency", "%dns" % L, "--bandwidth", B)
NAMES = ("barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv "
         "reduce allreduce reduce_scatter reduce_scatter_block scan alltoallw").split()


def compute(ns):
    return ("compute", ns)


def send(target, size, tag=0, synchronous=False, immediate=False):
    return ("send", target, size, tag, 0, synchronous, immediate)


def receive(source, tag=0):
    return ("receive", source, tag, 0)


def collective(number, sent=0, received=0, request=None):
    return ("collective", number, 0, sent, received) + (() if request is None else (request,))


class Closed:
    def __init__(self, tap):
        self.tap = tap

    def ends(self, name, program, options, want, parts=None):
        """The end of each rank; `parts`: some of how a rank spent its time, {rank: {part: ns}}."""
        try:
            _, ends, found = self.tap.simulate(program, *options)
        except RuntimeError as error:
            self.tap.check(name, False, error)
            return
        good = ends == want and all(found[rank][part] == ns for rank, some in (parts or {}).items()
                                    for part, ns in some.items())
        self.tap.check(name, good, "ends %s, not %s; parts %s, not %s" % (ends, want, found, parts))

    def fails(self, name, words, status, text):
        done = self.tap.call(*words)
        self.tap.check(name, done.returncode == status and all(t in done.stderr for t in text)
                       and not done.stdout, "%d: %s" % (done.returncode, done.stderr))


def messages(t):
    s, c = 1000, 500
    # Eager: the sender goes on after L; the message is there at c + L + s.
    t.ends("an eager message", [[compute(c), send(1, s)], [receive(0)]], NETWORK,
           [c + L, c + L + s], {0: {"computing": c, "latency": L},
                                1: {"transfer": s, "blocked": c + L}})
    # A message to oneself does not block, whatever its size.
    t.ends("a message to oneself", [[send(0, s), compute(c), receive(0)]],
           (*NETWORK, "--eager", "10", "--inside-bandwidth", "1GB/s"), [L + max(s, c)])
    # A receive that comes later than the message takes nothing.
    t.ends("a late receive of an eager message",
           [[send(1, s)], [compute(5000), receive(0)]], NETWORK, [L, 5000])
    # Ping-pong, eager: a round takes 2 (L + s).
    rounds = 5
    t.ends("an eager ping-pong",
           [[send(1, s), receive(1)] * rounds, [receive(0), send(0, s)] * rounds], NETWORK,
           [rounds * 2 * (L + s), rounds * 2 * (L + s) - s])
    # Rendezvous: the transfer begins with the later of L and the receive; both end with it.
    t.ends("a rendezvous with a late receive",
           [[send(1, s, synchronous=True)], [compute(c), receive(0)]], NETWORK, [c + s, c + s],
           {0: {"blocked": c - L, "transfer": s, "latency": L}, 1: {"transfer": s}})
    t.ends("a rendezvous with a late send",
           [[compute(c), send(1, s, synchronous=True)], [receive(0)]], NETWORK,
           [c + L + s, c + L + s])
    # Ping-pong, rendezvous: the receives are there, so a round takes 2 (L + s) for both.
    t.ends("a ping-pong with rendezvous",
           [[send(1, s, synchronous=True), receive(1)] * rounds,
            [receive(0), send(0, s, synchronous=True)] * rounds], NETWORK,
           [rounds * 2 * (L + s)] * 2)
    # The threshold: s bytes are eager if s <= --eager.
    for size, is_eager in ((999, True), (1000, True), (1001, False)):
        t.ends("%d bytes with --eager 1000" % size,
               [[send(1, size)], [compute(c), receive(0)]], NETWORK + ("--eager", "1000"),
               [L if is_eager else c + size, max(c, L + size) if is_eager else c + size])
    # A send that does not block costs L; its rendezvous goes on beside the computing.
    t.ends("a send that does not block",
           [[send(1, s, synchronous=True, immediate=True), compute(c)], [receive(0)]], NETWORK,
           [L + c, L + s])
    # A receive that was asked for early: max(c, L + s).
    for computing in (500, 5000):
        t.ends("a receive that does not block, before %d ns" % computing,
               [[send(1, s, synchronous=True)],
                [("irecv", 0, 0, 0, 1), compute(computing), ("wait", 1)]], NETWORK,
               [L + s, max(computing, L + s)])
    # Messages of a channel in the order of sending: the second is there at 2 L + 30.
    t.ends("two messages of one channel", [[send(1, 10), send(1, 30)], [receive(0), receive(0)]],
           NETWORK, [2 * L, 2 * L + 30])
    # Half nanoseconds round up: 10 bytes at 4 GB/s take 2.5 ns.
    t.ends("rounding of a transfer", [[send(1, 10)], [receive(0)]], ("--bandwidth", "4GB/s"),
           [0, 3])
    # The ideal network: L = 0, B infinite.
    t.ends("the ideal network", [[compute(c), send(1, 10**9)], [receive(0)]], ("--ideal",), [c, c])


def contention(t):
    s, n = 1000, 4
    # n disjoint pairs that begin at once share b buses: ceil(n / b) waves of s.
    pairs = [[send(n + i, s)] for i in range(n)] + [[receive(i)] for i in range(n)]
    for buses in (1, 2, 3, 4, 0):
        ends = [L + (1 + (i // buses if buses else 0)) * s for i in range(n)]
        t.ends("%d messages on %d buses" % (n, buses), pairs,
               NETWORK + ("--buses", str(buses)), [L] * n + ends,
               {2 * n - 1: {"bus": ends[-1] - L - s, "link": 0, "transfer": s}})
    # A rank that sends n messages, with o out-links. The i-th is ready at i L; with o = 1 it ends
    # at L + i s, as s > L.
    fan_out = [[send(i + 1, s) for i in range(n)]] + [[receive(0)] for _ in range(n)]
    t.ends("one out-link", fan_out, NETWORK + ("--out-links", "1"),
           [n * L] + [L + (i + 1) * s for i in range(n)],
           {n: {"link": L + (n - 1) * s - n * L, "bus": 0, "transfer": s}})
    t.ends("out-links without limit", fan_out, NETWORK,
           [n * L] + [(i + 1) * L + s for i in range(n)])
    # n ranks that send to one, which takes them in order; with one in-link it gets the last at
    # L + n s, else all at L + s.
    fan_in = [[receive(i + 1) for i in range(n)]] + [[send(0, s)] for _ in range(n)]
    t.ends("one in-link", fan_in, NETWORK + ("--in-links", "1"), [L + n * s] + [L] * n)
    t.ends("two in-links", fan_in, NETWORK + ("--in-links", "2"), [L + n * s // 2] + [L] * n)
    t.ends("in-links without limit", fan_in, NETWORK, [L + s] + [L] * n)
    # A later message overtakes one without a link: 0 -> 1 holds the out-link of 0 until L + s.
    # 0 -> 2 waits for it; 3 -> 2 goes at once although it was ready later.
    t.ends("a message overtakes another that waits for a link",
           [[send(1, s), send(2, s)], [receive(0)], [receive(3), receive(0)],
            [compute(500), send(2, s)]], NETWORK + ("--out-links", "1"),
           [2 * L, L + s, L + 2 * s, 500 + L], {2: {"link": 0}})
    # On one bus there is no overtaking: the order is that of being ready, then of the ranks.
    t.ends("messages of one instant go by rank",
           [[receive(1), receive(2)], [send(0, 10)], [send(0, 20)]], NETWORK + ("--buses", "1"),
           [L + 30, L, L])


def nodes(t):
    s = 1000
    four = [[send(1, s), send(2, s)], [receive(0)], [receive(0)], []]
    # Ranks 0 and 1 are on one node: 10 ns and 0.1 ns a byte there.
    options = NETWORK + ("--ranks-per-node", "2", "--inside-latency", "10ns",
                         "--inside-bandwidth", "10GB/s")
    t.ends("inside a node and between nodes", four, options,
           [10 + L, 10 + s // 10, 10 + L + s, 0])
    t.ends("the same with a node for each rank", four, NETWORK, [2 * L, L + s, 2 * L + s, 0])
    # Inside is as between unless said otherwise.
    t.ends("inside as between", four, NETWORK + ("--ranks-per-node", "2"),
           [2 * L, L + s, 2 * L + s, 0])
    # Each node has its own bus inside: pairs of one node wait for each other, of two they do not.
    pairs = [[send(1, s)], [receive(0)], [send(3, s)], [receive(2)]]
    t.ends("one bus inside each of two nodes", pairs,
           NETWORK + ("--ranks-per-node", "2", "--inside-buses", "1"), [L, L + s, L, L + s])
    t.ends("one bus inside one node", pairs,
           NETWORK + ("--ranks-per-node", "4", "--inside-buses", "1"), [L, L + s, L, L + 2 * s],
           {3: {"bus": s}})
    # Links are those of nodes: ranks 0 and 1 share the out-link of theirs.
    t.ends("one out-link of a node with two ranks",
           [[send(2, s)], [send(3, s)], [receive(0)], [receive(1)]],
           NETWORK + ("--ranks-per-node", "2", "--out-links", "1"), [L, L, L + s, L + 2 * s])


def wide_area(t):
    s, flight, latency = 1000, 5000, 400
    options = NETWORK + ("--nodes-per-machine", "2", "--wide-latency", "%dns" % latency,
                         "--wide-bandwidth", "500MB/s", "--wide-flight", "%dns" % flight)
    # Ranks 0 and 1 are nodes of one machine, 2 and 3 of another: 2 ns a byte, then the flight.
    t.ends("within a machine and between machines",
           [[send(1, s), send(2, s)], [receive(0)], [receive(0)], []], options,
           [L + latency, L + s, L + latency + 2 * s + flight, 0],
           {2: {"transfer": 2 * s + flight, "blocked": L + latency}})
    # The link of a machine is free after the transfer: messages of both its nodes fly at once.
    pairs = [[send(2, s)], [send(3, s)], [receive(0)], [receive(1)]]
    t.ends("one link of a machine", pairs, options + ("--wide-links", "1"),
           [latency] * 2 + [latency + 2 * s + flight, latency + 4 * s + flight],
           {3: {"link": 2 * s}})
    # A tree of 2 nodes in each machine, and one of 2 machines.
    t.ends("a barrier of two machines", [[collective(0)] for _ in range(4)], options,
           [L + latency + flight] * 4)


def collectives(t):
    n, c = 5, 700
    sent, received = [10, 20, 30, 40, 50], [5, 5, 5, 5, 95]
    sizes = {"max": 50, "min": 10, "mean": 30, "2max": 100, "s+r": 145}
    steps = {"0": 0, "const": 1, "lin": n - 1, "log": math.ceil(math.log2(n))}

    def program(number):
        return [[compute(c if i == 2 else 0), collective(number, sent[i], received[i])]
                for i in range(n)]

    # All leave at c + steps (L + size / B).
    for number, name in enumerate(NAMES):
        factor, size = ("lin", "2max") if name.startswith("alltoall") else (
            "log", "2max" if name == "reduce" else "max")
        cost = steps[factor] * (L + sizes[size])
        t.ends("%s, number %d, as usual" % (name, number), program(number), NETWORK, [c + cost] * n,
               {0: {"collective": cost, "blocked": c}, 2: {"collective": cost, "blocked": 0}})
        t.ends("%s, with a model of its own" % name, program(number),
               NETWORK + ("--collective", "all=0", "--collective", name + "=const:min"),
               [c + L + 10] * n)
    for factor, times in steps.items():
        for size, length in sizes.items():
            cost = times * (L + length)
            t.ends("%s:%s" % (factor, size), program(11),
                   NETWORK + ("--collective", "allreduce=%s:%s" % (factor, size)), [c + cost] * n)
    # The out-phase is added.
    t.ends("in-phase and out-phase", program(1),
           NETWORK + ("--collective", "bcast=log:max+lin:s+r"),
           [c + 3 * (L + 50) + 4 * (L + 145)] * n)
    # Steps of a tree of 8 have 4, 2 and 1 messages: on b buses the sum of ceil(m / b) steps.
    for buses, times in ((1, 7), (2, 4), (3, 4), (4, 3), (0, 3)):
        t.ends("logarithmic on %d buses" % buses, [[collective(11, 50)]] * 8,
               NETWORK + ("--buses", str(buses)), [times * (L + 50)] * 8)
    # 6 ranks on nodes of 4: log2 of 4 inside, of 2 between.
    t.ends("a collective inside nodes and between them", [[collective(11, 50)]] * 6,
           NETWORK + ("--ranks-per-node", "4", "--inside-latency", "10ns",
                      "--inside-bandwidth", "inf"), [2 * 10 + 1 * (L + 50)] * 6)
    # One that does not block: begins at the last entry, goes on beside the computing.
    cost = 1 * (L + 50)
    for computing in (50, 5000):
        t.ends("a collective that does not block, before %d ns" % computing,
               [[collective(11, 50, request=1), compute(computing), ("wait", 1)],
                [compute(c), collective(11, 50)]], NETWORK,
               [max(computing, c + cost), c + cost])
    t.ends("a collective of one rank", [[compute(c), collective(11, 50)]], NETWORK, [c])


def patterns(t):
    s, c, n, blocks = 1000, 300, 4, 6
    # Pipeline of n ranks and k blocks: the last rank ends at (n - 1) (c + L + s) + k (c + L) - L,
    # if c + L > s is the bottleneck; here each block takes c + L in each rank but the last.
    big = 2000

    def stage(rank):
        body = [receive(rank - 1)] if rank else []
        return (body + [compute(big)] + ([send(rank + 1, s)] if rank < n - 1 else [])) * blocks

    t.ends("a pipeline", [stage(i) for i in range(n)], NETWORK,
           [blocks * (big + L) + i * (big + L + s) - (L if i == n - 1 else 0) for i in range(n)])
    # Wavefront over a grid of 3 x 3 ranks: rank (x, y) begins after x + y steps of c + L + s; it
    # sends to the right, then down, which is L later.
    side = 3
    program, want = [], {}
    for y in range(side):
        for x in range(side):
            rank = y * side + x
            actions = ([receive(rank - 1)] if x else []) + ([receive(rank - side)] if y else [])
            actions.append(compute(c))
            right, down = x < side - 1, y < side - 1
            actions += ([send(rank + 1, s)] if right else []) + (
                [send(rank + side, s)] if down else [])
            program.append(actions)
            begin = max([0] + ([want[x - 1, y][0] + s] if x else []) +
                        ([want[x, y - 1][1] + s] if y else []))
            sent_right = begin + c + (L if right else 0)
            want[x, y] = (sent_right, sent_right + (L if down else 0))
    t.ends("a wavefront", program, NETWORK,
           [want[x, y][1] for y in range(side) for x in range(side)])


def speeds(t):
    two = [[compute(1000)], [compute(1001)]]
    t.ends("a rank twice as fast", two, ("--cpu", "rank:1=2x"), [1000, 501])
    t.ends("a rank half as fast", two, ("--cpu", "rank:0=0.5x"), [2000, 1001])
    t.ends("a node", two, ("--cpu", "node:0=4x", "--ranks-per-node", "2"), [250, 250])
    t.ends("a rank on a node: the product", two,
           ("--cpu", "node:0=4x", "--cpu", "rank:1=0.5x", "--ranks-per-node", "2"), [250, 501])


def efficiencies(t):
    s, c = 1000, 800
    program = [[compute(c), send(1, s)], [receive(0), compute(200)]]
    facts, ends, _ = t.tap.simulate(program, *NETWORK)
    # T = c + L + s + 200; T ideal = c + 200; the longest computation is c.
    t.tap.check("efficiencies",
                facts["ideal_ns"] == c + 200 and ends[1] == c + L + s + 200
                and facts["transfer_efficiency"] == (c + 200) / ends[1]
                and facts["serialisation_efficiency"] == c / (c + 200)
                and facts["load_balance"] == (c + 200) / 2 / c
                and abs(facts["parallel_efficiency"] - facts["transfer_efficiency"]
                        * facts["serialisation_efficiency"] * facts["load_balance"]) < 1e-12, facts)
    # Without latency it takes c + s + 200, with infinite bandwidth c + L + 200.
    t.tap.check("bandwidth and latency efficiency",
                facts["bandwidth_efficiency"] == (c + 200) / (c + s + 200)
                and facts["latency_efficiency"] == (c + 200) / (c + L + 200), facts)
    facts, _, _ = t.tap.simulate(program, "--sweep", "latency=0,1us", "--sweep",
                                 "bandwidth=1GB/s,inf", "--sweep", "cpu=2x")
    times = {x["simulation"]: x["total_ns"] for x in facts["simulations"]}
    half = c // 2 + 100
    t.tap.check("a sweep has each combination", times == {
        "ideal": c + 200, "latency=0 bandwidth=1GB/s cpu=2x": half + s,
        "latency=0 bandwidth=inf cpu=2x": half,
        "latency=1us bandwidth=1GB/s cpu=2x": half + 1000 + s,
        "latency=1us bandwidth=inf cpu=2x": half + 1000}, times)
    facts, _, _ = t.tap.simulate([[send(1, s), send(1, s)], [receive(0)]], *NETWORK)
    t.tap.check("a message without receive is counted",
                facts["simulations"][-1]["unreceived"] == 1, facts["simulations"])


def forms(t):
    """Text of 80 columns, CSV, the same .dim once more, and seconds of any length."""
    path = t.tap.path("forms.dim")
    write_dim(path, [[compute(12345678), send(1, 10**6)], [receive(0)]])
    done = t.tap.call(path, *NETWORK)
    lines = done.stdout.splitlines()
    t.tap.check("text answers first, in 80 columns",
                lines[0].startswith("With an ideal network the program takes 7.5 % less time")
                and max(map(len, lines)) <= 80, done.stdout)
    done = t.tap.call(path, *NETWORK, "--format", "csv")
    t.tap.check("CSV has a row for each rank",
                done.stdout.splitlines()[2].split(",")[:3] == ["network", "1", "0"], done.stdout)
    again = t.tap.path("again.dim")
    t.tap.call(path, "--write-dim", again)
    one = t.tap.call(path, *NETWORK, "--format", "csv").stdout
    t.tap.check("a .dim file that is written says the same",
                one and one == t.tap.call(again, *NETWORK, "--format", "csv").stdout)
    # The head has the offset of the last lines, and these that of each task's first line.
    with open(again, "rb") as lines:
        text = lines.read()
    tail = int(text.split(b":")[2].split(b",")[1])
    offsets = [int(line.split(b":")[2]) for line in text[tail:].split()]
    t.tap.check("offsets of a written .dim file",
                len(offsets) > 1 and all(text[at:].split(b":")[1] == b"%d" % task and
                                         text[at - 1:at] == b"\n" and
                                         text[:at].count(b"\n%s:" % text[at:at + 1] + b"%d:" % task)
                                         == 0 for task, at in enumerate(offsets)), offsets)
    t.tap.check("partners of a written .dim file are of any thread",
                all(line.split(b":")[4] == b"-1" for line in text.split()
                    if line[:2] in (b"2:", b"3:")) and b"\n2:" in text)
    with open(path, "w", encoding="ascii") as out:
        out.write('#DIMEMAS:"a:(b":1,17:2(1,1),1,0\r\nd:1:7:2:1:0\r\n20:0:0:5:1\r\n'
                  "1:0:0:1.5\r\n1:1:0:0.0000000005\r\n1:1:0:2\r\n1:0:0:0.25\r\n"
                  "10:1:0:0:7:0:0:0:0\r\n10:0:0:0:7:1:0:0:0:1\r\ns:0:1\r\n")
    done = t.tap.call(path, "--format", "csv", "--latency", "1ns")
    t.tap.check("times, line ends, a communicator, records in any order",
                [line.split(",")[2] + " " + line.split(",")[9] for line in done.stdout.split()[1:]]
                == ["1750000000 2000000002", "2000000001 2000000002"], done.stdout + done.stderr)


# With bandwidths of 10^9 / 2^20 MiB/s, a byte takes 1 ns.
CFG = """/* "node information" {1: int "machine ID"};; */
"wide area network information" {"", 1, 0, 4, 0.0, 0.0, 1};;
"environment information" {1: char[] "machine name"};;
"environment information" {"", 0, "", %(nodes)d, 953.67431640625, %(buses)d, 1};;
%(node)s
%(mapping)s
"modules information" {1, 2, 0.5};;
"""
NODE = '"multi node information" {0, %d, "", 2, %s, 5e-8, 0.0, 1, 1, 0, 1e-7, 1, 1, 0.0};;\n'


def written_machines(t, program):
    """A machine that is written says the same when it is read."""
    path, dim = t.tap.path("written.cfg"), t.tap.path("machine.dim")
    write_dim(dim, program)
    for options in (NETWORK, ("--latency", "2us", "--bandwidth", "3GB/s", "--buses", "1",
                              "--in-links", "1", "--out-links", "2", "--inside-latency", "10ns",
                              "--inside-buses", "1", "--ranks-per-node", "2"),
                    NETWORK + ("--cpu", "node:1=0.5x", "--cpu", "node:2=4x")):
        one = t.tap.call(dim, *options, "--write-machine", path, "--force", "--format", "csv")
        two = t.tap.call(dim, "--machine", path, "--format", "csv")
        ends = [[line.split(",")[-8:] for line in done.stdout.split()[1:]] for done in (one, two)]
        t.tap.check("a written machine, %s" % " ".join(options[-4:]),
                    ends[0] == ends[1] and len(ends[0]) == len(program), (ends, two.stderr))


def machines(t):
    """Files of machines say the same as options."""
    path = t.tap.path("machine.cfg")
    s, c = 1000, 500
    program = [[compute(c), send(1, s), send(2, s)], [receive(0)], [receive(0)]]
    written_machines(t, program + [[compute(3 * c)]])

    def write(nodes=4, buses=0, node=NODE % (4, "1.0"), mapping=""):
        with open(path, "w", encoding="ascii") as out:
            out.write(CFG % {"nodes": nodes, "buses": buses, "node": node, "mapping": mapping})

    use = ("--machine", path)
    # The second message waits for the out-link of its node: until the first is there.
    write()
    t.ends("a file of a machine", program, use,
           [c + 2 * L, c + L + s, c + L + 2 * s])
    # Ranks 0 and 1 on a node: 50 ns of latency and no length; then one to the other node.
    write(mapping='"predefined mapping information" {"2 TASKS_PER_NODE"};;')
    t.ends("tasks on nodes", program, use, [c + 50 + L, c + 50, c + 50 + L + s])
    write(mapping='"predefined mapping information" {"", "FILL_NODES"};;')
    t.ends("nodes that are filled", program, use, [c + 50 + L, c + 50, c + 50 + L + s])
    write(mapping='"mapping information" {"x", 3, [3] {0, 1, 0}};;')
    t.ends("a mapping", program, use, [c + L + 50, c + L + s, c + L + 50])
    write(nodes=2, mapping='"predefined mapping information" {"INTERLEAVED"};;')
    t.ends("nodes that are interleaved", program, use, [c + L + 50, c + L + s, c + L + 50])
    # The first node is twice as fast.
    write(node=NODE % (1, "2.0") + NODE % (3, "1.0"))
    t.ends("a fast node", program, use, [c // 2 + 2 * L, c // 2 + L + s, c // 2 + L + 2 * s])
    write()
    t.ends("an option besides", program, (*use, "--latency", "0"), [c, c + s, c + 2 * s])
    write_dim(t.tap.path("machine.dim"), program)
    for name, text, changed in (
            ("another mapping", "2 tasks, the program 3 ranks",
             {"mapping": '"mapping information" {"x", 2, [2] {0, 1}};;'}),
            ("a list that is cut", "cannot be read",
             {"mapping": '"mapping information" {"", 3, [3] {0};;'}),
            ("no nodes", "node information", {"node": ""}),
            ("different networks", "different networks",
             {"node": NODE % (1, "1.0") + (NODE % (3, "1.0")).replace("1e-7", "2e-7")}),
            ("a negative speed", "from 1e-6 to 1e6", {"node": NODE % (4, "-1.0")}),
            ("a negative latency", "not a number in its range",
             {"node": (NODE % (4, "1.0")).replace("5e-8", "-5e-8")}),
            ("dedicated connections", "dedicated connection",
             {"mapping": '"dedicated connection information" {1, 0, 0};;'})):
        write(**changed)
        t.fails("wrong machine: " + name, [t.tap.path("machine.dim"), *use], 2, [text])


WAN_CFG = """"wide area network information" {"", 2, 1, 4, 0.0, 476.837158203125, 1};;
"environment information" {"", 0, "", 1, 953.67431640625, 0, 1};;
"environment information" {"", 1, "", 2, 953.67431640625, 0, 1};;
"multi node information" {0, 1, "", 1, 1.0, 5e-8, 0.0, 0, 0, 0, 1e-7, %(links)s, 3e-7};;
"multi node information" {1, 2, "", 1, 1.0, 5e-8, 0.0, 0, 0, 0, 1e-7, %(links)s, 3e-7};;
%(more)s
"""
LINK = ('"dedicated connection information" {0, 1, 0, 1907.3486328125, [2] {7, 9}, %s, '
        "[0] {}, 4e-7, 6e-7};;")
ANY_SIZE = "0, >, |, 0, ="


def several_machines(t):
    """Node 0 is a machine, nodes 1 and 2 are another. The wide network: 300 ns and 2 ns a byte;
    the dedicated link: 400 ns, half a ns a byte, 600 ns of flight."""
    path, s = t.tap.path("wan.cfg"), 1000
    use = ("--machine", path)

    def write(more="", links="0, 0", text=WAN_CFG):
        with open(path, "w", encoding="ascii") as out:
            out.write(text % {"more": more, "links": links})

    def ping_pong(tag, size=s):
        return [[("send", 1, size, tag, 0, False, False), ("receive", 1, tag, 0)],
                [("receive", 0, tag, 0), ("send", 0, size, tag, 0, False, False)]]

    def twice(comm_tag):
        return [[("send", 1, s, comm_tag, 0, False, False)] * 2,
                [("receive", 0, comm_tag, 0)] * 2]

    write()
    t.ends("a ping-pong between machines", ping_pong(7), use,
           [2 * (300 + 2 * s), 2 * 300 + 2 * s])
    t.ends("within the other machine", [[compute(5)], *[
        [("send", 2, s, 0, 0, False, False)], [("receive", 1, 0, 0)]]], use, [5, 100, 100 + s])
    write(LINK % ANY_SIZE)
    there = 400 + s // 2 + 600
    t.ends("a ping-pong on a dedicated link", ping_pong(9), use, [2 * there, there + 400])
    t.ends("a tag without the link", ping_pong(8), use, [2 * (300 + 2 * s), 2 * 300 + 2 * s])
    write(LINK % "500, >, &, 1001, <")
    t.ends("a size of the link", ping_pong(7), use, [2 * there, there + 400])
    t.ends("a size beyond the link", ping_pong(7, 1001), use, [2 * (300 + 2002), 2 * 300 + 2002])
    t.ends("a size before the link", ping_pong(7, 500), use, [2 * (300 + 1000), 2 * 300 + 1000])
    # The second message begins when its latency is over: links carry any number at once.
    write(LINK % ANY_SIZE)
    t.ends("two messages on a dedicated link", twice(7), use, [800, 800 + s // 2 + 600])
    # One link of each machine on the wide network: the second waits for the first.
    t.ends("two messages on one wide link", twice(8), (*use, "--wide-links", "1"),
           [600, 300 + 2 * 2 * s])
    t.ends("a dedicated link beside one wide link",
           [[("send", 1, s, 8, 0, False, False), ("send", 1, s, 7, 0, False, False)],
            [("receive", 0, 7, 0), ("receive", 0, 8, 0)]], (*use, "--wide-links", "1"),
           [700, 300 + 2 * s])
    barrier = [[("collective", 0, 0, 0, 0)] for _ in range(3)]
    t.ends("a barrier of two machines", barrier, use, [100 + 300] * 3)
    write(LINK % ANY_SIZE + '\n"mapping information" {"", 2, [2] {1, 2}};;')
    t.ends("both ranks on the second machine", ping_pong(7), use, [2 * (100 + s), 200 + s])
    for name, more in (("two machines", ""), ("a link", LINK % ANY_SIZE),
                       ("a link and a mapping",
                        LINK % "500, <, &, 1001, >" +
                        '"mapping information" {"", 2, [2] {2, 0}};;')):
        write(more)
        written = t.tap.path("again.cfg")
        write_dim(t.tap.path("machine.dim"), ping_pong(7))
        one, two = (t.tap.call(t.tap.path("machine.dim"), *words, "--format", "csv")
                    for words in ((*use, "--write-machine", written, "--force"),
                                  ("--machine", written)))
        ends = [[line.split(",")[-8:] for line in done.stdout.split()[1:]] for done in (one, two)]
        t.tap.check("written again: " + name, ends[0] == ends[1] and len(ends[0]) == 2,
                    (ends, one.stderr, two.stderr))
    for name, text, more in (
            ("a number of nodes", "has 2 nodes by its environment, 3 by records",
             '"node information" {1, "", 1, 1.0, 5e-8, 0.0, 0, 0, 0, 1e-7, 0, 0, 3e-7};;'),
            ("a machine without an environment", "has no environment",
             '"node information" {5, "", 1, 1.0, 5e-8, 0.0, 0, 0, 0, 1e-7, 0, 0, 3e-7};;'),
            ("another latency", "different networks",
             '"node information" {1, "", 1, 1.0, 5e-8, 0.0, 0, 0, 0, 1e-7, 0, 0, 4e-7};;'),
            ("another bandwidth", "different networks",
             '"environment information" {"", 2, "", 1, 1.0, 0, 1};;'),
            ("two of one number", "one number",
             '"environment information" {"", 1, "", 1, 953.67431640625, 0, 1};;'),
            ("a link to nowhere", "machine 4", (LINK % ANY_SIZE).replace("0, 1, 0", "0, 4, 0")),
            ("a link to itself", "its fields are not",
             (LINK % ANY_SIZE).replace("0, 1, 0", "0, 1, 1")),
            ("a link with a number", "its fields are not", LINK % "1, 2, |, 0, ="),
            ("a link with a word", "cannot be read", LINK % "1, !, |, 0, ="),
            ("a node beyond", "node 3", '"mapping information" {"", 2, [2] {0, 3}};;')):
        write(more)
        t.fails("wrong machines: " + name, [t.tap.path("machine.dim"), *use], 2, [text])
    write(text=WAN_CFG.replace("4, 0.0", "4, 2.0"))
    t.fails("wrong machines: traffic", [t.tap.path("machine.dim"), *use], 2, ["traffic"])


def errors(t):
    path = t.tap.path("bad.dim")

    def damaged(name, text, *words):
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        t.fails(name, [path], 2, words)

    head = '#DIMEMAS:"x":1,0:2(1,1),0,0\n'
    damaged("a deadlock of receives", head + "3:0:0:1:0:1:0:0:0\n3:1:0:0:0:1:0:0:0\n", "deadlock",
            "2 of 2 ranks", "rank 0 waits for a message from rank 1")
    damaged("a deadlock of sends", head + "2:0:0:1:0:9:0:0:1\n3:0:0:1:0:9:0:0:0\n"
            "2:1:0:0:0:9:0:0:1\n3:1:0:0:0:9:0:0:0\n", "deadlock",
            "rank 0 waits for rank 1 to receive 9 bytes")
    damaged("a collective that one rank does not enter", head + "10:0:0:1:0:0:0:1:1:1\n",
            "rank 0 waits in bcast, which 1 of 2 ranks entered")
    damaged("collectives that do not match", head + "10:0:0:1:0:0:0:1:1:1\n10:1:0:2:0:0:0:1:1:1\n",
            "gather", "bcast")
    damaged("a rank that is not a member", head + "d:1:7:1:0\nd:1:8:2:0:0\n10:1:0:1:8:0:0:1:1:1\n",
            "not a member")
    damaged("a record that is cut", head + "2:0:0:1:0:9\n", ":2:", "fields")
    damaged("a partner beyond the tasks", head + "2:0:0:2:0:9:0:0:0\n", ":2:")
    damaged("a task beyond the first line", head + "1:2:0:1.0\n", ":2:", "task")
    damaged("a type that is unknown", head + "77:1:0:1.0\n", ":2:", "type")
    damaged("a communicator that is unknown", head + "2:0:0:1:0:9:0:5:0\n", ":2:")
    damaged("a communicator that is defined twice", head + "d:1:5:1:0\nd:1:5:1:0\n", ":3:", "twice")
    damaged("a first line without tasks", '#DIMEMAS:"x":1,0:\n', ":1:")
    damaged("fewer threads than tasks", '#DIMEMAS:"x":1,0:3(1,1),0,0\n', ":1:")
    damaged("several threads in a task", '#DIMEMAS:"x":1,0:2(1,4),0,0\n', "threads")
    damaged("a burst that is too long", head + "1:0:0:99999999999999\n", ":2:")
    write_dim(path, [[compute(5)], [compute(5)]])
    for words, text in (
            (["--latency", "2"], "2us"), (["--latency", "-1us"], "2us"),
            (["--bandwidth", "10"], "10GB/s"), (["--buses", "-1"], "0 for any number"),
            (["--eager", "many"], "32K"), (["--cpu", "2x"], "FUNCTION=2x"),
            (["--cpu", "rank:2=2x"], "rank:0 to rank:1"),
            (["--cpu", "solve=2x"], "names of functions"),
            (["--cpu", "rank:0=0x"], "1e-6"), (["--sweep", "colour=1"], "latency"),
            (["--sweep", "latency=1us,x"], "'x'"), (["--collective", "allreduce"], "allreduce=log"),
            (["--collective", "allreduce=sqrt"], "allreduce=log"),
            (["--ideal", "--latency", "1us"], "--ideal")):
        t.fails("wrong: " + " ".join(words), [path] + words, 2, [text])
    t.fails("a file that is missing", [t.tap.path("none.dim")], 2, ["none.dim"])
    if os.path.exists("/dev/full"):
        done = t.tap.call(path, "--write-dim", "/dev/full")
        t.tap.check("a full disk", done.returncode and done.stderr.count("\n") == 1, done.stderr)


def main():
    tap = Tap(sys.argv[1])
    t = Closed(tap)
    for cases in (messages, contention, nodes, wide_area, collectives, patterns, speeds,
                  efficiencies, forms, machines, several_machines, errors):
        cases(t)
    tap.end()


main()
