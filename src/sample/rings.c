/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel buffers of a session: one per CPU and channel. Samples with stack copies are large and
 * may be lost. Records of threads and files are small and have their own buffers, so that stack
 * copies cannot displace them. This file does not parse records; it only counts lost ones.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sample/sampler.h"

#define RING_B       (512u << 10)
#define RING_STACK_B (2048u << 10)
#define RING_MOST_B  (16384u << 10)
#define RING_LEAST_B (32u << 10)
/* Records of tasks and switches have 32 to 200 bytes. */
#define RING_SIDE_B (256u << 10)
/* Ranks that wait for each other and yield switch about 100,000 times a second, with 64 bytes each.
 * Reading them a hundred times a second instead of ten costs a third more. Each read also takes a
 * CPU from a rank. */
#define RING_SWITCHES_B (2048u << 10)
/* Max size of all rings of switches together, for large machines. */
#define SWITCHES_ALL_B (32u << 20)
#define RING_WAITS_B   (1024u << 10)
/* Max size of all rings of a small machine, for more than a quarter of a second. */
#define RINGS_B (64u << 20)

/* ---- Sizes -------------------------------------------------------------------------------- */

/* Returns a ring size for one second of stack copies if that is cheap, otherwise for a quarter
 * second. */
static uint64_t stack_ring_b(const struct as_sample_options *options, size_t cpus)
{
    uint64_t second_b = (uint64_t)options->rate_hz * options->stack_b;
    uint64_t cheap_b = RINGS_B / (cpus ? cpus : 1);
    uint64_t want_b = cheap_b < second_b ? cheap_b : second_b;
    if (want_b < second_b / 4)
        want_b = second_b / 4;
    return want_b < RING_STACK_B ? RING_STACK_B : want_b > RING_MOST_B ? RING_MOST_B : want_b;
}

static uint32_t power_of_two(uint64_t want_b)
{
    uint32_t ring_b = RING_LEAST_B;
    while (ring_b < want_b && ring_b < 1u << 30)
        ring_b *= 2;
    return ring_b;
}

static uint32_t switches_ring_b(size_t cpus)
{
    const uint32_t share_b = (uint32_t)(SWITCHES_ALL_B / (cpus ? cpus : 1));
    uint32_t ring_b = RING_SWITCHES_B;
    while (ring_b > RING_SIDE_B && ring_b > share_b)
        ring_b /= 2;
    return ring_b;
}

/* For each switch record the kernel visits all events of the thread, also those of other CPUs. This
 * takes 11 ns per event (doc/internals/benchmarks.md). With many CPUs, one event less pays. */
#define MANY_CPUS 16

/* Returns true if switches have their own channel. A running process has many threads, and each
 * needs one event per channel and CPU. So there, and with many CPUs, all small records share a
 * channel. */
static bool has_switches(const struct as_sampler *s)
{
    return s->options.switches && !s->has_few;
}

static bool is_of_switches(const struct as_sampler *s, unsigned channel)
{
    return channel == (has_switches(s) ? AS_CHANNEL_SWITCHES : AS_CHANNEL_TASKS) &&
           s->options.switches;
}

static uint32_t ring_b(const struct as_sampler *s, unsigned channel)
{
    if (channel == AS_CHANNEL_WAITS)
        return s->waits_ring_b;
    if (channel == AS_CHANNEL_SAMPLES || s->choice.ring_b < RING_SIDE_B)
        return s->choice.ring_b;
    return is_of_switches(s, channel) ? s->switches_ring_b : RING_SIDE_B;
}

/* ---- Channels ----------------------------------------------------------------------------- */

struct perf_event_attr as_channel_attr(const struct as_sampler *s, unsigned channel)
{
    struct perf_event_attr attr = s->attr;
    const bool tasks = channel == AS_CHANNEL_TASKS;
    if (channel == AS_CHANNEL_WAITS) {
        attr = s->waits;
        attr.wakeup_watermark = as_waits_filled_b(s->waits_ring_b);
        return attr;
    }
    attr.wakeup_watermark = s->choice.ring_b / 4;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = tasks;
    attr.build_id = tasks && s->attr.build_id;
    attr.context_switch = s->attr.context_switch && is_of_switches(s, channel);
    if (channel == AS_CHANNEL_DEEP)
        attr.sample_stack_user = s->choice.deep_b;
    /* The session begins with larger copies, if there are any. */
    if (channel == AS_CHANNEL_SAMPLES && s->choice.deep_b)
        attr.enable_on_exec = 0;
    if (channel == AS_CHANNEL_SAMPLES || channel == AS_CHANNEL_DEEP)
        return attr;
    /* All events must have the same fields at the end of a record. */
    attr.sample_type &= AS_SAMPLE_ID_FIELDS;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.freq = 0;
    attr.sample_period = 0;
    attr.exclude_callchain_kernel = attr.exclude_callchain_user = 0;
    attr.sample_regs_user = attr.sample_stack_user = 0;
    attr.branch_sample_type = 0;
    /* A program or file may disappear soon, so it is read at once. Switches can wait until the ring
     * is half full; the other half lasts until the reader runs. */
    attr.wakeup_watermark = tasks && !attr.context_switch ? 1 : ring_b(s, channel) / 2;
    return attr;
}

