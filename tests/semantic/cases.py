#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Corner cases and ready-made configurations, computed by hand: cases.py ASSAY DIRECTORY CFGS

The arithmetic stands beside each trace. Written in TAP.
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import traceback
import xml.etree.ElementTree

import files
import oracle

ASSAY, DIRECTORY, CFGS = [pathlib.Path(word).resolve() for word in sys.argv[1:]]

# Two tasks on one node, 100 ns. Task 1 runs 0-40, is in MPI_Send 40-60 (state 4), runs 60-100.
# Task 2 runs 0-20, waits in MPI_Recv 20-50 (state 3), runs 50-100. One message of 64 bytes, tag 7,
# sent at 45, received at 48. Counters: instructions 42000050, cycles 42000059.
PING = """#Paraver (01/01/2026 at 00:00):100_ns:1(2):1:2(1:1,1:1),0
1:1:1:1:1:0:40:1
1:2:1:2:1:0:20:1
2:2:1:2:1:20:50000001:2:42000050:300:42000059:100
1:2:1:2:1:20:50:3
2:1:1:1:1:40:50000001:1:42000050:800:42000059:400
1:1:1:1:1:40:60:4
3:1:1:1:1:45:45:2:1:2:1:25:48:64:7
2:2:1:2:1:50:50000001:0:42000050:30:42000059:120
1:2:1:2:1:50:100:1
2:1:1:1:1:60:50000001:0:42000050:100:42000059:200
1:1:1:1:1:60:100:1
"""
PCF = """STATES
1    Running
3    Waiting a message
4    Blocking Send

EVENT_TYPE
9    50000001    MPI Point-to-point
VALUES
0   Outside MPI
1   MPI_Send
2   MPI_Recv
"""
ROW = "LEVEL THREAD SIZE 2\nfirst\nsecond\n"


class Wrong(Exception):
    pass


def equal(got, wanted, what=""):
    if got != wanted:
        raise Wrong(f"{what}\ngot    {got!r}\nwanted {wanted!r}")


