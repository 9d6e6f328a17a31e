/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts kernel records (PERF_RECORD_*) to records of sample/sample.h. The bytes may come from
 * files, so each read is checked. Source: perf_event_open(2), linux/perf_event.h.
 */
#include <string.h>

#include "base/read.h"
#include "sample/branches.h"

/* Bits of asm/perf_regs.h: ax bx cx dx si di bp sp ip, and r8 to r15 from bit 16. */
const uint64_t as_sample_regs_mask = 0x1ff | 0xffull << 16;

/* DWARF number of the register of each bit; flags and segments have none. */
#define NO_REG 255
static const uint8_t dwarf_number[24] = {0,  3,      2,      1,      4,      5,      6,      7,
                                         16, NO_REG, NO_REG, NO_REG, NO_REG, NO_REG, NO_REG, NO_REG,
                                         8,  9,      10,     11,     12,     13,     14,     15};

/* Returns the size of the fields of `type` if each is one word. There are few bits, and not every
 * CPU has popcnt: a library call took 2 % of the parse time. */
static size_t words_b(uint64_t type)
{
    size_t n = 0;
    for (; type; type &= type - 1)
        n += 8;
    return n;
}

static size_t id_size(const struct perf_event_attr *attr)
{
    return attr->sample_id_all ? words_b(attr->sample_type & AS_SAMPLE_ID_FIELDS) : 0;
}

