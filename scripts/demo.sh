#!/bin/sh
# demo.sh [PID] - profile the bundled order service (or the process PID) for 10 s and show what
# came out. Called by `make demo`, after everything is built.

cd "$(dirname "$0")/.." || exit 1
out=${O:-build}
seconds=10
page=$out/demo/flame.html
jstrobe=$out/bin/jstrobe
mkdir -p "$out/demo/classes" || exit 1

target=$1
if [ -z "$target" ]; then
	jdk=$(scripts/find-jdk.sh) || { echo "make demo: no JDK found; run 'make deps'" >&2; exit 1; }
	"$jdk/bin/javac" --release 8 -encoding UTF-8 -nowarn -Xlint:-options -d "$out/demo/classes" demo/src/demo/*.java || exit 1
	: > "$out/demo/output.txt"
	# It ends by itself should this script be killed.
	"$jdk/bin/java" -Xmx256m -cp "$out/demo/classes" demo.OrderService 120 > "$out/demo/output.txt" 2>&1 &
	target=$!
	trap 'kill "$target" 2>/dev/null; wait "$target" 2>/dev/null' EXIT
	trap 'exit 130' INT TERM HUP
	tries=0
	until grep -q started "$out/demo/output.txt"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] && kill -0 "$target" 2>/dev/null || {
			echo "make demo: the order service did not start; it said:" >&2
			cat "$out/demo/output.txt" >&2
			exit 1
		}
		sleep 0.1
	done
	echo "The order service runs (pid $target); profiling it for $seconds s ..."
else
	echo "Profiling process $target for $seconds s ..."
fi

rm -f "$page"
# `jstrobe record -e cpu -i 1ms -d 10 -f FILE PID` does this in one step; taken apart here because
# the demo wants two results of one session: the page and the table.
"$jstrobe" start -e cpu -i 1ms "$target" || exit 1
trap '"$jstrobe" stop "$target" >/dev/null 2>&1; exit 130' INT TERM HUP
sleep $seconds
"$jstrobe" dump --overwrite -f "$page" "$target" || exit 1
echo
"$jstrobe" stop "$target" || exit 1
echo
echo "Flame graph: $page"
