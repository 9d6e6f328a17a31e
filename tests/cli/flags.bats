#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Advice on compiler options is compiled, with the compilers at hand. Each advised group of options has
# to change the code of the loop. The gain is not measured here.

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >kernel.c <<'END'
#include <math.h>
double sum(const double *x, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i];
    return s;
}
void roots(double *restrict y, const double *restrict x, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}
void scale(double *restrict y, const double *restrict x, double f, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = f * x[i];
}
void powers(double *restrict y, const double *restrict x, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = exp(x[i]) + 1;
}
void fused(double *restrict y, const double *restrict x, double f, long n)
{
    for (long i = 0; i < n; i++)
        y[i] += f * x[i];
}
END
    cat >kernel.f90 <<'END'
function total(x, n) result(s)
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: s
  integer :: i
  s = 0
  do i = 1, n
    s = s + x(i)
  end do
end function
END
    cat >follow.py <<'END'
"""follow.py ASSAY COMPILER SOURCE FUNCTION BASE-OPTIONS PATTERN: follows the advice on options of
FUNCTION's loop. Instructions like PATTERN must become more with each group of options."""
import json, re, subprocess, sys

assay, compiler, source, function, base, pattern = sys.argv[1:]
GROUP = re.compile(r"(?<![\w-])-[Ofm][\w=+-]*(?: -[fm][\w=+-]*)*")


def count(options):
    subprocess.run([compiler, *options.split(), "-g", "-shared", "-fPIC", "-o", "x.so", source],
                   check=True)
    code = subprocess.run(["objdump", "-d", "x.so"], check=True, capture_output=True, text=True).stdout
    body = re.search(rf"<{function}>:\n(.*?)\n\n", code + "\n\n", re.S).group(1)
    return len(re.findall(pattern, body))


before = count(base)
said = json.loads(subprocess.run([assay, "cqa", "--function", function, "--format", "json", "x.so"],
                                 check=True, capture_output=True, text=True).stdout)
groups = set()
for loop in said["loops"]:
    for one in loop.get("advice", []):
        if one["topic"] in ("vectorisation", "dependences", "fma"):
            groups |= set(GROUP.findall(one["workaround"] or ""))
# The first needs a pragma; the second makes a report and leaves code alone.
groups = {g for g in groups if "openmp-simd" not in g and "opt-info" not in g}
print(sorted(groups), before)
assert groups, said["loops"]
for group in sorted(groups):
    after = count(f"{base} {group}")
    print(group, after)
    assert after > before, f"{group} changes nothing: {before} before, {after} after"
END
}

setup() {
    load common.bash
    cd "$BATS_FILE_TMPDIR" || return 1
}

follows() { # COMPILER SOURCE FUNCTION BASE PATTERN
    command -v "$1" >/dev/null || skip "$1 is not installed"
    python3 follow.py "$ASSAY" "$@" >out 2>&1 || fails "$1 $3" "$(cat out)"
}

@test "flags: a sum of gcc at -O2" { follows gcc kernel.c sum -O2 addpd; }
@test "flags: a sum of gcc at -O3" { follows gcc kernel.c sum -O3 addpd; }
@test "flags: a sum of clang" { follows clang kernel.c sum -O2 addpd; }
@test "flags: a sum of gfortran" { follows gfortran kernel.f90 total_ -O2 addpd; }
@test "flags: roots of gcc" { follows gcc kernel.c roots -O2 sqrtpd; }
@test "flags: roots of clang" { follows clang kernel.c roots -O2 sqrtpd; }
@test "flags: a loop of gcc at -O2" { follows gcc kernel.c scale -O2 mulpd; }
@test "flags: mathematical functions of gcc" { follows gcc kernel.c powers -O2 _ZGV; }
@test "flags: mathematical functions of clang" { follows clang kernel.c powers -O2 _ZGV; }
@test "flags: fused multiply-add" {
    grep -qw fma /proc/cpuinfo || skip "this machine has no FMA"
    follows gcc kernel.c fused -O3 vfmadd
}
