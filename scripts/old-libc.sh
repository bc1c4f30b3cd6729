#!/bin/sh
# old-libc.sh DEF CPU FOLDER - make what the linker takes for the libraries of an old glibc, in FOLDER: one for each
# library that DEF (src/agent/hooks/libc/old.def) names, with nothing in it but names under their old versions.
# The compiler is $CC.
set -e
def=$1 cpu=$2 out=$3
column=$(awk -v cpu="$cpu" '$2 == "symbol" { for (i = 4; i <= NF; i++) if ($i == cpu) print i - 1 }' "$def")
mkdir -p "$out"
for library in $(awk '!/^#/ && NF { print $2 }' "$def" | sort -u); do
	awk -v library="$library" -v column="$column" '!/^#/ && $2 == library { print $1, $column }' "$def" > "$out/names"
	awk '{ print ".globl " $1 "\n.type " $1 ", %function\n" $1 ":" }' "$out/names" > "$out/names.s"
	awk '{ of[$2] = of[$2] " " $1 ";" } END { for (v in of) print v " { global:" of[v] " };" }' \
		"$out/names" > "$out/names.map"
	$CC -shared -nostdlib -Wl,-soname,"$library" -Wl,--version-script="$out/names.map" \
		-o "$out/$library" "$out/names.s"
done
