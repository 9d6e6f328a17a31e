-- SPDX-License-Identifier: Apache-2.0
-- Schema 2: the views users query and `assay show` gives. Their columns only ever gain neighbours:
-- names carry their units (_s seconds, _pct per cent, _b bytes, _n counts). doc/experiment.md says
-- what each means. Times and shares come from the summaries that follow the samples of a run.

CREATE VIEW v_runs AS
SELECT
    r.run_id,
    r.kind,
    r.label,
    r.command,
    r.cwd,
    h.name AS host,
    r.launcher,
    strftime('%Y-%m-%dT%H:%M:%SZ', r.start_ns / 1000000000, 'unixepoch') AS start_utc,
    r.wall_ns / 1e9 AS wall_s,
    r.exit_code,
    r.exit_signal,
    r.state,
    r.event,
    r.event_reason,
    r.rate_hz,
    r.call_stacks,
    r.scope,
    (SELECT count(*) FROM process p WHERE p.run_id = r.run_id) AS process_n,
    (SELECT count(*) FROM process p JOIN thread x USING (process_id) WHERE p.run_id = r.run_id)
        AS thread_n,
    (SELECT count(DISTINCT p.rank) FROM process p WHERE p.run_id = r.run_id) AS rank_n,
    ifnull(t.exclusive_n, 0) AS sample_n,
    ifnull(t.exclusive_ns, 0) / 1e9 AS sampled_time_s,
    ifnull(t.blocked_ns, 0) / 1e9 AS blocked_time_s,
    (SELECT ifnull(sum(x.lost_n), 0) FROM process p JOIN thread x USING (process_id)
     WHERE p.run_id = r.run_id) AS lost_sample_n,
    r.overhead_ns / 1e9 AS overhead_s,
    100.0 * r.overhead_ns / nullif(r.wall_ns, 0) AS overhead_pct,
    r.environment_digest,
    r.assay_version
FROM run r
LEFT JOIN host h USING (host_id)
LEFT JOIN object_time t ON t.run_id = r.run_id AND t.object_kind = 1 AND t.object_id = r.run_id;

CREATE VIEW v_hosts AS
SELECT
    host_id,
    name,
    kernel,
    os,
    cpu_vendor,
    cpu_model,
    cpu_family,
    cpu_model_number,
    cpu_stepping,
    hypervisor,
    socket_n,
    core_n,
    cpu_n,
    numa_n,
    memory_b,
    tsc_hz,
    base_hz,
    max_hz
FROM host;

CREATE VIEW v_processes AS
SELECT
    p.run_id,
    p.process_id,
    p.parent_id,
    p.pid,
    p.parent_pid,
    p.rank,
    h.name AS host,
    p.exe,
    p.command,
    p.start_ns / 1e9 AS start_s,
    p.end_ns / 1e9 AS end_s,
    p.exit_code,
    p.exit_signal,
    (SELECT count(*) FROM thread x WHERE x.process_id = p.process_id) AS thread_n,
    ifnull(t.exclusive_n, 0) AS sample_n,
    ifnull(t.exclusive_ns, 0) / 1e9 AS time_s,
    100 * ifnull(t.exclusive_share, 0) AS time_pct,
    100 * t.exclusive_low AS time_low_pct,
    100 * t.exclusive_high AS time_high_pct,
    ifnull(t.blocked_ns, 0) / 1e9 AS blocked_time_s,
    (SELECT ifnull(sum(x.lost_n), 0) FROM thread x WHERE x.process_id = p.process_id)
        AS lost_sample_n,
    'measured' AS origin
FROM process p
LEFT JOIN host h USING (host_id)
LEFT JOIN object_time t
    ON t.run_id = p.run_id AND t.object_kind = 3 AND t.object_id = p.process_id;

