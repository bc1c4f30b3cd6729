"""Words that hide who is meant: write the thread, method, process, user or reader. And "fixed" is the field's word."""
import re

import tree

# In pieces, so that this file has none of them.
WORDS = re.compile(r"(?<![a-z])(" + "|".join(["some" + "body", "no" + "body", "who" + "ever", "men" + "ded"]) + r")(?![a-z])", re.I)
TEXT = (".c", ".h", ".S", ".def", ".py", ".sh", ".java", ".md", ".js", ".css", ".html", ".mk")


def test_texts_say_who_is_meant():
    found = [f"{path}:{number}: {line.strip()}" for path in tree.tracked_files()
             if path.endswith(TEXT) and not path.startswith("CHANGELOG") and "/corpus/" not in path
             for number, line in enumerate(tree.read(path).split("\n"), 1) if WORDS.search(line)]
    assert not found, "\n".join(found)
