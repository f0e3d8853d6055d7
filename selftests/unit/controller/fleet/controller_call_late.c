// SPDX-License-Identifier: GPL-2.0-only
/*
 * A called agent that is late or silent: a thread that says only what the test tells it.
 * There is one credit, so a flow that keeps it stops all others.
 */
#include "controller_called.h"

#include <pthread.h>

#include <libdart/clock.h>

#include "tools/controller/base/schedule.h"

/* Less than the time after which a target is lost for its silence. */

struct late_agent {
	struct controlled *controlled;
	int listener, fd;
	int told; /* eventfd: semaphore of answers that it may give */
	atomic_uint asked; /* requests */
	bool is_old; /* it refuses to tell of changes, and goes on with the next connection */
	uint8_t table[SERVED_TABLE_MAX];
	uint32_t used; /* bytes */
	uint64_t time_ns;
	struct dart_tls *tls; /* of the thread while it runs */
	struct dart_rpc_stream *stream;
	pthread_t thread;
};

/* ---- in the thread; false: the controller is gone */

static bool late_agent__wait(int fd, bool sends)
{
	struct pollfd descriptor = { .fd = fd, .events = sends ? POLLOUT : POLLIN };

	return poll(&descriptor, 1, -1) > 0;
}

static bool late_agent__connect(struct late_agent *agent)
{
	static const char *const names[] = { CALLER };
	struct dart_tls_stream *tls;
	struct dart_error error;
	int ret;

	if (!late_agent__wait(agent->listener, false))
		return false;
	agent->fd = accept4(agent->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (agent->fd < 0 ||
	    dart_tls_stream__open(agent->tls, agent->fd, true, names, 1, &tls, &error))
		return false;
	while (!(ret = dart_tls_stream__handshake(tls, &error)))
		late_agent__wait(agent->fd, dart_tls_stream__waits_to_send(tls));
	if (ret < 0) {
		dart_tls_stream__free(tls);
		return false;
	}
	return !dart_rpc_stream__open(tls, DART_RPC_REQUEST_MAX, DART_RPC_ANSWER_MAX,
				      &agent->stream, &error);
}

static bool late_agent__receive(struct late_agent *agent, struct dart_rpc_message *message)
{
	struct dart_error error;
	const void *bytes;
	size_t length;
	int ret;

	while ((ret = dart_rpc_stream__next(agent->stream, &bytes, &length, &error)) == -EAGAIN)
		late_agent__wait(agent->fd, false);
	return ret == 1 && !dart_rpc_message__decode(bytes, length, message, &error);
}

static bool late_agent__send(struct late_agent *agent, size_t length)
{
	struct dart_error error;
	int ret;

	dart_rpc_stream__put(agent->stream, length);
	while ((ret = dart_rpc_stream__flush(agent->stream, &error)) == -EAGAIN)
		late_agent__wait(agent->fd, true);
	return !ret;
}

static bool late_agent__send_table(struct late_agent *agent, uint32_t id)
{
	const uint32_t most = DART_RPC_ANSWER_MAX - DART_RPC_PART_HEAD;
	uint32_t offset, length;
	uint8_t *out;

	for (offset = 0; offset < agent->used; offset += length) {
		length = agent->used - offset < most ? agent->used - offset : most;
		out = dart_rpc_stream__out(agent->stream);
		memcpy(out + DART_RPC_PART_HEAD, agent->table + offset, length);
		if (!late_agent__send(agent, dart_rpc__put_part(out, id, offset, length,
								offset + length == agent->used)))
			return false;
	}
	return true;
}

/* Answers with the table, and to requests for values that it is short of memory. */
static bool late_agent__answer(struct late_agent *agent, const struct dart_rpc_message *message)
{
	if (message->type == DART_RPC_FOLLOW_TABLE)
		return late_agent__send(
			agent, dart_rpc__put_error(dart_rpc_stream__out(agent->stream), message->id,
						   DART_RPC_ERROR_MALFORMED,
						   "a message " DART_RPC_UNKNOWN_TYPE " 6"));
	if (message->type == DART_RPC_GET_TABLE)
		return late_agent__send_table(agent, message->id);
	return late_agent__send(agent,
				dart_rpc__put_error(dart_rpc_stream__out(agent->stream),
						    message->id, DART_RPC_ERROR_BUSY, "no memory"));
}

static void late_agent__serve(struct late_agent *agent)
{
	const struct dart_rpc_welcome_values welcome = {
		.length = SERVED_TABLE_MAX,
		.used = agent->used,
		.time_ns = agent->time_ns,
	};
	struct dart_rpc_message message;
	eventfd_t one;

	if (!late_agent__connect(agent) || !late_agent__receive(agent, &message) ||
	    !late_agent__send(agent,
			      dart_rpc__put_welcome(dart_rpc_stream__out(agent->stream), &welcome)))
		return;
	while (late_agent__receive(agent, &message)) {
		atomic_fetch_add(&agent->asked, 1);
		eventfd_write(agent->controlled->seen.changed, 1);
		if (eventfd_read(agent->told, &one) || !late_agent__answer(agent, &message))
			break;
	}
}

static void late_agent__disconnect(struct late_agent *agent)
{
	dart_rpc_stream__free(agent->stream);
	if (agent->fd >= 0)
		close(agent->fd);
	agent->stream = NULL;
	agent->fd = -1;
}

/* Each request is told to the test, and answered when the test says so. */
static void *late_agent__run(void *data)
{
	struct late_agent *agent = data;

	late_agent__serve(agent);
	if (agent->is_old) {
		late_agent__disconnect(agent);
		late_agent__serve(agent);
	}
	return NULL;
}

/* ---- in the loop */

static struct late_agent *late_agent__start(struct controlled *controlled, bool is_old)
{
	const struct control_region *region = &controlled->fixture->host->control_region;
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct late_agent *agent = calloc(1, sizeof(*agent));

	assert_non_null(agent);
	agent->controlled = controlled;
	agent->is_old = is_old;
	agent->fd = -1;
	agent->used = region->used;
	memcpy(agent->table, controlled->fixture->host->table, region->used);
	agent->time_ns = dart_clock__ns(CLOCK_REALTIME);
	agent->tls = tls_of(known, HOST, known);
	agent->told = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	agent->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(agent->told >= 0 && agent->listener >= 0);
	assert_int_equal(bind(agent->listener, (const struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(listen(agent->listener, 1), 0);
	assert_int_equal(pthread_create(&agent->thread, NULL, late_agent__run, agent), 0);
	return agent;
}

static uint16_t late_agent__port(const struct late_agent *agent)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(agent->listener, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

/* The controller left the agent, or will not come. */
static void late_agent__end(struct late_agent *agent)
{
	shutdown(agent->listener, SHUT_RDWR);
	eventfd_write(agent->told, UINT32_MAX);
	pthread_join(agent->thread, NULL);
	late_agent__disconnect(agent);
	close(agent->listener);
	close(agent->told);
	dart_tls__put(agent->tls);
	free(agent);
}

static void late_agent__tell(struct late_agent *agent)
{
	assert_int_equal(eventfd_write(agent->told, 1), 0);
}

/* Waits until the agent got this number of requests in all. */
static void late_agent__await(struct late_agent *agent, unsigned int requests)
{
	while (atomic_load(&agent->asked) < requests)
		turn(agent->controlled);
	assert_int_equal(atomic_load(&agent->asked), requests);
}

/* The first target gets its samples, although the other agent does not answer. */
static void go_on(struct controlled *controlled)
{
	const unsigned int wanted = atomic_load(&controlled->seen.samples[0]) + 100;

	while (atomic_load(&controlled->seen.samples[0]) < wanted)
		turn(controlled);
}

static struct late_agent *late;

static int open_late(void **state)
{
	open_controlled(state);
	late = late_agent__start(*state, false);
	return 0;
}

static int open_old(void **state)
{
	open_controlled(state);
	late = late_agent__start(*state, true);
	return 0;
}

/* The targets leave first: then the thread ends. */
static int close_late(void **state)
{
	struct controlled *controlled = *state;
	unsigned int i;

	for (i = 0; i < controlled->count; i++)
		target__stop(controlled->targets[i]);
	while (controlled->finished < controlled->count)
		turn(controlled);
	late_agent__end(late);
	return close_controlled(state);
}

static void test_silent(void **state)
{
	struct controlled *controlled = *state;

	start(controlled);
	scrape(controlled, 5);
	start_at(controlled, late_agent__port(late));
	late_agent__await(late, 1);
	go_on(controlled);
	assert_int_equal(atomic_load(&late->asked), 1);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

static void test_late(void **state)
{
	struct controlled *controlled = *state;
	struct target_status status;
	unsigned int i;

	start(controlled);
	scrape(controlled, 5);
	start_at(controlled, late_agent__port(late));
	/* Its table, and values three times. */
	for (i = 1; i <= 4; i++) {
		late_agent__await(late, i);
		go_on(controlled);
		assert_int_equal(atomic_load(&late->asked), i);
		assert_int_equal(atomic_load(&controlled->seen.lost), 0);
		late_agent__tell(late);
	}
	late_agent__await(late, 5);
	target__status(controlled->targets[1], &status);
	/* Silent after 5 s: this machine may be slow, too. */
	assert_true(!strcmp(status.state, "up") || !strcmp(status.state, "silent"));
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

/* It is connected to again, and not asked to tell. */
static void test_old(void **state)
{
	struct controlled *controlled = *state;
	struct target_status status;

	controlled->options.settings.mirror_bytes = SERVED_TABLE_MAX;
	start_at(controlled, late_agent__port(late));
	late_agent__tell(late);
	do {
		turn(controlled);
		target__status(controlled->targets[0], &status);
	} while (!status.error);
	assert_non_null(strstr(status.error, "it cannot tell that its table changes"));
	late_agent__tell(late);
	/* The table twice, and values. */
	late_agent__await(late, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("an agent that does not answer stops no scrape of others", test_silent,
			     open_late, close_late),
		TEST_FIXTURE(
			"an agent whose every answer is late is asked again, and stops no scrape of others",
			test_late, open_late, close_late),
		TEST_FIXTURE("an older agent, which cannot tell of changes, is called without", test_old,
			     open_old, close_late),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
