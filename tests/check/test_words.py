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


GLOSSARY = "docs/inside/glossary.md"
NAME = re.compile(r"`(?:([\w/]+): )?(struct )?(\w+?)(_\*)?`")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|(struct\s+)?\b([A-Za-z_]\w*)', re.S)


def retired():
    """[(folder, whether a struct, name, whether a prefix)] of the glossary's last column."""
    rows = [line.split("|") for line in tree.read(GLOSSARY).split("\n") if line.startswith("| ")][2:]
    return [(folder, bool(struct), name, bool(prefix)) for row in rows for folder, struct, name, prefix in NAME.findall(row[3])]


def is_retired(rule, path, struct, name):
    folder, of_struct, word, prefix = rule
    if not path.startswith(folder or "src/") or of_struct and not struct:
        return False
    return name.startswith(word + "_") if prefix else name == word


def test_code_uses_the_words_of_the_glossary():
    rules, found = retired(), []
    assert len(rules) > 40
    assert any(is_retired(rule, "src/agent/collect/x.c", False, "account_sample") for rule in rules)
    for path in tree.code_files("src", (".c", ".h", ".def")):
        for match in TOKEN.finditer(tree.read(path)):
            if match[2] and any(is_retired(rule, path, match[1], match[2]) for rule in rules):
                found.append(f"{path}: {match[0]}")
    assert not found, "\n".join(sorted(set(found))) + f"\n{GLOSSARY} has the words in their place"
