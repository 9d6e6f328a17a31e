/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the core that predictions are for.
 */
#include "base/error.h"
#include "predict.h"

int as_core_open(struct as_cli *cli, struct as_uarch **out, struct as_uarch_choice *choice,
                 struct as_error *err)
{
    const char *name = cli->args.value[AS_OPTION_MACHINE];
    struct as_error none;

    *choice = (struct as_uarch_choice){.file = ""};
    if (name)
        return as_uarch_open(name, out, err);
    const int rc = as_uarch_open_host(out, choice, &none);
    if (choice->damaged.code < 0)
        as_cli_complain(cli, &choice->damaged);
    if (rc == 0)
        return 0;
    return as_error_set(err, rc,
                        "%s: %s; set --machine (assay %s --help), or run 'assay machine --measure "
                        "instructions'",
                        as_verbs[cli->args.verb].name, none.text, as_verbs[cli->args.verb].name);
}

int as_core_fits(const struct as_uarch *uarch, struct as_object *object, struct as_error *err)
{
    const struct as_object_info *info = as_object_info(object);

    if (!info->is_k1om || uarch->set[AS_UARCH_mvex] > 0)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "%s: code for Knights Corner (K1OM), but %s has other vectors; use "
                        "--machine knightscorner",
                        info->path, uarch->words);
}

int as_sampled_open(struct as_cli *cli, const struct as_object *object,
                    struct as_quality_sampled *out, struct as_error *err)
{
    struct as_experiment *experiment = NULL;

    *out = (struct as_quality_sampled){.run_id = 0};
    if (!as_given(&cli->args, AS_OPTION_SAMPLED))
        return 0;
    int rc = as_experiment_read(cli->args.value[AS_OPTION_SAMPLED], &experiment, err);
    if (rc == 0)
        rc = as_quality_sampled_read(experiment, object, out, err);
    as_experiment_close(&experiment, NULL);
    return rc;
}
