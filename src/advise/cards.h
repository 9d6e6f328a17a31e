/* SPDX-License-Identifier: Apache-2.0 */
/* One finding a loop, and one a pattern that small loops share (data/advise/causes.txt). */
#ifndef AS_ADVISE_CARDS_H
#define AS_ADVISE_CARDS_H

#include "advise/run.h"

int as_advise_cards(const struct as_advice *advice, const struct as_rule_choice *choice,
                    struct as_error *err);

#endif
