/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: what agents wrote into their rings, whole or scribbled over. The input is, for each
 * ring,
 *     uint8_t  how;        RING_*
 *     uint8_t  process;    number of the process
 *     uint8_t  tail[2];    words that were read before
 *     uint8_t  data_b[2];  little endian: so many bytes were written
 *     uint8_t  fields[40]; of the head of the ring, with RING_FIELDS
 *     uint8_t  data[data_b];
 * Records must keep the promises of sample/sample.h, and nothing may stay in the directory.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/timer.h"
#include "scratch.h"

#define RING_B 4096u
enum { RING_ALIVE = 1, RING_FORKED = 2, RING_FIELDS = 4, RING_PUMP = 8 };
/* Above all that the kernel gives: the process ended. */
#define PROCESS 0x7fffff00u

static uint64_t word_at(const uint8_t *bytes, unsigned index)
{
    uint64_t word;
    memcpy(&word, bytes + 8 * index, sizeof word);
    return word;
}

/* One ring; false when the input is at its end. */
static bool put_ring(struct fuzz_input *in, unsigned number, bool *pump)
{
    static _Alignas(AS_AGENT_PAGE_B) uint8_t page[AS_AGENT_PAGE_B + RING_B];
    struct as_agent_ring *head = (struct as_agent_ring *)(void *)page;
    const uint8_t *fixed = fuzz_next(in, 6);
    char name[64];
    if (!fixed)
        return false;
    memset(page, 0, sizeof page);
    const uint64_t tail = 8 * ((uint64_t)fixed[2] | (uint64_t)fixed[3] << 8);
    size_t data_b = (size_t)fixed[4] | (size_t)fixed[5] << 8;
    *head = (struct as_agent_ring){.magic = AS_AGENT_MAGIC,
                                   .version = AS_AGENT_VERSION,
                                   .pid = fixed[0] & RING_ALIVE ? (uint32_t)getpid()
                                                                : PROCESS + fixed[1] % 16,
                                   .parent_pid = PROCESS + fixed[1] / 16,
                                   .forked = fixed[0] & RING_FORKED,
                                   .begun_ns = 1000 * (uint64_t)number,
                                   .data_b = RING_B,
                                   .name = "program"};
    const uint8_t *fields = fixed[0] & RING_FIELDS ? fuzz_next(in, 40) : NULL;
    data_b = data_b < in->left ? data_b : in->left;
    data_b = data_b < RING_B ? data_b : RING_B;
    head->tail = fields ? word_at(fields, 0) : tail;
    head->head = head->tail + (fields ? word_at(fields, 1) : data_b);
    head->lost = fields ? word_at(fields, 2) : 0;
    head->threads_missed = fields ? word_at(fields, 3) : 0;
    head->begun_ns = fields ? word_at(fields, 4) : head->begun_ns;
    const uint8_t *data = fuzz_next(in, data_b);
    for (size_t i = 0; i < data_b; i++)
        page[AS_AGENT_PAGE_B + ((head->tail + i) & (RING_B - 1))] = data[i];
    snprintf(name, sizeof name, "%s%u.%u", AS_AGENT_PREFIX, head->pid, number);
    scratch_write(name, page, sizeof page);
    *pump = fixed[0] & RING_PUMP;
    return true;
}

static int take(void *context, const struct as_sample_record *record, struct as_error *err)
{
    uint64_t *records = context;
    (void)err;
    (*records)++;
    FUZZ_CHECK(record->kind <= AS_SAMPLE_END);
    FUZZ_CHECK(record->kind != AS_SAMPLE_MAP || (record->text && record->size_b > 0));
    FUZZ_CHECK(record->kind != AS_SAMPLE_COMM ||
               (record->text && strlen(record->text) <= AS_AGENT_NAME_B));
    fuzz_touch_string(record->text);
    fuzz_touch(record->chain, 8 * record->chain_n);
    fuzz_touch(record->stack, record->stack_b);
    fuzz_touch(record->regs, record->regs ? 8 * AS_UNWIND_REGISTERS : 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_timer_sampler *sampler = NULL;
    struct as_error err = {0};
    struct fuzz_input in = {bytes, size_b};
    uint64_t records = 0;
    bool pump = false;
    setenv("ASSAY_AGENT_LIBRARY", "/proc/self/exe", 1); /* never loaded */
    FUZZ_CHECK(as_timer_sampler_open(scratch_directory(), NULL, NULL, &sampler, &err) == 0);
    for (unsigned i = 1; i < 32 && put_ring(&in, i, &pump); i++)
        if (pump)
            FUZZ_CHECK(as_timer_sampler_pump(sampler, false, take, &records, &err) == 0);
    FUZZ_CHECK(as_timer_sampler_pump(sampler, true, take, &records, &err) == 0);
    FUZZ_CHECK(as_timer_sampler_pump(sampler, true, take, &records, &err) == 0);
    FUZZ_CHECK(as_timer_sampler_counts(sampler)->records == records);
    as_timer_sampler_close(&sampler);
    FUZZ_CHECK(rmdir(scratch_directory()) == 0); /* it was left empty */
    FUZZ_CHECK(mkdir(scratch_directory(), 0700) == 0);
    return 0;
}
