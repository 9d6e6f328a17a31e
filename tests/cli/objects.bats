# SPDX-License-Identifier: Apache-2.0
# Sites of objects (--objects): the line that allocates the blocks that loops touch.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >sites.c <<'END'
#include <pthread.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define ALONE __attribute__((noinline, noipa))
#define N 30000L
ALONE double first(const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i];
    return s;
}
ALONE double second(const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i];
    return s;
}
ALONE double *filled(double *m, long n)
{
    for (long i = 0; i < n; i++)
        m[i] = i;
    return m;
}
static double two(void)
{
    double s = 0;
    double *a = filled(malloc(N * sizeof *a), N); /* site a */
    double *b = filled(calloc(2 * N, sizeof *b), 2 * N); /* site b */
    for (int i = 0; i < 20000; i++)
        s += first(a, N) + second(b, 2 * N);
    free(a);
    free(b);
    return s;
}
ALONE double *early(void)
{
    double *m = malloc(N * sizeof(double)); /* site early */
    m[0] = 1;
    return m;
}
ALONE double *late(void)
{
    double *m = malloc(N * sizeof(double)); /* site late */
    m[0] = 2;
    return m;
}
/* The allocator gives the same address again. */
static double again(void)
{
    double s = 0;
    for (int round = 0; round < 50; round++) {
        double *m = filled(early(), N);
        for (int i = 0; i < 300; i++)
            s += first(m, N);
        const uintptr_t at = (uintptr_t)m;
        free(m);
        double *k = filled(late(), N);
        for (int i = 0; i < 300; i++)
            s += second(k, N);
        if (round == 49)
            puts(at == (uintptr_t)k ? "same" : "other");
        free(k);
    }
    return s;
}
static void *work(void *unused)
{
    double *m = filled(malloc(N * sizeof *m), N), s = 0; /* site work */
    for (int i = 0; i < 12000; i++)
        s += first(m, N);
    free(m);
    return s > 0 ? unused : m;
}
static double threads(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
static double grow(void)
{
    double *m = NULL, s = 0;
    for (long n = 100; n < N; n *= 2)
        m = realloc(m, n * sizeof *m); /* site grow */
    m = realloc(m, N * sizeof *m); /* site grown */
    filled(m, N);
    for (int i = 0; i < 20000; i++)
        s += first(m, N);
    free(m);
    return s;
}
static double small(void)
{
    double s = 0;
    double *m = filled(malloc(N * sizeof *m), N); /* site small */
    for (long i = 0; i < 3000000; i++) {
        char *p = malloc(16 + i % 1000);
        p[0] = (char)i;
        p = realloc(p, 2000);
        s += p[0];
        free(p);
    }
    for (int i = 0; i < 15000; i++)
        s += first(m, N);
    return s;
}
static double forks(void)
{
    double s = 0, *m = filled(malloc(N * sizeof *m), N); /* site forks */
    if (fork() == 0) {
        for (int i = 0; i < 20000; i++)
            s += first(m, N);
        printf("%g\n", s);
        exit(0);
    }
    wait(NULL);
    return s;
}
static double maps(void)
{
    double s = 0, *m = mmap(NULL, N * sizeof *m, PROT_READ | PROT_WRITE, /* site maps */
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    filled(m, N);
    for (int i = 0; i < 20000; i++)
        s += first(m, N);
    munmap(m, N * sizeof *m);
    return s;
}
static double aligned(void)
{
    void *p = NULL;
    double s = 0, *m = filled(aligned_alloc(64, 240064), N); /* site aligned */
    if (posix_memalign(&p, 4096, 240000)) /* site posix */
        return 1;
    double *k = filled(p, N);
    for (int i = 0; i < 20000; i++)
        s += first(m, N) + second(k, N);
    return s;
}
ALONE void *block_of(size_t n)
{
    void *p = malloc(n); /* site block_of */
    return p ? p : (void *)(uintptr_t)!puts("no memory");
}
ALONE double *numbers(long n)
{
    return filled(block_of(n * sizeof(double)), n); /* site numbers */
}
/* Two functions that allocate for others. */
static double others(void)
{
    double s = 0;
    double *a = numbers(N); /* site one */
    double *b = numbers(2 * N); /* site other */
    for (int i = 0; i < 15000; i++)
        s += first(a, N) + second(b, 2 * N);
    return s;
}
ALONE void fields(double **x, double **y)
{
    *x = filled(malloc(N * sizeof **x), N); /* site x */
    *y = filled(malloc(N * sizeof **y), N); /* site y */
}
/* Keeps its array to itself: its line is the site, whatever the caller. */
ALONE double inside(double s)
{
    double *m = filled(malloc(N * sizeof *m), N); /* site inside */
    for (int i = 0; i < 10000; i++)
        s += first(m, N);
    free(m);
    return s;
}
static double alone(void)
{
    double s = inside(1);
    return s + inside(s);
}
/* Samples fall behind the steps of both pointers. */
ALONE double spread(const double *row, const double *column, const int *index, long n, long ld)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += row[i] * column[i * ld] + row[index[i]];
    return s;
}
static double walks(void)
{
    double s = 0;
    double *row = calloc(N, sizeof *row); /* site row */
    double *column = calloc(3 * N, sizeof *column); /* site column */
    int *index = calloc(N, sizeof *index); /* site index */
    for (int i = 0; i < 8000; i++)
        s += spread(row, column, index, N, 3);
    return s;
}
/* Each line of fields() is an array of its own, whatever the caller. */
static double records(void)
{
    double s = 0, *x[2], *y[2];
    fields(&x[0], &y[0]);
    fields(&x[1], &y[1]);
    for (int i = 0; i < 10000; i++)
        s += first(x[0], N) + first(x[1], N) + second(y[0], N) + second(y[1], N);
    return s;
}
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } all[] = {{"others", others},     {"records", records}, {"alone", alone}, {"walks", walks},
               {"two", two},     {"again", again}, {"threads", threads}, {"grow", grow},
               {"small", small}, {"forks", forks}, {"maps", maps},       {"aligned", aligned}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && !strcmp(argv[1], all[i].name))
            printf("%g\n", all[i].run());
    return 0;
}
END
    sed -i 's/#include <stdio.h>/#include <stdint.h>\n#include <stdio.h>/' sites.c
    gcc -O2 -g -fno-tree-vectorize -pthread -o sites sites.c
    gcc -O2 -g -fno-tree-vectorize -pthread -static -o sites-static sites.c
    cat >own.c <<'END'