/* ---- Making and mapping ------------------------------------------------------------------- */

static int add_ring(struct as_sampler *s, uint32_t cpu, unsigned channel)
{
    struct as_ring ring = {.fd = -1,
                           .cpu = cpu,
                           .channel = (uint8_t)channel,
                           .attr = channel == AS_CHANNEL_WAITS ? &s->waits : &s->attr};
    return as_vec_push(&s->ring, ring);
}

/* Adds the small rings first, so that they get memory if it is scarce. */
static int add_rings(struct as_sampler *s, uint32_t cpu)
{
    s->cpus++;
    if (has_switches(s))
        AS_TRY(add_ring(s, cpu, AS_CHANNEL_SWITCHES));
    AS_TRY(add_ring(s, cpu, AS_CHANNEL_TASKS));
    return add_ring(s, cpu, AS_CHANNEL_SAMPLES);
}

/* Adds rings for the online CPUs, "0-3,8" in sysfs. */
static int add_listed(struct as_sampler *s)
{
    char text[1024] = "";
    FILE *f = fopen("/sys/devices/system/cpu/online", "re");
    if (f) {
        if (!fgets(text, sizeof text, f))
            *text = 0;
        fclose(f);
    }
    for (char *at = text; *at >= '0' && *at <= '9';) {
        unsigned long from = strtoul(at, &at, 10), to = from;
        if (*at == '-')
            to = strtoul(at + 1, &at, 10);
        for (unsigned long cpu = from; cpu <= to && cpu < 65536; cpu++)
            AS_TRY(add_rings(s, (uint32_t)cpu));
        at += *at == ',';
    }
    return 0;
}

/* Adds rings for the lines "cpuN ..." of /proc/stat, without /sys (a bare chroot, some
 * containers). */
static int add_counted(struct as_sampler *s)
{
    char line[4096];
    FILE *f = fopen("/proc/stat", "re");
    int rc = 0;
    while (f && rc == 0 && fgets(line, sizeof line, f))
        if (strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9')
            rc = add_rings(s, (uint32_t)strtoul(line + 3, NULL, 10));
    if (f)
        fclose(f);
    return rc;
}

static int add_processors(struct as_sampler *s)
{
    AS_TRY(add_listed(s));
    if (s->cpus == 0)
        AS_TRY(add_counted(s));
    const long n = s->cpus ? 0 : sysconf(_SC_NPROCESSORS_CONF);
    for (long cpu = 0; cpu < n; cpu++)
        AS_TRY(add_rings(s, (uint32_t)cpu));
    return s->cpus ? 0 : add_rings(s, 0);
}

/* Drops the rings of switches. The number of CPUs is known only when all rings exist. */
static void drop_switches(struct as_sampler *s)
{
    size_t n = 0;
    s->has_few = true;
    as_vec_foreach (&s->ring, ring) {
        if (ring->channel != AS_CHANNEL_SWITCHES)
            s->ring.at[n++] = *ring;
    }
    s->ring.n = n;
}

static int make_heap(struct as_sampler *s)
{
    as_free(s->heap);
    s->heap = as_malloc((s->ring.n + 1) * sizeof *s->heap);
    return s->heap ? 0 : AS_ERR_NOMEM;
}

int as_rings_init(struct as_sampler *s)
{
    const struct as_sample_options *o = &s->options;
    s->has_few = !o->on_exec || o->few_events;
    AS_TRY(add_processors(s));
    if (s->cpus > MANY_CPUS)
        drop_switches(s);
    s->choice.ring_b = power_of_two(o->ring_b                      ? o->ring_b
                                    : o->stacks == AS_STACKS_DWARF ? stack_ring_b(o, s->cpus)
                                                                   : RING_B);
    s->switches_ring_b = switches_ring_b(s->cpus);
    s->waits_ring_b = o->stacks == AS_STACKS_DWARF ? RING_WAITS_B : RING_WAITS_B / 8;
    return make_heap(s);
}

/* Each new ring refers to the ring of switches of its CPU, which comes before the ring of
 * samples. */
int as_rings_add_waits(struct as_sampler *s)
{
    for (size_t i = 0, n = s->ring.n, switches = 0; i < n; i++) {
        if (is_of_switches(s, s->ring.at[i].channel))
            switches = i;
        if (s->ring.at[i].channel != AS_CHANNEL_SAMPLES)
            continue;
        AS_TRY(add_ring(s, s->ring.at[i].cpu, AS_CHANNEL_WAITS));
        s->ring.at[s->ring.n - 1].switches = switches;
    }
    return make_heap(s);
}

static void unmap(struct as_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->map_b);
    ring->page = NULL;
}

