/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples a running program from outside: perf events of the kernel, records in order of time, call
 * stacks, and the compact stream that stores them (doc/internals/sample.md).
 *
 * The layers are usable alone. A sampler returns records. A recorder takes records, knows the
 * address spaces, unwinds stacks and writes a stream. A stream reader returns its content. One
 * thread at a time per object.
 */
#ifndef AS_SAMPLE_SAMPLE_H
#define AS_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "object/object.h"

/* ---- What to sample ----------------------------------------------------------------------- */

enum as_sample_event {
    AS_EVENT_AUTO, /* the first of the others that this machine has */
    AS_EVENT_CYCLES,
    AS_EVENT_REF_CYCLES,
    AS_EVENT_CPU_CLOCK, /* a timer of the CPU time of the thread: wherever perf events are */
    AS_EVENT_TIMER,     /* timers inside the program: as_timer_sampler_*, never AUTO */
    AS_EVENTS
};

enum as_sample_stacks {
    AS_STACKS_OFF,
    AS_STACKS_FRAME, /* by frame pointers, in the kernel */
    AS_STACKS_DWARF, /* by a copy of the stack and unwind information */
    AS_STACKS_LBR    /* by branch records of the CPU; refused without them */
};

#define AS_RATE_LOW    97u
#define AS_RATE_MEDIUM 499u /* default */
#define AS_RATE_HIGH   1999u

/* All zero is a good choice but for `on_exec`. */
struct as_sample_options {
    uint8_t event;    /* as_sample_event */
    uint8_t stacks;   /* as_sample_stacks */
    bool kernel;      /* the kernel's share too, where permitted */
    bool switches;    /* records of threads leaving and entering a CPU */
    bool waits;       /* samples of the place where a thread leaves it, where permitted */
    bool no_children; /* neither processes nor threads that the process starts */
    bool on_exec;     /* `pid` is a stopped child: begin when it executes a program; else at once */
    bool few_events;  /* even with few CPUs (doc/internals/sample.md) */
    uint32_t rate_hz; /* per thread that runs; 0 = AS_RATE_MEDIUM */
    uint32_t stack_b; /* copied a sample (AS_STACKS_DWARF), at most 65,528; 0 = as needed */
    uint32_t ring_b;  /* kernel sample buffer per CPU; 0 = chosen */
};

/* The chosen method, and why not a better one. */
struct as_sample_choice {
    uint8_t event; /* as_sample_event, not AUTO */
    bool kernel, switches, waits, build_ids;
    bool imported; /* recorded before, perhaps elsewhere: processes of now are not those meant */
    /* Imported: to be added to a record's time for that since 1970, and the time at which all was
     * written. A file that was changed later than it was mapped is not what was mapped. */
    int64_t clock_offset_ns, written_ns;
    uint32_t rate_hz;
    uint32_t ring_b;
    uint32_t stack_b; /* copied a sample; 0: stacks are not copied */
    uint32_t deep_b;  /* the larger copy, with which it begins (as_sampler_deepen); 0: none */
    char reason[512]; /* one sentence: what was refused, why, and the fix; "" = nothing refused */
};

const char *as_sample_event_name(unsigned event); /* "cycles", ..., "timer" */

/* ---- Records ------------------------------------------------------------------------------ */

enum as_sample_kind {
    AS_SAMPLE_SAMPLE,
    AS_SAMPLE_MAP,  /* code was mapped */
    AS_SAMPLE_COMM, /* a thread has a new name, perhaps by executing a program */
    AS_SAMPLE_FORK, /* a thread or process began */
    AS_SAMPLE_EXIT,
    AS_SAMPLE_LOST,     /* the kernel had no room for records */
    AS_SAMPLE_SWITCH,   /* a thread entered or left a CPU */
    AS_SAMPLE_THROTTLE, /* the kernel stopped (on) or resumed sampling: it took too much time */
    AS_SAMPLE_END, /* how a process ended became known; not for a recorder, which takes facts */
    /* A recorder takes these, in any order: blocks of memory (doc/reference/accesses.md). */
    AS_SAMPLE_ALLOCATE, /* a block exists from then on */
    AS_SAMPLE_RELEASE,  /* the one that begins there is gone */
    AS_SAMPLE_INHERIT   /* a process begins with copies of the blocks of its parent */
};

/* Pointers are good until the callback returns. */
/* A frame of a Python function, innermost first. `name` NULL: an address on the stack,
 * in the native frame that runs the following frames, up to the next such address. */