#include <stddef.h>
#include <string.h>
static _Alignas(64) char arena[256 << 20];
static size_t used;
static size_t *header(void *p) { return (size_t *)((char *)p - 64); }
void *malloc(size_t n)
{
    char *p = arena + used + 64;
    n = (n + 63) / 64 * 64;
    if (used + n + 64 > sizeof arena)
        return NULL;
    used += n + 64;
    *header(p) = n;
    return p;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t b) { return malloc(n * b); }
void *realloc(void *p, size_t n)
{
    void *to = malloc(n);
    if (to && p)
        memcpy(to, p, n < *header(p) ? n : *header(p));
    return to;
}
END
    gcc -O2 -g -fno-builtin -fno-tree-vectorize -pthread -o sites-own sites.c own.c
}

setup() {
    load common.bash
}

# at NAME: the place of a site in sites.c
at() {
    echo "sites.c:$(grep -n "/\* site $1 \*/" sites.c | cut -d: -f1)"
}

record() {
    "$ASSAY" profile --objects -q -o x.assay --force -- "$@"
}

# SITE,NUMBER of the objects of a function's loops
touched() {
    "$ASSAY" query --format csv x.assay "SELECT ifnull(site, '-'), object_n FROM v_loop_objects
        WHERE function = '$1' AND kind IN ('block', 'mapping') ORDER BY site" | tail -n +2
}

flags() {
    "$ASSAY" query --format csv x.assay \
        "SELECT name FROM flag WHERE name LIKE 'objects%' ORDER BY name" | tail -n +2
}

@test "objects: two arrays have the lines that allocate them" {
    record ./sites two >/dev/null
    equal "$(at a),1" "$(touched first)"
    equal "$(at b),1" "$(touched second)"
    "$ASSAY" show x.assay --view objects >out
    grep "block of 234 KiB from $(at a)" out
    grep "block of 469 KiB from $(at b)" out
    "$ASSAY" show x.assay --view accesses | grep "from $(at a)"
    "$ASSAY" show x.assay --view object_loops | grep "from $(at b)"
    equal "" "$(flags)"
    run "$ASSAY" query --format csv x.assay \
        "SELECT site_function FROM v_loop_objects WHERE function = 'first'"
    equal two "${lines[1]}"
}

@test "objects: so it is with timers in the program" {
    "$ASSAY" profile --objects --event timer -q -o x.assay --force -- ./sites two >/dev/null
    equal "$(at a),1" "$(touched first)"
    equal "$(at b),1" "$(touched second)"
}

@test "objects: a function that allocates for several callers is not the site" {
    record ./sites others >/dev/null
    equal "$(at one),1" "$(touched first)"
    equal "$(at other),1" "$(touched second)"
}

@test "objects: a function that allocates several arrays is the site of each" {
    record ./sites records >/dev/null
    equal "$(at x),2" "$(touched first)"
    equal "$(at y),2" "$(touched second)"
}

@test "objects: operands that no sample stands before have objects, too" {
    record ./sites walks >/dev/null
    run "$ASSAY" query --format csv x.assay "SELECT DISTINCT variable, site FROM v_loop_accesses
        WHERE function = 'spread' ORDER BY 1"
    equal "column,$(at column)" "${lines[1]}"
    equal "index,$(at index)" "${lines[2]}"
    equal "row,$(at row)" "${lines[3]}"
    equal 4 "${#lines[@]}"
}

