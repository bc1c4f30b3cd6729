#!/bin/sh
# release.sh O VERSION ARCH - the archives of a release, in O/release.
#
# Called by `make release` with the compiler's flags in CFLAGS. It builds anew in O/release/build. `make release
# JAR_LIBRARIES=FOLDER` puts libraries of other CPUs into jstrobe.jar: their releases leave them in O/release/libraries,
# as linux-arm64/libjstrobe.so. The same sources, compiler and libraries give the same
# bytes: names sorted, one owner, every time that of the last commit (or SOURCE_DATE_EPOCH).
set -e
out=$1/release version=$2 arch=$3
case $arch in x86_64) short=x64 debian=amd64 ;; aarch64) short=arm64 debian=arm64 ;; *) short=$arch debian=$arch ;; esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022
export LC_ALL=C

name=jstrobe-$version-linux-$short
rm -rf "${out:?}/tree" "$out/deb"
mkdir -p "$out/tree/$name"
rm -f "$out/build/lib/jstrobe.jar" # it may have had other libraries
make -s --no-print-directory O="$out/build" CFLAGS="$CFLAGS" PREFIX="$(realpath "$out")/tree/$name" DESTDIR= install >/dev/null
cp "$out/build/lib/jstrobe.jar" "$out/jstrobe-$version.jar"
rm -rf "$out/libraries"
mkdir -p "$out/libraries/linux-$short"
cp "$out/build/lib/libjstrobe.so" "$out/libraries/linux-$short/"
cp README.md LICENSE CHANGELOG.md "$out/tree/$name/"
cp -r docs "$out/tree/$name/docs"

pack() { # pack ARCHIVE FILE...: from $out/tree
	archive=$1
	shift
	tar -C "$out/tree" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w \
		--mtime="@$SOURCE_DATE_EPOCH" --format=ustar -cf - "$@" | gzip -9n > "$archive.new"
	mv "$archive.new" "$archive"
}
pack "$out/$name.tar.gz" "$name"
mkdir -p "$out/tree/$name-debug/lib"
cp "$out/build/lib/libjstrobe.so.debug" "$out/tree/$name-debug/lib/"
pack "$out/$name-debug.tar.gz" "$name-debug"

# The same files as a Debian package.
if command -v dpkg-deb >/dev/null; then
	root=$out/deb
	mkdir -p "$root/DEBIAN" "$root/usr/share/doc/jstrobe"
	for part in bin lib share; do cp -a "$out/tree/$name/$part" "$root/usr/"; done
	cp -r README.md CHANGELOG.md docs "$root/usr/share/doc/jstrobe/"
	cp LICENSE "$root/usr/share/doc/jstrobe/copyright"
	gzip -9n "$root"/usr/share/man/man*/*
	cat > "$root/DEBIAN/control" <<-END
		Package: jstrobe
		Version: $version
		Architecture: $debian
		Maintainer: the jstrobe project <jstrobe@localhost>
		Depends: libc6 (>= 2.17)
		Section: devel
		Priority: optional
		Description: CPU profiler for HotSpot JVMs
		 Attaches to a running Java program, samples where its CPU time goes, and writes
		 flame graphs, stacks and tables of hot methods.
	END
	chmod -R u+rwX,go+rX,go-w "$root"
	find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz -b "$root" "$out/jstrobe_${version}_$debian.deb" >/dev/null
else
	echo "release: no dpkg-deb here, so no Debian package"
fi
rm -rf "${out:?}/tree" "$out/deb"
(cd "$out" && sha256sum ./*.tar.gz ./*.jar ./*.deb 2>/dev/null > SHA256SUMS; cat SHA256SUMS)
