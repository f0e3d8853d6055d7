#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Access to a controller: dart-controller serves a replay, over TLS, to clients that know a
# password or a token, and curl asks.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v curl >/dev/null || skip "curl is not installed (Debian package curl)"
command -v openssl >/dev/null || skip "openssl is not installed (Debian package openssl)"
scratch=$(mktemp -d)
controller=
trap 'stop_controller; rm -rf "$scratch"' EXIT

stop_controller() {
	[ -z "$controller" ] && return
	kill "$controller"
	wait "$controller"
	controller=
}

mkfifo "$scratch/messages"
exec 5<>"$scratch/messages"

# serve OPTION...: returns when the last values are served
serve() {
	local message

	stop_controller
	dart-controller replay "$@" --speed max "$scratch/recording" >/dev/null 2>&5 &
	controller=$!
	while read -r -t 20 message <&5; do
		[[ $message != *"all is replayed"* ]] || return 0
	done
	return 1
}

# answered STATUS OPTION...
answered() {
	local status=$1

	shift
	[ "$(curl -s -o "$scratch/page" -w '%{http_code}' -m 10 "$@")" = "$status" ]
}

port=$("$tests/free_ports")
url=127.0.0.1:$port/sd
invent_recording "$scratch/recording" 3 10 2 2>/dev/null
dartctl tls create host localhost 127.0.0.1 --directory "$scratch/tls" >/dev/null
openssl rand -hex 16 >"$scratch/token"
openssl genpkey -algorithm ed25519 -out "$scratch/other.key"
echo "p: ä" >"$scratch/password"

check "a server at loopback starts" serve --listen="127.0.0.1:$port"
check "a name of this host is answered" answered 200 "http://localhost:$port/metrics"
check "a foreign name is refused" answered 403 -H "Host: rebound.example:$port" "$url"
check "the answer says how to allow it" grep -q "names of this output" "$scratch/page"
check "a page of another origin is refused" answered 403 -H "Origin: http://x.example" "$url"

check "a server with a further name starts" serve --listen=":$port" --http-name metrics.example
check "such a name is answered" answered 200 -H "Host: metrics.example" "$url"
check "another one is refused" answered 403 -H "Host: rebound.example" "$url"
check "a name without a dot is refused at loopback" answered 403 -H "Host: rebound" "$url"

check "it asks for a token" serve --listen=":$port" --listen-token-file "$scratch/token"
check "without one nothing is answered" answered 401 "$url"
check "with it, it is" answered 200 -H "Authorization: Bearer $(cat "$scratch/token")" "$url"
check "another one is refused" answered 401 -H "Authorization: Bearer 0123456789abcdef0" "$url"

secret=(--http-user eve --http-password-file "$scratch/password"
	--http-certificate "$scratch/tls/host.pem" --http-key "$scratch/tls/host.key")
tls=(--cacert "$scratch/tls/authorities.pem")
check "it asks for a password, by TLS" serve --listen="127.0.0.1:$port" "${secret[@]}"
check "without one nothing is answered" answered 401 "${tls[@]}" "https://$url"
check "with it, it is" answered 200 "${tls[@]}" -u "eve:p: ä" "https://$url"
check "and by TLS 1.2" answered 200 "${tls[@]}" --tls-max 1.2 -u "eve:p: ä" "https://$url"
refuse "nothing older is spoken" . curl -sS "${tls[@]}" --tls-max 1.1 "https://$url"
check "another user is refused" answered 401 "${tls[@]}" -u "eva:p: ä" "https://$url"
refuse "who does not know the authority is not connected" "certificate" curl -sS "https://$url"
refuse "nothing is answered without TLS" . curl -sSf "http://$url"

check "the page asks for a password, by TLS" serve --web=":$port" "${secret[@]}"
page="https://127.0.0.1:$port/api/hosts"
check "its values need one" answered 401 "${tls[@]}" "$page"
check "with it, they are there" answered 200 "${tls[@]}" -u "eve:p: ä" "$page"
stop_controller

refuse "a key that is not of the certificate is refused" "a PEM certificate and its key" \
	dart-controller replay --listen="127.0.0.1:$port" --http-certificate \
	"$scratch/tls/host.pem" --http-key "$scratch/other.key" "$scratch/recording"
refuse "a certificate without a key is refused" "belong together" dart-controller replay \
	--listen="127.0.0.1:$port" --http-certificate "$scratch/tls/host.pem" "$scratch/recording"
refuse "a user without a password is refused" "belong together" dart-controller replay \
	--listen="127.0.0.1:$port" --http-user eve "$scratch/recording"
: >"$scratch/empty"
refuse "an empty password is refused" "has no password in its first line" \
	dart-controller replay --listen="127.0.0.1:$port" --http-user eve \
	--http-password-file "$scratch/empty" "$scratch/recording"

# Certificates and tokens are exchanged while it runs.
exchange() {
	cp "$scratch/$1/host.pem" "$scratch/$1/host.key" "$scratch/used/" &&
		cp "$scratch/$2" "$scratch/used/token" && kill -HUP "$controller"
}
is_served() {
	[ "$(openssl s_client -connect "127.0.0.1:$port" </dev/null 2>/dev/null |
		openssl x509 -noout -serial)" = "$(openssl x509 -in "$1" -noout -serial)" ]
}
with_token() {
	answered "$1" --cacert "$scratch/$2/authorities.pem" \
		-H "Authorization: Bearer $(cat "$scratch/$3")" "https://$url"
}
dartctl tls create host localhost 127.0.0.1 --directory "$scratch/tls2" >/dev/null
openssl rand -hex 16 >"$scratch/token2"
mkdir "$scratch/used"
cp "$scratch/tls/host.pem" "$scratch/tls/host.key" "$scratch/token" "$scratch/used"
cat >"$scratch/c.yaml" <<-END
	agents: [{host: 192.0.2.1}]
	outputs:
	  - listen: 127.0.0.1:$port
	    certificate: $scratch/used/host.pem
	    key: $scratch/used/host.key
	    token_file: $scratch/used/token
END
dart-controller --config "$scratch/c.yaml" 2>"$scratch/log" &
controller=$!
check "a controller serves by its first certificate" soon is_served "$scratch/tls/host.pem"
check "and takes its first token" with_token 200 tls token
check "both are exchanged" exchange tls2 token2
check "it serves by the second certificate" soon is_served "$scratch/tls2/host.pem"
check "and takes the second token" with_token 200 tls2 token2
check "not the first one" with_token 401 tls2 token
echo nonsense >"$scratch/used/host.pem"
kill -HUP "$controller"
check "a certificate that cannot be used is told" soon grep -q \
	"host.pem.*certificates and secrets stay as they were" "$scratch/log"
check "the one before is served" is_served "$scratch/tls2/host.pem"
check "the metrics tell of it" sh -c "curl -s --cacert '$scratch/tls2/authorities.pem' \
	-H 'Authorization: Bearer $(cat "$scratch/token2")' https://127.0.0.1:$port/-/metrics |
	grep -q '^dart_controller_config_last_reload_successful 0 '"
finish
