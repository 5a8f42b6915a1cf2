#!/usr/bin/env python3
"""Every figure in README and docs comes from a file of this folder, and every such file from this script.

    figures.py take NAME        run the benchmark NAME and write docs/figures/NAME.md
    figures.py take NAME --from FILE --command 'WHAT WAS RUN'
                                the same of what a run has printed (`-`: stdin); recall's card and identity come so
    figures.py plot             draw the SVGs of this folder
    figures.py fill             write the figures into README.md, *.md, docs/*.md and benches/*.md
    figures.py fill --check     change nothing; exit 1 if a page or a picture differs from the files

A file begins with five lines: commit, date (UTC), command, cores, load; then comes the report to the letter. `take`
refuses a tree with changes that are in no commit. It builds first and waits until the load is below --load: beside other
work no figure means much.

A place in a page renders as its figure alone, and is written once by hand, with anything before `<!-- end -->`:

    record takes <!-- figure: backend :: documented record & short (140) :: p50 / p95 :: 1 -->0.65 ms<!-- end -->

    <!-- table: recall 1 :: rows short (140) :: columns question & p50 / p95 / p99 -->
    <!-- end -->

The first names the file, the cells of one row (joined by ` & `; one that ends in `*` is the beginning of a cell), the
column (`ratio#2` is the second of that name) and, if the cell has several values, which of them. The row `head` is the
five lines: `card :: head :: commit`. The second names the file and which of its tables; `rows` keeps those with all of
these cells, `columns` those columns, and `notes` adds the report's sentences below that table. What a file does not
have is an error with page and line. No line may begin with a figure: that would be a block of HTML.

Standard library only. Tests: docs/figures/test_figures.py.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import pages  # noqa: E402
import plots  # noqa: E402
import take  # noqa: E402


def all_pages(root):
    found = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "benches").glob("*.md")]
    return sorted(path for path in found if path.is_file())


def fill(root, is_check):
    filler = pages.Filler(root / "docs" / "figures")
    wrong = []
    for path in all_pages(root):
        old = path.read_text(encoding="utf8")
        page = path.relative_to(root)
        new = filler.fill(page, old)
        if new != old and is_check:
            line = pages.first_difference(old, new)
            wrong.append((str(page), line, "differs from the files: run docs/figures/figures.py fill"))
        elif new != old:
            path.write_text(new, encoding="utf8")
            print(f"filled {page}")
    if is_check:
        for path, drawing in plots.drawings(root / "docs" / "figures"):
            if not path.exists() or path.read_text(encoding="utf8") != drawing:
                what = "differs from the files: run docs/figures/figures.py plot"
                wrong.append((str(path.relative_to(root)), 1, what))
    wrong += filler.problems
    for page, line, what in sorted(set(wrong)):
        print(f"{page}:{line}: {what}", file=sys.stderr)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="do", required=True, metavar="take|fill|plot")
    one = commands.add_parser("take", help="measure, or read what was measured, and write docs/figures/NAME.md")
    one.add_argument("name", metavar="NAME", help="a benchmark, or with --from any name")
    one.add_argument("--from", dest="source", metavar="FILE", help="what a run has printed; `-` is stdin")
    one.add_argument("--command", metavar="TEXT", help="with --from: what was run")
    one.add_argument("--commit", metavar="COMMIT", help="with --from: what was measured, if that is not HEAD")
    one.add_argument("--dirty", action="store_true", help="take it of a tree with changes; the file says so")
    one.add_argument("--load", type=float, default=1.0, metavar="N", help="the load to wait for before it begins (1)")
    two = commands.add_parser("fill", help="write the figures into the pages")
    two.add_argument("--check", action="store_true", help="change nothing; exit 1 if a page or picture differs")
    commands.add_parser("plot", help="draw the SVGs")
    args = parser.parse_args()
    if args.do == "take":
        if (args.command or args.commit) and not args.source:
            parser.error("--command and --commit go with --from")
        text = take.take(args.name, args.source, args.command, args.commit, args.dirty, args.load)
        path = take.FOLDER / f"{args.name}.md"
        path.write_text(text, encoding="utf8")
        print(f"wrote {path.relative_to(take.ROOT)}")
        return 0
    if args.do == "plot":
        for path, drawing in plots.drawings(take.FOLDER):
            path.write_text(drawing, encoding="utf8")
            print(f"drew {path.relative_to(take.ROOT)}")
        return 0
    return fill(take.ROOT, args.check)


if __name__ == "__main__":
    sys.exit(main())
