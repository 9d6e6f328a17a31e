/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the command line and hands over to the verb; nothing else.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/filemap.h"
#include "base/version.h"
#include "cli.h"
#include "experiment/experiment.h"
#include "help.h"

static int (*const run_verb[AS_VERBS])(struct as_cli *, struct as_error *) = {
#define VERB(id, name, ...) as_verb_##name,
#include "options.def"
};

/* --help metrics [NAME] and --help findings [NAME]. */
static int append_terms(const struct as_cli *cli, struct as_str *out, struct as_error *err)
{
    const enum as_topic topic = cli->args.topic;
    const char *name = cli->args.positional_n ? cli->args.positional[0] : NULL;
    const char *word = as_topic_words[topic];
    const int noun_n = (int)strlen(word) - 1; /* without the s */

    if (as_help_of_terms(out, topic, name, as_cli_width(cli)))
        return 0;
    const char *near = name ? as_help_near_term(topic, name) : NULL;
    if (near)
        return as_error_set(err, AS_ERR_USAGE, "--help %s: unknown %.*s %s; did you mean %s?", word,
                            noun_n, word, name, near);
    return as_error_set(err, AS_ERR_USAGE,
                        "--help %s: unknown %.*s %s; use '*' for any characters, or '--help %s' "
                        "to list all",
                        word, noun_n, word, name, word);
}

/* --help and --version. */
static int answer_help_or_version(struct as_cli *cli, struct as_error *err)
{
    struct as_str text = {0};
    int rc = 0;

    if (cli->args.topic)
        rc = append_terms(cli, &text, err);
    else if (as_given(&cli->args, AS_OPTION_HELP))
        as_help(&text, cli->args.verb, as_cli_width(cli));
    else
        as_str_appendz(&text, "assay " AS_VERSION "\n");
    as_out_z(&cli->out, as_str_z(&text));
    as_str_fini(&text);
    return rc;
}

/*
 * The first opened file would get the number of a closed standard descriptor, and terminal output
 * would go to it. The replacement fails like the closed one, and is not inherited by programs.
 */
static void hold_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    struct as_cli cli = {0};
    struct as_error err = {0};
    int rc;

    hold_descriptors();
    as_alloc_keep();
    rc = as_arguments_parse(argc, argv, &cli.args, &err);

    as_secrets_keep(as_given(&cli.args, AS_OPTION_KEEP_SECRETS));
    as_experiment_share(as_given(&cli.args, AS_OPTION_SHARED));
    if (rc == 0)
        rc = as_cli_init(&cli, &err);
    if (rc == 0 && (as_given(&cli.args, AS_OPTION_HELP) || as_given(&cli.args, AS_OPTION_VERSION)))
        rc = answer_help_or_version(&cli, &err);
    else if (rc == 0)
        rc = run_verb[cli.args.verb](&cli, &err);
    if (as_filemap_check(&err) < 0)
        rc = err.code; /* and not what was made of the zeros in the file's place */
    cli.is_void = rc < 0;
    if (rc < 0)
        as_cli_complain(&cli, &err);
    return as_cli_fini(&cli);
}
