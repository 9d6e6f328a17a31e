# SPDX-License-Identifier: Apache-2.0
"""Random programs on random machines: equal to the plain simulator to the nanosecond.

Times are multiples of few numbers, so that many things happen at one instant. Each run has a fifth
of the programs (turn.py).
"""
import pathlib
import random
import sys

from common import PARTS, Tap
from plain import Deadlock, Machine, Simulation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "zoo"))
from turn import turns  # noqa: E402

N = 100  # of a turn


def make_program(r, n, comms):
    program = [[] for _ in range(n)]
    open_requests = [[] for _ in range(n)]
    request = 0
    for _ in range(r.choice((3, 10, 40, 80))):
        what = r.random()
        if what < 0.35:
            program[r.randrange(n)].append(("compute", r.choice((0, 10, 20, 50, 100, 12345))))
        elif what < 0.8:
            source, target, tag, comm = (r.randrange(n), r.randrange(n), r.randrange(2),
                                         r.choice((0, 2)))
            synchronous, immediate = r.random() < 0.3, r.random() < 0.5
            request += 1
            is_irecv = source == target or r.random() < 0.5
            # The wait for a receive stands before the next one of its channel: a .dim names
            # requests by their channel.
            for o in [o for o in open_requests[target] if o[1] == (source, tag, comm)]:
                program[target].append(("wait", o[0]))
                open_requests[target].remove(o)
            if is_irecv and r.random() < 0.7:
                program[target].append(("irecv", source, tag, comm, request))
            send = ("send", target, r.choice((0, 10, 100, 1000, 70000)), tag, comm,
                    synchronous, immediate or source == target)
            program[source].append(send)
            if not is_irecv:
                program[target].append(("receive", source, tag, comm))
            else:
                if ("irecv", source, tag, comm, request) not in program[target]:
                    program[target].append(("irecv", source, tag, comm, request))
                open_requests[target].append((request, (source, tag, comm)))
        elif what < 0.93:
            comm = r.choice(list(comms))
            number = r.randrange(16)
            is_open = r.random() < 0.3
            request += 1
            for rank in comms[comm]:
                for o in [o for o in open_requests[rank] if o[1] == comm]:
                    program[rank].append(("wait", o[0]))
                    open_requests[rank].remove(o)
                action = ("collective", number, comm, r.choice((0, 10, 1000)), r.choice((0, 500)))
                if is_open:
                    open_requests[rank].append((request, comm))
                    action += (request,)
                program[rank].append(action)
        else:
            rank = r.randrange(n)
            if open_requests[rank]:
                o = r.choice(open_requests[rank])
                open_requests[rank].remove(o)
                program[rank].append(("wait", o[0]))
    if r.random() < 0.1:  # often a deadlock
        rank = r.randrange(n)
        program[rank] = [a for a in program[rank] if a[0] != "send" or r.random() < 0.7]
    return program


RATES = {0: "inf", 10**9: "1GB/s", 10**8: "100MB/s", 3 * 10**9: "3GB/s"}
FACTORS, SIZES = ("0", "const", "lin", "log"), ("max", "min", "mean", "2max", "s+r")
NAMES = ("barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv "
         "reduce allreduce reduce_scatter reduce_scatter_block scan alltoallw").split()


def make_machine(r, n):
    options = []
    between = {"latency": r.choice((0, 10, 100)), "bandwidth": r.choice(list(RATES))}
    inside = {"latency": r.choice((0, 10)), "bandwidth": r.choice(list(RATES))}
    if r.random() < 0.7:
        between.update({"buses": r.choice((0, 1, 2)), "in": r.randrange(3), "out": r.randrange(3)})
        inside["buses"] = r.randrange(3)
    if r.random() < 0.3:
        between["buses"] = 0
    for name, network, key in (("buses", between, "buses"), ("in-links", between, "in"),
                               ("out-links", between, "out"), ("inside-buses", inside, "buses")):
        options += ["--" + name, str(network.get(key, 0))]
    options += ["--latency", "%dns" % between["latency"],
                "--bandwidth", RATES[between["bandwidth"]],
                "--inside-latency", "%dns" % inside["latency"],
                "--inside-bandwidth", RATES[inside["bandwidth"]]]
    given = {"between": between, "inside": inside, "ranks_per_node": r.randrange(1, 4)}
    if r.random() < 0.4:
        links = r.randrange(3)
        given["nodes_per_machine"] = r.randrange(1, 3)
        wide = given["wide"] = {"latency": r.choice((0, 200)), "bandwidth": r.choice(list(RATES)),
                                "flight": r.choice((0, 30, 1000)), "in": links, "out": links}
        options += ["--nodes-per-machine", str(given["nodes_per_machine"]),
                    "--wide-latency", "%dns" % wide["latency"],
                    "--wide-bandwidth", RATES[wide["bandwidth"]],
                    "--wide-flight", "%dns" % wide["flight"], "--wide-links", str(links)]
    options += ["--ranks-per-node", str(given["ranks_per_node"])]
    if r.random() < 0.6:
        given["eager"] = r.choice((0, 10, 100, 1000))
        options += ["--eager", str(given["eager"])]
    if r.random() < 0.3:
        rank, speed = r.randrange(n), r.choice((2, 0.5, 3, 0.7))
        given["speed"] = {rank: speed}
        options += ["--cpu", "rank:%d=%gx" % (rank, speed)]
    collectives = {}
    for number in range(16):
        if r.random() < 0.4:
            model = tuple((r.choice(FACTORS), r.choice(SIZES)) for _ in range(2))
            collectives[number] = model
            options += ["--collective", "%s=%s:%s+%s:%s" % ((NAMES[number],) + model[0] + model[1])]
    given["collectives"] = collectives
    return Machine(**given), options


def compare(tap, seed):
    """None: equal. Else the difference. And whether it was a deadlock."""
    r = random.Random(seed)
    n = r.randrange(1, 7)
    comms = {0: list(range(n)), 2: sorted(r.sample(range(n), r.randrange(1, n + 1)))}
    program = make_program(r, n, comms)
    machine, options = make_machine(r, n)
    try:
        want = Simulation(program, comms, machine).run()
    except Deadlock:
        want = None
    try:
        _, ends, parts = tap.simulate(program, *options, comms={2: comms[2]})
    except RuntimeError as error:
        return (None if want is None and "deadlock" in str(error) else str(error)), True
    if want is None:
        return "no deadlock was found", False
    parts = [{p: part[p] for p in PARTS} for part in parts]
    if ends == want[0] and parts == want[1]:
        return None, False
    return "options %s\nends %s, not %s\nparts %s\nnot %s" % (
        " ".join(options), ends, want[0], parts, want[1]), False


def try_programs(tap, first):
    """Those of the seeds from `first` on."""
    deadlocks = 0
    for block in range(first, first + N, 50):
        why = []
        for seed in range(block, block + 50):
            difference, is_deadlock = compare(tap, seed)
            deadlocks += is_deadlock and difference is None
            if difference:
                why.append("seed %d: %s" % (seed, difference))
        tap.check("programs %d to %d are equal" % (block, block + 49), not why, "\n".join(why[:3]))
    tap.check("some of them, not most, are deadlocks", 0 < deadlocks < N / 2, deadlocks)


def main():
    tap = Tap(sys.argv[1])
    firsts = [int(sys.argv[2])] if len(sys.argv) > 2 else [1 + N * turn for turn in turns()]
    for first in firsts:
        try_programs(tap, first)
    tap.end()


main()
