/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a container of debug sections (pack.h). The main file is opened from
 * memory. If the container has a .dwo, a supplementary file or a .dwp, files are used instead: "s",
 * "s.dwo", "s.alt" and "s.dwp" in a directory of this process. "s" is opened by its path.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pack.h"

static const struct as_object_options OPTIONS = {.debug_dirs = "/nonexistent"};
static const char *const NAME[PACK_FILES] = {"s", "s.dwo", "s.alt", "s.dwp"};
static char directory[] = "/tmp/assay-fuzz-XXXXXX";
static bool present[PACK_FILES];

static void remove_directory(void)
{
    for (unsigned i = 0; i < PACK_FILES; i++)
        unlink(NAME[i]);
    rmdir(directory);
}

/* Callers give absolute paths for corpora: this changes the directory. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_CHECK(mkdtemp(directory) && chdir(directory) == 0);
    return atexit(remove_directory);
}

static void put_file(unsigned i, const uint8_t *elf, size_t size_b)
{
    if (!elf) {
        if (present[i])
            unlink(NAME[i]);
        present[i] = false;
        return;
    }
    int fd = open(NAME[i], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, elf, size_b) == (ssize_t)size_b);
    close(fd);
    present[i] = true;
}

static int open_pack(const struct pack *pack, const uint8_t *elf, size_t elf_b,
                     struct as_object **object, struct as_error *err)
{
    bool beside = false;
    for (unsigned i = 1; i < PACK_FILES; i++) {
        size_t size_b = 0;
        uint8_t *other = pack_elf(pack, i, &size_b);
        put_file(i, other, size_b);
        beside |= other != NULL;
        free(other);
    }
    if (!beside)
        return as_object_open_memory(elf, elf_b, "s", &OPTIONS, object, err);
    put_file(0, elf, elf_b);
    return as_object_open("s", &OPTIONS, object, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct pack pack;
    pack_read(bytes, size_b, &pack);
    size_t elf_b = 0;
    uint8_t *elf = pack_elf(&pack, 0, &elf_b);
    if (!elf)
        return 0;
    struct as_object *object = NULL;
    struct as_error err = {0};
    int code = open_pack(&pack, elf, elf_b, &object, &err);
    if (code) {
        fuzz_check_error(code, &err);
    } else {
        fuzz_walk_debug(object);
        fuzz_walk_elf(object);
    }
    as_object_close(&object);
    free(elf);
    return 0;
}
