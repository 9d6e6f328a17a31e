#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that are entered while they run, and left again: attach.py RUN AGENT OUT.

A program reports its results, which the same rounds compute again without the agent. It also
reports when each loop ran, and how often: the records must be equal. Afterwards its code is that of
its file, and its memory has nothing else.
"""
import bisect
import ctypes
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

ROUNDS = int(os.environ.get("ATTACH_ROUNDS", "16"))
# Time limit for an event that never comes; expected events come on any slow host.
PATIENCE_S = 100
KEPT_MOST = 60000 # records of a thread
# If threads stand still for longer, a signal of another process cannot release the target.
STOPPED_MOST_S = 0.3
# The attaching process tries for 0.4 s until no thread is in code to be changed. A thread without a
# CPU stays there.
QUEUED_MOST_S = 0.2
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17


class Attached:
    """A program that runs until it is asked to end."""

    def __init__(self, program, out, threads=4):
        self.program, self.threads = program, threads
        self.log = os.path.join(out, "log")
        self.process = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "ATTACHED_LOG": self.log})
        self.pid = self.process.pid
        self.process.stderr.readline()

    def end(self):
        said, _ = self.process.communicate(b"x", timeout=2 * PATIENCE_S)
        return said.decode(), self.process.returncode

    def again(self, said):
        rounds = [line.split()[0] for line in said.splitlines()]
        return subprocess.run([self.program, str(self.threads), *rounds], capture_output=True,
                              timeout=2 * PATIENCE_S, check=False).stdout.decode()

    def runs(self, seconds):
        """Waits until it has used so many seconds of CPU time."""
        end = cpu_of(self.pid) + seconds
        wait_until(lambda: cpu_of(self.pid) >= end)

    def each_runs(self, seconds):
        """Until each of its threads that works has, since now."""
        where = f"{self.pid}/task"
        begun = {tid: cpu_of(f"{where}/{tid}") for tid in os.listdir(f"/proc/{where}")
                 if int(tid) != self.pid}
        wait_until(lambda: all(cpu_of(f"{where}/{tid}") >= before + seconds
                               for tid, before in begun.items()))

    def entries(self):
        data = open(self.log, "rb").read()
        return list(struct.iter_unpack("<5Q", data))


def living_thread(pid):
    """One that has memory: the first has ended, and a last one may be just ending."""
    for tid in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
        try:
            if open(f"/proc/{tid}/maps", encoding="utf-8").read():
                return int(tid)
        except ProcessLookupError:
            pass
    raise AssertionError(f"no thread of {pid} lives")


def mappings(pid):
    """Returns the mappings without heap and stacks, which programs change."""
    kept = []
    for line in open(f"/proc/{pid}/maps", encoding="utf-8"):
        words = line.split()
        if "x" in words[1] or len(words) > 5 and words[5].startswith("/"):
            kept.append((words[0], words[1], words[5] if len(words) > 5 else ""))
    return kept


def merged(maps):
    """Neighbours with the same rights and file together: rights that were changed leave seams."""
    out = []
    for places, rights, path in maps:
        start, end = (int(x, 16) for x in places.split("-"))
        if out and out[-1][1] == start and out[-1][2:] == [rights, path]:
            out[-1][1] = end
        else:
            out.append([start, end, rights, path])
    return out


def changed_code(pid):
    """Bytes of code in memory that are not those of their file."""
    bad = []
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in open(f"/proc/{pid}/maps", encoding="utf-8"):
            words = line.split()
            if "x" not in words[1] or len(words) < 6 or not words[5].startswith("/"):
                continue
            start, end = (int(x, 16) for x in words[0].split("-"))
            memory.seek(start)
            have = memory.read(end - start)
            with open(words[5], "rb") as file:
                file.seek(int(words[2], 16))
                want = file.read(end - start)
            if have[:len(want)] != want:
                at = next(i for i, (a, b) in enumerate(zip(have, want)) if a != b)
                bad.append(f"{words[5]}: {start + at:#x}")
    return bad


def status_of(pid, key):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(line.split()[1] for line in lines if line.startswith(key + ":"))


def stat_of(pid):
    """Returns the fields behind the name in /proc/PID/stat."""
    return open(f"/proc/{pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()


def state_of(pid):
    return stat_of(pid)[0]


def cpu_of(pid):
    """Returns the seconds of CPU time of all its threads."""
    return sum(map(int, stat_of(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def queued_s(pid):
    """Returns, for each thread, its run-queue wait."""
    out = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            account = open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii").read()
        except OSError:
            continue
        out[tid] = int(account.split()[1]) / 1e9
    return out


def wait_until(is_so):
    """Returns whether it became true."""
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Storm:
    """Stops a process and lets it go on, all the time."""

    def __init__(self, process):
        self.process, self.is_over, self.longest_s = process, threading.Event(), 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        chance = random.Random(7)
        while not self.is_over.is_set():
            begin = time.monotonic()
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(chance.random() * chance.choice((0.0001, 0.002)))
            self.process.send_signal(signal.SIGCONT)
            self.longest_s = max(self.longest_s, time.monotonic() - begin)
            time.sleep(chance.random() * 0.01)

    def end(self):
        self.is_over.set()
        self.thread.join()


class Checks:
    def __init__(self, tap, runner, agent, out):
        self.tap, self.runner, self.agent, self.out = tap, runner, agent, out

    def build(self, name, *flags, source="attached"):
        program = os.path.join(self.out, name)
        made = subprocess.run(["gcc", "-g", "-O2", "-fno-tree-vectorize", "-pthread", "-o", program,
                               os.path.join(HERE, "src", source + ".c"), *flags],
                              capture_output=True, check=False)
        return program if made.returncode == 0 else None

    def attach(self, it, mode, ms, *options):
        where = os.path.join(self.out, "agent")
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        done = subprocess.run([self.runner, mode, "--kept", str(KEPT_MOST), *options, "--attach",
                               str(it.pid), "--ms", str(ms), where, self.agent, "--", it.program],
                              capture_output=True, timeout=PATIENCE_S, check=False)
        if done.returncode:
            return None, done.stderr.decode()
        return json.load(open(os.path.join(where, "result.json"), encoding="utf-8")), ""

    def attach_while(self, it, mode, *options):
        """Attached until `meanwhile` (the last of options) returns, which begins when all of the
        code is changed: nothing depends on how long that takes."""
        meanwhile = options[-1]
        where = os.path.join(self.out, "agent")
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        with tempfile.TemporaryFile() as said:
            runner = subprocess.Popen([self.runner, mode, "--kept", str(KEPT_MOST), *options[:-1],
                                       "--told", "--attach", str(it.pid), "--ms",
                                       str(3000 * PATIENCE_S), where, self.agent, "--", it.program],
                                      stdin=subprocess.PIPE, stdout=said, stderr=said)
            wait_until(lambda: runner.poll() is not None or
                       os.pread(said.fileno(), 7, 0) == b"entered")
            if runner.poll() is None:
                meanwhile()
            runner.stdin.close()
            runner.wait(PATIENCE_S)
            said.seek(0)
            if runner.returncode:
                return None, said.read().decode()
        return json.load(open(os.path.join(where, "result.json"), encoding="utf-8")), ""

    def left_alone(self, it, before, what):
        self.tap.equal(changed_code(it.pid), [], f"{what}: code is that of its file")
        self.tap.equal(merged(mappings(it.pid)), merged(before),
                       f"{what}: nothing of us is in its memory")

    def same_end(self, it, what):
        said, status = it.end()
        self.tap.equal((said, status), (it.again(said), 0), f"{what}: it computes the same")

    def check_records(self, it, result, what):
        """Checks the instances of each thread from its first record to its last: none is missing.
        An instance may lack iterations if it began before the attach. The trip count is unknown if
        a handler interrupted it. A thread that filled its file lacks some instances."""
        entries = {}
        for tid, t0, t1, trips, number in it.entries():
            if number % 4 != 1:
                entries.setdefault(tid, []).append((t0, t1, trips))
        seen, wrong = 0, []
        for tid, log in entries.items():
            begins = [t0 for t0, _, _ in log]
            found = {}
            is_whole = sum(t == tid for t, *_ in result["records"]) < KEPT_MOST
            for t, t0, t1, trips, _ in result["records"]:
                at = bisect.bisect_right(begins, t0) - 1
                if t == tid and at >= 0 and t1 <= log[at][1]:
                    found[at] = trips
            if not found:
                continue
            for at in range(min(found), max(found) + 1) if is_whole else found:
                seen += 1
                is_first = at == min(found) and found[at] < log[at][2]
                if found.get(at) != log[at][2] and not is_first:
                    wrong.append(f"{tid}: {at}: {found.get(at)} for {log[at][2]}")
        self.tap.point(seen > 0 and not wrong, f"{what}: trips are those that it says",
                       f"{seen} seen\n" + "\n".join(wrong))

    def whole(self, program, name):
        for mode in (["time"], ["sample:7"], ["count"], ["time", "--nests"],
                     ["count", "--bodies"]):
            it = Attached(program, self.out)
            what = f"{name} {' '.join(mode)}"
            before = mappings(it.pid)
            result, why = self.attach_while(it, *mode, lambda it=it: it.runs(0.4))
            self.tap.point(result and result["done"] > 0 and result["rest"] == "",
                           f"{what}: attached and left", why or result["rest"])
            self.left_alone(it, before, what)
            self.same_end(it, what)
            if result and mode == ["time"]:
                self.check_records(it, result, what)

    def again_and_again(self, program):
        it = Attached(program, self.out, 16)
        before, bad, instances = mappings(it.pid), [], 0
        for number in range(ROUNDS):
            mode = ["time", "count"][number % 2]
            queued = queued_s(it.pid)
            result, why = (self.attach(it, mode, 20) if number else
                           self.attach_while(it, mode, lambda: it.runs(0.2)))
            longest_s = max(s - queued.get(tid, s) for tid, s in queued_s(it.pid).items())
            if result and result["unplaced"] and longest_s > QUEUED_MOST_S:
                print(f"# a thread had no processor for {longest_s:.1f} s and was in a loop: "
                      f"{result['unplaced']} loops are not entered")
                continue
            if not result or result["rest"] or result["unplaced"]:
                bad.append(why or result["rest"] or f"{result['unplaced']} loops are not entered")
            else:
                instances += sum(loop["instances"] for loop in result["loops"])
        self.tap.equal(bad, [], f"{ROUNDS} rounds on a program of 16 threads: all attach and leave")
        self.tap.point(instances > 0, "in them instances were seen")
        self.left_alone(it, before, "after these")
        self.same_end(it, "after these")

    def killed(self, program):
        it = Attached(program, self.out)

        def kill():
            it.runs(0.4)
            it.process.kill()
        result, why = self.attach_while(it, "time", kill)
        it.process.wait()
        self.tap.point(result and sum(loop["instances"] for loop in result["loops"]) > 0,
                       "a program that is killed meanwhile leaves what was recorded", why)

    def abandoned(self, program):
        """Whoever attached is killed: the program is left as it was."""
        it = Attached(program, self.out)
        before = mappings(it.pid)
        where = os.path.join(self.out, "agent")
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        runner = subprocess.Popen([self.runner, "time", "--attach", str(it.pid), "--ms",
                                   str(3000 * PATIENCE_S), where, self.agent, "--", program])
        wait_until(lambda: changed_code(it.pid))
        runner.kill()
        runner.wait()
        wait_until(lambda: not changed_code(it.pid) and status_of(it.pid, "TracerPid") == "0")
        self.left_alone(it, before, "whoever attached is killed")
        self.same_end(it, "whoever attached is killed")

    def follower_killed(self):
        """The attached process is killed: its code cannot be removed. A program without new
        threads, in which no hook runs then, survives."""
        program = self.build("waits", source="waits")
        it = Attached(program, self.out)

        def kill():
            it.runs(0.2)
            os.kill(int(status_of(it.pid, "TracerPid")), signal.SIGKILL)
            wait_until(lambda: status_of(it.pid, "TracerPid") == "0")
        result, why = self.attach_while(it, "time", kill)
        self.tap.point(result and "was killed" in result["rest"] and changed_code(it.pid),
                       "who follows is killed: it is said what stays", why or result["rest"])
        said, status = it.end()
        self.tap.equal((len(said.splitlines()), status), (11, 0),
                       "who follows is killed: the program goes on to its end")

    def stopped_from_outside(self, program):
        """SIGSTOP and SIGCONT come while it is entered and left: it goes on in the end."""
        it = Attached(program, self.out)
        before, bad, storm = mappings(it.pid), [], Storm(it.process)
        for number in range(ROUNDS // 2):
            storm.longest_s = 0
            result, why = self.attach(it, ["time", "count"][number % 2], 5)
            if "is stopped by a signal" in why or result and not result["rest"]:
                continue
            storm.end()
            if storm.longest_s > STOPPED_MOST_S: # our own thread had no CPU to let it go on
                print(f"# it stood still for {storm.longest_s} s: {why or result['rest']}")
                self.same_end(it, "a process that stood still")
                return False
            bad.append(why or result["rest"])
            break
        storm.end()
        self.tap.equal(bad, [], "a process is stopped and goes on, again and again: all leave")
        self.left_alone(it, before, "after that")
        self.same_end(it, "after that")
        return True

    def stopped_meanwhile(self, program):
        """One that is stopped when we leave stays so, as it would alone."""
        it = Attached(program, self.out)
        before = mappings(it.pid)

        def stop():
            it.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: state_of(it.pid) in "Tt")
        result, why = self.attach_while(it, "time", stop)
        wait_until(lambda: state_of(it.pid) == "T")
        self.tap.equal((bool(result), state_of(it.pid)), (True, "T"),
                       f"one that is stopped meanwhile stays stopped {why}")
        self.tap.equal(changed_code(it.pid), [],
                       "it was stopped meanwhile: code is that of its file")
        rest = result["rest"] if result else ""
        self.tap.point("still run" in rest if merged(mappings(it.pid)) != merged(before) else
                       rest == "", "it stands in a clone, which stays and is told of, or in none",
                       rest)
        it.process.send_signal(signal.SIGCONT)
        self.same_end(it, "it was stopped meanwhile")

    def first_ends(self):
        """The first thread of a process ends while we are there; others run on."""
        program = self.build("first", "-DFIRST_ENDS")
        it = Attached(program, self.out)

        def end_first():
            open(it.log + ".end", "w", encoding="ascii").close()
            wait_until(lambda: state_of(it.pid) == "Z")
        result, why = self.attach_while(it, "time", end_first)
        self.tap.point(result and result["rest"] == "" and state_of(it.pid) == "Z",
                       "a process whose first thread ends is left", why or str(result["rest"]))
        self.tap.equal(changed_code(living_thread(it.pid)), [], "its code is that of its file")
        self.same_end(it, "its first thread has ended")

    def endless(self):
        """Threads that are in a loop all the time go on in the program's own code; not where
        registers of theirs wait on the stack, while blocks are counted in these."""
        program = self.build("endless", source="endless")
        for mode in (["time"], ["sample:7"], ["count"], ["time", "--nests"]):
            it = Attached(program, self.out)
            what = f"loops that do not end {' '.join(mode)}"
            before = mappings(it.pid)
            result, why = self.attach_while(it, *mode, lambda it=it: it.each_runs(0.05))
            if mode == ["count"]:
                self.tap.point(result and "still run the clone" in result["rest"],
                               f"{what}: that they stay is said", why or result["rest"])
                self.tap.equal(changed_code(it.pid), [], f"{what}: code is that of its file")
            else:
                self.tap.point(result and result["done"] > 0 and result["rest"] == "",
                               f"{what}: attached and left", why or result["rest"])
                self.left_alone(it, before, what)
            self.same_end(it, what)

    def waits(self):
        """System calls that wait end when they should, and not before."""
        program = self.build("waits", source="waits")
        it = Attached(program, self.out)
        rounds = [self.attach(it, "time", 3) for _ in range(4)]
        self.tap.equal([why or result["rest"] for result, why in rounds], [""] * 4,
                       "a program that waits in system calls is entered four times")
        said, status = it.end()
        ended = [line.split()[0] for line in said.splitlines() if line.split()[1:] != ["0", "0"]]
        self.tap.equal((ended, len(said.splitlines()), status), ([], 11, 0),
                       "none of its waits has ended before its time")

    def refused(self, it, words, what):
        result, why = self.attach(it, "time", 10)
        self.tap.point(not result and words in why and why.count("\n") == 1,
                       f"refused: {what}", why)

    def refusals(self, program):
        libc = ctypes.CDLL(None, use_errno=True)
        it = Attached(program, self.out)
        it.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(it.pid) == "T")
        self.refused(it, "is stopped by a signal", "a process that is stopped")
        it.process.send_signal(signal.SIGCONT)
        tracer = os.fork()
        if tracer == 0:
            libc.ptrace(PTRACE_SEIZE, it.pid, None, None)
            signal.pause()
        wait_until(lambda: status_of(it.pid, "TracerPid") != "0")
        self.refused(it, f"process {tracer}", "one that another traces")
        os.kill(tracer, signal.SIGKILL)
        os.waitpid(tracer, 0)
        result, why = self.attach(it, "time", 10)
        self.tap.point(result, "not refused any more: it runs, and nobody traces it", why)
        self.same_end(it, "after refusals")
        for flag, words in (("-DCONFINED", "has a seccomp filter"),
                            ("-DSEGMENT", "uses the register gs")):
            other = self.build("refused", flag)
            it = Attached(other, self.out)
            self.refused(it, words, words)
            self.same_end(it, f"{words}, refused")


def may_attach():
    """Why not, or None."""
    child = subprocess.Popen(["sleep", "10"])
    libc = ctypes.CDLL(None, use_errno=True)
    ok = libc.ptrace(PTRACE_SEIZE, child.pid, None, None) == 0
    why = None if ok else os.strerror(ctypes.get_errno())
    child.kill()
    child.wait()
    return why


def main():
    runner, agent, out = sys.argv[1:4]
    tap = Tap()
    why = may_attach() or (None if shutil.which("gcc") else "no gcc")
    if why:
        print(f"1..0 # SKIP processes cannot be attached to here: {why}")
        return 0
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    checks = Checks(tap, runner, agent, out)
    shared = checks.build("attached")
    checks.whole(shared, "dynamic")
    static = checks.build("attached-static", "-static")
    if static:
        checks.whole(static, "static")
    else:
        tap.skip("static", "no static C library")
    checks.again_and_again(shared)
    checks.killed(shared)
    checks.abandoned(shared)
    checks.follower_killed()
    if not any(checks.stopped_from_outside(shared) for _ in range(5)):
        tap.point(False, "a process is stopped and goes on, again and again", "never for moments")
    checks.stopped_meanwhile(shared)
    checks.first_ends()
    checks.endless()
    checks.waits()
    checks.refusals(shared)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
