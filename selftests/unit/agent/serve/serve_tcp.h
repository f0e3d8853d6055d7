/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of the tests of callers over TCP: an agent that listens at the loopback,
 * and certificates, both ends in this process.
 */
#ifndef SERVE_TCP_H
#define SERVE_TCP_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/rpc/client.h>
#include <libdart/rpc/stream.h>

#include "agent/serve/tcp_listener.h"
#include "selftests/lib/tls_files.h"
#include "served_host.h"

#define AGENT "agent.example"
#define CALLER "caller.example"

/* The authority that the agent knows, and an unknown one. */
static char known[64], unknown[64];

static const char *const subjects[] = { CALLER, "expired", "common.name", "127.0.0.1" };

static struct serve_counts counts;
static struct tcp_counts refused;
static struct changes changes;

struct fixture {
	struct served_host *host;
	struct snapshots snapshots;
	sd_event *loop;
	struct dart_prefixes allowed;
	struct tcp_admission admission;
	struct tcp_listener listener;
	struct dart_tls *tls;	/* of the caller */
};

struct pem {
	char certificate[128], key[128], authority[128];
	struct dart_tls_files files;
};

/* The files of @name in @directory, which trusts the authorities in @authorities. */
static inline const struct dart_tls_files *files_of(struct pem *pem, const char *directory,
						    const char *name, const char *authorities)
{
	snprintf(pem->certificate, sizeof(pem->certificate), "%s/%s.pem", directory, name);
	snprintf(pem->key, sizeof(pem->key), "%s/%s.key", directory, name);
	snprintf(pem->authority, sizeof(pem->authority), "%s/authority.pem", authorities);
	pem->files = (struct dart_tls_files){
		.certificate = pem->certificate,
		.key = pem->key,
		.authorities = pem->authority,
	};
	return &pem->files;
}

static inline struct dart_tls *tls_of(const char *directory, const char *name,
			       const char *authorities)
{
	struct dart_error error = {};
	struct dart_tls *tls;
	struct pem pem;

	if (dart_tls__load(files_of(&pem, directory, name, authorities), &tls, &error))
		fail_msg("%s", error.text);
	return tls;
}

static inline uint16_t port_of(const struct fixture *fixture)
{
	struct sockaddr_in6 address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(fixture->listener.sockets[0].fd,
				     (struct sockaddr *)&address, &size),
			 0);
	return ntohs(address.sin6_port);
}

static inline int open_fixture(void **state)
{
	static char loopback[] = "127.0.0.1";
	static char *addresses[] = { loopback };
	static const struct tcp_place place = { .addresses = addresses, .count = 1 };
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct dart_prefix prefix;
	struct dart_error error;
	struct pem pem;

	assert_non_null(fixture);
	counts = (struct serve_counts){};
	refused = (struct tcp_counts){};
	fixture->host = served_host__new();
	assert_true(sd_event_new(&fixture->loop) >= 0);
	fixture->allowed.is_given = true;
	assert_int_equal(dart_prefix__parse(&prefix, "127.0.0.0/8", &error), 0);
	assert_int_equal(dart_prefixes__add(&fixture->allowed, &prefix), 0);
	fixture->admission = (struct tcp_admission){
		.files = *files_of(&pem, known, AGENT, known),
		.subjects = subjects,
		.subject_count = 4,
		.allowed = &fixture->allowed,
	};
	changes__open(&changes);
	snapshots__open(&fixture->snapshots, &fixture->host->control_region);
	if (tcp_listener__open(&fixture->listener, fixture->loop, &place, &fixture->admission,
			       &fixture->snapshots, &changes, &counts, &refused, &error))
		fail_msg("%s", error.text);
	assert_string_equal(fixture->listener.failure.text, "");
	fixture->tls = tls_of(known, CALLER, known);
	*state = fixture;
	return 0;
}

static inline int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	tcp_listener__close(&fixture->listener);
	assert_int_equal(counts.peers.connected, 0);
	dart_tls__put(fixture->tls);
	sd_event_unref(fixture->loop);
	dart_prefixes__clear(&fixture->allowed);
	served_host__free(fixture->host);
	free(fixture);
	return 0;
}

