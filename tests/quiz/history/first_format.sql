-- A learner's file as the first format had it, with one answer.
DROP TABLE attempts;
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
    VALUES (1, '2026-11-01', '{}', '["made@7"]', '0.1.0');
INSERT INTO attempts (set_id, position, problem, topic, typed, parsed, score, verdict, feedback,
        hints, seconds, answered, version)
    VALUES (1, 0, 'made@7', 'A', '37 GB', '37000000000', 0.0, 'wrong', 'Not quite.',
        0, 3.5, '2026-11-01', '0.1.0');
PRAGMA user_version = 1;
