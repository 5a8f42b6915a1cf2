"""Reads a figures file: what was measured when, its tables, and the figure that a row and a column name."""

import re
from dataclasses import dataclass, field
from pathlib import Path

FACTS = ("commit", "date", "command", "cores", "load")


class Missing(Exception):
    """What was asked for does not stand in the file."""


class NotTaken(Missing):
    """There is no such file."""


@dataclass
class Table:
    columns: list
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # the sentences below it

    def column(self, name):
        """The place of a column. `ratio#2` is the second that is called `ratio`."""
        name, _, which = name.partition("#")
        places = [n for n, column in enumerate(self.columns) if column == name]
        which = int(which or 1)
        return places[which - 1] if 0 < which <= len(places) else None


@dataclass
class Figures:
    """One file of figures."""

    name: str
    facts: dict
    tables: list

    def table(self, number):
        if not 0 < number <= len(self.tables):
            raise Missing(f"{self.name}.md has {len(self.tables)} tables, and no table {number}")
        return self.tables[number - 1]

    def figure(self, row, column, part=None):
        """The cell of the one row whose cells are `row` (several are joined by ` & `), in `column`.

        `part`, from 1, is one of the cell's values that stand between ` / `, `; ` or `, `."""
        if row == "head":
            if column not in self.facts:
                raise Missing(f"{self.name}.md has no line '{column}:'; its head has {', '.join(self.facts)}")
            return self.facts[column]
        wanted = [piece.strip() for piece in row.split(" & ")]
        found = [(table, cells) for table in self.tables for cells in table.rows if fits(cells, wanted)]
        if not found:
            raise Missing(f"{self.name}.md has no row '{row}'")
        cells = [c[place] for t, c in found if (place := t.column(column)) is not None]
        if not cells:
            columns = "', '".join(found[0][0].columns)
            raise Missing(f"{self.name}.md has the row '{row}', but no column '{column}': it has '{columns}'")
        if len(cells) > 1:
            raise Missing(f"{self.name}.md has {len(cells)} rows '{row}': name another cell of the one that is meant")
        if part is None:
            return cells[0]
        parts = re.split(r" / |; |, ", cells[0])
        if not 0 < part <= len(parts):
            raise Missing(f"{self.name}.md has '{cells[0]}' in '{row}', '{column}': there is no part {part}")
        return parts[part - 1]

    def source(self):
        """One sentence: how, of what and when this was measured."""
        f = self.facts
        load = "" if f["load"] == "unknown" else f", load {f['load']}"
        return f"`{f['command']}`, commit {f['commit']}, {f['date']}, {f['cores']} cores{load}."


def fits(cells, wanted):
    """Each piece equals a cell; one that ends in `*` begins a cell."""
    def is_in(piece):
        if piece.endswith("*"):
            return any(cell.startswith(piece[:-1]) for cell in cells)
        return piece in cells

    return all(map(is_in, wanted))


def read(path):
    path = Path(path)
    if not path.exists():
        raise NotTaken(f"docs/figures/{path.name} is not there: `figures.py take {path.stem}` writes it")
    return parse(path.stem, path.read_text(encoding="utf8"))


def parse(name, text):
    head, _, report = text.partition("\n\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    lacking = [fact for fact in FACTS if fact not in facts]
    if lacking:
        raise Missing(f"{name}.md does not begin with lines for {', '.join(lacking)}")
    return Figures(name, facts, tables(report))


def tables(report):
    lines = report.splitlines()
    if any(is_separator(line) for line in lines):
        return markdown_tables(lines)
    return aligned_tables(lines)


def is_separator(line):
    return bool(re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()))


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else None


def markdown_tables(lines):
    out, table = [], None
    for before, line in zip([""] + lines, lines):
        if out and not line.startswith("|") and line.endswith(".") and not line.startswith("The machine's load"):
            out[-1].notes.append(line)
        if is_separator(line) and cells_of(before):
            table = Table(cells_of(before))
            out.append(table)
        elif table is not None and (cells := cells_of(line)):
            if len(cells) != len(table.columns):
                raise Missing(f"a row has {len(cells)} cells, its table {len(table.columns)} columns: {line}")
            table.rows.append(cells)
        elif not line.strip():
            table = None
    return out


def aligned_tables(lines):
    """Tables without bars: a line of words, and below it lines of as many fields."""
    out, table = [], None
    for line in lines:
        fields = line.split()
        if table is not None and len(fields) == len(table.columns):
            table.rows.append(fields)
        elif len(fields) >= 3 and all(re.fullmatch(r"[A-Za-z_%]+", word) for word in fields):
            table = Table(fields)
            out.append(table)
        else:
            table = None
    return [table for table in out if table.rows]
