#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into an empty folder, moves the tree and uses it; reports in TAP.

usage: installed.py ROOT BUILD

The tree must be complete by lists of the source tree. Programs must get the libraries of the moved
tree. All places that name the version must name that of VERSION. The module file is loaded by
Environment Modules. Meson must refuse other platforms.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "zoo"))
import tap as tap_module  # noqa: E402

# Prints the libraries of assay that are in this process, after work that samples hit.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static volatile double sum;

static void *work(void *unused)
{
    for (int i = 0; i < 100000000; i++)
        sum += i;
    return unused;
}

int main(void)
{
    char line[4096];
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "libassay-"))
            fputs(strchr(line, '/'), stdout);
    return 0;
}
"""
REGIONS = r"""
#include <assay/assay.h>

int main(void)
{
    volatile double sum = 0;

    assay_region_begin("phase of the test");
    for (int i = 0; i < 50000000; i++)
        sum += i;
    assay_region_end("phase of the test");
    return 0;
}
"""
CROSS = """
[binaries]
c = 'cc'
cpp = 'c++'
[host_machine]
system = '{system}'
cpu_family = '{family}'
cpu = '{family}'
endian = 'little'
"""


def command(*words, cwd=None, env=None):
    """Returns status and output of a command."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True, check=False,
                          env={**os.environ, **(env or {})},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def install(root, build, place):
    """Returns the installed tree in a folder that the build does not know."""
    status, output = command("meson", "install", "-C", build, "--no-rebuild", "--quiet",
                             "--destdir", place / "destination")
    if status:
        sys.exit(f"Bail out! meson install: {output}")
    options = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    values = {option["name"]: option["value"] for option in options}
    moved = place / "moved" / "elsewhere"
    moved.parent.mkdir()
    shutil.move(f"{place}/destination{values['prefix']}", moved)
    shutil.rmtree(place / "destination")
    return moved, moved / values["libdir"]


def listed(folder, *patterns):
    """Returns the files below a folder that match a pattern."""
    return {str(path.relative_to(folder)) for pattern in patterns for path in folder.rglob(pattern)
            if path.is_file()}


def check_complete(tap, root, build, moved, libraries):
    tap.same_set(listed(libraries / "assay", "*.so"),
                 {path.name for path in (build / "src" / "agent").glob("*.so")},
                 "every library that goes into programs is installed")
    doc = moved / "share" / "doc" / "assay"
    for part in ("manual", "reference", "internals", "images"):
        tap.same_set(listed(doc / "doc" / part, "*"), listed(root / "doc" / part, "*.md", "*.png"),
                     f"doc/{part} is installed whole")
    examples = root / "examples"
    tap.same_set(listed(doc / "examples", "*"),
                 listed(examples, "[a-z]*.[chf]", "*.f90", "*.sh", "*.md", "Makefile", "*.lua",
                        "*.probe"), "every example is installed")
    wanted = ["bin/assay", "include/assay/assay.h", "include/assay/assay.f90",
              "include/assay/probe.h", "share/man/man1/assay.1",
              "share/bash-completion/completions/assay", "share/zsh/site-functions/_assay",
              "share/fish/vendor_completions.d/assay.fish", "share/doc/assay/LICENSE",
              "share/doc/assay/README.md", "share/doc/assay/CHANGELOG.md"]
    tap.equal([name for name in wanted if not (moved / name).is_file()], [],
              "program, headers, man page, completions and licence are installed")
    tap.equal([name for name in ("libassay.a", "pkgconfig/assay.pc")
               if not (libraries / name).is_file()], [], "the library of programs is installed")


def check_run(tap, moved, libraries, place):
    (place / "program.c").write_text(PROGRAM)
    status, output = command("cc", "-O1", "-g", "-pthread", "program.c", "-o", "program", cwd=place)
    tap.point(status == 0, "the program compiles", output)
    assay = moved / "bin" / "assay"
    env = {"ASSAY_NO_MEASURE": "1", "ASSAY_AGENT_LIBRARY": ""}
    status, output = command(assay, "run", "-q", "--event", "timer", "-o", "x.assay", "--",
                             "./program", cwd=place, env=env)
    inside = sorted(set(re.findall(r"/\S*libassay-\S*\.so", output)))
    tap.equal((status, inside), (0, [f"{libraries}/assay/libassay-agent.so"]),
              "assay run of the moved tree puts its own library into a program")
    status, output = command(assay, "show", "x.assay", "--view", "functions", "--format", "csv",
                             cwd=place)
    tap.point("work" in output.split("\n", 2)[1], "the hottest function is the program's", output)
    status, output = command(assay, "trace", "-q", "-o", "t.assay", "--", "./program", cwd=place,
                             env=env)
    inside = {pathlib.Path(path) for path in re.findall(r"/\S*libassay-\S*\.so", output)}
    tap.equal((status, {path.parent for path in inside}), (0, {libraries / "assay"}),
              "assay trace takes every library from the moved tree")


