/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay open EXP`: the HTML report in a browser, made anew where the experiment is newer.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/report.h>

#include "advised.h"
#include "base/error.h"
#include "cli.h"

/* ---- The page ----------------------------------------------------------------------------- */

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
           (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec > b->st_mtim.tv_nsec);
}

/* Whether there is a page at least as new as the experiment. Of one run asked for, never. */
static bool is_made(const struct as_cli *cli, const char *directory, const char *page)
{
    struct as_str database = {0};
    struct stat of_page, of_database;
    bool made;

    as_str_appendf(&database, "%s/experiment.db", directory);
    made = !as_given(&cli->args, AS_OPTION_RUN) && stat(page, &of_page) == 0 &&
           stat(as_str_z(&database), &of_database) == 0 && !is_newer(&of_database, &of_page);
    as_str_fini(&database);
    return made;
}

static int make_page(struct as_cli *cli, struct as_str *page, struct assay_error *err)
{
    struct assay_experiment *experiment = NULL;
    int rc;

    as_advise(cli, cli->args.positional[0]);
    AS_TRY(assay_experiment_read(cli->args.positional[0], &experiment, err));
    as_str_appendf(page, "%s/report.html", assay_experiment_path(experiment));
    if (page->failed)
        rc = as_error_nomem(err, "the report");
    else if (is_made(cli, assay_experiment_path(experiment), as_str_z(page)))
        rc = 0;
    else
        rc = assay_report_write(experiment, (int64_t)cli->args.number[AS_OPTION_RUN],
                                ASSAY_REPORT_HTML, NULL, as_str_z(page), err);
    assay_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

/* ---- The browser -------------------------------------------------------------------------- */

/* A browser of the terminal needs no display; it is the user's who set BROWSER. */
static bool can_show(void)
{
    const char *browser = getenv("BROWSER");

    return (browser && *browser) || getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
}

/* Whether the program was started and said that it did its work. */
static bool start(const char *program, const char *page)
{
    char *const argv[] = {(char *)program, (char *)page, NULL};
    pid_t pid;
    int status;

    if (posix_spawnp(&pid, program, NULL, NULL, argv, environ) != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int as_verb_open(struct as_cli *cli, struct assay_error *err)
{
    const char *browser = getenv("BROWSER");
    struct as_str page = {0};
    const int rc = make_page(cli, &page, err);

    if (rc == 0) {
        signal(SIGPIPE, SIG_DFL); /* not for the browser to inherit */
        as_cli_print(cli, "%s\n", as_str_z(&page));
        if (!can_show())
            as_cli_note(cli, "no display here: open that file in a browser");
        else if (!start(browser && *browser ? browser : "xdg-open", as_str_z(&page)))
            as_cli_note(cli, "no browser could be started: open that file in one, or set BROWSER");
    }
    as_str_fini(&page);
    return rc;
}
