// SPDX-License-Identifier: GPL-2.0-only
/* Callers over TCP: the answers that they get, and the callers that are refused. */
#include <netinet/tcp.h>

#include "serve_tcp.h"

/* ---- callers as they should be */

static void test_values(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_client *client = connect_to(fixture);
	uint8_t bytes[SERVED_TABLE_MAX];
	struct dart_error error;
	struct dart_endpoint_path path;
	struct seen_table seen;
	uint64_t uncertainty_ns = 0, asked;
	int64_t offset_ns = 0;
	uint32_t used;
	int i;

	/* Both ends use the same clock. */
	dart_rpc_client__clock(client, &offset_ns, &uncertainty_ns);
	assert_true(uncertainty_ns > 0 && (uint64_t)llabs(offset_ns) <= uncertainty_ns);
	dart_rpc_client__path(client, &path);
	assert_string_equal(path.source, "127.0.0.1");
	assert_string_equal(path.destination, "127.0.0.1");
	assert_int_equal(dart_rpc_client__window(client), 65536);
	used = dart_rpc_client__welcome(client)->used;
	assert_int_equal(used, fixture->host->control_region.used);
	assert_int_equal(dart_rpc_client__get_table(client, bytes, used, &error), 0);
	assert_int_equal(dart_rpc_client__get_table(client, bytes, used, &error), -EBUSY);
	expect(fixture, client, DART_RPC_CLIENT_ANSWERED);
	assert_int_equal(dart_rpc_client__length(client), used);
	seen_table__open(&seen, bytes, used, NULL, 0);
	asked = counts.bytes;
	for (i = 0; i < 100; i++) {
		served_memory.large[i]++;
		assert_int_equal(
			dart_rpc_client__get_values(client, seen.plan, seen.landing, &error), 0);
		expect(fixture, client, DART_RPC_CLIENT_ANSWERED);
		seen_table__expect_landed(&seen, NULL, 0, 0);
	}
	assert_int_equal(dart_rpc_plan__requests(seen.plan), 1);
	assert_int_equal(counts.bytes - asked, 100 * dart_rpc_plan__answer_size(seen.plan));
	served_host__change(fixture->host, true);
	assert_int_equal(dart_rpc_client__get_values(client, seen.plan, seen.landing, &error), 0);
	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_STALE);
	assert_int_equal(counts.requests, 102);
	assert_int_equal(counts.peers.connected, 1);
	seen_table__close(&seen);
	dart_rpc_client__free(client);
	run_agent(fixture);
	assert_int_equal(counts.peers.connected, 0);
}

/* A change wakes the agent, which tells it once for each request. */
static void test_change(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_client *client = connect_to(fixture);
	const uint32_t used = dart_rpc_client__welcome(client)->used;
	struct tcp_peer *peer = TAILQ_FIRST(&fixture->listener.peers.list);
	uint8_t bytes[SERVED_TABLE_MAX];
	struct dart_error error;
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(dart_rpc_client__follow_table(client, bytes, used, &error), 0);
		expect(fixture, client, DART_RPC_CLIENT_ANSWERED);
		served_host__change(fixture->host, false);
		expect(fixture, client, DART_RPC_CLIENT_CHANGED);
	}
	/* An agent that tells it again breaks a rule. */
	dart_rpc_stream__put(peer->stream,
			     dart_rpc__put_changed(dart_rpc_stream__out(peer->stream), 3));
	sd_event_source_set_io_events(peer->events, EPOLLOUT);
	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_DISCONNECTED);
	assert_non_null(strstr(error.text, "more often"));
	dart_rpc_client__free(client);
	run_agent(fixture);
}

static void test_idle(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_client *client = connect_to(fixture);

	run_agent(fixture);
	assert_int_equal(leases__count(&fixture->listener.peers.deadlines), 0);
	assert_int_equal(sd_event_run(fixture->loop, 200000), 0);
	dart_rpc_client__free(client);
}

static void test_ip(void **state)
{
	struct fixture *fixture = *state;
	struct dart_tls *tls = tls_of(known, "127.0.0.1", known);
	struct dart_rpc_client *client = connect_as(fixture, tls, AGENT);

	expect(fixture, client, DART_RPC_CLIENT_CONNECTED);
	dart_rpc_client__free(client);
	dart_tls__put(tls);
}

/* ---- callers that are refused */

static void test_authority(void **state)
{
	struct dart_tls *tls = tls_of(unknown, CALLER, known);

	expect_failed(*state, tls, AGENT, -EACCES, "refuses the certificate of this side");
	assert_int_equal(refused.handshakes, 1);
	dart_tls__put(tls);
}

static void test_subject(void **state)
{
	struct dart_tls *tls = tls_of(known, "stranger.example", known);

	expect_failed(*state, tls, AGENT, -EACCES, "refuses the certificate of this side");
	assert_int_equal(refused.handshakes, 1);
	dart_tls__put(tls);
}

