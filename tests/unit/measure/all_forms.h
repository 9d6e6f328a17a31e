/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of the decoder, for tests that take some of them by their keys. Behind cmocka.h. */
#ifndef AS_TEST_ALL_FORMS_H
#define AS_TEST_ALL_FORMS_H

#include <string.h>

#include "measure/forms.h"

static struct as_form_list all;

static int collect_all(void **state)
{
    (void)state;
    return as_forms_init(&all) < 0 || as_forms_of_decoder(&all) < 0 ? -1 : 0;
}

static int drop_all(void **state)
{
    (void)state;
    as_forms_fini(&all);
    return 0;
}

static const struct as_form_case *form_named(const char *key)
{
    as_vec_foreach (&all.cases, one)
        if (strcmp(one->key, key) == 0)
            return one;
    fail_msg("there is no form '%s'", key);
    return NULL;
}

#endif
