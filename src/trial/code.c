/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the digest of built machine code. Two builds with the same digest run the same
 * instructions; debug information does not count.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/filemap.h"
#include "base/fnv.h"
#include "base/untrusted_open.h"
#include "object/object.h"
#include "trial/internal.h"
#include "trial/tree.h"

bool as_code_is_program(const char *path)
{
    unsigned char head[18] = {0};
    const int fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, NULL);
    const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);

    if (fd >= 0)
        close(fd);
    return n == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
           (head[16] == ET_EXEC || head[16] == ET_DYN);
}

/* ---- Digest -------------------------------------------------------------------------------- */

static void mix_bytes(uint64_t *digest, const void *bytes, size_t n)
{
    *digest = as_fnv_mix(*digest, bytes, n);
}

/* Mixes in the code sections of a file; of an unreadable program, only its size. */
static void mix_object(uint64_t *digest, const char *path)
{
    const struct as_section *section;
    struct as_object *object;
    struct stat st;

    if (as_object_open(path, NULL, &object, NULL) < 0) {
        if (stat(path, &st) == 0)
            mix_bytes(digest, &st.st_size, sizeof st.st_size);
        return;
    }
    const size_t n = as_object_sections(object, &section);
    for (size_t i = 0; i < n; i++)
        if (section[i].exec && section[i].data)
            mix_bytes(digest, section[i].data, section[i].size_b);
    as_object_close(&object);
}

struct code_digest {
    uint64_t digest;
    size_t root_n;
};

static int add_program(void *context, const char *path)
{
    struct code_digest *it = context;

    if (!as_code_is_program(path))
        return 0;
    mix_bytes(&it->digest, path + it->root_n, strlen(path + it->root_n));
    mix_object(&it->digest, path);
    return 0;
}

int as_code_digest(const char *directory, uint64_t *out, struct as_error *err)
{
    struct code_digest it = {AS_FNV_BASIS, strlen(directory)};

    (void)err;
    (void)as_tree_files(directory, add_program, &it);
    *out = it.digest;
    return 0;
}

/* ---- Compilers ----------------------------------------------------------------------------- */

static bool has_bytes(const void *bytes, size_t n, const char *text)
{
    return bytes && memmem(bytes, n, text, strlen(text)) != NULL;
}

unsigned as_code_compilers(const char *path)
{
    unsigned found = 0;
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    struct as_filemap map;

    if (fd < 0)
        return 0;
    const int number = as_filemap_open(fd, (size_t)st.st_size, path, &map);
    const void *bytes = map.at;
    const size_t n = map.n;
    close(fd);
    if (number)
        return 0;
    /* Programs built by clang name gcc too, in the start files that the linker adds. */
    if (has_bytes(bytes, n, "clang version"))
        found |= AS_CODE_CLANG;
    else if (has_bytes(bytes, n, "GCC: ("))
        found |= AS_CODE_GCC;
    if (has_bytes(bytes, n, "_gfortran_"))
        found |= AS_CODE_GFORTRAN;
    as_filemap_close(&map);
    return found;
}
