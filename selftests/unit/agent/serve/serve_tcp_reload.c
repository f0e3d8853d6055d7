// SPDX-License-Identifier: GPL-2.0-only
/* Callers over TCP: when the agent begins to listen, and the effects of a reload. */
#include "serve_tcp.h"

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
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission, &error), 0);
	assert_int_equal(counts.peers.connected, 1);
	late = connect_as(fixture, fixture->tls, AGENT);
	assert_int_equal(await(fixture, late, &error), DART_RPC_CLIENT_FAILED);
	dart_rpc_client__free(late);
	/* Missing files: the agent keeps using the earlier ones. */
	admission.files = *files_of(&pem, known, "absent", known);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission, &error), -ENOENT);
	assert_non_null(strstr(error.text, "absent"));
	admission.files = fixture->admission.files;
	admission.subjects = others;
	admission.subject_count = 1;
	admission.files = *files_of(&pem, known, AGENT, known);
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission, &error), 0);
	assert_int_equal(counts.peers.connected, 0);
	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_DISCONNECTED);
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
	assert_int_equal(tcp_listener__admit(&fixture->listener, &admission, &error), 0);
	assert_int_equal(counts.peers.connected, 0);
	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_DISCONNECTED);
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
	assert_int_equal(tcp_listener__open(listener, fixture->loop, place, &admission,
					    &fixture->snapshots, &changes, &counts, &refused,
					    &error),
			 0);
	assert_non_null(strstr(listener->failure.text, "absent"));
	assert_int_equal(listener->socket_count, 0);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error), -ENOENT);
	assert_non_null(strstr(listener->failure.text, "absent"));
	admission.files = *files_of(&pem, known, AGENT, known);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error), 0);
	assert_string_equal(listener->failure.text, "");
	dart_rpc_client__free(connect_to(fixture));
}

/* Opens the listener again, which will not listen, for a reason with these words. */
static void open_in_vain(struct fixture *fixture, const struct tcp_place *place,
			 const struct tcp_admission *admission, const char *words)
{
	struct tcp_listener *listener = &fixture->listener;
	struct dart_error error;
	uint64_t now, again;
	int enabled;

	tcp_listener__close(listener);
	assert_int_equal(tcp_listener__open(listener, fixture->loop, place, admission,
					    &fixture->snapshots, &changes, &counts, &refused,
					    &error),
			 0);
	if (!strstr(listener->failure.text, words))
		fail_msg("\"%s\" instead of \"%s\"", listener->failure.text, words);
	assert_true(sd_event_source_get_enabled(listener->resume, &enabled) > 0);
	assert_true(sd_event_source_get_time(listener->resume, &again) >= 0);
	assert_true(sd_event_now(fixture->loop, CLOCK_MONOTONIC, &now) >= 0);
	assert_true(again <= now + 10 * 1000000);
}

/* As if 10 s had passed. */
static void wait_10_s(struct fixture *fixture)
{
	sd_event_source_set_time(fixture->listener.resume, 0);
	run_agent(fixture);
}

/* Neither comes with an event: an address of a host that boots, and a free port. */
static void test_later(void **state)
{
	static char absent[] = "192.0.2.1", loopback[] = "127.0.0.1";
	static char *addresses[] = { absent };
	struct tcp_place place = { .addresses = addresses, .count = 1 };
	struct fixture *fixture = *state;
	struct tcp_listener *listener = &fixture->listener;
	struct tcp_admission admission = fixture->admission;
	struct sockaddr_in taken = { .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(taken);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pem pem;

	admission.files = *files_of(&pem, known, AGENT, known);
	open_in_vain(fixture, &place, &admission, "is it an address of this host?");
	wait_10_s(fixture);
	assert_non_null(strstr(listener->failure.text, "192.0.2.1"));
	addresses[0] = loopback;
	wait_10_s(fixture);
	assert_string_equal(listener->failure.text, "");
	dart_rpc_client__free(connect_to(fixture));
	assert_int_equal(bind(fd, (struct sockaddr *)&taken, size), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&taken, &size), 0);
	place.port = ntohs(taken.sin_port);
	open_in_vain(fixture, &place, &admission, "choose another port");
	close(fd);
	wait_10_s(fixture);
	assert_int_equal(listener->port, place.port);
	dart_rpc_client__free(connect_to(fixture));
}

/* No certificate: the configuration drops "tcp", and then contains it again. */
static void test_removed(void **state)
{
	struct fixture *fixture = *state;
	struct tcp_listener *listener = &fixture->listener;
	struct tcp_admission admission = fixture->admission;
	const struct tcp_admission none = { .allowed = &fixture->allowed };
	struct dart_rpc_client *client = connect_to(fixture);
	struct dart_error error = {};
	struct pem pem;
	int enabled;

	assert_int_equal(tcp_listener__admit(listener, &none, &error), 0);
	assert_int_equal(counts.peers.connected, 0);
	assert_int_equal(listener->socket_count, 0);
	assert_int_equal(listener->port, 0);
	dart_rpc_client__free(client);
	admission.files = *files_of(&pem, known, "absent", known);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error), -ENOENT);
	assert_non_null(strstr(listener->failure.text, "absent"));
	/* The agent does not repeat the failed attempt, and logs nothing of it. */
	assert_int_equal(tcp_listener__admit(listener, &none, &error), 0);
	assert_string_equal(listener->failure.text, "");
	assert_int_equal(sd_event_source_get_enabled(listener->resume, &enabled), 0);
	admission.files = *files_of(&pem, known, AGENT, known);
	assert_int_equal(tcp_listener__admit(listener, &admission, &error), 0);
	dart_rpc_client__free(connect_to(fixture));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("after a reload new certificates are used, and callers that may no longer connect end",
			     test_reload, open_fixture, close_fixture),
		TEST_FIXTURE("after a reload with other authorities all callers have to come again",
			     test_authorities, open_fixture, close_fixture),
		TEST_FIXTURE("an agent that starts without its certificate listens after a reload with it",
			     test_start, open_fixture, close_fixture),
		TEST_FIXTURE("an agent that cannot listen tries it again every 10 s",
			     test_later, open_fixture, close_fixture),
		TEST_FIXTURE("an agent whose configuration no longer has tcp closes its sockets, until that is back",
			     test_removed, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
