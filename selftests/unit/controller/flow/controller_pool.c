// SPDX-License-Identifier: GPL-2.0-only
/* Credits that threads share, and messages between them. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <urcu/system.h>
#include <urcu/uatomic.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/credit_pool.h"
#include "tools/controller/io/io_thread.h"

#define TAKERS 3
#define FLOWS 24 /* of each */
#define CREDITS 5
#define BATCHES 200 /* of each flow */

static struct credit_pool pool;
static struct credit_group group[TAKERS][CREDIT_CLASSES];
static atomic_int in_flight;
static atomic_int most;

struct poster {
	struct credit_taker taker;
	struct mailbox mailbox;
	struct message woken;
	pthread_t thread;
	unsigned int number, ended;
	struct poster_flow {
		struct credit_share share;
		unsigned int batches, left;
	} flows[FLOWS];
};

static void run_woken(struct message *message)
{
	credit_pool__wake_up(&pool, &caa_container_of(message, struct poster, woken)->taker);
}

static void on_wake(struct credit_taker *taker)
{
	struct poster *poster = caa_container_of(taker, struct poster, taker);

	mailbox__post(&poster->mailbox, &poster->woken);
}

static void poster__ask(struct poster *poster, struct poster_flow *flow)
{
	const unsigned int index = flow - poster->flows;
	const uint8_t class = index % CREDIT_CLASSES;

	flow->left = 1 + index % 7;
	credit_pool__ask(&pool, &group[poster->number][class], &flow->share, class, flow->left);
}

/* Posts the granted fragments, which complete at once. */
static void poster__post(struct poster *poster)
{
	struct credit_share *share;
	struct poster_flow *flow;
	uint32_t fragments;
	int now, before;

	while ((fragments = credit_pool__take(&pool, &poster->taker, &share))) {
		flow = (struct poster_flow *)share;
		now = atomic_fetch_add(&in_flight, fragments) + fragments;
		before = atomic_load(&most);
		while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
			;
		flow->left -= fragments;
		atomic_fetch_sub(&in_flight, fragments);
		credit_pool__give_back(&pool, &poster->taker, share, fragments);
		if (flow->left)
			continue;
		if (++flow->batches < BATCHES)
			poster__ask(poster, flow);
		else
			poster->ended++;
	}
}

static void *run_poster(void *data)
{
	struct poster *poster = data;

	for (int i = 0; i < FLOWS; i++)
		poster__ask(poster, &poster->flows[i]);
	poster__post(poster);
	while (poster->ended < FLOWS) {
		mailbox__read(&poster->mailbox);
		poster__post(poster);
	}
	return NULL;
}

/* Each thread sleeps while others hold all credits, and one of them wakes it. */
static void test_pool(void **state)
{
	static struct poster posters[TAKERS];

	memset(posters, 0, sizeof(posters));
	credit_pool__init(&pool, CREDITS * CREDIT_FRAGMENT, UINT64_MAX);
	for (int i = 0; i < TAKERS; i++) {
		for (int k = 0; k < CREDIT_CLASSES; k++)
			credit_group__init(&group[i][k]);
		posters[i].number = i;
		posters[i].woken.run = run_woken;
		credit_taker__init(&posters[i].taker, &pool, on_wake);
		for (int k = 0; k < FLOWS; k++)
			posters[i].flows[k].share.taker = &posters[i].taker;
		assert_int_equal(mailbox__open(&posters[i].mailbox), 0);
	}
	for (int i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_create(&posters[i].thread, NULL, run_poster, &posters[i]),
				 0);
	for (int i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_join(posters[i].thread, NULL), 0);
	for (int i = 0; i < TAKERS; i++)
		mailbox__close(&posters[i].mailbox);
	assert_in_range(atomic_load(&most), 1, CREDITS);
	assert_int_equal(pool.groups.credit.free, CREDITS);
}

