#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three commands install a host for callers over TCP, with the packaged unit: the right user owns
# its key, renewal works, and a revoked controller is refused after a reload.
. "$(dirname "$0")/../lib.sh"
tls=/etc/dart/tls

# remote COMMAND: on the machine of the controller, where the authority is
remote() {
	on controller sh -c "$1"
}

# values: one scrape over TCP, with the files in the default places of the controller
values() {
	remote 'timeout 120 dart-controller --transport tcp --json --count 1 main' >/run/scrape &&
		is_true -s '.[0].entries.dartd' /run/scrape
}

# eventually COMMAND...: within two minutes; otherwise prints the log of the controller
eventually() {
	local end=$((SECONDS + 120))

	until "$@"; do
		if [ "$SECONDS" -ge "$end" ]; then
			cat /run/controller.log
			return 1
		fi
		sleep 0.1
	done
}

# refused TEXT: the log of a controller, which keeps trying, contains TEXT
refused() {
	eventually grep -q -a -e "$1" /run/controller.log
}

install_host() {
	remote 'dartctl tls create host main 10.77.0.1 --output -' | dartctl tls install -
}

configure() {
	printf 'tcp: {}\nallow: {callers: [10.77.0.0/24]}\n' >/etc/dart/dartd.yaml &&
		systemctl restart dartd
}

renew_host() {
	remote "dartctl tls renew main --output - $*" | dartctl tls install - --replace &&
		systemctl reload dartd
}

install_list() {
	remote "cat $tls/revoked.pem" | dartctl tls install -
}

# owner FILE OWNER:GROUP MODE
owner() {
	[ "$(stat -c '%U:%G %a' "$1")" = "$2 $3" ]
}

says() {
	dartctl -j doctor >/run/findings
	is_true --arg result "$1" '.[] | select(.check == "certificate").result == $result' \
		/run/findings
}

# connected COUNT: COUNT callers are connected over TCP
connected() {
	eventually sh -c "dartctl -j status | is_true '(.tcp_callers | length) == $1'"
}

rm -rf $tls
remote "rm -rf $tls; mkdir -p /etc/dart; grep -q ^dart-controller: /etc/group ||
	echo dart-controller:x:997: >>/etc/group"
check "the controller's machine makes an authority and files of its own" \
	remote 'dartctl tls create controller monitor'
check "first command: the host gets its files" install_host
check "its group may read the key of dartd, and no other users" owner $tls/host.key root:dart 640
check "all may read the certificate" owner $tls/host.pem root:root 644
check "the key of the authority stays where it is" [ ! -e $tls/authority ]
check "second command: dartd serves callers" configure
check "third command: the controller reads the host" values
check "the doctor says how long the certificate is valid" says ok

check "it is renewed for ten days" renew_host --days 10
check "the renewed key has the same owner" owner $tls/host.key root:dart 640
check "the controller reads the host with it" values
check "the doctor warns before it expires" says warn
check "it is renewed for a year" renew_host
check "the doctor is content" says ok

remote 'echo "agents: [{host: main, transport: tcp}]" >/run/controller.yaml'
remote 'exec dart-controller --config /run/controller.yaml --json' >/run/lines 2>>/run/controller.log &
controller=$!
check "a controller stays connected" connected 1
check "its certificate is revoked" remote 'dartctl tls revoke monitor'
check "the host gets the list" install_list
check "dartd reads it again" systemctl reload dartd
check "the controller is told that its certificate is refused" \
	refused 'refuses the certificate of this side'
check "it is no longer connected" connected 0
refuse "no other connection of it is accepted" 'refuses the certificate of this side' \
	remote 'timeout 120 dart-controller --transport tcp --json --count 1 main'

check "the controller's machine gets another certificate" \
	remote 'dartctl tls create controller monitor2 --replace'
check "the controller reads its files again" \
	remote 'kill -HUP $(pidof dart-controller)'
check "it is connected again" connected 1
check "the host's certificate is revoked" remote 'dartctl tls revoke main'
check "the controller reads the list" remote 'kill -HUP $(pidof dart-controller)'
check "dartd starts again, so that all connect again" systemctl restart dartd
: >/run/controller.log
check "the controller refuses the host" refused 'certificate is refused'
remote 'kill $(pidof dart-controller)'
wait $controller
rm -f /etc/dart/dartd.yaml
systemctl stop dartd
finish
