# Short verbs; `bootstrap.py` does the set-up that each of them needs.
PYTHON ?= python3
RUN = $(PYTHON) bootstrap.py

.PHONY: practice test lint bench accuracy format

practice:
	$(RUN) practice
test:
	$(RUN) test
lint:
	$(RUN) lint
bench:
	$(RUN) python benchmarks/startup.py
	$(RUN) python benchmarks/throughput.py
format:
	$(RUN) python -m ruff format .
	$(RUN) python -m ruff check --fix .
