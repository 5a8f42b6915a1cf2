"""What schemathesis does not know of: lines of JSON as a body, that a request carries one key, and that an address names a
user or a session by an id with `id:` in front (answers have the bare id)."""

import json
import re

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    items = value if isinstance(value, list) else [value]
    return "".join(item if isinstance(item, str) else json.dumps(item) + "\n" for item in items).encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_call(_context, case, _kwargs):
    # The key is in Authorization already; a request with two keys is refused, as it should be.
    if case.headers:
        case.headers.pop("X-API-Key", None)
    for name in ("user", "session"):
        value = (case.path_parameters or {}).get(name)
        if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
            case.path_parameters[name] = "id:" + value
