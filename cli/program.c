/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and analyses a binary for the verbs on loops; choosing by --function and --loop.
 */
#include "program.h"

#include <inttypes.h>

#include "base/error.h"
#include "names.h"

static int choose_bodies(const struct as_cli *cli, struct as_chosen *chosen, struct as_error *err)
{
    const struct as_program *program = chosen->program;
    const bool any = as_given(&cli->args, AS_OPTION_FUNCTION);
    struct as_selection selection = {0};
    int rc = 0;

    chosen->body = as_calloc(program->body_n + 1, sizeof *chosen->body);
    bool *wanted = as_calloc(program->function_n + 1, sizeof *wanted);
    if (!chosen->body || !wanted) {
        as_free(wanted);
        return as_error_nomem(err, "the chosen functions");
    }
    for (size_t i = 0; any && rc == 0 && i < cli->args.list[AS_OPTION_FUNCTION].n; i++)
        rc = as_select_function(chosen->object, program->function, program->function_n,
                                cli->args.list[AS_OPTION_FUNCTION].at[i], &selection, err);
    for (size_t i = 0; rc == 0 && i < selection.function.n; i++)
        wanted[selection.function.at[i]] = true;
    for (size_t i = 0; rc == 0 && i < program->body_n; i++) {
        uint32_t at = (uint32_t)i;
        bool found = !any;

        for (int hops = 0; !found && at != AS_NONE && hops < 16; hops++) {
            const uint32_t function = program->body[at].function;
            found = function != AS_NONE && wanted[function];
            at = program->body[at].parent;
        }
        chosen->body[i] = found;
    }
    as_free(wanted);
    as_vec_fini(&selection.function);
    return rc;
}

int as_chosen_load(struct as_cli *cli, size_t index, struct as_chosen *out, struct as_error *err)
{
    return as_chosen_open(cli, cli->args.positional[index], out, err);
}

int as_chosen_open(struct as_cli *cli, const char *path, struct as_chosen *out,
                   struct as_error *err)
{
    const struct as_program_options options = {
        .jobs = cli->jobs,
        .path_limit = as_given(&cli->args, AS_OPTION_PATHS)
                          ? (unsigned)cli->args.number[AS_OPTION_PATHS]
                          : AS_PATH_LIMIT,
        .with_source = true,
    };

    *out = (struct as_chosen){.plain_names = as_given(&cli->args, AS_OPTION_NO_DEMANGLE)};
    out->object = as_cli_open(cli, path);
    if (!out->object)
        return 0;
    AS_TRY(as_program_new(out->object, &options, &out->program, err));
    return choose_bodies(cli, out, err);
}

void as_chosen_free(struct as_chosen *chosen)
{
    as_free(chosen->body);
    as_program_free(&chosen->program);
    as_object_close(&chosen->object);
}

int as_loop_of_option(const struct as_cli *cli, const struct as_program *program, uint32_t *loop,
                      struct as_error *err)
{
    const char *path = as_object_info(program->object)->path;
    const uint64_t id = cli->args.number[AS_OPTION_LOOP];

    if (id < program->loop_n) {
        *loop = (uint32_t)id;
        return 0;
    }
    if (program->loop_n == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--loop: %s has no loops; use --function or "
                            "--range",
                            path);
    return as_error_set(err, AS_ERR_USAGE,
                        "--loop: %" PRIu64 " is no loop of %s, they are 0 to %zu; 'assay loops' "
                        "lists them",
                        id, path, program->loop_n - 1);
}

void as_chosen_name(const struct as_chosen *chosen, uint32_t body, struct as_str *out)
{
    as_name_append(out, chosen->program->body[body].name, chosen->plain_names);
}
