/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are the map of clones of one module, as an agent leaves it. Whatever they
 * say, each address has an origin or none, no file stays, and memory is given back.
 */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "agent/shared/code_map.h"
#include "sample/code_maps.h"
#include "scratch.h"

bool fuzz_taken;

static void find_all(const struct as_code_maps *maps, const struct as_code_map *head)
{
    struct as_code_origin origin;
    for (uint64_t at = 0; at < 4096; at++) {
        if (!as_code_maps_find(maps, head->pid, head->begun_ns, head->start + at, &origin))
            continue;
        FUZZ_CHECK(at < head->size_b);
        fuzz_taken = true;
        FUZZ_CHECK(
            !as_code_maps_find(maps, head->pid + 1, head->begun_ns, head->start + at, &origin));
    }
    as_code_maps_find(maps, head->pid, UINT64_MAX, head->start + head->size_b, &origin);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_code_maps *maps;
    struct as_code_map head = {0};
    memcpy(&head, bytes, size_b < sizeof head ? size_b : sizeof head);
    const char *path = scratch_write(AS_CODE_MAP_PREFIX ".1.1", bytes, size_b);
    FUZZ_CHECK(as_code_maps_new(&maps) == 0);
    FUZZ_CHECK(as_code_maps_look(maps, scratch_directory(), true) == 0);
    FUZZ_CHECK(access(path, F_OK) < 0);
    find_all(maps, &head);
    as_code_maps_exec(maps, head.pid, UINT64_MAX);
    as_code_maps_free(&maps);
    return 0;
}
