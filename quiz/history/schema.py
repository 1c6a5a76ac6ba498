"""The tables of the learner's file, and what makes one of an older format one of this."""

SCHEMA = 4
# "memq" in ASCII: tells our file from another program's, also with SQLite's own tools.
APPLICATION = 0x6D656D71

INTERVIEWS = """
    CREATE TABLE interviews (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        finished TEXT,
        mode TEXT NOT NULL,
        options TEXT NOT NULL,
        marks TEXT,
        version TEXT NOT NULL
    )
    """
INTERVIEW_LINES = """
    CREATE TABLE interview_lines (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        interview_id INTEGER NOT NULL REFERENCES interviews (id),
        seconds REAL NOT NULL,
        typed TEXT NOT NULL,
        answered TEXT NOT NULL,
        version TEXT NOT NULL
    )
    """
LINES_BY_INTERVIEW = "CREATE INDEX lines_by_interview ON interview_lines (interview_id, id)"

TABLES = (
    """
    CREATE TABLE sets (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL,
        created TEXT NOT NULL,
        finished TEXT,
        options TEXT NOT NULL,
        problems TEXT NOT NULL,
        version TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL,
        set_id INTEGER NOT NULL REFERENCES sets (id),
        position INTEGER NOT NULL,
        problem TEXT NOT NULL,
        topic TEXT NOT NULL,
        level TEXT,
        tells TEXT,
        typed TEXT NOT NULL,
        parsed TEXT,
        score REAL NOT NULL,
        verdict TEXT NOT NULL,
        mistake TEXT,
        held INTEGER,
        own TEXT,
        feedback TEXT NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL,
        answered TEXT NOT NULL,
        undone TEXT,
        version TEXT NOT NULL
    )
    """,
    "CREATE INDEX attempts_by_set ON attempts (set_id, position)",
    "CREATE UNIQUE INDEX sets_by_uid ON sets (uid)",
    "CREATE UNIQUE INDEX attempts_by_uid ON attempts (uid)",
    INTERVIEWS,
    INTERVIEW_LINES,
    LINES_BY_INTERVIEW,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
)

# What makes a file of each format one of the next.
MIGRATIONS = {
    1: (
        "ALTER TABLE attempts ADD COLUMN held INTEGER",
        "ALTER TABLE attempts ADD COLUMN own TEXT",
    ),
    # What was understood is JSON; a yes or no stood in a column of its own, which is left alone.
    2: (
        """UPDATE attempts SET parsed = '{"fraction": "' || parsed || '"}'
            WHERE parsed LIKE '%/%' AND parsed NOT LIKE '[%'""",
        """UPDATE attempts SET parsed = '{"yes": ' || CASE said WHEN 0 THEN 'false' ELSE 'true' END
            || ', "number": ' || coalesce(parsed, 'null') || '}'
            WHERE said IS NOT NULL""",
    ),
    3: (
        "ALTER TABLE sets ADD COLUMN uid TEXT",
        "UPDATE sets SET uid = lower(hex(randomblob(16)))",
        "CREATE UNIQUE INDEX sets_by_uid ON sets (uid)",
        "ALTER TABLE attempts ADD COLUMN uid TEXT",
        "UPDATE attempts SET uid = lower(hex(randomblob(16)))",
        "CREATE UNIQUE INDEX attempts_by_uid ON attempts (uid)",
        "ALTER TABLE attempts ADD COLUMN level TEXT",
        "ALTER TABLE attempts ADD COLUMN tells TEXT",
        INTERVIEWS,
        INTERVIEW_LINES,
        LINES_BY_INTERVIEW,
    ),
}
