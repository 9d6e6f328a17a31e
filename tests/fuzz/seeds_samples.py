# SPDX-License-Identifier: Apache-2.0
"""Seeds that need no compiler: files of perf, streams of samples, rings of agents. Formats:
src/sample/perf_data.h, doc/internals/sample.md, src/agent/shared/ring.h; the containers stand in
fuzz_stream.c and fuzz_ring.c."""
import struct
import subprocess

# ---- Files of perf -------------------------------------------------------------------------

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, REGS, STACK = (
    1 << i for i in range(14))
IDENTIFIER = 1 << 16
USER = 2  # in `misc`
USER_CONTEXT = 2**64 - 512


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(value, to=8):
    data = value.encode() + b"\0"
    return data + b"\0" * (-len(data) % to)


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attr(kind, config, sample_type, freq=True):
    """perf_event_attr: frequency, sample_id_all, 16 registers and the pc, 64 bytes of stack."""
    flags = (1 << 10 if freq else 0) | 1 << 18
    return struct.pack("<IIQQQQQ", kind, 136, config, 999, sample_type, 0, flags) + \
        struct.pack("<IIQQQQIIQIHH", 0, 0, 0, 0, 0, 0xff0fff, 64, 0, 0, 0, 0, 0) + b"\0" * 24


def trailer(kinds, time, number=0):
    out = struct.pack("<II", 100, 101) if kinds & TID else b""
    for bit, value in ((TIME, time), (ID, number), (STREAM, 1), (CPU, 3), (IDENTIFIER, number)):
        out += words(value) if kinds & bit else b""
    return out


def sample(kinds, time, number=0, pid=100):
    out = b""
    for bit, data in (
            (IDENTIFIER, words(number)), (IP, words(0x401000)),
            (TID, struct.pack("<II", pid, pid + 1)), (TIME, words(time)), (ADDR, words(0xadd)),
            (ID, words(number)), (STREAM, words(1)), (CPU, words(2)), (PERIOD, words(1001001)),
            (READ, words(7)), (CHAIN, words(3, USER_CONTEXT, 0x401000, 0x402005)),
            (RAW, struct.pack("<II", 4, 0xfeed)),
            (BRANCH, words(2, 0x401010, 0x402000, 0, 0x402020, 0x401004, 0)),
            (REGS, words(2, *range(0x7ffc0000, 0x7ffc0000 + 8 * 20, 8))),
            (STACK, words(64, *range(0x401000, 0x401008), 40))):
        out += data if kinds & bit else b""
    return record(9, out, USER)


def mapped(kinds, path, address, time, build_id=False):
    body = struct.pack("<IIQQQ", 100, 100, address, 0x8000, 0x1000)
    body += struct.pack("<B3x20s", 20, bytes(range(20))) if build_id else struct.pack(
        "<IIQQ", 8, 1, 77, 0)
    body += words(0x500000002) + text(path) + trailer(kinds, time)
    return record(10, body, USER | (1 << 14 if build_id else 0))


def every_record(kinds):
    task = struct.pack("<IIIIQ", 200, 100, 201, 101, 1005)
    end = trailer(kinds, 1006)
    return [
        record(3, struct.pack("<II", 100, 100) + text("solver") + trailer(kinds, 1000), 1 << 13),
        mapped(kinds, "/nowhere/solver", 0x400000, 1001),
        mapped(kinds, "/nowhere/lib", 0x500000, 1002, True),
        record(1, struct.pack("<IIQQQ", 100, 100, 0x600000, 0x2000, 0x3000) + text("//anon") +
               trailer(kinds, 1003), USER),
        record(7, task + end), sample(kinds, 1007), record(4, task + end),
        record(2, words(9, 5) + end), record(13, words(6) + end), record(14, end, 1 << 13),
        record(15, struct.pack("<II", 1, 2) + end), record(5, words(1012, 9, 9) + end),
        record(6, words(1013, 9, 9) + end), record(68, b""),
        record(71, words(24, 0, 0, 0, 0)) + b"\xff" * 24, record(60, words(1) + end),
        sample(kinds, 1008, pid=0), sample(kinds, 1009, pid=300), record(68, b"")]


