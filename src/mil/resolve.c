/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the sites of probes in a program: searches the analysed code for each event, and applies
 * the filters. plan.c decides whether a loop or function can be cloned.
 */
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "mil/probe.h"

#define SITES_MOST ((size_t)1 << 22)

/* A candidate for a site. */
struct probe_place {
    uint32_t body, loop, block, insn;
};

struct resolving {
    const struct as_probes *probes;
    const struct as_program *program;
    const struct as_probe_heat *heat;
    AS_VEC(struct as_probe_site) site;
    const struct as_mil_probe *probe; /* the probe that is being resolved */
    struct as_error *err;
};

/* ---- Filters --------------------------------------------------------------------------------- */

static bool fits_text(const struct as_probe_filter *filter, const char *text)
{
    const struct as_view it = as_view_of(text);
    as_vec_foreach (&filter->text, want)
        if (text && (filter->is_pattern ? as_glob_match(*want, it) : as_view_equal(*want, it)))
            return true;
    return false;
}

bool as_probe_fits_name(const struct as_probe_filter *filter, const char *linkage)
{
    char name[4096];
    if (fits_text(filter, linkage))
        return true;
    if (as_demangle(linkage, name, sizeof name) <= 0)
        return false;
    if (fits_text(filter, name))
        return true;
    char *parameters = strchr(name, '(');
    if (parameters)
        *parameters = 0;
    return parameters && fits_text(filter, name);
}

/* Compares the filter with the whole path and with its last component. */
static bool fits_file(const struct as_probe_filter *filter, const char *file)
{
    return file && (fits_text(filter, file) || fits_text(filter, as_path_last(file)));
}

static const char *line_of(const struct as_program *p, const struct probe_place *at, unsigned *line)
{
    const uint64_t address =
        at->insn != AS_NONE ? p->code.insn[at->insn].address : p->block[at->block].start;
    const struct as_line *row = as_debug_line_at(&p->debug, address);
    *line = row ? row->line : 0;
    return row && row->file < p->debug.file_n ? p->debug.file[row->file] : NULL;
}

/* For a loop compares its source range, for other sites their line. */
static bool fits_line(const struct resolving *r, const struct as_probe_filter *filter,
                      const struct probe_place *at)
{
    const struct as_program *p = r->program;
    const struct as_loop *loop = at->loop != AS_NONE ? &p->loop[at->loop] : NULL;
    unsigned line;
    if (loop && at->insn == AS_NONE && at->block == loop->header && loop->sources) {
        const struct as_source_range *own = &p->loop_source[loop->source];
        return own->last_line >= filter->low && own->first_line <= filter->high;
    }
    (void)line_of(p, at, &line);
    return line && line >= filter->low && line <= filter->high;
}

static const char *callee_of(const struct as_program *p, const struct probe_place *at)
{
    uint64_t target;
    if (!as_insn_target(&p->code.insn[at->insn], &target))
        return NULL;
    for (uint32_t b = 0; b < p->body_n; b++)
        if (p->body[b].entry == target)
            return p->body[b].name;
    return NULL;
}

static bool fits_share(const struct resolving *r, const struct as_probe_filter *filter,
                       const struct probe_place *at)
{
    if (!r->heat)
        return true;
    const double share = r->heat->share(r->heat->context, at->body, at->loop);
    return share >= 0 && share >= filter->low && share <= filter->high;
}

static bool fits_nest(const struct resolving *r, const struct as_probe_filter *filter,
                      const struct probe_place *at)
{
    const struct as_loop *loop = at->loop != AS_NONE ? &r->program->loop[at->loop] : NULL;
    const double depth = loop ? loop->depth : 0;
    if (filter->subject == AS_PROBE_OF_LEVEL)
        return loop && filter->levels >> loop->level & 1;
    return depth >= filter->low && depth <= filter->high;
}

static uint64_t address_of(const struct as_program *p, const struct probe_place *at)
{
    return at->insn != AS_NONE    ? p->code.insn[at->insn].address
           : at->block != AS_NONE ? p->block[at->block].start
                                  : 0;
}

static bool fits_filter(const struct resolving *r, const struct as_probe_filter *filter,
                        const struct probe_place *at)
{
    const struct as_program *p = r->program;
    const struct as_form *form =
        at->insn != AS_NONE ? as_form_get(p->code.insn[at->insn].form) : NULL;
    unsigned line;
    switch (filter->subject) {
    case AS_PROBE_OF_FUNCTION:
        return as_probe_fits_name(filter, p->body[at->body].name);
    case AS_PROBE_OF_FILE:
        return fits_file(filter, line_of(p, at, &line));
    case AS_PROBE_OF_CALLEE: {
        const char *callee = callee_of(p, at);
        return callee && as_probe_fits_name(filter, callee);
    }
    case AS_PROBE_OF_CLASS:
        return form && fits_text(filter, as_class_name(form->insn_class));
    case AS_PROBE_OF_MNEMONIC:
        return form && fits_text(filter, form->mnemonic);
    case AS_PROBE_OF_LINE:
        return fits_line(r, filter, at);
    case AS_PROBE_OF_SHARE:
        return fits_share(r, filter, at);
    case AS_PROBE_OF_ADDRESS:
        return address_of(p, at) == filter->address;
    default:
        return fits_nest(r, filter, at);
    }
}

