#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A receiver over TLS gets the configured certificate and headers, and a signature that follows
# version 4 of the specification of Amazon Web Services; another server to which it redirects gets
# none of them.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
command -v python3 >/dev/null || skip "python3 is not installed"
scratch=$(mktemp -d)
controller=
server=
trap 'end_processes "$controller" "$server"; rm -rf "$scratch"' EXIT

dartctl tls create host localhost 127.0.0.1 --directory "$scratch/tls" >/dev/null
dartctl tls create controller c1 --directory "$scratch/tls" >/dev/null
echo wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY >"$scratch/secret"
cat >"$scratch/server.py" <<'END'
"""Two receivers; prints a line for each request.  The first redirects from /elsewhere to the second."""
import hashlib, hmac, http.server, re, ssl, sys, threading

directory = sys.argv[1]
secret = open(sys.argv[2]).readline().strip()

def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

def is_signed(handler, body):
    """Is the signature right?  The rules of "Create a signed AWS API request"."""
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
                         r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
                         handler.headers["Authorization"] or "")
    if not found:
        return False
    access, day, region, service, names, signature = found.groups()
    names = names.split(";")
    if "host" not in names or names != sorted(names):
        return False
    head = "".join(f"{name}:{(handler.headers[name] or '').strip()}\n" for name in names)
    request = "\n".join([handler.command, handler.path, "", head, ";".join(names),
                         hashlib.sha256(body).hexdigest()])
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", handler.headers["X-Amz-Date"], scope,
                      hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request"):
        key = sign(key, part)
    return (access, region, service) == ("AKIDEXAMPLE", "eu-west-1", "aps") and \
        hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), signature)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        certificate = self.connection.getpeercert()
        name = dict(pair for part in certificate.get("subject", ()) for pair in part) \
            if certificate else {}
        print(self.server.label, self.path, name.get("commonName", "-"),
              self.headers["X-Scope-OrgID"] or "-", self.headers["Authorization"] is not None,
              is_signed(self, body), flush=True)
        elsewhere = self.path == "/elsewhere"
        self.send_response(308 if elsewhere else 200)
        if elsewhere:
            self.send_header("Location", f"https://127.0.0.1:{second.server_port}/second")
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass

def serve(label):
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=directory + "/authorities.pem")
    tls.verify_mode = ssl.CERT_OPTIONAL
    tls.load_cert_chain(directory + "/host.pem", directory + "/host.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.label = label
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever).start()
    return server

second = serve("second")
print(serve("first").server_port, flush=True)
END
python3 "$scratch/server.py" "$scratch/tls" "$scratch/secret" >"$scratch/requests" &
server=$!
check "two receivers listen" soon test -s "$scratch/requests"
port=$(head -n 1 "$scratch/requests")

# runs PATH LINE...: a controller pushes to PATH of the first receiver with these lines
runs() {
	local path=$1

	shift
	end_processes "$controller"
	printf '%s\n' "agents: [{host: 127.0.0.1, port: 1}]" "outputs:" \
		"  - remote_write: https://127.0.0.1:$port$path" "    delay: 0s" \
		"    authorities: $scratch/tls/authorities.pem" "$@" >"$scratch/c.yaml"
	dart-controller --config "$scratch/c.yaml" --transport tcp \
		--tls-certificate "$scratch/tls/controller.pem" --tls-key "$scratch/tls/controller.key" \
		--tls-authorities "$scratch/tls/authorities.pem" 2>"$scratch/log" >/dev/null &
	controller=$!
}

# pushes LINE PATH SETTING...: the receivers print LINE
pushes() {
	local line=$1

	shift
	runs "$@"
	soon grep -q -x -e "$line" "$scratch/requests" || { cat "$scratch/requests" "$scratch/log"; return 1; }
}

# refuses SENTENCE SETTING...: the controller does not start, and says SENTENCE
refuses() {
	local sentence=$1

	shift
	runs /refused "$@"
	! wait "$controller" && grep -q -e "$sentence" "$scratch/log"
	local result=$?
	controller=
	[ "$result" = 0 ] || cat "$scratch/log"
	return "$result"
}

own=("    certificate: $scratch/tls/controller.pem" "    key: $scratch/tls/controller.key")
header="    headers: {X-Scope-OrgID: north}"
sigv4="    sigv4: {region: eu-west-1, access_key: AKIDEXAMPLE, secret_key_file: $scratch/secret}"
check "without settings the receiver gets neither certificate nor headers" \
	pushes "first /plain - - False False" /plain
check "it gets the certificate and the header" \
	pushes "first /own c1 north False False" /own "${own[@]}" "$header"
check "it gets a signature that is right" pushes "first /signed - - True True" /signed "$sigv4"
check "a header belongs to what is signed" \
	pushes "first /both c1 north True True" /both "${own[@]}" "$header" "$sigv4"
check "a server to which it redirects gets none of them" \
	pushes "second /second - - False False" /elsewhere "${own[@]}" "$header" "$sigv4"
check "the redirecting receiver got them" grep -q -x "first /elsewhere c1 north True True" \
	"$scratch/requests"
check "a certificate without its key is refused" refuses "certificate and key belong together" \
	"${own[0]}"
check "a certificate that is missing is refused" refuses "cannot read '/nowhere.pem'" \
	"    certificate: /nowhere.pem" "${own[1]}"
check "a signature and a token are refused" refuses "there is one of token_file, user and sigv4" \
	"$sigv4" "    token_file: $scratch/secret"
check "a signature without a region is refused" \
	refuses "sigv4 needs a region, an access_key and a secret_key_file" "    sigv4: {service: aps}"
check "a region with a colon is refused" refuses "region and service of sigv4 have letters" \
	"    sigv4: {region: 'a:b', access_key: K, secret_key_file: $scratch/secret}"
check "a header of the format is refused" refuses "the header 'Content-Type' is not to be chosen" \
	"    headers: {Content-Type: text/plain}"
check "no secret is in the messages" sh -c "! grep -q wJalr '$scratch/log'"
finish
