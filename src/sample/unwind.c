/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds stacks from the registers and the stack copy of a sample, by the unwind rows of each
 * module. Code without rows (generated code) is unwound by the frame pointer. Rows are cached by
 * address, because addresses repeat. The result says how each stack ended, so no guess is
 * silent.
 */
#include <string.h>

#include "base/alloc.h"
#include "sample/recorder.h"
#include "sample/without_rows.h"

/* Number of cache entries, a power of two. A program has some thousand addresses on its stacks. */
#define CACHE_N 8192u

struct cached {
    uint64_t pc;
    uint32_t generation; /* generation of the space; 0: empty */
    bool mapped;
    struct as_frame frame;
    const struct as_unwind_row *row; /* NULL: none */
    const struct as_object *object;
    uint64_t bias;
    bool is_steady; /* no row, but the return address is at the stack pointer */
};

struct as_unwinder {
    struct cached cache[CACHE_N];
    struct as_leaf leaf;
};

/* The stack copy. */
struct memory {
    uint64_t at;
    const uint8_t *bytes;
    uint64_t size_b;
    uint64_t reach_b; /* bytes read so far */
    bool beyond;      /* a word above the copy was requested */
    bool switched;    /* a signal interrupted code on another stack than the copied one */
    bool doubtful;    /* frames may be missing, because the frame pointer belonged to other code */
};

/* The frames of a signal handler and the state saved by the kernel take less than this. */
#define SAME_STACK_B (64u << 10)
/* Range of the search for return addresses if the frame pointer ends the stack. */
#define LOOK_B 4096u

int as_unwinder_new(struct as_unwinder **out)
{
    *out = as_calloc(1, sizeof **out);
    return *out ? 0 : AS_ERR_NOMEM;
}

void as_unwinder_free(struct as_unwinder **unwinder)
{
    as_free(*unwinder);
    *unwinder = NULL;
}

void as_frames_push(struct as_frames *frames, struct as_frame frame)
{
    if (frames->n < AS_DEPTH_MOST)
        frames->frame[frames->n++] = frame;
    else
        frames->end = AS_STACK_CUT;
}

static struct as_frame frame_in(const struct as_mapping *map, uint64_t address)
{
    if (!map)
        return (struct as_frame){AS_MODULE_ID_UNKNOWN, address};
    if (map->module == AS_MODULE_ID_ANON)
        return (struct as_frame){AS_MODULE_ID_ANON, address};
    return (struct as_frame){map->module, address - map->start + map->offset};
}

struct as_frame as_frame_of(const struct as_space *space, uint64_t address)
{
    return frame_in(as_space_at(space, address), address);
}

struct as_frame as_frame_moved(const struct as_code_maps *maps,
                               const struct as_sample_record *sample, const struct as_space *space,
                               uint64_t address)
{
    struct as_code_origin origin = {.address = address};
    as_code_maps_find(maps, sample->pid, sample->time_ns, address, &origin);
    return as_frame_of(space, origin.address);
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    struct memory *memory = context;
    uint64_t offset = address - memory->at;
    if (address < memory->at)
        return false;
    if (offset > memory->size_b || memory->size_b - offset < sizeof *word) {
        /* An address far away is not on this stack: an invalid value or another stack. */
        memory->beyond = offset < memory->size_b + (64u << 20);
        return false;
    }
    memcpy(word, memory->bytes + offset, sizeof *word);
    if (memory->reach_b < offset + sizeof *word)
        memory->reach_b = offset + sizeof *word;
    return true;
}

static const struct cached *look_up(struct as_unwinder *unwinder, struct as_modules *modules,
                                    const struct as_space *space, uint64_t pc)
{
    uint64_t hash = (pc ^ (uint64_t)space->pid << 40) * 0x9e3779b97f4a7c15u;
    struct cached *entry = &unwinder->cache[hash >> 51 & (CACHE_N - 1)];
    if (entry->pc == pc && entry->generation == space->generation)
        return entry;
    const struct as_mapping *map = as_space_at(space, pc);
    *entry = (struct cached){.pc = pc, .generation = space->generation, .mapped = map != NULL};
    entry->frame = frame_in(map, pc);
    struct as_object *object = map ? as_module_object(modules, map->module) : NULL;
    uint64_t address;
    if (object && as_object_address_of(object, entry->frame.address, &address) &&
        as_object_unwind_row(object, address, &entry->row, NULL) == 0) {
        entry->object = object;
        entry->bias = pc - address;
        entry->is_steady = !entry->row && as_leaf_is_steady(&unwinder->leaf, object, address);
    }
    return entry;
}

