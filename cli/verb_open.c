/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay open EXP`: the HTML report in a browser, made anew where the experiment is newer.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/report.h>
#include <assay/serve.h>

#include "advised.h"
#include "base/error.h"
#include "report_path.h"

/* ---- The page ----------------------------------------------------------------------------- */

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
           (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec > b->st_mtim.tv_nsec);
}

/* Whether there is a page at least as new as the experiment. */
static bool is_made(const char *directory, const char *page)
{
    struct as_str database = {0};
    struct stat of_page, of_database;
    bool made;

    as_str_appendf(&database, "%s/experiment.db", directory);
    made = stat(page, &of_page) == 0 && stat(as_str_z(&database), &of_database) == 0 &&
           !is_newer(&of_database, &of_page);
    as_str_fini(&database);
    return made;
}

static int make_page(struct as_cli *cli, struct as_str *page, struct assay_error *err)
{
    struct assay_experiment *experiment = NULL;
    int rc;

    as_advise(cli, cli->args.positional[0]);
    AS_TRY(assay_experiment_read(cli->args.positional[0], &experiment, err));
    as_report_path(cli, assay_experiment_path(experiment), ASSAY_REPORT_HTML, page);
    if (page->failed)
        rc = as_error_nomem(err, "the report");
    else if (is_made(assay_experiment_path(experiment), as_str_z(page)))
        rc = 0;
    else
        rc = assay_report_write(experiment, (int64_t)cli->args.number[AS_OPTION_RUN],
                                ASSAY_REPORT_HTML, NULL, as_str_z(page), err);
    assay_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

/* ---- The browser -------------------------------------------------------------------------- */

#define PATIENCE_MS 3000
#define STEP_MS     50

static bool has_display(void)
{
    return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
}

/*
 * Whether it did its work. One with a window may stay until that is closed: when it is there for
 * some seconds it is left alone. One of the terminal has it until it ends.
 */
static bool has_shown(pid_t pid)
{
    int status = 0;

    for (int waited = 0; waited < PATIENCE_MS || !has_display(); waited += STEP_MS) {
        const pid_t ended = waitpid(pid, &status, has_display() ? WNOHANG : 0);

        if (ended == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR)
            return false;
        if (ended == 0)
            poll(NULL, 0, STEP_MS);
    }
    return true;
}

static bool start(const char *program, char *const argv[])
{
    pid_t pid;

    return posix_spawnp(&pid, program, NULL, NULL, argv, environ) == 0 && has_shown(pid);
}

/* A command of BROWSER: words for the shell, %s for the page, which else stands at their end. */
static bool start_command(struct as_view command, const char *page)
{
    static char sh[] = "sh", c[] = "-c";
    struct as_str script = {0};
    bool has_place = false, shown;

    for (size_t i = 0; i < command.n; i++) {
        if (command.p[i] == '%' && i + 1 < command.n && command.p[i + 1] == 's') {
            as_str_appendz(&script, "\"$1\"");
            has_place = true;
            i++;
        } else {
            as_str_append(&script, command.p + i, 1);
        }
    }
    if (!has_place)
        as_str_appendz(&script, " \"$1\"");
    char *const argv[] = {sh, c, script.p, sh, (char *)page, NULL};

    shown = !script.failed && start(sh, argv);
    as_str_fini(&script);
    return shown;
}

/* The commands of BROWSER in turn, separated by colons; without it what the desktop prefers. */
static bool start_browser(const char *page)
{
    static char opener[] = "xdg-open";
    char *const argv[] = {opener, (char *)page, NULL};
    const char *browser = getenv("BROWSER");
    struct as_view rest = as_view_of(browser), command;

    if (!browser || !*browser)
        return start(opener, argv);
    while (as_view_split(&rest, ':', &command))
        if (command.n && start_command(command, page))
            return true;
    return false;
}

static void show(struct as_cli *cli, const char *page)
{
    const char *browser = getenv("BROWSER");
    char resolved[PATH_MAX];

    signal(SIGPIPE, SIG_DFL); /* not for the browser to inherit */
    as_cli_print(cli, "%s\n", page);
    as_out_flush(&cli->out, NULL); /* before what the browser says */
    if (!has_display() && !(browser && *browser))
        as_cli_note(cli, "no display here: open that file in a browser, or give --serve");
    else if (!start_browser(realpath(page, resolved) ? resolved : page))
        as_cli_note(cli, "no browser could be started: open that file in one, or set BROWSER");
}

/* ---- The server --------------------------------------------------------------------------- */

/* A descriptor that can be read when Ctrl-C was pressed, or an end was asked for. */
static int watch_end(void)
{
    sigset_t end;

    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGHUP);
    sigprocmask(SIG_BLOCK, &end, NULL);
    return signalfd(-1, &end, SFD_CLOEXEC);
}

static int serve(struct as_cli *cli, const char *page, struct assay_error *err)
{
    const uint64_t port = cli->args.number[AS_OPTION_PORT];
    struct assay_server *server;
    const int stop = watch_end();
    int rc;

    if (port > UINT16_MAX)
        return as_error_set(err, ASSAY_ERR_USAGE, "--port: %llu is no port; write 1 to 65535",
                            (unsigned long long)port);
    if (stop < 0)
        return as_error_set(err, ASSAY_ERR_IO, "--serve: cannot wait for Ctrl-C: %s",
                            strerror(errno));
    rc = assay_server_open(page, (uint16_t)port, &server, err);
    if (rc == 0) {
        as_cli_print(cli, "http://127.0.0.1:%u/\n", assay_server_port(server));
        rc = as_out_flush(&cli->out, err);
        as_cli_note(cli, "serving %s to this machine only; Ctrl-C ends it", page);
    }
    if (rc == 0)
        rc = assay_server_run(server, stop, err);
    if (server)
        assay_server_close(&server);
    close(stop);
    return rc;
}

int as_verb_open(struct as_cli *cli, struct assay_error *err)
{
    struct as_str page = {0};
    int rc;

    if (as_given(&cli->args, AS_OPTION_PORT) && !as_given(&cli->args, AS_OPTION_SERVE))
        return as_error_set(err, ASSAY_ERR_USAGE, "--port: is that of --serve; give it too");
    rc = make_page(cli, &page, err);
    if (rc == 0 && as_given(&cli->args, AS_OPTION_SERVE))
        rc = serve(cli, as_str_z(&page), err);
    else if (rc == 0)
        show(cli, as_str_z(&page));
    as_str_fini(&page);
    return rc;
}
