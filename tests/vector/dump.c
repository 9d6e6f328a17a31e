/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on each loop without inner loops, as JSON for tests/vector/suite.py: dump FILE. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quality/vector.h"

static void print_reasons(const struct as_program *p, const struct as_vector_verdict *verdict)
{
    printf("\"reasons\": [");
    for (size_t i = 0; i < verdict->reason_n; i++) {
        const struct as_vector_reason *reason = &verdict->reason[i];
        char text[512];

        as_vector_reason_text(p, verdict, reason, text, sizeof text);
        printf("%s\n    {\"obstacle\": \"%s\", \"amount\": %" PRId64
               ", \"text\": \"%s\", \"at\": [",
               i ? "," : "", as_vector_obstacle_name(reason->obstacle), reason->amount, text);
        for (uint32_t k = 0; k < reason->n; k++)
            printf("%s%" PRIu64, k ? ", " : "",
                   p->code.insn[verdict->insn[reason->first + k]].address);
        printf("]}");
    }
    printf("]}");
}

static const char *base_name(const struct as_program *p, const struct as_source_range *lines)
{
    const char *path = lines ? p->debug.file[lines->file] : "";
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Bytes loaded in an iteration, all ways together, and how many accesses there are to the frame. */
static void print_loads(const struct as_program *p, uint32_t number)
{
    struct as_streams streams;
    uint64_t loaded_b = 0, stack_n = 0;

    if (as_loop_streams(p, number, &streams, NULL) < 0)
        return;
    for (size_t i = 0; i < streams.n; i++) {
        loaded_b += streams.at[i].access & AS_ACCESS_READ ? streams.at[i].width_b : 0;
        stack_n += streams.at[i].stack;
    }
    printf("\"insns\": %u, \"loaded\": %" PRIu64 ", \"stack\": %" PRIu64 ", ",
           p->loop[number].insns, loaded_b, stack_n);
    as_streams_free(&streams);
}

static int print_loop(const struct as_program *p, uint32_t number, const char *before)
{
    static const char *const state[] = {"none", "scalar", "part", "full"};
    static const char *const role[] = {"main",        "peel",        "tail",
                                       "vector_peel", "vector_tail", "version"};
    const struct as_loop *loop = &p->loop[number];
    const struct as_source_range *lines = loop->sources ? &p->loop_source[loop->source] : NULL;
    struct as_vector_verdict verdict;
    struct as_error err;

    if (as_loop_vector_verdict(p, number, &verdict, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%s\n  {\"function\": \"%s\", \"file\": \"%s\", \"address\": %" PRIu64
           ", \"lines\": [%u, %u], \"group\": %u, \"role\": \"%s\", \"unroll\": %u,\n"
           "   \"state\": \"%s\", \"ratio\": %.4f, \"width\": %u, \"packed\": %u, \"scalar\": %u, ",
           before, p->body[loop->body].name, base_name(p, lines), p->block[loop->header].start,
           lines ? lines->first_line : 0, lines ? lines->last_line : 0, loop->group,
           role[loop->role], loop->unroll, state[verdict.state], verdict.ratio, verdict.width_b,
           verdict.packed_n, verdict.scalar_n);
    print_loads(p, number);
    print_reasons(p, &verdict);
    as_vector_verdict_free(&verdict);
    return 0;
}

int main(int argc, char **argv)
{
    const struct as_program_options options = {
        .jobs = 1, .path_limit = AS_PATH_LIMIT, .with_source = true};
    struct as_object *object = NULL;
    struct as_program *p = NULL;
    struct as_error err = {0};
    int rc = argc == 2 ? 0 : 2;

    if (rc == 0 && (as_object_open(argv[1], NULL, &object, &err) < 0 ||
                    as_program_new(object, &options, &p, &err) < 0)) {
        fprintf(stderr, "%s\n", err.text);
        rc = 1;
    }
    printf("[");
    const char *before = "";
    for (uint32_t i = 0; rc == 0 && i < p->loop_n; i++) {
        if (p->loop[i].level != AS_LEVEL_INNERMOST && p->loop[i].level != AS_LEVEL_SINGLE)
            continue;
        rc = print_loop(p, i, before);
        before = ",";
    }
    printf("]\n");
    as_program_free(&p);
    as_object_close(&object);
    return rc;
}
