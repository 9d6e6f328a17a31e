/* SPDX-License-Identifier: Apache-2.0 */
/* Members that predictions and code quality analysis share. */
#include "model_json.h"

void as_model_json_insn(struct as_json *json, const struct as_model_insn *insn)
{
    as_json_key_hex(json, "address", insn->address);
    as_json_key_string(json, "assembly", insn->assembly);
    as_json_key_double(json, "slots", insn->slots);
    as_json_key_double(json, "latency_cy", insn->latency_cy);
    as_json_key_bool(json, "chain", insn->chain);
    as_json_key_bool(json, "fused", insn->fused);
    as_json_key_bool(json, "eliminated", insn->eliminated);
    as_json_key_bool(json, "estimated", insn->estimated);
}

void as_model_json_bound(struct as_json *json, enum as_bound bound, const char *limit)
{
    as_json_key_string(json, "bound", as_bound_name(bound));
    as_json_key_string(json, "limit", limit);
}
