#!/bin/sh
# fetch-viewers.sh - fetch what other viewers' makers check their files with, into $O/viewers. Prints one line for each that
# is there: its name and its path. A line that is missing could not be fetched, which is tried once.
#
# Uses go, npm and pip, with the machine's own settings.

cd "$(dirname "$0")/.." || exit 1
out=${O:-build}/viewers
mkdir -p "$out" || exit 1
out=$(readlink -f "$out")
exec 9>"$out/lock" && flock 9 # who comes while another one fetches waits for it

once() { # once NAME: whether NAME was not tried yet
	[ ! -e "$out/$1.tried" ] && : > "$out/$1.tried"
}

# google/pprof
if once pprof && command -v go >/dev/null 2>&1; then
	GOPATH=$out/go GOBIN=$out/bin GOFLAGS="-modcacherw $GOFLAGS" timeout 300 \
		go install github.com/google/pprof@v0.0.0-20261105003125-4bf881d7fb0b >"$out/go.log" 2>&1 </dev/null
fi
[ ! -x "$out/bin/pprof" ] || echo "pprof $out/bin/pprof"

# the schema of speedscope's files
if once speedscope && command -v npm >/dev/null 2>&1; then
	(cd "$out" && timeout 120 npm --silent pack speedscope@1.25.0 >npm.log 2>&1 </dev/null &&
		tar xzf speedscope-1.25.0.tgz package/dist/release/file-format-schema.json)
fi
schema=$out/package/dist/release/file-format-schema.json
[ ! -f "$schema" ] || echo "speedscope $schema"

# the command of the Firefox Profiler
if once firefox && command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1; then
	(cd "$out" && mkdir -p firefox && timeout 120 npm --silent pack @firefox-devtools/profiler-cli@0.10.0 >>npm.log 2>&1 </dev/null &&
		tar xzf firefox-devtools-profiler-cli-0.10.0.tgz -C firefox)
fi
[ ! -f "$out/firefox/package/dist/profiler-cli.js" ] || echo "firefox $out/firefox/package/dist/profiler-cli.js"

# TypeScript, which checks the page's code
if once typescript && command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1; then
	(cd "$out" && mkdir -p typescript && timeout 120 npm --silent pack typescript@5.9.3 >>npm.log 2>&1 </dev/null &&
		tar xzf typescript-5.9.3.tgz -C typescript)
fi
[ ! -f "$out/typescript/package/lib/tsc.js" ] || echo "typescript $out/typescript/package/lib/tsc.js"

# the messages of OTLP
if once otlp; then
	timeout 300 "${PYTHON:-/usr/bin/python3}" -m pip -q install --target "$out/otlp" opentelemetry-proto==1.45.2 \
		>"$out/pip.log" 2>&1 </dev/null || rm -rf "$out/otlp"
fi
[ ! -d "$out/otlp" ] || echo "otlp $out/otlp"

# a Collector of OpenTelemetry, which takes long to build: tests/collector
if [ -n "$JSTROBE_SOAK" ] && command -v go >/dev/null 2>&1 && once collector; then
	cp -r tests/collector "$out/collector" && (cd "$out/collector" && GOPATH=$out/go GOFLAGS="-modcacherw $GOFLAGS" \
		timeout 900 go build -o collector . >"$out/collector.log" 2>&1 </dev/null)
fi
[ ! -x "$out/collector/collector" ] || echo "collector $out/collector/collector"
