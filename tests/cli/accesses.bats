# SPDX-License-Identifier: Apache-2.0
# Strides of memory operands that the code does not have: leading dimensions in registers. The truth
# is what the programs are started with.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >walks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ALONE __attribute__((noinline, noipa))
ALONE double column(const double *m, long rows, long ld)
{
    double s = 0;
    for (long i = 0; i < rows; i++)
        s += m[i * ld];
    return s;
}
ALONE double vla(long n, double m[n][n], long c)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i][c];
    return s;
}
ALONE double both(const double *m, long rows, long ld)
{
    double s = 0;
    for (long i = 0; i < rows; i++)
        s += m[i * ld] * m[i * ld + 1];
    return s;
}
ALONE double row(const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i];
    return s;
}
ALONE double list(const int *k, const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[k[i]];
    return s;
}
struct arrays {
    double *volatile x, *volatile y;
};
ALONE double based(struct arrays *of, long n)
{
    for (long i = 0; i < n; i++)
        of->y[i] = of->x[3 * i];
    return of->y[n - 1];
}
struct node {
    struct node *next;
    double value[7];
};
ALONE double chase(const struct node *at, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++, at = at->next)
        s += at->value[0];
    return s;
}
int main(int argc, char **argv)
{
    const char *what = argv[1];
    const long n = atol(argv[2]), other = argc > 3 ? atol(argv[3]) : n;
    double *m = calloc((size_t)n * n + 8, sizeof *m), s = 0;
    int *k = calloc((size_t)n * n, sizeof *k);
    struct arrays arrays = {m, m + n * n / 2};
    struct node *ring = calloc(4, sizeof *ring);
    for (long i = 0; i < 4; i++)
        ring[i].next = &ring[(i + 1) % 4];
    for (long i = 0; i < n * n; i++)
        k[i] = (int)(i * 7919 % (n * n));
    const long total = strcmp(what, "based") ? 200000000 : 600000000; /* few instructions count */
    for (long done = 0; done < total; done += n) {
        const long c = done / n % n;
        if (!strcmp(what, "column"))
            s += column(m + c, n, done / n / 64 % 2 ? n : other);
        else if (!strcmp(what, "vla"))
            s += vla(n, (double (*)[n])m, c);
        else if (!strcmp(what, "both"))
            s += both(m + c, n, n);
        else if (!strcmp(what, "based"))
            s += based(&arrays, n);
        else if (!strcmp(what, "chase"))
            s += chase(ring, n);
        else if (!strcmp(what, "row"))
            s += row(m, n);
        else
            s += list(k + c * n, m, n);
    }
    printf("%g\n", s);
    return 0;
}
END
    gcc -O2 -g -o walks walks.c
}

setup() {
    load common.bash
}

# The accesses of the hottest loop of a run: KIND,STRIDE,SHARE,LINE,ACCESS, a line each.
accesses() {
    "$ASSAY" run -q -o x.assay --force -- ./walks "$@" >/dev/null
    "$ASSAY" query --format csv x.assay "SELECT a.stride, a.stride_b,
        a.stride_pct >= 90 AS sure, a.stride_pct, a.line_used_pct, a.access, a.origin
        FROM v_loop_accesses a WHERE a.loop_id = (SELECT loop_id FROM v_loops
        ORDER BY exclusive_time_s DESC LIMIT 1) ORDER BY a.address, a.operand" | tail -n +2
}

@test "accesses: a leading dimension in a register is the stride in bytes" {
    run accesses column 700
    [[ $output =~ ^constant,5600,1,[0-9.]+,12.5,load,measured$ ]]
    run accesses vla 300
    [[ $output =~ ^constant,2400,1,[0-9.]+,12.5,load,measured$ ]]
}

@test "accesses: a stride has the name and the value of its leading dimension" {
    for it in "column 700 ld,700" "vla 300 n,300"; do
        read -r what n truth <<<"$it"
        "$ASSAY" run -q -o x.assay --force -- ./walks "$what" "$n" >/dev/null
        run "$ASSAY" query --format csv x.assay "SELECT extent, extent_n FROM v_loop_accesses
            WHERE function = '$what' AND stride_b = 8 * $n"
        equal "$truth" "${lines[1]}"
    done
    run "$ASSAY" show x.assay --view accesses
    [[ $output == *"  n = 300 "* ]]
}

@test "accesses: neighbours of one line count together" {
    run accesses both 500
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} =~ ^constant,4000,1,[0-9.]+,25,load,measured$ ]]
    [[ ${lines[1]} =~ ^constant,4000,1,[0-9.]+,25,load,measured$ ]]
}

