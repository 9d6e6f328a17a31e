/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, reads and removes the maps that agents write into the directory. The bytes are foreign,
 * because the program could write there too. So they are copied before they are checked.
 */
#include "sample/code_maps.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/shared/code_map.h"
#include "base/clock.h"
#include "base/search.h"
#include "base/vec.h"

#define FILE_MOST_B (UINT64_C(1) << 31)

struct moved_code {
    uint32_t pid;
    uint64_t begun_ns, ended_ns; /* ended_ns 0: not ended by exec */
    uint64_t start, size_b;
    struct as_code_piece *piece;
    size_t n;
    /* The first page of the file, where the agent notes the end of the code. */
    const struct as_code_map *head;
};

struct as_code_maps {
    AS_VEC(struct moved_code) code;
    uint64_t looked_ns;
};

int as_code_maps_new(struct as_code_maps **out)
{
    *out = as_calloc(1, sizeof **out);
    return *out ? 0 : AS_ERR_NOMEM;
}

void as_code_maps_free(struct as_code_maps **maps)
{
    if (!*maps)
        return;
    as_vec_foreach (&(*maps)->code, code) {
        munmap((void *)(uintptr_t)code->head, sizeof *code->head);
        as_free(code->piece);
    }
    as_vec_fini(&(*maps)->code);
    as_free(*maps);
    *maps = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static bool are_in_order(const struct as_code_piece *piece, size_t n, uint64_t size_b)
{
    for (size_t i = 0; i < n; i++)
        if (piece[i].at >= size_b || (i && piece[i].at <= piece[i - 1].at))
            return false;
    return true;
}

/* Reads a map. Returns 2 if it was added; the caller then keeps the head mapped. Returns 1 if the
 * map is incomplete, 0 if it is damaged, or NOMEM. */
static int read_map(struct as_code_maps *maps, const struct as_code_map *map, uint64_t file_b)
{
    const struct as_code_map head = *map;
    if (__atomic_load_n(&map->magic, __ATOMIC_ACQUIRE) != AS_CODE_MAP_MAGIC)
        return 1;
    if (head.version != AS_CODE_MAP_VERSION || head.n > (file_b - sizeof head) / 16 ||
        head.size_b > UINT32_MAX)
        return 0;
    struct moved_code code = {.pid = head.pid,
                              .begun_ns = head.begun_ns,
                              .start = head.start,
                              .size_b = head.size_b,
                              .n = (size_t)head.n};
    code.piece = as_calloc(code.n + 1, sizeof *code.piece);
    if (!code.piece)
        return AS_ERR_NOMEM;
    memcpy(code.piece, map + 1, code.n * sizeof *code.piece);
    const bool is_whole = are_in_order(code.piece, code.n, code.size_b);
    code.head = map;
    if (is_whole && as_vec_push(&maps->code, code) == 0)
        return 2; /* the head stays mapped */
    as_free(code.piece);
    return is_whole ? AS_ERR_NOMEM : 0;
}

static int read_code_map_file(struct as_code_maps *maps, int directory, const char *name, bool last)
{
    const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    const bool is_there = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                          status.st_size >= (off_t)sizeof(struct as_code_map) &&
                          (uint64_t)status.st_size < FILE_MOST_B;
    const size_t size_b = is_there ? (size_t)status.st_size : 0;
    void *at = is_there ? mmap(NULL, size_b, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    int rc = at == MAP_FAILED ? 1 : read_map(maps, at, size_b);
    const size_t page_b = 4096, kept_b = rc == 2 ? page_b : 0;
    if (at != MAP_FAILED && size_b > kept_b)
        munmap((uint8_t *)at + kept_b, size_b - kept_b);
    if (rc != 1 || last)
        unlinkat(directory, name, 0);
    return rc < 0 ? rc : 0;
}

int as_code_maps_look(struct as_code_maps *maps, const char *directory, bool last)
{
    int rc = 0;
    maps->looked_ns = as_monotonic_ns();
    DIR *dir = opendir(directory);
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, AS_CODE_MAP_PREFIX ".", sizeof AS_CODE_MAP_PREFIX) == 0)
            rc = read_code_map_file(maps, dirfd(dir), entry->d_name, last);
    if (dir)
        closedir(dir);
    return rc;
}

int as_code_maps_follow(struct as_code_maps *maps, const char *directory, uint64_t time_ns)
{
    return time_ns > maps->looked_ns ? as_code_maps_look(maps, directory, false) : 0;
}

void as_code_maps_exec(struct as_code_maps *maps, uint32_t pid, uint64_t time_ns)
{
    if (!maps)
        return;
    as_vec_foreach (&maps->code, code)
        if (code->pid == pid && code->begun_ns < time_ns && code->ended_ns == 0)
            code->ended_ns = time_ns;
}

/* ---- Finding ------------------------------------------------------------------------------- */

static bool is_there(const struct moved_code *code, uint32_t pid, uint64_t time_ns,
                     uint64_t address)
{
    if (code->pid != pid || address - code->start >= code->size_b || time_ns < code->begun_ns ||
        (code->ended_ns && time_ns >= code->ended_ns))
        return false;
    const uint64_t gone_ns = __atomic_load_n(&code->head->ended_ns, __ATOMIC_ACQUIRE);
    return gone_ns == 0 || time_ns < gone_ns;
}

static bool find_piece(const struct moved_code *code, uint64_t address, struct as_code_origin *out)
{
    const uint64_t at = address - code->start;
    const size_t before = as_first_not(i, code->n, code->piece[i].at <= at);
    const struct as_code_piece *piece = before ? &code->piece[before - 1] : NULL;
    if (!piece || piece->original == 0)
        return false;
    out->address = piece->original + (piece->steps ? at - piece->at : 0);
    out->depth_b = piece->depth_b;
    out->is_stub = piece->depth_b > 0;
    return true;
}

bool as_code_maps_find(const struct as_code_maps *maps, uint32_t pid, uint64_t time_ns,
                       uint64_t address, struct as_code_origin *out)
{
    if (!maps)
        return false;
    as_vec_foreach (&maps->code, code)
        if (is_there(code, pid, time_ns, address) && find_piece(code, address, out))
            return true;
    return false;
}
