/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include "made_stream.h"

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

const char *made_text(enum made_routine routine)
{
#define MADE_TEXT(name, text, group) text,
    static const char *const text[] = {MADE_ROUTINES(MADE_TEXT)};
#undef MADE_TEXT
    return text[routine];
}

/* ---- Calls ----------------------------------------------------------------------------------- */

struct making {
    struct made_program *program;
    int64_t clock[MADE_RANKS_MOST];
    int64_t least_ns, eager_b,
        step_ns; /* the steps of clocks: short ones make events of one moment */
    int64_t requests_n;
    uint32_t gathered_n[MADE_COMMS];
    bool has_skew; /* some calls are left too early, as by clocks that differ */
};

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void work(struct making *m, uint32_t rank)
{
    m->clock[rank] += (int64_t)draw(40) * m->step_ns;
}

static uint32_t enter(struct making *m, uint32_t rank, enum made_routine routine)
{
    m->clock[rank] += m->least_ns + (int64_t)draw(4) * m->step_ns;
    const struct made_call call = {rank, routine, m->clock[rank], m->clock[rank]};
    assert_int_equal(as_vec_push(&m->program->call, call), 0);
    return (uint32_t)m->program->call.n - 1;
}

static int64_t entered(const struct making *m, uint32_t call)
{
    return m->program->call.at[call].enter_ns;
}

/* Not before what it needs is there. */
static void leave(struct making *m, uint32_t call, int64_t needed_ns)
{
    struct made_call *c = &m->program->call.at[call];
    if (!(m->has_skew && draw(6) == 0))
        m->clock[c->rank] = later_of(m->clock[c->rank], needed_ns);
    m->clock[c->rank] += m->least_ns + (int64_t)draw(6) * m->step_ns;
    c->leave_ns = m->clock[c->rank];
}

