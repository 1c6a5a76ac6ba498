-- A learner's file as the second format had it, as practice wrote it: five sets.
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
        held INTEGER,
        own TEXT,
        feedback TEXT NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL,
        answered TEXT NOT NULL,
        undone TEXT,
        version TEXT NOT NULL
    );
INSERT INTO "attempts" VALUES(1,1,0,'model-states@273559229','A','37 GB','37000000000',NULL,0.0,'wrong',NULL,NULL,NULL,'Not quite: 25.46 GB = 23.71 GiB. Yours is 45% too high.',1,0.0,'2026-12-01T00:17:09.134+00:00','2026-12-01T00:17:09.141+00:00','0.1.0');
INSERT INTO "attempts" VALUES(2,1,0,'model-states@273559229','A','25.27 GB','25270000000',NULL,1.0,'correct',NULL,NULL,NULL,'Right: 25.46 GB = 23.71 GiB.',1,0.0,'2026-12-01T00:17:09.144+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(3,1,1,'model-states@326249019','A','',NULL,NULL,0.0,'skipped',NULL,NULL,NULL,'Skipped: 7.41 GB = 6.91 GiB.',0,0.0,'2026-12-01T00:17:09.153+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(4,1,2,'model-states@319273275','A','1/3 of 7e9 * 16 bytes','112000000000/3',NULL,0.0,'wrong',NULL,NULL,NULL,'Not quite: 17.60 GB = 16.39 GiB. Yours is too high by a factor of 2.12.',0,0.0,'2026-12-01T00:17:09.165+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(5,2,0,'fits@970763716','D','yes',NULL,1,0.5,'partial',NULL,NULL,NULL,'In part: yes, 79.47 GB = 74.01 GiB. The number is the other half.',0,0.0,'2026-12-01T00:17:10.005+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(6,2,1,'fits@584379251','D','no, 93 GB','93000000000',0,0.0,'wrong',NULL,NULL,NULL,'Not quite: yes, 36.35 GB = 33.86 GiB. It is yes. Yours is too high by a factor of 2.56.',0,0.0,'2026-12-01T00:17:10.066+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(7,2,2,'fits@911120829','D','',NULL,NULL,0.0,'shown',NULL,NULL,NULL,'The answer: no, 62.99 GB = 58.66 GiB.',0,0.0,'2026-12-01T00:17:10.103+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(8,3,0,'zero-states@11283916','A','1 GB','1000000000',NULL,0.0,'wrong',NULL,NULL,NULL,'Not quite: 1.48 GB = 1.38 GiB. Yours is 32% too low.',0,0.0,'2026-12-01T00:17:10.921+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(9,3,1,'zero-states@341920870','A','2-3 GB','2500000000',NULL,0.0,'wrong',NULL,0,NULL,'Not quite: 912.33 MB = 870.06 MiB. Your range misses it. Yours is too high by a factor of 2.74.',0,0.0,'2026-12-01T00:17:10.927+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(10,4,0,'rank-levers@11283916','E','2 > 1','[["2"], ["1"]]',NULL,0.0,'wrong',NULL,NULL,NULL,'Not quite: chunked cross entropy = selective recompute > CPU offload > full recompute. Left out, and so lost: full recompute and CPU offload.',0,0.0,'2026-12-01T00:17:15.745+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(11,4,1,'rank-levers@341920870','E','1=2','[["1", "2"]]',NULL,0.0,'wrong',NULL,NULL,NULL,'Not quite: fused cross entropy = ZeRO-3 = smaller micro-batch > tensor parallel > full recompute. Left out, and so lost: tensor parallel, ZeRO-3 and full recompute.',0,0.0,'2026-12-01T00:17:15.781+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(12,5,0,'claim@11283916','G','false, because zero 3 shards only states',NULL,NULL,0.0,'wrong','something-false',NULL,NULL,'Not quite: false. It costs about one extra forward pass: about a third more compute, as backward costs about twice the forward; selective recomputation costs less. What is missing: One more forward pass is run.',0,0.0,'2026-12-01T00:17:17.275+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(13,5,1,'claim@341920870','G','true',NULL,NULL,0.0,'wrong',NULL,NULL,'partial','Not quite: false. A reduce-scatter of the gradients and an all-gather of the updated weights move as much as one all-reduce: 2 Ψ either way. What is missing: Reduce-scatter and all-gather together are what an all-reduce is.',0,0.0,'2026-12-01T00:17:17.282+00:00',NULL,'0.1.0');
CREATE TABLE sets (
        id INTEGER PRIMARY KEY,
        created TEXT NOT NULL,
        finished TEXT,
        options TEXT NOT NULL,
        problems TEXT NOT NULL,
        version TEXT NOT NULL
    );
INSERT INTO "sets" VALUES(1,'2026-12-01T00:17:09.075+00:00',NULL,'{"topic": null, "level": null, "kind": "model-states", "count": 5, "seed": 5, "problem": null}','["model-states@273559229", "model-states@326249019", "model-states@319273275", "model-states@584878179", "model-states@918321139"]','0.1.0');
INSERT INTO "sets" VALUES(2,'2026-12-01T00:17:09.915+00:00','2026-12-01T00:17:10.111+00:00','{"topic": null, "level": null, "kind": "fits", "count": 3, "seed": 3, "problem": null}','["fits@970763716", "fits@584379251", "fits@911120829"]','0.1.0');
INSERT INTO "sets" VALUES(3,'2026-12-01T00:17:10.894+00:00','2026-12-01T00:17:10.929+00:00','{"topic": null, "level": null, "kind": "zero-states", "count": 2, "seed": 4, "problem": null}','["zero-states@11283916", "zero-states@341920870"]','0.1.0');
INSERT INTO "sets" VALUES(4,'2026-12-01T00:17:15.630+00:00',NULL,'{"topic": null, "level": null, "kind": "rank-levers", "count": 3, "seed": 4, "problem": null}','["rank-levers@11283916", "rank-levers@341920870", "rank-levers@26605860"]','0.1.0');
INSERT INTO "sets" VALUES(5,'2026-12-01T00:17:16.971+00:00',NULL,'{"topic": null, "level": null, "kind": "claim", "count": 3, "seed": 4, "problem": null}','["claim@11283916", "claim@341920870", "claim@26605860"]','0.1.0');
CREATE INDEX attempts_by_set ON attempts (set_id, position);
PRAGMA application_id = 1835363697;
PRAGMA user_version = 2;
