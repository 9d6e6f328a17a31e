#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers of `assay open TRACE --serve`, computed by hand: served.py ASSAY DIRECTORY

Two tasks, 100 ns. Task 1 runs 0-40, sends 40-60 (state 4), runs 60-100. Task 2 runs 0-20, waits
20-50 (state 3), runs 50-100. One message of 64 bytes, sent at 45, received at 48. Written in TAP.
"""
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import traceback

ASSAY, DIRECTORY = [pathlib.Path(word).resolve() for word in sys.argv[1:]]
TRACE = DIRECTORY / "t.prv"
INDEX = DIRECTORY / "t.prv.index" / "states.index"
PATIENCE_S = 100
TEXT = """#Paraver (01/01/2026 at 00:00):100_ns:0:1:2(1:1,1:1),0
1:0:1:1:1:0:40:1
1:0:1:2:1:0:20:1
2:0:1:2:1:20:50000001:2
1:0:1:2:1:20:50:3
2:0:1:1:1:40:50000001:1
1:0:1:1:1:40:60:4
3:0:1:1:1:45:45:0:1:2:1:48:48:64:7
2:0:1:2:1:50:50000001:0
1:0:1:2:1:50:100:1
2:0:1:1:1:60:50000001:0
1:0:1:1:1:60:100:1
"""


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r}")


class Served:
    """The server while it runs; ends with an interrupt."""

    def __init__(self, *words, trace=TRACE):
        self.words = [trace, *words]

    def __enter__(self):
        self.process = subprocess.Popen([ASSAY, "open", *self.words, "--serve"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        self.port, self.key = re.match(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/$",
                                       line).groups()
        return self

    def __exit__(self, *why):
        self.process.send_signal(signal.SIGINT)
        self.errors = self.process.communicate(timeout=PATIENCE_S)[1]

    def ask(self, name, key=None):
        link = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=PATIENCE_S)
        link.request("GET", f"/{key or self.key}/{name}")
        answer = link.getresponse()
        body = answer.read()
        link.close()
        return answer.status, body

    def json(self, name):
        status, body = self.ask(name)
        equal(status, 200)
        return json.loads(body)


def words_are_those_of_the_trace():
    with Served() as served:
        meta = served.json("meta")
        equal((meta["end_ns"], meta["events_n"], meta["messages_n"]), (100, 4, 1))
        equal([(one["type"], one["n"]) for one in meta["types"]], [(50000001, 4)])
        metric = served.json("metric?m=states")
        equal(metric["state"], "ready")
        equal(sorted(code["value"] for code in metric["codes"]), [1, 3, 4])
        equal(metric["rows"], ["THREAD 1.1.1", "THREAD 1.2.1"])


def tiles_have_shares_of_the_time():
    with Served() as served:
        codes = [one["value"] for one in served.json("metric?m=states")["codes"]]
        status, body = served.ask("tile?m=states&px=4&from=0&to=100")
        equal(status, 200)
        equal(struct.unpack("4I", body[:16]), (1, 2, 4, 0))
        # of 25 ns each: 1; 15 x 1, 10 x 4; 10 x 4, 15 x 1; 1
        pixels = [{codes[c]: share for c, share in zip(body[at:at + 4], body[at + 4:at + 8])
                   if c != 255} for at in range(16, len(body), 8)]
        equal(pixels[:4], [{1: 255}, {1: 153, 4: 102}, {1: 153, 4: 102}, {1: 255}])
        # 20 x 1, 5 x 3; 3; 1
        equal(pixels[4:], [{1: 204, 3: 51}, {3: 255}, {1: 255}, {1: 255}])
        equal(served.json("table?m=states&from=30&to=55")["rows"],
              [[{1: 10, 4: 15, 3: 0}[code] for code in codes],
               [{1: 5, 3: 20, 4: 0}[code] for code in codes]])


def places_are_found():
    with Served() as served:
        at = served.json("at?m=states&row=1&ns=30")
        equal((at["begin_ns"], at["end_ns"], at["value"]), (20, 50, 3))
        equal([(one["type"], one["value"], one["ns"]) for one in at["events"]],
              [(50000001, 2, 20)])
        equal(served.json("next?ns=20")["event"]["ns"], 40)
        equal(served.json("next?ns=20&back=1"), {})
        equal(served.json("next?ns=20&row=1&type=50000001")["event"]["ns"], 50)
        codes = [one["value"] for one in served.json("metric?m=states")["codes"]]
        equal(served.json(f"find?m=states&row=0&code={codes.index(1)}&ns=10"),
              {"begin_ns": 60, "end_ns": 100})


def messages_are_on_their_way():
    with Served() as served:
        one = (45.0, 48.0, 0.0, 1.0, 64.0, 7.0)
        equal(struct.unpack("8d", served.ask("messages?from=0&to=100")[1]), (1.0, 1.0, *one))
        equal(struct.unpack("8d", served.ask("messages?from=46&to=47")[1]), (1.0, 1.0, *one))
        equal(struct.unpack("2d", served.ask("messages?from=48&to=100")[1]), (0.0, 0.0))
        equal(served.json("matrix?from=0&to=100")["pairs"], [[0, 1, 1, 64]])


def metrics_are_made_when_they_are_asked_for():
    with Served() as served:
        equal(served.ask("tile?m=parallelism&px=1")[0], 404)
        while (state := served.json("metric?m=parallelism")["state"]) == "making":
            pass
        equal(state, "ready")
        body = served.ask("tile?m=parallelism&px=1")[1]
        # 2 for 60 ns, 1 for 30 ns
        equal([round(value, 5) for value in struct.unpack("3f", body[16:])], [1.5, 2, 0])
        # 2, 1, 0, 1 and 2, for 20, 20, 10, 10 and 40 ns
        for mode, value in (("draw_last", 2), ("draw_maximum", 2), ("draw_minnotzero", 1),
                            ("draw_average", 1.5), ("draw_averagenotzero", 1.66667),
                            ("draw_mode", 2), ("draw_absolute_maximum", 2),
                            ("draw_absolute_minimum", 1)):
            body = served.ask(f"tile?m=parallelism&px=1&draw={mode}")[1]
            equal([round(one, 5) for one in struct.unpack("3f", body[16:])], [value, 2, 0])
        drawn = [struct.unpack("3f", served.ask(f"tile?m=parallelism&px=1&draw={mode}")[1][16:])[0]
                 for mode in ("draw_random", "draw_random", "draw_randnotzero")]
        equal(drawn[0], drawn[1])
        if drawn[0] not in (0, 1, 2) or drawn[2] not in (1, 2):
            raise AssertionError(f"{drawn}: values that the pixel does not have")


def histograms_are_tables_of_the_engine():
    """Cells by hand, and those of the configuration with the same window."""
    with Served() as served:
        while served.json("metric?m=useful-duration")["state"] == "making":
            pass
        # 40 and 40, 20 and 50 ns; the rest of the 200 ns has the value 0
        three = "m=useful-duration&columns=3&min=0.02&max=0.05"
        answer = served.json(f"histogram?{three}")
        equal(answer["cells"], [[0, 2, 80, 2], [1, 0, 20, 1], [1, 2, 50, 1]])
        equal((answer["columns_n"], answer["outside_n"], answer["outside_ns"]), (3, 0, 50))
        equal(served.json(f"histogram?{three}&from=30&to=65&row=0&rows=1")["cells"],
              [[0, 2, 15, 2]])
        equal(served.json(f"histogram?{three}&from=0&to=0")["cells"], [])
        ten = served.json("histogram?m=useful-duration&columns=10")
        table = json.loads(subprocess.run([ASSAY, "evaluate", TRACE, "useful-histogram",
                                           "--format", "json"], check=True,
                                          capture_output=True).stdout)["tables"][0]
        equal([(f"THREAD 1.{row + 1}.1", column, ns / 1000) for row, column, ns, _ in ten["cells"]],
              [(cell["object"], cell["column"], cell["value"]) for cell in table["cells"]])
        equal({key: ten[key] for key in ("min", "max", "delta")},
              {key: table["columns"][key] for key in ("min", "max", "delta")})
        find = f"find?{three}&row=0&column=2"
        equal(served.json(f"{find}&ns=-1"), {"begin_ns": 0, "end_ns": 40})
        equal(served.json(f"{find}&ns=0"), {"begin_ns": 60, "end_ns": 100})
        equal(served.json(f"{find}&ns=60"), {})
        where = "where?m=useful-duration&from=0&to=100&px=10"
        body = served.ask(f"{where}&low=0.04&high=0.05")[1]
        equal(struct.unpack("4I20H", body), (3, 2, 10, 0, *[1] * 4, 0, 0, *[1] * 4, *[0] * 10))
        body = served.ask(f"{where}&low=0.02&high=0.06&row=1&rows=1")[1]
        equal(struct.unpack("4I10H", body), (3, 1, 10, 1, 1, 1, 0, 0, 0, *[1] * 5))
        # pixels of a third of a nanosecond
        body = served.ask("where?m=useful-duration&from=38&to=42&px=12&row=0&rows=1&low=0.04"
                          "&high=1")[1]
        equal(struct.unpack("4I12H", body)[4:], (1,) * 6 + (0,) * 6)
        equal((served.ask(where)[0], served.ask("where?m=states&low=1&high=2")[0]), (400, 404))
        for words, status in (("columns=0", 400), ("min=1", 400), ("min=2&max=1", 400),
                              ("min=x&max=1", 400), ("columns=1001", 400), ("columns=1000", 200)):
            equal((words, served.ask(f"histogram?m=useful-duration&{words}")[0]), (words, status))
        equal(served.ask("histogram?m=states")[0], 404)
        equal(served.ask("find?m=useful-duration&row=0&column=1")[0], 400)


def draw_modes_choose_a_code():
    with Served() as served:
        codes = [one["value"] for one in served.json("metric?m=states")["codes"]]

        def drawn(mode):
            body = served.ask(f"tile?m=states&px=2&from=0&to=100&draw={mode}")[1]
            equal({body[at + 4] for at in range(16, len(body), 8)}, {255})
            return [codes[body[at]] for at in range(16, len(body), 8)]
        # of 50 ns each: 40 x 1, 10 x 4; 10 x 4, 40 x 1; 20 x 1, 30 x 3; 50 x 1
        equal(drawn("draw_last"), [4, 1, 3, 1])
        equal(drawn("draw_maximum"), [4, 4, 3, 1])
        equal(drawn("draw_minnotzero"), [1, 1, 1, 1])
        equal(drawn("draw_mode"), [1, 1, 3, 1])
        equal(drawn("draw_absolute_maximum"), [4, 4, 3, 1])
        equal(drawn("draw_absolute_minimum"), [1, 1, 1, 1])
        equal(drawn("draw_random"), drawn("draw_random"))
        for word in ("draw_average", "draw_averagenotzero", "draw_nothing", ""):
            equal(served.ask(f"tile?m=states&px=2&draw={word}")[0], 400)


def files_of_configurations_are_metrics():
    text = subprocess.run([ASSAY, "evaluate", "--show-cfg", "useful-duration"], check=True,
                          capture_output=True, text=True).stdout
    own = DIRECTORY / "my own.cfg"
    own.write_text(text.replace("window_units Microseconds", "window_units Nanoseconds"))
    with Served(own) as served:
        while served.json("metric?m=my-own.cfg")["state"] == "making":
            pass
        metric = served.json("metric?m=my-own.cfg")
        equal((metric["state"], metric["max"]), ("ready", 50))
    for words, why in (([own, own], "rename the file"), ([DIRECTORY / "none.cfg"], "none.cfg: ")):
        done = subprocess.run([ASSAY, "open", TRACE, *words, "--serve"], capture_output=True,
                              text=True, check=False)
        equal((done.returncode, why in done.stderr), (2, True))
    table = subprocess.run([ASSAY, "evaluate", "--show-cfg", "mpi-calls"], check=True,
                           capture_output=True, text=True).stdout
    own.write_text(table)
    done = subprocess.run([ASSAY, "open", TRACE, own, "--serve"], capture_output=True, text=True,
                          check=False)
    equal((done.returncode, "has tables" in done.stderr), (2, True))


def configurations_are_saved():
    with Served() as served:
        status, text = served.ask("cfg?m=states")
        equal(status, 200)
        saved = DIRECTORY / "saved.cfg"
        saved.write_bytes(text)
        words = [ASSAY, "evaluate", TRACE, "--format", "json", "-q"]
        results = [json.loads(subprocess.run([*words, cfg], check=True, capture_output=True).stdout)
                   for cfg in ("states", saved)]
        for result in results:
            result["time_lines"][0]["configuration"] = ""
        equal(results[0]["time_lines"], results[1]["time_lines"])
        equal(served.ask("cfg?m=none")[0], 404)


def wrong_requests_are_refused():
    with Served() as served:
        for name in ("tile?m=states&px=0", "tile?m=states&px=9999999", "tile?m=states&from=x",
                     "tile?m=states&from=9&to=8", "at?m=states&row=-5"):
            equal((name, served.ask(name)[0]), (name, 400))
        for name in ("nothing", "tile", "tile?m=none", "../t.prv", "metric?m=none"):
            equal((name, served.ask(name)[0]), (name, 404))
        equal(served.ask("meta", key="0" * 32)[0], 404)


def an_index_is_made_once():
    with Served():
        pass
    made = INDEX.stat().st_ino
    with Served():
        pass
    equal(INDEX.stat().st_ino, made)
    INDEX.write_bytes(INDEX.read_bytes()[:-8])
    with Served() as served:
        equal(served.json("meta")["events_n"], 4)
    TRACE.write_text(TEXT + "2:0:1:1:1:70:50000001:0\n")
    with Served() as served:
        equal(served.json("meta")["events_n"], 5)
    TRACE.write_text(TEXT)


def evaluated(trace, *words):
    """The table useful-time as JSON without its head, and the notes."""
    done = subprocess.run([ASSAY, "evaluate", trace, "useful-time", "--format", "json", *words],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["tables"], done.stderr


def same_content_is_not_indexed_again(trace, index):
    node = index.stat().st_ino
    with Served("--verify", trace=trace) as served:
        pass
    equal((index.stat().st_ino, served.errors.count("states.index")), (node, 0))


def changes_in_the_middle_are_found_with_verify():
    """A state in the middle of a trace becomes another, which size, time and ends do not show."""
    states_n, change = 20000, "the trace changed at the same size and time"
    all_states = f"table?m=states&from=0&to={states_n * 10}"
    lines = [f"#Paraver (01/01/2026 at 00:00):{states_n * 10}_ns:0:1:1(1:1),0\n"]
    lines += [f"1:0:1:1:1:{10 * i}:{10 * i + 10}:1\n" for i in range(states_n)]
    trace, fresh, packed = [DIRECTORY / name for name in ("m.prv", "fresh.prv", "p.prv.gz")]
    index = DIRECTORY / "m.prv.index" / "states.index"
    trace.write_text("".join(lines))
    made = trace.stat()
    with Served("--verify", trace=trace) as served:
        equal(served.json(all_states)["rows"], [[10 * states_n]])
    same_content_is_not_indexed_again(trace, index)
    before, note = evaluated(trace, "--verify")
    equal(change in note, False)
    lines[states_n // 2] = lines[states_n // 2][:-2] + "3\n"
    for path in (trace, fresh):
        path.write_text("".join(lines))
    os.utime(trace, ns=(made.st_atime_ns, made.st_mtime_ns))
    equal(trace.stat().st_size, made.st_size)
    equal(evaluated(trace)[0], before)
    now, note = evaluated(trace, "--verify")
    equal((now, now != before, note.count(change)), (evaluated(fresh)[0], True, 1))
    with Served(trace=trace) as served:
        equal(served.json(all_states)["rows"], [[10 * states_n]])
    with Served("--verify", trace=trace) as served:
        equal(served.json(all_states)["rows"], [[10 * states_n - 10, 10]])
    equal(served.errors.count(change), 1)
    equal(evaluated(trace)[0], now)
    same_content_is_not_indexed_again(trace, index)
    damaged = bytearray(index.read_bytes())
    damaged[len(damaged) // 3] ^= 1
    index.write_bytes(damaged)
    with Served("--verify", trace=trace) as served:
        equal(served.json(all_states)["rows"], [[10 * states_n - 10, 10]])
    equal("states.index: is damaged" in served.errors, True)
    packed.write_bytes(gzip.compress("".join(lines).encode()))
    with Served("--verify", trace=packed) as served:
        equal(served.json(all_states)["rows"], [[10 * states_n - 10, 10]])
    same_content_is_not_indexed_again(packed, DIRECTORY / "p.prv.gz.index" / "states.index")
    done = subprocess.run([ASSAY, "open", DIRECTORY, "--verify"], capture_output=True, text=True,
                          check=False)
    equal((done.returncode, "--verify: needs a time line" in done.stderr), (2, True))


def a_place_that_cannot_be_written_leaves_nothing():
    shutil.rmtree(INDEX.parent, ignore_errors=True)
    INDEX.parent.write_text("a file")
    temporary = DIRECTORY / "temporary"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    with Served() as served:
        equal(served.json("meta")["events_n"], 4)
        equal(len(list(temporary.iterdir())), 1)
    equal(list(temporary.iterdir()), [])
    equal(INDEX.parent.read_text(), "a file")
    INDEX.parent.unlink()
    del os.environ["TMPDIR"]


def main():
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    TRACE.write_text(TEXT)
    tests = [words_are_those_of_the_trace, tiles_have_shares_of_the_time,
             histograms_are_tables_of_the_engine, draw_modes_choose_a_code, places_are_found,
             messages_are_on_their_way, metrics_are_made_when_they_are_asked_for,
             files_of_configurations_are_metrics, configurations_are_saved,
             wrong_requests_are_refused, an_index_is_made_once,
             changes_in_the_middle_are_found_with_verify,
             a_place_that_cannot_be_written_leaves_nothing]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        why = ""
        try:
            test()
        except Exception: # pylint: disable=broad-except
            why = traceback.format_exc()
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {test.__name__.replace('_', ' ')}")
        if why:
            print("# " + why.strip().replace("\n", "\n# "))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
