/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories: names of libraries and symbols as Debian, Intel and NVIDIA ship them; who absorbs
 * whom; the user's own file before the built-in one; its mistakes told by line.
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

#include <assay/sample.h>

#include "profile/category.h"

static const char *name_of(const struct as_categories *all, unsigned kind, const char *path,
                           const char *symbol)
{
    return as_category_at(all, as_category_of(all, kind, path, symbol))->name;
}

static void test_of(void **state)
{
    static const struct {
        unsigned kind;
        const char *path, *symbol, *category;
    } expected[] = {
        {ASSAY_MODULE_FILE, "/opt/me/solver", "main", "application"},
        {ASSAY_MODULE_FILE, "/opt/me/solver", "", "application"},
        {ASSAY_MODULE_FILE, "/opt/me/libkernels.so", "axpy", "application"},
        {ASSAY_MODULE_FILE, "/usr/lib/x86_64-linux-gnu/liblammps.so.0", "_ZN9LAMMPS_NS4PairE",
         "application"},
        {ASSAY_MODULE_FILE, "/usr/lib/libmpi.so.40.30.4", "PMPI_Waitall", "mpi"},
        {ASSAY_MODULE_FILE, "/usr/lib/libopen-pal.so.40.30.2", "opal_progress", "mpi"},
        {ASSAY_MODULE_FILE, "/usr/lib/openmpi/mca_btl_vader.so", "", "mpi"},
        {ASSAY_MODULE_FILE, "/usr/lib/libmpich.so.12.2.1", "MPIDI_progress", "mpi"},
        {ASSAY_MODULE_FILE, "/opt/me/static", "PMPI_Send", "mpi"},
        {ASSAY_MODULE_FILE, "/usr/lib/libucp.so.0", "ucp_worker_progress", "mpi"},
        {ASSAY_MODULE_FILE, "/usr/lib/libgomp.so.1.0.0", "", "openmp"},
        {ASSAY_MODULE_FILE, "/usr/lib/llvm-14/lib/libomp.so.5", "__kmp_fork_call", "openmp"},
        {ASSAY_MODULE_FILE, "/opt/intel/libiomp5.so", "kmp_wait", "openmp"},
        {ASSAY_MODULE_FILE, "/opt/me/solver", "main._omp_fn.0", "application"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "pthread_mutex_lock", "pthread"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "start_thread", "pthread"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "__memcpy_avx_unaligned_erms", "string"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "__strlen_avx2", "string"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "_int_malloc", "memory"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "munmap", "memory"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "read", "io"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "__vfprintf_internal", "io"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "qsort", "other"},
        {ASSAY_MODULE_FILE, "/usr/lib/libc.so.6", "", "other"},
        {ASSAY_MODULE_FILE, "/usr/lib/libm.so.6", "__sin_fma", "math"},
        {ASSAY_MODULE_FILE, "/usr/lib/libopenblas.so.0", "dgemm_kernel_HASWELL", "math"},
        {ASSAY_MODULE_FILE, "/opt/intel/libmkl_avx512.so.2", "", "math"},
        {ASSAY_MODULE_FILE, "/usr/lib/libfftw3.so.3", "fftw_execute", "math"},
        {ASSAY_MODULE_FILE, "/usr/lib/libcuda.so.535.1", "", "gpu"},
        {ASSAY_MODULE_FILE, "/opt/rocm/lib/libamdhip64.so.5", "", "gpu"},
        {ASSAY_MODULE_FILE, "/usr/bin/python3.11", "_PyEval_EvalFrameDefault", "python"},
        {ASSAY_MODULE_FILE, "/usr/lib/libpython3.11.so.1.0", "", "python"},
        {ASSAY_MODULE_FILE, "/x/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "",
         "python_extension"},
        {ASSAY_MODULE_FILE, "/usr/lib/libstdc++.so.6", "__cxa_throw", "runtime"},
        {ASSAY_MODULE_FILE, "/usr/lib/libstdc++.so.6", "_Znwm", "memory"},
        {ASSAY_MODULE_FILE, "/usr/lib/libgfortran.so.5", "_gfortran_st_write", "io"},
        {ASSAY_MODULE_FILE, "/lib64/ld-linux-x86-64.so.2", "do_lookup_x", "loader"},
        {ASSAY_MODULE_FILE, "/usr/lib/libhdf5_openmpi.so.103", "H5Dwrite", "io"},
        {ASSAY_MODULE_KERNEL, "[kernel]", "copy_page", "kernel"},
        {ASSAY_MODULE_KERNEL, "[kernel]", "memcpy", "kernel"},
        {ASSAY_MODULE_VDSO, "[vdso]", "__vdso_clock_gettime", "kernel"},
        {ASSAY_MODULE_ANON, "//anon", "py::f", "application"},
        {ASSAY_MODULE_UNKNOWN, "", "", "other"},
    };
    struct as_categories *all;
    (void)state;
    assert_int_equal(as_categories_read(NULL, &all, NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *name = name_of(all, expected[i].kind, expected[i].path, expected[i].symbol);
        if (strcmp(name, expected[i].category) != 0)
            fail_msg("%s %s: %s, not %s", expected[i].path, expected[i].symbol, name,
                     expected[i].category);
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
    };
    struct as_categories *all;
    (void)state;
    assert_int_equal(as_categories_read(NULL, &all, NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const unsigned result = as_category_in(all, as_category_named(all, expected[i].own),
                                               as_category_named(all, expected[i].caller));
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
    struct assay_error err = {0};
    char *path =
        write_file("# mine\n[solver]\ntitle = The solver\nsymbol = solve_* dgemm_kernel*\n"
                   "symbol in lib*.so* = qsort\n\n[mesh]\nmodule = libmesh.so*\nabsorbs = yes\n"
                   "[math]\ntitle = Sums\n");
    (void)state;
    assert_int_equal(as_categories_read(path, &all, &err), 0);
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/app", "solve_all"), "solver");
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/app", "resolve"), "application");
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/libopenblas.so.0", "dgemm_kernel_ZEN"),
                        "solver");
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/libc.so.6", "qsort"), "solver");
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/app", "qsort"), "application");
    assert_string_equal(name_of(all, ASSAY_MODULE_FILE, "/x/libmesh.so.1", "f"), "mesh");
    assert_string_equal(as_category_at(all, as_category_named(all, "solver"))->title, "The solver");
    assert_string_equal(as_category_at(all, as_category_named(all, "mesh"))->title, "mesh");
    assert_string_equal(as_category_at(all, as_category_named(all, "math"))->title, "Sums");
    assert_int_equal(
        as_category_in(all, as_category_named(all, "string"), as_category_named(all, "mesh")),
        as_category_named(all, "mesh"));
    as_categories_free(&all);
    unlink(path);
    free(path);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text, *says;
    } expected[] = {
        {"module = libx.so\n", ":1: 'module': a [category] must stand before"},
        {"[a]\n\nmodul = x\n", ":3: 'modul': is none of"},
        {"[a\n", ":1: '[a': a category is written [name]"},
        {"[A b]\n", ":1: 'A b': a category's name has small letters"},
        {"[]\n", ":1: '': a category needs a name"},
        {"[a]\nabsorbs = maybe\n", ":2: 'maybe': say yes or no"},
        {"[a]\nparent = b\n", ":2: 'b': no category of this name"},
        {"[a]\nhello\n", ":2: 'hello': is neither"},
    };
    struct as_categories *all;
    struct assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *path = write_file(expected[i].text);
        assert_int_equal(as_categories_read(path, &all, &err), ASSAY_ERR_USAGE);
        assert_null(all);
        if (!strstr(err.text, expected[i].says) || strncmp(err.text, path, strlen(path)) != 0)
            fail_msg("'%s' is said as: %s", expected[i].text, err.text);
        unlink(path);
        free(path);
    }
    assert_int_equal(as_categories_read("/nowhere/at-all", &all, &err), ASSAY_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nowhere/at-all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_user_file),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
