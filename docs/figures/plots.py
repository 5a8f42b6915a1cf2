"""Draws the pictures of this folder: bars that begin at 0, one colour for ours, grey for what is beside it."""

import re
from dataclasses import dataclass
from html import escape

import reports

THEMES = {
    "light": dict(paper="#ffffff", ink="#1f2328", quiet="#6e7781", grid="#d8dee4", ours="#0969da", other="#afb8c1"),
    "dark": dict(paper="#0d1117", ink="#e6edf3", quiet="#8b949e", grid="#30363d", ours="#58a6ff", other="#6e7681"),
}
WIDTH, LABELS, RIGHT = 860, 200, 100
BAR, GAP, BETWEEN = 16, 3, 20


@dataclass
class Bar:
    value: float
    said: str  # what stands at its end
    is_ours: bool


@dataclass
class Group:
    label: str
    below: str  # a smaller second line
    bars: list


@dataclass
class Panel:
    title: str
    axis: str  # what the axis counts, with its unit
    groups: list
    most: float = 0  # the axis ends here at least


def drawings(folder):
    """Each picture whose figures are there, as (path, SVG)."""
    for name, make in (("recall", recall), ("latency", latency)):
        try:
            picture = make(folder)
        except reports.NotTaken:
            continue
        for theme, colours in THEMES.items():
            yield folder / f"{name}-{theme}.svg", draw(*picture, colours)


SETS = {
    "locomo": ("LoCoMo", "talks between people"),
    "beam": ("BEAM", "long talks with an assistant"),
    "realmem, live": ("RealMem", "people at work, asked live"),
    "memdaily": ("MemDaily", "short facts in Chinese"),
}


def recall(folder):
    card = reports.read(folder / "card.md")
    groups = []
    for cells in card.table(1).rows:
        label, below = SETS.get(cells[0], (cells[0], ""))
        ours, plain = (card.figure(cells[0], column) for column in ("R@10", "fts5 R@10"))
        groups.append(Group(label, below, [Bar(float(ours), ours, True), Bar(float(plain), plain, False)]))
    groups.sort(key=lambda group: -group.bars[0].value)
    panel = Panel("", "evidence among the first 10 results, %", groups, 100)
    return "Recall beside SQLite's full-text search", ("Thermocline", "FTS5"), [panel], note([card])


def latency(folder):
    recall, backend = (reports.read(folder / f"{name}.md") for name in ("recall", "backend"))
    panels = []
    for size in ("10,000", "100,000"):
        def timed(file, row, columns, size=size):
            where = f"{row} & {size} & short (140)" if file is recall else f"{row} & short (140)"
            values = [file.figure(where, column, 1) for column in columns]
            return [Bar(milliseconds(value), with_micro(value), n == 0) for n, value in enumerate(values)]

        found = timed(recall, "recall of ten, warm", ("p50 / p95 / p99", "plain p50 / p95"))
        packed = timed(recall, "context of 4,400 tokens, warm", ("p50 / p95 / p99",))
        groups = [
            Group("recall of ten", "beside FTS5 + sqlite-vec", found),
            Group("context", "4,400 tokens; no alternative", packed),
        ]
        if size == "10,000":
            recorded = timed(backend, "documented record", ("p50 / p95", "same rows p50 / p95"))
            groups.append(Group("record", "beside the same rows by hand", recorded))
        panels.append(Panel(f"A user of {size} short turns", "milliseconds, median", groups))
    return "How long a call takes", ("Thermocline", "the plain alternative"), panels, note([recall, backend])


def milliseconds(time):
    figure, unit = re.fullmatch(r"([0-9.]+) ?(ns|us|µs|ms|s)", time).groups()
    return float(figure) * {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}[unit]


def with_micro(time):
    return time.replace("us", "µs")


def note(files):
    return "; ".join(f"{f.name}.md: commit {f.facts['commit']}, {f.facts['date']}" for f in files)


def ticks(most):
    """Round steps from 0, four to six of them, the last at `most` or above."""
    step = next(m * 10**e for e in range(-4, 7) for m in (1, 2, 5) if most / (m * 10**e) <= 5)
    count = -int(-most / step // 1)
    return [step * n for n in range(count + 1)]


def draw(title, legend, panels, footnote, colours):
    out, y = [], 30
    text = lambda x, y, words, colour, size=13, anchor="start", weight="": out.append(
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colours[colour]}" font-size="{size}" text-anchor="{anchor}"'
        f'{f" font-weight={chr(34)}{weight}{chr(34)}" if weight else ""}>{escape(words)}</text>'
    )
    bar = lambda x, y, width, height, colour: out.append(
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:.1f}" rx="2"'
        f' fill="{colours[colour]}"/>'
    )
    text(14, y, title, "ink", 16, weight="600")
    x = WIDTH - 14
    for words, colour in reversed(list(zip(legend, ("ours", "other")))):
        x -= 7.2 * len(words) + 8
        text(x, y, words, "ink")
        x -= 18
        bar(x, y - 11, 12, 12, colour)
        x -= 14
    y += 24
    for panel in panels:
        if panel.title:
            text(14, y + 14, panel.title, "ink", 14, weight="600")
            y += 30
        steps = ticks(max([panel.most, *(bar.value for group in panel.groups for bar in group.bars)]))
        across = (WIDTH - LABELS - RIGHT) / steps[-1]
        top = y
        height = sum(len(group.bars) * (BAR + GAP) + BETWEEN for group in panel.groups)
        for step in steps:
            x = LABELS + step * across
            colour = colours["quiet" if step == 0 else "grid"]
            out.append(f'<path d="M{x:.1f} {top} V{top + height}" stroke="{colour}"/>')
            text(x, top + height + 16, f"{step:g}", "quiet", 12, "middle")
        text(LABELS + steps[-1] * across / 2, top + height + 34, panel.axis, "quiet", 12, "middle")
        y += BETWEEN / 2
        for group in panel.groups:
            middle = y + len(group.bars) * (BAR + GAP) / 2
            text(LABELS - 12, middle - (3 if group.below else -4), group.label, "ink", 13, "end")
            if group.below:
                text(LABELS - 12, middle + 12, group.below, "quiet", 11, "end")
            for one in group.bars:
                bar(LABELS, y, one.value * across, BAR, "ours" if one.is_ours else "other")
                end, weight = LABELS + one.value * across, "600" if one.is_ours else ""
                text(end + 7, y + 12.5, one.said, "ink", 12, weight=weight)
                y += BAR + GAP
            y += BETWEEN
        y = top + height + 50
    text(14, y + 8, footnote, "quiet", 11)
    y += 24
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" '
        'font-family="system-ui, sans-serif" role="img">\n'
        f'<title>{escape(title)}</title>\n<rect width="{WIDTH}" height="{y:.0f}" fill="{colours["paper"]}"/>\n'
    )
    return head + "\n".join(out) + "\n</svg>\n"
