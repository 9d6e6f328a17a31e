-- SPDX-License-Identifier: Apache-2.0
-- Schema 1: the tables of an experiment. Never edited once released: a change is a new file.
-- Ids begin at 1; NULL is "not known" or "none". Addresses are those of the module's file, kept as
-- signed 64-bit numbers. Times are nanoseconds, shares are fractions of 1. doc/experiment.md says
-- what each column means.

CREATE TABLE object_kind (
    object_kind INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO object_kind VALUES
    (1, 'run'), (2, 'host'), (3, 'process'), (4, 'thread'), (5, 'module'), (6, 'function'),
    (7, 'loop'), (8, 'block'), (9, 'location'), (10, 'line'), (11, 'callpath'), (12, 'category');

CREATE TABLE host (
    host_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kernel TEXT,
    os TEXT,
    cpu_vendor TEXT,
    cpu_model TEXT,
    cpu_family INTEGER,
    cpu_model_number INTEGER,
    cpu_stepping INTEGER,
    hypervisor TEXT,
    socket_n INTEGER,
    core_n INTEGER,
    cpu_n INTEGER,
    numa_n INTEGER,
    memory_b INTEGER,
    tsc_hz INTEGER,
    base_hz INTEGER,
    max_hz INTEGER
) STRICT;
CREATE UNIQUE INDEX host_key ON host (name, ifnull(cpu_model, ''), ifnull(kernel, ''));

CREATE TABLE host_fact (
    host_id INTEGER NOT NULL REFERENCES host,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (host_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    run_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    label TEXT,
    command TEXT NOT NULL,
    argv TEXT,
    environment_digest TEXT,
    cwd TEXT,
    launcher TEXT,
    host_id INTEGER REFERENCES host,
    start_ns INTEGER NOT NULL,
    wall_ns INTEGER,
    exit_code INTEGER,
    exit_signal INTEGER,
    state TEXT NOT NULL CHECK (state IN ('recording', 'complete', 'interrupted')),
    event TEXT,
    event_reason TEXT,
    rate_hz INTEGER,
    call_stacks TEXT,
    scope TEXT,
    overhead_ns INTEGER,
    assay_version TEXT NOT NULL
) STRICT;

CREATE TABLE run_environment (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_file (
    run_file_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    size_b INTEGER,
    UNIQUE (run_id, path)
) STRICT;

CREATE TABLE overhead (
    overhead_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    part TEXT NOT NULL,
    cpu_ns INTEGER,
    wall_ns INTEGER,
    origin TEXT NOT NULL CHECK (origin IN ('measured', 'exact', 'derived', 'modelled', 'simulated')),
    UNIQUE (run_id, part)
) STRICT;

CREATE TABLE process (
    process_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    parent_id INTEGER REFERENCES process,
    pid INTEGER NOT NULL,
    parent_pid INTEGER,
    host_id INTEGER REFERENCES host,
    rank INTEGER,
    exe TEXT,
    command TEXT,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER,
    exit_code INTEGER,
    exit_signal INTEGER
) STRICT;
CREATE INDEX process_run ON process (run_id);

CREATE TABLE thread (
    thread_id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process ON DELETE CASCADE,
    tid INTEGER NOT NULL,
    name TEXT,
    omp_thread INTEGER,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER,
    cpu_ns INTEGER,
    blocked_ns INTEGER,
    switch_voluntary_n INTEGER,
    switch_involuntary_n INTEGER,
    cpu_migration_n INTEGER,
    numa_migration_n INTEGER,
    lost_n INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX thread_process ON thread (process_id);

CREATE TABLE thread_cpu (
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    cpu INTEGER NOT NULL,
    numa_node INTEGER,
    sample_n INTEGER NOT NULL,
    PRIMARY KEY (thread_id, cpu)
) STRICT, WITHOUT ROWID;

CREATE TABLE category (
    category_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT,
    parent_id INTEGER REFERENCES category,
    meaning TEXT
) STRICT;

CREATE TABLE module (
    module_id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    build_id TEXT,
    kind TEXT NOT NULL,
    size_b INTEGER,
    has_debug INTEGER,
    kept_path TEXT
) STRICT;
CREATE UNIQUE INDEX module_key ON module (path, ifnull(build_id, ''));

CREATE TABLE mapping (
    mapping_id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process ON DELETE CASCADE,
    module_id INTEGER NOT NULL REFERENCES module,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    file_offset_b INTEGER NOT NULL DEFAULT 0,
    from_ns INTEGER,
    to_ns INTEGER
) STRICT;
CREATE INDEX mapping_process ON mapping (process_id);

CREATE TABLE source_file (
    source_file_id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    language TEXT,
    digest TEXT
) STRICT;
CREATE UNIQUE INDEX source_file_key ON source_file (path, ifnull(digest, ''));

CREATE TABLE line (
    line_id INTEGER PRIMARY KEY,
    source_file_id INTEGER NOT NULL REFERENCES source_file,
    number INTEGER NOT NULL,
    text TEXT,
    UNIQUE (source_file_id, number)
) STRICT;

CREATE TABLE unit (
    unit_id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL REFERENCES module,
    name TEXT NOT NULL,
    language TEXT,
    compiler TEXT,
    compiler_version TEXT,
    flags TEXT
) STRICT;
CREATE UNIQUE INDEX unit_key ON unit (module_id, name, ifnull(flags, ''));

CREATE TABLE function (
    function_id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL REFERENCES module,
    name TEXT NOT NULL,
    linkage_name TEXT,
    address INTEGER,
    size_b INTEGER,
    unit_id INTEGER REFERENCES unit,
    line_id INTEGER REFERENCES line,
    known_from TEXT
) STRICT;
CREATE UNIQUE INDEX function_key ON function (module_id, ifnull(address, -1), name);

CREATE TABLE loop (
    loop_id INTEGER PRIMARY KEY,
    function_id INTEGER NOT NULL REFERENCES function,
    parent_id INTEGER REFERENCES loop,
    source_loop_id INTEGER REFERENCES loop,
    address INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    is_innermost INTEGER NOT NULL,
    role TEXT,
    first_line_id INTEGER REFERENCES line,
    last_line_id INTEGER REFERENCES line,
    block_n INTEGER,
    instruction_n INTEGER,
    UNIQUE (function_id, address, depth)
) STRICT;

CREATE TABLE block (
    block_id INTEGER PRIMARY KEY,
    function_id INTEGER NOT NULL REFERENCES function,
    loop_id INTEGER REFERENCES loop,
    address INTEGER NOT NULL,
    size_b INTEGER NOT NULL,
    instruction_n INTEGER,
    UNIQUE (function_id, address)
) STRICT;

-- A function inlined into another; parent_id is the inlining it stands in.
CREATE TABLE inlining (
    inlining_id INTEGER PRIMARY KEY,
    function_id INTEGER NOT NULL REFERENCES function,
    parent_id INTEGER REFERENCES inlining,
    name TEXT NOT NULL,
    call_line_id INTEGER REFERENCES line
) STRICT;
CREATE UNIQUE INDEX inlining_key
    ON inlining (function_id, ifnull(parent_id, 0), name, ifnull(call_line_id, 0));

-- An address where samples were taken or calls were made, attributed once.
CREATE TABLE location (
    location_id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL REFERENCES module,
    address INTEGER NOT NULL,
    function_id INTEGER REFERENCES function,
    loop_id INTEGER REFERENCES loop,
    block_id INTEGER REFERENCES block,
    line_id INTEGER REFERENCES line,
    inlining_id INTEGER REFERENCES inlining,
    UNIQUE (module_id, address)
) STRICT;

CREATE TABLE disassembly (
    module_id INTEGER NOT NULL REFERENCES module,
    address INTEGER NOT NULL,
    function_id INTEGER NOT NULL REFERENCES function,
    size_b INTEGER NOT NULL,
    text TEXT NOT NULL,
    loop_id INTEGER REFERENCES loop,
    block_id INTEGER REFERENCES block,
    line_id INTEGER REFERENCES line,
    PRIMARY KEY (module_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX disassembly_function ON disassembly (function_id);

-- Prefix tree: a frame is a function called from a place of the parent's function. Here and in
-- `sample` nothing is declared REFERENCES: checking millions of rows one by one costs a fifth of
-- the time that they take.
CREATE TABLE callpath (
    callpath_id INTEGER PRIMARY KEY,
    parent_id INTEGER,
    function_id INTEGER NOT NULL,
    call_location_id INTEGER,
    category_id INTEGER,
    depth INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX callpath_key
    ON callpath (ifnull(parent_id, 0), function_id, ifnull(call_location_id, 0));

-- state: 0 running, 1 blocked.
CREATE TABLE sample (
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    callpath_id INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1)),
    n INTEGER NOT NULL CHECK (n > 0),
    time_ns INTEGER NOT NULL CHECK (time_ns >= 0),
    PRIMARY KEY (thread_id, callpath_id, location_id, state)
) STRICT, WITHOUT ROWID;

-- Summaries of the samples of a run, made by assay_experiment_summarise.
-- object_kind as in `value`; thread_id tells whose time.
CREATE TABLE thread_time (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    object_kind INTEGER NOT NULL,
    object_id INTEGER NOT NULL,
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    exclusive_n INTEGER NOT NULL,
    exclusive_ns INTEGER NOT NULL,
    inclusive_n INTEGER NOT NULL,
    inclusive_ns INTEGER NOT NULL,
    blocked_ns INTEGER NOT NULL,
    blocked_inclusive_ns INTEGER NOT NULL,
    PRIMARY KEY (run_id, object_kind, object_id, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE object_time (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    object_kind INTEGER NOT NULL,
    object_id INTEGER NOT NULL,
    thread_n INTEGER NOT NULL,
    exclusive_n INTEGER NOT NULL,
    exclusive_ns INTEGER NOT NULL,
    exclusive_share REAL NOT NULL,
    exclusive_low REAL NOT NULL,
    exclusive_high REAL NOT NULL,
    inclusive_n INTEGER NOT NULL,
    inclusive_ns INTEGER NOT NULL,
    inclusive_share REAL NOT NULL,
    inclusive_low REAL NOT NULL,
    inclusive_high REAL NOT NULL,
    blocked_ns INTEGER NOT NULL,
    blocked_inclusive_ns INTEGER NOT NULL,
    thread_min_ns INTEGER NOT NULL,
    thread_mean_ns REAL NOT NULL,
    thread_max_ns INTEGER NOT NULL,
    thread_deviation_ns REAL NOT NULL,
    category_id INTEGER REFERENCES category,
    few_samples INTEGER NOT NULL,
    PRIMARY KEY (run_id, object_kind, object_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
    metric_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    unit TEXT NOT NULL,
    meaning TEXT NOT NULL,
    better TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'neither')),
    formula TEXT NOT NULL
) STRICT;

-- run_id is 0 for what holds of the program in every run.
CREATE TABLE value (
    metric_id INTEGER NOT NULL REFERENCES metric,
    object_kind INTEGER NOT NULL REFERENCES object_kind,
    object_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    value REAL NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('measured', 'exact', 'derived', 'modelled', 'simulated')),
    low REAL NOT NULL,
    high REAL NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (metric_id, object_kind, object_id, run_id),
    CHECK (low <= value AND value <= high)
) STRICT, WITHOUT ROWID;
CREATE INDEX value_object ON value (object_kind, object_id);

CREATE TABLE finding (
    finding_id INTEGER PRIMARY KEY,
    run_id INTEGER REFERENCES run ON DELETE CASCADE,
    object_kind INTEGER NOT NULL REFERENCES object_kind,
    object_id INTEGER NOT NULL,
    topic TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('gain', 'potential', 'hint', 'expert')),
    text TEXT NOT NULL,
    workaround TEXT,
    gain REAL,
    gain_low REAL,
    gain_high REAL,
    gain_origin TEXT
        CHECK (gain_origin IN ('measured', 'exact', 'derived', 'modelled', 'simulated')),
    CHECK ((gain IS NULL) = (gain_origin IS NULL) AND (gain IS NULL) = (gain_low IS NULL)
           AND (gain IS NULL) = (gain_high IS NULL))
) STRICT;
CREATE INDEX finding_object ON finding (object_kind, object_id);

-- What lessens trust in an object or a run: lost samples, few samples, a fallback, a missing symbol.
CREATE TABLE flag (
    flag_id INTEGER PRIMARY KEY,
    run_id INTEGER REFERENCES run ON DELETE CASCADE,
    object_kind INTEGER NOT NULL REFERENCES object_kind,
    object_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    n INTEGER NOT NULL DEFAULT 1,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX flag_object ON flag (object_kind, object_id);
