/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that import OTF2 archives. */
#ifndef AS_EXCHANGE_OTF2_TAKEN_H
#define AS_EXCHANGE_OTF2_TAKEN_H

#include <otf2/otf2.h>

#include "base/map.h"
#include "base/vec.h"
#include "exchange/import.h"
#include "exchange/maker.h"

/* Definitions by their archive numbers. `text` owns the texts. */
struct as_otf2_known_text {
    uint32_t number;
    char *text;
};
struct as_otf2_known_region {
    uint32_t number, group; /* as_trace_group */
    const char *text;
    bool is_barrier;  /* OpenMP barrier, explicit or implied */
    const char *file; /* source file; "": unknown */
    uint32_t line;    /* first line; 0: unknown */
};
struct as_otf2_known_source {
    uint32_t number;
    const char *file;
    uint32_t line;
};
struct as_otf2_known_context {
    uint32_t number, region, source, parent;
};
struct as_otf2_known_generator {
    uint32_t number;
    int64_t period_ns; /* time of a sample; 0: unknown */
};
struct as_otf2_known_process {
    uint32_t number; /* of the location group */
    const char *text, *machine;
    int64_t rank; /* -1: none */
    uint32_t made;
};
struct as_otf2_known_thread {
    uint64_t number, events_n;
    uint32_t process; /* index in `process` */
    const char *text;
    bool is_thread; /* a thread of a CPU */
};
struct as_otf2_known_group {
    uint32_t number;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    AS_VEC(uint64_t) member;
};
struct as_otf2_known_comm {
    uint32_t number, group;
    const char *text;
    uint64_t comm; /* number in our trace; 0: none */
};
struct as_otf2_known_node {
    uint32_t number;
    const char *text;
};
struct as_otf2_known_metric {
    uint32_t number; /* of the member, or of the class or instance */
    const char *text;
    AS_VEC(uint32_t) member; /* class or instance: numbers of its members */
    uint32_t name;           /* member: name number in our trace */
};

struct as_otf2_taken_dimension {
    uint32_t number, size;
    bool is_periodic;
};
struct as_otf2_taken_topology {
    uint32_t number, comm;
    AS_VEC(uint32_t) dimension; /* archive numbers */
};
struct as_otf2_taken_coordinate {
    uint32_t topology, rank;
    size_t first; /* index in `coordinates` */
};
struct as_otf2_taken_window {
    uint32_t number, comm;
};

/* Values of an operation that OTF2 records only at its end. The first of two readings collects
 * them. */
struct as_otf2_pending {
    uint64_t request;
    int64_t partner, tag, size_b, comm; /* of a receive; comm 0: it never ends */
    int64_t root, sent_b, received_b;   /* of a collective */
};

struct as_otf2_reading {
    const char *path;
    struct as_import_counts *counts;
    struct as_trace_maker *maker;
    OTF2_Reader *reader;
    uint64_t tick_hz, begin_tick;
    AS_VEC(struct as_otf2_known_text) text;
    AS_VEC(struct as_otf2_known_node) node;
    AS_VEC(struct as_otf2_known_region) region;
    AS_VEC(struct as_otf2_known_process) process;
    AS_VEC(struct as_otf2_known_thread) location;
    AS_VEC(struct as_otf2_known_group) group;
    AS_VEC(struct as_otf2_known_comm) comm;
    AS_VEC(struct as_otf2_known_metric) member, metric;
    AS_VEC(struct as_otf2_known_source) source;
    AS_VEC(struct as_otf2_known_context) context;
    AS_VEC(struct as_otf2_known_generator) generator;
    AS_VEC(struct as_otf2_taken_dimension) dimension;
    AS_VEC(struct as_otf2_taken_topology) topology;
    AS_VEC(struct as_otf2_taken_coordinate) coordinate;
    AS_VEC(uint64_t) coordinates;
    AS_VEC(struct as_otf2_taken_window) window;
    struct as_map_u64 texts, regions, comms, sources, contexts; /* archive number -> index */
    bool no_memory;
    /* State of the location that is read. */
    uint32_t at, made;
    bool is_first; /* this is the first of the two readings */
    int64_t first_ns, last_ns;
    AS_VEC(struct as_otf2_pending) pending;
    struct as_map_u64 open; /* request -> index in `pending` */
    size_t next;            /* index in `pending` during the second reading */
    int64_t regions_n;
    int64_t parts_n;
};

/* ---- otf2_taken.c: definitions ---- */
OTF2_ErrorCode as_otf2_read_definitions(struct as_otf2_reading *taking);
/* Sets ranks and communicator numbers. Call it after all definitions are read. */
void as_otf2_relate(struct as_otf2_reading *taking);
void as_otf2_define(struct as_otf2_reading *taking);
void as_otf2_free_definitions(struct as_otf2_reading *taking);
/* Returns the members of the group of a communicator, or NULL if it is unknown. */
const struct as_otf2_known_group *as_otf2_members_of(const struct as_otf2_reading *taking,
                                                     uint32_t comm);

/* ---- otf2_taken_known.c ---- */
const char *as_otf2_known_text_of(const struct as_otf2_reading *taking,
                                  OTF2_StringRef number); /* "" if unknown */
/* Returns NULL if the region is unknown. */
const struct as_otf2_known_region *as_otf2_region_of(const struct as_otf2_reading *taking,
                                                     uint32_t region);
/* Returns 0 if the communicator is unknown. */
int64_t as_otf2_known_comm_of(const struct as_otf2_reading *taking, uint32_t comm);

/* ---- otf2_taken_grids.c: Cartesian topologies, windows ---- */
void as_otf2_grid_callbacks(OTF2_GlobalDefReaderCallbacks *callbacks);
/* Defines the topologies and windows of a communicator for the process with `rank` in it. */
void as_otf2_define_grids(struct as_otf2_reading *taking, uint32_t comm, uint32_t made,
                          uint64_t rank);
void as_otf2_free_grids(struct as_otf2_reading *taking);

/* ---- otf2_taken_places.c: calling contexts ---- */
void as_otf2_place_callbacks(OTF2_GlobalDefReaderCallbacks *callbacks);
void as_otf2_define_places(const struct as_otf2_reading *taking, uint32_t made);
/* Returns NULL if the context is unknown. */
const struct as_otf2_known_context *as_otf2_context_of(const struct as_otf2_reading *taking,
                                                       uint32_t context);
/* Writes the callers of the last call. */
void as_otf2_make_callers(struct as_otf2_reading *taking, uint32_t context);
void as_otf2_make_attributes(struct as_otf2_reading *taking, const OTF2_AttributeList *list);
void as_otf2_make_sample(struct as_otf2_reading *taking, int64_t ns, uint32_t context,
                         uint32_t generator);

/* ---- otf2_take_events.c ---- */
OTF2_EvtReaderCallbacks *as_otf2_event_callbacks(void); /* NULL without memory */

#endif