CREATE VIEW v_threads AS
SELECT
    p.run_id,
    x.thread_id,
    x.process_id,
    p.pid,
    p.rank,
    h.name AS host,
    x.tid,
    x.name,
    x.omp_thread,
    x.start_ns / 1e9 AS start_s,
    x.end_ns / 1e9 AS end_s,
    x.cpu_ns / 1e9 AS cpu_time_s,
    ifnull(t.exclusive_n, 0) AS sample_n,
    ifnull(t.exclusive_ns, 0) / 1e9 AS time_s,
    100 * ifnull(t.exclusive_share, 0) AS time_pct,
    100 * t.exclusive_low AS time_low_pct,
    100 * t.exclusive_high AS time_high_pct,
    ifnull(x.blocked_ns, t.blocked_ns) / 1e9 AS blocked_time_s,
    x.switch_voluntary_n,
    x.switch_involuntary_n,
    x.cpu_migration_n,
    x.numa_migration_n,
    (SELECT count(*) FROM thread_cpu c WHERE c.thread_id = x.thread_id) AS cpu_n,
    (SELECT group_concat(cpu, ' ') FROM
        (SELECT cpu FROM thread_cpu c WHERE c.thread_id = x.thread_id
         ORDER BY sample_n DESC, cpu)) AS cpus,
    (SELECT group_concat(numa_node, ' ') FROM
        (SELECT numa_node FROM thread_cpu c WHERE c.thread_id = x.thread_id
         AND numa_node IS NOT NULL GROUP BY numa_node ORDER BY sum(sample_n) DESC, numa_node))
        AS numa_nodes,
    x.lost_n AS lost_sample_n,
    100.0 * x.lost_n / nullif(x.lost_n + ifnull(t.exclusive_n, 0), 0) AS lost_pct,
    'measured' AS origin
FROM thread x
JOIN process p USING (process_id)
LEFT JOIN host h USING (host_id)
LEFT JOIN object_time t
    ON t.run_id = p.run_id AND t.object_kind = 4 AND t.object_id = x.thread_id;

CREATE VIEW v_modules AS
SELECT
    t.run_id,
    m.module_id,
    m.name,
    m.path,
    m.build_id,
    m.kind,
    m.size_b,
    m.has_debug,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.thread_n AS thread_n,
    t.thread_min_ns / 1e9 AS thread_min_s,
    t.thread_mean_ns / 1e9 AS thread_mean_s,
    t.thread_max_ns / 1e9 AS thread_max_s,
    t.thread_deviation_ns / 1e9 AS thread_deviation_s,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN module m ON t.object_kind = 5 AND m.module_id = t.object_id;

CREATE VIEW v_functions AS
SELECT
    t.run_id,
    f.function_id,
    f.name,
    f.linkage_name,
    m.name AS module,
    c.name AS category,
    s.path AS source_file,
    l.number AS line,
    CASE WHEN f.address IS NOT NULL THEN printf('0x%x', f.address) END AS address,
    f.size_b,
    u.compiler,
    u.language,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.thread_n AS thread_n,
    t.thread_min_ns / 1e9 AS thread_min_s,
    t.thread_mean_ns / 1e9 AS thread_mean_s,
    t.thread_max_ns / 1e9 AS thread_max_s,
    t.thread_deviation_ns / 1e9 AS thread_deviation_s,
    (SELECT count(*) FROM loop o WHERE o.function_id = f.function_id) AS loop_n,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN function f ON t.object_kind = 6 AND f.function_id = t.object_id
JOIN module m USING (module_id)
LEFT JOIN category c ON c.category_id = t.category_id
LEFT JOIN line l USING (line_id)
LEFT JOIN source_file s USING (source_file_id)
LEFT JOIN unit u ON u.unit_id = f.unit_id;

CREATE VIEW v_loops AS
SELECT
    t.run_id,
    o.loop_id,
    o.parent_id,
    o.source_loop_id,
    o.function_id,
    f.name AS function,
    m.name AS module,
    c.name AS category,
    s.path AS source_file,
    l.number AS first_line,
    e.number AS last_line,
    printf('0x%x', o.address) AS address,
    o.depth,
    o.is_innermost,
    o.role,
    o.block_n,
    o.instruction_n,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.thread_n AS thread_n,
    t.thread_min_ns / 1e9 AS thread_min_s,
    t.thread_mean_ns / 1e9 AS thread_mean_s,
    t.thread_max_ns / 1e9 AS thread_max_s,
    t.thread_deviation_ns / 1e9 AS thread_deviation_s,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN loop o ON t.object_kind = 7 AND o.loop_id = t.object_id
JOIN function f USING (function_id)
JOIN module m USING (module_id)
LEFT JOIN category c ON c.category_id = t.category_id
LEFT JOIN line l ON l.line_id = o.first_line_id
LEFT JOIN line e ON e.line_id = o.last_line_id
LEFT JOIN source_file s ON s.source_file_id = l.source_file_id;

CREATE VIEW v_blocks AS
SELECT
    t.run_id,
    b.block_id,
    b.loop_id,
    b.function_id,
    f.name AS function,
    m.name AS module,
    printf('0x%x', b.address) AS address,
    b.size_b,
    b.instruction_n,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN block b ON t.object_kind = 8 AND b.block_id = t.object_id