static void close_waits(struct as_ring *ring)
{
    unmap(ring);
    as_vec_foreach (&ring->member, fd)
        close(*fd);
    ring->member.n = 0;
    ring->fd = -1;
}

void as_rings_no_waits(struct as_sampler *s, const char *why)
{
    as_sample_no_waits(s, why);
    as_vec_foreach (&s->ring, ring) {
        if (ring->channel == AS_CHANNEL_WAITS)
            close_waits(ring);
    }
}

void as_rings_fini(struct as_sampler *s)
{
    as_vec_foreach (&s->ring, ring) {
        close_waits(ring);
        as_vec_fini(&ring->wait);
        as_vec_fini(&ring->member);
    }
    as_vec_fini(&s->ring);
    as_free(s->heap);
}

/* Maps the rings with an open first event. Returns the first ring that fails, or NULL. */
static struct as_ring *map_those(struct as_sampler *s, bool waits)
{
    size_t page_b = (size_t)sysconf(_SC_PAGESIZE);
    as_vec_foreach (&s->ring, ring) {
        if (ring->fd < 0 || ring->page || (ring->channel == AS_CHANNEL_WAITS) != waits)
            continue;
        ring->data_b = ring_b(s, ring->channel);
        ring->map_b = page_b + ring->data_b;
        void *at = mmap(NULL, ring->map_b, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (at == MAP_FAILED)
            return ring;
        ring->page = at;
    }
    return NULL;
}

static int no_room(const struct as_ring *failed, int error, struct as_error *err)
{
    return as_error_set(err, AS_ERR_LIMIT,
                        "perf events: no %zu KiB of buffer for CPU %u: %s; raise "
                        "kernel.perf_event_mlock_kb as root, or 'ulimit -l'",
                        failed->data_b >> 10, failed->cpu, strerror(error));
}

static bool is_no_room(int error)
{
    return error == EPERM || error == ENOMEM;
}

/* Maps the rings of WAITS. They are also checked regularly, so smaller rings need no earlier
 * wakeup. */
static int map_waits(struct as_sampler *s, struct as_error *err)
{
    struct as_ring *failed;
    while ((failed = map_those(s, true)) != NULL) {
        const int error = errno;
        if (!is_no_room(error) || s->waits_ring_b <= RING_LEAST_B || s->mapped)
            return no_room(failed, error, err);
        s->waits_ring_b /= 2;
        as_vec_foreach (&s->ring, ring) {
            if (ring->channel == AS_CHANNEL_WAITS)
                unmap(ring);
        }
    }
    return 0;
}

/*
 * A ring holds a sixteenth of a second of samples with the larger copy at the usual rate. Smaller
 * rings would lose too many. Other fields of a record may take 1.5 of its 64 KiB.
 */
#define DEEP_B     61440u
#define DEEP_LEAST 32u

uint32_t as_rings_deep_b(const struct as_sampler *s)
{
    const struct as_sample_options *o = &s->options;
    if (o->stacks != AS_STACKS_DWARF || s->has_stack_b)
        return 0;
    uint32_t deep_b = DEEP_B;
    while (deep_b > s->choice.ring_b / DEEP_LEAST)
        deep_b /= 2;
    return deep_b < 2 * o->stack_b - 4096 ? 0 : deep_b & ~7u;
}

bool as_rings_shrink(struct as_sampler *s)
{
    if (!s->has_no_room)
        return false;
    s->has_no_room = false;
    if (s->switches_ring_b > RING_SIDE_B)
        s->switches_ring_b /= 2;
    else if (s->choice.ring_b > RING_LEAST_B)
        s->choice.ring_b /= 2;
    else
        return false;
    as_vec_foreach (&s->ring, ring) {
        close_waits(ring); /* unmaps every ring */
    }
    return true;
}

int as_rings_map(struct as_sampler *s, struct as_error *err)
{
    struct as_error why;
    const struct as_ring *failed = map_those(s, false);
    if (failed) {
        s->has_no_room = is_no_room(errno) && !s->mapped;
        return no_room(failed, errno, err);
    }
    if (s->choice.waits && map_waits(s, &why) < 0)
        as_rings_no_waits(s, why.text);
    s->mapped = true;
    return 0;
}

/* ---- Loss --------------------------------------------------------------------------------- */

/* Returns the number of records that the kernel dropped for this event and its inherited copies. */
static uint64_t lost_of(const struct as_sampler *s, int fd)
{
    uint64_t value[2] = {0};
    return s->attr.read_format & PERF_FORMAT_LOST && read(fd, value, sizeof value) == sizeof value
               ? value[1]
               : 0;
}

uint64_t as_rings_lost(const struct as_sampler *s, bool samples)
{
    uint64_t lost = 0;
    as_vec_foreach (&s->event, event) {
        const bool is_sample =
            event->channel == AS_CHANNEL_SAMPLES || event->channel == AS_CHANNEL_DEEP;
        if (is_sample == samples)
            lost += lost_of(s, event->fd);
    }
    return lost;
}