# 600 instructions and 200 samples: most have one or two.
@test "accesses: a long loop body with few samples of each instruction" {
    {
        echo '#include <stdlib.h>'
        echo '__attribute__((noipa)) double long_body(const double *wide, long n, long ld) {'
        echo 'double s = 0; for (long i = 0; i < n; i++) {'
        for i in $(seq 300); do
            echo "s += wide[i * ld + $((3 * i))] * $i.5;"
        done
        echo '} return s; }'
        echo 'int main(void) { double *a = calloc(100000, 8), s = 0;'
        echo 'for (int i = 0; i < 7000; i++) s += long_body(a, 90, 1000); return s > 1; }'
    } >long.c
    gcc -O2 -g -o long long.c
    "$ASSAY" profile -q -o x.assay --force -- ./long
    run "$ASSAY" query --format csv x.assay "SELECT count(*), sum(stride_b = 8000)
        FROM v_loop_accesses WHERE function = 'long_body' AND variable = 'wide'"
    equal "300,300" "${lines[1]}"
    run "$ASSAY" query --format csv x.assay "SELECT max(sample_n) >= 20 FROM v_loop_accesses"
    equal 1 "${lines[1]}"
}

@test "accesses: what the code says needs no sample" {
    run accesses row 600
    [[ $output =~ ^unit,8,,,100,load,exact$ ]]
}

@test "accesses: an index has no stride" {
    run accesses list 400
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} =~ ^unit,4,,,100,load,exact$ ]]
    [[ ${lines[1]} =~ ^indirect,,,,,load,exact$ ]]
}

@test "accesses: a base that each iteration loads, and that stays" {
    run accesses based 300
    [ "${#lines[@]}" = 4 ]
    grep -Eq '^constant,24,1,[0-9.]+,33.[0-9]+,load,measured$' <<<"$output"
    grep -Eq '^unit,8,1,[0-9.]+,100,store,measured$' <<<"$output"
}

@test "accesses: a walk from node to node has no stride, however few there are" {
    run accesses chase 300
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} =~ ^indirect,, && ${lines[1]} =~ ^indirect,, ]]
}

@test "accesses: two strides in turn are several, and use lines as the shorter one" {
    run accesses column 700 350
    [[ $output =~ ^several,(5600|2800),0,[0-9.]+,12.5,load,measured$ ]]
    run accesses column 700 2
    [[ $output =~ ^several,(5600|16),0,[0-9.]+,50,load,measured$ ]]
}

@test "accesses: show has a view, widest strides and use of lines are metrics" {
    accesses column 700 >/dev/null
    run "$ASSAY" show x.assay --view accesses
    [[ $output == *"stride B"* && $output == *"5600"* && $output == *"walks.c:9"* ]]
    run "$ASSAY" query --format csv x.assay "SELECT metric, value FROM v_values
        WHERE metric IN ('operand_stride_b', 'operand_line_use_pct') AND run_id = 1 ORDER BY value DESC"
    [[ ${lines[1]} == operand_stride_b,5600* && ${lines[2]} == operand_line_use_pct,12.5* ]]
}

@test "accesses: a stripped binary has strides, too" {
    cp walks kept && strip walks
    run accesses column 700
    mv kept walks
    [[ $output =~ ^constant,5600,1,[0-9.]+,12.5,load,measured$ ]]
}

@test "accesses: samples of timers and of perf have registers, too" {
    "$ASSAY" run -q -o t.assay --force --event timer -- ./walks column 700 >/dev/null
    run "$ASSAY" query --format csv t.assay "SELECT stride, stride_b FROM v_loop_accesses
        WHERE function = 'column'"
    [[ $output == *"constant,5600"* ]]
    command -v perf >/dev/null || skip "no perf here"
    perf record -q -e cpu-clock --call-graph dwarf -o walks.data ./walks column 700 >/dev/null 2>&1 ||
        skip "perf records nothing here"
    "$ASSAY" import -q walks.data -o i.assay --force
    run "$ASSAY" query --format csv i.assay "SELECT stride, stride_b FROM v_loop_accesses
        WHERE function = 'column'"
    [[ $output == *"constant,5600"* ]]
}

@test "accesses: Fortran arrays of explicit shape" {
    command -v gfortran >/dev/null || skip "no gfortran here"
    cat >shape.f90 <<'END'
program shape
  implicit none
  real(8), allocatable :: a(:,:)
  integer :: n, k
  character(16) :: arg
  real(8) :: s
  call get_command_argument(1, arg); read(arg, *) n
  allocate(a(n, n)); a = 1; s = 0
  do k = 1, 100000000 / n
     s = s + along(a, n, mod(k, n) + 1)
  end do
  print *, s
contains
  function along(a, n, i) result(s)
    integer, intent(in) :: n, i
    real(8), intent(in) :: a(n, n)
    real(8) :: s
    integer :: j
    s = 0
    do j = 1, n
       s = s + a(i, j)
    end do
  end function
end program
END
    gfortran -O2 -g -fno-inline -o shape shape.f90
    "$ASSAY" run -q -o f.assay --force -- ./shape 900 >/dev/null
    run "$ASSAY" query --format csv f.assay "SELECT stride, stride_b, line_used_pct FROM
        v_loop_accesses WHERE function LIKE '%along%' AND access = 'load'"
    [[ $output == *"constant,7200,12.5"* ]]
    run "$ASSAY" query --format csv f.assay "SELECT DISTINCT variable, dimension_n FROM
        v_loop_accesses WHERE function LIKE '%along%' AND access = 'load'"
    equal a,2 "${lines[1]}"
}

