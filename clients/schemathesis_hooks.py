"""What schemathesis does not know of: lines of JSON as a body."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    items = value if isinstance(value, list) else [value]
    return "".join(item if isinstance(item, str) else json.dumps(item) + "\n" for item in items).encode("utf-8", "surrogatepass")
