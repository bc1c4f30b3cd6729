#!/bin/sh
# fetch-python.sh NAME==VERSION - print the folder of a package of Python that a test drives something with, fetched with
# pip into $O/python/NAME. Prints nothing when it cannot be fetched, which is tried once for a build folder.

cd "$(dirname "$0")/.." || exit 1
dir=${O:-build}/python/${1%%==*}
python=${PYTHON:-/usr/bin/python3}
if [ ! -e "$dir/.whole" ]; then
	[ -e "$dir/.tried" ] && exit 1
	mkdir -p "$dir" && : > "$dir/.tried"
	timeout 300 "$python" -m pip -q install --target "$dir/site" "$1" >"$dir/pip.log" 2>&1 </dev/null || exit 1
	: > "$dir/.whole"
fi
readlink -f "$dir/site"
