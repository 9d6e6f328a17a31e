/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of Paraver traces for routines, states, communicators and counters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "exchange/prv_write.h"

#define FIRST_EXTRA 2000u /* first number of routines without a public number */

static bool fits_name(const char *routine, const char *name)
{
    size_t n = strlen(name);
    if (n && name[n - 1] == '*')
        return strncmp(routine, name, n - 1) == 0;
    return strcmp(routine, name) == 0;
}

static const struct as_prv_label *label_of(const struct as_prv_label *labels, size_t n,
                                           const char *routine)
{
    for (size_t i = 0; i < n; i++)
        if (fits_name(routine, labels[i].label))
            return &labels[i];
    return NULL;
}

/* ---- States ---------------------------------------------------------------------------------- */

static int64_t state_of_mpi(const char *routine, uint32_t group)
{
    const struct as_prv_label *does =
        routine ? label_of(as_prv_doings, as_prv_doings_n, routine) : NULL;
    if (does)
        return does->number;
    if (group == AS_TRACE_OF_MPI_COLLECTIVE)
        return AS_PRV_GROUP;
    if (group == AS_TRACE_OF_MPI_RMA)
        return AS_PRV_REMOTE;
    return group == AS_TRACE_OF_MPI_IO ? AS_PRV_IO : AS_PRV_OTHERS;
}

static int64_t state_of_opencl(const char *routine)
{
    const struct as_prv_label *does =
        routine ? label_of(as_prv_doings, as_prv_doings_n, routine) : NULL;
    return does ? does->number : AS_PRV_FORK_JOIN;
}

/* Returns the state of an MPI interval. There are many intervals and few routines, so results are
 * cached. */
static int64_t known_state_of_mpi(struct as_prv_writer *w, const char *routine, uint32_t group)
{
    const size_t slot = ((uintptr_t)routine >> 4) % AS_PRV_STATES_KNOWN;
    if (w->state_known[slot].routine != routine || !routine)
        w->state_known[slot] = (struct as_prv_state_known){routine, state_of_mpi(routine, group)};
    return w->state_known[slot].state;
}

int64_t as_prv_state_of(struct as_prv_writer *w, enum as_activity activity, const char *routine,
                        uint32_t group)
{
    switch (activity) {
    case AS_ACTIVITY_COMPUTING:
        return AS_PRV_RUNNING;
    case AS_ACTIVITY_MPI:
        return known_state_of_mpi(w, routine, group);
    case AS_ACTIVITY_OPENMP:
        return routine ? AS_PRV_FORK_JOIN : AS_PRV_SYNCHRONISING;
    case AS_ACTIVITY_THREADS:
        return AS_PRV_SYNCHRONISING;
    case AS_ACTIVITY_FILES:
        return AS_PRV_IO;
    case AS_ACTIVITY_SLEEPING:
        return AS_PRV_BLOCKED;
    case AS_ACTIVITY_OPENCL:
        return state_of_opencl(routine);
    default:
        return AS_PRV_IDLE;
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Returns the event type of a call group; 0: not written. */
static uint32_t type_of_group(uint32_t group)
{
    switch (group) {
    case AS_TRACE_OF_MPI_POINT:
    case AS_TRACE_OF_MPI_COMPLETION:
        return AS_PRV_MPI_POINT;
    case AS_TRACE_OF_MPI_COLLECTIVE:
        return AS_PRV_MPI_GROUP;
    case AS_TRACE_OF_MPI_OTHER:
        return AS_PRV_MPI_OTHER;
    case AS_TRACE_OF_MPI_RMA:
        return AS_PRV_MPI_RMA;
    case AS_TRACE_OF_MPI_IO:
        return AS_PRV_MPI_IO;
    case AS_TRACE_OF_OPENMP:
        return AS_PRV_OMP_CALL;
    case AS_TRACE_OF_THREAD:
    case AS_TRACE_OF_LOCK:
    case AS_TRACE_OF_SLEEP:
        return AS_PRV_THREADS;
    case AS_TRACE_OF_FILES:
        return AS_PRV_FILES;
    case AS_TRACE_OF_MEMORY:
        return AS_PRV_MEMORY;
    case AS_TRACE_OF_PROCESS:
        return AS_PRV_PROCESSES;
    case AS_TRACE_OF_USER:
        return AS_PRV_USER;
    case AS_TRACE_OF_OPENCL:
        return AS_PRV_OPENCL;
    case AS_TRACE_OF_COPY:
    case AS_TRACE_OF_KERNEL:
        return AS_PRV_OPENCL_DEVICE;
    default:
        return 0;
    }
}

bool as_prv_is_mpi(uint32_t type)
{
    return type >= AS_PRV_MPI_POINT && type <= AS_PRV_MPI_IO;
}

static int extra_value(struct as_prv_writer *w, uint32_t type, const char *text, uint32_t *out)
{
    const uint64_t hash = as_hash_text(type, text);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&w->extras, hash);
         (at = as_index_next(&w->extras, &probe)) != AS_INDEX_NONE;)
        if (w->extra.at[at].type == type && strcmp(w->extra.at[at].text, text) == 0) {
            *out = w->extra.at[at].number;
            return 0;
        }
    *out = FIRST_EXTRA + (uint32_t)w->extra.n;
    AS_TRY(as_vec_push(&w->extra, (struct as_prv_extra){type, *out, text}));
    return as_index_add(&w->extras, hash, (uint32_t)(w->extra.n - 1));
}

