"""What schemathesis does not know of: lines of JSON as a body, and that a request carries one key."""

import json

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
