/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process writes a file rank.K in one write: its number of beats, the number of barriers, and
 * its error. Rank 0 reads all files, the others read that of rank 0. It uses files instead of MPI
 * for three reasons. The experiment needs a shared file system anyway. MPI has several ABIs, and no
 * MPI library needs to be loaded. A rank that dies does not end the others without a message.
 *
 * Files of an earlier run are recognised: their beats do not change, and they lack the number of
 * rank 0, which the ranks of this run repeat.
 */
#include <stddef.h>

#include "launch/party.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fnv.h"
#include "launch/launch.h"

#define PARTY_MAGIC UINT64_C(0x3179747261507361)
/* Interval of the first BEATS_FAST beats: others wait for the first. */
#define BEAT_FAST_NS INT64_C(100000000)
#define BEAT_NS      INT64_C(500000000)
#define DEAD_NS      INT64_C(3000000000) /* a file without beats for so long is left over */
#define BEATS_FAST   50u
/* Network file systems may hide a new file for a minute. */
#define PATIENCE_NS INT64_C(90000000000)
#define RANKS_MOST  65536

struct party_state {
    /* Random number of this process, and that of rank 0 once it was read. */
    uint64_t magic, number, hub;
    uint64_t beats_n;
    uint32_t met_n, size;
    int32_t failed; /* error code; 0: none */
    uint32_t left;
    char text[AS_ERROR_TEXT_B];
    uint64_t sum; /* checksum over all members before it */
};
_Static_assert(offsetof(struct party_state, sum) == sizeof(struct party_state) - sizeof(uint64_t),
               "the sum covers all bytes before it");

struct party_other {
    uint64_t number, beats_n;
    int64_t moved_ns; /* time of its last seen beat; 0: none yet */
    bool is_accepted;
};

struct as_party {
    uint32_t rank, size;
    bool (*is_stopped)(void);
    char directory[4096];
    int fd;
    int64_t patience_ns;
    struct party_other *other; /* by rank; ranks other than 0 use only the first */
    bool is_lost;              /* rank 0 is silent */
    bool has_thread, ends;
    pthread_t thread;
    pthread_mutex_t lock; /* protects `state` and `ends` */
    pthread_cond_t wake;
    struct party_state state;
};

/* ---- States ---------------------------------------------------------------------------------- */

static uint64_t sum_of_state(const struct party_state *state)
{
    return as_fnv_mix(AS_FNV_BASIS, state, offsetof(struct party_state, sum));
}

static bool write_state(struct as_party *party)
{
    party->state.sum = sum_of_state(&party->state);
    return pwrite(party->fd, &party->state, sizeof party->state, 0) == (ssize_t)sizeof party->state;
}

static bool read_state(int fd, struct party_state *out)
{
    return pread(fd, out, sizeof *out, 0) == (ssize_t)sizeof *out && out->magic == PARTY_MAGIC &&
           out->sum == sum_of_state(out);
}

static void name_state(const struct as_party *party, uint32_t rank, char path[4200])
{
    snprintf(path, 4200, "%s/rank.%" PRIu32, party->directory, rank);
}

/* Reads the state of a rank. Opens the file each time, so that network file systems check for
 * changes. */
static bool look_at(const struct as_party *party, uint32_t rank, struct party_state *out,
                    bool *is_gone)
{
    char path[4200];
    name_state(party, rank, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *is_gone = fd < 0 && errno == ENOENT;
    const bool is_read = fd >= 0 && read_state(fd, out);
    if (fd >= 0)
        close(fd);
    return is_read;
}

/* ---- Beats ----------------------------------------------------------------------------------- */

static void *beat(void *context)
{
    struct as_party *party = context;
    pthread_mutex_lock(&party->lock);
    while (!party->ends) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        const int64_t ns =
            as_timespec_ns(until) + (party->state.beats_n < BEATS_FAST ? BEAT_FAST_NS : BEAT_NS);
        until = (struct timespec){ns / 1000000000, ns % 1000000000};
        (void)pthread_cond_timedwait(&party->wake, &party->lock, &until);
        party->state.beats_n++;
        (void)write_state(party); /* the command itself detects a full disk */
    }
    pthread_mutex_unlock(&party->lock);
    return NULL;
}

static int begin_beats(struct as_party *party)
{
    pthread_condattr_t attribute;
    pthread_mutex_init(&party->lock, NULL);
    pthread_condattr_init(&attribute);
    pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
    pthread_cond_init(&party->wake, &attribute);
    pthread_condattr_destroy(&attribute);
    party->has_thread = pthread_create(&party->thread, NULL, beat, party) == 0;
    return party->has_thread ? 0 : AS_ERR_LIMIT;
}

static void end_beats(struct as_party *party)
{
    if (!party->has_thread)
        return;
    pthread_mutex_lock(&party->lock);
    party->ends = true;
    pthread_cond_signal(&party->wake);
    pthread_mutex_unlock(&party->lock);
    pthread_join(party->thread, NULL);
    party->has_thread = false;
}