struct as_python_frame {
    const char *file, *name;
    uint32_t first_line, line; /* below AS_PYTHON_LINES; 0: not known */
    bool calls;                /* it stands at a call */
    uint64_t at;
};
#define AS_PYTHON_LINES (1u << 20)

struct as_sample_record {
    uint8_t kind;   /* as_sample_kind */
    bool out;       /* SWITCH: leaves; THROTTLE: stopped; COMM: by executing a program */
    bool preempted; /* SWITCH: leaves though it could go on */
    bool in_kernel; /* SAMPLE */
    bool waits;     /* SAMPLE: not of time, but of the position where the thread leaves the CPU */
    uint32_t pid, tid, cpu;
    bool mapped;                     /* ALLOCATE: by mmap */
    uint32_t parent_pid, parent_tid; /* FORK, EXIT, INHERIT */
    uint64_t time_ns;                /* CLOCK_MONOTONIC */
    /* SAMPLE */
    uint64_t ip, period;   /* period: events (cycles, or ns of CPU time) that this sample is for */
    const uint64_t *chain; /* as the kernel gives it, with PERF_CONTEXT_* marks; n may be 0 */
    size_t chain_n;
    /* Calls that had not returned, the latest first, three words each: from, to, flags (LBR). NULL:
     * not asked for; then the user's part of `chain` counts. */
    const uint64_t *calls;
    size_t call_n;
    const uint64_t *regs; /* user registers by DWARF number, the pc as number 16; or NULL */
    uint64_t stack_at;    /* address of stack[0] */
    const uint8_t *stack;
    size_t stack_b;
    const struct as_python_frame *python; /* with `stack`; or NULL */
    size_t python_n;
    /* ALLOCATE: the same number has the same call stack, `chain`: return addresses. 0: none. */
    uint64_t site;
    /* MAP, ALLOCATE, RELEASE */
    uint64_t address, size_b, offset; /* offset in the file */
    uint64_t inode;
    uint64_t generation; /* of the inode, to tell its users in turn; 0 = not said */
    uint32_t device_major, device_minor;
    uint8_t build_id[20];
    uint8_t build_id_b;    /* 0 = none, or not said */
    bool build_id_by_path; /* read at the path when the recording ended, not of what was mapped */
    uint64_t file_b;       /* size and time of change when it was mapped; both 0: not said */
    int64_t mtime_ns;
    const char *text; /* MAP: path; COMM: name */
    /* LOST */
    uint64_t lost;
    /* END */
    int status; /* as wait(2) has it */
};

/* 0, or a negative code with `err` filled: ends the pumping. */
typedef int as_sample_sink(void *context, const struct as_sample_record *record,
                           struct as_error *err);

/* ---- Sampler ------------------------------------------------------------------------------ */

struct as_sampler;

struct as_sample_counts {
    uint64_t records;
    uint64_t samples;    /* of time */
    uint64_t lost;       /* samples that the kernel dropped (imported: records of all kinds) */
    uint64_t lost_other; /* records of tasks, maps and switches that it dropped */
    uint64_t throttled;  /* times that the kernel stopped sampling */
    uint64_t damaged;    /* records that could not be read: a kernel newer than this program */
    uint64_t late;       /* records that came after later ones had been handed out */
};

/*
 * Opens events for `pid`, its threads and (unless no_children) all later ones; see `on_exec`.
 * `options` may be NULL. AS_STACKS_LBR without branch records is UNSUPPORTED, with the reason.
 * Errors: PERMISSION (with the setting or capability and the command to fix it), UNSUPPORTED (no
 * such events), NOT_FOUND (no such process), LIMIT (descriptors, locked memory), NOMEM, IO.
 */
int as_sampler_open(pid_t pid, const struct as_sample_options *options, struct as_sampler **out,
                    struct as_error *err);
void as_sampler_close(struct as_sampler **sampler); /* NULL inside is fine */
const struct as_sample_choice *as_sampler_choice(const struct as_sampler *sampler);
const struct as_sample_counts *as_sampler_counts(const struct as_sampler *sampler);

/* Stops and resumes sampling; not before an on_exec process has executed. Errors: IO. */
int as_sampler_enable(struct as_sampler *sampler, bool on, struct as_error *err);

/* Turns to the larger copies of stacks, or back to the smaller. Nothing without choice.deep_b. */
void as_sampler_deepen(struct as_sampler *sampler, bool deep);

