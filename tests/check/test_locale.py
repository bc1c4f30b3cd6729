"""A program's own library may have called setlocale: what is written and read must not depend on it.

Numbers with a fraction are made by common/base/decimal.h, letters compared by common/base/ascii.h, texts of errors found by common/base/error.h;
this sees to it that nothing else does either."""
import re

import tree

MAKES_DECIMALS = "src/common/base/decimal.c"
# Functions of libc whose answer depends on the locale.
FORBIDDEN = re.compile(r"""\b(?:
    is(?:alpha|alnum|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit) | to(?:lower|upper) |
    str(?:n)?casecmp | strcasestr | strcoll | strxfrm | strto(?:d|f|ld) | atof | regcomp | fnmatch | glob |
    setlocale | localeconv | nl_langinfo | strerror(?:_r)? | perror | strsignal | dlerror | printf_l | wc(?:s\w+|width) | mb(?:r?to|st|sr)\w+ | strfmon
    )\s*\(""", re.X)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
FRACTION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?[lL]?[fFeEgGaA]\b")
ERROR = re.compile(r"(?<!%Y)(?<!%Y-)%m")  # not of a date
GROUPED = re.compile(r"%[-+ #0]*'")
TIME = re.compile(r'\bstrftime\s*\([^"]*("(?:[^"\\\n]|\\.)*")')


def without_comments(text):
    return re.sub(r'/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', lambda m: m.group(1) or " ", text, flags=re.S)


def test_the_check_sees():
    assert without_comments('/* "%f" */ a("/* %f */"); // "x"') == '  a("/* %f */"); // "x"'
    assert FRACTION.search('"%.2f ns"') and FRACTION.search('"%*.3f"') and FRACTION.search('"%lg"')
    assert not FRACTION.search('"%s f"') and not FRACTION.search('"%5u"')
    assert ERROR.search('"%s: %m"') and not ERROR.search('"%Y%m%d %Y-%m-%d"')
    assert FORBIDDEN.search("strerror(errno)") and not FORBIDDEN.search("strerror_l(code, known)")
    assert FORBIDDEN.search("n = strtod(text, &rest);") and not FORBIDDEN.search("ascii_lower(c)")


def test_no_locale():
    found = []
    for name in tree.code_files():
        text = without_comments(tree.read(name))
        for match in FORBIDDEN.finditer(STRING.sub('""', text)):
            # the matcher of method patterns has that name, too
            if match.group().startswith("glob") and name == "src/common/bytecode/pattern.c":
                continue
            # the command alone has it, and no program's library sets a locale there
            if match.group().startswith("regcomp") and name in ("src/profile/readers/expressions.c", "src/profile/readers/group_expression.c",
                                                                       "src/cli/live/top_filter.c"):
                continue
            found.append(f"{name}: {match.group()}…")
        for match in STRING.finditer(text):
            literal = match.group().replace("%%", "")
            if ERROR.search(literal):
                found.append(f"{name}: {match.group()}: %m is strerror")
            if GROUPED.search(literal) or (FRACTION.search(literal) and name != MAKES_DECIMALS):
                found.append(f"{name}: {match.group()}")
        found += [f"{name}: strftime {m.group(1)}" for m in TIME.finditer(text)
                  if set(re.findall(r"%.", m.group(1))) - {"%Y", "%m", "%d", "%H", "%M", "%S"}]
    assert not found, "\n".join(found)
