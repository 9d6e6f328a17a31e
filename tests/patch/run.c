/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch-run MODE[:PERIOD] OPTION... DIRECTORY AGENT -- PROGRAM [ARGUMENT...]: plans the loops of a
 * program and runs it under the agent. Writes the content of the plan and of the threads' files as
 * JSON to DIRECTORY/result.json. Exits as the program does. Options:
 *
 * - --nests: loops of all levels
 * - --bodies: whole functions if possible
 * - --addresses: records addresses without a reader
 * - --undo: restores the code at the end
 * - --inject: by ptrace, not by the loader
 * - --share N: variants may take N hundredths of the time
 * - --limit MS: limit of each variant
 * - --together: all threads at once
 * - --slices: variants of slices of iterations
 * - --outer: outer loops before inner loops
 * - --only: loops of this file, repeated; the first is the program, which a launcher may start
 *
 * patch-run MODE[:PERIOD] OPTION... --attach PID --ms N DIRECTORY AGENT -- PROGRAM: attaches to a
 * process that executes PROGRAM already, for N milliseconds. With --told it ends when standard
 * input ends, if that is sooner, after a line "entered". `records` are those of its instances.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/inject.h"
#include "agent/patcher/patcher.h"
#include "agent/shared/control.h"
#include "base/ticks.h"
#include "patch/patch.h"
#include "patch/variant.h"
#include "planned.h"

#define FILES_MOST 16

struct job {
    uint64_t begun; /* ticks, and the clock beside them */
    int64_t begun_ns;
    struct as_patch_wish wish;
    bool undo, is_injected, together;
    struct planned_which which;
    pid_t attach;
    unsigned ms;
    bool is_told;
    char rest[256];           /* what stays of us in the process that was attached to */
    unsigned share, limit_ms; /* of variants */
    const char *file[FILES_MOST];
    unsigned files;
    const char *directory, *agent;
    char **command;
    struct planned planned;
    double seconds; /* CPU time of the program and of the children that it waited for */
};

/* ---- Before --------------------------------------------------------------------------------- */

static void write_plan(struct job *job)
{
    struct as_patch_maker *maker = NULL;
    struct as_error err;
    char path[4096];
    if (as_patch_maker_new(&job->wish, &maker, &err) < 0)
        die("plan", err.text);
    for (unsigned i = 0; i < job->files; i++)
        plan_loops(maker, job->file[i], job->which, &job->planned);
    snprintf(path, sizeof path, "%s/" AS_PATCH_PLAN, job->directory);
    if (as_patch_maker_write(maker, path, &err) < 0)
        die(path, err.text);
    as_patch_maker_free(&maker);
}

static void write_control(const struct job *job)
{
    static union {
        struct as_agent_control control;
        char page[AS_AGENT_PAGE_B];
    } it;
    const struct as_patcher_part part = {.undo = job->undo,
                                         .share = job->share,
                                         .limit_ms = job->limit_ms,
                                         .together = job->together};
    char path[4096];
    struct stat program;
    if (stat(job->file[0], &program) < 0)
        die(job->file[0], "cannot be read");
    it.control = (struct as_agent_control){.magic = AS_AGENT_MAGIC,
                                           .version = AS_AGENT_VERSION,
                                           .program_inode = program.st_ino,
                                           .program_dev = program.st_dev};
    strcpy(it.control.part[0].client, "patch");
    memcpy(it.control.part[0].data, &part, sizeof part);
    snprintf(path, sizeof path, "%s/" AS_AGENT_CONTROL, job->directory);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(&it, sizeof it, 1, f) != 1 || fclose(f) != 0)
        die(path, "cannot be written");
}

/* ---- After ---------------------------------------------------------------------------------- */

struct bytes {
    const void *at;
    size_t n;
};

static struct bytes map_file(const char *directory, const char *name)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        die(path, "cannot be read");
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    return (struct bytes){at, (size_t)st.st_size};
}

struct sums {
    const struct as_patch_plan *plan;
    struct as_patch_total *total;
    uint64_t *counter;
    uint64_t threads, dropped, missed, kept, unplaced, unvaried, done, paths;
    int refused_errno; /* of the last region that could not be patched */
    FILE *varied;      /* JSON of what ran as variants */
    char *varied_text;
    size_t varied_b, varied_n;
    uint64_t spent_ns;    /* of all threads */
    uint64_t empty, bare; /* ticks: the most of any thread */
    FILE *records;        /* JSON of kept records */
    char *records_text;
    size_t records_b, records_n;
    uint64_t values, unread, called, lost; /* PROBE: of all places */
    uint64_t forgotten;                    /* loops with counted instances and without a record */
};