/* Finds the caller by rbp, for code without rows. */
static enum as_unwind_result by_frame_pointer(struct as_unwind_frame *frame, struct memory *memory)
{
    uint64_t rbp = frame->reg[AS_UNWIND_RBP], caller_rbp, pc;
    if (!(frame->known >> AS_UNWIND_RBP & 1))
        return AS_UNWIND_DAMAGED;
    if (rbp == 0)
        return AS_UNWIND_OUTERMOST;
    if (rbp < frame->reg[AS_UNWIND_RSP] || rbp % 8)
        return AS_UNWIND_DAMAGED;
    if (!read_word(memory, rbp, &caller_rbp) || !read_word(memory, rbp + 8, &pc))
        return AS_UNWIND_NO_MEMORY;
    if (pc == 0)
        return AS_UNWIND_OUTERMOST;
    frame->reg[AS_UNWIND_RBP] = caller_rbp;
    frame->reg[AS_UNWIND_RSP] = rbp + 16;
    frame->reg[AS_UNWIND_RA] = pc;
    frame->known = 1u << AS_UNWIND_RBP | 1u << AS_UNWIND_RSP | 1u << AS_UNWIND_RA;
    frame->signal_frame = false;
    return AS_UNWIND_CALLER;
}

/* Finds the caller after a call to an invalid address: the return address is on top of the
 * stack. */
static enum as_unwind_result by_top(struct as_unwind_frame *frame, struct memory *memory)
{
    uint64_t pc, rsp = frame->reg[AS_UNWIND_RSP];
    if (!read_word(memory, rsp, &pc))
        return AS_UNWIND_NO_MEMORY;
    frame->reg[AS_UNWIND_RSP] = rsp + 8;
    frame->reg[AS_UNWIND_RA] = pc;
    frame->signal_frame = false;
    return pc ? AS_UNWIND_CALLER : AS_UNWIND_OUTERMOST;
}

/*
 * Returns true if a return address lies between the stack pointer and the frame end by the frame
 * pointer. Code without unwind information may then have kept the frame pointer of a caller.
 */
static bool skips_callers(const struct as_places *places, const struct as_unwind_frame *frame,
                          const struct memory *memory)
{
    const uint64_t rsp = frame->reg[AS_UNWIND_RSP], rbp = frame->reg[AS_UNWIND_RBP];
    const uint64_t end = rbp > rsp && rbp - rsp < LOOK_B ? rbp : rsp + LOOK_B;
    struct memory looked = *memory;
    uint64_t word;
    for (uint64_t at = rsp; at < end && read_word(&looked, at, &word); at += sizeof word)
        if (as_is_return_address(places->modules, &places->spaces->space.at[places->space], word))
            return true;
    return false;
}

static enum as_unwind_result step_out(const struct as_places *places, const struct cached *at,
                                      struct as_unwind_frame *frame, struct memory *memory,
                                      bool exact, bool innermost)
{
    uint64_t rsp = frame->reg[AS_UNWIND_RSP];
    enum as_unwind_result result;
    if (at->row) {
        result = as_object_unwind_step(at->object, at->row, at->bias, frame, read_word, memory);
    } else if ((!at->mapped && innermost) || (at->is_steady && exact)) {
        result = by_top(frame, memory);
    } else {
        memory->doubtful |= skips_callers(places, frame, memory);
        result = by_frame_pointer(frame, memory);
    }
    if (result == AS_UNWIND_CALLER && frame->signal_frame)
        memory->switched |= frame->reg[AS_UNWIND_RSP] - rsp > SAME_STACK_B;
    /* Each caller has a higher stack pointer. Only a signal handler may use its own stack. */
    if (result == AS_UNWIND_CALLER && frame->reg[AS_UNWIND_RSP] <= rsp && !frame->signal_frame)
        return AS_UNWIND_DAMAGED;
    return result;
}

