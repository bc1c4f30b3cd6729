#!/bin/sh
# debian-root.sh SUITE ARCH ROOT PACKAGE... - unpack Debian packages and all they need into the folder ROOT,
# a tree that programs can see as / by chroot. For suites and CPUs that are not this machine's own, whose
# packages stay as they are. ROOT.apt holds apt's state; its messages are in ROOT.apt/log.
# With DEPENDS=no only the packages themselves. Exit 1: they cannot be had.

suite=$1 arch=$2 root=$3
shift 3
apt=$root.apt
mkdir -p "$root" "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/none" || exit 1
root=$(readlink -f "$root") apt=$(readlink -f "$apt")

ask_apt() { # apt-get with a state of its own
	apt-get -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
		-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts="$apt/none" \
		-o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Debug::NoLocking=1 "$@" </dev/null >>"$apt/log" 2>&1
}

archive() { # where this machine gets Debian packages from
	cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n 's/^URIs: *\([^ ]*debian\)\/*\( .*\)*$/\1/p' | head -n 1 | grep . ||
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
		sed -n 's/^deb \(\[[^]]*\] \)*\([^ ]*debian\)\/* .*/\2/p' | head -n 1
}

open_archive() { # once
	[ ! -e "$apt/opened" ] || return 0
	: > "$apt/status"
	uri=$(archive)
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -n "$uri" ] && [ -f "$key" ] && command -v dpkg-deb >/dev/null || return 1
	echo "deb [arch=$arch signed-by=$key] $uri $suite main" > "$apt/sources.list"
	ask_apt update && : > "$apt/opened"
}

fetch() { # into apt's cache
	if [ "$DEPENDS" = no ]; then
		(cd "$apt/cache/archives" && ask_apt download "$@")
	else
		ask_apt install -y --download-only --no-install-recommends "$@"
	fi
}

open_archive && fetch "$@" || exit 1
mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin" "$root/usr/sbin" "$root/tmp" "$root/proc" \
	"$root/dev" || exit 1
chmod 1777 "$root/tmp"
for dir in lib lib64 bin sbin; do
	[ -L "$root/$dir" ] || ln -s "usr/$dir" "$root/$dir"
done
# What package scripts would make (certificates and such) is not there.
for deb in "$apt"/cache/archives/*.deb; do
	[ -e "$deb.unpacked" ] && continue
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink && : > "$deb.unpacked"
done
