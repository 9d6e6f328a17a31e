/* SPDX-License-Identifier: Apache-2.0 */
/* Layout: a head, the places without pointers, then the string of each place and of the CPU
 * model. */
#include "machine/topology_wire.h"

#include <stddef.h>
#include <string.h>

struct wire_head {
    int64_t package_n, numa_n, core_n, cpu_n, core_kind_n;
    uint64_t place_n;
};
_Static_assert(sizeof(struct wire_head) == 48, "sent as it is: without padding");

static void append_wire_text(struct as_str *out, const char *text)
{
    as_str_append(out, text ? text : "", text ? strlen(text) + 1 : 1);
}

void as_topology_encode(struct as_str *out, const struct as_topology *topology)
{
    const struct wire_head head = {topology->package_n, topology->numa_n,      topology->core_n,
                                   topology->cpu_n,     topology->core_kind_n, topology->place_n};

    as_str_append(out, (const char *)&head, sizeof head);
    for (size_t i = 0; i < topology->place_n; i++) {
        struct as_place place = topology->place[i];

        place.memory = NULL;
        as_str_append(out, (const char *)&place, sizeof place);
    }
    for (size_t i = 0; i < topology->place_n; i++)
        append_wire_text(out, topology->place[i].memory);
    append_wire_text(out, topology->cpu_model);
}

/* Reads a string up to its zero byte; an empty string gives NULL. Returns false if the zero is
 * missing or memory runs out. */
static bool get_text(const char **at, const char *end, struct as_arena *arena, const char **text)
{
    const char *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;

    if (!zero)
        return false;
    *text = zero == *at ? NULL : as_arena_strndup(arena, *at, (size_t)(zero - *at));
    if (zero != *at && !*text)
        return false;
    *at = zero + 1;
    return true;
}

static bool is_place(const struct as_place *place, size_t index)
{
    return place->kind < AS_PLACE_KINDS && (index ? place->parent < index : !place->parent) &&
           (place->kind != AS_PLACE_NUMA || place->memory);
}

/* Copies a place. The byte of its bool may have any value, so it is normalised. */
static void get_place(const char *from, struct as_place *to)
{
    unsigned char usable;

    memcpy(&usable, from + offsetof(struct as_place, usable), 1);
    memcpy(to, from, sizeof *to);
    to->usable = usable != 0;
}

bool as_topology_get(const char *bytes, size_t n, struct as_arena *arena, struct as_topology *out)
{
    struct wire_head head;
    struct as_place *place;
    const char *at, *end = bytes + n;

    if (n < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    at = bytes + sizeof head;
    if (!head.place_n || head.place_n > (size_t)(end - at) / sizeof *place)
        return false;
    place = as_arena_alloc_n(arena, (size_t)head.place_n, sizeof *place, _Alignof(max_align_t));
    if (!place)
        return false;
    for (size_t i = 0; i < head.place_n; i++, at += sizeof *place)
        get_place(at, &place[i]);
    for (size_t i = 0; i < head.place_n; i++)
        if (!get_text(&at, end, arena, &place[i].memory) || !is_place(&place[i], i))
            return false;
    *out = (struct as_topology){.place = place,
                                .place_n = (size_t)head.place_n,
                                .package_n = head.package_n,
                                .numa_n = head.numa_n,
                                .core_n = head.core_n,
                                .cpu_n = head.cpu_n,
                                .usable_cpu_n = -1,
                                .core_kind_n = head.core_kind_n};
    return get_text(&at, end, arena, &out->cpu_model) && at == end;
}
