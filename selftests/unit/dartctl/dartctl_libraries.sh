#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dartctl starts without GnuTLS, and runs the commands that need it in dartctl-tls.
. "$(dirname "$0")/../../lib.sh"

bin=$tests/../.output/bin
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# loads PROGRAM LIBRARY
loads() {
	ldd "$bin/$1" | grep "$2"
}

lacks_libraries() {
	! loads dartctl libgnutls && ! loads dartctl libsystemd
}

check "dartctl-tls loads GnuTLS" loads dartctl-tls libgnutls
check "dartctl loads neither GnuTLS nor libsystemd, with which it would take twice as long to start" \
	lacks_libraries
refuse "a command of dartctl-tls has the name dartctl in its messages" "^dartctl: 'tls list' takes no operand" \
	"$bin/dartctl" tls list one
refuse "an abbreviated command runs there, too, with its options" '^{"error":"ENOENT","message":' \
	"$bin/dartctl" -j tl lis --directory "$copy/absent"
cp "$bin/dartctl" "$copy"
refuse "without dartctl-tls such a command says which file is missing" \
	"^dartctl: cannot run $copy/../libexec/dart/dartctl-tls" "$copy/dartctl" tls list
check "others run all the same" "$copy/dartctl" help
finish
