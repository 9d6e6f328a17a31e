# SPDX-License-Identifier: Apache-2.0
"""Traces and configurations of the oracle as the files that `assay evaluate` reads."""

FILTER_PARTS = ("from_obj", "to_obj", "tag_msg", "size_msg", "bw_msg", "evt_type", "evt_value")
LEVELS = ("appl", "task", "node", "system", "workload")
COMPOSES = ("cpu", "appl", "task", "thread", "node", "system", "workload")


def write_trace(trace, path):
    def place(line, side="thread"):
        cpu = line["cpu"] if side == "thread" else line[side + "_cpu"]
        return ":".join(map(str, (cpu,) + trace.path(line[side])))
    applications = ",".join(
        f"{len(tasks)}({','.join(f'{threads}:{node + 1}' for threads, node in tasks)})"
        for tasks in trace.applications)
    lines = [f"#Paraver (01/01/2026 at 00:00):{trace.header_end}_ns:{len(trace.nodes)}"
             f"({','.join(map(str, trace.nodes))}):{len(trace.applications)}:{applications},0"]
    for line in trace.lines:
        if line["kind"] == "state":
            lines.append(f"1:{place(line)}:{line['begin']}:{line['end']}:{line['value']}")
        elif line["kind"] == "event":
            pairs = ":".join(f"{t}:{v}" for t, v in line["pairs"])
            lines.append(f"2:{place(line)}:{line['time']}:{pairs}")
        else:
            m = line
            lines.append(f"3:{place(m, 'sender')}:{m['logical_send']}:{m['physical_send']}:"
                         f"{place(m, 'receiver')}:{m['logical_receive']}:{m['physical_receive']}:"
                         f"{m['size']}:{m['tag']}")
    path.write_text("\n".join(lines) + "\n")


def number(value):
    return f"{value}.000000000000" if isinstance(value, int) else repr(value)


def parameters(place, name, p):
    lists = ", ".join("{ %d %s}" % (len(of), "".join(number(v) + " " for v in of)) for of in p)
    return "window_semantic_module %s %s { %d, %s }" % (place, name, len(p), lists)


def window_lines(window, ident, ids):
    w, modules = window, []
    lines = ["#" * 80, f"< NEW DISPLAYING WINDOW w{ident} >", "#" * 80, f"window_name w{ident}",
             f"window_type {'composed' if w.operation else 'single'}", f"window_id {ident}"]
    if w.operation:
        lines += ["window_factors " + " ".join(map(number, w.factors)),
                  f"window_operation {w.operation}",
                  "window_identifiers " + " ".join(str(ids[id(o)]) for o in w.operands),
                  "window_shifts " + " ".join(map(str, w.shifts))]
    flags = {"logical_filtered": w.logical, "physical_filtered": w.physical,
             "intracomms_enabled": w.intra, "intercomms_enabled": w.inter,
             "comm_fromto": w.fromto, "comm_tagsize": w.tagsize, "comm_typeval": w.typevalue}
    lines += [f"window_{key} {str(value).lower()}" for key, value in flags.items()]
    lines += [f"window_units {w.unit}", f"window_level {w.level}",
              "window_object appl { 1, { All } }", "window_unknown_key kept as it is"]
    chosen = [("cpu", w.cpu), ("thread", (w.function, w.parameters))]
    chosen += [(level, w.above.get(level, ("Adding", []))) for level in LEVELS]
    pairs = [(place, name) for place, (name, _) in chosen]
    modules += [parameters(place, name, p) for place, (name, p) in chosen if p]
    pairs += [(part, w.filters.get(part, ("All", []))[0]) for part in FILTER_PARTS]
    composed = [("compose_" + c, w.compose.get(c, ("As Is", []))) for c in COMPOSES]
    top = w.top + [("As Is", [])] * (2 - len(w.top))
    names = ["topcompose1", "topcompose2"] + ["extratopcompose1"] * len(top)
    composed += list(zip(names, top))
    modules += [parameters(place, name, p) for place, (name, p) in composed if p]
    for key, of in (("selected", pairs), ("compose", [(c, name) for c, (name, _) in composed])):
        lines.append("window_%s_functions { %d, { %s } }" % (
            key, len(of), ", ".join("{%s, %s}" % pair for pair in of)))
    lines += modules
    lines += ["window_filter_module %s %d %s" % (part, len(v), " ".join(map(str, v)))
              for part, (_, v) in w.filters.items() if v]
    lines.append(f"window_color_mode window_in_{'code' if w.code else 'null_gradient'}_mode")
    return lines


def table_lines(table, ids):
    lines = ["", "< NEW ANALYZER2D >", "Analyzer2D.Name: table",
             f"Analyzer2D.ControlWindow: {ids[id(table['control'])]}",
             f"Analyzer2D.DataWindow: {ids[id(table['data'])]}",
             f"Analyzer2D.Statistic: {table['statistic']}", "Analyzer2D.SomethingElse: kept"]

    def scale(of, prefix, automatic_key):
        found = [f"{automatic_key} {of.get('automatic', False)}"]
        for key, name in (("low", "Minimum"), ("high", "Maximum"), ("delta", "Delta")):
            if key in of:
                found.append(f"{prefix}{name}: {number(of[key])}")
        return found
    lines += scale(table["scale"], "Analyzer2D.", "Analyzer2D.ComputeYScale:")
    lines.append(f"Analyzer2D.ComputeYScaleZero: {table['scale'].get('zero', False)}")
    if "columns" in table["scale"]:
        lines += [f"Analyzer2D.NumColumns: {table['scale']['columns']}",
                  "Analyzer2D.UseFixedDelta: False"]
    elif "delta" in table["scale"]:
        lines.append("Analyzer2D.UseFixedDelta: True")
    if table.get("plane"):
        lines.append(f"Analyzer2D.3D_ControlWindow: {ids[id(table['plane'])]}")
        lines += scale(table["planes"], "Analyzer2D.3D_", "Analyzer3D.ComputeYScale:")
    return lines


def operands_first(window, found):
    for operand in window.operands:
        operands_first(operand, found)
    if not any(window is w for w in found):
        found.append(window)


def write_cfg(path, windows, tables=()):
    """The last window is the result, or the tables are."""
    listed = []
    for window in windows:
        operands_first(window, listed)
    ids = {id(w): i + 1 for i, w in enumerate(listed)}
    lines = ["#ParaverCFG", "ConfigFile.Version: 3.4", f"ConfigFile.NumWindows: {len(listed)}", ""]
    for window in listed:
        lines += window_lines(window, ids[id(window)], ids) + [""]
    for table in tables:
        lines += table_lines(table, ids)
    path.write_text("\n".join(lines) + "\n")
