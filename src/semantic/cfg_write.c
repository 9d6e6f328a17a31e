/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "semantic/cfg_keys.h"

int as_cfg_write(const struct as_configuration *c, struct as_str *out, struct as_error *err)
{
    as_vec_foreach (&c->line, line) {
        const struct as_cfg_key *key = line->key < 0 ? NULL : &as_cfg_keys[line->key];
        if (!key || !key->write) {
            as_str_appendf(out, "%s\n", line->text);
            continue;
        }
        struct as_cfg_place place = {.slot = line->slot};
        if (key->owner == AS_CFG_OF_WINDOW)
            place.window = &c->window.at[line->owner];
        else
            place.table = &c->table.at[line->owner];
        if (key->write == as_cfg_write_parameters && !as_cfg_has_parameters(&place))
            continue;
        as_str_appendf(out, "%s ", key->name);
        key->write(&place, out);
        as_str_appendz(out, "\n");
    }
    return out->failed ? as_error_nomem(err, c->name) : 0;
}
