#!/bin/sh
# deps.sh build|test|fuzz|bench|recipes|jdks|cross|emulated ... - install what is missing of these groups.
#
# Looks for what it needs (not for package names), says what it will install, and installs by
# apt-get as root or through `sudo -n`. Where that is not possible it prints the command and
# stops: it never waits at a prompt. When nothing is missing it does and says nothing. What tests can do
# without (they are skipped then, and say so) is asked for once and stops nothing.

cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}

have()    { command -v "$1" >/dev/null 2>&1; }
header()  { [ -f "/usr/include/$1" ] || [ -f "/usr/local/include/$1" ]; }
library() { # is there a library file $1?
	for dir in /usr/lib/*/ /usr/lib/ /usr/lib64/ /usr/local/lib/; do
		[ ! -f "$dir$1" ] || return 0
	done
	return 1
}
fuzzer()  { have clang && [ -f "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a" ]; }
module()  { "$python" -c "import $1" >/dev/null 2>&1; }

admin()   { ( PATH="$PATH:/usr/sbin:/sbin"; have "$1" ); } # a command that is root's

missing=
wished=
need() { # need PACKAGE CHECK...: remember PACKAGE unless CHECK succeeds
	package=$1
	shift
	"$@" || missing="$missing $package"
}

wish() { # the same for a PACKAGE that can be done without
	package=$1
	shift
	"$@" || wished="$wished $package"
}

for group in "$@"; do
	case $group in
	build)
		need gcc have "${CC:-gcc}"
		need libc6-dev header stdio.h
		need binutils have objcopy
		need make have make
		need libiberty-dev library libiberty.a
		need zlib1g-dev header zlib.h
		wish liblz4-dev header lz4frame.h
		need openjdk-17-jdk-headless scripts/find-jdk.sh >/dev/null
		;;
	test)
		need libcmocka-dev header cmocka.h
		need python3 have "$python"
		need python3-pytest module pytest
		need python3-pytest-xdist module xdist
		need python3-selenium module selenium
		need python3-jsonschema module jsonschema
		need strace have strace
		wish libzydis-dev header Zydis/Zydis.h
		# xmllint
		wish libxml2-utils have xmllint
		# callgrind_annotate
		wish valgrind have callgrind_annotate
		wish bubblewrap have bwrap
		wish libjemalloc2 library libjemalloc.so.2
		wish libtcmalloc-minimal4 library libtcmalloc_minimal.so.4
		wish runc admin runc
		# to fetch the SDK with that asks `jstrobe mcp`
		wish python3-pip module pip
		need musl-tools have musl-gcc
		need chromium have chromium
		need chromium-driver have chromedriver
		wish firefox-esr have firefox-esr
		# to fetch a JDK 25 with, where there is none
		scripts/find-jdk.sh 25 >/dev/null || need python3-pip module pip
		;;
	fuzz)
		need clang have clang
		need libclang-rt-14-dev fuzzer
		;;
	bench)
		need python3 have "$python"
		need maven have mvn
		;;
	recipes)
		need maven have mvn
		need gradle have gradle
		need ant have ant
		need ant-optional test -f /usr/share/java/ant-junit.jar
		need util-linux have unshare
		;;
	cross)
		for cross in aarch64-linux-gnu/arm64 i686-linux-gnu/i386 arm-linux-gnueabihf/armhf \
			powerpc64le-linux-gnu/ppc64el s390x-linux-gnu/s390x riscv64-linux-gnu/riscv64; do
			need "gcc-${cross%/*}" have "${cross%/*}-gcc"
			need "libc6-dev-${cross#*/}-cross" test -f "/usr/${cross%/*}/include/stdio.h"
		done
		need musl-tools have musl-gcc
		;;
	emulated)
		need qemu-user-static have qemu-aarch64-static
		need util-linux have unshare
		;;
	jdks)
		need python3 have "$python"
		need python3-pip module pip
		need maven have mvn
		need util-linux have unshare
		;;
	*)
		echo "deps.sh: unknown group: $group (build, test, fuzz, bench, recipes, jdks, cross, emulated)" >&2
		exit 2
		;;
	esac
done
[ -n "$missing$wished" ] || exit 0

if [ -z "$missing" ] && { ! have apt-get || { [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; }; }; then
	echo "not there, and not to be installed from here:$wished; tests that need them are skipped"
	exit 0
fi
install="apt-get install -y --no-install-recommends$missing"
if ! have apt-get; then
	echo "missing:$missing (Debian's names). There is no apt-get here: install them and try again." >&2
	exit 1
elif [ "$(id -u)" = 0 ]; then
	sudo=
elif have sudo && sudo -n true 2>/dev/null; then
	sudo="sudo -n"
else
	echo "missing:$missing" >&2
	echo "Neither root nor passwordless sudo. Please run this, then try again:" >&2
	echo "  sudo $install" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
if [ -n "$wished" ]; then
	echo "Installing what some tests need:$wished"
	$sudo apt-get install -y --no-install-recommends $wished </dev/null ||
		{ $sudo apt-get update </dev/null && $sudo apt-get install -y --no-install-recommends $wished </dev/null; } ||
		echo "not to be had:$wished; tests that need them are skipped"
fi
[ -n "$missing" ] || exit 0
echo "Installing what is missing:$missing"
# Package lists may be absent on a fresh machine, or too old to fetch from.
$sudo $install </dev/null || { $sudo apt-get update </dev/null && $sudo $install </dev/null; } || {
	echo "apt-get failed. Please run this by hand, then try again:  $install" >&2
	exit 1
}
