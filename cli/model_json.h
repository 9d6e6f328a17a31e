/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of the core model in JSON: the same members for every verb (doc/reference/json.md).
 */
#ifndef AS_CLI_MODEL_JSON_H
#define AS_CLI_MODEL_JSON_H

#include "base/json.h"
#include "predict/predict.h"

struct as_model_insn {
    uint64_t address;
    const char *assembly;
    double slots, latency_cy;
    bool chain, fused, eliminated, estimated;
};

/* Members of the object of one instruction, the first it has. */
void as_model_json_insn(struct as_json *json, const struct as_model_insn *insn);
/* `bound`, and by what: `limit`. */
void as_model_json_bound(struct as_json *json, enum as_bound bound, const char *limit);

#endif
