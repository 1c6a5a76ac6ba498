-- A learner's file as the first format had it, with an answer of each form.
CREATE TABLE sets (
    id INTEGER PRIMARY KEY,
    created TEXT NOT NULL,
    finished TEXT,
    options TEXT NOT NULL,
    problems TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    set_id INTEGER NOT NULL REFERENCES sets (id),
    position INTEGER NOT NULL,
    problem TEXT NOT NULL,
    topic TEXT NOT NULL,
    typed TEXT NOT NULL,
    parsed TEXT,
    said INTEGER,
    score REAL NOT NULL,
    verdict TEXT NOT NULL,
    mistake TEXT,
    feedback TEXT NOT NULL,
    hints INTEGER NOT NULL,
    seconds REAL NOT NULL,
    answered TEXT NOT NULL,
    undone TEXT,
    version TEXT NOT NULL
);
INSERT INTO sets (id, created, options, problems, version)
    VALUES (1, '2026-11-01T17:59:00.000+00:00', '{}', '["a@1", "b@1", "c@1", "d@1", "e@1", "f@1", "g@1"]', '0.1.0');
INSERT INTO attempts (set_id, position, problem, topic, typed, parsed, said, score, verdict, feedback,
        hints, seconds, answered, version)
    VALUES
        (1, 0, 'a@1', 'A', '37 GB', '37000000000', NULL, 0.0, 'wrong', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 1, 'b@1', 'A', 'a third', '1/3', NULL, 0.0, 'wrong', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 2, 'c@1', 'A', 'no, 93 GB', '93000000000', 0, 0.0, 'wrong', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 3, 'd@1', 'A', 'yes, 3.5 s', '7/2', 1, 0.0, 'wrong', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 4, 'e@1', 'A', 'yes', NULL, 1, 0.5, 'partial', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 5, 'f@1', 'A', '2=3>1', '[["2", "3"], ["1"]]', NULL, 0.0, 'wrong', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0'),
        (1, 6, 'g@1', 'A', '', NULL, NULL, 0.0, 'skipped', '.', 0, 3.5, '2026-11-01T18:00:00.000+00:00', '0.1.0');
CREATE INDEX attempts_by_set ON attempts (set_id, position);
PRAGMA application_id = 1835363697;
PRAGMA user_version = 1;
