#!/bin/sh
# find-jdk.sh [VERSION] - print the folder of a JDK that has javac and jni.h, or nothing (exit 1).
# Order: JAVA_HOME, PATH, the usual folders. With VERSION only a JDK of that feature release
# will do, and it needs no javac (it is only run, never compiled with).

want=$1

release() { # feature release of the JDK in folder $1
	sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$1/release" 2>/dev/null
}

fits() {
	[ -x "$1/bin/java" ] || return 1
	if [ -n "$want" ]; then
		[ "$(release "$1")" = "$want" ]
	else
		[ -x "$1/bin/javac" ] && [ -f "$1/include/jni.h" ]
	fi
}

on_path() { # folder of the JDK whose $1 is on PATH
	tool=$(command -v "$1") || return 1
	dirname "$(dirname "$(readlink -f "$tool")")"
}

eval "named=\$JAVA_HOME_$want"
for dir in "$named" "$JAVA_HOME" "$(on_path javac)" "$(on_path java)" \
	/usr/lib/jvm/*17* /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
	"$HOME"/.sdkman/candidates/java/* "${O:-build}"/jdks/*; do
	[ -n "$dir" ] && fits "$dir" && { readlink -f "$dir"; exit 0; }
done
exit 1
