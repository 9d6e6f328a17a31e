/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs were recorded but are not attributed, or not summed up, because assay was killed (or
 * is still at it). An attributed run has its files of samples in run_file, mostly processes, and
 * where it has samples their sums.
 */
#ifndef AS_PROFILE_UNFINISHED_H
#define AS_PROFILE_UNFINISHED_H

/* SQL conditions over a row `r` of the table run. */
#define AS_RUN_NOT_ATTRIBUTED                                                                      \
    "(NOT EXISTS"                                                                                  \
    " (SELECT 1 FROM process up WHERE up.run_id = r.run_id) AND NOT EXISTS"                        \
    " (SELECT 1 FROM run_file uf WHERE uf.run_id = r.run_id AND uf.kind = 'samples'))"
#define AS_RUN_NOT_SUMMED                                                                          \
    "(NOT EXISTS (SELECT 1 FROM object_time uo WHERE uo.run_id = r.run_id) AND EXISTS"             \
    " (SELECT 1 FROM process up JOIN thread ut USING (process_id) JOIN sample us USING"            \
    " (thread_id) WHERE up.run_id = r.run_id))"
#define AS_RUN_UNFINISHED                                                                          \
    "(r.kind IN ('profile', 'import') AND (" AS_RUN_NOT_ATTRIBUTED " OR " AS_RUN_NOT_SUMMED "))"

#endif
