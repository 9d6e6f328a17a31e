/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank that an environment tells: by what each launcher sets, by one launcher within another,
 * and by the launchers that are installed here.
 */
#include <sys/wait.h>

#include "place.h"

/* Variables separated by blanks, as a block. */
static bool rank_of(const char *variables, struct as_job_rank *out)
{
    char block[1024];
    const size_t n = strlen(variables) + 1;
    assert_true(n <= sizeof block);
    memcpy(block, variables, n);
    for (size_t i = 0; i < n; i++)
        if (block[i] == ' ')
            block[i] = 0;
    return as_launch_rank_of(block, n, out);
}

static void expect(const char *variables, const char *launcher, int64_t rank, int64_t size,
                   int64_t local_rank, int64_t local_size)
{
    struct as_job_rank got;
    if (!rank_of(variables, &got))
        fail_msg("%s: no rank", variables);
    assert_string_equal(got.launcher, launcher);
    assert_int_equal(got.rank, rank);
    assert_int_equal(got.size, size);
    assert_int_equal(got.local_rank, local_rank);
    assert_int_equal(got.local_size, local_size);
}

static void expect_none(const char *variables)
{
    struct as_job_rank got;
    assert_false(rank_of(variables, &got));
    assert_int_equal(got.rank, -1);
    assert_int_equal(got.local_size, -1);
    assert_null(got.launcher);
}

static void test_launchers(void **state)
{
    (void)state;
    expect("A=1 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 "
           "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=3",
           "openmpi", 3, 8, 1, 2);
    expect("PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2", "mpich", 0, 2, 0, 2);
    expect("PMI_RANK=5 PMI_SIZE=6", "mpich", 5, 6, -1, -1);
    expect("SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=9 SLURM_LOCALID=1 SLURM_STEP_ID=0 SLURM_NODEID=3 "
           "SLURM_STEP_TASKS_PER_NODE=2(x3),3",
           "srun", 7, 9, 1, 3);
    expect("SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEPID=12", "srun", 1, 4, -1, -1);
    expect("FLUX_TASK_RANK=2 FLUX_JOB_SIZE=4 FLUX_TASK_LOCAL_ID=0 PMI_RANK=2 PMI_SIZE=4", "flux", 2,
           4, 0, -1);
    expect("PMIX_RANK=4", "pmix", 4, -1, -1, -1);
    expect("MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_LOCAL_RANK=1 "
           "MV2_COMM_WORLD_LOCAL_SIZE=2 PMI_RANK=9",
           "mvapich", 1, 2, 1, 2);
    expect("PALS_RANKID=6 PMI_RANK=6 PMI_SIZE=8 PALS_LOCAL_RANKID=2", "pals", 6, 8, 2, -1);
    expect("JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=4 OMPI_COMM_WORLD_RANK=1", "jsrun", 1, 4, -1,
           -1);
}

/* The variables of the outer launcher are inherited. */
static void test_within_another(void **state)
{
    (void)state;
    expect("SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 PMI_RANK=3 PMI_SIZE=4 "
           "MPI_LOCALRANKID=3 MPI_LOCALNRANKS=4",
           "mpich", 3, 4, 3, 4);
    expect("SLURM_PROCID=0 SLURM_STEP_ID=0 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4",
           "openmpi", 3, 4, -1, -1);
    expect("SLURM_PROCID=3 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 PMI_RANK=3 PMI_SIZE=4", "srun", 3,
           4, -1, -1);
}

static void test_none(void **state)
{
    (void)state;
    expect_none("PATH=/bin HOME=/");
    expect_none("");
    expect_none("SLURM_PROCID=0 SLURM_NTASKS=4");                          /* a batch script */
    expect_none("SLURM_PROCID=0 SLURM_STEP_ID=4294967291 SLURM_NTASKS=4"); /* one that says so */
    expect_none("SLURM_PROCID=0 SLURM_STEP_ID=batch");
    expect_none("XPMI_RANK=1 PMI_RANKS=1 PMI_RANK= PMI_SIZE=2");
    expect_none("PMI_RANK=-1");
    expect_none("PMI_RANK=2x");
    struct as_job_rank got;
    assert_false(as_launch_rank_of(NULL, 0, &got));
    assert_false(as_launch_rank_of("PMI_RANK=12", 10, &got)); /* cut: 1 would be wrong */
    expect("SLURM_PROCID=7 SLURM_STEP_ID=0 SLURM_NODEID=9 SLURM_STEP_TASKS_PER_NODE=2(x3)", "srun",
           7, -1, -1, -1);
    expect("SLURM_PROCID=7 SLURM_STEP_ID=0 SLURM_NODEID=1 SLURM_STEP_TASKS_PER_NODE=,(x", "srun", 7,
           -1, -1, -1);
}

static void test_processes(void **state)
{
    (void)state;
    struct as_job_rank got;
    assert_false(as_launch_rank_of_process(0x7fffffff, &got));
    assert_int_equal(got.rank, -1);
}

