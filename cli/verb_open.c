/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay open EXP`: the HTML report in a browser. It is made each time: a page that is there may be
 * of another origin. `assay open TRACE`: the time line, which needs the server.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "advised.h"
#include "base/error.h"
#include "open_trace.h"
#include "report/report.h"
#include "report_path.h"
#include "serve/serve.h"
#include "stops.h"

/* ---- The page ----------------------------------------------------------------------------- */

/* "/tmp/assay-open-XXXXXX/report.html", of the user alone. */
static int choose_aside(struct as_str *page, struct as_error *err)
{
    const char *tmp = getenv("TMPDIR");

    as_str_clear(page);
    as_str_appendf(page, "%s/assay-open-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!page->failed && !mkdtemp(page->p))
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s; set TMPDIR", as_str_z(page),
                            strerror(errno));
    as_str_appendz(page, "/report.html");
    return page->failed ? as_error_nomem(err, "the report") : 0;
}

static void remove_aside(struct as_str *page)
{
    unlink(as_str_z(page));
    if (page->n)
        page->p[as_path_last(page->p) - page->p - 1] = '\0';
    rmdir(as_str_z(page));
}

/* Beside the experiment's own reports, or aside where nothing can be written there. */
static int make_page(struct as_cli *cli, struct as_str *page, bool *is_aside, struct as_error *err)
{
    /* A page for a browser of this machine has no size limit. */
    const struct as_report_data_options options = {
        .level_most_b = as_given(&cli->args, AS_OPTION_SERVE) ? SIZE_MAX : 0};
    struct as_experiment *experiment = NULL;
    int rc = 0;

    as_advise(cli, cli->args.positional[0]);
    AS_TRY(as_experiment_read(cli->args.positional[0], &experiment, err));
    *is_aside = access(as_experiment_path(experiment), W_OK | X_OK) != 0;
    if (*is_aside)
        rc = choose_aside(page, err);
    else
        as_report_path(cli, as_experiment_path(experiment), AS_REPORT_HTML, page);
    if (rc == 0 && page->failed)
        rc = as_error_nomem(err, "the report");
    if (rc == 0)
        rc = as_report_write(experiment, (int64_t)cli->args.number[AS_OPTION_RUN], AS_REPORT_HTML,
                             &options, as_str_z(page), err);
    if (rc < 0 && *is_aside)
        remove_aside(page);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
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
 * Returns true if the browser did its work. A browser with a window may run until it is closed:
 * after some seconds it is left alone. A terminal browser is waited for.
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

static bool start_program(const char *program, char *const argv[])
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

    shown = !script.failed && start_program(sh, argv);
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
        return start_program(opener, argv);
    while (as_view_split(&rest, ':', &command))
        if (command.n && start_command(command, page))
            return true;
    return false;
}

static void show_page(struct as_cli *cli, const char *page)
{
    const char *browser = getenv("BROWSER");
    char resolved[PATH_MAX];

    signal(SIGPIPE, SIG_DFL); /* not for the browser to inherit */
    as_cli_print(cli, "%s\n", page);
    as_out_flush(&cli->out, NULL); /* before what the browser says */
    if (!has_display() && !(browser && *browser))
        as_cli_note(cli, "no display: open that file in a browser, or use --serve");
    else if (!start_browser(realpath(page, resolved) ? resolved : page))
        as_cli_note(cli,
                    "no browser could be started: open that file in a browser, or set BROWSER");
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

static int check_port(struct as_cli *cli, struct as_error *err)
{
    const uint64_t port = cli->args.number[AS_OPTION_PORT];

    if (port <= UINT16_MAX)
        return 0;
    return as_error_set(err, AS_ERR_USAGE, "--port: invalid port %llu; use 1 to 65535",
                        (unsigned long long)port);
}

/* "http://127.0.0.1:8000/KEY/" */
static void append_address(struct as_str *to, const struct as_server *server, const char *page)
{
    as_str_appendf(to, "http://127.0.0.1:%u/%s/%s", as_server_port(server), as_server_key(server),
                   page);
}

static void print_address(struct as_cli *cli, const struct as_server *server, const char *page)
{
    struct as_str address = {0};

    append_address(&address, server, page);
    as_cli_print(cli, "%s\n", as_str_z(&address));
    as_str_fini(&address);
}

/* In a process of its own: a browser of the terminal keeps it until it ends. */
static void show_served(struct as_cli *cli, const struct as_server *server)
{
    struct as_str address = {0};
    sigset_t none;

    append_address(&address, server, "");
    if (fork() == 0) {
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL); /* not for the browser to inherit */
        if (!start_browser(as_str_z(&address)))
            as_cli_note(cli, "no browser could be started: open that address in a browser, or set "
                             "BROWSER");
        _exit(0);
    }
    as_str_fini(&address);
}

/* `page` NULL: only a time line; `trace` without one: only a page. */
static int serve(struct as_cli *cli, const char *page, struct as_open_trace *trace,
                 struct as_error *err)
{
    const uint64_t port = cli->args.number[AS_OPTION_PORT];
    const char *browser = getenv("BROWSER");
    struct as_server *server;
    const int stop = watch_end();
    int rc;

    if (stop < 0)
        return as_error_set(err, AS_ERR_IO, "--serve: cannot wait for Ctrl-C: %s", strerror(errno));
    rc = as_server_open(page, (uint16_t)port, &server, err);
    if (rc == 0) {
        if (trace->is_open)
            as_server_set_function(server, as_open_trace_answer, trace);
        print_address(cli, server, page && trace->is_open ? "?timeline" : "");
        if (page && trace->is_open)
            print_address(cli, server, "timeline");
        rc = as_out_flush(&cli->out, err);
        as_cli_note(cli,
                    "serving %s to every user of this machine with the address; stop with Ctrl-C",
                    page ? page : cli->args.positional[0]);
        if (!as_given(&cli->args, AS_OPTION_SERVE) && (has_display() || (browser && *browser)))
            show_served(cli, server);
    }
    if (rc == 0)
        rc = as_server_run(server, stop, err);
    if (server)
        as_server_close(&server);
    close(stop);
    return rc;
}

static int open_time_line(struct as_cli *cli, struct as_error *err)
{
    struct as_open_trace trace;

    as_stops_note();
    AS_TRY(as_open_trace(cli, cli->args.positional[0], false, &trace, err));
    const int rc = serve(cli, NULL, &trace, err);
    as_open_trace_close(&trace);
    return rc;
}

static int serve_report(struct as_cli *cli, const char *page, struct as_error *err)
{
    struct as_open_trace trace;
    int rc = as_open_trace(cli, cli->args.positional[0], true, &trace, err);

    if (rc == 0)
        rc = serve(cli, page, &trace, err);
    as_open_trace_close(&trace);
    return rc;
}

int as_verb_open(struct as_cli *cli, struct as_error *err)
{
    const bool is_served = as_given(&cli->args, AS_OPTION_SERVE);
    const bool is_trace = as_open_is_trace(cli->args.positional[0]);
    struct as_str page = {0};
    bool is_aside = false;
    int rc;

    if (as_given(&cli->args, AS_OPTION_PORT) && !is_served && !is_trace)
        return as_error_set(err, AS_ERR_USAGE, "--port: needs --serve; add it");
    if (cli->args.positional_n > 1 && !is_served && !is_trace)
        return as_error_set(err, AS_ERR_USAGE, "%s: a configuration needs a time line; add --serve",
                            cli->args.positional[1]);
    if (as_given(&cli->args, AS_OPTION_VERIFY) && !is_served && !is_trace)
        return as_error_set(err, AS_ERR_USAGE, "--verify: needs a time line; add --serve");
    AS_TRY(check_port(cli, err));
    if (is_trace) {
        rc = open_time_line(cli, err);
        if (as_stops_came())
            cli->status = as_stops_status();
        return rc;
    }
    rc = make_page(cli, &page, &is_aside, err);
    if (rc == 0 && is_served) {
        rc = serve_report(cli, as_str_z(&page), err);
        if (is_aside)
            remove_aside(&page);
    } else if (rc == 0) {
        show_page(cli, as_str_z(&page));
    }
    as_str_fini(&page);
    return rc;
}