def run(*words, status=0):
    done = subprocess.run([ASSAY, "evaluate", *map(str, words)], capture_output=True, text=True,
                          cwd=DIRECTORY, check=False)
    if done.returncode != status:
        raise Wrong(f"{words}: status {done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def put(text, name="t.prv"):
    (DIRECTORY / name).write_text(text)
    return name


def ping(labels=False):
    for name, text in (("t.pcf", PCF), ("t.row", ROW)):
        if labels:
            put(text, name)
        else:
            (DIRECTORY / name).unlink(missing_ok=True)
    return put(PING)


def lines_of(trace, configuration, *options):
    """{object: [[begin, end, value] ...]} of a time line"""
    got = json.loads(run(trace, configuration, "--format", "json", *options))
    return {o["object"]: o["pieces"] for o in got["time_lines"][0]["objects"]}


def cells_of(trace, configuration, *options):
    """{(object, label): value} of a table"""
    got = json.loads(run(trace, configuration, "--format", "json", *options))
    return {(c["object"], c["label"]): c["value"] for c in got["tables"][0]["cells"]}


def window(name="w.cfg", tables=(), windows=None, **given):
    made = windows or [oracle.Window(logical=True, physical=False, **given)]
    files.write_cfg(DIRECTORY / name, made, tables)
    return name


# ---- Corner cases of the design page -----------------------------------------------------------


def end_is_the_later_of_header_and_last_record():
    head = "#Paraver (01/01/2026 at 00:00):%d_ns:1(1):1:1(1:1),0\n1:1:1:1:1:0:30:1\n"
    equal(lines_of(put(head % 100), window()), {"THREAD 1.1.1": [[0, 0, 0], [0, 30, 1],
                                                                 [30, 100, 0]]})
    equal(lines_of(put(head % 10), window()), {"THREAD 1.1.1": [[0, 0, 0], [0, 30, 1]]})


def header_without_unit_is_in_microseconds():
    trace = put("#Paraver (01/01/2026 at 00:00):5:1(1):1:1(1:1),0\n1:1:1:1:1:0:3:1\n")
    equal(lines_of(trace, window())["THREAD 1.1.1"][1:], [[0, 3000, 1], [3000, 5000, 0]])


def next_functions_look_ahead_at_the_first_piece():
    trace = ping()
    cfg = window(function="Next Evt Val", filters={"evt_type": ("=", [50000001])})
    equal(lines_of(trace, cfg), {"THREAD 1.1.1": [[0, 40, 1], [40, 60, 0], [60, 100, 0]],
                                 "THREAD 1.2.1": [[0, 20, 2], [20, 50, 0], [50, 100, 0]]})
    # 800 / 40 ns; 100 / 20 ns; no event ends the last piece
    cfg = window(function="Avg Next Evt Val", parameters=[[1]],
                 filters={"evt_type": ("=", [42000050])})
    equal(lines_of(trace, cfg)["THREAD 1.1.1"], [[0, 40, 20], [40, 60, 5], [60, 100, 0]])
    # the length of the first piece is not a time between events
    cfg = window(function="Int. Between Evt", filters={"evt_type": ("=", [42000050])})
    equal(lines_of(trace, cfg)["THREAD 1.1.1"], [[0, 40, 0], [40, 60, 20], [60, 100, 0]])


def pieces_without_length_stay_in_time_lines():
    trace = put("#Paraver (01/01/2026 at 00:00):20_ns:1(1):1:1(1:1),0\n"
                "2:1:1:1:1:5:9:1\n2:1:1:1:1:5:9:2\n2:1:1:1:1:20:9:3\n")
    cfg = window(function="Last Evt Val")
    equal(lines_of(trace, cfg)["THREAD 1.1.1"], [[0, 5, 0], [5, 5, 1], [5, 20, 2]])
    # a stack sees the value of a piece without length
    cfg = window(function="Last Evt Val", compose={"thread": ("Accumulate", [])})
    equal(lines_of(trace, cfg)["THREAD 1.1.1"], [[0, 5, 0], [5, 5, 1], [5, 20, 3]])


def tables_skip_pieces_without_length():
    trace = put("#Paraver (01/01/2026 at 00:00):20_ns:1(1):1:1(1:1),0\n"
                "2:1:1:1:1:5:9:1\n2:1:1:1:1:5:9:2\n")
    w = oracle.Window(function="Last Evt Val")
    cfg = window(windows=[w], tables=[dict(control=w, data=w, statistic="# Bursts", scale=dict(
        low=0, high=9, delta=1))])
    equal(cells_of(trace, cfg), {("THREAD 1.1.1", "0"): 1, ("THREAD 1.1.1", "2"): 1})


def totals_are_over_cells_that_were_touched():
    # three tasks; state 5 takes 10, 30 and 0 ns: the third task has no cell
    trace = put("#Paraver (01/01/2026 at 00:00):40_ns:1(3):1:3(1:1,1:1,1:1),0\n"
                "1:1:1:1:1:0:10:5\n1:2:1:2:1:0:30:5\n")
    w = oracle.Window()
    cfg = window(windows=[w], tables=[dict(control=w, data=w, statistic="Time", scale=dict(
        low=5, high=5, delta=1))])
    got = json.loads(run(trace, cfg, "--format", "json"))["tables"][0]["totals"]
    # mean (10 + 30) / 2; stdev sqrt((10^2 + 10^2) / 2); Avg/Max 20 / 30
    equal(got, [dict(column=0, total=40, average=20, maximum=30, minimum=10, stdev=10,
                     avg_max=20 / 30)])
    equal(run(trace, cfg), "\t5\t\nTHREAD 1.1.1\t10.00\t\nTHREAD 1.2.1\t30.00\t\nTHREAD 1.3.1\t0.00"
          "\t\n\nTotal\t40.00\t\nAverage\t20.00\t\nMaximum\t30.00\t\nMinimum\t10.00\t\n"
          "StDev\t10.00\t\nAvg/Max\t0.67\t\n")


# ---- States, order, numbers --------------------------------------------------------------------


def gaps_between_states_are_0():
    trace = put("#Paraver (01/01/2026 at 00:00):40_ns:1(1):1:1(1:1),0\n"
                "1:1:1:1:1:0:10:1\n1:1:1:1:1:10:20:3\n1:1:1:1:1:25:30:1\n")
    equal(lines_of(trace, window())["THREAD 1.1.1"],
          [[0, 0, 0], [0, 10, 1], [10, 20, 3], [20, 25, 0], [25, 30, 1], [30, 40, 0]])
    # the gap is a state 0: 5 ns; the last one lasts to the end
    cfg = window(function="State Record Dur.", parameters=[[0]])
    equal(lines_of(trace, cfg)["THREAD 1.1.1"],
          [[0, 0, 0], [0, 10, 0], [10, 20, 0], [20, 25, 5], [25, 30, 0], [30, 40, 10]])


def states_without_length_end_at_once():
    trace = put("#Paraver (01/01/2026 at 00:00):40_ns:1(1):1:1(1:1),0\n"
                "1:1:1:1:1:5:5:3\n1:1:1:1:1:10:20:1\n1:1:1:1:1:20:20:4\n1:1:1:1:1:20:30:6\n")
    equal(lines_of(trace, window())["THREAD 1.1.1"],
          [[0, 5, 0], [5, 5, 3], [5, 10, 0], [10, 20, 1], [20, 20, 4], [20, 30, 6], [30, 40, 0]])


def lines_out_of_order_give_the_same():
    head, *body = PING.splitlines()
    wanted = {name: run(ping(), name, "--format", "csv").replace("t.prv", "")
              for name in ("useful-duration", "bytes-in-transit", "mpi-profile", "parallelism")}
    put("\n".join([head] + body[::-1]) + "\n")
    for name, text in wanted.items():
        equal(run("t.prv", name, "--format", "csv"), text, name)


def large_values_stay_exact():
    big = 2 ** 53 + 1
    trace = put("#Paraver (01/01/2026 at 00:00):20_ns:1(1):1:2(1:1,1:1),0\n"
                f"2:1:1:1:1:5:9:{big}\n2:1:1:2:1:5:9:{big}\n")
    cfg = window(function="Last Evt Val", level="workload")
    equal(lines_of(trace, cfg)["WORKLOAD"], [[0, 5, 0], [5, 20, 2 * big]])
    equal(run(trace, cfg), f"WORKLOAD\t0\t5\t0.00\nWORKLOAD\t5\t15\t{2 * big}.00\n")


def applications_are_separate_objects():
    trace = put("#Paraver (01/01/2026 at 00:00):20_ns:1(3):2:1(1:1):2(1:1,1:1),0\n"
                "1:1:1:1:1:0:20:1\n1:2:2:2:1:5:20:1\n")
    cfg = window(function="Useful", level="appl")
    equal(lines_of(trace, cfg), {"APPL 1": [[0, 0, 0], [0, 20, 1]],
                                 "APPL 2": [[0, 5, 0], [5, 20, 1]]})


def traces_without_records_have_one_piece():
    trace = put("#Paraver (01/01/2026 at 00:00):20_ns:1(1):1:1(1:1),0\n")
    equal(lines_of(trace, "parallelism"), {"WORKLOAD": [[0, 20, 0]]})
    equal(cells_of(trace, "mpi-profile"), {("THREAD 1.1.1", "0"): 100})
    trace = put("#Paraver (01/01/2026 at 00:00):0_ns:1(1):1:1(1:1),0\n")
    equal(lines_of(trace, "parallelism"), {"WORKLOAD": [[0, 0, 0]]})
    equal(cells_of(trace, "mpi-profile"), {})


def cpus_have_functions_of_what_runs_on_them():
    trace = ping()
    cfg = window(function="Thread ID", level="cpu")
    got = lines_of(trace, cfg)
    equal(sorted(got), ["CPU 1.1", "CPU 1.2"])
    equal([got[cpu][-1][2] for cpu in sorted(got)], [1, 2])


# ---- Ready-made configurations, by hand --------------------------------------------------------


def ready_useful_duration():
    # microseconds: 40, 40 and 20, 50 ns
    equal(lines_of(ping(), "useful-duration"),
          {"THREAD 1.1.1": [[0, 0, 0], [0, 40, 0.04], [40, 60, 0], [60, 100, 0.04]],
           "THREAD 1.2.1": [[0, 0, 0], [0, 20, 0.02], [20, 50, 0], [50, 100, 0.05]]})


def ready_useful_histogram():
    # intervals of 20, 40, 40 and 50 ns; ten ranges from 0.02 to 0.05 us and 5 % of the span more
    def range_of(column):
        return column, [0.02 + one * 0.00315 for one in (column, column + 1)]
    table = json.loads(run(ping(), "useful-histogram", "--format", "json"))["tables"][0]
    equal([(cell["object"], cell["column"], cell["value"]) for cell in table["cells"]],
          [("THREAD 1.1.1", 6, 0.08), ("THREAD 1.2.1", 0, 0.02), ("THREAD 1.2.1", 9, 0.05)])
    for column, (low, high) in (range_of(cell["column"]) for cell in table["cells"]):
        equal(low <= {0: 0.02, 6: 0.04, 9: 0.05}[column] < high, True)
    equal((table["outside_n"], table["outside_ns"], table["columns"]["count"]), (0, 50, 10))


def ready_useful_time():
    # 40 + 40 and 20 + 50 ns; Avg/Max 75 / 80
    trace = ping()
    equal(cells_of(trace, "useful-time"), {("THREAD 1.1.1", "1"): 0.08,
                                           ("THREAD 1.2.1", "1"): 0.07})
    equal(run(trace).splitlines()[-1], "Avg/Max\t0.94\t")


def ready_state_profile():
    equal(cells_of(ping(labels=True), "state-profile"),
          {("first", "Running"): 80, ("first", "Blocking Send"): 20, ("second", "Running"): 70,
           ("second", "Waiting a message"): 30})


def ready_states():
    equal(lines_of(ping(), "states"),
          {"THREAD 1.1.1": [[0, 0, 0], [0, 40, 1], [40, 60, 4], [60, 100, 1]],
           "THREAD 1.2.1": [[0, 0, 0], [0, 20, 1], [20, 50, 3], [50, 100, 1]]})


def ready_mpi_routine():
    equal(lines_of(ping(), "mpi-routine"),
          {"THREAD 1.1.1": [[0, 40, 0], [40, 60, 1], [60, 100, 0]],
           "THREAD 1.2.1": [[0, 20, 0], [20, 50, 2], [50, 100, 0]]})


def ready_mpi_profile():
    equal(cells_of(ping(labels=True), "mpi-profile"),
          {("first", "Outside MPI"): 80, ("first", "MPI_Send"): 20, ("second", "Outside MPI"): 70,
           ("second", "MPI_Recv"): 30})
    equal(run("t.prv", "mpi-profile"), """\tOutside MPI\tMPI_Send\tMPI_Recv\t
first\t80.00\t20.00\t0.00\t
second\t70.00\t0.00\t30.00\t

Total\t150.00\t20.00\t30.00\t
Average\t75.00\t20.00\t30.00\t
Maximum\t80.00\t20.00\t30.00\t
Minimum\t70.00\t20.00\t30.00\t
StDev\t5.00\t0.00\t0.00\t
Avg/Max\t0.94\t1.00\t1.00\t
""")


def ready_mpi_calls():
    equal(cells_of(ping(), "mpi-calls"), {("THREAD 1.1.1", "1"): 1, ("THREAD 1.2.1", "2"): 1})


def ready_mpi_call_duration():
    # 20 and 30 ns in microseconds
    equal(cells_of(ping(), "mpi-call-duration"),
          {("THREAD 1.1.1", "1"): 0.02, ("THREAD 1.2.1", "2"): 0.03})


def ready_communication():
    bytes_sent = cells_of(ping(), "communication-bytes")
    equal(bytes_sent, {("THREAD 1.1.1", "THREAD 1.2.1"): 64, ("THREAD 1.2.1", "THREAD 1.1.1"): 0})
    equal(cells_of("t.prv", "communication-messages")["THREAD 1.1.1", "THREAD 1.2.1"], 1)


def ready_parallelism():
    # both run 0-20, one 20-40, none 40-50, one 50-60, both 60-100
    equal(lines_of(ping(), "parallelism"),
          {"WORKLOAD": [[0, 0, 0], [0, 20, 2], [20, 40, 1], [40, 50, 0], [50, 60, 1],
                        [60, 100, 2]]})


def ready_message_size():
    equal(lines_of(ping(), "message-size"),
          {"THREAD 1.1.1": [[0, 45, 0], [45, 100, 64]], "THREAD 1.2.1": [[0, 100, 0]]})


def ready_bytes_in_transit():
    # on its way from 45 to 48: the physical receive is the later one; asked for at 25
    equal(lines_of(ping(), "bytes-in-transit")["THREAD 1.1.1"],
          [[0, 25, 0], [25, 45, 0], [45, 48, 64], [48, 100, 0]])


def ready_mips():
    # 800 in 0.04 us, 100 in 0.02 us; 300 in 0.02 us, 30 in 0.03 us
    equal(lines_of(ping(), "mips"),
          {"THREAD 1.1.1": [[0, 40, 20000], [40, 60, 5000], [60, 100, 0]],
           "THREAD 1.2.1": [[0, 20, 15000], [20, 50, 1000], [50, 100, 0]]})


def ready_ipc():
    # 800 / 400, 100 / 200; 300 / 100, 30 / 120
    equal(lines_of(ping(), "ipc"), {"THREAD 1.1.1": [[0, 40, 2], [40, 60, 0.5], [60, 100, 0]],
                                    "THREAD 1.2.1": [[0, 20, 3], [20, 50, 0.25], [50, 100, 0]]})


def ready_ones_are_all_tested():
    listed = [line.split()[0] for line in run("--list").splitlines()]
    equal(sorted(listed), sorted(p.stem for p in CFGS.glob("*.cfg")))
    tested = "".join(name for name in globals() if name.startswith("ready_")).replace("_", "-")
    for name in listed:
        if name.replace("-bytes", "").replace("-messages", "") not in tested:
            raise Wrong(f"{name} has no test")


# ---- Ranges and formats ------------------------------------------------------------------------


def ranges_cut_pieces():
    trace = ping()
    equal(lines_of(trace, "parallelism", "--from", "30", "--to", "0.055us")["WORKLOAD"],
          [[30, 40, 1], [40, 50, 0], [50, 55, 1]])
    # 10 of 25 ns run; 5 of 25
    equal(cells_of(trace, "state-profile", "--from", "30ns", "--to", "55"),
          {("THREAD 1.1.1", "1"): 40, ("THREAD 1.1.1", "4"): 60, ("THREAD 1.2.1", "1"): 20,
           ("THREAD 1.2.1", "3"): 80})


def compressed_traces_are_read():
    ping()
    with gzip.open(DIRECTORY / "z.prv.gz", "wt") as out:
        out.write(PING)
    equal(lines_of("z.prv.gz", "parallelism"), lines_of("t.prv", "parallelism"))


def csv_is_exact():
    equal(run(ping(labels=True), "mpi-call-duration", "--format", "csv"), """\
configuration,table,plane,object,column,label,statistic,unit,value
mpi-call-duration,MPI call duration,,first,0,MPI_Send,Average Burst Time,Microseconds,0.02
mpi-call-duration,MPI call duration,,second,1,MPI_Recv,Average Burst Time,Microseconds,0.03
""")
    equal(run("t.prv", window(level="appl", function="Last Evt Val", name="v.cfg"), "--format",
              "csv", "--to", 30), """\
configuration,window,object,begin_ns,end_ns,value,label
v.cfg,w1,APPL 1,0,20,0,Outside MPI
v.cfg,w1,APPL 1,20,20,2,MPI_Recv
v.cfg,w1,APPL 1,20,20,300,
v.cfg,w1,APPL 1,20,30,100,
""".replace(",Outside MPI", ",").replace(",MPI_Recv", ","))
    run("t.prv", "parallelism", "mpi-profile", "--format", "csv", status=2)


def boxes_of(trace, *words):
    """{(row by place, fill, opacity): width} of an SVG, without its legend."""
    tree = xml.etree.ElementTree.fromstring(run(trace, *words, "--format", "svg"))
    boxes, tops = {}, []
    for box in tree.iter("{http://www.w3.org/2000/svg}rect"):
        if box.get("height") != "19.00":
            continue
        if box.get("y") not in tops:
            tops.append(box.get("y"))
        key = tops.index(box.get("y")), box.get("fill"), box.get("fill-opacity", "1")
        boxes[key] = boxes.get(key, 0) + float(box.get("width"))
    return boxes


def pictures_of_codes_have_their_times():
    # 1000 pixels for 100 ns: running 80 and 70, sending 20, waiting 30
    boxes = boxes_of(ping(labels=True), "states")
    running = next(fill for (_, fill, _), width in boxes.items() if width == 800)
    equal({width for (row, fill, _), width in boxes.items() if row == 0}, {800.0, 200.0})
    equal({width for (row, fill, _), width in boxes.items() if row == 1}, {700.0, 300.0})
    equal(boxes[1, running, "1"], 700.0)
    text = run("t.prv", "states", "--format", "svg")
    for label in ("first", "second", "Running", "Blocking Send", "Waiting a message"):
        if f">{label}</text>" not in text:
            raise Wrong(f"no label {label}")
    # half of it: 30 to 80
    equal(boxes_of("t.prv", "states", "--from", "30", "--to", "80")[0, running, "1"], 600.0)


def pictures_of_numbers_and_tables_have_their_values():
    # two run for 60 ns, one for 30 ns, none for 10 ns: 0.12 + 0.88 / 2
    equal(boxes_of(ping(), "parallelism"),
          {(0, "#d65c00", "1"): 600.0, (0, "#d65c00", "0.560"): 300.0})
    # 80 and 20 %; 70 and 30 %
    opacities = {(row, opacity) for row, _, opacity in boxes_of("t.prv", "state-profile")}
    equal(opacities, {(0, "1"), (0, "0.340"), (1, "0.890"), (1, "0.450")})


def draw_modes_choose_the_value_of_a_pixel():
    # 10 ns a pixel. The first has 0 for 2 ns, 5 for 3, -7 for 1, and 2 for 4; all others have 2.
    trace = put("#Paraver (01/01/2026 at 00:00):10000_ns:0:1:1(1:1),0\n2:0:1:1:1:2:9:5\n"
                "2:0:1:1:1:5:9:-7\n2:0:1:1:1:6:9:2\n")
    palette = ["#d3d8dd", "#9ed3a5", "#eef0f3", "#e9a7a0", "#8fb8e8", "#c3a6df", "#f3b6d6",
               "#86cfd0"]
    made = window(function="Last Evt Val", code=True)
    text = (DIRECTORY / made).read_text()

    def first(mode):
        line = f"window_drawmode {mode}\nwindow_color_mode" if mode is not None else \
            "window_color_mode"
        (DIRECTORY / made).write_text(text.replace("window_color_mode", line))
        tree = xml.etree.ElementTree.fromstring(run(trace, made, "--format", "svg"))
        row = [box for box in tree.iter("{http://www.w3.org/2000/svg}rect")
               if box.get("height") == "19.00"]
        return palette.index(min(row, key=lambda box: float(box.get("x"))).get("fill"))
    for mode, value in (("draw_last", 2), ("draw_maximum", 5), ("draw_minnotzero", 7),
                        ("draw_average", 1), ("draw_averagenotzero", 2), ("draw_mode", 2),
                        ("draw_absolute_maximum", 7), ("draw_absolute_minimum", 2), (None, 2),
                        (1, 5), ("no_such_mode", 2)):
        equal(first(mode), value, mode) # 1.6 is drawn as 1, -7 as 7
    equal(first("draw_random"), first("draw_random"))
    if first("draw_random") not in (0, 2, 5, 7) or first("draw_randnotzero") not in (2, 5, 7):
        raise Wrong("a random value that the pixel does not have")


def planes_are_written_one_by_one():
    # planes by state; the columns by calls
    w = oracle.Window(function="Last Evt Val", filters={"evt_type": ("=", [50000001])})
    state = oracle.Window()
    table = dict(control=w, data=w, plane=state, statistic="Time",
                 scale=dict(low=0, high=2, delta=1), planes=dict(low=0, high=4, delta=1))
    got = run(ping(labels=True), window(windows=[w, state], tables=[table]))
    equal(got.split("\n\n")[0], "Running\n\tOutside MPI\tMPI_Send\tMPI_Recv\t\nfirst\t80.00\t0.00\t"
          "0.00\t\nsecond\t70.00\t0.00\t0.00\t")
    equal([part in got for part in ("Waiting a message\n", "Blocking Send\n")], [True, True])


PROGRAM = """#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
"""


def experiments_give_what_their_export_gives():
    put(PROGRAM, "locks.c")
    for words in (["cc", "-O1", "-pthread", "locks.c", "-o", "locks"],
                  [ASSAY, "trace", "-o", "run.assay", "--", "./locks"],
                  [ASSAY, "export", "run.assay", "--as", "prv", "-o", "run.prv"]):
        subprocess.run(words, cwd=DIRECTORY, check=True, capture_output=True)
    for name in ("state-profile", "parallelism"):
        equal(run("run.assay", name, "--format", "csv"), run("run.prv", name, "--format", "csv"))
    rows = {row for row, _ in cells_of("run.assay", "state-profile")}
    if len(rows) != 3:
        raise Wrong(f"{rows} are not three threads")


# ---- Configurations ----------------------------------------------------------------------------


def configurations_are_written_as_they_were():
    for path in CFGS.glob("*.cfg"):
        equal(run("--show-cfg", path), path.read_text(), path.name)
        equal(run("--show-cfg", path.stem), path.read_text(), path.name)
    w = oracle.Window(function="Last Evt Val", parameters=[], top=[
        ("Select Range", [[9.5, 20], [0.1, 12]]), ("As Is", []), ("Add", [[3]]), ("Add", [[5]])])
    cfg = window(windows=[w])
    first = run("--show-cfg", cfg)
    put(first, "again.cfg")
    equal(run("--show-cfg", "again.cfg"), first)
    for kept in ("window_unknown_key kept as it is", "{ 2 9.500000000000 20.000000000000 }",
                 "extratopcompose1 Add { 1, { 1 5.000000000000 } }"):
        if kept not in first:
            raise Wrong(f"{kept} is not in {first}")


def functions_that_are_not_known_are_named():
    text = (CFGS / "parallelism.cfg").read_text()
    put(text.replace("{thread, Useful}", "{thread, Useless}"), "bad.cfg")
    equal(run(ping(), "bad.cfg", status=2), "assay: bad.cfg:22: function 'Useless' is not known; "
          "correct the line\n")
    put((CFGS / "mpi-calls.cfg").read_text().replace("# Bursts", "# Busts"), "bad.cfg")
    error = run("t.prv", "bad.cfg", status=2)
    if "statistic '# Busts' is not known" not in error:
        raise Wrong(error)


DAMAGES = (
    ("#ParaverCFG", "#Praverr", "bad.cfg:1: #ParaverCFG is missing"),
    ("window_type composed", "window_type compost", "bad.cfg:50: 'compost' is neither"),
    ("window_identifiers 1 2", "window_identifiers 1 9", "made of window 9, which is not there"),
    ("window_identifiers 1 2", "window_identifiers 1 3", "a window is made of itself"),
    ("window_identifiers 1 2", "window_identifiers 1", "invalid number ''"),
    ("window_level thread", "window_level fibre", "invalid level 'fibre'"),
    ("window_units Microseconds", "window_units Fortnights", "invalid unit of time 'Fortnights'"),
    ("evt_type 1 42000050", "evt_type 2 42000050", "invalid number ''"),
    ("evt_type 1 42000050", "evt_type -1", "-1 values"),
    ("evt_type 1 42000050", "evt_type_label 1 \"Instructions\"", "by labels alone"),
    ("window_selected_functions { 14", "window_selected_functions ( 14", "is missing"),
    ("{evt_type, =}", "{evt_type, ~}", "filter function '~' is not known"),
    ("window_operation divide", "window_operation share", "operation 'share' is not known"),
)


def damaged_configurations_are_refused():
    trace, text = ping(), (CFGS / "ipc.cfg").read_text()
    for old, new, sentence in DAMAGES:
        put(text.replace(old, new, 1), "bad.cfg")
        error = run(trace, "bad.cfg", status=2)
        is_sentence = error.startswith("assay: ") and error.count("\n") == 1
        if old not in text or sentence not in error or not is_sentence:
            raise Wrong(f"{new}: {error}")
    put("", "bad.cfg")
    run(trace, "bad.cfg", status=2)
    for n in range(0, len(text), 97):
        put(text[:n], "bad.cfg")
        done = subprocess.run([ASSAY, "evaluate", trace, "bad.cfg"], cwd=DIRECTORY, check=False,
                              capture_output=True)
        if done.returncode not in (0, 2):
            raise Wrong(f"{n} bytes: status {done.returncode}")


def windows_of_windows_are_limited():
    text = ["#ParaverCFG", "window_name a", "window_type single", "window_id 1"]
    for i in range(2, 40):
        text += [f"window_name w{i}", "window_type composed", f"window_id {i}",
                 "window_operation add", f"window_identifiers {i - 1} {i - 1}"]
    put("\n".join(text), "bad.cfg")
    if "made of more than 65536 windows" not in run(ping(), "bad.cfg", status=1):
        raise Wrong("no limit")


def inputs_that_are_not_there_are_named():
    ping()
    for words, sentence in (
            (("missing.prv",), "missing.prv"), (("t.prv", "missing.cfg"), "missing.cfg"),
            (("t.prv", "no-such-name"), "no such configuration"), ((), "no trace"),
            (("t.prv", "--from", "1 week"), "invalid value '1 week'"),
            (("t.prv", "--from", "9", "--to", "3"), "ends before it begins")):
        error = run(*words, status=2)
        if sentence not in error:
            raise Wrong(f"{words}: {error}")


def bad_lines_are_counted():
    ping()
    put(PING + "2:1:1:9:1:70:1:1\n")
    done = subprocess.run([ASSAY, "evaluate", "t.prv", "parallelism"], cwd=DIRECTORY, check=True,
                          capture_output=True, text=True)
    if "line 13 is left out: " not in done.stderr:
        raise Wrong(done.stderr)


def full_disks_are_reported():
    if not pathlib.Path("/dev/full").exists():
        return
    ping()
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([ASSAY, "evaluate", "t.prv", "parallelism"], cwd=DIRECTORY,
                              stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    equal(done.returncode, 1)
    if "No space left" not in done.stderr:
        raise Wrong(done.stderr)


def all_functions_are_listed():
    names = [line[10:36].strip() for line in run("--functions").splitlines()]
    wanted = list(oracle.STATE_FUNCTIONS + oracle.EVENT_FUNCTIONS + tuple(oracle.BOUNDS) +
                  oracle.SENDER_FUNCTIONS + oracle.RECEIVER_FUNCTIONS +
                  tuple(oracle.OBJECT_FUNCTIONS))
    wanted += list(oracle.PLAIN_COMPOSES) + list(oracle.HISTORY_COMPOSES)
    equal(len(oracle.PLAIN_COMPOSES) + len(oracle.HISTORY_COMPOSES), 41)
    wanted += list(oracle.STATISTICS + oracle.MESSAGE_STATISTICS)
    wanted += ["Adding", "AddingSign", "Average", "Maximum", "Minimum", "Activity", "In Activity",
               "Mode", "Thread i", "Add Tasks", "Changed value", "Active Thd", "Active Thd Sign",
               "Active Thd Val", "Active Thd Val Sign"]
    wanted += ["add", "product", "substract", "divide", "maximum", "minimum", "different"]
    wanted += ["controlled: " + name for name in ("clear by", "maximum", "add", "enumerate",
                                                  "average")]
    equal(sorted(names), sorted(wanted))


def main():
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    tests = [f for name, f in globals().items() if callable(f) and name == name.lower() and
             getattr(f, "__module__", "") == "__main__" and f.__code__.co_argcount == 0 and
             name not in ("main", "ping")]
    tests = [f for f in tests if f.__name__ not in ("window", "run", "put")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        why = ""
        try:
            test()
        except (Wrong, KeyError, ValueError, IndexError, subprocess.CalledProcessError):
            why = traceback.format_exc()
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {test.__name__.replace('_', ' ')}")
        if why:
            print("# " + why.strip().replace("\n", "\n# "))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