/* Replaces a pc in moved code by the original pc, with the stack as in the original code. */
static bool move_back(const struct as_places *places, const struct as_sample_record *sample,
                      uint64_t pc, struct as_unwind_frame *frame)
{
    struct as_code_origin origin;
    if (!as_code_maps_find(places->maps, sample->pid, sample->time_ns, pc, &origin))
        return false;
    frame->reg[AS_UNWIND_RA] = origin.address;
    frame->reg[AS_UNWIND_RSP] += origin.depth_b;
    if (origin.is_stub) /* rax, rdx and rcx belong to the stub */
        frame->known &= ~7u;
    return true;
}

static enum as_stack_end end_of(enum as_unwind_result result, const struct memory *memory)
{
    if (result == AS_UNWIND_NO_MEMORY && memory->switched)
        return AS_STACK_SWITCHED;
    if (result == AS_UNWIND_NO_MEMORY && memory->beyond)
        return AS_STACK_CUT;
    return result == AS_UNWIND_OUTERMOST && !memory->doubtful ? AS_STACK_COMPLETE : AS_STACK_BROKEN;
}

/* Returns true if code with unwind information begins at `pc` and none ends there. No call returns
 * to such an address, so the stack was made by hand, as by makecontext(3), and ends here. */
static bool begins(struct as_unwinder *unwinder, const struct as_places *places, uint64_t pc)
{
    return look_up(unwinder, places->modules, &places->spaces->space.at[places->space], pc)->row;
}

/* Returns true for the code that returns from a signal handler. It was not called, so its return
 * address is exact. */
static bool returns_from_signal(const struct cached *at, bool exact)
{
    return !exact && at->row && at->row->signal_frame;
}

static struct as_frame next_byte(const struct cached *at)
{
    return (struct as_frame){at->frame.module, at->frame.address + 1};
}

void as_unwind(struct as_unwinder *unwinder, const struct as_places *places,
               const struct as_sample_record *sample, struct as_frames *out)
{
    const struct as_space *in = &places->spaces->space.at[places->space];
    struct memory memory = {
        .at = sample->stack_at, .bytes = sample->stack, .size_b = sample->stack_b};
    struct as_unwind_frame frame = {.known = (1u << AS_UNWIND_REGISTERS) - 1};
    memcpy(frame.reg, sample->regs, sizeof frame.reg);
    enum as_unwind_result result = AS_UNWIND_CALLER;
    out->end = AS_STACK_COMPLETE;
    for (unsigned depth = 0; result == AS_UNWIND_CALLER; depth++) {
        /* A caller is at the byte behind its call. Code interrupted by a signal is at its own
         * address. */
        bool exact = depth == 0 || frame.signal_frame;
        uint64_t pc = frame.reg[AS_UNWIND_RA] - !exact;
        if (move_back(places, sample, pc, &frame))
            pc = frame.reg[AS_UNWIND_RA];
        const struct cached at = *look_up(unwinder, places->modules, in, pc);
        if (depth && !at.mapped)
            break; /* not code: the step before was wrong */
        const bool is_made = !exact && !at.row && !at.is_steady && begins(unwinder, places, pc + 1);
        as_frames_push(out, is_made || returns_from_signal(&at, exact) ? next_byte(&at) : at.frame);
        if (out->end == AS_STACK_CUT)
            break;
        out->sp[out->n - 1] = frame.reg[AS_UNWIND_RSP];
        result = is_made ? AS_UNWIND_OUTERMOST
                         : step_out(places, &at, &frame, &memory, exact, depth == 0);
    }
    out->reach_b = memory.reach_b;
    if (out->end != AS_STACK_CUT) /* cut by the max depth */
        out->end = (uint8_t)end_of(result, &memory);
}
