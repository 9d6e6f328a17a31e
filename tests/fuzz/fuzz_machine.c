/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a file of a machine (.cfg). It is refused by one sentence, or becomes
 * networks in their ranges, on which a message has a length.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/machine_file.h"

bool fuzz_taken;

static void check_machine(const struct as_machine_model *model, const struct as_machine_file *file)
{
    for (unsigned i = 0; i < AS_NETWORKS_N; i++) {
        FUZZ_CHECK(model->network[i].latency_ns >= 0);
        FUZZ_CHECK(as_network_transfer_ns(&model->network[i], 1000) >= 0);
    }
    as_vec_foreach (&file->speeds, speed)
        FUZZ_CHECK(speed->is_node && speed->times >= 1e-6 && speed->times <= 1e6);
}

static void check_place(const struct as_machine_file *file)
{
    struct as_simulated_program program = {.rank_n = 3};
    struct as_error err = {0};
    const int rc = as_machine_file_place(file, &program, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    else
        FUZZ_CHECK(program.node.n == 0 || program.node.n == 3);
    as_program_fini(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_machine_model model;
    struct as_machine_file file;
    struct as_error err = {0};
    char *copy = malloc(size_b + 1); /* of its very size: what is read beyond it is noticed */
    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    as_machine_ideal(&model);
    const int rc =
        as_machine_file_parse((struct as_view){copy, size_b}, "input", &model, &file, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    else {
        check_machine(&model, &file);
        check_place(&file);
        fuzz_taken = true;
    }
    as_machine_file_fini(&file);
    free(copy);
    return 0;
}
