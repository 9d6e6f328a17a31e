/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a meeting: "rank.K", which rank K alone writes, in one piece, and "decided.NUMBER",
 * NUMBER being drawn by rank 0 each time. Others repeat that number, so that what a job before left
 * there counts for nothing. Of network file systems no more is asked than that a link is made once
 * and that who opens a file sees what was written before; names are opened with O_CREAT, for a
 * client may remember for long that one was not there.
 */
#include "agent/tracer/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fnv.h"

#define MEETING_MAGIC UINT64_C(0x3274656d79617373)
#define PAUSE_MOST_NS 20000000

enum rendezvous_outcome { OUTCOME_OPEN, OUTCOME_NOBODY, OUTCOME_SOME };
struct rendezvous_word {
    uint64_t magic;
    uint64_t number, hub; /* of rank 0; that of rank 0 as this rank read it */
    uint64_t machine;
    uint32_t rank, size, role;
    uint32_t outcome; /* of rank 0, and in the decision */
    uint64_t list_n;  /* speakers whose words it read, behind this, of rank 0's */
    uint64_t sum;     /* of all before, and of the list */
};
/* The mark is of the rank's number: what stands in a list of a job before is not of this one. */
struct rendezvous_rank {
    uint32_t rank, mark;
    uint32_t compares; /* it was chosen to */
};

static uint32_t mark_of(uint64_t number)
{
    return (uint32_t)(number ^ number >> 32);
}

/* ---- Files ---------------------------------------------------------------------------------- */

struct rendezvous_path {
    char text[PATH_MAX];
};

static void append_hex(char *at, uint64_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[value >> shift & 15];
    *at = 0;
}

static void name_file(const struct as_rank_rendezvous *m, const char *what, uint64_t number,
                      struct rendezvous_path *out)
{
    const size_t directory_b = strlen(m->directory), what_b = strlen(what);
    memcpy(out->text, m->directory, directory_b);
    memcpy(out->text + directory_b, what, what_b);
    append_hex(out->text + directory_b + what_b, number);
}

static uint64_t sum_of_word(const struct rendezvous_word *word, const struct rendezvous_rank *list)
{
    const uint64_t hash = as_fnv_mix(AS_FNV_BASIS, word, offsetof(struct rendezvous_word, sum));
    return as_fnv_mix(hash, list, word->list_n * sizeof *list);
}

/* In place of what was there; the sum says whether it was read whole. */
static bool write_word(const char *path, struct rendezvous_word *word,
                       const struct rendezvous_rank *list)
{
    const size_t list_b = word->list_n * sizeof *list;
    word->sum = sum_of_word(word, list);
    const int fd =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    bool is_whole = list_b == 0 || syscall(SYS_pwrite64, fd, list, list_b, (long)sizeof *word) ==
                                       (long)list_b; /* before what says that it is there */
    is_whole &= syscall(SYS_pwrite64, fd, word, sizeof *word, 0L) == (long)sizeof *word;
    is_whole &= syscall(SYS_close, fd) == 0; /* network file systems write here */
    return is_whole;
}

/* Opened each time: so file systems of networks ask whether it has changed. `list` has room for
 * `most_n`. */
static bool read_word(const char *path, int how, struct rendezvous_word *out,
                      struct rendezvous_rank *list, size_t most_n)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, how | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    bool is_read = syscall(SYS_pread64, fd, out, sizeof *out, 0L) == (long)sizeof *out &&
                   out->magic == MEETING_MAGIC && out->list_n <= most_n;
    if (is_read && out->list_n) {
        const size_t list_b = out->list_n * sizeof *list;
        is_read = syscall(SYS_pread64, fd, list, list_b, (long)sizeof *out) == (long)list_b;
    }
    syscall(SYS_close, fd);
    return is_read && out->sum == sum_of_word(out, list);
}

/* ---- The decision --------------------------------------------------------------------------- */

/* The pause before the next look. */
static void rest_more(int64_t *ns)
{
    const struct timespec pause = {0, *ns};
    syscall(SYS_nanosleep, &pause, NULL);
    *ns = *ns < PAUSE_MOST_NS ? 2 * *ns : PAUSE_MOST_NS;
}

/* Makes the decision of the job of rank 0's `number`, where nobody did: `wanted` with its list.
 * Answers what it is, with its list, in `wanted` and `list`. False: that cannot be known. */