static void add_probed(struct sums *s, struct bytes file)
{
    const struct as_probed *head = file.at;
    const uint8_t *bytes = file.at;
    if (file.n < sizeof *head || head->magic != AS_PROBED_MAGIC)
        die("probed", "a file of probes is none");
    const struct as_probe_values *values =
        (const void *)(bytes + as_probed_values_at(head->timers));
    const struct as_probe_tally *tally =
        (const void *)(bytes + as_probed_tallies_at(head->timers, head->values));
    for (uint64_t i = 0; i < head->values; i++) {
        s->values += values[i].n;
        s->unread += values[i].missed;
        s->lost += values[i].lost;
    }
    for (uint64_t i = 0; i < head->tallies; i++)
        s->called += tally[i].calls;
}

static void print_record(struct sums *s, const struct as_patch_thread *t,
                         const struct as_patch_record *r)
{
    const struct as_patch_loop *loop = as_patch_at(s->plan, &s->plan->loop);
    const struct as_patch_exit *exit = as_patch_at(s->plan, &s->plan->exit);
    if (r->sp || r->flags & AS_PATCH_CUT)
        return;
    fprintf(s->records, "%s\n[%u, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
            s->records_n++ ? "," : "", t->tid, r->t0, r->t1,
            as_patch_trips(&loop[r->loop], exit[loop[r->loop].first_exit + r->exit].add, r->iv0,
                           r->iv1),
            loop[r->loop].header);
}

/* Adds the events in the batch, which were not evaluated: the thread was killed, or runs on. */
static void add_batch(struct sums *s, const struct as_patch_thread *t)
{
    const struct as_patch_loop *loop = as_patch_at(s->plan, &s->plan->loop);
    const struct as_patch_exit *exit = as_patch_at(s->plan, &s->plan->exit);
    const int64_t n = AS_PATCH_BATCH_N + t->next / (int64_t)sizeof t->batch[0];
    for (int64_t i = 0; i < n; i++) {
        const struct as_patch_record *r = &t->batch[i];
        if (r->sp) {
            s->total[r->loop].dropped++;
            continue;
        }
        const uint64_t trips = as_patch_trips(
            &loop[r->loop], exit[loop[r->loop].first_exit + r->exit].add, r->iv0, r->iv1);
        print_record(s, t, r);
        s->total[r->loop].instances++;
        s->total[r->loop].trips += trips == UINT64_MAX ? 0 : trips;
        s->total[r->loop].ticks += r->t1 - r->t0;
        s->total[r->loop].switched += as_patch_is_switched(r);
        s->total[r->loop].faulted += as_patch_is_faulted(r);
    }
}

static void add_thread(struct sums *s, struct bytes file)
{
    const struct as_patch_thread *t = file.at;
    if (file.n < sizeof *t || t->magic != AS_PATCH_THREAD)
        return;
    const struct as_patch_total *total =
        (const void *)((const uint8_t *)t + as_patch_totals_at(t->loops));
    const uint64_t *counter = (const void *)((const uint8_t *)t + as_patch_counters_at(t->loops));
    s->threads++;
    s->dropped += t->dropped;
    s->kept += t->kept;
    for (uint32_t l = 0; l < t->loops; l++)
        s->paths += total[l].paths;
    for (uint32_t l = 0; l < t->loops; l++) {
        s->forgotten += total[l].instances > 0 && total[l].kept == 0;
        s->total[l].instances += total[l].instances;
        s->total[l].trips += total[l].trips;
        s->total[l].ticks += total[l].ticks;
        s->total[l].dropped += total[l].dropped;
        s->total[l].switched += total[l].switched;
        s->total[l].faulted += total[l].faulted;
        s->total[l].draws += total[l].draws + total[l].drawn - total[l].left;
    }
    for (uint64_t c = 0; c < t->counters; c++)
        s->counter[c] += counter[c];
    const struct as_patch_record *kept =
        (const void *)((const uint8_t *)t +
                       as_patch_kept_at(t->loops, t->counters, t->paths_room_b));
    for (uint64_t k = 0; k < t->kept; k++)
        print_record(s, t, &kept[k]);
    add_batch(s, t);
}

