/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AS_BASE_TREE_H
#define AS_BASE_TREE_H

/* Removes `name` in the directory `at` (or AT_FDCWD) with all its content. Links are removed, not
 * followed. Entries that cannot be removed stay. Returns 0, also if `name` does not exist, or -1
 * with errno. */
int as_tree_remove(int at, const char *name);

#endif