static void test_expired(void **state)
{
	struct dart_tls *tls = tls_of(known, "expired", known);

	expect_failed(*state, tls, AGENT, -EACCES, "refuses the certificate of this side");
	dart_tls__put(tls);
}

/* It is a subject, but not as the subjectAltName of a certificate. */
static void test_common_name(void **state)
{
	struct dart_tls *tls = tls_of(known, "common.name", known);

	expect_failed(*state, tls, AGENT, -EACCES, "refuses the certificate of this side");
	assert_int_equal(refused.handshakes, 1);
	dart_tls__put(tls);
}

static void test_agent(void **state)
{
	struct fixture *fixture = *state;
	struct dart_tls *tls = tls_of(known, CALLER, unknown);

	expect_failed(fixture, fixture->tls, "another.example", -EACCES, "for another name");
	expect_failed(fixture, fixture->tls, NULL, -EACCES, "for another name");
	expect_failed(fixture, tls, AGENT, -EACCES, "certificate is refused");
	dart_tls__put(tls);
}

static void test_address(void **state)
{
	struct fixture *fixture = *state;

	dart_prefixes__clear(&fixture->allowed);
	fixture->allowed.is_given = true;
	expect_failed(fixture, fixture->tls, AGENT, -EACCES,
		      "does not allow the address of this side");
	fixture->allowed.is_given = false;
	expect_failed(fixture, fixture->tls, AGENT, -EACCES,
		      "does not allow the address of this side");
	assert_int_equal(refused.not_allowed, 2);
}

static void test_half_open(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_client *client;
	int fds[3], i;

	fixture->listener.admission.half_open = 2;
	for (i = 0; i < 3; i++)
		fds[i] = connect_socket(fixture);
	assert_int_equal(fixture->listener.peers.count, 2);
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[1]));
	client = connect_to(fixture);
	assert_true(is_closed(fds[1]));
	assert_false(is_closed(fds[2]));
	assert_int_equal(refused.handshakes, 2);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	dart_rpc_client__free(client);
}

/* Callers in their handshakes from one address make room for each other. */
static void test_own_room(void **state)
{
	struct fixture *fixture = *state;
	int other, fds[3], i;

	fixture->listener.admission.half_open = 2;
	other = connect_socket_from(fixture, 2);
	for (i = 0; i < 3; i++)
		fds[i] = connect_socket(fixture);
	assert_false(is_closed(other));
	assert_true(is_closed(fds[0]));
	assert_true(is_closed(fds[1]));
	assert_false(is_closed(fds[2]));
	assert_int_equal(refused.handshakes, 2);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	close(other);
}

/* A connection from @text, an IPv6 address; returns the other end. */
static int connect_from_v6(struct fixture *fixture, const char *text)
{
	struct tcp_listener *listener = &fixture->listener;
	struct sockaddr_storage address = {};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
	int ends[2];

	v6->sin6_family = AF_INET6;
	assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
	assert_null(tcp_listener__refuse(listener, &address));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(
		tcp_peer__new(&listener->peers, ends[0], &address, listener->tls, subjects, 1), 0);
	return ends[1];
}

/* A network contains more addresses than the agent accepts connections. */
static void test_own_network(void **state)
{
	struct fixture *fixture = *state;
	struct dart_prefix prefix;
	struct dart_error error;
	int others[2], fds[3], i;

	assert_int_equal(dart_prefix__parse(&prefix, "fd00::/16", &error), 0);
	assert_int_equal(dart_prefixes__add(&fixture->allowed, &prefix), 0);
	fixture->listener.admission.half_open = 3;
	others[0] = connect_from_v6(fixture, "fd00:0:0:1::1");
	others[1] = connect_socket(fixture);
	fds[0] = connect_from_v6(fixture, "fd00:0:0:2::1");
	fds[1] = connect_from_v6(fixture, "fd00:0:0:2::2");
	fds[2] = connect_from_v6(fixture, "fd00:0:0:2:8::");
	assert_false(is_closed(others[0]));
	assert_false(is_closed(others[1]));
	assert_true(is_closed(fds[0]));
	assert_true(is_closed(fds[1]));
	assert_false(is_closed(fds[2]));
	for (i = 0; i < 3; i++)
		close(fds[i]);
	close(others[0]);
	close(others[1]);
}

/* Acts as if each address had just begun many handshakes. */
static void test_rate(void **state)
{
	struct fixture *fixture = *state;
	struct handshake_rates *rates = &fixture->listener.rates;
	int fd, i;

	for (i = 0; i < HANDSHAKE_RESERVES; i++)
		rates->of_addresses[i] = INT64_MAX / 2;
	fd = connect_socket(fixture);
	assert_true(is_closed(fd));
	close(fd);
	assert_int_equal(refused.limited, 1);
	assert_int_equal(handshake_rates__open(rates, HANDSHAKES_PER_SECOND,
					       HANDSHAKES_PER_SECOND_OF_ADDRESS),
			 0);
	dart_rpc_client__free(connect_to(fixture));
}

