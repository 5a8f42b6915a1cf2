#!/usr/bin/env python3
"""Every locked dependency has a licence that deny.toml allows, stands there once or is listed as a duplicate, and builds
with the Rust version that we declare. Needs no network once `cargo metadata` has run."""

import collections
import json
import re
import subprocess
import sys
import tomllib

rules = tomllib.load(open("deny.toml", "rb"))
allowed = set(rules["licenses"]["allow"])
may_be_twice = {tuple(skipped["crate"].split("@")) for skipped in rules["bans"]["skip"]}
metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]))
shipped = subprocess.check_output(
    ["cargo", "tree", "--locked", "--workspace", "--all-features", "--edges", "normal,build", "--prefix", "none"], text=True
)
shipped = {tuple(line.split()[:2]) for line in shipped.splitlines() if line}
declared = next(package["rust_version"] for package in metadata["packages"] if package["name"] == "thermocline")


def version(text):
    return tuple(int(part) for part in (text + ".0.0").split(".")[:3])


def is_allowed(licence):
    """SPDX: `OR` leaves a choice, `AND` does not; `/` is an old way to write `OR`."""
    licence = re.sub(r" WITH [\w-]+", "", licence.replace("/", " OR "))
    words = re.findall(r"[\w.+-]+|[()]", licence)
    value = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    return eval(" ".join(value.get(word, str(word in allowed)) for word in words))


faults = []
versions = collections.defaultdict(set)
for package in metadata["packages"]:
    name, number = package["name"], package["version"]
    if package["rust_version"] and version(package["rust_version"]) > version(declared):
        faults.append(f"{name} {number} needs Rust {package['rust_version']}; we declare {declared}")
    if (name, f"v{number}") not in shipped:
        continue  # For tests and other systems.
    if not is_allowed(package["license"] or "none"):
        faults.append(f"{name} {number} is under {package['license']}, which deny.toml does not allow")
    versions[name].add(number)
for name, numbers in versions.items():
    kept = {number for number in numbers if not any(name == n and (number + ".").startswith(v + ".") for n, v in may_be_twice)}
    if len(kept) > 1:
        faults.append(f"{name} is there twice: {', '.join(sorted(kept))}")
print("\n".join(faults) or f"{len(shipped)} dependencies: licences, versions and Rust {declared} hold")
sys.exit(bool(faults))
