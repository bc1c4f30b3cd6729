#!/bin/sh
# fetch-marionette.sh - print the folder of Mozilla's own driver of Firefox, which tests/browser/firefox.py opens pages
# with: fetched with pip into $O/marionette. Prints nothing when it cannot be fetched.

cd "$(dirname "$0")/.." || exit 1
dir=${O:-build}/marionette
python=${PYTHON:-/usr/bin/python3}
if [ ! -e "$dir/.whole" ]; then
	[ -e "$dir/.tried" ] && exit 1 # one attempt to fetch for a build folder
	mkdir -p "$dir" && : > "$dir/.tried"
	timeout 300 "$python" -m pip -q install --target "$dir/site" marionette_driver==3.7.1 >"$dir/pip.log" 2>&1 \
		</dev/null || exit 1
	: > "$dir/.whole"
fi
readlink -f "$dir/site"
