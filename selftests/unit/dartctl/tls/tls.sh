#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl tls: an authority, certificates and keys, their modes, renewal and revocation, by
# the verdict of GnuTLS' certtool, or else OpenSSL, about the files.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v openssl >/dev/null || skip "openssl is not installed (Debian package openssl)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dir=$scratch/tls

tls() {
	dartctl tls "$@" --directory "$dir"
}

# verified FILE PURPOSE [OPTION...]: does the authority vouch for the certificate?
verified() {
	openssl verify -CAfile "$dir/authorities.pem" -purpose "$2" "${@:3}" "$1"
}

# named FILE TEXT: among its names
named() {
	openssl x509 -in "$1" -noout -ext subjectAltName | grep -F -e "$2"
}

# mode FILE MODE
mode() {
	[ "$(stat -c %a "$1")" = "$2" ]
}

# fits CERTIFICATE KEY
fits() {
	[ "$(openssl x509 -in "$1" -noout -pubkey)" = "$(openssl pkey -in "$2" -pubout)" ]
}

# with_list: authority and list of revoked certificates in one file
with_list() {
	cat "$dir/authorities.pem" "$dir/revoked.pem" >"$scratch/both"
}

is_revoked() {
	openssl verify -crl_check -CAfile "$scratch/both" "$1" 2>&1 |
		grep -q "certificate revoked"
}

# takes KEY [SETTING]: dartd would start with it and the certificate of this host
takes() {
	cat >"$scratch/dartd.yaml" <<-END
		tcp:
		  listen: [ '127.0.0.1' ]
		  certificate: $dir/host.pem
		  key: $1
		  authorities: $dir/authorities.pem
		  subjects: [ dart-controller ]
		  ${2-}
	END
	chmod 600 "$scratch/dartd.yaml"
	dartd --check --config "$scratch/dartd.yaml"
}

# unchanged COMMAND...: fails, and no file in the directory was replaced
unchanged() {
	local before after

	before=$(find "$scratch" -type f -exec sha256sum {} + | sort)
	"$@" && return 1
	after=$(find "$scratch" -type f -exec sha256sum {} + | sort)
	[ "$before" = "$after" ]
}

umask 000
check "a host has files, and an authority is made" tls create host host1 192.0.2.1 2001:db8::1
check "the authority has signed the certificate, for a server" \
	verified "$dir/host.pem" sslserver
refuse "it is not for a client" "unsupported\|unsuitable" verified "$dir/host.pem" sslclient
check "it has the name" named "$dir/host.pem" DNS:host1
check "it has the address" named "$dir/host.pem" "IP Address:192.0.2.1"
check "it has the IPv6 address" named "$dir/host.pem" "IP Address:2001:DB8:0:0:0:0:0:1"
check "the key is that of the certificate" fits "$dir/host.pem" "$dir/host.key"
check "only its user may read the key of the host" mode "$dir/host.key" 600
check "only he may read that of the authority" mode "$dir/authority/authority.key" 600
check "and its directory" mode "$dir/authority" 700
check "all may read the certificate" mode "$dir/host.pem" 644
check "a controller has files" tls create controller monitor
check "its certificate is for a client" verified "$dir/controller.pem" sslclient
check "it has the name that all controllers have" named "$dir/controller.pem" \
	DNS:dart-controller
check "a dart-flows has files" tls create flows nat
check "its certificate is for a client, too" verified "$dir/flows.pem" sslclient
check "it has the name that all of them have" named "$dir/flows.pem" DNS:dart-flows
check "it has its own name" named "$dir/flows.pem" DNS:nat
check "only its user may read the key" mode "$dir/flows.key" 600
check "the list tells the kinds apart" sh -c "dartctl -j tls list --directory $dir |
	grep -o '\"kind\": *\"[a-z]*\"' | sort | uniq -c | wc -l | grep -x 3"
refuse "a kind that does not exist is refused" "'host', 'controller' or 'flows'" \
	tls create switch nat