/* The agent does all that it can do now. */
static inline void run_agent(struct fixture *fixture)
{
	while (sd_event_run(fixture->loop, 0) > 0)
		;
}

/* Waits for the agent or for the descriptors of the caller. */
static inline void wait_for(struct fixture *fixture, struct pollfd *descriptors, unsigned int count)
{
	run_agent(fixture);
	descriptors[count] = (struct pollfd){
		.fd = sd_event_get_fd(fixture->loop), .events = POLLIN,
	};
	assert_true(sd_event_prepare(fixture->loop) >= 0);
	assert_true(poll(descriptors, count + 1, 10000) > 0);
	if (sd_event_wait(fixture->loop, 0) > 0)
		sd_event_dispatch(fixture->loop);
}

static inline struct dart_rpc_client *connect_as(struct fixture *fixture,
					  struct dart_tls *tls, const char *name)
{
	struct dart_rpc_client *client;
	struct dart_error error = {};

	if (dart_rpc_client__connect_tcp("127.0.0.1", port_of(fixture), tls, name, &client, &error))
		fail_msg("%s", error.text);
	return client;
}

/* The next event of the client but NOTHING. */
static inline enum dart_rpc_client_event
await(struct fixture *fixture, struct dart_rpc_client *client, struct dart_error *error)
{
	enum dart_rpc_client_event event;
	struct pollfd descriptors[3];

	for (;;) {
		event = dart_rpc_client__on_ready(client, error);
		if (event != DART_RPC_CLIENT_NOTHING)
			return event;
		wait_for(fixture, descriptors, dart_rpc_client__wait(client, descriptors));
	}
}

static inline void expect(struct fixture *fixture, struct dart_rpc_client *client,
		   enum dart_rpc_client_event event)
{
	struct dart_error error = {};

	if (await(fixture, client, &error) != event)
		fail_msg("another event: %s", error.text);
}

static inline struct dart_rpc_client *connect_to(struct fixture *fixture)
{
	struct dart_rpc_client *client = connect_as(fixture, fixture->tls, AGENT);

	expect(fixture, client, DART_RPC_CLIENT_CONNECTED);
	return client;
}

/* The caller does not connect, for a reason with these words. */
static inline void expect_failed(struct fixture *fixture, struct dart_tls *tls,
			  const char *name, int failure, const char *words)
{
	struct dart_rpc_client *client = connect_as(fixture, tls, name);
	struct dart_error error = {};

	assert_int_equal(await(fixture, client, &error), DART_RPC_CLIENT_FAILED);
	assert_int_equal(dart_rpc_client__failure(client), failure);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	dart_rpc_client__free(client);
	run_agent(fixture);
	assert_int_equal(fixture->listener.peers.count, 0);
	assert_int_equal(counts.peers.total, 0);
}

/* From 127.0.0.@source. */
static inline int connect_socket_from(struct fixture *fixture, int source)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port_of(fixture)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	}, own = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffU) + source),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	run_agent(fixture);
	return fd;
}

static inline int connect_socket(struct fixture *fixture)
{
	return connect_socket_from(fixture, 1);
}

/* Has the agent closed the connection? */
static inline bool is_closed(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

	return !got || (got < 0 && errno != EAGAIN);
}

/* ---- the certificates, for all tests of a program */

static inline int make_files(void **state)
{
	static const char *const names[] = { AGENT,	CALLER,	       "stranger.example",
					     "expired", "common.name", "127.0.0.1" };
	const char *directory = getenv("TMPDIR") ?: "/tmp";

	snprintf(known, sizeof(known), "%s/serve_tcp.XXXXXX", directory);
	snprintf(unknown, sizeof(unknown), "%s/serve_tcp.XXXXXX", directory);
	if (!mkdtemp(known) || !mkdtemp(unknown))
		return -1;
	tls_files__make(known, names, 6);
	tls_files__make(unknown, names, 2);
	return 0;
}

static inline int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

static inline int remove_files(void **state)
{
	return nftw(known, remove_one, 4, FTW_DEPTH | FTW_PHYS) ?:
		       nftw(unknown, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

#endif /* SERVE_TCP_H */