def header_text(value):
    return struct.pack("<I64s", 64, value.encode())


def features():
    """Number -> bytes."""
    argv = ["/usr/bin/perf", "record", "-F", "99", "--", "solver", "a b"]
    build_id = struct.pack("<I20sB3x", 2**32 - 1, b"\xab" * 20, 16) + text("/nowhere/solver")
    return {2: record(67, build_id, 1 << 15), 3: header_text("node7"), 4: header_text("6.1.0"),
            5: header_text("6.1.76"), 6: header_text("x86_64"), 7: struct.pack("<II", 4, 8),
            8: header_text("A Processor"), 9: header_text("GenuineIntel,6,143,8"),
            10: words(1 << 20),
            11: struct.pack("<I", len(argv)) + b"".join(map(header_text, argv)),
            12: struct.pack("<IIQQI", 1, 16, 0, 0, 1) + header_text("cpu-clock:u") + words(5),
            21: words(1007, 1009), 29: struct.pack("<IIQQ", 1, 1, 1700000000 * 10**9, 1000)}


def perf_file(events, data, feature):
    """`events`: (attr, numbers)."""
    ids = b"".join(words(*numbers) for _, numbers in events)
    attrs, at = b"", 104
    for bits, numbers in events:
        attrs += bits + words(at, 8 * len(numbers))
        at += 8 * len(numbers)
    from_b = 104 + len(ids) + len(attrs)
    flags = sum(1 << number for number in feature)
    head = b"PERFILE2" + words(104, 136 + 16, 104 + len(ids), len(attrs), from_b, len(data), 0, 0,
                               flags, 0, 0, 0)
    at, table, rest = from_b + len(data) + 16 * len(feature), b"", b""
    for number in sorted(feature):
        table += words(at + len(rest), len(feature[number]))
        rest += feature[number]
    return head + ids + attrs + data + table + rest


def packed(data):
    """Two records of one zstd stream; b"" without the tool."""
    try:
        made = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""
    half = len(made) // 2
    return record(81, made[:half]) + record(81, made[half:])


def perf_seeds(put):
    plain = IP | TID | TIME | CPU | PERIOD | CHAIN
    copied = plain | IDENTIFIER | REGS | STACK
    for kinds in (plain, copied, plain | BRANCH | RAW | READ | ID | ADDR | STREAM):
        records = every_record(kinds)
        put("perf", perf_file([(attr(1, 0, kinds), [])], b"".join(records), features()))
        for one in records:  # one kind each, small
            put("perf", perf_file([(attr(1, 0, kinds), [])], one, {}))
    records = b"".join(every_record(copied))
    two = [(attr(0, 0, copied, freq=False), [11, 12]), (attr(1, 1, copied), [21])]
    put("perf", perf_file(two, records + sample(copied, 1020, 12) + sample(copied, 1030, 21),
                          {21: words(1, 2)}))
    if packed(records):
        put("perf", perf_file([(attr(1, 0, copied), [])], packed(records), features()))
    pipe = b"PERFILE2" + words(16) + record(64, attr(1, 0, plain) + words(5))
    pipe += record(78, words(2, 5) + text("cpu-clock:u"))
    for number, data in features().items():
        pipe += record(80, words(number) + data + b"\0" * (-len(data) % 8))
    put("perf", pipe + b"".join(every_record(plain)))


# ---- Streams -------------------------------------------------------------------------------

(INFO, MODULE, THREAD, NODE, RESET, MAP, COMM, EXEC, FORK, EXIT, LOST, SWITCH_IN, SWITCH_OUT,
 PREEMPT, THROTTLE, UNTHROTTLE, END, PROCESS) = range(1, 19)
