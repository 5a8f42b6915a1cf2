"""Writes a file of figures: runs what measures, or reads what a run has printed, and says of which commit and when."""

import datetime
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"

# What is not a benchmark of the library's.
OF_THE_COMMAND = {"service"}


def fail(message):
    sys.exit(f"figures.py: {message}")


def take(name, source, command, commit, is_dirty_fine, most_load):
    words = None if source else bench(name)
    facts = {"commit": commit_of(commit, is_dirty_fine)}
    if source:
        report, measured_at = read_source(source)
        facts |= {"date": day(measured_at), "command": command or f"{name}, from a file", "load": "unknown"}
    else:
        quiet(words, most_load)
        facts |= {"date": day(time.time()), "command": " ".join([*settings(), *words]), "load": load()}
        report = run_bench(name, words)
    if said := re.search(r"The machine's load was ([0-9.]+) when this began", report):
        facts["load"] = said[1]
    facts["cores"] = str(os.cpu_count())
    head = "".join(f"{fact}: {facts[fact]}\n" for fact in ("commit", "date", "command", "cores", "load"))
    return head + "\n" + report.strip("\n") + "\n"


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        fail(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def commit_of(named, is_dirty_fine):
    """What was measured. Files of figures that were just taken do not make a tree dirty."""
    if named:
        return git("rev-parse", "--short", f"{named}^{{commit}}")
    commit = git("rev-parse", "--short", "HEAD")
    if not git("status", "--porcelain", "--", ".", ":!docs/figures/*.md", ":!docs/figures/*.svg"):
        return commit
    if not is_dirty_fine:
        fail("the tree has changes that are in no commit, so nobody could measure this again.\n"
             "Commit them, or say --dirty to try it out: the file then says so.")
    return f"{commit} and changes"


def day(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).date().isoformat()


def load():
    return f"{os.getloadavg()[0]:.2f}"


def read_source(source):
    if source == "-":
        return clean(sys.stdin.read()), time.time()
    path = Path(source)
    if not path.is_file():
        fail(f"there is no file {source}")
    return clean(path.read_text(encoding="utf8")), path.stat().st_mtime


def clean(printed):
    """A report out of what a console showed. If it has tables in Markdown, only these and whole sentences are of it."""
    lines = printed.splitlines()
    if any(line.startswith("|---") for line in lines):
        lines = [line for line in lines if line.startswith("|") or line.endswith(".") or not line.strip()]
    return "\n".join(lines)


def settings():
    """What the environment tells benchmarks. Folders are named without their place on this machine."""
    told = {name: value for name, value in sorted(os.environ.items()) if name.startswith("THERMOCLINE_BENCH_")}
    told.pop("THERMOCLINE_BENCH_DIR", None)
    return [f"{name}={Path(value).name if name.endswith('_TRANSCRIPTS') else value}" for name, value in told.items()]


def bench(name):
    package = ["-p", "thermocline-cli"] if name in OF_THE_COMMAND else []
    if not package and not (ROOT / "benches" / f"{name}.rs").exists():
        known = sorted({path.stem for path in (ROOT / "benches").glob("*.rs")} | OF_THE_COMMAND)
        fail(f"there is no benchmark {name}. There are {', '.join(known)}.\n"
             "What another program has measured is taken by --from FILE --command 'WHAT WAS RUN'.")
    return ["cargo", "bench", *package, "--bench", name]


def quiet(words, most_load):
    """Builds first, and lets the machine come to rest: a build's load would be in the figures."""
    if subprocess.run([*words, "--no-run"], cwd=ROOT).returncode:
        fail("the benchmark does not build")
    until = time.monotonic() + 300
    while os.getloadavg()[0] > most_load:
        if time.monotonic() > until:
            fail(f"the machine's load is {load()}, and has been above {most_load} for 5 minutes.\n"
                 "Beside other work no figure means much. Wait, or say --load with what you accept.")
        print(f"load {load()}, waiting for {most_load} ...", file=sys.stderr)
        time.sleep(10)


def run_bench(name, words):
    began = time.time()
    if subprocess.run(words, cwd=ROOT).returncode:
        fail(f"`{' '.join(words)}` failed")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    kept = Path(os.environ.get("THERMOCLINE_BENCH_DIR", target / "bench-files")) / f"{name}.md"
    if not kept.exists() or kept.stat().st_mtime < began - 1:
        fail(f"`{' '.join(words)}` ran, but kept no report at {kept}")
    return kept.read_text(encoding="utf8")
