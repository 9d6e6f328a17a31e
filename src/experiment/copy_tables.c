/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What copying has to know of each table. A new table is a line here, behind those that it refers
 * to; a table or a reference that is forgotten fails tests/unit/experiment/copy_test.c.
 */
#include "experiment/copy.h"

#define OF_RUN     "run_id = ?1"
#define OF_PROCESS "process_id IN (SELECT process_id FROM process WHERE run_id = ?1)"
#define OF_THREAD  "thread_id IN (SELECT thread_id FROM thread WHERE " OF_PROCESS ")"
#define OF_PROGRAM "run_id = 0"
#define OF_EACH    "(run_id = 0 OR (run_id = ?1 AND object_kind IN ('process', 'thread')))"
/* Totals of what was counted besides; other values of a run are computed of its samples. */
#define OF_COUNTED                                                                                 \
    "run_id = ?1 AND object_kind = 'run'"                                                          \
    " AND metric_id IN (SELECT metric_id FROM metric WHERE topic = 'counted')"

/* clang-format off */
const struct as_copy_table as_copy_tables[] = {
    {"host", AS_COPY_COMPLETE, NULL, ""},
    {"host_fact", AS_COPY_COMPLETE, NULL, "host_id:host"},
    {"category", AS_COPY_COMPLETE, NULL, "parent_id:category+"},
    {"source_file", AS_COPY_COMPLETE, NULL, ""},
    {"line", AS_COPY_COMPLETE, NULL, "source_file_id:source_file"},
    {"module", AS_COPY_COMPLETE, NULL, "path:@process name:@process kept_path:@file"},
    {"unit", AS_COPY_COMPLETE, NULL, "module_id:module"},
    {"function", AS_COPY_COMPLETE, NULL, "module_id:module unit_id:unit line_id:line"},
    {"loop", AS_COPY_COMPLETE, NULL, "function_id:function parent_id:loop+ source_loop_id:loop+"
                                     " first_line_id:line last_line_id:line"},
    {"block", AS_COPY_COMPLETE, NULL, "function_id:function loop_id:loop"},
    {"edge", AS_COPY_COMPLETE, NULL, "from_block_id:block to_block_id:block"},
    {"path", AS_COPY_COMPLETE, NULL, "loop_id:loop"},
    {"path_block", AS_COPY_KEEP, NULL, "path_id:path block_id:block"},
    {"inlining", AS_COPY_COMPLETE, NULL, "function_id:function parent_id:inlining"
                                         " call_line_id:line"},
    {"location", AS_COPY_COMPLETE, NULL, "module_id:module function_id:function loop_id:loop"
                                         " block_id:block line_id:line inlining_id:inlining"},
    {"disassembly", AS_COPY_KEEP, NULL, "module_id:module function_id:function loop_id:loop"
                                        " block_id:block line_id:line"},
    {"callpath", AS_COPY_COMPLETE, NULL, "parent_id:callpath function_id:function"
                                         " call_location_id:location category_id:category"},
    {"metric", AS_COPY_COMPLETE, NULL, ""},
    {"run", AS_COPY_ASKED, NULL, "host_id:host reference_id:run"},
    {"run_environment", AS_COPY_ASKED, OF_RUN, "run_id:run"},
    {"run_setting", AS_COPY_COMPLETE, OF_RUN, "run_id:run"},
    {"run_file", AS_COPY_COMPLETE, OF_RUN, "run_id:run path:@file"},
    {"overhead", AS_COPY_ADD_UP, OF_RUN, "run_id:run cpu_ns:@sum wall_ns:@sum"},
    {"process", AS_COPY_COMPLETE, OF_RUN, "run_id:run parent_id:process+ host_id:host"
                                          " start_ns:@time end_ns:@time"},
    {"thread", AS_COPY_COMPLETE, OF_PROCESS, "process_id:process start_ns:@time end_ns:@time"},
    {"thread_cpu", AS_COPY_ADD_UP, OF_THREAD, "thread_id:thread sample_n:@sum"},
    {"mapping", AS_COPY_COMPLETE, OF_PROCESS, "process_id:process module_id:module from_ns:@time"
                                              " to_ns:@time"},
    {"sample", AS_COPY_ADD_UP, OF_THREAD, "thread_id:thread callpath_id:callpath"
                                          " location_id:location n:@sum time_ns:@sum"},
    {"thread_time", AS_COPY_MADE, NULL, "run_id:run thread_id:thread object_id:@object"},
    {"object_time", AS_COPY_MADE, NULL, "run_id:run object_id:@object category_id:category"},
    {"callpath_time", AS_COPY_MADE, NULL, "run_id:run callpath_id:callpath"},
    {"block_time", AS_COPY_MADE, NULL, "run_id:run block_id:block"},
    {"time_share", AS_COPY_MADE, NULL, "run_id:run"},
    {"context", AS_COPY_COMPLETE, NULL, ""},
    {"value", AS_COPY_KEEP, OF_EACH, "metric_id:metric run_id:run object_id:@object"
                                     " context_id:context"},
    {"value", AS_COPY_ADD_UP, OF_COUNTED, "metric_id:metric run_id:run object_id:@object"
                                          " context_id:context value:@sum low:@sum high:@sum n:@sum"},
    /* Their tables are made with the pass that fills them. */
    {"metric_set", AS_COPY_MADE, NULL, ""},
    {"metric_set_column", AS_COPY_MADE, NULL, "metric_set_id:metric_set metric_id:metric"},
    {"histogram", AS_COPY_KEEP, OF_EACH, "metric_id:metric run_id:run object_id:@object"
                                         " context_id:context"},
    {"array", AS_COPY_KEEP, OF_EACH, "run_id:run object_id:@object context_id:context"
                                     " run_file_id:run_file"},
    {"finding", AS_COPY_MADE, NULL, "run_id:run object_id:@object"},
    {"check_result", AS_COPY_MADE, NULL, "run_id:run"},
    {"what_if", AS_COPY_MADE, NULL, "run_id:run"},
    {"what_if_object", AS_COPY_MADE, NULL, "what_if_id:what_if"},
    {"detail", AS_COPY_KEEP, OF_PROGRAM, "run_id:run object_id:@object"},
    {"flag", AS_COPY_ASKED, OF_RUN " AND pass IS NULL", "run_id:run object_id:@object"},
};
/* clang-format on */

const size_t as_copy_table_n = sizeof as_copy_tables / sizeof *as_copy_tables;
