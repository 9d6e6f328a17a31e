/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What more than one run says, and what passes add to the page of an object. Each is one function
 * that writes its key: null or an empty array where nothing has been found.
 */
#include "report/data.h"

static void write_nothing(struct as_json *json, const char *key)
{
    as_json_key(json, key);
    as_json_null(json);
}

int as_data_modes(struct as_document *document, struct assay_error *err)
{
    struct as_json *json = &document->json;

    (void)err;
    as_json_key(json, "sections");
    as_json_array_begin(json);
    as_json_array_end(json);
    write_nothing(json, "scalability");
    write_nothing(json, "stability");
    write_nothing(json, "comparison");
    return 0;
}