static void test_limit(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_client *clients[2];
	int fd;

	fixture->listener.admission.most = 2;
	clients[0] = connect_to(fixture);
	clients[1] = connect_to(fixture);
	fd = connect_socket(fixture);
	assert_true(is_closed(fd));
	assert_int_equal(refused.limited, 1);
	fixture->listener.admission.most = 0;
	fixture->listener.admission.per_address = 2;
	close(fd);
	fd = connect_socket(fixture);
	assert_true(is_closed(fd));
	assert_int_equal(refused.limited, 2);
	close(fd);
	dart_rpc_client__free(clients[0]);
	dart_rpc_client__free(clients[1]);
}

/* The kernel's settings for connections that are silent, or do not take their bytes. */
static void test_socket(void **state)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 60 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 90000 },
	};
	struct fixture *fixture = *state;
	struct dart_rpc_client *client = connect_to(fixture);
	const int fd = TAILQ_FIRST(&fixture->listener.peers.list)->fd;
	socklen_t size = sizeof(int);
	int value;
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		assert_int_equal(getsockopt(fd, options[i].level, options[i].name, &value, &size),
				 0);
		assert_int_equal(value, options[i].value);
	}
	dart_rpc_client__free(client);
}

/* A connection that ends for another reason than that the peer closes it. */
static void test_broken(void **state)
{
	struct fixture *fixture = *state;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct dart_tls_stream *stream;
	struct dart_error error = {};

	assert_int_equal(dart_tls_stream__open(fixture->tls, fd, true, NULL, 0, &stream, &error),
			 0);
	assert_int_equal(dart_tls_stream__handshake(stream, &error), -ECONNRESET);
	assert_non_null(strstr(error.text, strerror(ENOTCONN)));
	dart_tls_stream__free(stream);
	close(fd);
}

static void test_files(void **state)
{
	struct dart_tls *tls;
	struct dart_error error;
	struct pem pem;

	files_of(&pem, known, AGENT, known);
	pem.files.key = pem.certificate;
	assert_int_equal(dart_tls__load(&pem.files, &tls, &error), -EINVAL);
	pem.files.key = pem.key;
	assert_int_equal(chmod(pem.key, 0644), 0);
	assert_int_equal(dart_tls__load(&pem.files, &tls, &error), -EPERM);
	assert_non_null(strstr(error.text, "every user may use the key"));
	assert_int_equal(chmod(pem.key, 0600), 0);
	pem.files.authorities = "/dev/null";
	assert_int_equal(dart_tls__load(&pem.files, &tls, &error), -EINVAL);
	pem.files.authorities = "/absent";
	assert_int_equal(dart_tls__load(&pem.files, &tls, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/absent"));
	files_of(&pem, known, AGENT, known);
	pem.files.certificate = "/absent";
	assert_int_equal(dart_tls__load(&pem.files, &tls, &error), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller that follows the table is told of each change", test_change,
			     open_fixture, close_fixture),
		TEST_FIXTURE("a caller with a certificate gets the table and values as READs would land them",
			     test_values, open_fixture, close_fixture),
		TEST_FIXTURE("the agent sleeps while a caller is idle",
			     test_idle, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate without a DNS name is for its IP address",
			     test_ip, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate of another authority is refused, and the caller is told",
			     test_authority, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate for a name that is not in the list is refused",
			     test_subject, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate with a name of the list as its common name only is refused",
			     test_common_name, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate that has expired is refused",
			     test_expired, open_fixture, close_fixture),
		TEST_FIXTURE("a caller refuses an agent with a certificate for another name or of another authority",
			     test_agent, open_fixture, close_fixture),
		TEST_FIXTURE("an address that is not in the list is refused before TLS, without a list every one",
			     test_address, open_fixture, close_fixture),
		TEST_FIXTURE("the oldest connection in its handshake makes room for others",
			     test_half_open, open_fixture, close_fixture),
		TEST_FIXTURE("connections in their handshake make room for those from the same address first",
			     test_own_room, open_fixture, close_fixture),
		TEST_FIXTURE("connections from addresses of one IPv6 network make room for each other",
			     test_own_network, open_fixture, close_fixture),
		TEST_FIXTURE("an address that begins too many handshakes is refused",
			     test_rate, open_fixture, close_fixture),
		TEST_FIXTURE("one caller more than the limits allow, in all or of an address, is refused",
			     test_limit, open_fixture, close_fixture),
		TEST_FIXTURE("connections that leave bytes unacknowledged for 90 s are ended by the kernel",
			     test_socket, open_fixture, close_fixture),
		TEST_FIXTURE("a connection that breaks is told in the words of its error",
			     test_broken, open_fixture, close_fixture),
		TEST("files that are absent, empty, no pair, or open to every user are refused by name",
		     test_files),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