/* Writes the instances that ran as variants, a line per record. */
static void add_varied(struct sums *s, struct bytes file)
{
    const struct as_variant_file *v = file.at;
    const struct as_patch_region *region = as_patch_at(s->plan, &s->plan->region);
    if (file.n < sizeof *v || v->magic != AS_VARIANT_MAGIC)
        return;
    s->spent_ns += v->spent_ns;
    s->empty = v->empty_ticks > s->empty ? v->empty_ticks : s->empty;
    s->bare = v->bare_ticks > s->bare ? v->bare_ticks : s->bare;
    for (uint64_t i = 0; i < v->records; i++) {
        const struct as_variant_record *r = &v->record[i];
        fprintf(s->varied,
                "%s\n{\"address\": %" PRIu64
                ", \"kind\": \"%s\", \"flags\": %u, \"together\": %u, \"tid\": %u, \"t0\": %" PRIu64
                ", \"trips\": %" PRIu64 ", \"ticks\": %" PRIu64 ", \"written\": %" PRIu64
                ", \"empty\": %" PRIu64 "}",
                s->varied_n++ ? "," : "", region[r->region].header, as_variant_rules[r->kind].name,
                r->flags & ((1u << AS_VARIANT_TOGETHER) - 1), r->flags >> AS_VARIANT_TOGETHER,
                v->tid, r->t0, r->trips, r->ticks, r->written_b, v->empty_ticks);
    }
}

static void add_outcomes(struct sums *s, struct bytes file)
{
    const struct as_patch_outcomes *o = file.at;
    const struct as_patch_outcome *it = (const void *)(o + 1);
    s->missed += o->threads_missed;
    for (uint64_t r = 0; r < o->regions; r++) {
        s->done += it[r].kind == AS_PATCH_DONE;
        s->unvaried += it[r].kind == AS_PATCH_BARE;
        if (it[r].kind != AS_PATCH_DONE && it[r].kind != AS_PATCH_WAITING &&
            it[r].kind != AS_PATCH_BARE) {
            s->unplaced++;
            s->refused_errno = (int)it[r].error;
        }
    }
}

static double ticks_in_ns(const struct job *job)
{
    int64_t now_ns = 0;
    const uint64_t ticks = as_ticks_at(8, &now_ns) - job->begun;
    return (double)ticks / (double)(now_ns - job->begun_ns);
}

static void print(const struct job *job, const struct sums *s, FILE *f)
{
    const struct as_patch_loop *loop = as_patch_at(s->plan, &s->plan->loop);
    const struct as_patch_region *region = as_patch_at(s->plan, &s->plan->region);
    const struct as_patch_counter *counter = as_patch_at(s->plan, &s->plan->counter);
    fprintf(f,
            "{\"asked\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"regions\": %" PRIu64
            ", \"done\": %" PRIu64 ", \"unplaced\": %" PRIu64 ", \"unvaried\": %" PRIu64
            ", \"threads\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"dropped\": %" PRIu64
            ", \"kept\": %" PRIu64 ", \"paths\": %" PRIu64 ", \"forgotten\": %" PRIu64
            ", \"bodies\": %" PRIu64 ", \"seconds\": %.3f, \"errno\": %d,\n\"loops\": [",
            job->planned.asked, job->planned.refused, s->plan->region.n, s->done, s->unplaced,
            s->unvaried, s->threads, s->missed, s->dropped, s->kept, s->paths, s->forgotten,
            job->planned.whole, job->seconds, s->refused_errno);
    for (uint64_t l = 0; l < s->plan->loop.n; l++)
        fprintf(f,
                "%s\n{\"address\": %" PRIu64 ", \"module\": %u, \"counted\": %s, \"instances\": "
                "%" PRIu64 ", \"trips\": %" PRIu64 ", \"ticks\": %" PRIu64 ", \"dropped\": %" PRIu64
                ", \"switched\": %" PRIu64 ", \"faulted\": %" PRIu64 ", \"entries\": %" PRIu64 "}",
                l ? "," : "", loop[l].header, region[loop[l].region].module,
                loop[l].induction != AS_PATCH_NONE || loop[l].tally != AS_PATCH_NONE ||
                        loop[l].counter != UINT32_MAX
                    ? "true"
                    : "false",
                s->total[l].instances, s->total[l].trips, s->total[l].ticks, s->total[l].dropped,
                s->total[l].switched, s->total[l].faulted, s->total[l].draws);
    fprintf(f, "],\n\"blocks\": [");
    for (uint64_t c = 0; c < s->plan->counter.n; c++)
        fprintf(f,
                "%s\n{\"address\": %" PRIu64 ", \"module\": %u, \"counts\": %u, \"count\": %" PRIu64
                "}",
                c ? "," : "", counter[c].address, counter[c].module, counter[c].counts,
                s->counter[c]);
    fprintf(f,
            "],\n\"values\": %" PRIu64 ", \"unread\": %" PRIu64 ", \"called\": %" PRIu64
            ", \"lost\": %" PRIu64 ",\n",
            s->values, s->unread, s->called, s->lost);
    fprintf(f,
            "\"spent_ticks\": %.0f, \"empty_ticks\": %" PRIu64 ", \"bare_ticks\": %" PRIu64
            ",\n\"varied\": [%s],\n\"rest\": \"%s\",\n"
            "\"records\": [%s]}\n",
            (double)s->spent_ns * ticks_in_ns(job), s->empty, s->bare, s->varied_text, job->rest,
            job->attach ? s->records_text : "");
}

