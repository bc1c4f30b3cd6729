#!/bin/sh
# fetch-mcp.sh - print the folder of the Python SDK of the Model Context Protocol, which tests/jvm/test_mcp.py asks the
# server with: fetched with pip into $O/mcp. Prints nothing when it cannot be fetched.

cd "$(dirname "$0")/.." || exit 1
dir=${O:-build}/mcp
python=${PYTHON:-/usr/bin/python3}
if [ ! -e "$dir/.whole" ]; then
	[ -e "$dir/.tried" ] && exit 1 # one attempt to fetch for a build folder
	mkdir -p "$dir" && : > "$dir/.tried"
	timeout 300 "$python" -m pip -q install --target "$dir/site" mcp==2.3.0 >"$dir/pip.log" 2>&1 </dev/null || exit 1
	: > "$dir/.whole"
fi
readlink -f "$dir/site"
