#!/usr/bin/env python3
"""Reports are read as benchmarks print them, places are filled, and what is not there is said by page and line."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import pages
import plots
import reports
import take

HEAD = "commit: abc1234\ndate: 2026-01-02\ncommand: cargo bench --bench sample\ncores: 2\nload: 0.4\n\n"
SAMPLE = """| question | turns | p50 / p95 | ratio | ratio | verdict |
|---|---|---|---|---|---|
| record; plain: by hand | 10,000 | 650 us / 2.30 ms | 1.05 | 1.9 | met |
| recall of ten, warm | 10,000 | 1.00 ms / 1.90 ms | 0.08 | - | met |
| recall of ten, warm | 100,000 | 5.80 ms / 9.00 ms | 0.05 | - | missed |

Rows of a record: 12.

| 1,000 clients | figure |
|---|---|
| answers by status; broken off | 200: 214592, 503: 1234; 0 |
| 32 at once (12.5 rows each) | 3959; 5439 |

The machine's load was 0.40 when this began.
"""
ALIGNED = """dev.jsonl: 3 scenarios, 5.1 s
group  scen  held  prec
all       3    10  97.2
f         1     0     -
attribute     right stale
age               4     0
"""


def sample(text=SAMPLE):
    return reports.parse("sample", HEAD + text)


class Reading(unittest.TestCase):
    def test_tables_are_told_from_sentences(self):
        self.assertEqual([len(table.rows) for table in sample().tables], [3, 2])

    def test_tables_without_bars_are_read_too(self):
        file = sample(ALIGNED)
        self.assertEqual([table.columns[0] for table in file.tables], ["group", "attribute"])
        self.assertEqual(file.figure("all", "prec"), "97.2")
        self.assertEqual(file.figure("age", "right"), "4")

    def test_a_row_is_named_by_as_many_cells_as_it_needs(self):
        file = sample()
        self.assertEqual(file.figure("recall of ten, warm & 100,000", "p50 / p95"), "5.80 ms / 9.00 ms")
        self.assertEqual(file.figure("32 at once*", "figure", 2), "5439")
        with self.assertRaisesRegex(reports.Missing, "2 rows"):
            file.figure("recall of ten, warm", "p50 / p95")

    def test_a_cell_has_parts(self):
        file = sample()
        row = "record; plain: by hand"
        self.assertEqual([file.figure(row, "p50 / p95", n) for n in (1, 2)], ["650 us", "2.30 ms"])
        self.assertEqual(file.figure("answers by status; broken off", "figure", 3), "0")
        with self.assertRaisesRegex(reports.Missing, "no part 3"):
            file.figure(row, "p50 / p95", 3)

    def test_the_second_column_of_a_name_is_asked_for_by_number(self):
        self.assertEqual(sample().figure("record; plain: by hand", "ratio#2"), "1.9")

    def test_what_is_not_there_is_said(self):
        hand = "10,000 & record; plain: by hand"
        for row, column, said in [("none", "ratio", "no row"), (hand, "p99", "no column"), ("head", "host", "no line")]:
            with self.assertRaisesRegex(reports.Missing, said):
                sample().figure(row, column)
        with self.assertRaisesRegex(reports.Missing, "5 cells|1 cells|2 cells"):
            sample("| a | b | c |\n|---|---|---|\n| 1 | 2 |\n")
        with self.assertRaisesRegex(reports.Missing, "does not begin"):
            reports.parse("sample", SAMPLE)

    def test_the_console_around_a_report_is_left_out(self):
        printed = SAMPLE.replace("| recall", "made /a/file.db in 4 s\n| recall", 1)
        printed = f"   Compiling it v0.1.0 (/somewhere)\n{printed}done\n"
        self.assertEqual(take.clean(printed), SAMPLE.rstrip("\n"))
        self.assertEqual(take.clean(ALIGNED), ALIGNED.rstrip("\n"))


class Filling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "sample.md").write_text(HEAD + SAMPLE, encoding="utf8")
        self.filler = pages.Filler(self.folder)

    def filled(self, text):
        return self.filler.fill("page.md", text)

    def test_a_figure_stands_in_its_sentence(self):
        place = "<!-- figure: sample :: record; plain: by hand :: p50 / p95 :: 1 -->"
        text = f"It takes {place}9 s<!-- end -->, by {place}<!-- end -->.\n"
        want = f"It takes {place}650 µs<!-- end -->, by {place}650 µs<!-- end -->.\n"
        self.assertEqual(self.filled(text), want)
        self.assertEqual(self.filled(want), want)
        self.assertEqual(self.filler.problems, [])

    def test_a_table_is_whole_or_some_of_its_rows_and_columns_and_names_its_source(self):
        place = "<!-- table: sample 1 :: rows recall of ten, warm :: columns turns & p50 / p95 & verdict -->"
        got = self.filled(f"Before.\n\n{place}\nold\n<!-- end -->\nAfter.\n")
        self.assertIn("| turns | p50 / p95 | verdict |\n|---|---|---|\n| 10,000 | 1.00 ms / 1.90 ms | met |\n", got)
        self.assertIn("| 100,000 | 5.80 ms / 9.00 ms | **missed** |\n", got)
        self.assertIn("`cargo bench --bench sample`, commit abc1234, 2026-01-02, 2 cores, load 0.4.", got)
        self.assertNotIn("record", got.lower())
        self.assertIn("Rows of a record: 12.", self.filled("<!-- table: sample 1 :: notes -->\n<!-- end -->\n"))
        self.assertEqual(self.filled(got), got)
        self.assertEqual(self.filler.problems, [])

    def test_what_cannot_be_filled_is_a_problem_of_its_line_and_stays(self):
        text = "One.\n\nIt takes <!-- figure: sample :: gone :: ratio -->7<!-- end --> times.\n"
        text += "<!-- table: other -->\n<!-- end -->\n"
        self.assertEqual(self.filled(text), text)
        self.assertEqual([line for _, line, _ in self.filler.problems], [3, 4])
        self.assertIn("take other", self.filler.problems[1][2])

    def test_a_place_without_an_end_or_at_the_start_of_a_line_is_a_problem(self):
        date, load = (f"<!-- figure: sample :: head :: {fact} -->" for fact in ("date", "load"))
        self.filled(f"So {date} and {load}<!-- end -->\n\n- {date}<!-- end -->\n")
        self.assertEqual([line for _, line, _ in self.filler.problems], [1, 3])

    def test_code_is_left_alone(self):
        text = "```\nA <!-- figure: none :: a :: b -->1<!-- end -->\n```\n"
        self.assertEqual((self.filled(text), self.filler.problems), (text, []))

    def test_the_line_that_differs_is_found(self):
        self.assertEqual(pages.first_difference("a\nb\nc\n", "a\nB\nc\n"), 2)
        self.assertEqual(pages.first_difference("a\n", "a\nb\n"), 2)


class Taking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, before = Path(folder.name), take.ROOT
        self.addCleanup(setattr, take, "ROOT", before)
        take.ROOT = self.root
        (self.root / "docs" / "figures").mkdir(parents=True)
        (self.root / "printed.txt").write_text(SAMPLE, encoding="utf8")
        take.git("init", "--quiet")
        take.git("add", ".")
        take.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one")

    def taken(self, **options):
        options = {"commit": None, "is_dirty_fine": False, "most_load": 1.0} | options
        return take.take("sample", str(self.root / "printed.txt"), "cargo bench --bench sample", **options)

    def test_a_file_says_what_was_measured_and_has_the_report_to_the_letter(self):
        text = self.taken()
        file = reports.parse("sample", text)
        self.assertEqual(file.facts["commit"], take.git("rev-parse", "--short", "HEAD"))
        self.assertEqual((file.facts["command"], file.facts["load"]), ("cargo bench --bench sample", "0.40"))
        self.assertTrue(text.endswith("\n\n" + SAMPLE))

    def test_changes_in_no_commit_are_refused_but_for_figures_that_were_just_taken(self):
        (self.root / "docs" / "figures" / "other.md").write_text("taken before\n", encoding="utf8")
        self.taken()
        (self.root / "code.rs").write_text("changed\n", encoding="utf8")
        with self.assertRaises(SystemExit):
            self.taken()
        self.assertIn(" and changes\n", self.taken(is_dirty_fine=True))
        with self.assertRaises(SystemExit):
            self.taken(commit="no-such-commit")


class Drawing(unittest.TestCase):
    def test_an_axis_begins_at_0_and_ends_at_or_above_the_longest_bar(self):
        for most in (0.037, 0.65, 12.5, 81.3, 100, 134):
            steps = plots.ticks(most)
            self.assertEqual(steps[0], 0)
            self.assertTrue(most <= steps[-1] * 1.0001 and 3 <= len(steps) <= 7, steps)

    def test_times_are_counted_in_milliseconds(self):
        for time, ms in [("650 us", 0.65), ("12.5 ms", 12.5), ("1.23 s", 1230), ("440.4µs", 0.4404)]:
            self.assertAlmostEqual(plots.milliseconds(time), ms)

    def test_a_bar_is_as_long_as_its_figure_and_words_are_escaped(self):
        bars = [plots.Bar(20, "20", True), plots.Bar(40, "40 <ms>", False)]
        panel = plots.Panel("", "ms", [plots.Group("a & b", "", bars)])
        svg = plots.draw("T", ("ours", "plain"), [panel], "note", plots.THEMES["light"])
        across = (plots.WIDTH - plots.LABELS - plots.RIGHT) / plots.ticks(40)[-1]
        for bar in bars:
            self.assertIn(f'width="{bar.value * across:.1f}" height="{plots.BAR}.0"', svg)
        self.assertIn("a &amp; b", svg)
        self.assertIn("40 &lt;ms&gt;", svg)


if __name__ == "__main__":
    unittest.main()
