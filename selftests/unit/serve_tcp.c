// SPDX-License-Identifier: GPL-2.0-only
/* Callers by TCP: what they get, who is refused, and what a reload changes. */
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

	/* Both ends have the same clock. */
	dart_rpc_client__clock(client, &offset_ns, &uncertainty_ns);
	assert_true(uncertainty_ns > 0 &&
		    (uint64_t)llabs(offset_ns) <= uncertainty_ns);
	dart_rpc_client__path(client, &path);
	assert_string_equal(path.source, "127.0.0.1");
	assert_string_equal(path.destination, "127.0.0.1");
	assert_int_equal(dart_rpc_client__window(client), 65536);
	used = dart_rpc_client__welcome(client)->used;
	assert_int_equal(used, fixture->host->control_region.used);
	assert_int_equal(dart_rpc_client__get_table(client, bytes, used, &error),
			 0);
	assert_int_equal(dart_rpc_client__get_table(client, bytes, used, &error),
			 -EBUSY);
	expect(fixture, client, DART_RPC_CLIENT_ANSWERED);
	assert_int_equal(dart_rpc_client__length(client), used);
	seen_table__open(&seen, bytes, used, NULL, 0);
	asked = counts.bytes;
	for (i = 0; i < 100; i++) {
		served_memory.large[i]++;
		assert_int_equal(dart_rpc_client__get_values(client, seen.plan,
							     seen.landing,
							     &error),
				 0);
		expect(fixture, client, DART_RPC_CLIENT_ANSWERED);
		seen_table__expect_landed(&seen, NULL, 0, 0);
	}
	assert_int_equal(dart_rpc_plan__requests(seen.plan), 1);
	assert_int_equal(counts.bytes - asked,
			 100 * dart_rpc_plan__answer_size(seen.plan));
	served_host__change(fixture->host, true);
	assert_int_equal(dart_rpc_client__get_values(client, seen.plan,
						     seen.landing, &error),
			 0);
	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_STALE);
	assert_int_equal(counts.requests, 102);
	assert_int_equal(counts.peers.connected, 1);
	seen_table__close(&seen);
	dart_rpc_client__free(client);
	run_agent(fixture);
	assert_int_equal(counts.peers.connected, 0);
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

/* ---- callers that are refused */

static void test_authority(void **state)
{
	struct dart_tls *tls = tls_of(unknown, CALLER, known);

	expect_failed(*state, tls, AGENT, -EACCES,
		      "refuses the certificate of this side");
	assert_int_equal(refused.handshakes, 1);
	dart_tls__put(tls);
}

static void test_subject(void **state)
{
	struct dart_tls *tls = tls_of(known, "stranger.example", known);

	expect_failed(*state, tls, AGENT, -EACCES,
		      "refuses the certificate of this side");
	assert_int_equal(refused.handshakes, 1);
	dart_tls__put(tls);
}

static void test_expired(void **state)
{
	struct dart_tls *tls = tls_of(known, "expired", known);

	expect_failed(*state, tls, AGENT, -EACCES,
		      "refuses the certificate of this side");
	dart_tls__put(tls);
}

static void test_agent(void **state)
{
	struct fixture *fixture = *state;
	struct dart_tls *tls = tls_of(known, CALLER, unknown);

	expect_failed(fixture, fixture->tls, "another.example", -EACCES,
		      "for another name");
	expect_failed(fixture, fixture->tls, NULL, -EACCES, "for another name");
	expect_failed(fixture, tls, AGENT, -EACCES, "certificate is refused");
	dart_tls__put(tls);
}

