/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of the numbers in a Paraver trace: from its labels, otherwise from the public table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exchange/prv_taking.h"

bool as_prv_is_call(int64_t type)
{
    return (type >= AS_PRV_MPI_POINT && type <= AS_PRV_MPI_IO) || type == AS_PRV_OMP_CALL ||
           type == AS_PRV_USER || (type >= AS_PRV_THREADS && type <= AS_PRV_THREADS_LAST) ||
           type == AS_PRV_FILES || type == AS_PRV_PROCESSES || type == AS_PRV_MEMORY;
}

/* Returns true for completion routines, a separate group here. Paraver lists MPI_Test under the
 * other calls. */
static bool completes(const char *text)
{
    return strncmp(text, "MPI_Wait", 8) == 0 ||
           (strncmp(text, "MPI_Test", 8) == 0 && strcmp(text, "MPI_Test_cancelled") != 0);
}

/* Returns true for start routines, a separate group too. */
static bool is_start(const char *text)
{
    return strcmp(text, "MPI_Start") == 0 || strcmp(text, "MPI_Startall") == 0;
}

static uint32_t group_of(int64_t type, const char *text)
{
    switch (type) {
    case AS_PRV_MPI_POINT:
        return completes(text) ? AS_TRACE_OF_MPI_COMPLETION : AS_TRACE_OF_MPI_POINT;
    case AS_PRV_MPI_GROUP:
        return AS_TRACE_OF_MPI_COLLECTIVE;
    case AS_PRV_MPI_OTHER:
        return completes(text)  ? AS_TRACE_OF_MPI_COMPLETION
               : is_start(text) ? AS_TRACE_OF_MPI_POINT
                                : AS_TRACE_OF_MPI_OTHER;
    case AS_PRV_MPI_RMA:
        return AS_TRACE_OF_MPI_RMA;
    case AS_PRV_MPI_IO:
        return AS_TRACE_OF_MPI_IO;
    case AS_PRV_OMP_CALL:
        return AS_TRACE_OF_OPENMP;
    case AS_PRV_FILES:
        return AS_TRACE_OF_FILES;
    case AS_PRV_PROCESSES:
        return AS_TRACE_OF_PROCESS;
    case AS_PRV_MEMORY:
        return AS_TRACE_OF_MEMORY;
    case AS_PRV_USER:
        return AS_TRACE_OF_USER;
    default: /* rwlocks, mutexes and conditions: 61000005 to 61000012 */
        return type >= AS_PRV_THREADS + 5 && type <= AS_PRV_THREADS + 12 ? AS_TRACE_OF_LOCK
                                                                         : AS_TRACE_OF_THREAD;
    }
}

static const char *text_of_table(int64_t type, int64_t value)
{
    const bool is_mpi = type >= AS_PRV_MPI_POINT && type <= AS_PRV_MPI_IO;
    for (size_t i = 0; is_mpi && i < as_prv_routines_n; i++)
        if (as_prv_routines[i].number == value)
            return as_prv_routines[i].label;
    for (size_t i = 0; !is_mpi && i < as_prv_calls_n; i++)
        if (as_prv_calls[i].type == type && as_prv_calls[i].number == value)
            return as_prv_calls[i].label;
    return NULL;
}

static const char *own_label(struct as_prv_reading *t, const char *text, size_t n)
{
    char *copy = as_malloc(n + 1);
    if (!copy || as_vec_push(&t->owned, copy) < 0) {
        as_free(copy);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

/* Returns the routine name of a call. Public tools may write "read()". For pthread calls their
 * labels tell only that a call begins. */
static const char *text_of_call(struct as_prv_reading *t, int64_t type, int64_t value)
{
    char made[64];
    const bool is_pthread = type > AS_PRV_THREADS && type <= AS_PRV_THREADS_LAST;
    const char *label = is_pthread && value == 1 ? text_of_table(type, value)
                                                 : as_prv_pcf_label(&t->pcf, type, value);
    if (!label || !*label)
        label = text_of_table(type, value);
    if (!label) {
        snprintf(made, sizeof made, "%" PRId64 ":%" PRId64, type, value);
        return own_label(t, made, strlen(made));
    }
    const size_t n = strlen(label);
    return n > 2 && strcmp(label + n - 2, "()") == 0 ? own_label(t, label, n - 2) : label;
}

/* Returns the group of a state that replaces routines in a trace without calls. */
static uint32_t group_of_state(int64_t state)
{
    switch (state) {
    case 3: /* waiting for a message */
    case 4: /* send: blocking, immediate */
    case 6:
    case 10:
    case 11:
    case 16:
        return AS_TRACE_OF_MPI_POINT;
    case 8:
        return AS_TRACE_OF_MPI_COMPLETION;
    case 13:
        return AS_TRACE_OF_MPI_COLLECTIVE;
    case AS_PRV_IO:
        return AS_TRACE_OF_FILES;
    case AS_PRV_SYNCHRONISING:
    case AS_PRV_FORK_JOIN:
        return AS_TRACE_OF_OPENMP;
    case AS_PRV_BLOCKED:
        return AS_TRACE_OF_SLEEP;
    case AS_PRV_REMOTE:
        return AS_TRACE_OF_MPI_RMA;
    default:
        return AS_TRACE_OF_USER;
    }
}

static uint64_t key_of(int64_t type, int64_t value)
{
    return as_hash_mix(as_hash_mix(7, (uint64_t)type), (uint64_t)value);
}

/* Finds a name number. If two keys have the same hash, the second is not in the map and is
 * searched. */
static bool find_taken(const struct as_prv_reading *t, int64_t type, int64_t value,
                       uint32_t *number)
{
    const uint32_t at = as_map_u64_get(&t->names, key_of(type, value));
    if (at == AS_MAP_NONE)
        return false;
    for (size_t i = at; i < t->name.n; i++)
        if (t->name.at[i].type == type && t->name.at[i].value == value) {
            *number = (uint32_t)i + 1;
            return true;
        }
    return false;
}

int as_prv_taken_text(struct as_prv_reading *t, int64_t type, int64_t value, uint32_t group,
                      const char *text, uint32_t *number)
{
    if (find_taken(t, type, value, number))
        return 0;
    const uint64_t key = key_of(type, value);
    *number = (uint32_t)t->name.n + 1;
    if (!text)
        return AS_ERR_NOMEM;
    AS_TRY(as_vec_push(&t->name, (struct as_prv_import_name){type, value, group, text}));
    return as_map_u64_get(&t->names, key) == AS_MAP_NONE
               ? as_map_u64_put(&t->names, key, *number - 1)
               : 0;
}

int as_prv_taken_name(struct as_prv_reading *t, int64_t type, int64_t value, uint32_t *number)
{
    if (find_taken(t, type, value, number))
        return 0;
    const char *text = text_of_call(t, type, value);
    return as_prv_taken_text(t, type, value, text ? group_of(type, text) : 0, text, number);
}

int as_prv_taken_state(struct as_prv_reading *t, int64_t state, uint32_t *number)
{
    if (find_taken(t, -1, state, number))
        return 0;
    const char *text = as_prv_pcf_state(&t->pcf, state);
    for (size_t i = 0; !text && i < as_prv_states_n; i++)
        if (as_prv_states[i].number == state)
            text = as_prv_states[i].label;
    return as_prv_taken_text(t, -1, state, group_of_state(state), text ? text : "state", number);
}
