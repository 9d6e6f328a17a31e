/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of MPI's handles: a table with open addressing behind a lock, in memory that the
 * program never gave us. Handles come and go by the million, a few thousand live at once.
 */
#ifndef AS_AGENT_MPI_KEYS_H
#define AS_AGENT_MPI_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AS_KEYS_N (1u << 16)

struct as_key {
    uint64_t key, number;
    uint32_t comm, kind;
    uint64_t used; /* 0: free */
};

struct as_keys {
    _Atomic int lock;
    uint32_t n;
    struct as_key *at;
    _Atomic uint64_t changes; /* how often something came or went */
};

static inline uint64_t as_keys_changes(const struct as_keys *it)
{
    return atomic_load_explicit(&it->changes, memory_order_acquire);
}

static inline void as_keys_lock(struct as_keys *it)
{
    int free_one = 0;
    while (!atomic_compare_exchange_weak(&it->lock, &free_one, 1)) {
        free_one = 0;
        syscall(SYS_sched_yield);
    }
}

static inline void as_keys_unlock(struct as_keys *it)
{
    atomic_store_explicit(&it->lock, 0, memory_order_release);
}

static inline uint32_t as_keys_home(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 48) % AS_KEYS_N;
}

/* Where it is, or would be; locked. */
static inline uint32_t as_keys_place(const struct as_keys *it, uint64_t key)
{
    uint32_t i = as_keys_home(key);
    while (it->at[i].used && it->at[i].key != key)
        i = (i + 1) % AS_KEYS_N;
    return i;
}

/* In place of one of that key; left out where there is no room. */
static inline void as_keys_put(struct as_keys *it, const struct as_key *value)
{
    as_keys_lock(it);
    if (!it->at) {
        void *at = mmap(NULL, AS_KEYS_N * sizeof *it->at, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        it->at = at == MAP_FAILED ? NULL : at;
    }
    if (it->at && it->n < AS_KEYS_N / 4 * 3) {
        struct as_key *place = &it->at[as_keys_place(it, value->key)];
        it->n += !place->used;
        *place = *value;
        place->used = 1;
        atomic_fetch_add_explicit(&it->changes, 1, memory_order_release);
    }
    as_keys_unlock(it);
}

static inline bool as_keys_get(struct as_keys *it, uint64_t key, struct as_key *out)
{
    bool found = false;
    as_keys_lock(it);
    if (it->at) {
        *out = it->at[as_keys_place(it, key)];
        found = out->used;
    }
    as_keys_unlock(it);
    return found;
}

/* As above, and it is gone: those behind it move up (Knuth, 6.4, algorithm R). */
static inline bool as_keys_remove(struct as_keys *it, uint64_t key, struct as_key *out)
{
    bool found = false;
    as_keys_lock(it);
    uint32_t hole = it->at ? as_keys_place(it, key) : 0;
    if (it->at && it->at[hole].used) {
        found = true;
        *out = it->at[hole];
        it->n--;
        atomic_fetch_add_explicit(&it->changes, 1, memory_order_release);
        for (uint32_t i = (hole + 1) % AS_KEYS_N; it->at[i].used; i = (i + 1) % AS_KEYS_N) {
            const uint32_t home = as_keys_home(it->at[i].key);
            if ((i - home) % AS_KEYS_N >= (i - hole) % AS_KEYS_N) {
                it->at[hole] = it->at[i];
                hole = i;
            }
        }
        it->at[hole].used = 0;
    }
    as_keys_unlock(it);
    return found;
}

#endif
