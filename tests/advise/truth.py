#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges findings by what a repair saves: programs (programs/) with one fault each, and repaired.

  truth.py record ASSAY DIRECTORY [NAME...]   builds both forms, records them with ASSAY, measures
                                              them in turns: recorded/ (./dev record does it)
  truth.py measure DIRECTORY [NAME...]        measures alone: seconds of both
  truth.py judge AGAIN DIRECTORY SCHEMA       the rules of now on what was recorded, in TAP

The head of a program says, as `key: value; ...`:

  finding                  the rule that speaks of the fault
  flags, repair flags      -O3 without any; the repaired form is also compiled with -DREPAIRED
  compiler, libraries      gcc without; what is linked besides
  starter, variables       what starts it; variables that it is run with
  beside                   what runs meanwhile: a busy loop on processors 0 and 1 each
  options                  of `assay run`
  seconds                  whose: it says them itself, `seconds X` on standard error. Without: its
                           processor time
  processors               on which its threads take turns: saved is what of their time is, for each
  repair                   the change that removes the fault
  says, advises            patterns of what the finding must say, and what to do
  behind                   findings that may come before it (why)
  within                   how much more than the time it is about may be saved (why)
  promises                 times what the repair saves, at most, that its time is (why)
  saves                    nothing (why)
"""
import contextlib
import itertools
import lzma
import os
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
FORMS = ("fault", "repaired")
SOURCES = (".c", ".cpp", ".F90", ".py")
COMMENTS = {".py": "#", ".F90": "!"}
PAIRS = 3
# What no rule asks for, and takes room.
LEFT_OUT = ("disassembly detail edge block_time block path_block path inlining mapping run_file "
            "run_environment time_share overhead").split()


def names(chosen):
    return chosen or sorted(path.stem for path in PROGRAMS.iterdir() if path.suffix in SOURCES)


def source_of(name):
    return next(path for path in (PROGRAMS / (name + end) for end in SOURCES) if path.exists())


def head_of(name):
    """{key: value}"""
    text = source_of(name).read_text(encoding="ascii")
    mark = COMMENTS.get(source_of(name).suffix)
    if mark:
        lines = itertools.takewhile(lambda line: line.startswith(mark), text.splitlines()[1:])
    else:
        lines = text.split("/*", 2)[2].split("*/")[0].splitlines()
    head = " ".join(line.strip(" *#!") for line in lines)
    parts = (part.partition(":") for part in head.split(";") if ":" in part)
    return {key.strip(): value.strip() for key, _, value in parts}


def build(name, form, directory):
    """The words that run it."""
    head, program = head_of(name), directory / f"{name}-{form}"
    if source_of(name).suffix == ".py":
        program = program.with_suffix(".py")
        program.write_text(f"REPAIRED = {form == 'repaired'}\n" + source_of(name).read_text())
        return ["/usr/bin/python3", str(program)]
    flags = head.get("flags", "-O3").split()
    if form == "repaired":
        flags = head.get("repair flags", " ".join(flags)).split() + ["-DREPAIRED"]
    subprocess.run([head.get("compiler", "gcc"), "-g", "-fopenmp-simd", *flags,
                    str(source_of(name)), "-o", str(program), "-lm", "-pthread",
                    *head.get("libraries", "").split()], check=True)
    return head.get("starter", "").split() + [str(program)]


def environment_of(variables):
    given = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "OMP_WAIT_POLICY": "passive",
             "OMP_NUM_THREADS": "2", "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return given | dict(word.split("=") for word in variables.split())


def environment(name):
    return environment_of(head_of(name).get("variables", ""))


def run_timed(words, variables):
    """What it said on standard error, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextlib.contextmanager
def neighbours(name):
    """What takes processors meanwhile, where its head wants that."""
    loops = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
             for cpu in (range(2) if "beside" in head_of(name) else ())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def seconds_of(name, words):
    with neighbours(name):
        said, seconds = run_timed(words, environment(name))
    if "seconds" in head_of(name):
        return float(re.search(r"seconds ([0-9.]+)", said)[1])
    return seconds


