"""Plays a set to its end: types the first form that a question reads, and is told how it fared."""

import json
import subprocess
import sys

program = subprocess.Popen(
    ["memquiz", "practice", "--json", *sys.argv[1:]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    encoding="utf-8",
)
for line in program.stdout:
    event = json.loads(line)
    if event["event"] == "verdict":
        sys.stdout.write(f"{event['problem']}: {event['answer']} is {event['verdict']}\n")
    if event["event"] == "summary":
        sys.stdout.write(f"{event['score']:g} of {event['answered']}\n")
    if event["awaits"] == "answer":
        program.stdin.write(event["forms"][0] if event["event"] == "question" else "skip")
        program.stdin.write("\n")
        program.stdin.flush()
sys.exit(program.wait())