refuse "a name twice is refused" "is there already" tls create host host2
check "then nothing is changed" unchanged tls create host host2
check "files for another machine are one file" tls create host host2 --output "$scratch/host2"
check "only its user may read it" mode "$scratch/host2" 600
check "it is not replaced" unchanged tls create host host2 --output "$scratch/host2"
check "they go to stdout as well" sh -c \
	"dartctl tls create host host3 --output - --directory $dir >$scratch/host3 2>/dev/null"
for name in '' . -a a- a..b 'a b' '*.example' $'a\n' $'h\xe9st' dart-controller dart-flows \
	"$(printf 'a%.0s' {1..64})" ../a; do
	check "'$(printf %q "$name")' is no name, and nothing is changed" \
		unchanged tls create host "$name" --output "$scratch/new"
done
check "days beyond the authority's are refused" unchanged \
	tls create host far --days 3651 --output "$scratch/new"

other=$scratch/other
check "another machine installs its file" dartctl tls install "$scratch/host2" --directory "$other"
check "it has the certificate" named "$other/host.pem" DNS:host2
check "it has its key" fits "$other/host.pem" "$other/host.key"
check "it has the authority" cmp "$dir/authorities.pem" "$other/authorities.pem"
check "its key is its user's" mode "$other/host.key" 600
check "without --replace another file does not replace it" unchanged \
	dartctl tls install "$scratch/host3" --directory "$other"
check "stdin is read, and --replace replaces" sh -c \
	"dartctl tls install - --replace --directory $other <$scratch/host3"
check "now it has that name" named "$other/host.pem" DNS:host3
# installed_at_once: two files in one directory by 32 commands; each succeeds
installed_at_once() {
	local i pids ok=0

	for i in {1..32}; do
		dartctl tls install "$scratch/host$((2 + i % 2))" --replace \
			--directory "$scratch/at-once" >"$scratch/at-once.$i" 2>&1 &
		pids[i]=$!
	done
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" && continue
		cat "$scratch/at-once.$i"
		ok=1
	done
	return "$ok"
}

check "32 commands that run at once all install their files" installed_at_once
check "the key is that of the certificate afterwards" \
	fits "$scratch/at-once/host.pem" "$scratch/at-once/host.key"
sed '/BEGIN EC/,/END EC/d' "$scratch/host2" >"$scratch/keyless"
head -c 900 "$scratch/host2" >"$scratch/cut"
sed '1,/END CERT/d' "$scratch/host2" >"$scratch/headless"
{
	sed -n '1,/END CERT/p' "$scratch/host3"
	sed '1,/END CERT/d' "$scratch/host2"
} >"$scratch/mixed"
head -c 3000 /dev/urandom >"$scratch/noise"
for file in keyless cut headless mixed noise; do
	check "a file that is $file is refused, and nothing is changed" unchanged \
		dartctl tls install "$scratch/$file" --replace --directory "$other"
done
check "an authority of its own does not replace the other authority" unchanged \
	dartctl tls create host x --directory "$other"

cp "$dir/host.pem" "$scratch/old"
check "a host's files are renewed" tls renew host1
check "with another key" sh -c "! cmp -s $dir/host.pem $scratch/old"
check "which fits" fits "$dir/host.pem" "$dir/host.key"
check "the authority is the same" verified "$dir/host.pem" sslserver
check "the names are the same" named "$dir/host.pem" "IP Address:192.0.2.1"
check "only its user may read the new key" mode "$dir/host.key" 600
check "the files of dart-flows are renewed" tls renew nat
check "they are still its files" named "$dir/flows.pem" DNS:dart-flows
# Both files are complete before the first, the key, gets its name: see tls_files__write().
cp "$dir/host.pem" "$scratch/renewed"
cp "$scratch/old" "$dir/host.pem"
check "a renewal that was killed after it replaced the key leaves files that dartd takes" \
	takes "$dir/host.key"
sed '/BEGIN CERT/,/END CERT/d' "$dir/host.key" >"$scratch/bare.key"
chmod 600 "$scratch/bare.key"
refuse "dartd refuses a key alone that does not fit the certificate" "cannot use the certificate" \
	takes "$scratch/bare.key"
mv "$scratch/renewed" "$dir/host.pem"
refuse "a name that no certificate has is not renewed" "has the name 'absent'" tls renew absent