/* Granted credits that are not taken come back, to others. */
static void test_cancel(void **state)
{
	static struct poster poster;
	struct credit_share *share;

	memset(&poster, 0, sizeof(poster));
	credit_pool__init(&pool, CREDITS * CREDIT_FRAGMENT, UINT64_MAX);
	credit_group__init(&group[0][0]);
	credit_taker__init(&poster.taker, &pool, on_wake);
	for (int i = 0; i < 2; i++) {
		poster.flows[i].share.taker = &poster.taker;
		credit_pool__ask(&pool, &group[0][0], &poster.flows[i].share, 0, CREDITS);
	}
	credit_pool__cancel(&pool, &poster.taker, &poster.flows[0].share);
	assert_int_equal(credit_pool__take(&pool, &poster.taker, &share), CREDITS);
	assert_ptr_equal(share, &poster.flows[1].share);
	assert_int_equal(credit_pool__take(&pool, &poster.taker, &share), 0);
	credit_pool__cancel(&pool, &poster.taker, share);
	credit_pool__give_back(&pool, &poster.taker, share, CREDITS);
	assert_int_equal(pool.groups.credit.free, CREDITS);
}

/* A flow that waits for all credits keeps others waiting until it is cancelled. */
static void test_cancel_whole(void **state)
{
	static struct poster poster;
	struct poster_flow *flows = poster.flows;
	struct credit_group calls;
	struct credit_share *share;

	memset(&poster, 0, sizeof(poster));
	credit_pool__init(&pool, CREDITS * CREDIT_FRAGMENT, UINT64_MAX);
	credit_group__init(&calls);
	calls.is_whole = true;
	credit_taker__init(&poster.taker, &pool, on_wake);
	for (int i = 0; i < 3; i++)
		flows[i].share.taker = &poster.taker;
	credit_pool__ask(&pool, &calls, &flows[0].share, 0, 2);
	assert_int_equal(credit_pool__take(&pool, &poster.taker, &share), 2);
	credit_pool__ask(&pool, &calls, &flows[1].share, 0, CREDITS);
	credit_pool__ask(&pool, &calls, &flows[2].share, 0, 1);
	assert_int_equal(credit_pool__take(&pool, &poster.taker, &share), 0);
	credit_pool__cancel(&pool, &poster.taker, &flows[1].share);
	assert_int_equal(credit_pool__take(&pool, &poster.taker, &share), 1);
	assert_ptr_equal(share, &flows[2].share);
}

struct counted {
	struct message message;
	unsigned int runs;
};

static void run_counted(struct message *message)
{
	caa_container_of(message, struct counted, message)->runs++;
}

/*
 * A posting thread is preempted half way: its message is the last, but the previous
 * message does not link to it yet.
 */
static void test_preempted(void **state)
{
	struct counted first = { .message.run = run_counted },
		       second = { .message.run = run_counted };
	struct cds_wfcq_node *before;
	struct mailbox mailbox;
	struct pollfd ready;

	assert_int_equal(mailbox__open(&mailbox), 0);
	ready = (struct pollfd){ .fd = mailbox__fd(&mailbox), .events = POLLIN };
	mailbox__post(&mailbox, &first.message);
	second.message.item.cost = 1;
	atomic_fetch_add(&mailbox.queue.used, 1);
	cds_wfcq_node_init(&second.message.item.node);
	before = uatomic_xchg(&mailbox.queue.tail.p, &second.message.item.node);

	/* It would wait for ever for the thread that goes on below. */
	alarm(60);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll(&ready, 1, 0), 1);
		mailbox__read(&mailbox);
		mailbox__run(&mailbox);
	}
	alarm(0);
	assert_int_equal(second.runs, 0);
	CMM_STORE_SHARED(before->next, &second.message.item.node);
	assert_int_equal(poll(&ready, 1, 0), 1);
	mailbox__read(&mailbox);
	assert_int_equal(first.runs, 1);
	assert_int_equal(second.runs, 1);
	assert_int_equal(poll(&ready, 1, 0), 0);
	mailbox__close(&mailbox);
}

/* A target that two threads own in turn: the owner changes it without a lock. */
struct turns {
	struct message order, report, done;
	struct mailbox *control;
	struct io_thread *thread;
	struct timer timer;
	unsigned int count, wanted;
	bool has_ended;
};

static void run_turn_of_control(struct message *message);

static void run_turn_of_thread(struct message *message)
{
	struct turns *turns = caa_container_of(message, struct turns, order);

	turns->count++;
	turns->report.run = run_turn_of_control;
	mailbox__post(turns->control, &turns->report);
}