/* Waits until a kernel buffer is a quarter full, a process or file is new (for a process begun
 * with `on_exec`), or `other_fd` (-1: none) is readable. At most `timeout_ms`, and less if
 * records are pending. Returns true for an event, false for a timeout. */
bool as_sampler_wait(struct as_sampler *sampler, int other_fd, int timeout_ms);

/*
 * Empties the kernel's buffers and hands out, in order of time, what can no longer be overtaken;
 * `last`: everything. Call it a few times a second. The first call on a process that runs already
 * gives its maps and threads first. Memory is bounded by twice the kernel's buffers.
 */
int as_sampler_pump(struct as_sampler *sampler, bool last, as_sample_sink *sink, void *context,
                    struct as_error *err);

/* ---- Sampler by timers inside the program ------------------------------------------------- */

/*
 * For systems without perf events: a library in the program (LD_PRELOAD) gives each thread a CPU
 * timer and writes samples to files in a directory. This sampler reads them. The records have the
 * same form and go to the same sink (doc/internals/agent.md). Running processes are not supported.
 * Ignored options: event, kernel, switches, on_exec, no_children (see as_timer_sampler_only);
 * ring_b is per process (0 = chosen). Kernel time is included, at the calling place: the choice has
 * `kernel`.
 */
struct as_timer_sampler;

/*
 * Makes `directory` (which may exist; readable and writable by the user of the program, on a local
 * disk or in memory; it is left empty) ready for programs to come. `why`: the sentence that says
 * why not perf events, for the reason of the choice; NULL = they were not wanted. `options` may be
 * NULL. Errors: NOT_FOUND (the library is not beside this program), USAGE, PERMISSION, IO (disk
 * full, ...), NOMEM.
 */
int as_timer_sampler_open(const char *directory, const struct as_sample_options *options,
                          const char *why, struct as_timer_sampler **out, struct as_error *err);
/*
 * Removes directories in `place` with names that begin with `prefix` and a killed reader: created
 * by _open for this user, at least a minute ago, and unused. Failures are ignored.
 */
void as_timer_sampler_sweep(const char *place, const char *prefix);
/* Records that were not pumped are lost. Running programs continue without samples. NULL is
 * fine. */
void as_timer_sampler_close(struct as_timer_sampler **sampler);

/* Returns the words "NAME=VALUE" for the program, NULL-terminated, and the library to preload
 * (the fields `environment` and `preload` of as_launch_options). Owned by the sampler. */
const char *const *as_timer_sampler_environment(const struct as_timer_sampler *sampler);
const char *as_timer_sampler_preload(const struct as_timer_sampler *sampler);

/* Only process `pid` and its first thread: what it starts is left alone. Before it executes. */
void as_timer_sampler_only(struct as_timer_sampler *sampler, pid_t pid);

/*
 * Returns 0 if the program `path` can be sampled this way. Errors: UNSUPPORTED (statically linked,
 * not an ELF file of this machine, another C library, AddressSanitizer), PERMISSION (set-user-ID:
 * the loader ignores LD_PRELOAD); those of opening. For a script the interpreter is checked. Child
 * programs may differ.
 */
int as_timer_sampler_check(const char *path, struct as_error *err);

const struct as_sample_choice *as_timer_sampler_choice(const struct as_timer_sampler *sampler);
/* `lost`: samples for which a process had no room in its file. */
const struct as_sample_counts *as_timer_sampler_counts(const struct as_timer_sampler *sampler);

/* Counts of incomplete data, updated by pumping. */
struct as_timer_facts {
    uint64_t processes;      /* seen; every execution of a program counts */
    uint64_t threads_missed; /* without a timer: a limit (RLIMIT_SIGPENDING) or too many at once */
    uint64_t processes_missed; /* that found no room in the directory; no samples of them */
    int missed_errno;          /* why the last of either was missed; 0: none was */
    uint64_t incomplete;       /* processes that ended in the midst of writing a record */
    uint64_t short_threads;    /* that ended before their first sample */
    uint64_t short_threads_ns; /* of CPU time that these had */
    uint64_t python_read;      /* interpreters of Python with frames that are read */
    uint64_t python_other;     /* of a version with frames that are not read */
    uint64_t python_strange;   /* with structures other than those of their version */
    char python_version[16];   /* of the last that is not read; "": not known */
};
const struct as_timer_facts *as_timer_sampler_facts(const struct as_timer_sampler *sampler);