static void report(const struct job *job)
{
    const struct as_patch_plan *plan = map_file(job->directory, AS_PATCH_PLAN).at;
    struct sums s = {.plan = plan,
                     .total = calloc(plan->loop.n + 1, sizeof *s.total),
                     .counter = calloc(plan->counter.n + 1, sizeof *s.counter)};
    char path[4096];
    struct dirent *entry;
    DIR *dir = opendir(job->directory);
    s.varied = open_memstream(&s.varied_text, &s.varied_b);
    s.records = open_memstream(&s.records_text, &s.records_b);
    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, AS_PATCH_PREFIX, strlen(AS_PATCH_PREFIX)) == 0) {
            const struct bytes file = map_file(job->directory, entry->d_name);
            add_thread(&s, file);
            munmap((void *)(uintptr_t)file.at, file.n);
        }
        if (strncmp(entry->d_name, AS_PROBED_PREFIX, strlen(AS_PROBED_PREFIX)) == 0) {
            const struct bytes file = map_file(job->directory, entry->d_name);
            add_probed(&s, file);
            munmap((void *)(uintptr_t)file.at, file.n);
        }
        if (strncmp(entry->d_name, AS_VARIANT_PREFIX, strlen(AS_VARIANT_PREFIX)) == 0)
            add_varied(&s, map_file(job->directory, entry->d_name));
        if (strncmp(entry->d_name, AS_PATCH_STATE ".", strlen(AS_PATCH_STATE ".")) == 0)
            add_outcomes(&s, map_file(job->directory, entry->d_name));
    }
    if (dir)
        closedir(dir);
    fclose(s.varied);
    fclose(s.records);
    as_patch_counters_complete(plan, s.counter);
    snprintf(path, sizeof path, "%s/result.json", job->directory);
    FILE *f = fopen(path, "w");
    if (!f)
        die(path, "cannot be written");
    print(job, &s, f);
    fclose(f);
    free(s.total);
    free(s.counter);
    free(s.varied_text);
    free(s.records_text);
}

/* ---- Between -------------------------------------------------------------------------------- */

/* A program that nothing can be preloaded into is followed from before it is executed. */
static void follow(const struct job *job, pid_t pid, struct as_injector *injector)
{
    struct as_error err;
    if (as_injector_begin(injector, pid, job->directory, job->agent, &err) < 0)
        die(job->command[0], err.text);
}