static int number_call(struct as_prv_writer *w, struct as_trace_name name, struct as_prv_call *out)
{
    const char *text = name.text ? name.text : "?";
    out->type = type_of_group(name.group);
    const struct as_prv_label *known = NULL;
    if (name.group == AS_TRACE_OF_KERNEL) { /* its name is another event's value */
        out->is_known = true;
        out->value = AS_PRV_OPENCL_RUNS_KERNEL;
        return extra_value(w, AS_PRV_OPENCL_KERNEL, text, &out->kernel);
    }
    if (as_prv_is_mpi(out->type))
        known = label_of(as_prv_routines, as_prv_routines_n, text);
    else if (out->type && out->type != AS_PRV_USER)
        known = label_of(as_prv_calls, as_prv_calls_n, text);
    out->is_known = true;
    if (known && as_prv_is_mpi(out->type))
        w->routine_used[known - as_prv_routines] = true;
    if (known) {
        const bool is_command = name.group == AS_TRACE_OF_COPY; /* calls have equal values */
        out->type = known->type && !is_command ? known->type : out->type;
        out->value = known->number;
        return 0;
    }
    return out->type ? extra_value(w, out->type, text, &out->value) : 0;
}

int as_prv_call_of(struct as_prv_writer *w, uint32_t process, int64_t name, struct as_prv_call *out)
{
    const struct as_trace_process *p = &w->trace->process.at[process];
    if (name < 0 || (uint64_t)name >= p->name.n)
        return number_call(w, as_trace_name_of(p, name), out);
    struct as_prv_call *call = &w->call.at[process][name];
    const int rc = call->is_known ? 0 : number_call(w, p->name.at[name], call);
    *out = *call;
    return rc;
}

/* ---- Types ----------------------------------------------------------------------------------- */

int as_prv_type_of(struct as_prv_writer *w, int64_t type, uint32_t *out)
{
    struct as_prv_event_type added = {.type = type};
    *out = as_index_of_word(&w->types, w->type.at, sizeof *w->type.at, (uint64_t)type);
    if (*out != AS_INDEX_NONE)
        return 0;
    *out = (uint32_t)w->type.n;
    added.text_n = (uint32_t)snprintf(added.text, sizeof added.text, ":%" PRId64 ":", type);
    AS_TRY(as_vec_push(&w->type, added));
    return as_index_add_word(&w->types, (uint64_t)type, *out);
}

/* ---- All else -------------------------------------------------------------------------------- */

int64_t as_prv_comm_number(struct as_prv_writer *w, uint64_t global)
{
    const uint32_t at = as_index_of_word(&w->comms, w->comm.at, sizeof *w->comm.at, global);
    if (at != AS_INDEX_NONE)
        return (int64_t)at + 1;
    if (as_vec_push(&w->comm, global) < 0 ||
        as_index_add_word(&w->comms, global, (uint32_t)(w->comm.n - 1)) < 0)
        return -1;
    return (int64_t)w->comm.n;
}

int64_t as_prv_function_value(struct as_prv_writer *w, int64_t function)
{
    const uint64_t address = (uint64_t)function;
    const uint32_t at =
        as_index_of_word(&w->functions, w->function.at, sizeof *w->function.at, address);
    if (at != AS_INDEX_NONE)
        return (int64_t)at + 1;
    if (as_vec_push(&w->function, function) < 0 ||
        as_index_add_word(&w->functions, address, (uint32_t)(w->function.n - 1)) < 0)
        return -1;
    return (int64_t)w->function.n;
}

