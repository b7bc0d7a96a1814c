# SPDX-License-Identifier: ISC
"""
The public headers of another age: headers.py FROM TO older|newer.

older: each struct that has a size ends with the last member that client.c
uses.  newer: each has a member zz_new behind all others.
"""
import os
import re
import shutil
import sys

# Struct, and the last member that client.c uses; None: see counters.def.
STRUCTS = {
    "prof_options": "po_output",
    "prof_status": "ps_elapsed_s",
    "prof_check": "ck_name",
    "prof_counting_options": "co_size",
    "prof_counting_status": "ks_wall_ns",
    "prof_counter_value": "cr_count",
    "prof_accounting": None,
    "prof_ran": "rn_ns",
    "prof_symbols_options": "so_size",
    "prof_profile_options": "pl_size",
    "prof_quality": "pq_samples",
    "prof_sampled": "sa_threads",
    "prof_flame_options": "fl_title",
    "prof_import_options": "im_output",
    "prof_comparison_options": "cp_size",
}


def cut(body, last):
    """The body of a struct up to a member."""
    end = re.search(r"^.*\b%s(\[.*\])?;.*\n" % last, body, re.M).end()
    # A comment that goes on is of that member.
    while body[:end].count("/*") > body[:end].count("*/"):
        end = body.index("\n", end) + 1
    return body[:end]


def change(text, age, done):
    for name, last in STRUCTS.items():
        found = re.search(r"(^struct %s \{\n)(.*?)(^\};\n)" % name, text,
                          re.M | re.S)
        if found is None:
            continue
        body = found.group(2)
        if age == "newer":
            body += "\tunsigned long zz_new;\n"
        elif last is not None:
            body = cut(body, last)
        text = (text[:found.start()] + found.group(1) + body +
                found.group(3) + text[found.end():])
        done.add(name)
    return text


def main(source, target, age):
    done = set()
    os.makedirs(target)
    for name in os.listdir(source):
        if name.endswith(".def"):
            shutil.copy(os.path.join(source, name), target)
        elif name in ("prof.h", "prof_recording.h", "prof_profile.h",
                      "prof_compare.h"):
            with open(os.path.join(source, name)) as file:
                text = change(file.read(), age, done)
            with open(os.path.join(target, name), "w") as file:
                file.write(text)
    missing = set(STRUCTS) - done
    if missing:
        sys.exit("no such structs: %s" % ", ".join(sorted(missing)))
    if age == "older":
        path = os.path.join(target, "counters.def")
        with open(path) as file:
            text = file.read()
        first = text.index("PROF_COUNTER(2, full")
        end = text.index("#undef PROF_COUNTER")
        with open(path, "w") as file:
            file.write(text[:first] + text[end:])
    print("\n".join(sorted(STRUCTS)))


main(*sys.argv[1:])