def medians_in_turns(rounds, kinds, seconds):
    """{kind: median of what `seconds` says of it}, measured in turns."""
    taken = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, values in taken.items():
            values.append(seconds(kind))
    return {kind: statistics.median(values) for kind, values in taken.items()}


def measure(name, directory):
    """Seconds of both forms, medians of runs in turns."""
    programs = {form: build(name, form, directory) for form in FORMS}
    return medians_in_turns(PAIRS, FORMS, lambda form: seconds_of(name, programs[form]))


# ---- Recording ------------------------------------------------------------------------------


def shrink(database, sources=PROGRAMS):
    db = sqlite3.connect(database)
    for table in LEFT_OUT:
        db.execute(f"DELETE FROM {table}")
    db.execute("UPDATE line SET text = NULL")
    # What is under the folders of who records is nobody's business.
    for table, column in (("module", "path"), ("source_file", "path"), ("run", "cwd"),
                          ("run", "command"), ("run", "argv"), ("unit", "name"), ("unit", "flags"),
                          ("process", "exe"), ("process", "command"), ("finding", "command")):
        for folder in (sources, HERE.parents[1]):
            db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, '/src')",
                       (str(folder),))
    db.execute("UPDATE host SET name = 'host'")
    db.commit()
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("VACUUM")
    db.close()