SAMPLE = 0x80


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def signed(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def word(value):
    return varint(len(value)) + value.encode()


def stream_seeds(put):
    def tagged(tag, *parts):
        return bytes([tag]) + b"".join(parts)

    modules = tagged(MODULE, b"\4", word(""), b"\0\0\0", word("")) + \
        tagged(MODULE, b"\0", word("/opt/solver"), varint(2049), varint(77), b"\4", b"\1\2\3\4",
               word("kept-0"))
    seen = b"\2" + varint(8192) + signed(10**18)  # not in the first version
    known_modules = tagged(MODULE, b"\4", word(""), b"\0\0\0", word(""), b"\0\0\0") + \
        tagged(MODULE, b"\0", word("/opt/solver"), varint(2049), varint(77), b"\4", b"\1\2\3\4",
               word("kept-0"), seen)
    threads = tagged(THREAD, varint(100), varint(100)) + tagged(THREAD, varint(100), varint(101))
    nodes = tagged(NODE, b"\1", b"\1", signed(0x1000)) + tagged(NODE, b"\1", b"\1", signed(-16))
    info = tagged(INFO, word("host"), word("node7")) + \
        tagged(PROCESS, signed(1), b"\0", word("rank"), word("3"))
    events = tagged(MAP, signed(5), b"\0", varint(0x400000), varint(0x8000), varint(0), b"\1")
    events += tagged(COMM, signed(1), b"\1", b"\2", word("solver"))
    events += tagged(EXEC, signed(1), b"\0", b"\2", word("solver"))
    events += tagged(FORK, signed(1), b"\1", b"\2", b"\0")
    events += tagged(LOST, signed(-1), b"\1", b"\2", varint(7))
    for tag in (EXIT, SWITCH_IN, SWITCH_OUT, PREEMPT, THROTTLE, UNTHROTTLE):
        events += tagged(tag, signed(1), b"\1", b"\3")
    samples = tagged(SAMPLE, signed(9), b"\0", varint(3), varint(10000000), signed(2))
    samples += tagged(SAMPLE | 7, signed(9), signed(-1))
    samples += tagged(SAMPLE | 0x2f, signed(9), signed(0))
    end = tagged(END, varint(9), varint(3), *[b"\0"] * 6)
    again = tagged(RESET) + nodes + tagged(SAMPLE | 7, signed(1), signed(1))

    # From the third version on: places by number, times last.
    places = tagged(NODE, b"\1", b"\0", b"\1", signed(0x1000)) + \
        tagged(NODE, b"\1", b"\0", b"\1", signed(-16)) + tagged(NODE, b"\1", b"\1")
    times = tagged(SAMPLE, b"\0", varint(3), varint(10000000), signed(2), signed(9))
    times += tagged(SAMPLE | 7, signed(-1), signed(-9))
    times += tagged(SAMPLE | 0x2f, signed(0), signed(9))
    more = tagged(RESET) + places + tagged(SAMPLE | 7, signed(1), signed(1))

    def put_blocks(version, *parts):
        data = b"".join(struct.pack("<H", len(part)) + part for part in parts)
        if version == 4:
            data = b"\xff\xff" + data
        while version < 4 and 1 + len(data) % 3 != version:  # behind the end
            data += b"\0"
        put("stream", data)

    for version, nodes, samples, again in ((1, nodes, samples, again), (2, nodes, samples, again),
                                           (3, places, times, more)):
        known = modules if version == 1 else known_modules
        for parts in ([known, threads, nodes, info, events, samples, again, end],
                      [known + threads + nodes + samples + end], [known + threads + events],
                      [info], [end], [known + nodes, again]):
            put_blocks(version, *parts)
    # From the fourth on: what a block is and its thread, then its payload.
    defined = b"\x0a\xfe" + b"\1\1\0\0" + known_modules + threads + places + end
    base = varint(0) + varint(1000) + varint(10000000) + b"\0"

    def chunk(number, *records):
        data = b"".join(records)
        return varint(number + 2) + varint(len(data)) + data

    first = tagged(SAMPLE | 1, varint(3), varint(10000000), signed(2), signed(9)) + \
        tagged(SAMPLE | 0x26, b"\1", signed(-1), signed(900)) + \
        tagged(EXIT, b"\0", signed(1), b"\3")
    other = tagged(SWITCH_IN, b"\1", signed(1), b"\3") + \
        tagged(SAMPLE, b"\0", varint(3), varint(10000000), signed(2), signed(9)) + \
        tagged(COMM, b"\2", signed(1), b"\2", word("solver")) + \
        tagged(FORK, b"\0", signed(1), b"\2", b"\0") + tagged(LOST, b"\1", signed(-1), b"\2\7") + \
        tagged(MAP, b"\0", signed(5), varint(0x400000), varint(0x8000), b"\0\1")
    said = tagged(INFO, b"\7", word("host"), word("node7"))
    many = b"\4\xff" + base + chunk(0, first) + chunk(1, other) + chunk(-2, said)
    alone = b"\0\1" + base + chunk(1, other)
    put_blocks(4, defined, many, b"\x0a\xfe\4\3\2\2" + tagged(RESET) + b"\4\4\0\1\2", alone)
    put_blocks(4, many, defined, alone)
    put_blocks(4, b"\2\xfe\1\1\0\0" + known_modules, b"\2\xfe\1\1\2\0" + threads, alone)
    put("stream", b"ASSAYSMP" + struct.pack("<II", 1, 0) + b"\0" * 8)
    put("stream", b"ASSAYSMP" + struct.pack("<II", 9, 0))


# ---- Rings ---------------------------------------------------------------------------------

ALIVE, FORKED, FIELDS, PUMP = 1, 2, 4, 8
(A_SAMPLE, A_MAP, A_LOADED, A_THREAD, A_NAME, A_EXIT, A_END) = range(1, 8)


def agent(kind, time, body=b"", size_b=None, tid=7):
    size_b = 24 + len(body) if size_b is None else size_b
    return struct.pack("<IIIIQ", size_b, kind, tid, 1, time) + body


def agent_sample(time, regs, chain, stack_b):
    body = struct.pack("<QQQIIII", 0x401010, 10000000, 0x7ffc0000, regs, chain, stack_b, 0)
    return agent(A_SAMPLE, time, body + words(*range(regs + chain)) + b"\x11" * stack_b)


def ring_seeds(put):
    def ring(how, process, tail, data, fields=b""):
        return bytes([how, process]) + struct.pack("<HH", tail, len(data)) + fields + data

    thread = struct.pack("<II16s", 0, 0, b"worker")
    line = text("00401000-00409000 r-xp 00001000 08:01 77    /opt/solver")
    some = [agent(A_MAP, 1000, line), agent(A_THREAD, 1001, thread), agent_sample(1002, 17, 3, 64),
            agent_sample(1003, 0, 127, 0), agent(A_NAME, 1004, thread), agent(A_LOADED, 1005),
            agent(A_EXIT, 1006, thread), agent(A_END, 1007)]
    whole = b"".join(some)
    for one in some:
        put("ring", ring(0, 1, 0, one))
    put("ring", ring(0, 1, 500, whole))
    put("ring", ring(ALIVE | PUMP, 1, 0, whole[:-32]) + ring(ALIVE, 1, 0, some[2]))
    put("ring", ring(PUMP, 1, 0, whole) + ring(FORKED, 2 + 16, 0, whole) + ring(PUMP, 1, 0, whole))
    put("ring", ring(0, 1, 0, some[0] + b"\0" * 40 + some[2] + agent(9, 1, size_b=13) + some[3]))
    put("ring", ring(0, 1, 0, agent(A_SAMPLE, 2, b"\xff" * 40) + some[2]))
    put("ring", ring(FIELDS, 1, 0, whole, words(4096 - 16, len(whole), 3, 2, 1)))
    put("ring", ring(FIELDS, 1, 0, whole, words(5, 5000, 2**63, 2**64 - 1, 2**64 - 1)))


def write(put):
    perf_seeds(put)
    stream_seeds(put)
    ring_seeds(put)
