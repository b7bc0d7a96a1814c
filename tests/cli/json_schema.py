# SPDX-License-Identifier: ISC
"""
JSON against a schema of doc/schema, for json-as-in-schema.sh:

    json_schema.py SCHEMA OUTPUT ...
    UNMET='KEY ...' json_schema.py SCHEMA OUTPUT ...

Each line of an OUTPUT that ends in .lines is checked by itself.  Beside the
schema's own rules, an object has no key that the schema does not name.  Then
each key of the outputs is renamed, once for each place that the schema has for
it, and must be refused.  Prints the keys that no output has; with UNMET there
are no others than these.
"""
import copy
import json
import os
import sys

import jsonschema


def strict(schema):
    """The same, where objects have no other keys than those named."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(part) for key, part in schema.items()
            if key not in ("if", "then")}
    made.update({key: schema[key] for key in ("if", "then")
                 if key in schema})
    # A property may be called "properties"; none is.
    if "properties" in made and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


class Places:
    """The places that a schema has for keys, and where outputs have them."""

    def __init__(self, schema):
        self.root = schema
        self.all = {}
        self.declare(schema, "")

    def target(self, schema):
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].split("/")[-1]]
        for one in schema.get("anyOf", []):
            if one.get("type") != "null":
                return self.target(one)
        return schema

    def declare(self, schema, where):
        schema = self.target(schema)
        for key, part in schema.get("properties", {}).items():
            self.all["%s.%s" % (where, key)] = part
            self.declare(part, "%s.%s" % (where, key))
        if "items" in schema:
            self.declare(schema["items"], where + "[]")

    def walk(self, schema, data, where, path):
        schema = self.target(schema)
        if isinstance(data, dict):
            for key, part in schema.get("properties", {}).items():
                if key in data:
                    yield "%s.%s" % (where, key), path + [key]
                    yield from self.walk(part, data[key],
                                         "%s.%s" % (where, key), path + [key])
        elif isinstance(data, list):
            for n, item in enumerate(data):
                yield from self.walk(schema.get("items", {}), item,
                                     where + "[]", path + [n])


def renamed(data, path):
    """A copy in which the last key of a path has another name."""
    made = copy.deepcopy(data)
    at = made
    for part in path[:-1]:
        at = at[part]
    at[path[-1] + "_renamed"] = at.pop(path[-1])
    return made


def load(name):
    with open(name) as file:
        if not name.endswith(".lines"):
            return [json.load(file)]
        return [json.loads(line) for line in file]


def main(schema_name, outputs):
    with open(schema_name) as file:
        schema = strict(json.load(file))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    places = Places(schema)
    undocumented = [where for where, part in places.all.items()
                    if "$ref" not in part and not part.get("description")]
    if undocumented:
        sys.exit("no description: %s" % undocumented)
    seen = set()
    for name in outputs:
        for data in load(name):
            for error in validator.iter_errors(data):
                sys.exit("%s: %s: %s" % (name, list(error.absolute_path),
                                         error.message[:400]))
            for where, path in places.walk(schema, data, "", []):
                if where in seen:
                    continue
                seen.add(where)
                if validator.is_valid(renamed(data, path)):
                    sys.exit("%s: a renamed %s is valid" % (name, where))
    if not seen:
        sys.exit("%s: no keys" % outputs)
    unmet = sorted(set(places.all) - seen)
    gone = set(unmet) - set(os.environ.get("UNMET", " ".join(unmet)).split())
    if gone:
        sys.exit("no output has %s" % " ".join(sorted(gone)))
    print("%d renamed keys refused; not met: %s" % (
        len(seen), " ".join(unmet) or "none"))


main(sys.argv[1], sys.argv[2:])
