/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of CPython 3.11 at a sample: found in the interpreter's structures (python_layout.h) by
 * the handler of the timers, in the thread that is sampled. Its own frames do not change meanwhile,
 * and they keep their code objects alive. Async-signal-safe: each page is tried before it is read,
 * and all chains have a bound. Anything but a code object ends the walk. Another version, or
 * structures that differ, are reported and not read.
 */
#include "agent/sampler/python_layout.h"
#include "agent/sampler/sampler.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#define VERSION_READ 0x030bu /* of Py_Version, its upper half */
/* Interpreters of a process, and threads of one, that are looked through. */
#define INTERPRETERS_MOST 64u
#define THREADS_MOST      4096u
/* Checks in a row that fail before the structures count as strange. */
#define FAILURES_MOST 16u
/* Codes that the ring has: of two. Forgotten when three quarters are taken. */
#define SENT_N 8192u

enum python_state { PYTHON_NONE, PYTHON_FOUND, PYTHON_READ, PYTHON_REFUSED };

static struct {
    _Atomic int state;
    _Atomic bool is_told; /* in this ring: that frames are read */
    _Atomic uint32_t failures, sent_n;
    uintptr_t runtime, code_type;
    _Atomic uint64_t *sent;
    char version[AS_AGENT_NAME_B];
} python;

/* ---- Reading ------------------------------------------------------------------------------ */

/* The pages that could be read in this call of the handler. */
struct python_pages {
    uintptr_t page[32];
};

static bool is_page_readable(struct python_pages *pages, uintptr_t page)
{
    uintptr_t *slot =
        &pages->page[page / AS_AGENT_PAGE_B % (sizeof pages->page / sizeof *pages->page)];
    if (*slot == page)
        return true;
    if (!as_sampler_readable(page))
        return false;
    *slot = page;
    return true;
}

static bool is_readable(struct python_pages *pages, uintptr_t at, size_t n)
{
    const uintptr_t mask = ~(uintptr_t)(AS_AGENT_PAGE_B - 1);
    if (at < AS_AGENT_PAGE_B || at >= UINTPTR_MAX / 2 - n || n == 0)
        return false;
    for (uintptr_t page = at & mask; page <= ((at + n - 1) & mask); page += AS_AGENT_PAGE_B)
        if (!is_page_readable(pages, page))
            return false;
    return true;
}

static bool read_bytes(struct python_pages *pages, uintptr_t at, void *out, size_t n)
{
    if (!is_readable(pages, at, n))
        return false;
    memcpy(out, (const void *)at, n);
    return true;
}

/* 0 where it cannot be read: no pointer of the interpreter that is followed is 0. */
static uintptr_t read_pointer(struct python_pages *pages, uintptr_t at)
{
    uintptr_t value = 0;
    return at % sizeof value == 0 && read_bytes(pages, at, &value, sizeof value) ? value : 0;
}

/* ---- Finding ------------------------------------------------------------------------------ */

static void write_state(uint32_t state)
{
    struct as_agent_python_record *record = as_sampler_reserve(sizeof *record, 0);
    if (!record)
        return;
    record->state = state;
    record->unused = 0;
    memcpy(record->version, python.version, sizeof record->version);
    as_sampler_commit(record, sizeof *record, AS_AGENT_PYTHON, as_monotonic_ns());
}

static void refuse_python(uint32_t why)
{
    atomic_store(&python.state, PYTHON_REFUSED);
    write_state(why);
}

/* "3.11.2": up to what cannot be of a number. */
static void note_version(const char *text)
{
    size_t n = 0;
    while (n < sizeof python.version - 1 && (text[n] == '.' || (text[n] >= '0' && text[n] <= '9')))
        n++;
    memcpy(python.version, text, n);
    python.version[n] = 0;
}

static void note_number(unsigned long number)
{
    char text[64] = "", *at = text, *end = text + sizeof text - 1;
    for (unsigned shift = 24; shift >= 8; shift -= 8) {
        at = as_agent_append_number(at, end, number >> shift & 0xff);
        if (shift > 8)
            at = as_agent_append(at, end, ".");
    }
    *at = 0;
    note_version(text);
}

