# SPDX-License-Identifier: Apache-2.0
"""Seeds of traces: streams for fuzz_trace.c, and whole runs for fuzz_analysis.c. The kinds and
fields of records come from src/trace/record.h, so that seeds always have the current format."""
import pathlib
import re
import struct

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src/trace/record.h"
MAGIC, BLOCK_MAGIC = 0x4543415254415353, 0x4b4c4254
KERNEL = 1
BEGIN = 1000  # tick and nanosecond of all streams
CLOSED = 1


def lists_of_header():
    """Kinds with their fields, groups, and the version of the format."""
    text = SOURCE.read_text()
    part = text[text.index("#define AS_TRACE_KINDS(X)"):text.index("#define AS_TRACE_ENUM(kind")]
    kinds = {name: (i + 1, fields) for i, (name, fields) in
             enumerate(re.findall(r'X\((\w+), "[^"]*", "(\w*)"\)', part))}
    part = text[text.index("#define AS_TRACE_GROUPS(X)"):text.index("#define AS_TRACE_ENUM(group")]
    groups = {name: i for i, name in enumerate(re.findall(r"X\((\w+),", part))}
    return kinds, groups, int(re.search(r"AS_TRACE_VERSION (\d+)", text)[1])


KINDS, GROUPS, VERSION = lists_of_header()


def uleb(value):
    value &= 2**64 - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def sleb(value):
    return uleb(2 * value if value >= 0 else -2 * value - 1)


def record(kind, *fields, since=0):
    """Fields in the order of the kind: numbers, texts, lists."""
    number, spelled = KINDS[kind]
    assert len(fields) == len(spelled), (kind, fields)
    code = 0 if since == 0 else 1 if since < 2**16 else 2 if since < 2**32 else 3
    out = bytes([number | code << 6]) + since.to_bytes((0, 2, 4, 8)[code], "little")
    for how, value in zip(spelled, fields):
        if how == "t":
            out += uleb(len(value)) + value.encode()
        elif how == "l":
            steps = [b - a for a, b in zip([0, *value], value)]
            out += uleb(len(value)) + b"".join(sleb(step) for step in steps)
        else:
            out += uleb(value) if how == "u" else sleb(value)
    return out


class Stream:
    """Records of a thread; `at` are nanoseconds since the beginning."""

    def __init__(self, process, thread):
        self.which = process | thread << 2
        self.tick, self.data = 0, b""

    def put(self, at, kind, *fields):
        assert at >= self.tick, (kind, at)
        self.data += record(kind, *fields, since=at - self.tick)
        self.tick = at
        return self

    def call(self, begin, end, name, *said):
        """A call, and what it says of itself just before it ends."""
        self.put(begin, "ENTER", name)
        for one in said:
            self.put(end, *one)
        return self.put(end, "LEAVE", name)

    def packed(self):
        return struct.pack("<BH", self.which, len(self.data)) + self.data


# ---- Streams by themselves -----------------------------------------------------------------


def head(blocks, ring=0, clock=KERNEL, end=CLOSED, hz=0, latest=None, pid=7, tid=9):
    begin, last = (BEGIN, BEGIN), latest or (BEGIN + 90000, BEGIN + 90000)
    return struct.pack("<QIIIIIIIIiIQQqQqqqQQ64sQ", MAGIC, VERSION, 256 << 10, pid, tid, 0, clock,
                       ring, end, 0, 0, hz, *begin, *last, 5, 6, blocks, 0, b"a thread", 2)


def block(number, data, tick=BEGIN, at=None, used=None):
    out = struct.pack("<QIIQQqQ", number, 48 + len(data) if used is None else used, BLOCK_MAGIC,
                      tick, *(at or (tick + 5, tick + 5)), 0) + data
    return struct.pack("<H", len(out)) + out


def example_of(kind, n=3):
    """A record of the kind with small numbers in it."""
    values = {"u": 1, "s": -1, "t": "text", "l": [5, 3, 70000][:n]}
    return record(kind, *(values[how] for how in KINDS[kind][1]), since=10)


