/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the room: a temporary directory, files in it, short queries. */
#ifndef AS_TESTS_LAUNCH_PLACE_H
#define AS_TESTS_LAUNCH_PLACE_H

#include "unit.h"

#include <ftw.h>
#include <poll.h>
#include <sys/stat.h>

#include "launch/launch.h"

/* A call that must succeed. */
#define fine(call)                                                                                 \
    do {                                                                                           \
        struct as_error fine_err = {0}, *err = &fine_err;                                          \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, fine_err.text);                                              \
    } while (0)

/* A call that must fail with a code and a sentence that has a part. */
#define refused(call, want, part)                                                                  \
    do {                                                                                           \
        struct as_error fine_err = {0}, *err = &fine_err;                                          \
        assert_int_equal((call), (want));                                                          \
        assert_int_equal(fine_err.code, (want));                                                   \
        if (!has(fine_err.text, (part)))                                                           \
            fail_msg("\"%s\" is not in: %s", (part), fine_err.text);                               \
    } while (0)

struct place {
    char dir[64];
};

static inline int place_set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place)
        return -1;
    snprintf(place->dir, sizeof place->dir, "/tmp/assay-test-XXXXXX");
    *state = place;
    return mkdtemp(place->dir) ? 0 : -1;
}

static inline int place_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline int place_tear_down(void **state)
{
    struct place *place = *state;
    nftw(place->dir, place_remove, 8, FTW_DEPTH | FTW_PHYS);
    free(place);
    return 0;
}

#define place_test(f) cmocka_unit_test_setup_teardown(f, place_set_up, place_tear_down)

/* DIR/NAME, good until the fourth call after it. */
static inline const char *in(const struct place *place, const char *name)
{
    static char path[4][256];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", place->dir, name);
    return out;
}

/* Writes a file of the place with rights `mode`; gives its path. */
static inline const char *put(const struct place *place, const char *name, const void *bytes,
                              size_t n, mode_t mode)
{
    const char *path = in(place, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static inline const char *put_text(const struct place *place, const char *name, const char *text)
{
    return put(place, name, text, strlen(text), 0755);
}

/* The text of a file of the place, in a buffer of its own for each of two calls. */
static inline const char *text_of(const struct place *place, const char *name)
{
    static char text[2][32768];
    static unsigned next;
    char *out = text[next++ % 2];
    FILE *f = fopen(in(place, name), "rb");
    size_t n = f ? fread(out, 1, sizeof text[0] - 1, f) : 0;
    if (f)
        fclose(f);
    out[n] = 0;
    return out;
}

/* Steps until it is over, as a run loop does. */
static inline const struct as_launch_outcome *to_end(struct as_launch *launch)
{
    for (int i = 0; i < 3000; i++) {
        struct as_error err = {0};
        struct pollfd one = {.fd = as_launch_fd(launch), .events = POLLIN};
        const int going = as_launch_step(launch, &err);
        if (going < 0)
            fail_msg("%s", err.text);
        if (going == 0)
            return as_launch_outcome(launch);
        poll(&one, 1, 100);
    }
    fail_msg("it does not end");
    return NULL;
}

#endif
