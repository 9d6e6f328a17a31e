/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds runs that were recorded, but not attributed or not summed up. assay was killed, or is still
 * running. An attributed run has its sample files in run_file, and mostly processes. If it has
 * samples, it also has their sums.
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