static bool fits_all(const struct resolving *r, const struct probe_place *at)
{
    as_vec_foreach (&r->probe->filter, filter)
        if (fits_filter(r, filter, at) == filter->negated)
            return false;
    return true;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static int add_site(struct resolving *r, const struct probe_place *at)
{
    const struct as_probe_site site = {.probe = (uint32_t)(r->probe - r->probes->probe.at),
                                       .body = at->body,
                                       .loop = at->loop,
                                       .block = at->block,
                                       .address = address_of(r->program, at)};
    if (r->site.n >= SITES_MOST)
        return as_error_set(r->err, AS_ERR_LIMIT,
                            "probe '%s': the probes match more than %zu addresses; use more "
                            "filters",
                            r->probe->name, SITES_MOST);
    return as_vec_push(&r->site, site) < 0 ? as_error_nomem(r->err, "places of probes") : 0;
}

static int offer(struct resolving *r, const struct probe_place *at)
{
    return fits_all(r, at) ? add_site(r, at) : 0;
}

static int offer_insns(struct resolving *r, uint32_t block, bool calls)
{
    const struct as_program *p = r->program;
    const struct as_block *b = &p->block[block];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const unsigned what = as_form_get(p->code.insn[i].form)->insn_class;
        const struct probe_place at = {b->body, b->loop, block, i};
        if (!calls || what == AS_CLASS_CALL)
            AS_TRY(offer(r, &at));
    }
    return 0;
}

static int offer_blocks(struct resolving *r)
{
    const struct as_program *p = r->program;
    for (uint32_t b = 0; b < p->block_n; b++) {
        const struct probe_place at = {p->block[b].body, p->block[b].loop, b, AS_NONE};
        if (r->probe->event == AS_PROBE_BLOCK)
            AS_TRY(offer(r, &at));
        else
            AS_TRY(offer_insns(r, b, r->probe->event != AS_PROBE_INSTRUCTION));
    }
    return 0;
}

static int offer_bodies(struct resolving *r)
{
    const struct as_program *p = r->program;
    for (uint32_t b = 0; b < p->body_n; b++) {
        const struct probe_place at = {b, AS_NONE, p->body[b].entry_block, AS_NONE};
        if (!(p->body[b].bits & AS_BODY_STUB) && p->body[b].blocks)
            AS_TRY(offer(r, &at));
    }
    return 0;
}

static int offer_loops(struct resolving *r)
{
    const struct as_program *p = r->program;
    for (uint32_t l = 0; l < p->loop_n; l++) {
        const struct probe_place at = {p->loop[l].body, l, p->loop[l].header, AS_NONE};
        AS_TRY(offer(r, &at));
    }
    return 0;
}

static int offer_all(struct resolving *r)
{
    static const struct probe_place whole = {AS_NONE, AS_NONE, AS_NONE, AS_NONE};
    switch (r->probe->event) {
    case AS_PROBE_PROGRAM:
    case AS_PROBE_PROGRAM_ENTRY:
    case AS_PROBE_PROGRAM_EXIT:
        return add_site(r, &whole);
    case AS_PROBE_FUNCTION:
    case AS_PROBE_FUNCTION_ENTRY:
    case AS_PROBE_FUNCTION_EXIT:
        return offer_bodies(r);
    case AS_PROBE_LOOP:
    case AS_PROBE_LOOP_ENTRY:
    case AS_PROBE_LOOP_EXIT:
    case AS_PROBE_LOOP_BACK:
        return offer_loops(r);
    default:
        return offer_blocks(r);
    }
}

int as_probes_resolve(const struct as_probes *probes, const struct as_program *program,
                      const struct as_probe_heat *heat, struct as_probe_sites *out,
                      struct as_error *err)
{
    struct resolving r = {.probes = probes, .program = program, .heat = heat, .err = err};
    int rc = 0;
    *out = (struct as_probe_sites){0};
    as_vec_foreach (&probes->probe, probe) {
        r.probe = probe;
        if (rc == 0)
            rc = offer_all(&r);
    }
    if (rc < 0) {
        as_vec_fini(&r.site);
        return rc;
    }
    *out = (struct as_probe_sites){r.site.at, r.site.n};
    return 0;
}

void as_probe_sites_fini(struct as_probe_sites *sites)
{
    as_free(sites->at);
    *sites = (struct as_probe_sites){0};
}