@test "objects: a function that keeps its block is the site, whatever calls it" {
    record ./sites alone >/dev/null
    like "$(at inside),[12]" "$(touched first)"
}

@test "objects: of one address the block at the time of the sample counts" {
    equal same "$(record ./sites again | head -1)"
    like "$(at early),[12]" "$(touched first)"
    like "$(at late),[12]" "$(touched second)"
}

@test "objects: blocks of one line in two threads are one object" {
    record ./sites threads >/dev/null
    equal "$(at work),2" "$(touched first)"
}

@test "objects: a block that grew has the line of the last growth" {
    record ./sites grow >/dev/null
    equal "$(at grown),1" "$(touched first)"
}

@test "objects: small blocks have no rows and take no room" {
    record ./sites small >/dev/null
    equal "$(at small),1" "$(touched first)"
    equal "" "$(flags)"
    equal "$(at small)" "$("$ASSAY" query --format csv x.assay \
        "SELECT DISTINCT site FROM v_object_loops WHERE site IS NOT NULL" | tail -n +2)"
}

@test "objects: the child of a fork has the blocks of its parent" {
    record ./sites forks >/dev/null
    equal "$(at forks),1" "$(touched first)"
}

@test "objects: programs that a script starts have their own sites" {
    record sh -c './sites two; ./sites two; true' >/dev/null
    equal "$(at a),1" "$(touched first)"
    equal "$(at b),1" "$(touched second)"
}

@test "objects: mappings and aligned blocks have sites" {
    record ./sites maps >/dev/null
    equal "$(at maps),1" "$(touched first)"
    record ./sites aligned >/dev/null
    equal "$(at aligned),1" "$(touched first)"
    equal "$(at posix),1" "$(touched second)"
}

@test "objects: of C++ the line of the user counts, not that of a header" {
    command -v g++ >/dev/null || skip "no g++ here"
    cat >headers.cc <<'END'
#include <cstdio>
#include <memory>
#include <vector>
#define ALONE __attribute__((noinline, noipa))
ALONE double walk(const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i];
    return s;
}
int main()
{
    const long n = 30000;
    double s = 0;
    std::vector<double> v(n); // site vector
    double *p = new double[n](); // site new
    auto u = std::make_unique<double[]>(n); // site unique
    std::vector<double> g;
    for (long i = 0; i < n; i++)
        g.push_back(i); // site push
    for (int i = 0; i < 10000; i++)
        s += walk(v.data(), n) + walk(p, n) + walk(u.get(), n) + walk(g.data(), n);
    printf("%g\n", s);
    delete[] p;
}
END
    sites=$(for name in vector new unique push; do
        echo "headers.cc:$(grep -n "// site $name" headers.cc | cut -d: -f1)"
    done)
    for level in -O0 -O2; do
        g++ $level -g -fno-tree-vectorize -o headers headers.cc
        record ./headers >/dev/null
        equal "$sites" "$("$ASSAY" query --format csv x.assay "SELECT DISTINCT site
            FROM v_loop_objects WHERE function LIKE 'walk%' AND kind = 'block' ORDER BY site" |
            tail -n +2)"
    done
}

@test "objects: of Fortran an ALLOCATE has its line" {
    command -v gfortran >/dev/null || skip "no gfortran here"
    cat >arrays.f90 <<'END'
program arrays
  implicit none
  integer, parameter :: n = 30000
  real(8), allocatable :: a(:), b(:)
  real(8) :: s
  integer :: i
  allocate(a(n))
  allocate(b(n))
  a = 1
  b = 2
  s = 0
  do i = 1, 20000
     call add(a, b, s)
  end do
  print *, s
contains
  subroutine add(x, y, t)
    real(8), intent(in) :: x(:), y(:)
    real(8), intent(inout) :: t
    integer :: j
    do j = 1, size(x)
       t = t + x(j) * y(j)
    end do
  end subroutine
end program
END
    gfortran -O1 -g -o arrays arrays.f90
    record ./arrays >/dev/null
    equal "arrays.f90:7
arrays.f90:8" "$("$ASSAY" query --format csv x.assay "SELECT DISTINCT site FROM v_loop_objects
        WHERE kind = 'block' AND line = 21 ORDER BY site" | tail -n +2)"
}

@test "objects: a static program and an allocator of its own are said" {
    record ./sites-static two >/dev/null
    equal objects_unknown "$(flags)"
    record ./sites-own two >/dev/null
    equal objects_own_allocator "$(flags)"
    never sh -c '"$0" show x.assay --view objects | grep "from sites.c"' "$ASSAY"
}

@test "objects: without the option there is no site" {
    "$ASSAY" profile -q -o x.assay --force -- ./sites two >/dev/null
    equal "-,1" "$(touched first)"
}

@test "objects: a process that runs already is refused" {
    run "$ASSAY" profile --objects --pid $$
    equal 2 "$status"
    like "*--objects: not possible with --pid*; run the program with assay*" "$output"
}
