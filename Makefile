# Short verbs; `bootstrap.py` does the set-up that each of them needs.
PYTHON ?= python3
RUN = $(PYTHON) bootstrap.py

.PHONY: practice test long lint check format docs bench accuracy grading weights plans fuzz house mutants interop

practice:
	$(RUN) practice
test:
	$(RUN) test
long:
	$(RUN) test -m long
lint:
	$(RUN) lint
check:
	$(RUN) check
format:
	$(RUN) python -m ruff format .
	$(RUN) python -m ruff check --fix .
docs:
	$(RUN) python tests/renew_docs.py
bench:
	$(RUN) python benchmarks/startup.py
	$(RUN) python benchmarks/throughput.py
	$(RUN) python benchmarks/classes.py
	$(RUN) python benchmarks/verifying.py
	$(RUN) python benchmarks/step_time.py
accuracy:
	$(RUN) python benchmarks/accuracy.py
grading:
	$(RUN) python benchmarks/grading.py
weights:
	$(RUN) python benchmarks/claim_weights.py
plans:
	$(RUN) python benchmarks/plans.py
fuzz:
	$(RUN) python benchmarks/fuzz.py
house:
	$(RUN) python benchmarks/house.py
interop:
	$(RUN) interop
mutants:
	$(RUN) mutants parser
	$(RUN) mutants graders
	$(RUN) mutants engine