def pack(database, name):
    (RECORDED / f"{name}.db.xz").write_bytes(
        lzma.compress(database.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def record(assay, name, form, directory):
    words, experiment = build(name, form, directory), directory / f"{name}-{form}.assay"
    with neighbours(name):
        subprocess.run([assay, "run", "--force", "-o", str(experiment),
                        *head_of(name).get("options", "").split(), "--", *words], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       # Figures of the machine are kept there.
                       env=environment(name) | {"HOME": os.environ.get("HOME", "/")})
    database = experiment / "experiment.db"
    shrink(database)
    pack(database, f"{name}-{form}")


def record_all(assay, directory, chosen):
    RECORDED.mkdir(exist_ok=True)
    measured = read_measured()
    for name in names(chosen):
        for form in FORMS:
            record(assay, name, form, directory)
        measured[name] = measure(name, directory)
        print(name, *(f"{form} {measured[name][form]:.3f} s" for form in FORMS), flush=True)
        lines = [f"{key} {value['fault']:.3f} {value['repaired']:.3f}\n"
                 for key, value in sorted(measured.items())]
        (RECORDED / "measured.txt").write_text(
            "# program, seconds with the fault, seconds repaired (truth.py record)\n"
            + "".join(lines), encoding="ascii")


def read_measured():
    path = RECORDED / "measured.txt"
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines()[1:]) \
        if path.exists() else ()
    return {row[0]: {"fault": float(row[1]), "repaired": float(row[2])} for row in rows}


# ---- Judging --------------------------------------------------------------------------------


def renew_table(then, name, made, indexes):
    """Makes a recorded table as it is now. Columns that came later are empty."""
    old = f"{name}_recorded"
    then.execute(f"ALTER TABLE {name} RENAME TO {old}")
    then.execute(made)
    columns = [{row[1] for row in then.execute(f"PRAGMA table_info({table})")}
               for table in (old, name)]
    common = ", ".join(sorted(columns[0] & columns[1]))
    then.execute(f"INSERT INTO {name} ({common}) SELECT {common} FROM {old}")
    then.execute(f"DROP TABLE {old}")
    for index in indexes:
        then.execute(index)


def renew_tables(then, now):
    """Makes anew the recorded tables that have gained columns since."""
    listing = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB" \
              " 'sqlite_*'"
    indexes = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?" \
              " AND sql IS NOT NULL"
    there = dict(then.execute(listing))
    # References of other tables and views keep the name.
    then.execute("PRAGMA legacy_alter_table = ON")
    for name, made in now.execute(listing).fetchall():
        columns = [[row[1] for row in db.execute(f"PRAGMA table_info({name})")]
                   for db in (then, now)]
        if name in there and not set(columns[1]) <= set(columns[0]):
            renew_table(then, name, made, [row[0] for row in now.execute(indexes, (name,))])


def renew_views(database, schema):
    """Views are code and of now; what was recorded is in the tables. (v_values and v_set_NAME are
    of the sets that an experiment has.) Whole tables that came later are made, and are empty."""
    now, then = sqlite3.connect(":memory:"), sqlite3.connect(database)
    now.executescript(schema.read_text(encoding="utf-8"))
    renew_tables(then, now)
    tables = "SELECT tbl_name, sql FROM sqlite_schema WHERE type IN ('table', 'index')" \
             " AND sql IS NOT NULL AND tbl_name NOT GLOB 'sqlite_*' ORDER BY type DESC"
    known = {row[0] for row in then.execute(tables)}
    for name, made in now.execute(tables):
        if name not in known:
            then.execute(made)
    listing = "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND name <> 'v_values'" \
              " AND name NOT GLOB 'v_set_*'"
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


KEYS = "rule level time_s gain_s low_s high_s bound_share text how".split()


def findings(again, name, form, directory, schema):
    """[{key of KEYS: value}], or what went wrong."""
    experiment = directory / f"{name}-{form}"
    shutil.rmtree(experiment, ignore_errors=True)
    experiment.mkdir(parents=True)
    packed = RECORDED / f"{name}-{form}.db.xz"
    (experiment / "experiment.db").write_bytes(lzma.decompress(packed.read_bytes()))
    renew_views(experiment / "experiment.db", schema)
    done = subprocess.run([again, str(experiment)], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip() + " (after a change of the tables: ./dev record)"
    rows = [dict(zip(KEYS, line.split("\t"))) for line in done.stdout.splitlines()]
    for row in rows:
        row.update({key: float(row[key]) for key in KEYS[2:7]})
    shutil.rmtree(experiment)
    return rows


def out_of_order(found):
    """Bounds of a twentieth of the run or more come before times without one: the first late one;
    "" when nothing does."""
    claims = [it for it in found if it["level"] in ("gain", "potential")]
    first = next((place for place, it in enumerate(claims) if it["bound_share"] < 0), len(claims))
    late = [it for it in claims[first:] if it["bound_share"] >= 0.05]
    return f"{late[0]['rule']} comes behind a time without a bound: {late[0]['text']}" \
        if late else ""


def judge_promise(head, found, saved):
    """What is wrong with the finding when the repair saved so many seconds; "" when nothing is."""
    if found["level"] == "gain" and not found["low_s"] <= saved <= found["high_s"]:
        return f"{saved:.3f} s were saved, not {found['low_s']:.3f} to {found['high_s']:.3f}"
    # It claims no gain, but what it is about should hold one. Its time is counted by samples: a
    # tenth is chance.
    most = 1 + int(head.get("within", "10 %").split()[0]) / 100
    if found["level"] == "potential" and saved > most * found["time_s"] + 0.05:
        return f"{saved:.3f} s were saved of {found['time_s']:.3f} that it is about"
    if "promises" in head and found["time_s"] > float(head["promises"].split()[0]) * saved:
        return f"{saved:.3f} s were saved, and it is about {found['time_s']:.3f}"
    if head.get("saves", "").startswith("nothing"):
        return "" if found["level"] == "hint" else "it claims time, and is to save nothing"
    return "" if saved > 0 else f"the repair saved nothing ({saved:.3f} s)"


def saved_of(name, measured):
    """Seconds that the repair saves of the recorded run. A host is not as fast at all times, so it
    is the share that was measured. What a program says of itself is not of all its threads."""
    if "seconds" in head_of(name):
        return measured["fault"] - measured["repaired"]
    ran_s, shared_by = sampled_s(f"{name}-fault"), head_of(name).get("processors")
    if shared_by: # spinning threads take another time in each run: the repaired form's is left
        return (ran_s - measured["repaired"]) / int(shared_by.split()[0])
    return ran_s * (1 - measured["repaired"] / measured["fault"])


def sampled_s(name):
    """Running time of a recorded run."""
    database = lzma.decompress((RECORDED / f"{name}.db.xz").read_bytes())
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(database)
        file.flush()
        db = sqlite3.connect(file.name)
        ran_ns, = db.execute("SELECT exclusive_ns FROM object_time"
                             " WHERE object_kind = 'run'").fetchone()
        db.close()
    return ran_ns / 1e9


def judge_words(head, found):
    """What is wrong with what it says."""
    for key, text in (("says", found["text"]), ("advises", found["how"])):
        if key in head and not re.search(head[key], text):
            return f"it {key} not '{head[key]}': {text}"
    return ""


def judge(again, name, directory, schema, measured):
    head = head_of(name)
    rule, behind = head["finding"], head.get("behind", "").split()
    fault = findings(again, name, "fault", directory, schema)
    repaired = findings(again, name, "repaired", directory, schema)
    for rows in (fault, repaired):
        if isinstance(rows, str):
            return rows
    late = out_of_order(fault) or out_of_order(repaired)
    if late:
        return late
    found = [it for it in fault if it["rule"] == rule]
    if not found:
        return f"{rule} is not among {[it['rule'] for it in fault]}"
    if any(it["rule"] == rule for it in repaired):
        return f"{rule} is said of the repaired form, too"
    first = next((it for it in fault if it["level"] in ("gain", "potential")
                  and it["rule"] not in behind), found[0])
    if found[0]["level"] != "hint" and first["rule"] != rule:
        return f"{first['rule']} comes before {rule}: {first['text']}"
    return judge_words(head, found[0]) or judge_promise(head, found[0], saved_of(name, measured))


def without_program():
    """Rules that no program is held to."""
    rules = set()
    for table, kind in (("findings", "finding"), ("causes", "cause")):
        text = (HERE.parents[1] / "data/advise" / f"{table}.txt").read_text(encoding="utf-8")
        rules |= set(re.findall(rf"^{kind} (\w+)", text, re.M))
    return sorted(rules - {head_of(name)["finding"] for name in names([])})


def say_points(points):
    """Says each {what is held: what is wrong or ""} in TAP as it comes; returns how many fail."""
    number = failed = 0
    for number, (held, wrong) in enumerate(points, 1):
        failed += bool(wrong)
        print("not ok" if wrong else "ok", number, "-", held)
        if wrong:
            print("#", wrong)
    print(f"1..{number}")
    return failed


def points_of_all(again, directory, schema):
    measured = read_measured()
    for name in names([]):
        wrong = judge(again, name, directory, schema, measured[name]) if name in measured \
            else "was not recorded: ./dev record"
        yield f"{name}: {head_of(name)['finding']}, and what its repair saves", wrong
    yield "every rule has a program", ", ".join(without_program())


def main():
    verb, *words = sys.argv[1:]
    directory = pathlib.Path(words[1 if verb != "measure" else 0])
    directory.mkdir(parents=True, exist_ok=True)
    if verb == "record":
        record_all(words[0], directory, words[2:])
    elif verb == "measure":
        for name in names(words[1:]):
            seconds = measure(name, directory)
            print(f"{name:16} {seconds['fault']:8.3f} s  repaired {seconds['repaired']:8.3f} s  "
                  f"x{seconds['fault'] / max(seconds['repaired'], 1e-3):.2f}", flush=True)
    else:
        sys.exit(say_points(points_of_all(words[0], directory, pathlib.Path(words[2]))) > 0)


if __name__ == "__main__":
    main()
