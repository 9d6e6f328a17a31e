/* SPDX-License-Identifier: Apache-2.0 */
/* The options of data/quality/options.txt, made by tools/gen-advice.py. */
#ifndef AS_QUALITY_OPTIONS_TABLE_H
#define AS_QUALITY_OPTIONS_TABLE_H

#include <assay/options.h>

extern const struct assay_option as_quality_option[];
extern const size_t as_quality_option_n;

#endif