static void pause_ns(int64_t ns)
{
    const struct timespec pause = {ns / 1000000000, ns % 1000000000};
    nanosleep(&pause, NULL);
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* Refuses a name that another process uses. A running process beats, with delays on a busy
 * machine. */
static int check_name_is_free(struct as_party *party, struct as_error *err)
{
    struct party_state before, after;
    bool is_moving = false;
    if (!read_state(party->fd, &before) || before.left)
        return 0;
    for (int64_t ns = 0; ns < DEAD_NS && !is_moving; ns += BEAT_FAST_NS) {
        pause_ns(BEAT_FAST_NS);
        is_moving = !read_state(party->fd, &after) || after.beats_n != before.beats_n;
    }
    if (!is_moving)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "%s: another assay job is writing this experiment; wait for it, or use "
                        "another name",
                        party->directory);
}

static int open_party(struct as_party *party, struct as_error *err)
{
    char path[4200];
    if (mkdir(party->directory, 0700) != 0 && errno != EEXIST)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s", party->directory,
                            strerror(errno));
    name_state(party, party->rank, path);
    party->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (party->fd < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    AS_TRY(check_name_is_free(party, err));
    party->state = (struct party_state){.magic = PARTY_MAGIC, .size = party->size};
    if (getrandom(&party->state.number, sizeof party->state.number, 0) < 0)
        party->state.number = (uint64_t)as_monotonic_ns() ^ (uint64_t)getpid() << 40;
    if (!write_state(party))
        return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (begin_beats(party) < 0)
        return as_error_set(err, AS_ERR_LIMIT, "a thread cannot be started");
    return 0;
}

static int64_t patience_ns(void)
{
    const char *said = getenv("ASSAY_PATIENCE");
    const long seconds = said ? strtol(said, NULL, 10) : 0;
    return seconds > 0 && seconds < 1000000 ? seconds * INT64_C(1000000000) : PATIENCE_NS;
}

static void free_party(struct as_party **party)
{
    if ((*party)->fd >= 0)
        close((*party)->fd);
    as_free((*party)->other);
    as_free(*party);
    *party = NULL;
}

int as_party_join(const char *path, bool (*is_stopped)(void), struct as_party **out,
                  struct as_error *err)
{
    struct as_job_rank rank;
    *out = NULL;
    if (!as_launch_rank_of_self(&rank) || rank.size < 2 || rank.size > RANKS_MOST ||
        rank.rank >= rank.size)
        return 0;
    struct as_party *party = *out = as_calloc(1, sizeof *party);
    if (!party)
        return as_error_nomem(err, path);
    party->fd = -1;
    party->rank = (uint32_t)rank.rank;
    party->size = (uint32_t)rank.size;
    party->is_stopped = is_stopped;
    party->patience_ns = patience_ns();
    party->other = as_calloc(party->size, sizeof *party->other);
    const size_t n = strlen(path);
    const bool ends_so = n && path[n - 1] == '/';
    const int length =
        snprintf(party->directory, sizeof party->directory, "%.*s.ranks", (int)(n - ends_so), path);
    int rc = party->other ? 0 : as_error_nomem(err, path);
    if (rc == 0 && (size_t)length >= sizeof party->directory)
        rc = as_error_set(err, AS_ERR_USAGE, "%s: the name is too long", path);
    if (rc == 0)
        rc = open_party(party, err);
    if (rc < 0)
        free_party(out);
    return rc;
}

uint32_t as_party_rank(const struct as_party *party)
{
    return party ? party->rank : 0;
}

uint32_t as_party_size(const struct as_party *party)
{
    return party ? party->size : 1;
}

const char *as_party_directory(const struct as_party *party)
{
    return party->directory;
}

bool as_party_is_follower(const struct as_party *party)
{
    return party && party->rank && !party->is_lost;
}

void as_party_be_patient(struct as_party *party, unsigned seconds)
{
    party->patience_ns = (int64_t)seconds * 1000000000;
}

/* ---- Barrier -------------------------------------------------------------------------------- */

static int report_silent_rank(struct as_party *party, uint32_t rank, bool came,
                              struct as_error *err)
{
    party->is_lost = rank == 0;
    return as_error_set(err, AS_ERR_LIMIT,
                        came ? "rank %" PRIu32 " has not answered for % " PRId64
                               " s: it has died, or does not see %s any more"
                             : "rank %" PRIu32 " did not come within %" PRId64
                               " s; start this in all ranks of the job, where all see %s, or "
                               "outside of the job",
                        rank, party->patience_ns / 1000000000, party->directory);
}

/* Decides whether a rank lives: rank 0 by its beats, others because they repeat the number of rank
 * 0. */
