#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings held to what mending brings: programs (programs/) with one fault each, and mended.

  truth.py record ASSAY DIRECTORY [NAME...]   builds both forms, records them with ASSAY, measures
                                              them in turns: recorded/ (./dev record does it)
  truth.py measure DIRECTORY [NAME...]        measures alone: seconds of both
  truth.py judge AGAIN DIRECTORY SCHEMA       the rules of now on what was recorded, in TAP

The head of a program names its finding and its flags (-O3 without any; `mended flags` those of the
mended form, which is also compiled with -DMENDED). Seconds are processor time, or what the program
says of itself (`seconds X` on standard error).
"""
import lzma
import pathlib
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS, RECORDED = HERE / "programs", HERE / "recorded"
FORMS = ("fault", "mended")
PAIRS = 3
# What no rule asks for, and takes room.
LEFT_OUT = ("disassembly detail edge block_time block path_block path inlining mapping run_file "
            "run_environment time_share overhead").split()


def names(chosen):
    return chosen or sorted(path.stem for path in PROGRAMS.glob("*.c"))


def head_of(name):
    """finding, {form: flags}"""
    head = (PROGRAMS / f"{name}.c").read_text(encoding="ascii").split("*/")[1]
    flags = re.search(r"[;:] *flags: ([^;*]*)", head)
    mended = re.search(r"mended flags: ([^;*]*)", head)
    flags = flags[1].split() if flags else ["-O3"]
    return (re.search(r"finding: (\w+)", head)[1],
            {"fault": flags, "mended": (mended[1].split() if mended else flags) + ["-DMENDED"]})


def build(name, form, directory):
    program = directory / f"{name}-{form}"
    flags = head_of(name)[1][form]
    subprocess.run(["gcc", "-g", "-fopenmp-simd", *flags, str(PROGRAMS / f"{name}.c"), "-o",
                    str(program), "-lm", "-pthread"], check=True)
    return program


def environment():
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "OMP_WAIT_POLICY": "passive",
            "OMP_NUM_THREADS": "2"}


def seconds_of(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True,
                          env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = re.search(r"seconds ([0-9.]+)", done.stderr)
    if said:
        return float(said[1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, directory):
    """Seconds of both forms, medians of runs in turns."""
    programs = {form: build(name, form, directory) for form in FORMS}
    seconds = {form: [] for form in FORMS}
    for _ in range(PAIRS):
        for form in FORMS:
            seconds[form].append(seconds_of(programs[form]))
    return {form: statistics.median(seconds[form]) for form in FORMS}


# ---- Recording ------------------------------------------------------------------------------


def shrink(database):
    db = sqlite3.connect(database)
    for table in LEFT_OUT:
        db.execute(f"DELETE FROM {table}")
    db.execute("UPDATE line SET text = NULL")
    # What is under the folders of who records is nobody's business.
    for table, column in (("module", "path"), ("source_file", "path"), ("run", "cwd"),
                          ("run", "command"), ("run", "argv"), ("unit", "name"),
                          ("process", "exe"), ("process", "command")):
        db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, '/src')",
                   (str(PROGRAMS),))
    db.execute("UPDATE host SET name = 'host'")
    db.commit()
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("VACUUM")
    db.close()


def record(assay, name, form, directory):
    program, experiment = build(name, form, directory), directory / f"{name}-{form}.assay"
    subprocess.run([assay, "run", "--force", "-o", str(experiment), "--", str(program)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    database = experiment / "experiment.db"
    shrink(database)
    (RECORDED / f"{name}-{form}.db.xz").write_bytes(
        lzma.compress(database.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def record_all(assay, directory, chosen):
    RECORDED.mkdir(exist_ok=True)
    measured = read_measured()
    for name in names(chosen):
        for form in FORMS:
            record(assay, name, form, directory)
        measured[name] = measure(name, directory)
        print(name, *(f"{form} {measured[name][form]:.3f} s" for form in FORMS), flush=True)
        lines = [f"{key} {value['fault']:.3f} {value['mended']:.3f}\n"
                 for key, value in sorted(measured.items())]
        (RECORDED / "measured.txt").write_text(
            "# program, seconds with the fault, seconds mended (truth.py record)\n"
            + "".join(lines), encoding="ascii")


def read_measured():
    path = RECORDED / "measured.txt"
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines()[1:]) \
        if path.exists() else ()
    return {row[0]: {"fault": float(row[1]), "mended": float(row[2])} for row in rows}


# ---- Judging --------------------------------------------------------------------------------


def renew_views(database, schema):
    """Views are code and of now; what was recorded is in the tables. (v_values is of the sets that
    an experiment has.)"""
    now, then = sqlite3.connect(":memory:"), sqlite3.connect(database)
    now.executescript(schema.read_text(encoding="utf-8"))
    listing = "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND name <> 'v_values'"
    wanted, there = dict(now.execute(listing)), dict(then.execute(listing))
    for name in there.keys() | wanted.keys():
        if there.get(name) == wanted.get(name):
            continue
        if name in there:
            then.execute(f"DROP VIEW {name}")
        if name in wanted:
            then.execute(wanted[name])
    then.commit()
    now.close()
    then.close()


def findings(again, name, form, directory, schema):
    """[{rule, level, time_s, gain_s, low_s, high_s, text}], or what went wrong."""
    experiment = directory / f"{name}-{form}"
    shutil.rmtree(experiment, ignore_errors=True)
    experiment.mkdir(parents=True)
    packed = RECORDED / f"{name}-{form}.db.xz"
    (experiment / "experiment.db").write_bytes(lzma.decompress(packed.read_bytes()))
    renew_views(experiment / "experiment.db", schema)
    done = subprocess.run([again, str(experiment)], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip() + " (after a change of the tables: ./dev record)"
    keys = "rule level time_s gain_s low_s high_s text".split()
    rows = [dict(zip(keys, line.split("\t"))) for line in done.stdout.splitlines()]
    for row in rows:
        row.update({key: float(row[key]) for key in keys[2:6]})
    shutil.rmtree(experiment)
    return rows


def judge_promise(found, saved):
    """What is wrong with the finding when mending saved so many seconds; "" when nothing is."""
    if found["level"] == "gain" and not found["low_s"] <= saved <= found["high_s"]:
        return f"{saved:.3f} s were saved, not {found['low_s']:.3f} to {found['high_s']:.3f}"
    # It claims no gain, but what it is about should hold one. A quarter more may show elsewhere: a
    # system call and a page fault leave cold caches and predictors to the code behind them.
    if found["level"] == "potential" and saved > 1.25 * found["time_s"] + 0.05:
        return f"{saved:.3f} s were saved of {found['time_s']:.3f} that it is about"
    return "" if saved > 0 else f"mending saved nothing ({saved:.3f} s)"


def saved_of(name, measured):
    """Seconds that mending saves of the recorded run: a host is not as fast at all times, so it is
    the share that was measured. What a program says of itself is not of all its threads."""
    if name == "imbalance":
        return measured["fault"] - measured["mended"]
    database = lzma.decompress((RECORDED / f"{name}-fault.db.xz").read_bytes())
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(database)
        file.flush()
        db = sqlite3.connect(file.name)
        ran_ns, = db.execute("SELECT exclusive_ns FROM object_time"
                             " WHERE object_kind = 'run'").fetchone()
        db.close()
    return ran_ns / 1e9 * (1 - measured["mended"] / measured["fault"])


def judge(again, name, directory, schema, measured):
    rule = head_of(name)[0]
    fault = findings(again, name, "fault", directory, schema)
    mended = findings(again, name, "mended", directory, schema)
    for told in (fault, mended):
        if isinstance(told, str):
            return told
    found = [it for it in fault if it["rule"] == rule]
    if not found:
        return f"{rule} is not among {[it['rule'] for it in fault]}"
    if any(it["rule"] == rule for it in mended):
        return f"{rule} is said of the mended form, too"
    first = [it for it in fault if it["level"] in ("gain", "potential")][:2]
    if found[0]["level"] != "hint" and rule not in [it["rule"] for it in first]:
        return f"{first[0]['rule']} comes before {rule}: {first[0]['text']}"
    return judge_promise(found[0], saved_of(name, measured))


def judge_all(again, directory, schema):
    measured, failed = read_measured(), 0
    everything = names([])
    print(f"1..{len(everything)}")
    for number, name in enumerate(everything, 1):
        wrong = judge(again, name, directory, schema, measured[name]) if name in measured \
            else "was not recorded: ./dev record"
        failed += bool(wrong)
        print("not ok" if wrong else "ok", number,
              f"- {name}: {head_of(name)[0]}, and what mending it saves")
        if wrong:
            print("#", wrong)
    return failed


def main():
    verb, *words = sys.argv[1:]
    directory = pathlib.Path(words[1 if verb != "measure" else 0])
    directory.mkdir(parents=True, exist_ok=True)
    if verb == "record":
        record_all(words[0], directory, words[2:])
    elif verb == "measure":
        for name in names(words[1:]):
            seconds = measure(name, directory)
            print(f"{name:16} {seconds['fault']:8.3f} s  mended {seconds['mended']:8.3f} s  "
                  f"x{seconds['fault'] / max(seconds['mended'], 1e-3):.2f}", flush=True)
    else:
        sys.exit(judge_all(words[0], directory, pathlib.Path(words[2])) > 0)


if __name__ == "__main__":
    main()
