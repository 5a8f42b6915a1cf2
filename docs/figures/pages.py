"""Fills the places of pages in which figures stand, and says where a page differs from the files."""

import re
from pathlib import Path

import reports
from reports import Missing

FIGURE = re.compile(r"<!-- figure: ((?:(?!-->).)+?) -->(?:(?!<!--).)*<!-- end -->")
TABLE = re.compile(r"^<!-- table: (.+?) -->\n(?:(?!<!--).*\n)*?<!-- end -->$", re.M)
BEGIN = re.compile(r"<!-- (?:figure|table): ")
BAD_START = re.compile(r"^[ \t]*(?:[-*+] |\d+\. |> )?<!-- figure: ", re.M)


class Filler:
    """Fills pages from the files of one folder. `problems` says what could not be filled."""

    def __init__(self, folder):
        self.folder, self.files, self.problems = Path(folder), {}, []

    def file(self, name):
        if name not in self.files:
            self.files[name] = reports.read(self.folder / f"{name}.md")
        return self.files[name]

    def fill(self, page, text):
        """The page as the files have it. What cannot be filled stays as it is, and is a problem."""
        whole = {m.start() for pattern in (FIGURE, TABLE) for m in pattern.finditer(text)}
        for match in outside_code(BEGIN, text):
            if match.start() not in whole:
                self.problem(page, text, match, "this place has no `<!-- end -->` where one belongs")
        for match in outside_code(BAD_START, text):
            self.problem(page, text, match, "a line that begins with a figure is HTML: put a word before it")
        # Figures first: they leave every line where it is, so that what is said of tables names the right one.
        for pattern, make in ((FIGURE, self.figure), (TABLE, self.table)):
            for match in reversed(outside_code(pattern, text)):
                try:
                    text = text[: match.start()] + make(match[1]) + text[match.end() :]
                except Missing as error:
                    self.problem(page, text, match, str(error))
        return text

    def problem(self, page, text, match, what):
        line = text.count("\n", 0, match.start()) + 1
        self.problems.append((str(page), line, what))

    def figure(self, place):
        parts = place.split(" :: ")
        if len(parts) not in (3, 4):
            raise Missing(f"'{place}' is not `NAME :: row :: column` or `NAME :: row :: column :: part`")
        name, row, column = parts[:3]
        value = self.file(name).figure(row, column, int(parts[3]) if len(parts) == 4 else None)
        return f"<!-- figure: {place} -->{shown(value)}<!-- end -->"

    def table(self, place):
        what, *options = place.split(" :: ")
        name, _, number = what.partition(" ")
        file = self.file(name)
        table = file.table(int(number or 1))
        rows, columns, notes = table.rows, list(range(len(table.columns))), []
        for option in options:
            kind, _, pieces = option.partition(" ")
            pieces = [piece.strip() for piece in pieces.split(" & ")]
            if kind == "rows":
                rows = [cells for cells in rows if reports.fits(cells, pieces)]
            elif kind == "columns":
                columns = [table.column(piece) for piece in pieces]
                if None in columns:
                    raise Missing(f"{name}.md has no column '{pieces[columns.index(None)]}' in table {number or 1}")
            elif option == "notes":
                notes = table.notes
            else:
                raise Missing(f"'{option}' is not `rows ...`, `columns ...` or `notes`")
        if not rows:
            raise Missing(f"{name}.md has no such rows: '{place}'")
        lines = [[table.columns[n] for n in columns]]
        lines += [[verdict(shown(cells[n])) for n in columns] for cells in rows]
        head, *body = (f"| {' | '.join(line)} |\n" for line in lines)
        body = head + "|" + "---|" * len(columns) + "\n" + "".join(body)
        said = "".join(f"{shown(note)}\n\n" for note in notes)
        return f"<!-- table: {place} -->\n\n{body}\n{said}{file.source()}\n\n<!-- end -->"


def outside_code(pattern, text):
    """What the pattern finds, but for what stands between fences."""
    code = [m.span() for m in re.finditer(r"^```.*?^```$", text, re.M | re.S)]
    return [m for m in pattern.finditer(text) if not any(a <= m.start() < b for a, b in code)]


def shown(value):
    return re.sub(r"(?<=\d) ?us\b", " µs", value)


def verdict(value):
    return re.sub(r"^missed", "**missed**", value)


def first_difference(old, new):
    """The line, from 1, at which two texts part."""
    pairs = zip(old.splitlines() + [None], new.splitlines() + [None])
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 1)
