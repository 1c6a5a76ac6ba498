-- A learner's file as the third format had it, as practice wrote it: six sets.
CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        set_id INTEGER NOT NULL REFERENCES sets (id),
        position INTEGER NOT NULL,
        problem TEXT NOT NULL,
        topic TEXT NOT NULL,
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
    );
INSERT INTO "attempts" VALUES(1,1,0,'model-states@273559229','A','37 GB','37000000000',0.0,'wrong',NULL,NULL,NULL,'Not quite: 12.38 GB = 11.53 GiB. Yours is too high by a factor of 2.99.',1,0.0,'2026-12-01T00:17:12.206+00:00','2026-12-01T00:17:12.219+00:00','0.1.0');
INSERT INTO "attempts" VALUES(2,1,0,'model-states@273559229','A','25.27 GB','25270000000',0.0,'wrong',NULL,NULL,NULL,'Not quite: 12.38 GB = 11.53 GiB. Yours is too high by a factor of 2.04.',1,0.0,'2026-12-01T00:17:12.232+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(3,1,1,'model-states@326249019','A','',NULL,0.0,'skipped',NULL,NULL,NULL,'Skipped: 6.19 GB = 5.77 GiB.',0,0.0,'2026-12-01T00:17:12.243+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(4,1,2,'model-states@319273275','A','1/3 of 7e9 * 16 bytes','{"fraction": "112000000000/3"}',0.0,'wrong',NULL,NULL,NULL,'Not quite: 115.87 GB = 107.91 GiB. Yours is too low by a factor of 3.1.',0,0.0,'2026-12-01T00:17:12.250+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(5,2,0,'fits@970763716','D','yes','{"yes": true, "number": null}',0.5,'partial',NULL,NULL,NULL,'In part: yes, 79.47 GB = 74.01 GiB. The number is the other half.',0,0.0,'2026-12-01T00:17:13.350+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(6,2,1,'fits@584379251','D','no, 93 GB','{"yes": false, "number": 93000000000}',0.0,'wrong',NULL,NULL,NULL,'Not quite: yes, 36.35 GB = 33.86 GiB. It is yes. Yours is too high by a factor of 2.56.',0,0.0,'2026-12-01T00:17:13.413+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(7,2,2,'fits@911120829','D','',NULL,0.0,'shown',NULL,NULL,NULL,'The answer: no, 62.99 GB = 58.66 GiB.',0,0.0,'2026-12-01T00:17:13.457+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(8,3,0,'zero-states@11283916','A','1 GB','1000000000',0.0,'wrong',NULL,NULL,NULL,'Not quite: 1.48 GB = 1.38 GiB. Yours is 32% too low.',0,0.0,'2026-12-01T00:17:14.794+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(9,3,1,'zero-states@341920870','A','2-3 GB','2500000000',0.0,'wrong',NULL,0,NULL,'Not quite: 912.33 MB = 870.06 MiB. Your range misses it. Its nearer end is too high by a factor of 2.19.',0,0.0,'2026-12-01T00:17:14.808+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(10,4,0,'rank-levers@11283916','E','1 > 2 > 3','[["1"], ["2"], ["3"]]',0.4,'partial',NULL,NULL,NULL,'In part: chunked cross entropy = selective recompute > CPU offload > full recompute. 2 of 5 pairs are in order. Left out, and so lost: CPU offload.',0,0.0,'2026-12-01T00:17:19.044+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(11,4,1,'rank-levers@341920870','E','1=2','[["1", "2"]]',8.33333333333333287074e-02,'partial',NULL,NULL,NULL,'In part: fused cross entropy > fused optimizer > full recompute > activation offload. 0.5 of 6 pairs are in order. Activation offload level with full recompute: it costs +36.8% step time, full recompute +25.9%. Left out, and so lost: fused optimizer and fused cross entropy.',0,0.0,'2026-12-01T00:17:19.109+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(12,5,0,'claim@11283916','G','false, because zero 3 shards only states',NULL,0.0,'wrong','a false reason',NULL,NULL,'Not quite: false. It costs about one extra forward pass: about a third more compute, as backward costs about twice the forward; selective recomputation costs less. This does not hold: “because zero 3 shards only states”. What is missing: One more forward pass is run.',0,0.0,'2026-12-01T00:17:21.077+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(13,5,1,'claim@341920870','G','true',NULL,0.0,'wrong',NULL,NULL,'partial','Not quite: false. A reduce-scatter of the gradients and an all-gather of the updated weights move as much as one all-reduce: 2 Ψ either way. What is missing: Reduce-scatter and all-gather together are what an all-reduce is.',0,0.0,'2026-12-01T00:17:21.085+00:00',NULL,'0.1.0');
INSERT INTO "attempts" VALUES(14,6,0,'states-ledger@11283916','A','14, 14, 84','{"weights": 14000000000, "gradients": 14000000000, "master copy": 84000000000, "moments": null, "total": null}',0.0,'wrong',NULL,NULL,NULL,'Not quite: weights 0.325 GB, gradients 0.325 GB, master copy 0.162 GB, moments 0.325 GB, total 1.14 GB. Weights and gradients: Yours is too high by a factor of 43.1. Master copy: Yours is too high by a factor of 517. Left out: moments and total.',0,0.0,'2026-12-01T00:17:22.085+00:00',NULL,'0.1.0');
CREATE TABLE sets (
        id INTEGER PRIMARY KEY,
        created TEXT NOT NULL,
        finished TEXT,
        options TEXT NOT NULL,
        problems TEXT NOT NULL,
        version TEXT NOT NULL
    );
INSERT INTO "sets" VALUES(1,'2026-12-01T00:17:12.101+00:00',NULL,'{"topic": null, "level": null, "kind": "model-states", "count": 5, "seed": 5, "problem": null}','["model-states@273559229", "model-states@326249019", "model-states@319273275", "model-states@584878179", "model-states@918321139"]','0.1.0');
INSERT INTO "sets" VALUES(2,'2026-12-01T00:17:13.204+00:00','2026-12-01T00:17:13.464+00:00','{"topic": null, "level": null, "kind": "fits", "count": 3, "seed": 3, "problem": null}','["fits@970763716", "fits@584379251", "fits@911120829"]','0.1.0');
INSERT INTO "sets" VALUES(3,'2026-12-01T00:17:14.643+00:00','2026-12-01T00:17:14.811+00:00','{"topic": null, "level": null, "kind": "zero-states", "count": 2, "seed": 4, "problem": null}','["zero-states@11283916", "zero-states@341920870"]','0.1.0');
INSERT INTO "sets" VALUES(4,'2026-12-01T00:17:18.806+00:00','2026-12-01T00:17:19.116+00:00','{"topic": null, "level": null, "kind": "rank-levers", "count": 2, "seed": 4, "problem": null}','["rank-levers@11283916", "rank-levers@341920870"]','0.1.0');
INSERT INTO "sets" VALUES(5,'2026-12-01T00:17:20.693+00:00',NULL,'{"topic": null, "level": null, "kind": "claim", "count": 3, "seed": 4, "problem": null}','["claim@11283916", "claim@341920870", "claim@26605860"]','0.1.0');
INSERT INTO "sets" VALUES(6,'2026-12-01T00:17:22.022+00:00',NULL,'{"topic": null, "level": null, "kind": "states-ledger", "count": 3, "seed": 4, "problem": null}','["states-ledger@11283916", "states-ledger@341920870", "states-ledger@26605860"]','0.1.0');
CREATE INDEX attempts_by_set ON attempts (set_id, position);
PRAGMA application_id = 1835363697;
PRAGMA user_version = 3;
