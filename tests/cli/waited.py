#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command, ends with its exit status, and writes the seconds that its first thread had no
CPU. That is the run-queue wait of the kernel plus stolen time (tests/profile/host.py).

usage: waited.py FILE WITNESS COMMAND...
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "profile"))
from experiment import queued_s_of, wait_for_end  # noqa: E402
from host import Host  # noqa: E402


def main():
    with Host(sys.argv[2]) as host:
        process = subprocess.Popen(sys.argv[3:])
        wait_for_end(process)
        queued_s = queued_s_of(process)
        status = process.wait()
    pathlib.Path(sys.argv[1]).write_text(f"{queued_s + host.taken_s:.3f}\n", encoding="ascii")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