static int run(struct job *job)
{
    struct as_injector injector = {0};
    int status = 0, gate[2];
    char byte;
    if (pipe(gate) < 0)
        die("pipe", "cannot be made");
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PTRACER, (unsigned long)getppid());
        close(gate[1]);
        while (read(gate[0], &byte, 1) > 0)
            ;
        close(gate[0]);
        if (job->is_injected) { /* what the C library in it does depends on where things lie */
            personality(ADDR_NO_RANDOMIZE);
        } else {
            setenv("LD_PRELOAD", job->agent, 1);
            setenv(AS_AGENT_DIRECTORY, job->directory, 1);
        }
        execv(job->command[0], job->command);
        _exit(126);
    }
    if (job->is_injected)
        follow(job, pid, &injector);
    close(gate[0]);
    close(gate[1]);
    struct rusage used;
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
        die(job->command[0], "cannot be run");
    as_injector_end(&injector);
    job->seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int attach(struct job *job)
{
    struct pollfd told = {.fd = job->is_told ? 0 : -1, .events = POLLIN};
    struct as_injector injector = {0};
    struct as_error err;
    if (as_injector_attach_check(job->attach, job->directory, &err) < 0 ||
        as_injector_attach(&injector, job->attach, job->directory, job->agent, &err) < 0)
        die("attach", err.text);
    if (job->is_told)
        puts("entered");
    fflush(stdout);
    poll(&told, 1, (int)job->ms);
    as_injector_leave(&injector);
    if (!as_injector_rest(&injector, job->rest, sizeof job->rest))
        job->rest[0] = 0;
    as_injector_end(&injector);
    return 0;
}

static void parse(struct job *job, int argc, char **argv)
{
    static const char *const mode[] = {"ident", "time", "sample", "count", "vary", "probe"};
    int at = 2;
    job->wish = (struct as_patch_wish){.mode = AS_PATCH_IDENT,
                                       .period = 1000,
                                       .kept = 256,
                                       .paths_b = 1 << 15,
                                       .variants = UINT32_MAX};
    for (unsigned i = 0; argc > 1 && i < 6; i++) {
        const size_t n = strlen(mode[i]);
        if (strncmp(argv[1], mode[i], n) != 0)
            continue;
        job->wish.mode = (enum as_patch_mode)i;
        if (argv[1][n] == ':')
            job->wish.period = (uint32_t)atoi(argv[1] + n + 1);
    }
    job->which.points = job->wish.mode == AS_PATCH_PROBE ? job->wish.period : 0;
    job->wish.points = job->which.points ? &planned_points : NULL;
    for (; at < argc && argv[at][0] == '-'; at++) {
        job->which.nests |= strcmp(argv[at], "--nests") == 0;
        job->which.bodies |= strcmp(argv[at], "--bodies") == 0;
        if (strcmp(argv[at], "--addresses") == 0)
            job->wish.addresses_b = 1 << 20;
        job->undo |= strcmp(argv[at], "--undo") == 0;
        job->is_told |= strcmp(argv[at], "--told") == 0;
        job->is_injected |= strcmp(argv[at], "--inject") == 0;
        job->together |= strcmp(argv[at], "--together") == 0;
        job->wish.slices |= strcmp(argv[at], "--slices") == 0;
        job->wish.nests |= strcmp(argv[at], "--outer") == 0;
        if (strcmp(argv[at], "--kept") == 0 && at + 1 < argc)
            job->wish.kept = (uint32_t)atoi(argv[++at]);
        if (strcmp(argv[at], "--attach") == 0 && at + 1 < argc)
            job->attach = (pid_t)atoi(argv[++at]);
        if (strcmp(argv[at], "--ms") == 0 && at + 1 < argc)
            job->ms = (unsigned)atoi(argv[++at]);
        if (strcmp(argv[at], "--limit") == 0 && at + 1 < argc)
            job->limit_ms = (unsigned)atoi(argv[++at]);
        if (strcmp(argv[at], "--share") == 0 && at + 1 < argc)
            job->share = (unsigned)atoi(argv[++at]);
        if (strcmp(argv[at], "--only") == 0 && at + 1 < argc && job->files < FILES_MOST)
            job->file[job->files++] = argv[++at];
    }
    if (at + 3 >= argc || strcmp(argv[at + 2], "--") != 0)
        die("usage", "MODE[:PERIOD] OPTION... DIRECTORY AGENT -- PROGRAM [ARGUMENT...]");
    job->directory = argv[at];
    job->agent = argv[at + 1];
    job->command = argv + at + 3;
    if (job->files == 0)
        job->file[job->files++] = job->command[0];
}

const char planned_program[] = "patch-run";

int main(int argc, char **argv)
{
    struct job job = {0};
    job.begun = as_ticks_at(8, &job.begun_ns);
    parse(&job, argc, argv);
    write_plan(&job);
    write_control(&job);
    const int status = job.attach ? attach(&job) : run(&job);
    report(&job);
    return status;
}