static struct made_side *add_side(struct making *m, struct made_side side)
{
    assert_int_equal(as_vec_push(&m->program->side, side), 0);
    return &m->program->side.at[m->program->side.n - 1];
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int64_t draw_size(void)
{
    static const int64_t size_b[] = {0, 8, 1000, 1024, 1025, 4000, 65536, 100000, INT64_C(3) << 30};
    return size_b[draw(sizeof size_b / sizeof *size_b)];
}

static enum made_mode mode_of(enum made_routine routine)
{
    switch (routine) {
    case MADE_SSEND:
    case MADE_ISSEND:
        return MADE_SYNCHRONOUS;
    case MADE_BSEND:
    case MADE_IBSEND:
    case MADE_RSEND:
        return MADE_LOCAL;
    default:
        return MADE_STANDARD;
    }
}

static bool waits_for_receive(const struct making *m, const struct made_side *send)
{
    return send->mode == MADE_SYNCHRONOUS ||
           (send->mode == MADE_STANDARD && send->size_b > m->eager_b);
}

struct made_pair {
    uint32_t from, to, comm;
};

static bool is_member(const struct made_program *p, uint32_t comm, uint32_t rank)
{
    bool is = false;
    for (uint32_t i = 0; i < p->member_n[comm]; i++)
        is |= p->member[comm][i] == rank;
    return is;
}

static struct made_pair draw_pair(const struct making *m)
{
    const uint32_t from = (uint32_t)draw(m->program->rank_n);
    const uint32_t other = (uint32_t)draw(m->program->rank_n - 1);
    const uint32_t to = other + (other >= from);
    const bool is_sub =
        draw(3) == 0 && is_member(m->program, 1, from) && is_member(m->program, 1, to);
    return (struct made_pair){from, to, is_sub};
}

static void make_message(struct making *m)
{
    static const enum made_routine routine[] = {MADE_SEND, MADE_SEND, MADE_SSEND, MADE_BSEND,
                                                MADE_RSEND};
    const struct made_pair pair = draw_pair(m);
    const int64_t tag = (int64_t)draw(2), size_b = draw_size();
    const enum made_routine name = routine[draw(5)];
    const uint32_t send = enter(m, pair.from, name), receive = enter(m, pair.to, MADE_RECV);
    const struct made_side side = {.kind = MADE_SENT,
                                   .rank = pair.from,
                                   .begin = send,
                                   .end = send,
                                   .comm = pair.comm,
                                   .peer = pair.to,
                                   .tag = tag,
                                   .size_b = size_b,
                                   .mode = mode_of(name)};
    add_side(m, side);
    add_side(m, (struct made_side){.kind = MADE_RECEIVED,
                                   .rank = pair.to,
                                   .begin = receive,
                                   .end = receive,
                                   .comm = pair.comm,
                                   .peer = pair.from,
                                   .tag = tag,
                                   .size_b = size_b});
    leave(m, send, waits_for_receive(m, &side) ? entered(m, receive) : 0);
    leave(m, receive, entered(m, send));
}

/* Two ranks send to each other in one call each. */
static void make_exchange(struct making *m)
{
    const struct made_pair pair = draw_pair(m);
    const uint32_t rank[] = {pair.from, pair.to};
    const int64_t size_b = draw_size();
    uint32_t call[2];
    for (unsigned i = 0; i < 2; i++)
        call[i] = enter(m, rank[i], MADE_SENDRECV);
    for (unsigned i = 0; i < 2; i++) {
        struct made_side side = {.kind = MADE_SENT,
                                 .rank = rank[i],
                                 .begin = call[i],
                                 .end = call[i],
                                 .peer = rank[1 - i],
                                 .tag = 1,
                                 .size_b = size_b};
        add_side(m, side);
        side.kind = MADE_RECEIVED;
        add_side(m, side);
    }
    for (unsigned i = 0; i < 2; i++)
        leave(m, call[i], entered(m, call[1 - i]));
}

/* ---- Collectives ----------------------------------------------------------------------------- */

static const enum made_routine collectives[] = {
    MADE_BARRIER, MADE_ALLREDUCE, MADE_BCAST,  MADE_SCATTERV, MADE_REDUCE,
    MADE_GATHERV, MADE_SCAN,      MADE_EXSCAN, MADE_ALLTOALL, MADE_REDUCE_SCATTER};

static bool has_root(enum made_routine what)
{
    return what == MADE_BCAST || what == MADE_SCATTERV || what == MADE_REDUCE ||
           what == MADE_GATHERV;
}

/* Sides of all members, which begin at their calls `begin`. Answers the first. */
static size_t add_collective(struct making *m, uint32_t comm, const uint32_t *begin, bool blocks)
{
    const struct made_program *p = m->program;
    const enum made_routine what = collectives[draw(sizeof collectives / sizeof *collectives)];
    const int64_t root = has_root(what) ? (int64_t)draw(p->member_n[comm]) : -1;
    const size_t first = p->side.n;
    for (uint32_t i = 0; i < p->member_n[comm]; i++) {
        const bool is_root = root == (int64_t)i;
        const bool sends = what == MADE_BARRIER ? false
                           : what == MADE_BCAST || what == MADE_SCATTERV
                               ? is_root
                               : what != MADE_GATHERV || draw(3);
        add_side(m, (struct made_side){.kind = MADE_GATHERED,
                                       .rank = p->member[comm][i],
                                       .begin = begin[i],
                                       .end = begin[i],
                                       .request = blocks ? 0 : ++m->requests_n,
                                       .comm = comm,
                                       .number = m->gathered_n[comm],
                                       .what = what,
                                       .root = root,
                                       .sent_b = sends ? 8 : 0,
                                       .received_b =
                                           what != MADE_BARRIER && (is_root || root < 0) ? 8 : 0});
    }
    m->gathered_n[comm]++;
    return first;
}

/* When all are there that a member needs; all are entered. */
static int64_t needed_of(const struct making *m, const struct made_side *member)
{
    const struct made_program *p = m->program;
    int64_t needed_ns = 0;
    as_vec_foreach (&p->side, other) {
        if (other->kind != MADE_GATHERED || other->comm != member->comm ||
            other->number != member->number)
            continue;
        const bool is_root =
            other->rank == p->member[other->comm][other->root < 0 ? 0 : other->root];
        const bool needs_all =
            member->root < 0 || (member->rank == p->member[member->comm][member->root] && !is_root);
        const bool from_root = (member->what == MADE_BCAST || member->what == MADE_SCATTERV);
        if (from_root ? is_root : needs_all)
            needed_ns = later_of(needed_ns, entered(m, other->begin));
    }
    return needed_ns;
}

static void make_collective(struct making *m)
{
    const struct made_program *p = m->program;
    const uint32_t comm = (uint32_t)draw(MADE_COMMS), n = p->member_n[comm];
    uint32_t call[MADE_RANKS_MOST];
    for (uint32_t i = 0; i < n; i++)
        call[i] = enter(m, p->member[comm][i], MADE_BARRIER);
    const size_t first = add_collective(m, comm, call, true);
    for (uint32_t i = 0; i < n; i++)
        m->program->call.at[call[i]].routine = p->side.at[first].what;
    for (uint32_t i = 0; i < n; i++)
        leave(m, call[i], needed_of(m, &p->side.at[first + i]));
}

/* ---- What does not block --------------------------------------------------------------------- */

static void begin_message(struct making *m)
{
    static const enum made_routine routine[] = {MADE_ISEND, MADE_ISEND, MADE_ISSEND, MADE_IBSEND};
    const struct made_pair pair = draw_pair(m);
    const int64_t tag = (int64_t)draw(2), size_b = draw_size();
    const enum made_routine name = routine[draw(4)];
    const uint32_t send = enter(m, pair.from, name), receive = enter(m, pair.to, MADE_IRECV);
    leave(m, send, 0);
    leave(m, receive, 0);
    add_side(m, (struct made_side){.kind = MADE_SENT,
                                   .rank = pair.from,
                                   .begin = send,
                                   .request = ++m->requests_n,
                                   .comm = pair.comm,
                                   .peer = pair.to,
                                   .tag = tag,
                                   .size_b = size_b,
                                   .mode = mode_of(name)});
    add_side(m, (struct made_side){.kind = MADE_RECEIVED,
                                   .rank = pair.to,
                                   .begin = receive,
                                   .request = ++m->requests_n,
                                   .comm = pair.comm,
                                   .peer = pair.from,
                                   .tag = tag,
                                   .size_b = size_b});
}

static void begin_collective(struct making *m)
{
    const struct made_program *p = m->program;
    const uint32_t comm = (uint32_t)draw(MADE_COMMS);
    uint32_t call[MADE_RANKS_MOST];
    for (uint32_t i = 0; i < p->member_n[comm]; i++) {
        call[i] = enter(m, p->member[comm][i], MADE_BARRIER);
        leave(m, call[i], 0);
    }
    const size_t first = add_collective(m, comm, call, false);
    for (uint32_t i = 0; i < p->member_n[comm]; i++)
        m->program->call.at[call[i]].routine = p->side.at[first].what;
}

/* The other side of a message of this phase: they were added one behind the other. */
static int64_t needed_by(const struct making *m, size_t at)
{
    const struct made_side *side = &m->program->side.at[at];
    if (side->kind == MADE_GATHERED)
        return needed_of(m, side);
    if (side->kind == MADE_RECEIVED)
        return entered(m, side[-1].begin);
    return waits_for_receive(m, side) ? entered(m, side[1].begin) : 0;
}

/* Messages and collectives that overlap, completed by each rank in groups of its own. */
static void make_phase(struct making *m)
{
    const size_t first = m->program->side.n;
    for (uint64_t n = 1 + draw(6); n > 0; n--) {
        if (draw(4))
            begin_message(m);
        else
            begin_collective(m);
        work(m, (uint32_t)draw(m->program->rank_n));
    }
    for (uint32_t rank = 0; rank < m->program->rank_n; rank++)
        for (uint64_t part_n = 1 + draw(2); part_n > 0; part_n--) {
            uint32_t call = UINT32_MAX, n = 0;
            int64_t needed_ns = 0;
            for (size_t i = first; i < m->program->side.n; i++) {
                struct made_side *side = &m->program->side.at[i];
                if (side->rank != rank || side->request == 0 || side->end > side->begin ||
                    (part_n > 1 && draw(2)))
                    continue;
                call = n++ ? call : enter(m, rank, MADE_WAIT);
                side->end = call;
                needed_ns = later_of(needed_ns, needed_by(m, i));
            }
            if (n > 1)
                m->program->call.at[call].routine = MADE_WAITALL;
            if (n)
                leave(m, call, needed_ns);
            work(m, rank);
        }
}

/* ---- All ------------------------------------------------------------------------------------- */

static void make_communicators(struct made_program *p)
{
    for (uint32_t rank = 0; rank < p->rank_n; rank++)
        p->member[0][p->member_n[0]++] = rank;
    const uint32_t left_out = (uint32_t)draw(p->rank_n);
    for (uint32_t rank = 0; rank < p->rank_n; rank++)
        if (p->rank_n == 2 || rank != left_out)
            p->member[1][p->member_n[1]++] = rank;
}

void made_program_new(struct made_program *program, uint64_t seed, int64_t least_ns)
{
    static const int64_t eager_b[] = {0, 1000, 1024, 4000, 65536, INT64_MAX};
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
    draw(2);
    *program = (struct made_program){.rank_n = 2 + (uint32_t)draw(MADE_RANKS_MOST - 1)};
    make_communicators(program);
    struct making m = {.program = program,
                       .least_ns = least_ns,
                       .eager_b = eager_b[draw(6)],
                       .step_ns = draw(2) ? 1 : 37,
                       .has_skew = draw(4) == 0};
    for (uint32_t rank = 0; rank < program->rank_n; rank++)
        m.clock[rank] = 2000 + (int64_t)draw(100);
    for (uint64_t n = 10 + draw(20); n > 0; n--) {
        for (uint64_t works = draw(3); works > 0; works--)
            work(&m, (uint32_t)draw(program->rank_n));
        const uint64_t what = draw(10);
        if (what < 3)
            make_message(&m);
        else if (what < 4)
            make_exchange(&m);
        else if (what < 6)
            make_collective(&m);
        else if (what < 9)
            make_phase(&m);
        else
            leave(&m, enter(&m, (uint32_t)draw(program->rank_n), MADE_COMM_RANK), 0);
    }
}

void made_program_fini(struct made_program *program)
{
    as_vec_fini(&program->call);
    as_vec_fini(&program->side);
}

/* ---- The trace ------------------------------------------------------------------------------- */

static struct as_trace_writer writer;

static void open_stream(const char *directory, uint32_t pid, uint32_t tid)
{
    made_stream_open(&writer, directory,
                     (struct as_trace_writing){.pid = pid, .tid = tid, .begin_tick = 1000});
}

static void put(unsigned kind, int64_t ns, unsigned n, const uint64_t *field)
{
    as_trace_emit(&writer, kind, (uint64_t)ns, field, n);
}

static void define_rank(const struct made_program *p, const char *directory, uint32_t rank)
{
#define MADE_GROUP(name, text, group) AS_TRACE_OF_MPI_##group,
    static const uint64_t group[] = {MADE_ROUTINES(MADE_GROUP)};
#undef MADE_GROUP
    const uint64_t world[] = {rank, p->rank_n, 0};
    open_stream(directory, 100 + rank, 0);
    for (uint64_t i = 0; i < MADE_ROUTINES_N; i++) {
        const uint64_t field[] = {i + 1, group[i]};
        assert_true(as_trace_emit_text(&writer, AS_TRACE_NAME, 1000, field, 2,
                                       made_text((enum made_routine)i)));
    }
    put(AS_TRACE_WORLD, 1000, 3, world);
    for (uint32_t comm = 0; comm < MADE_COMMS; comm++) {
        uint64_t member[MADE_RANKS_MOST], own = UINT64_MAX;
        for (uint32_t i = 0; i < p->member_n[comm]; i++) {
            member[i] = p->member[comm][i];
            own = member[i] == rank ? i : own;
        }
        const uint64_t field[] = {comm + 1, 99 - comm, p->member_n[comm], own, 0};
        if (own != UINT64_MAX)
            assert_true(as_trace_emit_list(&writer, AS_TRACE_COMM, 1000, field, 5, member,
                                           p->member_n[comm]));
    }
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static int64_t rank_in(const struct made_program *p, uint32_t comm, uint32_t rank)
{
    int64_t at = 0;
    while (p->member[comm][at] != rank)
        at++;
    return at;
}

/* Writes the record of a side that the call begins, or completes. */
static void put_side(const struct made_program *p, const struct made_side *side, bool begins,
                     int64_t ns)
{
    const uint64_t peer = as_trace_zigzag(rank_in(p, side->comm, side->peer)),
                   tag = as_trace_zigzag(side->tag);
    const uint64_t size_b = (uint64_t)side->size_b, request = (uint64_t)side->request;
    const uint64_t bits = side->mode == MADE_SYNCHRONOUS ? AS_TRACE_SYNCHRONOUS : 0;
    const uint64_t message[] = {peer, tag, size_b, side->comm + 1, request, draw(2) ? bits : 0};
    const uint64_t collective[] = {side->comm + 1,
                                   request,
                                   as_trace_zigzag(side->root),
                                   (uint64_t)side->sent_b,
                                   (uint64_t)side->received_b,
                                   0};
    if (!begins)
        put(side->kind == MADE_RECEIVED ? AS_TRACE_RECEIVE : AS_TRACE_DONE, ns,
            side->kind == MADE_RECEIVED ? 5 : 1, side->kind == MADE_RECEIVED ? message : &request);
    else if (side->kind == MADE_GATHERED)
        put(AS_TRACE_COLLECTIVE, ns, 6, collective);
    else if (side->kind == MADE_SENT)
        put(AS_TRACE_SEND, ns, 6, message);
    else if (side->request)
        put(AS_TRACE_POST, ns, 6, message);
    else
        put(AS_TRACE_RECEIVE, ns, 5, message);
}

void made_program_write(const struct made_program *p, const char *directory)
{
    for (uint32_t rank = 0; rank < p->rank_n; rank++) {
        define_rank(p, directory, rank);
        open_stream(directory, 100 + rank, 100 + rank);
        for (uint32_t at = 0; at < p->call.n; at++) {
            const struct made_call *call = &p->call.at[at];
            const uint64_t name = (uint64_t)call->routine + 1;
            if (call->rank != rank)
                continue;
            put(AS_TRACE_ENTER, call->enter_ns, 1, &name);
            as_vec_foreach (&p->side, side) {
                if (side->begin == at)
                    put_side(p, side, true, call->enter_ns);
                if (side->end == at && side->request)
                    put_side(p, side, false, call->leave_ns);
            }
            put(AS_TRACE_LEAVE, call->leave_ns, 1, &name);
        }
        as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    }
}
