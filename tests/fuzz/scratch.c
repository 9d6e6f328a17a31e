/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for entries that need files. A crash leaves it behind; its name has the process.
 */
#include "scratch.h"

#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static char directory[128];

static void clear(bool whole)
{
    char *roots[] = {directory, NULL};
    FTS *tree = directory[0] ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    for (FTSENT *entry; tree && (entry = fts_read(tree));)
        if (entry->fts_info != FTS_D && (whole || entry->fts_level > 0))
            remove(entry->fts_accpath);
    if (tree)
        fts_close(tree);
}

static void remove_all(void)
{
    clear(true);
}

const char *scratch_directory(void)
{
    static const char *const places[] = {"/dev/shm", NULL, "/tmp"};
    for (size_t i = 0; !directory[0] && i < sizeof places / sizeof *places; i++) {
        const char *place = places[i] ? places[i] : getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%.100s/assay-fuzz-XXXXXX", place ? place : "");
        if (!place || access(place, W_OK) != 0 || !mkdtemp(directory))
            directory[0] = 0;
        else
            atexit(remove_all);
    }
    FUZZ_CHECK(directory[0]);
    return directory;
}

const char *scratch_path(const char *name)
{
    static char path[4][256];
    static unsigned turn;
    char *it = path[turn++ % 4];
    snprintf(it, sizeof path[0], "%s/%.100s", scratch_directory(), name);
    return it;
}

const char *scratch_write(const char *name, const void *bytes, size_t size_b)
{
    const char *path = scratch_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0);
    for (size_t done = 0; done < size_b;) {
        ssize_t n = write(fd, (const char *)bytes + done, size_b - done);
        FUZZ_CHECK(n > 0);
        done += (size_t)n;
    }
    close(fd);
    return path;
}

void scratch_empty(void)
{
    clear(false);
}