static void accept_other(struct as_party *party, uint32_t rank, const struct party_state *state)
{
    struct party_other *other = &party->other[rank];
    if (rank == 0) {
        other->is_accepted = other->number == state->number && other->beats_n != state->beats_n;
        pthread_mutex_lock(&party->lock);
        if (party->state.hub != state->number) {
            party->state.hub = state->number;
            (void)write_state(party);
        }
        pthread_mutex_unlock(&party->lock);
    } else {
        other->is_accepted = state->hub == party->state.number && state->size == party->size;
    }
    other->number = state->number;
    other->beats_n = state->beats_n;
}

/* Checks a rank. Returns 1 if it has reached barrier `met_n`, 0 if not yet, or an error. */
static int look_for(struct as_party *party, uint32_t rank, uint32_t met_n, int64_t since_ns,
                    struct as_error *err)
{
    struct party_other *other = &party->other[rank];
    struct party_state state;
    const int64_t now_ns = as_monotonic_ns();
    bool is_gone, is_read = look_at(party, rank, &state, &is_gone);
    if (is_read && !other->is_accepted) {
        accept_other(party, rank, &state);
        other->moved_ns = now_ns;
    }
    if (!other->is_accepted)
        return now_ns - since_ns > party->patience_ns ? report_silent_rank(party, rank, false, err)
                                                      : 0;
    if (is_gone || (is_read && state.number != other->number))
        return as_error_set(err, AS_ERR_LIMIT, "rank %" PRIu32 " is gone", rank);
    if (is_read && state.beats_n != other->beats_n) {
        other->beats_n = state.beats_n;
        other->moved_ns = now_ns;
    }
    if (is_read && state.failed) {
        state.text[sizeof state.text - 1] = 0;
        return as_error_set(err, AS_ERR_LIMIT, "rank %" PRIu32 ": %s", rank, state.text);
    }
    if (is_read && state.met_n >= met_n)
        return 1;
    return now_ns - other->moved_ns > party->patience_ns
               ? report_silent_rank(party, rank, true, err)
               : 0;
}

static int wait_for_rank(struct as_party *party, uint32_t rank, uint32_t met_n, int64_t since_ns,
                         struct as_error *err)
{
    int rc;
    for (int64_t ns = 1000000; (rc = look_for(party, rank, met_n, since_ns, err)) == 0;
         ns = ns < 50000000 ? 2 * ns : ns) {
        if (party->is_stopped && party->is_stopped())
            return as_error_set(err, AS_ERR_LIMIT, "stopped");
        pause_ns(ns);
    }
    return rc < 0 ? rc : 0;
}

static void publish_met_count(struct as_party *party, uint32_t met_n)
{
    pthread_mutex_lock(&party->lock);
    party->state.met_n = met_n;
    (void)write_state(party);
    pthread_mutex_unlock(&party->lock);
}

int as_party_barrier(struct as_party *party, struct as_error *err)
{
    const uint32_t met_n = party->state.met_n + 1;
    const int64_t since_ns = as_monotonic_ns();
    if (party->rank) {
        publish_met_count(party, met_n);
        return wait_for_rank(party, 0, met_n, since_ns, err);
    }
    for (uint32_t rank = 1; rank < party->size; rank++)
        AS_TRY(wait_for_rank(party, rank, met_n, since_ns, err));
    publish_met_count(party, met_n);
    return 0;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

static void remove_party(const struct as_party *party)
{
    DIR *dir = opendir(party->directory);
    for (struct dirent *it; dir && (it = readdir(dir));)
        if (it->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), it->d_name, 0);
    if (dir)
        closedir(dir);
    (void)rmdir(party->directory);
}

/* Waits, up to `most_ns`, until the others have seen the last barrier or the error. Later they find
 * the directory removed. */
static void wait_for_leaving(const struct as_party *party, int64_t most_ns)
{
    struct party_state state;
    bool is_gone;
    for (int64_t since_ns = as_monotonic_ns(); as_monotonic_ns() - since_ns < most_ns;) {
        bool all = true;
        for (uint32_t rank = 1; rank < party->size && all; rank++)
            if (party->other[rank].is_accepted)
                all = look_at(party, rank, &state, &is_gone) ? state.left != 0 : is_gone;
        if (all)
            return;
        pause_ns(20000000);
    }
}

void as_party_leave(struct as_party **out, int rc, const struct as_error *err)
{
    struct as_party *party = *out;
    if (!party)
        return;
    end_beats(party);
    party->state.left = 1;
    party->state.failed = rc < 0 ? rc : 0;
    if (rc < 0 && err)
        snprintf(party->state.text, sizeof party->state.text, "%s", err->text);
    (void)write_state(party);
    if (party->rank == 0) {
        wait_for_leaving(party, rc < 0 ? 2 * BEAT_NS : 20 * BEAT_NS);
        remove_party(party);
    }
    pthread_mutex_destroy(&party->lock);
    pthread_cond_destroy(&party->wake);
    free_party(out);
}