/* ---- What is installed --------------------------------------------------------------------- */

/* Two ranks of the probe, which writes what as_launch_rank_of_process says of it to FILE.RANK.
 */
static void run_ranks(const struct place *place, const char *launcher, const char *word)
{
    char command[1024], want[64], name[16];
    if (access(launcher, X_OK) < 0) {
        print_message("# %s is not installed\n", launcher);
        return;
    }
    snprintf(command, sizeof command,
             "cd %s && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "OMPI_MCA_rmaps_base_oversubscribe=1 timeout 600 %s -np 2 %s rank %s/r >log 2>&1",
             place->dir, launcher, PROBE, place->dir);
    const int status = system(command);
    if (status != 0)
        fail_msg("%s: %d: %s", command, status, text_of(place, "log"));
    for (int i = 0; i < 2; i++) {
        snprintf(want, sizeof want, "%s %d of 2, %d of 2 here\n", word, i, i);
        snprintf(name, sizeof name, "r.%d", i);
        assert_string_equal(text_of(place, name), want);
    }
}

static void test_openmpi(void **state)
{
    run_ranks(*state, "/usr/bin/mpirun.openmpi", "openmpi");
}

static void test_mpich(void **state)
{
    run_ranks(*state, "/usr/bin/mpirun.mpich", "mpich");
}

/* ---- The environment ----------------------------------------------------------------------- */

static void test_environment(void **state)
{
    (void)state;
    assert_true(as_launch_variable_matters("OMP_NUM_THREADS"));
    assert_true(as_launch_variable_matters("OMP_NUM_THREADS=4"));
    assert_true(as_launch_variable_matters("GLIBC_TUNABLES=x"));
    assert_false(as_launch_variable_matters("GLIBC_TUNABLES_X=x"));
    assert_false(as_launch_variable_matters("HOME=OMP_"));
    assert_false(as_launch_variable_matters("SSH_TTY"));
    assert_false(as_launch_variable_matters(""));
    /* Variables that distinguish ranks or jobs are kept too; variables that only differ are not. */
    assert_true(as_launch_variable_matters("OMPI_COMM_WORLD_SIZE=4"));
    assert_true(as_launch_variable_is_of_rank("OMPI_COMM_WORLD_SIZE=4"));
    assert_true(as_launch_variable_is_of_rank("SLURM_JOB_ID"));
    assert_false(as_launch_variable_is_of_rank("SLURM_CPUS_PER_TASK=4"));
    assert_false(as_launch_variable_is_of_rank("OMPI_MCA_pml=ob1"));
    assert_false(as_launch_variable_matters("OMPI_MCA_orte_hnp_uri=1"));
}

static void expect_digest(const char *const *a, const char *const *b, bool same)
{
    char one[17], other[17];
    as_launch_environment_digest(a, one);
    as_launch_environment_digest(b, other);
    assert_int_equal(strlen(one), 16);
    assert_int_equal(strcmp(one, other) == 0, same);
}

static void test_digest(void **state)
{
    (void)state;
    const char *const a[] = {"A=1", "B=2", "PWD=/x", NULL};
    const char *const b[] = {"SHLVL=3", "B=2", "A=1", "SSH_TTY=/dev/pts/1", "_=/bin/env", NULL};
    const char *const c[] = {"A=2", "B=1", NULL};
    const char *const d[] = {"A=1", "B=2", "_X=", NULL};
    expect_digest(a, b, true);
    expect_digest(a, c, false);
    expect_digest(a, d, false);
    expect_digest(NULL, NULL, true);
}

/* Ranks of one job have one digest. */
static void test_digest_of_ranks(void **state)
{
    static const char *const first[] = {"HOME=/",   "OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0",
                                        "PMI_FD=6", "SLURM_PROCID=0",         NULL};
    static const char *const second[] = {"HOME=/",   "OMPI_COMM_WORLD_RANK=1", "PMIX_RANK=1",
                                         "PMI_FD=8", "SLURM_PROCID=1",         NULL};
    static const char *const other[] = {"HOME=/x",  "OMPI_COMM_WORLD_RANK=1", "PMIX_RANK=1",
                                        "PMI_FD=8", "SLURM_PROCID=1",         NULL};
    (void)state;
    expect_digest(first, second, true);
    expect_digest(second, other, false);
}

static void test_own_rank(void **state)
{
    struct as_job_rank own;
    (void)state;
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    assert_true(as_launch_rank_of_self(&own));
    assert_int_equal(own.rank, 3);
    assert_int_equal(own.size, 4);
    unsetenv("OMPI_COMM_WORLD_RANK");
    assert_false(as_launch_rank_of_self(&own));
    assert_int_equal(own.rank, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launchers),
        cmocka_unit_test(test_within_another),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_processes),
        place_test(test_openmpi),
        place_test(test_mpich),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_digest_of_ranks),
        cmocka_unit_test(test_own_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
