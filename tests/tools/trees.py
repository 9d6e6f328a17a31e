# SPDX-License-Identifier: Apache-2.0
"""Runs the functions test_* of a module as tests of TAP; each gets a fresh tree under git."""
import pathlib
import subprocess
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def git(root, *arguments):
    subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments],
                   cwd=root, check=True, capture_output=True)


def command(*arguments, cwd=None):
    """Returns the exit status and the output of a command."""
    done = subprocess.run([str(argument) for argument in arguments], cwd=cwd, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def main(module):
    tests = [(name, test) for name, test in module.items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            git(root, "init", "-q", "-b", "main")
            try:
                test(root)
                print(f"ok {number} - {name[5:]}")
            except Exception:  # an error of a test is a failed test
                print("# " + traceback.format_exc().replace("\n", "\n# "))
                print(f"not ok {number} - {name[5:]}")