uint64_t as_record_time(const struct perf_event_attr *attr, const uint8_t *record)
{
    struct perf_event_header header;
    uint64_t time_ns = 0, type = attr->sample_type;
    memcpy(&header, record, sizeof header);
    size_t at, id_b = id_size(attr);
    if (header.type == PERF_RECORD_SAMPLE) {
        at = sizeof header +
             words_b(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
    } else {
        if (id_b == 0 || header.size < sizeof header + id_b)
            return 0;
        at = header.size - id_b + words_b(type & PERF_SAMPLE_TID);
    }
    if ((type & PERF_SAMPLE_TIME) && at + sizeof time_ns <= header.size)
        memcpy(&time_ns, record + at, sizeof time_ns);
    return time_ns;
}

static void parse_id(const struct perf_event_attr *attr, const uint8_t *bytes, size_t n,
                     struct as_sample_record *out)
{
    size_t id_b = id_size(attr);
    uint64_t type = attr->sample_type;
    if (id_b == 0 || n < id_b)
        return;
    struct as_read r = as_read_of(bytes + n - id_b, id_b);
    if (type & PERF_SAMPLE_TID) {
        out->pid = as_read_u32(&r);
        out->tid = as_read_u32(&r);
    }
    if (type & PERF_SAMPLE_TIME)
        out->time_ns = as_read_u64(&r);
    as_read_skip(&r, words_b(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
    if (type & PERF_SAMPLE_CPU)
        out->cpu = as_read_u32(&r);
}

/* Parses the user registers. All registers of the unwinder must be present, as perf and assay
 * request them. */
static void parse_registers(const struct perf_event_attr *attr, struct as_read *r,
                            struct as_sample_record *out, uint64_t *regs)
{
    uint64_t abi = as_read_u64(r), mask = attr->sample_regs_user;
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(mask >> bit & 1))
            continue;
        uint64_t value = as_read_u64(r);
        if (bit < sizeof dwarf_number && dwarf_number[bit] != NO_REG)
            regs[dwarf_number[bit]] = value;
    }
    /* 32-bit programs have other registers and unwind information, which are not supported. */
    if (!r->bad && abi == PERF_SAMPLE_REGS_ABI_64 && !(as_sample_regs_mask & ~mask))
        out->regs = regs;
}

static void parse_stack(struct as_read *r, struct as_sample_record *out)
{
    uint64_t size_b = as_read_u64(r);
    if (size_b == 0)
        return;
    const uint8_t *stack = as_read_bytes(r, size_b);
    uint64_t used_b = as_read_u64(r);
    if (r->bad || !out->regs)
        return;
    out->stack = stack;
    out->stack_b = (size_t)(used_b < size_b ? used_b : size_b);
    out->stack_at = out->regs[7];
}

/* Skips the counter values of a sample (read_format). */
static void skip_read(uint64_t format, struct as_read *r)
{
    uint64_t times =
        words_b(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
    uint64_t each = 8 + words_b(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
    if (!(format & PERF_FORMAT_GROUP)) {
        as_read_skip(r, times + each);
        return;
    }
    uint64_t n = as_read_u64(r);
    as_read_skip(r, times);
    if (n > as_read_left(r) / each)
        as_read_fail(r);
    as_read_skip(r, n * each);
}

/* Skips tracepoint data with its padding. */
static void skip_raw(struct as_read *r)
{
    const uint32_t n = as_read_u32(r);
    if ((n + 4u) % 8)
        as_read_fail(r);
    as_read_skip(r, n);
}

static void parse_chain(struct as_read *r, struct as_sample_record *out)
{
    uint64_t n = as_read_u64(r);
    if (n > as_read_left(r) / 8)
        as_read_fail(r);
    const uint8_t *chain = as_read_bytes(r, n * 8);
    out->chain = (const uint64_t *)(const void *)chain; /* records are aligned to 8 */
    out->chain_n = chain ? (size_t)n : 0;
}

/* Parses the fields before the call chain. */
static void parse_words(const struct perf_event_attr *attr, struct as_read *r,
                        struct as_sample_record *out)
{
    uint64_t type = attr->sample_type;
    as_read_skip(r, words_b(type & PERF_SAMPLE_IDENTIFIER));
    if (type & PERF_SAMPLE_IP)
        out->ip = as_read_u64(r);
    if (type & PERF_SAMPLE_TID) {
        out->pid = as_read_u32(r);
        out->tid = as_read_u32(r);
    }
    if (type & PERF_SAMPLE_TIME)
        out->time_ns = as_read_u64(r);
    as_read_skip(r, words_b(type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
    if (type & PERF_SAMPLE_CPU) {
        out->cpu = as_read_u32(r);
        as_read_skip(r, 4);
    }
    if (type & PERF_SAMPLE_PERIOD)
        out->period = as_read_u64(r);
    else if (!attr->freq)
        out->period = attr->sample_period;
    if (type & PERF_SAMPLE_READ)
        skip_read(attr->read_format, r);
}

static void parse_sample(const struct perf_event_attr *attr, struct as_read *r,
                         struct as_sample_record *out, uint64_t *regs)
{
    parse_words(attr, r, out);
    if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
        parse_chain(r, out);
    if (attr->sample_type & PERF_SAMPLE_RAW)
        skip_raw(r);
    if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
        as_branches_parse(attr, r, out);
    if (attr->sample_type & PERF_SAMPLE_REGS_USER)
        parse_registers(attr, r, out, regs);
    if (attr->sample_type & PERF_SAMPLE_STACK_USER)
        parse_stack(r, out);
}

static void parse_map_1(struct as_read *r, struct as_sample_record *out)
{
    out->pid = as_read_u32(r);
    out->tid = as_read_u32(r);
    out->address = as_read_u64(r);
    out->size_b = as_read_u64(r);
    out->offset = as_read_u64(r);
    out->text = as_read_string(r).p;
}

static void parse_map(struct as_read *r, uint16_t misc, struct as_sample_record *out)
{
    out->pid = as_read_u32(r);
    out->tid = as_read_u32(r);
    out->address = as_read_u64(r);
    out->size_b = as_read_u64(r);
    out->offset = as_read_u64(r);
    if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        uint8_t n = as_read_u8(r);
        as_read_skip(r, 3);
        const uint8_t *id = as_read_bytes(r, 20);
        if (id && n <= 20) {
            memcpy(out->build_id, id, 20);
            out->build_id_b = n;
        }
    } else {
        out->device_major = as_read_u32(r);
        out->device_minor = as_read_u32(r);
        out->inode = as_read_u64(r);
        out->generation = as_read_u64(r);
    }
    as_read_skip(r, 8); /* protection and flags: the kernel records executable mappings only */
    out->text = as_read_string(r).p;
}

static void parse_comm(struct as_read *r, uint16_t misc, struct as_sample_record *out)
{
    out->out = misc & PERF_RECORD_MISC_COMM_EXEC;
    out->pid = as_read_u32(r);
    out->tid = as_read_u32(r);
    out->text = as_read_string(r).p;
}

static void parse_task(struct as_read *r, struct as_sample_record *out)
{
    out->pid = as_read_u32(r);
    out->parent_pid = as_read_u32(r);
    out->tid = as_read_u32(r);
    out->parent_tid = as_read_u32(r);
    out->time_ns = as_read_u64(r);
}

/* Returns the record kind of a kernel record type; -1: not used. */
static int kind_of(uint32_t type)
{
    switch (type) {
    case PERF_RECORD_SAMPLE:
        return AS_SAMPLE_SAMPLE;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return AS_SAMPLE_MAP;
    case PERF_RECORD_COMM:
        return AS_SAMPLE_COMM;
    case PERF_RECORD_FORK:
        return AS_SAMPLE_FORK;
    case PERF_RECORD_EXIT:
        return AS_SAMPLE_EXIT;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        return AS_SAMPLE_LOST;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return AS_SAMPLE_SWITCH;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
        return AS_SAMPLE_THROTTLE;
    default:
        return -1;
    }
}

bool as_record_parse(const struct perf_event_attr *attr, const uint8_t *bytes,
                     struct as_sample_record *out, uint64_t *regs, bool *damaged)
{
    struct perf_event_header header;
    memcpy(&header, bytes, sizeof header);
    int kind = kind_of(header.type);
    *damaged = false;
    if (kind < 0 || (kind == AS_SAMPLE_MAP && (header.misc & PERF_RECORD_MISC_MMAP_DATA)))
        return false;
    struct as_read r = as_read_of(bytes + sizeof header, header.size - sizeof header);
    *out = (struct as_sample_record){.kind = (uint8_t)kind};
    unsigned mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (kind != AS_SAMPLE_SAMPLE)
        parse_id(attr, r.at, as_read_left(&r), out);
    switch (kind) {
    case AS_SAMPLE_SAMPLE:
        out->in_kernel = mode == PERF_RECORD_MISC_KERNEL;
        parse_sample(attr, &r, out, regs);
        break;
    case AS_SAMPLE_MAP:
        if (header.type == PERF_RECORD_MMAP)
            parse_map_1(&r, out);
        else
            parse_map(&r, header.misc, out);
        break;
    case AS_SAMPLE_COMM:
        parse_comm(&r, header.misc, out);
        break;
    case AS_SAMPLE_FORK:
    case AS_SAMPLE_EXIT:
        parse_task(&r, out);
        break;
    case AS_SAMPLE_LOST:
        if (header.type == PERF_RECORD_LOST)
            as_read_skip(&r, 8); /* id of the event */
        out->lost = as_read_u64(&r);
        break;
    case AS_SAMPLE_SWITCH:
        out->out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
        out->preempted = header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        break;
    default:
        out->out = header.type == PERF_RECORD_THROTTLE;
        break;
    }
    *damaged = r.bad;
    return !r.bad;
}
