/* SPDX-License-Identifier: Apache-2.0 */
/* data/categories/categories.txt, brought into the program by tools/gen-text.py. */
#ifndef AS_PROFILE_CATEGORY_DATA_H
#define AS_PROFILE_CATEGORY_DATA_H

extern const char as_category_text[];

#endif
