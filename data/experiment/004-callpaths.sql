-- SPDX-License-Identifier: Apache-2.0
-- Schema 4: call paths, by far the most rows, kept tightly. One index instead of two; their times in
-- a table of their own without what follows from them. Few different times occur, so that the share
-- of a time and its interval are kept once. doc/experiment.md says what each column means.

CREATE TABLE callpath_time (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    callpath_id INTEGER NOT NULL,
    exclusive_n INTEGER NOT NULL,
    exclusive_ns INTEGER NOT NULL,
    inclusive_n INTEGER NOT NULL,
    inclusive_ns INTEGER NOT NULL,
    blocked_ns INTEGER NOT NULL,
    blocked_inclusive_ns INTEGER NOT NULL,
    thread_n INTEGER NOT NULL,
    PRIMARY KEY (run_id, callpath_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE time_share (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    time_ns INTEGER NOT NULL,
    share REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    PRIMARY KEY (run_id, time_ns)
) STRICT, WITHOUT ROWID;

INSERT INTO callpath_time
SELECT run_id, object_id, exclusive_n, exclusive_ns, inclusive_n, inclusive_ns, blocked_ns,
       blocked_inclusive_ns, thread_n
FROM object_time WHERE object_kind = 11;
INSERT OR IGNORE INTO time_share
SELECT run_id, exclusive_ns, exclusive_share, exclusive_low, exclusive_high
FROM object_time WHERE object_kind = 11;
INSERT OR IGNORE INTO time_share
SELECT run_id, inclusive_ns, inclusive_share, inclusive_low, inclusive_high
FROM object_time WHERE object_kind = 11;
DELETE FROM object_time WHERE object_kind = 11;

-- The first also finds the children of a path.
DROP INDEX callpath_parent;
DROP INDEX callpath_key;
CREATE UNIQUE INDEX callpath_key ON callpath (parent_id, function_id, ifnull(call_location_id, 0))
    WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX callpath_root ON callpath (function_id, ifnull(call_location_id, 0))
    WHERE parent_id IS NULL;

DROP VIEW v_callpaths;
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
    100 * e.share AS exclusive_pct,
    100 * e.low AS exclusive_low_pct,
    100 * e.high AS exclusive_high_pct,
    t.inclusive_n AS inclusive_sample_n,
    t.inclusive_ns / 1e9 AS inclusive_time_s,
    100 * i.share AS inclusive_pct,
    100 * i.low AS inclusive_low_pct,
    100 * i.high AS inclusive_high_pct,
    t.blocked_ns / 1e9 AS blocked_time_s,
    t.blocked_inclusive_ns / 1e9 AS blocked_inclusive_time_s,
    t.thread_n AS thread_n,
    t.inclusive_n < 30 AS few_samples,
    'measured' AS origin
FROM callpath_time t
JOIN callpath p USING (callpath_id)
JOIN named n USING (callpath_id)
JOIN function f USING (function_id)
JOIN module m USING (module_id)
JOIN time_share e ON e.run_id = t.run_id AND e.time_ns = t.exclusive_ns
JOIN time_share i ON i.run_id = t.run_id AND i.time_ns = t.inclusive_ns
LEFT JOIN category c ON c.category_id = p.category_id
LEFT JOIN location a ON a.location_id = p.call_location_id
LEFT JOIN line l ON l.line_id = a.line_id
LEFT JOIN source_file s USING (source_file_id);
