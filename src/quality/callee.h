/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop calls. */
#ifndef AS_QUALITY_CALLEE_H
#define AS_QUALITY_CALLEE_H

#include <assay/catalogue.h>

/* Calls of the library's square root, of complex products and quotients, and of mathematical
 * functions. Inner loops are left out. */
uint32_t as_quality_root_calls(const struct assay_catalogue_module *module, uint32_t loop);
uint32_t as_quality_complex_calls(const struct assay_catalogue_module *module, uint32_t loop);
uint32_t as_quality_math_calls(const struct assay_catalogue_module *module, uint32_t loop);

#endif
