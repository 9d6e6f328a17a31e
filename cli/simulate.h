/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of `assay simulate`: machines from options, simulations of them, showing the results. */
#ifndef AS_CLI_SIMULATE_H
#define AS_CLI_SIMULATE_H

#include "cli.h"
#include "simulate/machine_file.h"
#include "simulate/recorded.h"
#include "simulate/simulation.h"

/* A machine as options make it. Networks inside nodes and between machines
 * are as between nodes unless given. */
struct as_simulate_machine {
    struct as_machine_model model; /* without speeds of its own */
    bool has_inside_latency, has_inside_bandwidth, has_wide_latency, has_wide_bandwidth;
};

enum as_simulate_kind {
    AS_SIMULATE_IDEAL,   /* the ideal network, speeds as recorded */
    AS_SIMULATE_ASKED,   /* the network of the options, speeds as recorded */
    AS_SIMULATE_WHAT_IF, /* with --cpu: that network (else the ideal one), other speeds */
    AS_SIMULATE_SWEEP,   /* one of --sweep */
    /* With a network of the options: that network without latency, or with infinite bandwidth. */
    AS_SIMULATE_NO_LATENCY,
    AS_SIMULATE_ALL_BANDWIDTH
};

struct as_simulate_case {
    enum as_simulate_kind kind;
    struct as_simulate_machine machine;
    struct as_str name; /* "ideal", "network", "cpu", "latency=2us bandwidth=1GB/s" */
    struct as_simulated result;
    struct as_recorded recorded; /* of a trace of ours */
};

/* One function that is faster, and the time that the run then takes. */
struct as_simulate_function {
    char *name;           /* owned */
    int64_t computing_ns; /* in it, all ranks */
    int64_t total_ns;     /* the time with the change */
};

struct as_simulate_view {
    struct as_cli *cli;
    const char *path;
    const char *streams; /* directory of a trace of ours; NULL: `path` is a .dim file */
    int64_t run_id;      /* of an experiment; 0: `path` is a file */
    /* Of --machine, then of --cpu; the same without --cpu; the same with a speed of 1. */
    AS_VEC(struct as_speed) speeds, of_machine, as_recorded;
    AS_VEC(char *) owned;
    struct as_machine_file file;           /* of --machine */
    AS_VEC(struct as_simulate_case) cases; /* the ideal one first */
    const struct as_simulate_case *shown;  /* its ranks are shown */
    double each; /* of --cpu each=2x: the speed of one function after the other; 0: not asked */
    AS_VEC(struct as_simulate_function) functions; /* most gain first */
    int64_t each_from_ns;                          /* the time without a change */
    int64_t cpu_wait_ns; /* of the rank that was ready without a CPU longest; 0: none is known */
};

/* simulate_options.c: the cases that the options ask for. Errors: USAGE, NOMEM. */
int as_simulate_choose(struct as_simulate_view *view, struct as_error *err);
void as_simulate_choice_fini(struct as_simulate_view *view);

/* simulate_each.c: --cpu each=2x. Errors: those of the trace, of the simulation, NOMEM. */
int as_simulate_each(struct as_simulate_view *view, struct as_error *err);
void as_simulate_each_show(const struct as_simulate_view *view);

/* Efficiencies by the POP methodology; NAN: unknown. */
struct as_simulate_efficiency {
    double transfer;      /* ideal time over real time */
    double serialisation; /* longest computation over ideal time */
    double balance;       /* mean over longest computation */
    double parallel;      /* their product: mean computation over real time */
    /* Ideal time over the time on the network of the options: without latency, then with infinite
     * bandwidth. */
    double bandwidth, latency;
    int64_t real_ns; /* recorded, else that of the network asked for; 0: unknown */
    bool is_recorded;
};
struct as_simulate_efficiency as_simulate_efficiency_of(const struct as_simulate_view *view);

/* simulate_run.c: opens the program of the view. `trace` stays open while it is used; zeroed of a
 * .dim file. Errors: those of the trace, NOMEM. */
int as_simulate_open(const struct as_simulate_view *view, struct as_trace *trace,
                     struct as_recorded *recorded, struct as_simulated_program *program,
                     struct as_error *err);
/* Gives the speeds of a case, as many as view->speeds. */
struct as_speed *as_simulate_speeds(const struct as_simulate_view *view,
                                    const struct as_simulate_case *it);
/* Simulates a case. `directory` is empty and gets the simulated streams; NULL: none are written.
 * Errors: USAGE (no such rank), those of the trace and of the simulation, IO, NOMEM. */
int as_simulate_case_run(const struct as_simulate_view *view, const struct as_simulate_case *it,
                         const char *directory, struct as_recorded *recorded,
                         struct as_simulated *result, struct as_error *err);
/* Simulates a case once more, and writes the simulated streams. Errors: as above. */
int as_simulate_write_streams(struct as_simulate_view *view, const struct as_simulate_case *it,
                              const char *directory, struct as_error *err);
/* The case of which ranks are shown: the last before the sweep. */
const struct as_simulate_case *as_simulate_shown(const struct as_simulate_view *view);

/* simulate_keep.c: --output of a trace, and --store. `run_id` is the recorded run; 0: of a file.
 * Errors: USAGE before anything is simulated; those of the simulation, of the experiment, IO. */
int as_simulate_keep_check(const struct as_simulate_view *view, struct as_error *err);
int as_simulate_keep(struct as_simulate_view *view, struct as_error *err);

/* simulate_text.c: the answer, in the format that was asked for. Errors: NOMEM. */
int as_simulate_show(struct as_simulate_view *view, struct as_error *err);

#endif
