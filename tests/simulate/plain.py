# SPDX-License-Identifier: Apache-2.0
"""A slow simulator of MPI programs, written from doc/internals/simulate.md and from nothing else.

It counts all transfers again at each instant. The n-th send of a channel matches its n-th receive.
So it shares neither tables nor queues with the program under test. Times are ns.
"""
import math


class Deadlock(Exception):
    pass


class Machine:
    def __init__(self, **given):
        network = {"latency": 0, "bandwidth": 0, "buses": 0, "in": 0, "out": 0, "flight": 0}
        self.between = dict(network, **given.get("between", {}))
        self.inside = dict(network, **given.get("inside", {}))
        self.wide = dict(network, **given.get("wide", {}))
        self.ranks_per_node = given.get("ranks_per_node", 1)
        self.nodes_per_machine = given.get("nodes_per_machine", 0)  # 0: one machine
        self.eager = given.get("eager")  # None: by the records alone
        self.speed = given.get("speed", {})  # of ranks
        self.collectives = given.get("collectives", {})  # number: (in, out), each (factor, size)

    def machine_of(self, node):
        return node // self.nodes_per_machine if self.nodes_per_machine else 0


def transfer_ns(network, size):
    rate = network["bandwidth"]
    return (size * 10**9 + rate // 2) // rate if rate else 0


def burst_ns(ns, speed):
    return ns if speed == 1 else math.floor(ns / speed + 0.5)


def log_steps(n, buses):
    steps = 0
    while n > 1:
        messages = n // 2
        steps += -(-messages // buses) if buses else 1
        n -= messages
    return steps


def usual_model(number):
    if number in (8, 9, 15):
        return ("lin", "2max"), ("0", "max")
    return ("log", "2max" if number == 10 else "max"), ("0", "max")


def most(numbers):
    return max(numbers.count(n) for n in numbers)


def collective_ns(machine, number, sent, received, nodes):
    """`nodes`: of each member."""
    machines = [machine.machine_of(node) for node in sorted(set(nodes))]
    sizes = {"max": max(sent), "min": min(sent), "mean": sum(sent) // len(sent),
             "2max": 2 * max(sent), "s+r": max(sent) + max(received)}
    total = 0
    for factor, size in machine.collectives.get(number, usual_model(number)):
        for network, n in ((machine.inside, most(nodes)), (machine.between, most(machines)),
                           (machine.wide, len(set(machines)))):
            if n < 2 or factor == "0":
                continue
            step = network["latency"] + network["flight"] + transfer_ns(network, sizes[size])
            times = {"const": 1, "lin": n - 1, "log": log_steps(n, network["buses"])}[factor]
            total += step * times
    return total


class Message:
    """One send and one receive of a channel; what is not known yet is None."""

    def __init__(self):
        self.sent = self.post = self.ready = self.begin = self.free = self.end = None
        self.queued_for = None


class Simulation:
    def __init__(self, program, comms, machine):
        self.program, self.comms, self.machine = program, comms, machine
        n = len(program)
        self.now, self.at, self.wait = [0] * n, [0] * n, [None] * n
        self.part = [dict.fromkeys(("computing", "latency", "link", "bus", "transfer",
                                    "collective", "blocked"), 0) for _ in range(n)]
        self.sends, self.posts, self.messages = {}, {}, []
        self.entered, self.meetings, self.requests = {}, {}, {}
        self.sequence = [0] * n
        self.end = [None] * n

    def node(self, rank):
        return rank // self.machine.ranks_per_node

    def network(self, m):
        a, b = self.node(m.source), self.node(m.target)
        if a == b:
            return self.machine.inside
        one = self.machine.machine_of(a) == self.machine.machine_of(b)
        return self.machine.between if one else self.machine.wide

    def place(self, rank, network):
        """Which node's links, or which machine's, a message of a rank needs."""
        node = self.node(rank)
        return self.machine.machine_of(node) if network is self.machine.wide else node

    # ---- Messages

    def side(self, counts, channel):
        k = counts[channel] = counts.get(channel, 0) + 1
        for m in self.messages:
            if m.channel == channel and m.k == k:
                return m
        m = Message()
        m.channel, m.k = channel, k
        m.source, m.target = channel[1], channel[2]
        self.messages.append(m)
        return m

    def make_ready(self, m):
        if m.sent is None or (m.rendezvous and m.post is None):
            return
        m.ready = max(m.sent, m.post) if m.rendezvous else m.sent

    def is_free(self, m, t):
        """1: it may begin; else what it is queued for."""
        network = self.network(m)
        same = [o for o in self.messages if o.begin is not None and o.begin <= t < o.free
                and self.network(o) is network]
        if network is self.machine.inside:
            buses = [o for o in same if self.node(o.source) == self.node(m.source)]
        elif network is self.machine.between:
            mine = self.machine.machine_of(self.node(m.source))
            buses = [o for o in same if self.machine.machine_of(self.node(o.source)) == mine]
        else:
            buses = same
        if network["buses"] and len(buses) >= network["buses"]:
            return "bus"
        out = [o for o in same if self.place(o.source, network) == self.place(m.source, network)]
        into = [o for o in same if self.place(o.target, network) == self.place(m.target, network)]
        if (network["out"] and len(out) >= network["out"]) or (
                network["in"] and len(into) >= network["in"]):
            return "link"
        return 1

    def scan(self, t):
        waiting = [m for m in self.messages
                   if m.begin is None and m.ready is not None and m.ready <= t]
        for m in sorted(waiting, key=lambda m: (m.ready, m.source, m.sequence)):
            free = self.is_free(m, t)
            if free == 1:
                m.begin, m.free = t, t + transfer_ns(self.network(m), m.size)
                m.end = m.free + self.network(m)["flight"]
            elif m.queued_for is None:
                m.queued_for = free

    # ---- Ranks

    def waited(self, rank, m, t):
        part, a, b = self.part[rank], self.now[rank], m.end
        if b <= a:
            return
        queued = max(0, min(b, m.begin) - max(a, m.ready))
        moved = max(0, b - max(a, m.begin))
        part[m.queued_for or "bus"] += queued
        part["transfer"] += moved
        part["blocked"] += b - a - queued - moved
        self.now[rank] = b

    def met(self, rank, meeting):
        a, b = self.now[rank], meeting["end"]
        if b > a:
            cost = min(b - a, meeting["cost"])
            self.part[rank]["collective"] += cost
            self.part[rank]["blocked"] += b - a - cost
            self.now[rank] = b

    def resume(self, rank, t):
        """True if the operation it waits for is over by then."""
        kind, what = self.wait[rank]
        end = what.end if kind == "message" else what["end"]
        if end is None or max(end, self.now[rank]) > t:
            return False
        if kind == "message":
            self.waited(rank, what, t)
        else:
            self.met(rank, what)
        self.wait[rank] = None
        return True

    def enter(self, rank, number, comm, sent, received):
        k = self.entered[rank, comm] = self.entered.get((rank, comm), 0) + 1
        members = self.comms[comm]
        meeting = self.meetings.setdefault((comm, k), {"in": {}, "end": None, "cost": 0})
        meeting["in"][rank] = (self.now[rank], sent, received)
        if len(members) < 2:
            meeting["end"] = self.now[rank]
        elif len(meeting["in"]) == len(members):
            nodes = [self.node(r) for r in members]
            meeting["cost"] = collective_ns(self.machine, number,
                                            [v[1] for v in meeting["in"].values()],
                                            [v[2] for v in meeting["in"].values()],
                                            nodes)
            meeting["end"] = max(v[0] for v in meeting["in"].values()) + meeting["cost"]
        return meeting

    def act(self, rank, action):
        kind = action[0]
        if kind == "compute":
            ns = burst_ns(action[1], self.machine.speed.get(rank, 1))
            self.now[rank] += ns
            self.part[rank]["computing"] += ns
        elif kind == "send":
            _, target, size, tag, comm, synchronous, immediate = action
            m = self.side(self.sends, (comm, rank, target, tag))
            latency = self.network(m)["latency"]
            self.now[rank] += latency
            self.part[rank]["latency"] += latency
            m.size, m.sent, m.sequence = size, self.now[rank], self.sequence[rank]
            self.sequence[rank] += 1
            m.rendezvous = synchronous or (self.machine.eager is not None and target != rank
                                           and size > self.machine.eager)
            self.make_ready(m)
            if m.rendezvous and not immediate:
                self.wait[rank] = ("message", m)
        elif kind in ("receive", "irecv"):
            _, source, tag, comm = action[:4]
            m = self.side(self.posts, (comm, source, rank, tag))
            m.post = self.now[rank]
            if m.sent is not None and m.rendezvous:
                self.make_ready(m)
            if kind == "receive":
                self.wait[rank] = ("message", m)
            else:
                self.requests[rank, action[4]] = ("message", m)
        elif kind == "wait":
            self.wait[rank] = self.requests[rank, action[1]]
        elif kind == "collective":
            _, number, comm, sent, received = action[:5]
            meeting = self.enter(rank, number, comm, sent, received)
            if len(action) > 5:
                self.requests[rank, action[5]] = ("collective", meeting)
            else:
                self.wait[rank] = ("collective", meeting)

    def run_rank(self, rank, t):
        moved = False
        while self.end[rank] is None and self.now[rank] <= t:
            if self.wait[rank] and not self.resume(rank, t):
                break
            if self.wait[rank] is None and self.now[rank] <= t:
                moved = True
                if self.at[rank] == len(self.program[rank]):
                    self.end[rank] = self.now[rank]
                else:
                    self.at[rank] += 1
                    self.act(rank, self.program[rank][self.at[rank] - 1])
        return moved

    def next_instant(self, t):
        times = [x for r, x in enumerate(self.now) if self.end[r] is None and not self.wait[r]]
        for w in self.wait:
            if w:
                times.append(w[1].end if w[0] == "message" else w[1]["end"])
        for m in self.messages:
            times += [m.ready] if m.begin is None else [m.free, m.end]
        return min((x for x in times if x is not None and x > t), default=None)

    def run(self):
        t = 0
        while t is not None:
            moved = True
            while moved:
                while any([self.run_rank(r, t) for r in range(len(self.program))]):
                    pass  # until no rank can go on at this instant
                self.scan(t)
                moved = any([self.wait[r] and self.resume(r, t)
                             for r in range(len(self.program))])
            t = self.next_instant(t)
        if any(e is None for e in self.end):
            raise Deadlock()
        return self.end, self.part
