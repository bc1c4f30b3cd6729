"""What the checks of this folder know about the source tree."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.abspath(os.path.join(ROOT, os.environ.get("O", "build")))
CC = os.environ.get("CC", "gcc")
CODE = (".c", ".h", ".S", ".def")


def rooms():
    """src/ROOMS as {house/room: (zone, set of rooms it may include)}, in its order."""
    table = {}
    with open(os.path.join(ROOT, "src", "ROOMS")) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                name, zone, _, *may = words
                table[name] = (zone, {room for room in may if room != "-"})
    return table


def room_of(path):
    """house/room of a file, "cli" of the command's own."""
    house, room = path.split("/")[1:3]
    return house if house in rooms() else f"{house}/{room}"


def zone_rooms():
    return [room for room, (zone, _) in rooms().items() if zone == "handler"]


def code_files(folder="src", suffixes=CODE):
    """Paths of source files below FOLDER, relative to the root."""
    found = []
    for where, dirs, names in os.walk(os.path.join(ROOT, folder)):
        dirs.sort()
        found += [os.path.relpath(os.path.join(where, name), ROOT)
                  for name in sorted(names) if name.endswith(suffixes)]
    return found


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def tracked_files():
    """Files under version control, or (outside a clone) every file but built ones."""
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                          cwd=ROOT, stdout=subprocess.PIPE, text=True)
    files = done.stdout.split("\n") if done.returncode == 0 else [
        os.path.relpath(os.path.join(w, n), ROOT) for w, _, ns in os.walk(ROOT) for n in ns]
    return [f for f in files if f and os.path.isfile(os.path.join(ROOT, f))]


def shared_arch(cpu):
    """The folder that has what CPU shares with others, as the Makefile says; None."""
    found = re.search(rf"^SHARED_{cpu} := (\w+)$", read("Makefile"), re.M)
    return found and found[1]


def zone_sources():
    arch = os.uname().machine
    return [f for room in zone_rooms() for f in code_files("src/" + room, (".c", ".S"))
            if "/arch/" not in f or any(f"/arch/{a}/" in f for a in (arch, shared_arch(arch)))]


def zone_objects():
    return [os.path.join(OUT, "obj", f + ".o") for f in zone_sources()]


def run(*command):
    """Standard output of a command that must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def needs(made, pattern):
    """The functions that object file MADE needs from elsewhere and whose whole name PATTERN matches."""
    return {name for line in run("nm", "-u", made).splitlines() if (name := line.split()[-1].split("@")[0])
            and pattern.fullmatch(name)}


def strip_comments(text):
    """C text with comments and the insides of strings blanked, line breaks kept."""
    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] + " " * (len(found) - 2) + found[0]
        return re.sub(r"[^\n]", " ", found)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)
