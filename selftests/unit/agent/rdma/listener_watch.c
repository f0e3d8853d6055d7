// SPDX-License-Identifier: GPL-2.0-only
/* When the listener serves peers with messages, and how long an answer may take. */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/base/clock.h"
#include "agent/rdma/listener.h"
#include "selftests/unit/unit.h"

#define PEERS 3

struct peer {
	struct connection connection;
	int turns;		/* further turns that the peer wants, after the first */
	bool is_busy;
	const char *expired;	/* the message when its time ends */
	const char *ended;	/* the reason why the listener ended it */
};

static struct peer peers[PEERS];
static struct listener listener;
static sd_event *loop;
static char served[64];		/* a letter for each call */
static struct connection *has_event;

/* ---- the rooms around listener_watch */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	assert_non_null(channel);
	channel->fd = eventfd(0, EFD_NONBLOCK);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **context)
{
	eventfd_t count;

	if (eventfd_read(channel->fd, &count))
		return -1;
	*context = has_event;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
}

const char *device__name(const struct device *device)
{
	return "device";
}

static struct peer *peer_of(const struct connection *connection)
{
	return (struct peer *)connection;
}

const char *connection__serve(struct connection *connection, bool *has_more)
{
	struct peer *peer = peer_of(connection);
	const size_t length = strlen(served);

	assert_true(length < sizeof(served) - 1);
	served[length] = 'a' + (peer - peers);
	*has_more = peer->turns > 0;
	peer->turns -= *has_more;
	return NULL;
}

bool connection__is_busy(const struct connection *connection)
{
	return peer_of(connection)->is_busy;
}

void connection__probe(struct connection *connection)
{
}

const char *message_qp__expire(struct message_qp *message_qp)
{
	int i;

	for (i = 0; i < PEERS; i++)
		if (message_qp == &peers[i].connection.message_qp)
			return peers[i].expired;
	fail();
	return NULL;
}

void listener__end(struct listener *of, struct connection *connection,
		   const char *reason)
{
	assert_ptr_equal(of, &listener);
	peer_of(connection)->ended = reason;
}

/* ---- */

static int open_fixture(void **state)
{
	static const struct device device;
	struct dart_error error;

	memset(peers, 0, sizeof(peers));
	memset(served, 0, sizeof(served));
	listener = (struct listener){ .device = &device };
	TAILQ_INIT(&listener.connections);
	assert_true(sd_event_new(&loop) >= 0);
	return listener__open_watch(&listener, loop, &error);
}

static int close_fixture(void **state)
{
	int i;

	for (i = 0; i < PEERS; i++)
		if (peers[i].connection.has_deadline)
			lease__cancel(&listener.deadlines,
				      &peers[i].connection.lease);
	listener__close_watch(&listener);
	sd_event_unref(loop);
	return 0;
}

/* Raises an event of the queue pair of a peer. */
static void serve(struct peer *peer)
{
	has_event = &peer->connection;
	assert_int_equal(eventfd_write(listener.completions->fd, 1), 0);
	assert_true(sd_event_run(loop, 0) > 0);
}

static void run_all(void)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

/* Ends the time of a peer. */
static void expire(struct peer *peer)
{
	struct lease *lease = &peer->connection.lease;

	assert_true(peer->connection.has_deadline);
	TAILQ_REMOVE(&listener.deadlines.queue, lease, link);
	lease->end(lease);
}

static void test_turns(void **state)
{
	peers[0].turns = 6;
	peers[1].turns = 5;
	serve(&peers[0]);
	serve(&peers[1]);
	run_all();
	/* The peer with an event does not wait for the other; then they alternate. */
	assert_int_equal(strlen(served), 13);
	assert_in_range(strchr(served, 'b') - served, 1, 3);
	assert_non_null(strstr(served, "babababa"));
	assert_true(TAILQ_EMPTY(&listener.turns));
	serve(&peers[2]);
	run_all();
	assert_int_equal(served[13], 'c');
	assert_int_equal(strlen(served), 14);
}

static void test_dropped(void **state)
{
	peers[0].turns = 3;
	serve(&peers[0]);
	assert_true(peers[0].connection.has_turn);
	/* As listener__drop() does. */
	TAILQ_REMOVE(&listener.turns, &peers[0].connection, turn_link);
	run_all();
	assert_string_equal(served, "a");
}

static void test_deadline(void **state)
{
	const struct lease_queue *queue = &listener.deadlines.queue;
	struct connection *first = &peers[0].connection;

	peers[0].is_busy = true;
	peers[1].is_busy = true;
	serve(&peers[0]);
	serve(&peers[1]);
	/* An event of the same answer is no reason for more time. */
	serve(&peers[0]);
	assert_ptr_equal(TAILQ_FIRST(queue), &first->lease);
	/* Another request, though it was never seen idle. */
	first->message_qp.requests++;
	serve(&peers[0]);
	assert_ptr_equal(TAILQ_FIRST(queue), &peers[1].connection.lease);
	peers[0].is_busy = false;
	serve(&peers[0]);
	assert_false(first->has_deadline);
	assert_int_equal(leases__count(&listener.deadlines), 1);
}

static void test_expired(void **state)
{
	peers[0].is_busy = true;
	serve(&peers[0]);
	peers[0].expired = "it is too slow";
	expire(&peers[0]);
	assert_string_equal(peers[0].ended, "it is too slow");
	assert_false(peers[0].connection.has_deadline);
}

/* The peer took all messages, and more wait: only the agent was late. */
static void test_late(void **state)
{
	peers[0].is_busy = true;
	serve(&peers[0]);
	expire(&peers[0]);
	assert_null(peers[0].ended);
	run_all();
	assert_string_equal(served, "aa");
	assert_true(peers[0].connection.has_deadline);
	/* The peer took all messages, and no further ones wait. */
	peers[0].is_busy = false;
	expire(&peers[0]);
	assert_null(peers[0].ended);
	run_all();
	assert_string_equal(served, "aa");
	assert_false(peers[0].connection.has_deadline);
}

/* The agent looks a second after the end of a peer's time. */
static void test_agent_is_late(void **state)
{
	peers[0].is_busy = true;
	serve(&peers[0]);
	peers[0].expired = "it is too slow";
	peers[0].connection.lease.deadline =
		clock__nanoseconds(CLOCK_BOOTTIME) / 1000 - 1000000;
	expire(&peers[0]);
	assert_null(peers[0].ended);
	run_all();
	assert_string_equal(served, "aa");
	assert_true(peers[0].connection.has_deadline);
	expire(&peers[0]);
	assert_string_equal(peers[0].ended, "it is too slow");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("peers that have more to do take turns until they have not",
			     test_turns, open_fixture, close_fixture),
		TEST_FIXTURE("a peer that ends while it waits for its turn is not served",
			     test_dropped, open_fixture, close_fixture),
		TEST_FIXTURE("the time of an answer begins with its request, also behind another answer",
			     test_deadline, open_fixture, close_fixture),
		TEST_FIXTURE("a peer whose time has ended is disconnected",
			     test_expired, open_fixture, close_fixture),
		TEST_FIXTURE("a peer that has taken all messages in time is served on",
			     test_late, open_fixture, close_fixture),
		TEST_FIXTURE("a peer has its time once more if the agent itself was late",
			     test_agent_is_late, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
