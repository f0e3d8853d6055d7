#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A source http_sd over TLS: the controller trusts the configured authority, and sends the
# configured certificate, token and header.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v python3 >/dev/null || skip "python3 is not installed"
scratch=$(mktemp -d)
controller=
server=
trap 'end_processes "$controller" "$server"; rm -rf "$scratch"' EXIT

dartctl tls create host localhost 127.0.0.1 --directory "$scratch/tls" >/dev/null
dartctl tls create controller c1 --directory "$scratch/tls" >/dev/null
echo one.two >"$scratch/token"
cat >"$scratch/server.py" <<'END'
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        known = self.headers["Authorization"] == "Bearer one.two" and self.headers["X-Scope"] == "a"
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "28")
        self.end_headers()
        self.wfile.write(b'[{"targets": ["192.0.2.7"]}]')
    def log_message(self, *_):
        pass
tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=sys.argv[1] + "/authorities.pem")
tls.verify_mode = ssl.CERT_REQUIRED
tls.load_cert_chain(sys.argv[1] + "/host.pem", sys.argv[1] + "/host.key")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = tls.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
END
exec 4< <(exec python3 "$scratch/server.py" "$scratch/tls")
server=$!
read -r port <&4

# says SENTENCE LINE...: a controller whose source consists of these lines says SENTENCE
says() {
	local sentence=$1

	shift
	end_processes "$controller"
	printf '%s\n' "sources:" "  - http_sd: https://127.0.0.1:$port/" "$@" >"$scratch/c.yaml"
	: >"$scratch/log"
	dart-controller --config "$scratch/c.yaml" 2>"$scratch/log" >/dev/null &
	controller=$!
	soon grep -q -e "$sentence" "$scratch/log" || { cat "$scratch/log"; return 1; }
}

authority="    authorities: $scratch/tls/authorities.pem"
own=("    certificate: $scratch/tls/controller.pem" "    key: $scratch/tls/controller.key")
secret=("    token_file: $scratch/token" "    headers: {X-Scope: a}")
check "with all of them the source names its agent" says "names 1 agent" "$authority" "${own[@]}" \
	"${secret[@]}"
check "without the authority the server is not trusted" says "does not answer: .*certificate" \
	"${own[@]}" "${secret[@]}"
check "without a certificate the server refuses" says "does not answer: " "$authority" \
	"${secret[@]}"
check "without the token and the header it answers 401" says "answers with status 401" \
	"$authority" "${own[@]}"
end_processes "$controller"
controller=
finish