static bool decide_once(const struct as_rank_rendezvous *m, struct rendezvous_word *wanted,
                        struct rendezvous_rank *list)
{
    struct rendezvous_path own, decided;
    struct rendezvous_word word;
    name_file(m, "/wanted.", m->rank, &own);
    name_file(m, "/decided.", wanted->number, &decided);
    (void)syscall(SYS_unlink, own.text); /* what has two names is never written to */
    const bool is_ours =
        write_word(own.text, wanted, list) && syscall(SYS_link, own.text, decided.text) == 0;
    (void)syscall(SYS_unlink, own.text);
    if (is_ours)
        return true;
    /* A network may say that it failed when it did not: what is there says how it ended. */
    if (!read_word(decided.text, O_RDONLY, &word, list, m->size) || word.number != wanted->number)
        return false;
    *wanted = word;
    return true;
}

/* ---- Rank 0 --------------------------------------------------------------------------------- */

struct hub {
    const struct as_rank_rendezvous *meeting;
    struct rendezvous_word own;
    struct rendezvous_path path;
    uint64_t *machine; /* by rank */
    uint32_t *came;    /* by rank: as_rendezvous_roles; 0: not yet */
    uint32_t *mark;    /* by rank */
    struct rendezvous_rank *list;
};

static void look_for_rank(struct hub *hub, uint32_t rank)
{
    struct rendezvous_path path;
    struct rendezvous_word word;
    name_file(hub->meeting, "/rank.", rank, &path);
    if (!read_word(path.text, O_RDWR | O_CREAT, &word, NULL, 0) || word.rank != rank ||
        word.size != hub->own.size)
        return;
    if (word.role == AS_RENDEZVOUS_SPEAKS && word.hub != hub->own.number)
        return; /* it has not seen us yet, or was of a job before */
    hub->came[rank] = word.role;
    hub->machine[rank] = word.machine;
    hub->mark[rank] = mark_of(word.number);
}

/* All that come within the limit. */
static void await_ranks(struct hub *hub)
{
    const int64_t until_ns = as_monotonic_ns() + hub->meeting->limit_ns;
    uint32_t missing;
    int64_t pause_ns = 500000;
    for (;;) {
        missing = 0;
        for (uint32_t rank = 1; rank < hub->own.size; rank++) {
            if (!hub->came[rank])
                look_for_rank(hub, rank);
            missing += !hub->came[rank];
        }
        if (!missing || as_monotonic_ns() >= until_ns)
            return;
        rest_more(&pause_ns);
    }
}

static bool is_of_new_machine(const struct hub *hub, size_t n, uint32_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (hub->machine[hub->list[i].rank] == hub->machine[rank])
            return false;
    return hub->machine[rank] != hub->own.machine;
}

/* The first of each machine but rank 0's compares. How many do. */
static size_t choose_speakers(struct hub *hub)
{
    size_t n = 0, chosen = 0;
    for (uint32_t r = 1; r < hub->own.size; r++) {
        if (hub->came[r] != AS_RENDEZVOUS_SPEAKS)
            continue;
        const bool compares = is_of_new_machine(hub, n, r);
        hub->list[n++] = (struct rendezvous_rank){r, hub->mark[r], compares};
        chosen += compares;
    }
    hub->own.list_n = n;
    return chosen;
}

/* Others wait for the decision in our file, with its list; who has given up made it itself. */
static size_t hold_as_hub(struct hub *hub)
{
    const struct as_rank_rendezvous *m = hub->meeting;
    struct rendezvous_path path;
    int64_t pause_ns = 500000;
    name_file(m, "/rank.", 0, &path);
    if (!write_word(path.text, &hub->own, NULL))
        return 0;
    await_ranks(hub);
    hub->own.outcome = choose_speakers(hub) ? OUTCOME_SOME : OUTCOME_NOBODY;
    struct rendezvous_word word = hub->own;
    const int64_t until_ns = as_monotonic_ns() + 6 * m->limit_ns;
    bool is_decided;
    while (!(is_decided = decide_once(m, &word, hub->list)) && as_monotonic_ns() < until_ns)
        rest_more(&pause_ns);
    hub->own.outcome = is_decided ? word.outcome : OUTCOME_NOBODY;
    hub->own.list_n = word.list_n;
    (void)write_word(path.text, &hub->own, hub->list);
    return hub->own.outcome == OUTCOME_SOME ? hub->own.list_n : 0;
}

/* ---- Others --------------------------------------------------------------------------------- */

/* NULL: it is not among those that rank 0 knew of. */
static const struct rendezvous_rank *find_speaker(const struct rendezvous_word *own,
                                                  const struct rendezvous_rank *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].rank == own->rank && list[i].mark == mark_of(own->number))
            return &list[i];
    return NULL;
}