check "all certificates of a name are revoked" tls revoke host1
check "all may read the list" mode "$dir/revoked.pem" 644
check "the list is put next to the authority" with_list
check "dartd takes the list" takes "$dir/host.key" "revoked: $dir/revoked.pem"
head -c 200 "$dir/revoked.pem" >"$scratch/cut-list"
refuse "dartd --check refuses a list that is cut" "cannot use the revoked certificates" \
	takes "$dir/host.key" "revoked: $scratch/cut-list"
check "the renewed certificate is on it" is_revoked "$dir/host.pem"
check "that of before is on it" is_revoked "$scratch/old"
check "a controller's is not" verified "$dir/controller.pem" sslclient
refuse "a name is revoked once" "has the name 'host1'" tls revoke host1
check "another certificate is added" tls revoke monitor
check "the list is put there again" with_list
check "the controller is on it" is_revoked "$dir/controller.pem"
check "and the host still is" is_revoked "$scratch/old"

# revoked_at_once: 16 names by 16 commands; each succeeds
revoked_at_once() {
	local i pids=() ok=0

	for i in {1..16}; do
		tls create host "at-once$i" --output "$scratch/at-once$i.pem" >/dev/null || return
	done
	for i in {1..16}; do
		tls revoke "at-once$i" >/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || ok=1
	done
	return "$ok"
}

all_are_revoked() {
	local i

	for i in {1..16}; do
		is_revoked "$scratch/at-once$i.pem" || return
	done
}

check "16 names are revoked by commands that run at once" revoked_at_once
check "the list is put there once more" with_list
check "all 16 are on it" all_are_revoked
check "a name is revoked by a command that cannot write the list" sh -c \
	"dartctl tls create host full --output $scratch/full.pem --directory $dir &&
	mkdir $dir/revoked.pem.new && ! dartctl tls revoke full --directory $dir &&
	rmdir $dir/revoked.pem.new"
check "the next one says that it is revoked now" tls revoke full
check "then the list has it" sh -c "cat $dir/authorities.pem $dir/revoked.pem >$scratch/both"
check "and it is refused" is_revoked "$scratch/full.pem"
refuse "only once" "has the name 'full'" tls revoke full
tls create host late --output "$scratch/late.pem" >/dev/null
check "another machine installs the list" \
	dartctl tls install "$dir/revoked.pem" --directory "$other"
check "it is that list" cmp "$dir/revoked.pem" "$other/revoked.pem"
cp "$dir/revoked.pem" "$scratch/older"
check "a file with the list of now is made" tls create host slow --output "$scratch/slow"
check "a name is revoked after that" tls revoke late
check "another machine has the new list" \
	dartctl tls install "$dir/revoked.pem" --directory "$other"
refuse "an older list does not replace it" "is a newer list" \
	dartctl tls install "$scratch/older" --directory "$other"
check "a certificate that was made with an older list is installed" \
	dartctl tls install "$scratch/slow" --replace --directory "$other"
check "it is there" named "$other/host.pem" DNS:slow
check "the newer list stays" cmp "$dir/revoked.pem" "$other/revoked.pem"
dartctl tls create host foe --directory "$scratch/foe" >/dev/null
dartctl tls revoke foe --directory "$scratch/foe" >/dev/null
check "a list that another authority has signed is refused" unchanged \
	dartctl tls install "$scratch/foe/revoked.pem" --directory "$other"

# The key gets its name first: see create() of authority.c.
mkdir -p "$scratch/begun/authority/issued" "$scratch/begun/authority/revoked"
cp "$dir/authority/authority.key" "$scratch/begun/authority"
check "an authority that was killed before it had a certificate is made again" \
	dartctl tls create host first --directory "$scratch/begun"
check "it has signed the certificate" openssl verify -CAfile "$scratch/begun/authorities.pem" \
	"$scratch/begun/host.pem"
mv "$scratch/begun/authorities.pem" "$scratch/authorities.moved"
check "without its certificate an authority that has signed is not replaced" unchanged \
	dartctl tls create host second --output "$scratch/second" --directory "$scratch/begun"
check "the list says who is revoked" sh -c \
	"dartctl -j tls list --directory $dir | gojq -e '[.[] | select(.state == \"revoked\")] | length == 21'"
finish