static void test_address(void **state)
{
	struct fixture *fixture = *state;

	dart_prefixes__clear(&fixture->allowed);
	fixture->allowed.is_given = true;
	expect_failed(fixture, fixture->tls, AGENT, -ECONNRESET, "closed");
	fixture->allowed.is_given = false;
	expect_failed(fixture, fixture->tls, AGENT, -ECONNRESET, "closed");
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

/* Those from one address in their handshakes make room for each other. */
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

/* As if each address had begun many handshakes just now. */
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
	assert_int_equal(handshake_rates__open(rates), 0);
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

/* ---- reloading */

static void test_reload(void **state)
{
	static const char *const others[] = { "another.example" };
	struct fixture *fixture = *state;
	struct tcp_admission admission = fixture->admission;
	struct dart_rpc_client *client = connect_to(fixture), *late;
	struct dart_error error;
	struct pem pem;

	/* The same with other certificates: who is connected stays. */
	admission.files = *files_of(&pem, unknown, AGENT, known);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission,
					     &error),
			 0);
	assert_int_equal(counts.peers.connected, 1);
	late = connect_as(fixture, fixture->tls, AGENT);
	assert_int_equal(await(fixture, late, &error), DART_RPC_CLIENT_FAILED);
	dart_rpc_client__free(late);
	/* Files that are not there: those of before are used. */
	admission.files = *files_of(&pem, known, "absent", known);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission,
					     &error),
			 -ENOENT);
	assert_non_null(strstr(error.text, "absent"));
	admission.files = fixture->admission.files;
	admission.subjects = others;
	admission.subject_count = 1;
	admission.files = *files_of(&pem, known, AGENT, known);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission,
					     &error),
			 0);
	assert_int_equal(counts.peers.connected, 0);
	assert_int_equal(await(fixture, client, &error),
			 DART_RPC_CLIENT_DISCONNECTED);
	dart_rpc_client__free(client);
}

static void test_authorities(void **state)
{
	struct fixture *fixture = *state;
	struct tcp_admission admission = fixture->admission;
	struct dart_rpc_client *client = connect_to(fixture), *late;
	struct dart_error error;
	struct pem pem;

	admission.files = *files_of(&pem, known, AGENT, unknown);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission,
					     &error),
			 0);
	assert_int_equal(counts.peers.connected, 0);
	assert_int_equal(await(fixture, client, &error),
			 DART_RPC_CLIENT_DISCONNECTED);
	dart_rpc_client__free(client);
	late = connect_as(fixture, fixture->tls, AGENT);
	assert_int_equal(await(fixture, late, &error), DART_RPC_CLIENT_FAILED);
	dart_rpc_client__free(late);
}

/* A start without the certificate: the agent listens after the first reload with it. */
static void test_start(void **state)
{
	struct fixture *fixture = *state;
	struct tcp_listener *listener = &fixture->listener;
	struct tcp_admission admission = fixture->admission;
	const struct tcp_place *place = listener->place;
	struct dart_error error = {};
	struct pem pem;

	tcp_listener__close(listener);
	admission.files = *files_of(&pem, known, "absent", known);
	assert_int_equal(tcp_listener__open(listener, fixture->loop, place,
					    &admission, &fixture->snapshots,
					    &changes, &counts, &refused,
					    &error),
			 0);
	assert_non_null(strstr(listener->failure.text, "absent"));
	assert_int_equal(listener->socket_count, 0);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error),
			 -ENOENT);
	assert_non_null(strstr(listener->failure.text, "absent"));
	admission.files = *files_of(&pem, known, AGENT, known);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error), 0);
	assert_string_equal(listener->failure.text, "");
	dart_rpc_client__free(connect_to(fixture));
}

/* What the kernel does for connections that are silent, or do not take their bytes. */
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
		assert_int_equal(getsockopt(fd, options[i].level,
					    options[i].name, &value, &size),
				 0);
		assert_int_equal(value, options[i].value);
	}
	dart_rpc_client__free(client);
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
		TEST_FIXTURE("a caller with a certificate gets the table and values as READs would land them",
			     test_values, open_fixture, close_fixture),
		TEST_FIXTURE("the agent sleeps while a caller is idle",
			     test_idle, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate of another authority is refused, and the caller is told",
			     test_authority, open_fixture, close_fixture),
		TEST_FIXTURE("a certificate for a name that is not in the list is refused",
			     test_subject, open_fixture, close_fixture),
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
		TEST_FIXTURE("an address that begins too many handshakes is refused",
			     test_rate, open_fixture, close_fixture),
		TEST_FIXTURE("one caller more than the limits allow, in all or of an address, is refused",
			     test_limit, open_fixture, close_fixture),
		TEST_FIXTURE("after a reload new certificates are used, and callers that may no longer connect end",
			     test_reload, open_fixture, close_fixture),
		TEST_FIXTURE("after a reload with other authorities all callers have to come again",
			     test_authorities, open_fixture, close_fixture),
		TEST_FIXTURE("an agent that starts without its certificate listens after a reload with it",
			     test_start, open_fixture, close_fixture),
		TEST_FIXTURE("connections that leave bytes unacknowledged for 90 s are ended by the kernel",
			     test_socket, open_fixture, close_fixture),
		TEST("files that are absent, empty, no pair, or open to every user are refused by name",
		     test_files),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
