#!/bin/sh
# check-cross.sh [CPU...] - build library and command for other CPUs, and for musl, in $O/cross/<cpu>;
# every warning is an error. `make check-cross` has installed the compilers.
#
# What goes into the library besides libc, libiberty, comes from Debian's package for that CPU.

cd "$(dirname "$0")/.." || exit 1
out=$(readlink -f "${O:-build}")/cross
here=$(uname -m)
failed=

# cpu     prefix                   Debian's architecture and suite
table='
aarch64   aarch64-linux-gnu-       arm64    bookworm
i386      i686-linux-gnu-          i386     bookworm
arm       arm-linux-gnueabihf-     armhf    bookworm
ppc64le   powerpc64le-linux-gnu-   ppc64el  bookworm
s390x     s390x-linux-gnu-         s390x    bookworm
riscv64   riscv64-linux-gnu-       riscv64  trixie
musl      -                        -        -
'

build() { # build CPU VARIABLE=VALUE...
	cpu=$1
	shift
	# Where this machine runs such programs itself, tests/emulated.py steps through them.
	[ "$cpu" != i386 ] || set -- "$@" step
	make --no-print-directory O="$out/$cpu" WERROR=-Werror "$@" all >"$out/$cpu.log" 2>&1
}

liberty() { # liberty ARCH SUITE: unpack libiberty for ARCH
	[ -n "$(find "$out/libs/$1/usr/lib" -name libiberty.a 2>/dev/null)" ] ||
		DEPENDS=no scripts/debian-root.sh "$2" "$1" "$out/libs/$1" libiberty-dev
}

mkdir -p "$out/libs"
while read -r cpu prefix arch suite; do
	[ -n "$cpu" ] || continue
	[ $# = 0 ] || case " $* " in *" $cpu "*) ;; *) continue ;; esac
	if [ "$cpu" = musl ]; then
		# Headers of the kernel and of libiberty are the same for every libc.
		build musl CC=musl-gcc LIBS="/usr/lib/$here-linux-gnu/libiberty.a" CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$here-linux-gnu" STATIC=-static
	elif liberty "$arch" "$suite"; then
		lib=$(find "$out/libs/$arch/usr/lib" -name libiberty.a | head -n 1)
		build "$cpu" CROSS="$prefix" LIBS="$lib" CPPFLAGS="-idirafter $out/libs/$arch/usr/include"
	else
		echo "libiberty for $arch cannot be had from Debian" > "$out/$cpu.log"
		false
	fi && echo "$cpu: built" && continue
	echo "$cpu: FAILED, see $out/$cpu.log"
	grep -m 3 -E 'error:|warning:|undefined|cannot' "$out/$cpu.log"
	failed="$failed $cpu"
done <<END
$table
END
[ -z "$failed" ] || { echo "not built:$failed"; exit 1; }
