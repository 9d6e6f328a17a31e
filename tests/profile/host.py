# SPDX-License-Identifier: Apache-2.0
"""Disturbances of this host while a program ran, independent of its result: delays of wake-ups on
each CPU (witness.c), stolen time, and run-queue waits of others."""
import pathlib
import subprocess


def stolen_s():
    """Returns stolen seconds of all CPUs, by the kernel's account in hundredths."""
    words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()
    return int(words[8]) / 100 if len(words) > 8 else 0.0


def queued_s():
    """Returns the seconds in which a task waited for a CPU; 0 if the kernel does not report it."""
    try:
        text = pathlib.Path("/proc/pressure/cpu").read_text()
        return int(text.split("total=")[1].split()[0]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


class Host:
    """with Host(witness) as host: ...; then host.taken_s and what str(host) says."""
    def __init__(self, witness):
        self.program, self.taken_s = witness, 0.0

    def __enter__(self):
        self.witness = subprocess.Popen([self.program], stdout=subprocess.PIPE, text=True)
        self.first = self.witness.stdout.readline().strip() == "first"
        self.stolen, self.queued = stolen_s(), queued_s()
        return self

    def __exit__(self, *_):
        self.stolen, self.queued = stolen_s() - self.stolen, queued_s() - self.queued
        self.witness.terminate()
        late = self.witness.communicate()[0]
        self.late = int(late or 0) / 1e9
        self.taken_s = max(self.late, self.stolen)

    def __str__(self):
        return (f"processors were {self.late:.4f} s late"
                f"{'' if self.first else ' (the queue of other programs included)'}, "
                f"{self.stolen:.2f} s stolen, somebody queued for {self.queued:.2f} s")
