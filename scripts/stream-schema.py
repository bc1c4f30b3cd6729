#!/usr/bin/python3
"""Print docs/reference/stream.schema.json with what src/common/words/events.def says: units, and fields of samples."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRING = r'"((?:\\.|[^"\\])*)"'
SCHEMA = os.path.join(ROOT, "docs", "reference", "stream.schema.json")
TYPES = {"CLASS": '{"type": "string"}', "FLAG": '{"const": true}', "NUMBER": '{"$ref": "#/definitions/number"}',
         "BYTES": '{"$ref": "#/definitions/number"}', "SIZE": '{"$ref": "#/definitions/number"}',
         "OUTSIDE": '{"const": true}', "TARGET": '{"type": "string"}'}


def table(pattern):
    with open(os.path.join(ROOT, "src", "common", "words", "events.def")) as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
    return re.findall(pattern, text)


def enum(words):
    return "[" + ", ".join(f'"{word}"' for word in dict.fromkeys(words)) + "]"


weights = table(r"WEIGHT\(\w+,\s*" + STRING + r",\s*" + STRING)
fields = {key: TYPES[kind] for _, key, kind in table(r"EVENT_(?:FIELD|NOTE)\(" + STRING + r",\s*" + STRING + r",\s*(\w+)")
          if kind in TYPES}

with open(SCHEMA) as file:
    schema = file.read()
schema = re.sub(r'"unit": \{"enum": \[.*?\]\}', f'"unit": {{"enum": {enum(unit for _, unit in weights)}}}', schema)
schema = re.sub(r'"of": \{"enum": \[.*?\]\}', f'"of": {{"enum": {enum(of for of, _ in weights)}}}', schema)
words = {"OPERATION": "operation", "KIND": "target_kind"}
with open(os.path.join(ROOT, "src", "common", "words", "io_words.def")) as file:
    io_words = re.findall(r"^IO_(OPERATION|KIND)\(\w+, " + STRING, file.read(), flags=re.M)
for kind, key in words.items():
    fields[key] = f'{{"enum": {enum(word for of, word in io_words if of == kind)}}}'
fields["idle"] = fields["open"] = '{"const": true}'
lines = "".join(f'        "{key}": {kind},\n' for key, kind in sorted(fields.items()))
# of samples: what stands between the stack and the trace context
schema = re.sub(r'(    "sample": \{\n.*?"stack": [^\n]*\n).*?(?=        "trace_id")', lambda found: found[1] + lines, schema,
                count=1, flags=re.S)
print(schema, end="")
