/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are an ELF file. Opens it from memory and reads all facts of the ELF side.
 * Debug information is loaded too, because damaged headers pass odd sections to it. fuzz_dwarf.c
 * tests the content of debug sections.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Separate debug files are looked for where none can be. */
static const struct as_object_options OPTIONS = {.debug_dirs = "/nonexistent"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_object *object = NULL;
    struct as_error err = {0};
    int code = as_object_open_memory(bytes, size_b, "input", &OPTIONS, &object, &err);
    if (code) {
        FUZZ_CHECK(!object);
        fuzz_check_error(code, &err);
        return 0;
    }
    FUZZ_CHECK(object);
    fuzz_walk_elf(object);
    fuzz_walk_debug(object);
    as_object_close(&object);
    FUZZ_CHECK(!object);
    return 0;
}
