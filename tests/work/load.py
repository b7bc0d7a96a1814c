# Work for an interpreter that goes on until it is killed: C code below
# Python code, in several modules.
import hashlib
import json
import re
import zlib

while True:
    text = json.dumps([{"a": i, "b": str(i)} for i in range(2000)])
    json.loads(text)
    re.findall(r"(\d+)", text)
    sorted(text.split(","), key=lambda x: x[::-1])
    zlib.compress(text.encode())
    hashlib.sha256(text.encode()).digest()