/* As those of as_sampler_*. After the program's end call the pump with `last`. */
int as_timer_sampler_enable(struct as_timer_sampler *sampler, bool on, struct as_error *err);
bool as_timer_sampler_wait(struct as_timer_sampler *sampler, int other_fd, int timeout_ms);
int as_timer_sampler_pump(struct as_timer_sampler *sampler, bool last, as_sample_sink *sink,
                          void *context, struct as_error *err);

/* ---- Counting ----------------------------------------------------------------------------- */

/*
 * Events that are counted, not sampled: for a process, its threads and all that they start. Names
 * are separated by commas: software events of the kernel ("page-faults", "context-switches", ...;
 * doc/internals/sample.md), or names of libpfm4 ("INST_RETIRED:ANY_P") where there are hardware
 * counters.
 */
struct as_counting;

struct as_count {
    const char *name;    /* as given */
    const char *known;   /* as the kernel or libpfm4 has it: "cs" is "context-switches" */
    const char *meaning; /* a sentence */
    const char *unit;    /* "ns" or "events" */
    uint64_t value;      /* scaled by enabled over running where the counters were shared */
    uint64_t raw;        /* as counted */
    uint64_t enabled_ns, running_ns; /* summed over threads; running < enabled: shared counters */
    bool user_only;                  /* what the kernel did is not in it: not permitted */
};

/*
 * `on_exec`: `pid` is a stopped child, counting begins when it executes a program; else at once,
 * for all its threads of now. `no_children`: neither processes nor threads that it starts. Errors:
 * USAGE (no such name: the nearest ones are said), UNSUPPORTED (this machine has no such counter),
 * PERMISSION, NOT_FOUND, LIMIT, NOMEM, IO. libpfm4 is one for the program: open from one thread at
 * a time.
 */
int as_counting_open(pid_t pid, const char *names, bool on_exec, bool no_children,
                     struct as_counting **out, struct as_error *err);
/*
 * The totals by now, in the order of names; good until the next call. After the end of the process
 * they are those of all that it ran. Errors: IO.
 */
int as_counting_read(struct as_counting *counting, const struct as_count **out, size_t *n,
                     struct as_error *err);
void as_counting_close(struct as_counting **counting); /* NULL inside is fine */

/* ---- Recorder ----------------------------------------------------------------------------- */

struct as_recorder;

/*
 * Makes the stream `path` (which must not exist) and writes it as records come; `max_b` 0 = no
 * limit, else samples beyond it are counted, not kept. Errors: IO, NOMEM.
 */
int as_recorder_new(const char *path, const struct as_sample_choice *choice, uint64_t max_b,
                    struct as_recorder **out, struct as_error *err);
/* An as_sample_sink; its context is the recorder. */
int as_recorder_add(void *recorder, const struct as_sample_record *record, struct as_error *err);
/* Files with samples that have lost their names are copied to `directory`, which must exist:
 * attribution will need them. Those that were nameless when they were first seen when the stream is
 * flushed, the others when it is finished. The text is copied. Errors: NOMEM. */
int as_recorder_keep(struct as_recorder *recorder, const char *directory, struct as_error *err);
/* A fact on the recording (AS_STREAM_INFO), or on a process from `time_ns` on
 * (AS_STREAM_PROCESS): names and meanings in doc/internals/sample.md. Texts up to 4096 bytes. */
int as_recorder_info(struct as_recorder *recorder, const char *name, const char *value,
                     struct as_error *err);
int as_recorder_process(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns,
                        const char *name, const char *value, struct as_error *err);
/* The same of one of its threads. */
int as_recorder_thread(struct as_recorder *recorder, uint32_t pid, uint32_t tid, uint64_t time_ns,
                       const char *name, const char *value, struct as_error *err);
/* Counts of samples with a copied stack: all, those with an insufficient copy or depth, and
 * those for which choice.stack_b was too small. */
struct as_stack_counts {
    uint64_t copied, cut, deep;
};
const struct as_stack_counts *as_recorder_stacks(const struct as_recorder *recorder);
/* Makes recorded data safe against a kill of this process. Call it about once per second. */
int as_recorder_flush(struct as_recorder *recorder, struct as_error *err);
/* Writes the end and closes; `counts` may be NULL. The recorder is gone in any case. */
int as_recorder_finish(struct as_recorder **recorder, const struct as_sample_counts *counts,
                       struct as_error *err);

/* ---- Stream ------------------------------------------------------------------------------- */