/* A library that a program has loaded for itself hides its symbols from others. */
static void *open_library(void)
{
    void *library = AS_AGENT_REAL(dlopen)("libpython3.11.so.1.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        AS_AGENT_REAL(dlclose)(library);
    return library;
}

static void *find_symbol(const char *name)
{
    void *at = dlsym(RTLD_DEFAULT, name);
    void *library = at ? NULL : open_library();
    return library ? dlsym(library, name) : at;
}

static void set_interpreter(uintptr_t runtime)
{
    const unsigned long *number = find_symbol("Py_Version");
    const char *(*text)(void) = (const char *(*)(void))find_symbol("Py_GetVersion");
    if (number)
        note_number(*number);
    else if (text) /* of 3.10 and before, which have no such number */
        note_version(text());
    if (!runtime || !number || *number >> 16 != VERSION_READ) {
        refuse_python(AS_AGENT_PYTHON_OTHER);
        return;
    }
    python.runtime = runtime;
    python.code_type = (uintptr_t)find_symbol("PyCode_Type");
    python.sent = as_agent_map(SENT_N * sizeof *python.sent);
    if (!python.code_type || !python.sent) {
        refuse_python(AS_AGENT_PYTHON_STRANGE);
        return;
    }
    atomic_store(&python.state, PYTHON_FOUND);
    write_state(AS_AGENT_PYTHON_FOUND);
}

bool as_sampler_python_is_here(void)
{
    return find_symbol("_PyRuntime") || find_symbol("Py_GetVersion"); /* that before 3.7 */
}

bool as_sampler_python_is_wanted(void)
{
    return python.state == PYTHON_FOUND || python.state == PYTHON_READ;
}

void as_sampler_python_look(void)
{
    if (!as_sampler_state.ring || !as_sampler_state.sampling->python || python.state != PYTHON_NONE)
        return;
    if (as_sampler_python_is_here())
        set_interpreter((uintptr_t)find_symbol("_PyRuntime"));
}

/* The ring of the child is empty. */
void as_sampler_python_forked(void)
{
    atomic_store(&python.is_told, false);
    atomic_store(&python.sent_n, 0);
    if (python.sent)
        memset((void *)python.sent, 0, SENT_N * sizeof *python.sent);
}

/* ---- Texts -------------------------------------------------------------------------------- */

struct python_text {
    uintptr_t at;
    uint32_t size_b;
    uint8_t width;
};

/* Compact texts only, which are all that the compiler makes. */
static bool read_text(struct python_pages *pages, uintptr_t object, struct python_text *out)
{
    uint64_t length;
    uint32_t state;
    if (object % 8 || !read_bytes(pages, object + AS_PYTHON_TEXT_LENGTH, &length, sizeof length) ||
        !read_bytes(pages, object + AS_PYTHON_TEXT_STATE, &state, sizeof state))
        return false;
    const bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    out->width = (uint8_t)(state >> 2 & 7);
    if (!is_compact || (out->width != 1 && out->width != 2 && out->width != 4))
        return false;
    const uint64_t max_n = AS_AGENT_TEXT_MOST_B / out->width;
    out->size_b = (uint32_t)((length < max_n ? length : max_n) * out->width);
    out->at = object + (is_ascii ? AS_PYTHON_ASCII_B : AS_PYTHON_COMPACT_B);
    return out->size_b && is_readable(pages, out->at, out->size_b);
}

static bool read_table(struct python_pages *pages, uintptr_t object, struct python_text *out)
{
    int64_t size_b;
    if (object % 8 || !read_bytes(pages, object + AS_PYTHON_OBJECT_SIZE, &size_b, sizeof size_b) ||
        size_b < 0 || size_b > INT_MAX)
        return false;
    const uint32_t max_b = AS_AGENT_TABLE_MOST_B;
    out->size_b = size_b > max_b ? max_b : (uint32_t)size_b;
    out->at = object + AS_PYTHON_BYTES_DATA;
    return out->size_b == 0 || is_readable(pages, out->at, out->size_b);
}

static uint64_t hash_bytes(uint64_t hash, uintptr_t at, size_t n)
{
    for (uint64_t word; n;
         at += n < sizeof word ? n : sizeof word, n -= n < sizeof word ? n : sizeof word) {
        word = n;
        memcpy(&word, (const void *)at, n < sizeof word ? n : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* ---- Code --------------------------------------------------------------------------------- */

struct python_code {
    struct python_text file, name, table;
    int32_t first_line;
    uint64_t hash; /* of all that a record has of it: a code at the address of one that is gone is
                      another one */
};

/* The hash has both ends of a long table. */
#define TABLE_ENDS_B 256u

static bool read_code(struct python_pages *pages, uintptr_t at, struct python_code *out)
{
    if (at % 8 || read_pointer(pages, at + AS_PYTHON_OBJECT_TYPE) != python.code_type ||
        !read_bytes(pages, at + AS_PYTHON_CODE_FIRST_LINE, &out->first_line,
                    sizeof out->first_line) ||
        !read_text(pages, read_pointer(pages, at + AS_PYTHON_CODE_FILE), &out->file) ||
        !read_text(pages, read_pointer(pages, at + AS_PYTHON_CODE_NAME), &out->name) ||
        !read_table(pages, read_pointer(pages, at + AS_PYTHON_CODE_TABLE), &out->table))
        return false;
    const uint32_t table_b = out->table.size_b;
    const uint32_t end_b = table_b < TABLE_ENDS_B ? table_b : TABLE_ENDS_B;
    uint64_t hash =
        hash_bytes((uint64_t)out->first_line << 32 | table_b, out->file.at, out->file.size_b);
    hash = hash_bytes(hash, out->name.at, out->name.size_b);
    hash = hash_bytes(hash, out->table.at, end_b);
    hash = hash_bytes(hash, out->table.at + table_b - end_b, end_b);
    out->hash = hash ? hash : 1;
    return true;
}

static uint8_t *append_text(uint8_t *at, const struct python_text *text)
{
    memcpy(at, (const void *)text->at, text->size_b);
    return at + text->size_b;
}

static bool write_code(const struct python_code *code)
{
    const uint32_t bytes_b = code->file.size_b + code->name.size_b + code->table.size_b;
    const uint32_t size_b = (uint32_t)offsetof(struct as_agent_code_record, bytes) + bytes_b;
    struct as_agent_code_record *record = as_sampler_reserve(size_b, AS_AGENT_SPARE_B);
    if (!record)
        return false;
    record->code = code->hash;
    record->first_line = code->first_line < 0 ? 0 : (uint32_t)code->first_line;
    record->file_b = code->file.size_b;
    record->name_b = code->name.size_b;
    record->table_b = code->table.size_b;
    record->file_width = code->file.width;
    record->name_width = code->name.width;
    append_text(append_text(append_text(record->bytes, &code->file), &code->name), &code->table);
    as_sampler_commit(record, size_b, AS_AGENT_CODE, as_monotonic_ns());
    return true;
}

/* Writes what the ring does not have yet. Two threads may write the same. */
static void send_code(const struct python_code *code)
{
    uint32_t i = (uint32_t)(code->hash >> 51);
    for (;; i = (i + 1) % SENT_N) {
        const uint64_t has = atomic_load_explicit(&python.sent[i], memory_order_relaxed);
        if (has == code->hash)
            return;
        if (!has)
            break;
    }
    if (!write_code(code))
        return;
    if (atomic_fetch_add(&python.sent_n, 1) > SENT_N / 4 * 3) {
        memset((void *)python.sent, 0, SENT_N * sizeof *python.sent);
        atomic_store(&python.sent_n, 0);
    }
    atomic_store_explicit(&python.sent[i], code->hash, memory_order_relaxed);
}

/* ---- Frames ------------------------------------------------------------------------------- */

/* The frames of a sample so far. */
struct python_walk {
    struct python_pages pages;
    struct as_agent_python_frame *frame;
    uint32_t n;
    uintptr_t sp, high; /* of the thread's stack; `high` UINTPTR_MAX: not known */
    bool is_wrong;
};

/* CALL, PRECALL and CALL_FUNCTION_EX, also specialised (Include/opcode.h of 3.11): a bit each. */
static const uint64_t calls[4] = {
    UINT64_C(7) << 22,
    UINT64_C(15) | UINT64_C(3) << 8 | UINT64_C(63) << 12 | UINT64_C(1) << 49 | UINT64_C(1) << 57 |
        UINT64_C(1) << 63,
    UINT64_C(7) << 13 | UINT64_C(1) << 38 | UINT64_C(1) << 43,
};

static bool is_call(uint8_t operation)
{
    return calls[operation / 64] >> (operation % 64) & 1;
}

/* Returns the place of a frame in its code. */
static uint64_t where_of(struct python_walk *walk, uintptr_t code, uintptr_t instruction)
{
    const uintptr_t first = code + AS_PYTHON_CODE_BYTES;
    uint8_t operation;
    if (instruction < first || instruction - first >= AS_AGENT_PYTHON_BYTES)
        return AS_AGENT_PYTHON_BYTES;
    uint64_t where = instruction - first;
    if (read_bytes(&walk->pages, instruction, &operation, 1) && is_call(operation))
        where |= AS_AGENT_PYTHON_CALLS;
    return where;
}

/* The caller of a frame; 0: there is none, or the frame is none. */
static uintptr_t read_python_frame(struct python_walk *walk, uintptr_t at, bool *is_entry)
{
    uint8_t frame[AS_PYTHON_FRAME_B];
    uintptr_t of_code, previous, instruction;
    struct python_code code;
    *is_entry = false;
    if (at % 8 || walk->n == AS_AGENT_PYTHON_MOST_N ||
        !read_bytes(&walk->pages, at, frame, sizeof frame))
        return 0;
    memcpy(&of_code, frame + AS_PYTHON_FRAME_CODE, sizeof of_code);
    memcpy(&previous, frame + AS_PYTHON_FRAME_PREVIOUS, sizeof previous);
    memcpy(&instruction, frame + AS_PYTHON_FRAME_INSTRUCTION, sizeof instruction);
    if (frame[AS_PYTHON_FRAME_IS_ENTRY] > 1 || !read_code(&walk->pages, of_code, &code))
        return 0;
    send_code(&code);
    *is_entry = frame[AS_PYTHON_FRAME_IS_ENTRY];
    walk->frame[walk->n++] =
        (struct as_agent_python_frame){code.hash, where_of(walk, of_code, instruction)};
    return previous;
}

/* The frames that one call of the evaluation runs, which has its `cframe` on the stack. */
static void walk_evaluation(struct python_walk *walk, uintptr_t cframe)
{
    const uint32_t first = walk->n;
    uintptr_t at = read_pointer(&walk->pages, cframe + AS_PYTHON_CFRAME_CURRENT);
    bool is_entry = false;
    if (walk->n + 2 > AS_AGENT_PYTHON_MOST_N)
        return;
    walk->frame[walk->n++] = (struct as_agent_python_frame){0, cframe};
    while (at && !is_entry)
        at = read_python_frame(walk, at, &is_entry);
    if (!is_entry && walk->n < AS_AGENT_PYTHON_MOST_N) { /* not a chain: it is as if it were none */
        walk->n = first;
        walk->is_wrong = true;
    }
}

static void walk_thread(struct python_walk *walk, uintptr_t thread)
{
    const uintptr_t root = thread + AS_PYTHON_THREAD_ROOT;
    uintptr_t below = walk->sp;
    uintptr_t at = read_pointer(&walk->pages, thread + AS_PYTHON_THREAD_CFRAME);
    while (at != root && walk->n < AS_AGENT_PYTHON_MOST_N) {
        if (at < below || at >= walk->high || at % 8) { /* not on this stack, or a circle */
            walk->is_wrong = true;
            return;
        }
        walk_evaluation(walk, at);
        below = at + 1;
        at = read_pointer(&walk->pages, at + AS_PYTHON_CFRAME_PREVIOUS);
    }
}

/* ---- Threads ------------------------------------------------------------------------------ */

/* Returns true for a state of the calling thread, in an interpreter of this runtime. */
static bool is_own(struct python_pages *pages, uintptr_t thread)
{
    const uintptr_t interpreter = read_pointer(pages, thread + AS_PYTHON_THREAD_INTERPRETER);
    return interpreter &&
           read_pointer(pages, thread + AS_PYTHON_THREAD_ID) == (uintptr_t)pthread_self() &&
           read_pointer(pages, interpreter + AS_PYTHON_INTERPRETER_RUNTIME) == python.runtime;
}

/* That of the thread, which the interpreter has as a value of the thread; 0: it has none. */
static uintptr_t own_thread(struct python_pages *pages)
{
    uint32_t key[2];
    if (!read_bytes(pages, python.runtime + AS_PYTHON_RUNTIME_KEY, key, sizeof key) ||
        key[0] != 1 || key[1] >= PTHREAD_KEYS_MAX)
        return 0;
    return (uintptr_t)pthread_getspecific(key[1]);
}

/* A thread has a state for each of its sub-interpreters, and one of them as its value. */
static void walk_others(struct python_walk *walk, uintptr_t own)
{
    struct python_pages *pages = &walk->pages;
    uintptr_t at = read_pointer(pages, python.runtime + AS_PYTHON_RUNTIME_INTERPRETERS);
    if (!at || !read_pointer(pages, at + AS_PYTHON_INTERPRETER_NEXT))
        return;
    for (unsigned i = 0; at && i < INTERPRETERS_MOST; i++) {
        uintptr_t thread = read_pointer(pages, at + AS_PYTHON_INTERPRETER_THREADS);
        for (unsigned n = 0; thread && n < THREADS_MOST; n++) {
            if (thread != own && is_own(pages, thread))
                walk_thread(walk, thread);
            thread = read_pointer(pages, thread + AS_PYTHON_THREAD_NEXT);
        }
        at = read_pointer(pages, at + AS_PYTHON_INTERPRETER_NEXT);
    }
}

/* The structures are what they should be once a thread of the interpreter has shown frames. */
static void judge_walk(const struct python_walk *walk, bool is_thread)
{
    if (walk->n > 1 && !walk->is_wrong) {
        atomic_store(&python.failures, 0);
        atomic_store(&python.state, PYTHON_READ);
    } else if ((walk->is_wrong || !is_thread) && python.state == PYTHON_FOUND &&
               atomic_fetch_add(&python.failures, 1) + 1 == FAILURES_MOST) {
        refuse_python(AS_AGENT_PYTHON_STRANGE);
    }
}

static uint32_t walk_all(struct python_walk *walk, uintptr_t own)
{
    const bool is_thread = is_own(&walk->pages, own);
    if (is_thread)
        walk_thread(walk, own);
    walk_others(walk, own);
    judge_walk(walk, is_thread);
    if (python.state != PYTHON_READ)
        return 0;
    if (!atomic_exchange(&python.is_told, true))
        write_state(AS_AGENT_PYTHON_READ);
    return walk->n;
}

uint32_t as_sampler_python_walk(uintptr_t sp, struct as_agent_python_frame **out)
{
    struct python_walk walk = {.sp = sp, .high = UINTPTR_MAX};
    const struct as_agent_thread *self = &as_agent_self;
    if (python.state != PYTHON_FOUND && python.state != PYTHON_READ)
        return 0;
    const uintptr_t own = own_thread(&walk.pages);
    if (!own)
        return 0;
    walk.frame = as_agent_area(&as_agent_sampler, AS_AGENT_PYTHON_MOST_N * sizeof *walk.frame);
    if (sp >= self->low && sp < self->high)
        walk.high = self->high;
    *out = walk.frame;
    return walk.frame ? walk_all(&walk, own) : 0;
}