JOIN function f USING (function_id)
JOIN module m USING (module_id);

CREATE VIEW v_lines AS
SELECT
    t.run_id,
    l.line_id,
    s.path AS source_file,
    l.number AS line,
    l.text,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN line l ON t.object_kind = 10 AND l.line_id = t.object_id
JOIN source_file s USING (source_file_id);

CREATE VIEW v_categories AS
SELECT
    t.run_id,
    c.category_id,
    c.name,
    c.title,
    c.meaning,
    t.exclusive_n AS sample_n,
    t.exclusive_ns / 1e9 AS time_s,
    100 * t.exclusive_share AS time_pct,
    100 * t.exclusive_low AS time_low_pct,
    100 * t.exclusive_high AS time_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.thread_n AS thread_n,
    t.thread_min_ns / 1e9 AS thread_min_s,
    t.thread_mean_ns / 1e9 AS thread_mean_s,
    t.thread_max_ns / 1e9 AS thread_max_s,
    t.thread_deviation_ns / 1e9 AS thread_deviation_s,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN category c ON t.object_kind = 12 AND c.category_id = t.object_id;

-- `path` holds at most 128 frames, outermost first; where frames are left out it begins anew
-- with an ellipsis.
CREATE VIEW v_callpaths AS
WITH RECURSIVE named (callpath_id, path, frame_n) AS (
    SELECT p.callpath_id, f.name, 1
    FROM callpath p JOIN function f USING (function_id) WHERE p.parent_id IS NULL
    UNION ALL
    SELECT p.callpath_id,
           CASE WHEN n.frame_n % 128 = 0 THEN '...' ELSE n.path END || ';' || f.name,
           n.frame_n + 1
    FROM named n
    JOIN callpath p ON p.parent_id = n.callpath_id
    JOIN function f USING (function_id)
)
SELECT
    t.run_id,
    p.callpath_id,
    p.parent_id,
    p.depth,
    p.function_id,
    f.name AS function,
    m.name AS module,
    c.name AS category,
    s.path AS call_source_file,
    l.number AS call_line,
    n.path,
    t.exclusive_n AS exclusive_sample_n,
    t.exclusive_ns / 1e9 AS exclusive_time_s,
    100 * t.exclusive_share AS exclusive_pct,
    100 * t.exclusive_low AS exclusive_low_pct,
    100 * t.exclusive_high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * t.inclusive_share AS inclusive_pct,
    100 * t.inclusive_low AS inclusive_low_pct,
    100 * t.inclusive_high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.thread_n AS thread_n,
    t.few_samples AS few_samples,
    'measured' AS origin
FROM object_time t
JOIN callpath p ON t.object_kind = 11 AND p.callpath_id = t.object_id
JOIN named n USING (callpath_id)
JOIN function f USING (function_id)
JOIN module m USING (module_id)
LEFT JOIN category c ON c.category_id = p.category_id
LEFT JOIN location a ON a.location_id = p.call_location_id
LEFT JOIN line l ON l.line_id = a.line_id
LEFT JOIN source_file s USING (source_file_id);

CREATE VIEW v_values AS
SELECT
    v.run_id,
    k.name AS object_kind,
    v.object_id,
    m.name AS metric,
    v.value,
    m.unit,
    v.origin,
    v.low,
    v.high,
    v.n,
    m.better,
    m.meaning
FROM value v
JOIN metric m USING (metric_id)
JOIN object_kind k USING (object_kind);

CREATE VIEW v_metrics AS
SELECT
    metric_id,
    name,
    unit,
    better,
    meaning,
    formula,
    (SELECT count(*) FROM value v WHERE v.metric_id = m.metric_id) AS value_n
FROM metric m;

CREATE VIEW v_findings AS
SELECT
    d.finding_id,
    d.run_id,
    k.name AS object_kind,
    d.object_id,
    d.level,
    d.topic,
    d.text,
    d.workaround,
    d.gain,
    d.gain_low,
    d.gain_high,
    d.gain_origin
FROM finding d
JOIN object_kind k USING (object_kind);

CREATE VIEW v_flags AS
SELECT
    g.flag_id,
    g.run_id,
    k.name AS object_kind,
    g.object_id,
    g.name,
    g.n,
    g.text
FROM flag g
JOIN object_kind k USING (object_kind);

-- How the recursion of v_callpaths finds the children of a path.
CREATE INDEX callpath_parent ON callpath (parent_id);