enum as_module_kind {
    AS_MODULE_FILE,    /* addresses are offsets in the file */
    AS_MODULE_VDSO,    /* offsets in the image that the kernel maps */
    AS_MODULE_KERNEL,  /* addresses as they are */
    AS_MODULE_ANON,    /* generated code: addresses as they are, in the sample's process */
    AS_MODULE_UNKNOWN, /* nothing known is mapped there */
    AS_MODULE_PYTHON   /* a file of Python: addresses are AS_PYTHON_ADDRESS */
};

/* The place of a line in a function of Python that begins at a line: so it is the same in all
 * processes and runs. `tag` tells functions on one line apart. */
#define AS_PYTHON_ADDRESS(first_line, tag, line)                                                   \
    ((uint64_t)(first_line) << 36 | (uint64_t)(tag) << 20 | (line))
#define AS_PYTHON_LINE(address)     ((uint32_t)(address) & (AS_PYTHON_LINES - 1))
#define AS_PYTHON_FUNCTION(address) ((address) & ~(uint64_t)(AS_PYTHON_LINES - 1))

struct as_stream_module {
    const char *path;
    const char *kept; /* name of its copy (as_recorder_keep); NULL: there is none */
    struct as_file_identity file;
    uint64_t device; /* as mapped: major << 32 | minor */
    uint8_t kind;    /* as_module_kind */
};

/*
 * Opens the file of a module: the copy in `directory`, else below `root` (of the process, in a
 * container), else where its path says; the vdso is this process's own, all have the same. Either
 * text may be NULL. Errors: NOT_FOUND (gone, or another file stands there now, see
 * as_object_open_same; no file is behind a module of this kind), those of as_object_open.
 */
int as_sample_module_open(const struct as_stream_module *module, const char *root,
                          const char *directory, const struct as_object_options *options,
                          struct as_object **out, struct as_error *err);

struct as_stream_thread {
    uint32_t pid, tid;
};

/* One frame; `parent` is its caller, and 0 ends the chain. An address is in the executed
 * instruction or, for a caller, in the call. */
struct as_stream_node {
    uint32_t parent; /* below the node's own index */
    uint32_t module;
    uint64_t address;
};

/* How a stack ends. */
enum as_stack_end {
    AS_STACK_COMPLETE, /* at the outermost frame */
    AS_STACK_CUT,      /* the copy of the stack or the depth did not suffice */
    AS_STACK_BROKEN,   /* no unwind information, or it led nowhere */
    AS_STACK_SWITCHED  /* a signal handler ran on an alternate stack: the rest lies on another */
};

enum as_stream_kind {
    AS_STREAM_SAMPLE,
    AS_STREAM_MAP,
    AS_STREAM_COMM,
    AS_STREAM_FORK,
    AS_STREAM_EXIT,
    AS_STREAM_LOST,
    AS_STREAM_SWITCH,
    AS_STREAM_THROTTLE,
    AS_STREAM_INFO,   /* a fact on the recording: text = name, value */
    AS_STREAM_PROCESS /* a fact on the process of `thread`: text = name, value */
};

struct as_stream_record {
    uint8_t kind;               /* as_stream_kind */
    uint8_t end;                /* SAMPLE: as_stack_end */
    bool out, preempted, waits; /* as in as_sample_record */
    uint32_t thread;            /* index into threads */
    uint32_t parent;            /* FORK: index into threads */
    uint32_t cpu;
    uint32_t node; /* SAMPLE: innermost frame */
    uint32_t module;
    uint64_t time_ns;
    uint64_t period;
    uint64_t address, size_b, offset; /* MAP */
    uint64_t lost;
    const char *text, *value; /* COMM, INFO, PROCESS; good until the next record */
};

struct as_stream;

/* Errors: NOT_FOUND, PERMISSION, IO, CORRUPT (not a stream), UNSUPPORTED (a newer version), NOMEM.
 */
int as_stream_open(const char *path, struct as_stream **out, struct as_error *err);
void as_stream_close(struct as_stream **stream);
/* 1: `*out` is the next record; 0: there is none; negative: NOMEM. */
int as_stream_next(struct as_stream *stream, struct as_stream_record *out, struct as_error *err);

/* A part of a stream, in times of the stream. */
struct as_stream_choice {
    uint64_t from_ns, to_ns;               /* records of from <= time < to; `to` 0: no end */
    const struct as_stream_thread *thread; /* of these; none: of all */
    size_t thread_n;
};
/*
 * From now on records of the part, from its beginning on; NULL: all again. Facts on the recording
 * (INFO) are in every part. Only blocks in which something of it is are read, and definitions; of
 * a stream of versions up to 3, which has no index, all. Errors: NOMEM.
 */
