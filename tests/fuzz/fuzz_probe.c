/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a file of probes. It becomes probes that have an event and an action
 * each, or one sentence with a place in the file.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mil/probe.h"
#include "patch/plan.h"
#include "patch/probe_plan.h"

static void check_actions(const struct as_mil_probe *probe, const struct as_probe_facts *facts)
{
    FUZZ_CHECK(facts->records == probe->record.n && facts->calls == probe->call.n);
    as_vec_foreach (&probe->record, record) {
        FUZZ_CHECK(record->reg < 16 && record->type < AS_PATCH_TYPES && *record->text);
        FUZZ_CHECK(record->of != AS_PROBE_VALUE_MEMORY ||
                   (record->base < 16 && (record->index < 16 || record->index == AS_PATCH_NONE)));
        FUZZ_CHECK(record->of != AS_PROBE_VALUE_ARGUMENT || record->argument);
    }
    as_vec_foreach (&probe->call, call)
        FUZZ_CHECK(*call->library && *call->function);
}

static void check_probes(const struct as_probes *probes)
{
    FUZZ_CHECK(as_probes_count(probes) > 0);
    for (size_t i = 0; i < as_probes_count(probes); i++) {
        const struct as_mil_probe *probe = &probes->probe.at[i];
        struct as_probe_facts facts;
        as_probes_get(probes, i, &facts);
        FUZZ_CHECK(facts.name[0] && facts.line && facts.actions);
        FUZZ_CHECK(facts.event < AS_PROBE_EVENTS && *as_probe_event_words(facts.event));
        as_vec_foreach (&probe->filter, filter) {
            FUZZ_CHECK(filter->subject < AS_PROBE_SUBJECTS && filter->levels < 16);
            FUZZ_CHECK(filter->low <= filter->high);
            as_vec_foreach (&filter->text, text)
                FUZZ_CHECK(!memchr(text->p, 0, text->n));
        }
        check_actions(probe, &facts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_probes *probes;
    struct as_error err = {0};
    char *copy = malloc(size_b + 1); /* of its very size: what is read beyond it is noticed */
    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    if (as_probes_parse(copy, size_b, "input", &probes, &err) == 0) {
        check_probes(probes);
        as_probes_free(&probes);
    } else {
        FUZZ_CHECK(!probes);
        FUZZ_CHECK(err.code == AS_ERR_NOMEM || strncmp(err.text, "input:", 6) == 0);
    }
    free(copy);
    return 0;
}