@test "accesses: operands and objects have the names of the source" {
    run accesses column 700
    names() {
        "$ASSAY" query --format csv x.assay "SELECT DISTINCT variable, step_n FROM v_loop_accesses
            WHERE function LIKE '%$1%' ORDER BY variable" | tail -n +2
    }
    [ "$(names column)" = m,700 ]
    "$ASSAY" run -q -o x.assay --force -- ./walks vla 300 >/dev/null
    [ "$(names vla)" = m,300 ]
    run "$ASSAY" query --format csv x.assay "SELECT DISTINCT dimension_n FROM v_loop_accesses
        WHERE function = 'vla'"
    equal 2 "${lines[1]}"
    run "$ASSAY" query --format csv x.assay "SELECT DISTINCT variables FROM v_loop_objects
        WHERE function = 'vla'"
    [ "${lines[1]}" = m ]
    run "$ASSAY" show x.assay --view accesses
    [[ $output == *variable* ]]
}

@test "accesses: a finding names the array and its leading dimension" {
    cat >declared.c <<'END'
static double table[3000][1024], plain[3000 * 1000];
__attribute__((noinline)) double sum(int c, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += table[i][c];
    return s;
}
__attribute__((noinline)) double hop(const double *from, long ld, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += from[i * ld];
    return s;
}
int main(int argc, char **argv)
{
    double s = 0;
    (void)argv;
    for (int i = 0; i < 3000 * 1000; i++)
        plain[i] = table[i / 1000][i % 1000] = i;
    for (int k = 0; k < 30000; k++)
        s += argc > 1 ? hop(plain + k % 1000, 1000, 3000) : sum(k % 1000, 3000);
    return s == 1;
}
END
    gcc -O2 -g -o declared declared.c
    "$ASSAY" run -q -o d.assay --force -- ./declared >/dev/null
    run "$ASSAY" show d.assay --view findings
    [[ $output == *"along the array table by its leading dimension of 1,024"* ]]
    "$ASSAY" run -q -o d.assay --force -- ./declared pointer >/dev/null
    run "$ASSAY" show d.assay --view findings
    [[ $output == *"along the array from by ld = 1,000 elements"* ]]
}

# Vectors of 16 bytes at 8 bytes off a multiple of 16: one of four crosses a line.
# The stride is the product of two dimensions: no number of a leading dimension is the answer.
@test "accesses: padding of three dimensions names none of them" {
    cat >cube.c <<'END'
double cube[256][64][64];
__attribute__((noipa)) double planes(int j, int k)
{
    double s = 0;
    for (int i = 0; i < 256; i++)
        s += cube[i][j][k];
    return s;
}
int main(void)
{
    double s = 0;
    for (int n = 0; n < 1000000; n++)
        s += planes(n / 64 % 64, n % 64);
    return s > 1;
}
END
    gcc -O2 -g -o cube cube.c
    ASSAY_NO_MEASURE=1 "$ASSAY" run -q -o c.assay --force -- ./cube
    run "$ASSAY" query --format csv c.assay "SELECT variable, stride_b, dimension_n
        FROM v_loop_accesses WHERE function = 'planes'"
    equal cube,32768,3 "${lines[1]}"
    "$ASSAY" show c.assay --view findings >out
    grep -q 'inner dimension of the array longer' <(tr -s ' \n' '  ' <out)
    run grep -c 'in place of 4,096' out
    equal 0 "$output"
}

@test "accesses: the share of vectors that cross a cache line" {
    cat >offset.c <<'END'
#include <emmintrin.h>
#include <stdlib.h>
__attribute__((noinline, noipa)) void add(double *a, const double *b, long n)
{
    for (long i = 0; i < n; i += 2)
        _mm_storeu_pd(a + i, _mm_add_pd(_mm_loadu_pd(a + i), _mm_loadu_pd(b + i)));
}
int main(int argc, char **argv)
{
    double *a = aligned_alloc(64, 16 * 1024), *b = aligned_alloc(64, 16 * 1024);
    (void)argv;
    for (int i = 0; i < 2 * 1024; i++)
        a[i] = b[i] = i;
    for (int k = 0; k < 1200000; k++)
        add(a + (argc > 1), b + (argc > 1), 2000);
    return a[5] == 1;
}
END
    gcc -O2 -g -mno-avx -o offset offset.c
    share() {
        "$ASSAY" run -q -o o.assay --force -- ./offset "$@" >/dev/null
        "$ASSAY" query --format csv o.assay "SELECT split_pct FROM v_loop_accesses
            WHERE function = 'add' AND access = 'load' AND variable = 'b'" | tail -n +2
    }
    [ "$(share)" = 0 ]
    [ "$(share off)" = 25 ]
}