/* Public numbers of hardware counters: those of the PAPI presets. */
static const struct {
    const char *name, *public_name;
    int64_t type;
} hardware_counters[] = {
    {"instructions", "PAPI_TOT_INS", AS_PRV_HARDWARE + 50},
    {"cycles", "PAPI_TOT_CYC", AS_PRV_HARDWARE + 59},
    {"cpu-cycles", "PAPI_TOT_CYC", AS_PRV_HARDWARE + 59},
    {"ref-cycles", "PAPI_REF_CYC", AS_PRV_HARDWARE + 107},
    {"branches", "PAPI_BR_INS", AS_PRV_HARDWARE + 55},
    {"branch-instructions", "PAPI_BR_INS", AS_PRV_HARDWARE + 55},
    {"branch-misses", "PAPI_BR_MSP", AS_PRV_HARDWARE + 46},
    {"cache-misses", "PAPI_L3_TCM", AS_PRV_HARDWARE + 8},
};
#define HARDWARE_COUNTERS_N (sizeof hardware_counters / sizeof *hardware_counters)

/* Software events of perf, written like those of a CPU. */
static const char *const software_counters[] = {
    "alignment-faults", "context-switches", "cpu-migrations", "emulation-faults",
    "major-faults",     "minor-faults",     "page-faults",    "task-clock"};

/* Returns true for counters of the CPU. Names of libpfm4 have colons; imported names may begin with
 * PAPI_. */
static bool is_counted_by_cpu(const char *name)
{
    bool is = strncmp(name, "PAPI_", 5) == 0 || strchr(name, ':');
    for (size_t i = 0; !is && i < sizeof software_counters / sizeof *software_counters; i++)
        is = strcmp(name, software_counters[i]) == 0;
    return is;
}

static void choose_counter_type(struct as_prv_counter *counter, size_t at)
{
    const size_t n = strcspn(counter->text, " [(");
    counter->type = AS_PRV_COUNTERS + (int64_t)at;
    if (counter->is_real)
        return;
    for (size_t i = 0; i < HARDWARE_COUNTERS_N; i++) {
        const char *public_name = hardware_counters[i].public_name;
        const bool is_known = strcmp(counter->text, hardware_counters[i].name) == 0;
        if (!is_known && (strlen(public_name) != n || strncmp(counter->text, public_name, n) != 0))
            continue;
        counter->type = hardware_counters[i].type;
        counter->public_name = is_known ? public_name : NULL;
        return;
    }
    if (is_counted_by_cpu(counter->text))
        counter->type = AS_PRV_HARDWARE_OTHERS + (int64_t)at;
}

static size_t count_threads(const struct as_trace *trace)
{
    size_t n = 0;
    as_vec_foreach (&trace->process, process)
        n += process->thread.n;
    return n;
}

static int number_counter(struct as_prv_writer *w, const char *name, bool is_real, uint32_t *out)
{
    const uint64_t hash = as_hash_text(is_real, name);
    for (struct as_probe probe = as_index_probe(&w->counters, hash);
         (*out = as_index_next(&w->counters, &probe)) != AS_INDEX_NONE;)
        if (w->counter.at[*out].is_real == is_real && strcmp(w->counter.at[*out].text, name) == 0)
            return 0;
    struct as_prv_counter counter = {.text = name, .is_real = is_real};
    choose_counter_type(&counter, w->counter.n);
    if (counter.type < AS_PRV_COUNTERS &&
        !(counter.latest = as_calloc(count_threads(w->trace) + 1, sizeof *counter.latest)))
        return AS_ERR_NOMEM;
    if (as_vec_push(&w->counter, counter) < 0) {
        as_free(counter.latest);
        return AS_ERR_NOMEM;
    }
    *out = (uint32_t)(w->counter.n - 1);
    return as_index_add(&w->counters, hash, *out);
}

struct as_prv_counter *as_prv_counter_of(struct as_prv_writer *w, const char *name, bool is_real)
{
    struct as_prv_counted *known = &w->counted[((uintptr_t)name >> 4) % AS_PRV_COUNTED_KNOWN];
    if (known->text != name || known->is_real != is_real) {
        uint32_t at;
        if (number_counter(w, name, is_real, &at) < 0)
            return NULL;
        *known = (struct as_prv_counted){name, is_real, at};
    }
    return &w->counter.at[known->at];
}
