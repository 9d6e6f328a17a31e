/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of libraries and symbols as Debian, Intel, NVIDIA and Python wheels name them. Also
 * categories that absorb others, the user's own file before the built-in rules, and its mistakes by
 * line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "profile/category.h"
#include "sample/sample.h"

static const char *name_of(const struct as_categories *all, unsigned kind, const char *path,
                           const char *symbol)
{
    struct as_category_module module;
    as_category_module(all, kind, path, &module);
    return as_category_at(all, as_category_of_symbol(all, &module, symbol))->name;
}

static unsigned find(const struct as_categories *all, const char *name)
{
    const int found = as_category_find(all, name);
    if (found < 0)
        fail_msg("no category %s", name);
    return (unsigned)found;
}

static const struct {
    unsigned kind;
    const char *path, *symbol, *category;
} categories_of[] = {
    {AS_MODULE_FILE, "/opt/me/solver", "main", "application"},
    {AS_MODULE_FILE, "/opt/me/solver", "", "application"},
    {AS_MODULE_FILE, "/opt/me/libkernels.so", "axpy", "application"},
    {AS_MODULE_FILE, "/usr/lib/x86_64-linux-gnu/liblammps.so.0", "_ZN9LAMMPS_NS4PairE",
     "application"},
    {AS_MODULE_FILE, "/usr/lib/libmpi.so.40.30.4", "PMPI_Waitall", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libopen-pal.so.40.30.2", "opal_progress", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/openmpi/mca_btl_vader.so", "", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libmpich.so.12.2.1", "MPIDI_progress", "mpi"},
    {AS_MODULE_FILE, "/opt/me/static", "PMPI_Send", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libucp.so.0", "ucp_worker_progress", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libgomp.so.1.0.0", "", "openmp"},
    {AS_MODULE_FILE, "/usr/lib/llvm-14/lib/libomp.so.5", "__kmp_fork_call", "openmp"},
    {AS_MODULE_FILE, "/opt/intel/libiomp5.so", "kmp_wait", "openmp"},
    {AS_MODULE_FILE, "/opt/me/solver", "main._omp_fn.0", "application"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "pthread_mutex_lock", "pthread"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "start_thread", "pthread"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "__memcpy_avx_unaligned_erms", "string"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "__strlen_avx2", "string"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "_int_malloc", "memory"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "munmap", "memory"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "read", "io"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "__vfprintf_internal", "io"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "qsort", "runtime"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "", "runtime"},
    {AS_MODULE_FILE, "/usr/lib/libm.so.6", "__sin_fma", "math"},
    {AS_MODULE_FILE, "/usr/lib/libopenblas.so.0", "dgemm_kernel_HASWELL", "math"},
    {AS_MODULE_FILE, "/opt/intel/libmkl_avx512.so.2", "", "math"},
    {AS_MODULE_FILE, "/usr/lib/libfftw3.so.3", "fftw_execute", "math"},
    {AS_MODULE_FILE, "/usr/lib/libcuda.so.535.1", "", "gpu"},
    {AS_MODULE_FILE, "/opt/rocm/lib/libamdhip64.so.5", "", "gpu"},
    {AS_MODULE_FILE, "/usr/bin/python3.11", "_PyEval_EvalFrameDefault", "python"},
    {AS_MODULE_FILE, "/usr/lib/libpython3.11.so.1.0", "", "python"},
    {AS_MODULE_FILE, "/x/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "",
     "python_extension"},
    {AS_MODULE_FILE, "/usr/lib/libstdc++.so.6", "__cxa_throw", "runtime"},
    {AS_MODULE_FILE, "/usr/lib/libstdc++.so.6", "_Znwm", "memory"},
    {AS_MODULE_FILE, "/usr/lib/libgfortran.so.5", "_gfortran_st_write", "io"},
    {AS_MODULE_FILE, "/lib64/ld-linux-x86-64.so.2", "do_lookup_x", "loader"},
    {AS_MODULE_FILE, "/usr/lib/libhdf5_openmpi.so.103", "H5Dwrite", "io"},
    {AS_MODULE_KERNEL, "[kernel]", "copy_page", "kernel"},
    {AS_MODULE_KERNEL, "[kernel]", "memcpy", "kernel"},
    {AS_MODULE_VDSO, "[vdso]", "__vdso_clock_gettime", "kernel"},
    {AS_MODULE_ANON, "//anon", "py::f", "python"},
    {AS_MODULE_ANON, "//anon", "f", "application"},
    {AS_MODULE_UNKNOWN, "", "", "other"},
    /* Statically linked: by symbol, and only by names that other programs do not use. */
    {AS_MODULE_FILE, "/opt/me/static", "MPI_Allreduce", "mpi"},
    {AS_MODULE_FILE, "/opt/me/static", "mpi_allreduce_", "mpi"},
    {AS_MODULE_FILE, "/opt/me/static", "mpi_exchange_halo_", "application"},
    {AS_MODULE_FILE, "/opt/me/static", "MPI_Exchange_halo", "application"},
    {AS_MODULE_FILE, "/opt/me/static", "gomp_team_barrier_wait_end", "openmp"},
    {AS_MODULE_FILE, "/opt/me/static", "dgemm_", "math"},
    {AS_MODULE_FILE, "/opt/me/static", "dgemm", "application"},
    {AS_MODULE_FILE, "/opt/me/static", "cblas_dgemm", "math"},
    {AS_MODULE_FILE, "/opt/me/static", "pdgetrf_", "math"},
    {AS_MODULE_FILE, "/opt/me/static", "__sin_fma", "math"},
    {AS_MODULE_FILE, "/opt/me/static", "_int_malloc", "memory"},
    {AS_MODULE_FILE, "/opt/me/static", "__memmove_avx_unaligned_erms", "string"},
    {AS_MODULE_FILE, "/opt/me/static", "read", "application"},
    {AS_MODULE_FILE, "/opt/me/static", "time", "application"},
    {AS_MODULE_FILE, "/opt/me/static", "fwrite", "io"},
    {AS_MODULE_FILE, "/opt/me/static", "_gfortran_matmul_r8", "math"},
    {AS_MODULE_FILE, "/opt/me/solver", "memcpy@plt", "string"},
    {AS_MODULE_FILE, "/opt/me/solver", "malloc_consolidate.part.0", "memory"},
    {AS_MODULE_FILE, "/opt/me/solver", "_int_malloc.constprop.0.cold", "memory"},
    {AS_MODULE_FILE, "/opt/me/solver", ".omp_outlined.", "application"},
    {AS_MODULE_FILE, "/opt/me/solver", "_ZNSt6vectorIdSaIdEE9push_backEOd", "application"},
    {AS_MODULE_FILE, "/opt/me/solver (deleted)", "main", "application"},
    /* A library that has a category is closed: its own copies of others' names do not count. */
    {AS_MODULE_FILE, "/usr/lib/libmpich.so.12.2.1", "free", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libmpi.so.40 (deleted)", "memcpy@plt", "mpi"},
    {AS_MODULE_FILE,
     "/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.cpython-311-"
     "x86_64-linux-gnu.so",
     "DOUBLE_add_AVX512F", "python_extension"},
    {AS_MODULE_FILE,
     "/opt/me/.venv/lib/python3.11/site-packages/numpy.libs/"
     "libopenblas64_p-r0-0cf96a72.3.23.dev.so",
     "dgemm_kernel_ZEN", "math"},
    {AS_MODULE_FILE,
     "/opt/me/.venv/lib/python3.11/site-packages/torch/lib/"
     "libgomp-a34b3233.so.1",
     "gomp_barrier_wait", "openmp"},
    {AS_MODULE_FILE, "/opt/me/.venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so",
     "at_native", "python_extension"},
    {AS_MODULE_FILE, "/usr/lib/libgromacs.so.7", "nbnxn_kernel", "application"},
    {AS_MODULE_FILE, "/lib/x86_64-linux-gnu/libc-2.31.so", "memset", "string"},
    {AS_MODULE_FILE, "/lib/x86_64-linux-gnu/libm-2.31.so", "exp", "math"},
    {AS_MODULE_FILE, "/lib/x86_64-linux-gnu/libpthread-2.31.so", "pthread_mutex_lock", "pthread"},
    {AS_MODULE_FILE, "/lib/x86_64-linux-gnu/libpthread-2.31.so", "read", "io"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "clock_gettime", "kernel"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "dlopen", "loader"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "__libc_start_main", "runtime"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "snprintf", "string"},
    {AS_MODULE_FILE, "/usr/lib/libc.so.6", "qsort_r", "runtime"},
    {AS_MODULE_FILE, "/usr/lib/libstdc++.so.6", "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openE",
     "io"},
    {AS_MODULE_FILE, "/usr/lib/libtbb.so.12", "", "pthread"},
    {AS_MODULE_FILE, "/usr/lib/libgromacs.so.7", "_Z15tMPI_Event_waitP12tMPI_Event_t", "pthread"},
    {AS_MODULE_FILE, "/usr/lib/libgromacs.so.7", "_Z9gmx_bcastmPvP11tMPI_Comm_t", "application"},
    {AS_MODULE_FILE, "/usr/lib/libucs.so.0", "ucs_mpool_get", "mpi"},
    {AS_MODULE_FILE, "/usr/lib/libz.so.1", "deflate", "compression"},
    {AS_MODULE_FILE, "/usr/bin/mpirun", "", "mpi"},
    {AS_MODULE_FILE, "", "", "application"},
    {AS_MODULE_KERNEL, "[kernel.kallsyms]", "", "kernel"},
};

static void test_of(void **state)
{
    struct as_categories *all;
    (void)state;
    assert_int_equal(as_categories_read(NULL, &all, NULL), 0);
    for (size_t i = 0; i < sizeof categories_of / sizeof *categories_of; i++) {
        const char *name =
            name_of(all, categories_of[i].kind, categories_of[i].path, categories_of[i].symbol);
        if (strcmp(name, categories_of[i].category) != 0)
            fail_msg("%s %s: %s, not %s", categories_of[i].path, categories_of[i].symbol, name,
                     categories_of[i].category);
    }
    as_categories_free(&all);
}

static void test_in(void **state)
{
    static const struct {
        const char *own, *caller, *result;
    } expected[] = {
        {"string", "mpi", "mpi"},
        {"kernel", "mpi", "mpi"},
        {"pthread", "openmp", "openmp"},
        {"memory", "mpi", "mpi"},
        {"io", "mpi", "mpi"},
        {"string", "application", "string"},
        {"kernel", "application", "kernel"},
        {"kernel", "io", "io"},
        {"kernel", "memory", "memory"},
        {"kernel", "pthread", "pthread"},
        {"application", "openmp", "application"},
        {"application", "mpi", "application"},
        {"application", "pthread", "application"},
        {"math", "application", "math"},
        {"mpi", "openmp", "mpi"},
        {"openmp", "math", "openmp"},
        {"string", "python", "python"},
        {"python_extension", "python", "python_extension"},
        {"runtime", "python", "python"},
        {"kernel", "string", "kernel"},
        {"kernel", "openmp", "openmp"},
        {"gpu", "mpi", "mpi"},
        {"other", "mpi", "mpi"},
        {"math", "openmp", "math"},
        {"io", "openmp", "io"},
        {"openmp", "pthread", "openmp"},
        {"math", "pthread", "math"},
        {"io", "string", "string"},
        {"compression", "io", "compression"},
        {"compression", "application", "compression"},
        {"compression", "mpi", "mpi"},
        {"memory", "compression", "compression"},
        {"io", "python", "io"},
        {"math", "python_extension", "math"},
        {"memory", "python_extension", "python_extension"},
        {"application", "runtime", "application"},
        {"application", "python_extension", "application"},
        {"memory", "runtime", "memory"},
        {"other", "io", "io"},
        {"mpi", "io", "mpi"},
        {"kernel", "gpu", "gpu"},
        {"mpi", "measurement", "mpi"},
    };
    struct as_categories *all;
    (void)state;
    assert_int_equal(as_categories_read(NULL, &all, NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const unsigned result =
            as_category_in(all, find(all, expected[i].own), find(all, expected[i].caller));
        if (strcmp(as_category_at(all, result)->name, expected[i].result) != 0)
            fail_msg("%s in %s: %s, not %s", expected[i].own, expected[i].caller,
                     as_category_at(all, result)->name, expected[i].result);
    }
    as_categories_free(&all);
}

static char *write_file(const char *text)
{
    char *path = strdup("/tmp/assay-categories-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void test_user_file(void **state)
{
    struct as_categories *all;
    struct as_error err = {0};
    char *path = write_file("# mine\r\n\tcategory solver  # the time loop\r\ntitle  The solver\n"
                            "symbol solve_* dgemm_kernel* Grid::sweep geo_mod::*\n"
                            "symbol qsort in lib*.so*\n\n"
                            "category mesh\nparent none\nlibrary mesh\nabsorbs string memory\n"
                            "category inner\nparent solver\nsymbol solve_inner solve_[bd]*\n"
                            "category alone\nmodule /opt/alone/*\nopen module */half/*\n"
                            "category math\ntitle Sums # C#\n");
    (void)state;
    assert_int_equal(as_categories_read(path, &all, &err), 0);
    static const struct {
        const char *path, *symbol, *category;
    } expected[] = {
        {"/x/app", "solve_all", "solver"},
        {"/x/app", "solve_all.part.3", "solver"},
        {"/x/app", "resolve", "application"},
        {"/x/app", "solve_inner", "inner"}, /* a name before a pattern */
        {"/x/app", "solve_b1", "inner"},    /* more of its own letters */
        {"/x/app", "solve_c1", "solver"},
        {"/x/app", "_ZN4Grid5sweepEi", "solver"},
        {"/x/app", "_ZN4Grid6sweepsEi", "application"},
        {"/x/app", "__geo_mod_MOD_area", "solver"},
        {"/x/libopenblas.so.0", "dgemm_kernel_ZEN", "solver"},
        {"/x/libc.so.6", "qsort", "solver"},
        {"/x/app", "qsort", "runtime"},
        {"/x/libmesh.so.1", "f", "mesh"},
        {"/x/libmesh.so.1", "malloc", "mesh"},
        {"/x/libmesher.so.1", "f", "application"},
        {"/opt/alone/app", "malloc", "alone"},
        {"/opt/half/app", "malloc", "memory"},
        {"/opt/half/app", "f", "alone"},
        {"/opt/alone/libmpi.so.40", "MPI_Send", "alone"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *name = name_of(all, AS_MODULE_FILE, expected[i].path, expected[i].symbol);
        if (strcmp(name, expected[i].category) != 0)
            fail_msg("%s %s: %s, not %s", expected[i].path, expected[i].symbol, name,
                     expected[i].category);
    }
    const unsigned solver = find(all, "solver"), mesh = find(all, "mesh");
    const unsigned inner = find(all, "inner"), mpi = find(all, "mpi");
    assert_string_equal(as_category_at(all, solver)->title, "The solver");
    assert_int_equal(as_category_at(all, solver)->parent, AS_CATEGORY_APPLICATION);
    assert_int_equal(as_category_at(all, mesh)->parent, -1);
    assert_int_equal(as_category_at(all, inner)->parent, solver);
    assert_string_equal(as_category_at(all, mesh)->title, "mesh");
    assert_string_equal(as_category_at(all, mesh)->meaning, "");
    assert_string_equal(as_category_at(all, find(all, "math"))->title, "Sums");
    assert_int_equal(as_category_in(all, find(all, "string"), mesh), mesh);
    assert_true(as_category_at(all, mesh)->absorbs);
    assert_false(as_category_at(all, solver)->absorbs);
    /* Parts of the application are called back, never absorbed. */
    assert_int_equal(as_category_in(all, inner, mpi), inner);
    assert_int_equal(as_category_in(all, mesh, mpi), mpi);
    as_categories_free(&all);
    unlink(path);
    free(path);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text, *says;
    } expected[] = {
        {"library x\n", ":1: 'library': belongs to no category; begin with"},
        {"category a\n\nmodul x\n", ":3: 'modul': unknown statement; use category, title"},
        {"category A b\n", ":1: 'A b': invalid name of a category"},
        {"category\n", ":1: 'category': its value is missing"},
        {"category a\nlibrary # none\n", ":2: 'library': its value is missing"},
        {"category a\nopen\n", ":2: 'open': 'library' or 'module' is missing after it"},
        {"category a\nopen symbol x\n", ":2: 'open symbol': only 'library' and 'module'"},
        {"category a\nabsorbs b c\n", ":2: 'absorbs b': no such category; define it"},
        {"category a\nparent b\n", ":2: 'parent b': no such category above 'a'"},
        {"category a\nparent a\n", ":2: 'parent a': no such category above 'a'"},
        {"category a\nlibrary /x/libx.so\n", ":2: '/x/libx.so': is a path"},
        {"category a\nsymbol in x\n", ":2: 'in': the symbols are missing"},
        {"category a\nsymbol x in\n", ":2: 'in': the module is missing"},
        {"# a\nELF\n", ":2: 'ELF': unknown statement"},
    };
    struct as_categories *all;
    struct as_error err;
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *path = write_file(expected[i].text);
        assert_int_equal(as_categories_read(path, &all, &err), AS_ERR_USAGE);
        assert_null(all);
        if (!strstr(err.text, expected[i].says) || strncmp(err.text, path, strlen(path)) != 0)
            fail_msg("'%s' is said as: %s", expected[i].text, err.text);
        unlink(path);
        free(path);
    }
    assert_int_equal(as_categories_read("/nowhere/at-all", &all, &err), AS_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nowhere/at-all: the file of categories is missing"));
    assert_int_equal(as_categories_read("/tmp", &all, &err), AS_ERR_NOT_REGULAR);
    assert_int_equal(as_categories_read("/dev/zero", &all, &err), AS_ERR_NOT_REGULAR);
}

static void test_out_of_memory(void **state)
{
    int rc = AS_ERR_NOMEM;
    (void)state;
    for (int64_t after = 0; rc != 0; after++) {
        struct as_categories *all;
        struct as_error err;
        as_alloc_fail_after(after);
        rc = as_categories_read(NULL, &all, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_true((rc == 0) == (all != NULL));
        as_categories_free(&all);
    }
}

/* Every category of the house can be shown, and the first is the one for all the rest. */
static void test_house(void **state)
{
    struct as_categories *all;
    (void)state;
    assert_int_equal(as_categories_read(NULL, &all, NULL), 0);
    assert_int_equal(as_category_find(all, "application"), AS_CATEGORY_APPLICATION);
    assert_int_equal(as_category_find(all, "nothing"), -1);
    for (size_t i = 0; i < as_categories_n(all); i++) {
        const struct as_category *it = as_category_at(all, i);
        assert_true(it->title[0] && strcmp(it->title, it->name) != 0);
        assert_true(strlen(it->meaning) > 20);
        assert_true(it->parent < (int)i);
    }
    as_categories_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_user_file),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_house),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