def stream_seeds(put):
    every = [example_of(kind) for kind in KINDS]
    for i in range(0, len(every), 12):
        put("trace", head(1) + block(0, b"".join(every[i:i + 12])))
    told = [("NAME", 1, GROUPS["MPI_POINT"], "MPI_Send"), ("NAME", 2, GROUPS["USER"], "solve"),
            ("WORLD", 0, 2, 1), ("COMM", 1, 9, 2, 0, 0, [0, 1]), ("COMM_NAME", 1, "world"),
            ("NEIGHBOURS", 1, 1, [1, 0]), ("WINDOW", 1, 1), ("FACT", "mpi", "4.1"),
            ("MODULE", 0x400000, 0x1000, 0x1000, "/a.out"), ("RELATED", 5, -5, 1)]
    put("trace", head(1) + block(0, b"".join(record(*one, since=1) for one in told)))
    calls = b"".join(record("ENTER", 1, since=9) + record("CALLERS", [0x401000, 0x402000]) +
                     record("LEAVE", 1, since=2**17) for _ in range(6))
    put("trace", head(3) + b"".join(block(i, calls, BEGIN + 10**6 * i) for i in range(3)))
    # The latest three of a ring of three, and one that was cut.
    put("trace", head(8, ring=3) + b"".join(block(i, calls[:40], BEGIN + 1000 * i)
                                            for i in (6, 7, 5)))
    put("trace", head(4) + block(0, calls) + block(1, calls[:33], BEGIN + 10**6))
    put("trace", head(1, clock=0, hz=2 * 10**9, latest=(10**9, 10**9 // 2 + BEGIN)) +
        block(0, record("ENTER", 1, since=2**40) + record("LEAVE", 1, since=5)))
    put("trace", head(1, end=2) + block(0, calls[:60] + record("OFF", 1, since=4), used=90))


# ---- Runs ----------------------------------------------------------------------------------

NAMES = [("MPI_Send", "MPI_POINT"), ("MPI_Recv", "MPI_POINT"), ("MPI_Isend", "MPI_POINT"),
         ("MPI_Irecv", "MPI_POINT"), ("MPI_Waitall", "MPI_COMPLETION"),
         ("MPI_Barrier", "MPI_COLLECTIVE"), ("MPI_Allreduce", "MPI_COLLECTIVE"),
         ("MPI_Bcast", "MPI_COLLECTIVE"), ("MPI_Reduce", "MPI_COLLECTIVE"),
         ("MPI_Scan", "MPI_COLLECTIVE"), ("MPI_Neighbor_alltoall", "MPI_COLLECTIVE"),
         ("MPI_Put", "MPI_RMA"), ("MPI_Win_fence", "MPI_RMA"), ("MPI_Win_post", "MPI_RMA"),
         ("MPI_Win_complete", "MPI_RMA"), ("MPI_Win_wait", "MPI_RMA"),
         ("MPI_Win_lock", "MPI_RMA"), ("MPI_Test", "MPI_COMPLETION"), ("omp critical", "OPENMP"),
         ("pthread_mutex_lock", "LOCK"), ("pthread_mutex_unlock", "LOCK"),
         ("pthread_join", "THREAD"), ("read", "FILES"), ("malloc", "MEMORY"), ("solve", "USER"),
         ("resident bytes", "COUNTED"), ("MPI_Start", "MPI_POINT"), ("MPI_Ibarrier",
                                                                      "MPI_COLLECTIVE")]
NUMBER = {name: i + 1 for i, (name, _) in enumerate(NAMES)}
WORLD = 1


def definitions(rank, ranks, used):
    s = Stream(rank, 0)
    for name in used:
        number = NUMBER[name]
        s.put(0, "NAME", number, GROUPS[NAMES[number - 1][1]], name)
    s.put(0, "WORLD", rank, ranks, 3)
    return s.put(0, "COMM", WORLD, 99, ranks, rank, 0, list(range(ranks)))


def collective(comm=WORLD, request=0, root=-1):
    return "COLLECTIVE", comm, request, root, 8, 8, 0


def messages_run():
    """A late sender, a late receiver, a wildcard, requests; then everybody meets."""
    n = NUMBER
    used = ["MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Barrier"]
    a, b = Stream(0, 1), Stream(1, 1)
    a.call(500, 600, n["MPI_Send"], ("SEND", 1, 7, 64, WORLD, 0, 0))
    a.call(700, 900, n["MPI_Send"], ("SEND", 1, 8, 64, WORLD, 0, 2))
    a.call(910, 920, n["MPI_Isend"], ("SEND", 1, 9, 1 << 20, WORLD, 1, 0))
    a.call(930, 1500, n["MPI_Waitall"], ("DONE", 1))
    a.call(2000, 2500, n["MPI_Barrier"], collective())
    b.call(100, 610, n["MPI_Recv"], ("RECEIVE", 0, 7, 64, WORLD, 0))
    b.call(850, 905, n["MPI_Recv"], ("RECEIVE", 0, 8, 64, WORLD, 0))
    b.call(1000, 1010, n["MPI_Irecv"], ("POST", -1, -1, 1 << 20, WORLD, 1, 0))
    b.call(1300, 1490, n["MPI_Waitall"], ("RECEIVE", 0, 9, 1 << 20, WORLD, 1))
    b.call(2490, 2510, n["MPI_Barrier"], collective())
    return [definitions(0, 2, used), definitions(1, 2, used), a, b]


def gatherings_run():
    n = NUMBER
    used = ["MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Neighbor_alltoall",
            "MPI_Ibarrier", "MPI_Waitall"]
    out = []
    for rank in range(3):
        s, late = Stream(rank, 1), 40 * rank
        for i, name in enumerate(used[:4]):
            root = 1 if name in ("MPI_Bcast", "MPI_Reduce") else -1
            s.call(1000 * i + late, 1000 * i + 300, n[name], collective(root=root))
        s.call(4000 + late, 4200, n["MPI_Neighbor_alltoall"], collective(comm=2))
        s.call(5000 + late, 5100, n["MPI_Ibarrier"], collective(request=3))
        s.call(5200, 5400 + late, n["MPI_Waitall"], ("DONE", 3))
        d = definitions(rank, 3, used).put(0, "COMM", 2, 100, 3, rank, 0, [0, 1, 2])
        d.put(0, "NEIGHBOURS", 2, 1, [(rank + 2) % 3, (rank + 1) % 3])
        out += [d, s]
    return out


def windows_run():
    n = NUMBER
    used = [name for name, _ in NAMES if name.startswith(("MPI_Win", "MPI_Put"))]
    a, b = Stream(0, 1), Stream(1, 1)
    made, fence, posted, started, completed, awaited = 0, 2, 3, 4, 5, 6
    exclusive, unlocked = 8, 9
    for s, late in ((a, 0), (b, 300)):
        s.call(10 + late, 400, n["MPI_Win_fence"], ("SYNC", 1, made, -1))
        s.call(1000 + late, 1400, n["MPI_Win_fence"], ("SYNC", 1, fence, -1))
    a.call(2000, 2500, n["MPI_Put"], ("SYNC", 1, started, 1), ("RMA", 1, 4096, 1))
    a.call(2600, 2700, n["MPI_Win_complete"], ("SYNC", 1, completed, 1))
    b.call(2400, 2450, n["MPI_Win_post"], ("SYNC", 1, posted, 0))
    b.call(2460, 2800, n["MPI_Win_wait"], ("SYNC", 1, awaited, 0))
    for s, begin in ((a, 3000), (b, 3200)):
        s.call(begin, begin + 600, n["MPI_Win_lock"], ("SYNC", 1, exclusive, 1))
        s.call(begin + 700, begin + 710, n["MPI_Put"], ("RMA", 1, 8, 1))
        s.call(begin + 720, begin + 750, n["MPI_Win_lock"], ("SYNC", 1, unlocked, 1))
    return [definitions(0, 2, used).put(0, "WINDOW", 1, WORLD),
            definitions(1, 2, used).put(0, "WINDOW", 1, WORLD), a, b]


def teams_run():
    """A region of two threads with a barrier, a loop, tasks; the worker idles around it."""
    used = ["omp critical"]
    master, worker = Stream(0, 1), Stream(0, 2)
    master.put(100, "PARALLEL", 1, 2, 0x401000).put(110, "IMPLICIT", 1, 0, 2)
    worker.put(50, "THREAD_BEGIN", 0xabc, 1).put(150, "IMPLICIT", 1, 1, 2)
    for s, late in ((master, 0), (worker, 200)):
        s.put(200, "WORK", 1, 0, 100).put(300 + late, "WORK_END", 1, 0)
        s.put(310 + late, "BARRIER", 1, 1).put(600, "BARRIER_END", 1, 1)
        s.put(610, "ENTER", NUMBER["omp critical"]).put(610, "LOCK_WAIT", 5, 4)
        s.put(700 + late, "LOCK_HELD", 5, 4).put(700 + late, "LEAVE", NUMBER["omp critical"])
        s.put(800 + late, "LOCK_RELEASED", 5, 4)
    master.put(1010, "TASK_CREATE", 1, 0, 0x402000).put(1020, "BARRIER", 1, 2)
    worker.put(1030, "TASK_BEGIN", 1).put(1200, "TASK_END", 1, 1)
    master.put(1210, "BARRIER_END", 1, 2)
    master.put(1300, "IMPLICIT_END", 1, 0).put(1500, "PARALLEL_END", 1)
    worker.put(1490, "IMPLICIT_END", 1, 1).put(2000, "THREAD_END")
    return [definitions(0, 1, used), master, worker]


def threads_run():
    n, used = NUMBER, ["pthread_mutex_lock", "pthread_mutex_unlock", "pthread_join"]
    a, b = Stream(0, 1), Stream(0, 2)
    a.put(10, "THREAD_CREATE", 0, 0x401000)
    b.put(20, "THREAD_BEGIN", 0xabc, 1)
    a.call(100, 500, n["pthread_mutex_lock"], ("LOCK_WAIT", 64, 0), ("LOCK_HELD", 64, 0))
    b.call(490, 495, n["pthread_mutex_unlock"], ("LOCK_RELEASED", 64, 0))
    a.call(600, 900, n["pthread_join"], ("THREAD_JOIN", 0xabc))
    b.put(880, "THREAD_END")
    for s, late in ((a, 0), (b, 60)):
        s.put(1000 + late, "BARRIER", 128, 4).put(1100, "BARRIER_END", 128, 4)
    return [definitions(0, 1, used), a, b]


def off_run():
    """Switched off in one rank while the other goes on; sums of calls; counters."""
    n = NUMBER
    used = ["MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Test", "resident bytes", "read", "malloc",
            "solve"]
    a, b = Stream(0, 1), Stream(1, 1)
    a.put(90, "COUNTER", n["resident bytes"], 4096)
    a.call(100, 150, n["MPI_Send"], ("SEND", 1, 1, 8, WORLD, 0, 0))
    a.put(200, "OFF", 0).put(700, "ON").put(700, "MISSED", 0, 1, 1, WORLD, 2)
    a.put(700, "MISSED", 2, -1, -1, WORLD, 1)
    a.put(710, "MISSED", 4, 1, 0, WORLD, 1)
    a.call(800, 900, n["MPI_Barrier"], collective())
    a.put(950, "COUNTER", n["resident bytes"], 8192).put(960, "EVENT", n["solve"], 0x3ff << 52)
    b.call(120, 160, n["MPI_Recv"], ("RECEIVE", 0, 1, 8, WORLD, 0))
    b.call(210, 300, n["MPI_Recv"], ("RECEIVE", 0, 1, 8, WORLD, 0))
    b.call(310, 320, n["MPI_Barrier"], collective())
    b.put(330, "ENTER", n["solve"])
    b.call(340, 500, n["MPI_Test"], ("REPEATED", 12, 90, 30), ("TRAFFIC", 100, 200))
    b.call(510, 530, n["read"], ("FILE_OPEN", 3, "/x"), ("IO", 3, 100, -1, 0), ("FILE_CLOSE", 3))
    b.call(540, 550, n["malloc"], ("ALLOCATE", 4096, 64), ("RELEASE", 4096))
    b.call(850, 905, n["MPI_Barrier"], collective())
    b.put(910, "LEAVE", n["solve"]).put(920, "LOST", 3).put(930, "FORK", 12).put(940, "EXEC", "/y")
    return [definitions(0, 2, used), definitions(1, 2, used), a, b]


def persistent_run():
    """A persistent send in parts, started twice, with its receive; an inter-communicator."""
    n, used = NUMBER, ["MPI_Isend", "MPI_Irecv", "MPI_Start", "MPI_Waitall", "MPI_Send", "MPI_Recv"]
    a, b = Stream(0, 1), Stream(1, 1)
    a.call(10, 20, n["MPI_Isend"], ("SEND", 1, 4, 512, WORLD, 1, 33))
    b.call(10, 30, n["MPI_Irecv"], ("POST", 0, 4, 512, WORLD, 1, 33))
    for at in (100, 1000):
        a.call(at, at + 10, n["MPI_Start"], ("START", 1)).put(at + 100, "PARTS", 1, 2)
        a.call(at + 200, at + 300, n["MPI_Waitall"], ("DONE", 1))
        b.call(at, at + 5, n["MPI_Start"], ("START", 1))
        b.call(at + 20, at + 290, n["MPI_Waitall"], ("DONE", 1))
    a.put(1500, "FREED", 1)
    a.call(1600, 1650, n["MPI_Send"], ("SEND", 0, 2, 8, 2, 0, 0))
    b.call(1500, 1660, n["MPI_Recv"], ("RECEIVE", 0, 2, 8, 2, 0), ("PROBE", 0, 2, 8, 2, 1))
    b.put(1700, "CANCELLED", 1)
    return [definitions(0, 2, used).put(0, "COMM", 2, 0, 1, 0, 1, [1]),
            definitions(1, 2, used).put(0, "COMM", 2, 0, 1, 0, 1, [0]).put(9, "COMM_FREE", 2), a, b]


def write(put):
    stream_seeds(put)
    for run in (messages_run, gatherings_run, windows_run, teams_run, threads_run, off_run,
                persistent_run):
        put("analysis", b"".join(stream.packed() for stream in run()))
