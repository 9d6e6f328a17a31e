# SPDX-License-Identifier: Apache-2.0
"""Wait states of logged programs by their definitions (doc/internals/analytics.md), plain and slow.

A log is the list of calls of a rank in their order. A call MPI_I... begins something. The next
MPI_Wait or MPI_Waitall of the rank completes all that has begun.
"""
import collections
import itertools

EAGER_B = 1024
ALL = {"MPI_Barrier": "wait_at_barrier", "MPI_Allreduce": "wait_at_nxn",
       "MPI_Alltoall": "wait_at_nxn", "MPI_Allgather": "wait_at_nxn",
       "MPI_Reduce_scatter_block": "wait_at_nxn"}
FROM_ROOT = {"MPI_Bcast", "MPI_Scatter"}
TO_ROOT = {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
PREFIX = {"MPI_Scan", "MPI_Exscan"}
# The first of these has the moments of waits that end together.
ORDER = ("late_sender", "late_sender_wrong_order", "late_receiver", "wait_at_barrier",
         "wait_at_nxn", "late_broadcast", "early_reduce", "early_scan")

Call = collections.namedtuple("Call", "rank name enter leave peer tag bytes root")
Side = collections.namedtuple("Side", "name begin end")  # calls
Wait = collections.namedtuple("Wait", "rank begin end kind cause routine")


def blocking_name(name):
    """MPI_Ibcast is a broadcast, MPI_Isend a send."""
    return "MPI_" + name[5:].capitalize() if name.startswith("MPI_I") else name


def sides_of(log):
    """Sends, receives and parts of collectives of a rank, in the order in which they begin."""
    sides, pending = [], []
    for call in log:
        if call.name in ("MPI_Wait", "MPI_Waitall"):
            for at in pending:
                sides[at] = sides[at]._replace(end=call)
            pending = []
        elif call.name == "MPI_Sendrecv":
            sides += [Side("MPI_Send", call, call), Side("MPI_Recv", call, call)]
        else:
            if call.name.startswith("MPI_I"):
                pending.append(len(sides))
            sides.append(Side(blocking_name(call.name), call, call))
    return sides


def is_send(side):
    return side.name in ("MPI_Send", "MPI_Ssend")


def messages(all_sides):
    """Pairs of sides: the n-th send of a channel is for its n-th receive."""
    channels = collections.defaultdict(lambda: ([], []))
    for side in itertools.chain.from_iterable(all_sides):
        own, peer, tag = side.begin.rank, side.begin.peer, side.begin.tag
        if is_send(side):
            channels[own, peer, tag][0].append(side)
        elif side.name == "MPI_Recv":
            channels[peer, own, tag][1].append(side)
    for sends, receives in channels.values():
        yield from zip(sends, receives, strict=True)


def message_waits(pairs):
    pairs = list(pairs)
    eager_b = max([EAGER_B, *(send.begin.bytes for send, receive in pairs
                              if send.name == "MPI_Send" and
                              send.end.leave <= receive.begin.enter)])
    for send, receive in pairs:
        sent, asked = send.begin.enter, receive.begin.enter
        if sent > receive.end.enter:
            end = min(sent, receive.end.leave)
            early = any(s.begin.enter < sent and s.begin.rank == send.begin.rank and
                        r.begin.rank == receive.begin.rank and r.end.enter >= end
                        for s, r in pairs)
            kind = "late_sender_wrong_order" if early else "late_sender"
            yield Wait(receive.begin.rank, receive.end.enter, end, kind, send.begin.rank,
                       send.begin.name)
        elif asked < send.end.leave and (send.name == "MPI_Ssend" or
                                         send.begin.bytes > eager_b):
            yield Wait(send.begin.rank, send.end.enter, asked, "late_receiver",
                       receive.begin.rank, receive.begin.name)


def wait_for(side, others, kind):
    """Until the last of the others begins."""
    last = max(others, key=lambda other: other.begin.enter)
    if last is not side:
        yield Wait(side.begin.rank, side.end.enter, min(last.begin.enter, side.end.leave), kind,
                   last.begin.rank, last.begin.name)


def collective_waits(members):
    name, root = members[0].name, members[0].begin.root
    if name in ALL:
        for side in members:
            yield from wait_for(side, members, ALL[name])
    elif name in FROM_ROOT:
        for side in members:
            yield from wait_for(side, [members[root]], "late_broadcast")
    elif name in TO_ROOT:
        others = [side for side in members if side.begin.rank != root]
        with_bytes = [side for side in others if side.begin.bytes]
        yield from wait_for(members[root], with_bytes or others, "early_reduce")
    elif name in PREFIX:
        for rank in range(1, len(members)):
            yield from wait_for(members[rank], members[:rank], "early_scan")


def each_moment_once(waits):
    """Pieces of waits of one rank: a moment is of the wait that ends last."""
    times = sorted({time for wait in waits for time in (wait.begin, wait.end)})
    for begin, end in zip(times, times[1:]):
        here = [wait for wait in waits if wait.begin <= begin < wait.end]
        if here:
            owner = min(here, key=lambda wait: (-wait.end, ORDER.index(wait.kind), wait.cause))
            yield owner._replace(begin=begin, end=end)


def waits_of(logs):
    """All waits; none of a rank overlap."""
    all_sides = [sides_of(log) for log in logs]
    waits = list(message_waits(messages(all_sides)))
    collectives = [[side for side in sides if not is_send(side) and side.name != "MPI_Recv"]
                   for sides in all_sides]
    for members in zip(*collectives, strict=True):
        waits += collective_waits(members)
    for rank in range(len(logs)):
        yield from each_moment_once([wait for wait in waits
                                     if wait.rank == rank and wait.end > wait.begin])