def check_library(tap, moved, libraries, place):
    (place / "regions.c").write_text(REGIONS)
    env = {"PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "ASSAY_NO_MEASURE": "1"}
    status, flags = command("pkg-config", f"--define-variable=prefix={moved}", "--cflags",
                            "--libs", "assay", env=env)
    tap.point(status == 0 and str(moved) in flags, "pkg-config finds the moved library", flags)
    status, output = command("cc", "-O1", "regions.c", *flags.split(), "-o", "regions", cwd=place)
    tap.point(status == 0, "a program with regions links", output)
    command(moved / "bin" / "assay", "profile", "-q", "--regions", "-o", "r.assay", "--",
            "./regions", cwd=place, env=env)
    _, output = command(moved / "bin" / "assay", "show", "r.assay", "--view", "regions",
                             cwd=place)
    tap.point("phase of the test" in output, "the region is in the profile", output)


def versions(root, moved, libraries):
    """Yields each place that names the version, with its word."""
    def found(text, pattern):
        match = re.search(pattern, text, re.M)
        return match.group(1) if match else None

    yield "assay --version", command(moved / "bin" / "assay", "--version")[1].split()[-1]
    page = (moved / "share/man/man1/assay.1").read_text()
    yield "man page", found(page, r'^\.TH .*"assay (\S+)"')
    yield "assay.pc", found((libraries / "pkgconfig" / "assay.pc").read_text(), r"^Version: (\S+)$")
    modules = [path.name for path in (moved / "share/assay/modulefiles/assay").iterdir()]
    yield "module file", " ".join(modules)
    for name, pattern in (("CHANGELOG.md", r"^## (\d\S*)"),
                          ("packaging/debian/changelog", r"^assay \((\S+)-\d+\)"),
                          ("packaging/spack/spack_repo/assay/packages/assay/package.py",
                           r'^    version\("([^"]+)"'),
                          ("web/package.json", r'^  "version": "([^"]+)"'),
                          ("web/package-lock.json", r'^  "version": "([^"]+)"')):
        yield name, found((root / name).read_text(), pattern)


def check_module(tap, moved):
    modulecmd = shutil.which("modulecmd")
    if not modulecmd:
        tap.skip("the module file is loaded", "no modulecmd here")
        return
    env = {"MODULEPATH": str(moved / "share" / "assay" / "modulefiles"), "PATH": "/usr/bin:/bin",
           "LOADEDMODULES": "", "_LMFILES_": "", "MANPATH": "/usr/share/man"}
    script = (f'eval "$({modulecmd} bash load assay)"; echo "$PATH|$MANPATH|$CPATH|$ASSAY_ROOT"; '
              f'assay --version; eval "$({modulecmd} bash unload assay)"; echo "$PATH"')
    status, output = command("bash", "-c", script, env=env)
    lines = output.split("\n")
    tap.equal(lines[0], f"{moved}/bin:/usr/bin:/bin|{moved}/share/man:/usr/share/man|"
              f"{moved}/include|{moved}", "the module file leads to the moved tree")
    tap.equal((lines[1][:6], lines[2]), ("assay ", "/usr/bin:/bin"),
              "it finds the program, and unloading restores the path")


def check_refusal(tap, root, place):
    for system, family in (("linux", "aarch64"), ("linux", "x86"), ("freebsd", "x86_64")):
        cross = place / f"{system}-{family}.ini"
        cross.write_text(CROSS.format(system=system, family=family))
        status, output = command("meson", "setup", "--cross-file", cross, place / "refused", root)
        tap.point(status != 0 and f"needs Linux on x86-64, and this is {system} on {family};"
                  in output, f"the build for {system} on {family} is refused", output)
        shutil.rmtree(place / "refused", ignore_errors=True)


def main():
    root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    tap = tap_module.Tap()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        moved, libraries = install(root, build, place)
        check_complete(tap, root, build, moved, libraries)
        check_run(tap, moved, libraries, place)
        check_library(tap, moved, libraries, place)
        version = (root / "VERSION").read_text().strip()
        for name, word in versions(root, moved, libraries):
            tap.equal(word, version, f"{name} has the version")
        check_module(tap, moved)
        check_refusal(tap, root, place)
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
