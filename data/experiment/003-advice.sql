-- SPDX-License-Identifier: Apache-2.0
-- Schema 3: what the advice adds: how a metric is titled and rated, gains in seconds, what-ifs with
-- their cumulative curves, scored checks, and parts of the page of an object. doc/experiment.md says what each column means.

ALTER TABLE metric ADD COLUMN title TEXT;
ALTER TABLE metric ADD COLUMN topic TEXT;
ALTER TABLE metric ADD COLUMN good REAL;
ALTER TABLE metric ADD COLUMN fair REAL;
ALTER TABLE metric ADD COLUMN position INTEGER;

ALTER TABLE finding ADD COLUMN pass TEXT;
ALTER TABLE finding ADD COLUMN gain_n INTEGER;
ALTER TABLE finding ADD COLUMN time_ns INTEGER;

CREATE TABLE check_result (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    position INTEGER NOT NULL,
    weight REAL NOT NULL CHECK (weight > 0),
    score REAL CHECK (score BETWEEN 0 AND 1),
    text TEXT NOT NULL,
    advice TEXT,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- The run as it would be if something of it were better. Its objects, most seconds first, each
-- with the seconds that it gives alone and the speed-up with it and all before it.
CREATE TABLE what_if (
    what_if_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    meaning TEXT NOT NULL,
    position INTEGER NOT NULL,
    object_kind INTEGER NOT NULL REFERENCES object_kind,
    time_s REAL NOT NULL CHECK (time_s >= 0),
    gain_s REAL NOT NULL,
    gain_low_s REAL NOT NULL,
    gain_high_s REAL NOT NULL,
    n INTEGER NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('measured', 'exact', 'derived', 'modelled', 'simulated')),
    to_80_n INTEGER,
    UNIQUE (run_id, name),
    CHECK (gain_low_s <= gain_s AND gain_s <= gain_high_s AND gain_s <= time_s)
) STRICT;

CREATE TABLE what_if_object (
    what_if_id INTEGER NOT NULL REFERENCES what_if ON DELETE CASCADE,
    position INTEGER NOT NULL,
    object_id INTEGER NOT NULL,
    gain_s REAL NOT NULL,
    speedup REAL NOT NULL,
    PRIMARY KEY (what_if_id, position)
) STRICT, WITHOUT ROWID;

-- A part of the page of an object: a text, a table, or both. Cells by row and column, from 0.
CREATE TABLE detail (
    detail_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL,
    object_kind INTEGER NOT NULL REFERENCES object_kind,
    object_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT,
    UNIQUE (object_kind, object_id, name, run_id)
) STRICT;

CREATE TABLE detail_column (
    detail_id INTEGER NOT NULL REFERENCES detail ON DELETE CASCADE,
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY (detail_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE detail_cell (
    detail_id INTEGER NOT NULL REFERENCES detail ON DELETE CASCADE,
    row INTEGER NOT NULL,
    number INTEGER NOT NULL,
    value ANY,
    PRIMARY KEY (detail_id, row, number)
) STRICT, WITHOUT ROWID;

DROP VIEW v_metrics;
CREATE VIEW v_metrics AS
SELECT
    metric_id,
    name,
    title,
    topic,
    unit,
    better,
    good,
    fair,
    position,
    meaning,
    formula,
    (SELECT count(*) FROM value v WHERE v.metric_id = m.metric_id) AS value_n
FROM metric m;

-- A gain is a factor of the run's speed; in seconds it is what that takes off the run's wall time.
DROP VIEW v_findings;
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
    d.gain_origin,
    d.gain_n,
    r.wall_ns / 1e9 * (1 - 1 / d.gain) AS gain_s,
    r.wall_ns / 1e9 * (1 - 1 / d.gain_low) AS gain_low_s,
    r.wall_ns / 1e9 * (1 - 1 / d.gain_high) AS gain_high_s,
    d.time_ns / 1e9 AS time_s,
    d.pass
FROM finding d
JOIN object_kind k USING (object_kind)
LEFT JOIN run r ON r.run_id = d.run_id;

CREATE VIEW v_checks AS
SELECT
    run_id,
    name,
    title,
    position,
    weight,
    score,
    CASE
        WHEN score IS NULL THEN 'unknown'
        WHEN score >= 0.999 THEN 'passed'
        WHEN score > 0.001 THEN 'partly'
        ELSE 'failed'
    END AS state,
    text,
    advice
FROM check_result;

CREATE VIEW v_what_ifs AS
SELECT
    w.what_if_id,
    w.run_id,
    w.name,
    w.title,
    w.meaning,
    w.position,
    k.name AS object_kind,
    w.time_s,
    w.gain_s,
    w.gain_low_s,
    w.gain_high_s,
    w.time_s / nullif(w.time_s - w.gain_s, 0) AS speedup,
    w.time_s / nullif(w.time_s - w.gain_low_s, 0) AS speedup_low,
    w.time_s / nullif(w.time_s - w.gain_high_s, 0) AS speedup_high,
    w.n,
    w.origin,
    (SELECT count(*) FROM what_if_object o WHERE o.what_if_id = w.what_if_id) AS object_n,
    w.to_80_n
FROM what_if w
JOIN object_kind k USING (object_kind);

CREATE VIEW v_what_if_objects AS
SELECT
    w.run_id,
    w.name,
    o.position,
    k.name AS object_kind,
    o.object_id,
    o.gain_s,
    o.speedup
FROM what_if_object o
JOIN what_if w USING (what_if_id)
JOIN object_kind k USING (object_kind);
