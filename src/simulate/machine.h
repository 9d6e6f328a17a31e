/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that a simulation assumes: its networks, nodes, speeds of the CPUs, models of
 * collectives (doc/internals/simulate.md has the formulas).
 */
#ifndef AS_SIMULATE_MACHINE_H
#define AS_SIMULATE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

/* Longest result of a formula, ns. */
#define AS_SIMULATED_NS_MAX (INT64_C(1) << 60)

struct as_network {
    int64_t latency_ns;
    uint64_t bandwidth_bps;              /* bytes a second; 0: infinite */
    uint32_t buses, in_links, out_links; /* buses of the network, links of a node; 0: unlimited */
    int64_t flight_ns;                   /* after the transfer, without a bus or link */
};
/* Inside a node, between the nodes of a machine, and between machines, which have its links. */
enum as_network_kind { AS_NETWORK_INSIDE, AS_NETWORK_BETWEEN, AS_NETWORK_WIDE, AS_NETWORKS_N };

/* The collectives of .dim files: number, constant, word. */
#define AS_COLLECTIVES(X)                                                                          \
    X(0, BARRIER, "barrier")                                                                       \
    X(1, BCAST, "bcast")                                                                           \
    X(2, GATHER, "gather")                                                                         \
    X(3, GATHERV, "gatherv")                                                                       \
    X(4, SCATTER, "scatter")                                                                       \
    X(5, SCATTERV, "scatterv")                                                                     \
    X(6, ALLGATHER, "allgather")                                                                   \
    X(7, ALLGATHERV, "allgatherv")                                                                 \
    X(8, ALLTOALL, "alltoall")                                                                     \
    X(9, ALLTOALLV, "alltoallv")                                                                   \
    X(10, REDUCE, "reduce")                                                                        \
    X(11, ALLREDUCE, "allreduce")                                                                  \
    X(12, REDUCE_SCATTER, "reduce_scatter")                                                        \
    X(13, REDUCE_SCATTER_BLOCK, "reduce_scatter_block")                                            \
    X(14, SCAN, "scan")                                                                            \
    X(15, ALLTOALLW, "alltoallw")
#define AS_COLLECTIVE_ENUM(number, name, word) AS_COLLECTIVE_##name = (number),
enum as_collective_number { AS_COLLECTIVES(AS_COLLECTIVE_ENUM) AS_COLLECTIVES_N };
#undef AS_COLLECTIVE_ENUM
/* "allreduce"; "?" for a number beyond. */
const char *as_collective_word(unsigned number);

#define AS_FACTORS(X)                                                                              \
    X(ZERO, "0")                                                                                   \
    X(CONSTANT, "const")                                                                           \
    X(LINEAR, "lin")                                                                               \
    X(LOGARITHMIC, "log")
#define AS_FACTOR_ENUM(name, word) AS_FACTOR_##name,
enum as_factor { AS_FACTORS(AS_FACTOR_ENUM) AS_FACTORS_N };
#undef AS_FACTOR_ENUM

/* Sizes, by the bytes that each member sends. */
#define AS_SIZES(X)                                                                                \
    X(MAX, "max")                                                                                  \
    X(MIN, "min")                                                                                  \
    X(MEAN, "mean")                                                                                \
    X(TWICE_MAX, "2max")                                                                           \
    X(SENT_AND_RECEIVED, "s+r")
#define AS_SIZE_ENUM(name, word) AS_SIZE_##name,
enum as_collective_size { AS_SIZES(AS_SIZE_ENUM) AS_SIZES_N };
#undef AS_SIZE_ENUM

struct as_collective_phase {
    uint8_t factor; /* as_factor */
    uint8_t size;   /* as_collective_size */
};
struct as_collective_model {
    struct as_collective_phase in, out;
};

/* A speed: 2 halves the bursts of a function by its name, of a rank or of a node. */
struct as_speed {
    const char *name; /* borrowed; NULL: of `number` */
    uint32_t number;
    bool is_node;
    double times;
};

/* A dedicated link of two machines: any number of messages at once, in both directions. A message
 * takes the first link that has its tag and size. */
struct as_size_limit {
    int64_t size_b;
    char is; /* messages that are '<', '=' or '>' */
};
struct as_dedicated_link {
    uint32_t node[2];             /* first nodes of its machines */
    struct as_network network;    /* latency, bandwidth and flight */
    struct as_size_limit size[2]; /* both, or either of them */
    bool is_either;
    uint32_t tags_at, tags_n; /* in as_machine_model.link_tag */
};

#define AS_EAGER_USUAL_B (UINT64_C(32) << 10)

struct as_machine_model {
    struct as_network network[AS_NETWORKS_N];
    uint32_t ranks_per_node;    /* 0: nodes as the program has them */
    uint32_t nodes_per_machine; /* 0: all nodes are of one machine */
    /* Borrowed: first nodes of several machines, in order (0: by nodes_per_machine). */
    const uint32_t *machine_node;
    uint32_t machine_n;
    const struct as_dedicated_link *link; /* borrowed, with their tags */
    uint32_t link_n;
    const int32_t *link_tag;
    uint64_t eager_b; /* larger messages take a rendezvous */
    double speed;     /* of all CPUs */
    AS_VEC(struct as_speed) speeds;
    struct as_collective_model collective[AS_COLLECTIVES_N];
};

/* The ideal network: no latency, infinite bandwidth, nothing limited; usual collectives. */
void as_machine_ideal(struct as_machine_model *model);
void as_machine_fini(struct as_machine_model *model);

/* "allreduce=log:2max+log:max": sets the model of a collective ("all" of all). False: no model. */
bool as_machine_set_collective(struct as_machine_model *model, const char *text);

/* First node of the machine of a node. */
uint32_t as_machine_of_node(const struct as_machine_model *model, uint32_t node);
/* The dedicated link of a message between machines; NULL: it takes the wide network. */
const struct as_dedicated_link *as_machine_link_of(const struct as_machine_model *model,
                                                   uint32_t from_machine, uint32_t to_machine,
                                                   int32_t tag, int64_t size_b);

/* size / bandwidth, rounded to ns; 0 if the bandwidth is infinite. */
int64_t as_network_transfer_ns(const struct as_network *network, int64_t size_b);

/* Bytes that the members of a collective gave. */
struct as_collective_sizes {
    uint32_t member_n;
    int64_t min_b, max_b, sum_b, received_max_b;
};
/* How many take part in each network: most members of a node, most nodes of a machine, machines. */
struct as_collective_spread {
    uint32_t n[AS_NETWORKS_N];
};
/* Gives the cost in ns: both phases in all networks. */
int64_t as_collective_cost_ns(const struct as_machine_model *model, unsigned collective,
                              const struct as_collective_sizes *sizes,
                              const struct as_collective_spread *spread);

#endif