static void run_turn_of_control(struct message *message)
{
	struct turns *turns = caa_container_of(message, struct turns, report);

	turns->has_ended = ++turns->count >= turns->wanted;
	if (turns->has_ended)
		return;
	turns->order.run = run_turn_of_thread;
	mailbox__post(io_thread__mailbox(turns->thread), &turns->order);
}

static void on_timer(void *data)
{
	struct turns *turns = data;

	run_turn_of_thread(&turns->order);
}

/* A timer in the thread takes the first turn. */
static void run_set_timer(struct message *message)
{
	struct turns *turns = caa_container_of(message, struct turns, order);

	timer__init(&turns->timer, io_thread__timers(turns->thread), on_timer, turns);
	timer__set(&turns->timer, 1000);
}

static void no_completion(struct dart_endpoint *endpoint, int result)
{
	fail_msg("a completion without an endpoint");
}

/* A leaving target: the message of its release by the I/O thread frees it. */
struct leaver {
	struct message order, report, release, released;
	struct mailbox *control;
	bool has_reported;
	unsigned int *left;
};

static void run_report(struct message *message)
{
	caa_container_of(message, struct leaver, report)->has_reported = true;
}

static void run_order(struct message *message)
{
	struct leaver *leaver = caa_container_of(message, struct leaver, order);

	leaver->report.run = run_report;
	mailbox__post(leaver->control, &leaver->report);
}

static void run_released(struct message *message)
{
	struct leaver *leaver = caa_container_of(message, struct leaver, released);

	assert_true(leaver->has_reported);
	++*leaver->left;
	free(leaver);
}

static void run_release(struct message *message)
{
	struct leaver *leaver = caa_container_of(message, struct leaver, release);

	leaver->released.run = run_released;
	mailbox__post(leaver->control, &leaver->released);
}

static void check_leavers(struct mailbox *control, struct io_thread *thread)
{
	struct leaver *leaver;
	unsigned int left = 0;

	for (int i = 0; i < 1000; i++) {
		leaver = calloc(1, sizeof(*leaver));
		assert_non_null(leaver);
		leaver->control = control;
		leaver->left = &left;
		leaver->order.run = run_order;
		leaver->release.run = run_release;
		mailbox__post(io_thread__mailbox(thread), &leaver->order);
		mailbox__post(io_thread__mailbox(thread), &leaver->release);
		if (i % 3 == 2)
			mailbox__run(control);
	}
	while (left < 1000)
		mailbox__read(control);
}

static void check_turns(bool polls)
{
	const struct dart_endpoint_sizes sizes = {
		.threads = 1,
		.polling = polls,
	};
	struct io_thread_parts parts = {
		.name = "io",
		.polls = polls,
		.completed = no_completion,
	};
	static struct turns turns[100];
	struct mailbox control;
	struct dart_error error;
	struct io_thread *thread;
	unsigned int ended;

	assert_int_equal(dart_endpoint_set__new(&sizes, &parts.set, &error), 0);
	assert_int_equal(mailbox__open(&control), 0);
	assert_int_equal(io_thread__start(&parts, &thread), 0);
	memset(turns, 0, sizeof(turns));
	for (int i = 0; i < 100; i++) {
		turns[i].control = &control;
		turns[i].thread = thread;
		turns[i].wanted = 200;
		turns[i].order.run = run_set_timer;
		mailbox__post(io_thread__mailbox(thread), &turns[i].order);
	}
	do {
		mailbox__read(&control);
		ended = 0;
		for (int i = 0; i < 100; i++)
			ended += turns[i].has_ended;
	} while (ended < 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(turns[i].count, 200);
	check_leavers(&control, thread);
	io_thread__stop(thread);
	io_thread__free(thread);
	mailbox__close(&control);
	dart_endpoint_set__free(parts.set);
}

static void test_turns(void **state)
{
	check_turns(false);
	check_turns(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("three threads share credits: never more are in flight, and all is posted",
		     test_pool),
		TEST("credits that were granted and not taken go to others", test_cancel),
		TEST("a flow that is cancelled while it waits for many credits keeps nobody from those that are free",
		     test_cancel_whole),
		TEST("a thread that is preempted while it posts keeps nobody who reads waiting",
		     test_preempted),
		TEST("a target is in the hands of the control loop and an I/O thread in turn, and freed once it is released",
		     test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
