"""The calls of a profile, as `calls/*.json` lists them: what is sent, what is kept for later ones (what
stands behind a word of the text), what must be in the text."""

import json
import re
from dataclasses import dataclass, field


@dataclass
class Call:
    tool: str
    arguments: dict
    keep: dict = field(default_factory=dict)
    expect: str = ""
    absent: str = ""


class Calls:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self._calls = [Call(**call) for call in json.load(file)]
        self._kept = {}
        self._called = set()

    def __len__(self):
        return len(self._calls)

    def __iter__(self):
        for call in self._calls:
            yield Call(call.tool, self._filled(call.arguments), call.keep, self._filled(call.expect), self._filled(call.absent))

    def check(self, call, is_error, text):
        where = f"{call.tool} {json.dumps(call.arguments)}: {text[:400]}"
        assert not is_error, where
        assert call.expect in text, f"no {call.expect!r} in {where}"
        assert not call.absent or call.absent not in text, f"{call.absent!r} in {where}"
        words = text.split()
        for name, word in call.keep.items():
            assert word in words[:-1], f"no {word} in {where}"
            self._kept[name] = words[words.index(word) + 1].rstrip(".,;:)")
        self._called.add(call.tool)

    def all_called(self, tools):
        missing = set(tools) - self._called
        assert not missing, f"never called: {sorted(missing)}"

    @staticmethod
    def missing(tools):
        """A call of one of these tools for something that is not there."""
        nobody = "00000000-0000-7000-8000-000000000000"
        calls = {
            "memory_turn": {"turn": nobody},
            "memory_browse": {"view": "turn", "id": nobody},
            "memory_get": {"memory": f"mem_{nobody}"},
        }
        return next((tool, arguments) for tool, arguments in calls.items() if tool in tools)

    def _filled(self, value):
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            return re.sub(r"\$\{(\w+)\}", lambda found: self._kept[found[1]], value)
        return value