int as_stream_choose(struct as_stream *stream, const struct as_stream_choice *choice,
                     struct as_error *err);
/* How it was read by now; of streams of version 4 on. */
struct as_stream_reading {
    uint64_t blocks, loaded; /* in the file; loaded, one that was loaded again counts again */
    uint64_t loaded_b;       /* bytes of the file */
    uint64_t damaged;        /* blocks, or parts of them, that were left out */
    bool indexed;            /* by its index, which the writer puts at the end */
};
struct as_stream_reading as_stream_reading(const struct as_stream *stream);
/* After the last record: whether the end is missing (the writer was killed) or damaged. Damage in
 * the midst ends streams of versions up to 3; of later ones see as_stream_reading. */
bool as_stream_truncated(const struct as_stream *stream);
/* Tables as far as they were read; they grow, and move, with every record. A RESET of nodes by
 * the writer is seen as more nodes: indices stay good. */
const struct as_stream_module *as_stream_modules(const struct as_stream *stream, size_t *n);
const struct as_stream_thread *as_stream_threads(const struct as_stream *stream, size_t *n);
const struct as_stream_node *as_stream_nodes(const struct as_stream *stream, size_t *n);
/* Counts of the sampler, and samples not kept for the limit of size; zero while truncated. */
const struct as_sample_counts *as_stream_counts(const struct as_stream *stream, uint64_t *dropped);

/* ---- Files of Linux perf ------------------------------------------------------------------ */

struct as_perf_data;

/* An event of the file. */
struct as_perf_event {
    const char *name; /* as perf wrote it ("cycles:u"), or made from its numbers */
    bool is_time;     /* its samples are handed out; those of the others are counted only */
    uint64_t samples; /* read by now */
};

/* Facts that the file has about itself. Missing texts are NULL, missing numbers 0. */
struct as_perf_facts {
    const char *host, *os_release, *perf_version, *arch, *cpu_model, *cpu_id;
    uint32_t cpus_online, cpus;
    uint64_t memory_b;
    const char *const *perf_argv; /* the command line of perf itself; ends with NULL */
    const char *const *argv;      /* its part that is the program's; ends with NULL; or NULL */
    uint8_t stacks;               /* as_sample_stacks that the samples carry */
    uint64_t first_ns, last_ns;   /* of the samples; `last_ns` after reading, if not before */
    int64_t clock_offset_ns;      /* to be added to a record's time for that since 1970 */
    bool clock_offset_exact;      /* else from the time at which the file was last written */
    bool compressed, pipe;
    uint64_t idle; /* samples of idle CPUs so far: not handed out */
    const struct as_perf_event *event;
    size_t event_n;
};

/*
 * Opens a file of `perf record`, also an unfinished one, or one saved from a pipe
 * (doc/manual/import.md). Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, IO, CORRUPT (not such a file,
 * or unknown events), ARCH (a big-endian or 32-bit machine), UNSUPPORTED (no event counts time; the
 * first version of the format), NOMEM.
 */
int as_perf_data_open(const char *path, struct as_perf_data **out, struct as_error *err);
void as_perf_data_close(struct as_perf_data **data); /* NULL inside is fine */
const struct as_perf_facts *as_perf_data_facts(const struct as_perf_data *data);
/* For a recorder. The reason says which event was taken and what is not as it should be. */
const struct as_sample_choice *as_perf_data_choice(const struct as_perf_data *data);
const struct as_sample_counts *as_perf_data_counts(const struct as_perf_data *data);

/*
 * Hands out the records in order of time, once. Times are of the clock of the file; a record
 * without time has that of the previous one. Damaged records are skipped or end the reading,
 * without an error: see below. Memory is bounded (doc/manual/import.md). Errors: NOMEM, those of
 * the sink.
 */
int as_perf_data_read(struct as_perf_data *data, as_sample_sink *sink, void *context,
                      struct as_error *err);
/* One sentence on the first damage seen; "" when there is none. */
const char *as_perf_data_damage(const struct as_perf_data *data);
/* How far the reading is, in bytes of the file. For a progress bar in the sink. */
void as_perf_data_progress(const struct as_perf_data *data, uint64_t *done, uint64_t *total);

#endif