/* Its word; false: nothing yet. Its number is repeated where it is new, for rank 0 to see. */
static bool read_hub_word(const struct as_rank_rendezvous *m, struct rendezvous_word *own,
                          struct rendezvous_word *out, struct rendezvous_rank *list)
{
    struct rendezvous_path hub, path;
    name_file(m, "/rank.", 0, &hub);
    if (!read_word(hub.text, O_RDWR | O_CREAT, out, list, m->size) || out->rank != 0 ||
        out->size != m->size)
        return false;
    if (own->hub == out->number)
        return true;
    own->hub = out->number;
    name_file(m, "/rank.", m->rank, &path);
    (void)write_word(path.text, own, NULL);
    return false; /* what it said before does not answer us */
}

static size_t speakers_of(const struct rendezvous_word *word, const struct rendezvous_rank *place)
{
    return place && place->compares && word->outcome == OUTCOME_SOME ? word->list_n : 0;
}

/* Goes on only when rank 0 has decided without this rank, or can do nothing else any more: nobody
 * waits for it then. A word of a job before does not know it, and is passed over for a while. */
static size_t hold_as_speaker(const struct as_rank_rendezvous *m, struct rendezvous_word *own,
                              struct rendezvous_rank *list)
{
    int64_t since_ns = as_monotonic_ns(), pause_ns = 500000;
    struct rendezvous_word word;
    for (uint64_t known = 0;; rest_more(&pause_ns)) {
        const bool is_told = read_hub_word(m, own, &word, list) && word.outcome != OUTCOME_OPEN;
        const struct rendezvous_rank *place = is_told ? find_speaker(own, list, word.list_n) : NULL;
        if (place)
            return speakers_of(&word, place);
        if (own->hub != known)
            since_ns = as_monotonic_ns();
        known = own->hub;
        const int64_t waited_ns = as_monotonic_ns() - since_ns;
        if ((is_told || !known) && waited_ns > m->limit_ns)
            return 0;
        if (waited_ns <= 2 * m->limit_ns)
            continue;
        word = (struct rendezvous_word){
            .magic = MEETING_MAGIC, .number = known, .outcome = OUTCOME_NOBODY};
        if (decide_once(m, &word, list))
            return speakers_of(&word, find_speaker(own, list, word.list_n));
        if (waited_ns > 12 * m->limit_ns) /* the files are gone */
            return 0;
    }
}

/* ---- All ------------------------------------------------------------------------------------ */

static uint64_t draw_number(void)
{
    uint64_t number = 0;
    if (syscall(SYS_getrandom, &number, sizeof number, 0) != (long)sizeof number)
        number = (uint64_t)as_monotonic_ns() ^ (uint64_t)syscall(SYS_getpid) << 40;
    return number | 1;
}

static size_t hold_any(const struct as_rank_rendezvous *m, struct rendezvous_word *own,
                       struct rendezvous_rank *list, void *room)
{
    struct rendezvous_path path;
    struct hub hub = {.meeting = m, .own = *own, .machine = room, .list = list};
    hub.came = (uint32_t *)(hub.machine + m->size);
    hub.mark = hub.came + m->size;
    if (m->rank == 0)
        return hold_as_hub(&hub);
    name_file(m, "/rank.", m->rank, &path);
    return write_word(path.text, own, NULL) && m->role == AS_RENDEZVOUS_SPEAKS
               ? hold_as_speaker(m, own, list)
               : 0;
}

bool as_rendezvous_hold(const struct as_rank_rendezvous *m, int *rank, int *n)
{
    struct rendezvous_word own = {.magic = MEETING_MAGIC,
                                  .number = draw_number(),
                                  .machine = m->machine,
                                  .rank = m->rank,
                                  .size = m->size,
                                  .role = m->role};
    *n = 0;
    if (m->role == AS_RENDEZVOUS_NONE || m->size < 2 || m->size > AS_RENDEZVOUS_RANKS_MOST ||
        m->rank >= m->size)
        return false;
    if (syscall(SYS_mkdirat, AT_FDCWD, m->directory, 0777) != 0 && errno != EEXIST)
        return false;
    const size_t list_b = m->size * sizeof(struct rendezvous_rank);
    const size_t ranks_b = m->size * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
    const size_t room_b = ranks_b + list_b;
    char *room = mmap(NULL, room_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    struct rendezvous_rank *list = (struct rendezvous_rank *)(void *)(room + ranks_b);
    const size_t list_n = hold_any(m, &own, list, room);
    rank[(*n)++] = 0;
    for (size_t i = 0; i < list_n && *n < (int)m->size; i++)
        if (list[i].compares)
            rank[(*n)++] = (int)list[i].rank;
    munmap(room, room_b);
    return *n > 1;
}
