// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes are examined while others, whose memory cannot be read, hold threads: the loop goes on,
 * the time-out is told once, and a user who holds threads gets no more of them.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/application/examination.h"
#include "selftests/lib/held_header.h"
#include "selftests/unit/unit.h"

#define BUILD_ID (1u << APPLICATION_FORMAT_ANY)
#define OTHER_USER 4711
#define USER_PROCESSES 6
#define USER_THREADS 4

static sd_event *loop;
static struct examinations examinations;
static struct dart_error error;

/* What the handlers were told of a process. */
struct told {
	bool is_finished, is_held;
	unsigned int turn; /* in which it was finished, from 1 on */
	bool wants_layout; /* the process is attached */
	int build_ret;
	bool is_copy_of_parent, was_shortage;
	struct dart_error why;
};

/* Fits any program. */
static struct dart_application_module module;
static const struct dart_application_layout layout = { .modules = &module, .module_count = 1 };

static const struct dart_application_layout *choose(struct examination *examination)
{
	return ((const struct told *)examination->owner)->wants_layout ? &layout : NULL;
}

static unsigned int begins, ends, turns;

static void begin(void *owner)
{
	begins++;
}

static void end_of_all(void *owner)
{
	ends++;
}

static void finish(struct examination *examination)
{
	struct told *told = examination->owner;

	assert_false(told->is_finished);
	told->is_finished = true;
	told->turn = ++turns;
	told->build_ret = examination->build_ret;
	told->is_copy_of_parent = examination->is_copy_of_parent;
	told->was_shortage = examination__shortage(examination);
	told->why = examination->build_why;
}

static void hold(struct examination *examination)
{
	struct told *told = examination->owner;

	assert_false(told->is_held);
	told->is_held = true;
	assert_int_equal(examination__explain_hold(examination, &told->why), -ETIMEDOUT);
}

static const struct examination_handlers handlers = {
	.choose = choose,
	.finish = finish,
	.hold = hold,
	.begin = begin,
	.end = end_of_all,
};

/* Starts a process of @user with a normal header, or one that holds; -1: it cannot. */
static pid_t start(bool is_held, uid_t user)
{
	int ready[2], fd = -1;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (is_held)
			fd = held_header__open();
		if ((is_held && fd < 0) || setresuid(user, user, user) ||
		    (is_held && !held_header__hold(fd)))
			syscall(SYS_exit_group, 1);
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_write, ready[1], &byte, 1);
		held_header__wait();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void examine(pid_t pid, struct told *told)
{
	const struct examination_wish wish = {
		.pid = pid, .pidfd = -1, .formats = BUILD_ID, .handlers = &handlers, .owner = told
	};

	*told = (struct told){ .wants_layout = told->wants_layout };
	assert_int_equal(examinations__add(&examinations, &wish), 0);
	assert_non_null(examinations__find(&examinations, pid, told));
}

static void run_until(const bool *condition)
{
	while (!*condition)
		assert_true(sd_event_run(loop, UINT64_MAX) >= 0);
}

static void test_results(void **state)
{
	struct told copy = { .wants_layout = true }, other = {}, ended = {};
	pid_t pid = start(false, 0);

	examine(pid, &copy);
	run_until(&copy.is_finished);
	assert_int_equal(copy.build_ret, 0);
	assert_true(copy.is_copy_of_parent);
	/* Most programs have no layout: their parents need not be read. */
	examine(pid, &other);
	run_until(&other.is_finished);
	assert_int_equal(other.build_ret, 0);
	assert_false(other.is_copy_of_parent);
	end(pid);
	examine(pid, &ended);
	run_until(&ended.is_finished);
	assert_int_equal(ended.build_ret, -ESRCH);
	assert_false(copy.is_held || ended.is_held);
}

/* Allows no descriptor but the ones that are open; returns the limit of before. */
static struct rlimit take_descriptors(void)
{
	struct rlimit before, none;
	const int next = dup(STDERR_FILENO);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* A process that dartd has no descriptors for has not ended. */
static void test_no_descriptors(void **state)
{
	struct told starved = {}, later = {};
	const pid_t pid = start(false, 0);
	struct rlimit before;

	examine(pid, &starved);
	before = take_descriptors();
	run_until(&starved.is_finished);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(starved.build_ret, -EMFILE);
	assert_true(starved.was_shortage);
	assert_non_null(strstr(starved.why.text, "Too many open files"));
	examine(pid, &later);
	run_until(&later.is_finished);
	assert_int_equal(later.build_ret, 0);
	assert_false(later.was_shortage);
	end(pid);
}

/* Starts a copy of a copy of this process, and kills its parent when it is told to. */
static pid_t start_child(pid_t *parent)
{
	pid_t child = -1;
	int ready[2];

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	*parent = fork();
	assert_true(*parent >= 0);
	if (!*parent) {
		child = fork();
		if (child)
			syscall(SYS_write, ready[1], &child, sizeof(child));
		held_header__wait();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
	close(ready[0]);
	return child;
}

/* A server goes into the background: its parent ends after the thread has compared the two. */
static void test_lost_parent(void **state)
{
	const struct examination *examination;
	struct told told = { .wants_layout = true };
	pid_t parent, child;

	child = start_child(&parent);
	examine(child, &told);
	examination = examinations__find(&examinations, child, &told);
	while (examination->step != EXAMINATION_ATTACHES)
		assert_true(sd_event_run(loop, UINT64_MAX) >= 0);
	while (!atomic_load(&examination->is_done))
		sched_yield();
	end(parent);
	run_until(&told.is_finished);
	kill(child, SIGKILL);
	assert_int_equal(told.build_ret, 0);
	assert_false(told.is_copy_of_parent);
}

static void test_held(void **state)
{
	struct told held = {}, other = {}, user[USER_PROCESSES] = {}, later = {};
	pid_t pids[USER_PROCESSES], pid = start(true, 0), normal;
	unsigned int i, refused = 0, holding = 0;

	if (pid < 0)
		skip(); /* only root may hold kernels by a userfaultfd */
	normal = start(false, OTHER_USER + 1);
	examine(pid, &held);
	for (i = 0; i < USER_PROCESSES; i++) {
		pids[i] = start(true, OTHER_USER);
		examine(pids[i], &user[i]);
	}
	examine(normal, &other);
	run_until(&other.is_finished);
	assert_int_equal(other.build_ret, 0);
	assert_false(held.is_held || held.is_finished);

	run_until(&held.is_held);
	assert_non_null(strstr(held.why.text, "has not answered within 2 s"));
	for (i = 0; i < USER_PROCESSES; i++) {
		run_until(i < USER_THREADS ? &user[i].is_held : &user[i].is_finished);
		holding += user[i].is_held;
		refused += user[i].is_finished && user[i].build_ret == -EUSERS;
	}
	assert_int_equal(holding, USER_THREADS);
	assert_int_equal(refused, USER_PROCESSES - USER_THREADS);
	assert_non_null(strstr(user[USER_THREADS].why.text, "other processes of user 4711"));

	/* Threads come back when the processes end, and the user may have others examined. */
	end(pid);
	run_until(&held.is_finished);
	for (i = 0; i < USER_PROCESSES; i++)
		end(pids[i]);
	for (i = 0; i < USER_THREADS; i++)
		run_until(&user[i].is_finished);
	pid = start(false, OTHER_USER);
	examine(pid, &later);
	run_until(&later.is_finished);
	assert_int_equal(later.build_ret, 0);
	end(pid);
	end(normal);
}

/* A thread that holds counts while others of its user run, so the user never has more threads. */
static void test_held_in_turn(void **state)
{
	struct told user[USER_PROCESSES] = {};
	unsigned int i, holding = 0, refused = 0;
	pid_t pids[USER_PROCESSES];

	for (i = 0; i < USER_PROCESSES; i++)
		pids[i] = start(true, OTHER_USER);
	if (pids[0] < 0)
		skip();
	for (i = 0; i < USER_THREADS - 1; i++)
		examine(pids[i], &user[i]);
	for (i = 0; i < USER_THREADS - 1; i++)
		run_until(&user[i].is_held);
	for (; i < USER_PROCESSES; i++)
		examine(pids[i], &user[i]);
	while (holding + refused < USER_PROCESSES) {
		assert_true(sd_event_run(loop, UINT64_MAX) >= 0);
		holding = refused = 0;
		for (i = 0; i < USER_PROCESSES; i++) {
			holding += user[i].is_held;
			refused += user[i].is_finished && user[i].build_ret == -EUSERS;
		}
	}
	assert_int_equal(holding, USER_THREADS);
	for (i = 0; i < USER_PROCESSES; i++)
		end(pids[i]);
}

/* Other programs start all the time. */
static void test_together(void **state)
{
	struct told told[3] = { { .wants_layout = true }, { .wants_layout = true } }, other = {};
	pid_t pids[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		pids[i] = start(false, 0);
	begins = ends = 0;
	for (i = 0; i < 3; i++)
		examine(pids[i], &told[i]);
	run_until(&told[2].is_finished);
	assert_false(told[0].is_finished || told[1].is_finished);
	while (!told[0].is_finished) {
		examine(pids[2], &other);
		run_until(&other.is_finished);
	}
	assert_true(told[1].is_finished);
	assert_int_equal(begins, 1);
	assert_int_equal(ends, 1);
	for (i = 0; i < 3; i++)
		end(pids[i]);
}

/* Names go to the processes in this order, whatever dartd finds first. */
static void test_order(void **state)
{
	struct told told[5] = {};
	pid_t pids[5];
	int i;

	for (i = 0; i < 5; i++)
		pids[i] = start(false, 0);
	for (i = 4; i >= 0; i--) {
		told[i].wants_layout = true;
		examine(pids[i], &told[i]);
	}
	for (i = 0; i < 5; i++)
		run_until(&told[i].is_finished);
	for (i = 1; i < 5; i++)
		assert_int_equal(told[i].turn, told[i - 1].turn + 1);
	for (i = 0; i < 5; i++)
		end(pids[i]);
}

/* On a slow host, each of many processes takes longer than the pause. */
static void test_busy(void **state)
{
	struct told slow = {}, attached = { .wants_layout = true };
	const pid_t pid = start(true, OTHER_USER);
	int64_t began, ns;
	pid_t normal;

	if (pid < 0)
		skip();
	normal = start(false, 0);
	began = dart_clock__ns(CLOCK_MONOTONIC);
	examine(pid, &slow);
	examine(normal, &attached);
	while (!attached.is_finished && sd_event_run(loop, 6 * EXAMINATION_QUIET_MS * 1000) > 0)
		;
	ns = dart_clock__ns(CLOCK_MONOTONIC) - began;
	assert_true(!attached.is_finished || ns >= EXAMINATION_QUIET_MAX_MS * INT64_C(1000000));
	end(pid);
	run_until(&slow.is_finished);
	run_until(&attached.is_finished);
	end(normal);
}

static unsigned int counted;

static void count(struct examination *examination)
{
	counted++;
}

/* Examines a process of a user so often; the time of the loop for each examination, in ns. */
static double loop_ns(pid_t pid, unsigned int times)
{
	static const struct examination_handlers counting = {
		.choose = choose, .finish = count, .hold = hold
	};
	struct told told = {};
	const struct examination_wish wish = {
		.pid = pid, .pidfd = -1, .formats = BUILD_ID, .handlers = &counting, .owner = &told
	};
	const int64_t began = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned int i;

	counted = 0;
	for (i = 0; i < times; i++)
		assert_int_equal(examinations__add(&examinations, &wish), 0);
	while (counted < times)
		assert_true(sd_event_run(loop, UINT64_MAX) >= 0);
	return (double)(dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - began) / times;
}

/* A host has 20,000 processes of a user, which dartd looks at together. */
static void test_many(void **state)
{
	const pid_t pid = start(false, OTHER_USER);
	double few, many;
	int tries = 3;

	if (pid < 0)
		skip();
	/* With a walk over all that wait, many take six times as long, at each try. */
	do {
		few = loop_ns(pid, 500);
		many = loop_ns(pid, 20000);
	} while (many > 2 * few && --tries);
	if (many > 2 * few)
		fail_msg("%.0f ns each instead of %.0f", many, few);
	end(pid);
}

/* A user with many processes leaves threads to another one. */
static void test_turns(void **state)
{
	const pid_t pids[] = { start(false, OTHER_USER), start(false, OTHER_USER + 1) };
	struct told told[201] = {};
	int i, before = 0;

	if (pids[0] < 0 || pids[1] < 0)
		skip();
	for (i = 0; i <= 200; i++)
		examine(pids[i == 200], &told[i]);
	run_until(&told[200].is_finished);
	for (i = 0; i < 200; i++)
		before += told[i].is_finished;
	assert_true(before < 100);
	for (i = 0; i < 200; i++)
		run_until(&told[i].is_finished);
	for (i = 0; i < 2; i++)
		end(pids[i]);
}

/* Nobody waits for a thread that is held. */
static void test_close(void **state)
{
	const pid_t pid = start(true, 0);
	struct told held = {};

	if (pid < 0)
		skip();
	examine(pid, &held);
	assert_true(sd_event_run(loop, UINT64_MAX) >= 0);
	examinations__close(&examinations);
	assert_false(held.is_finished);
	end(pid);
}

static int open_all(void **state)
{
	return sd_event_new(&loop) < 0 || examinations__open(&examinations, loop, &error);
}

static int close_all(void **state)
{
	examinations__close(&examinations);
	sd_event_unref(loop);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a thread finds out the build-id, and whether a process is a copy",
			     test_results, open_all, close_all),
		TEST_FIXTURE("a process that dartd has no descriptors for has not ended",
			     test_no_descriptors, open_all, close_all),
		TEST_FIXTURE("a process whose parent ends meanwhile is no copy of it",
			     test_lost_parent, open_all, close_all),
		TEST_FIXTURE("processes are examined while others hold threads, which is told",
			     test_held, open_all, close_all),
		TEST_FIXTURE("a user whose processes hold threads one after the other gets no more",
			     test_held_in_turn, open_all, close_all),
		TEST_FIXTURE("processes that start together are attached at once", test_together,
			     open_all, close_all),
		TEST_FIXTURE("processes are attached in the order in which they started", test_order,
			     open_all, close_all),
		TEST_FIXTURE("attached processes wait while others are examined", test_busy,
			     open_all, close_all),
		TEST_FIXTURE("an examination takes the loop the same time, however many wait",
			     test_many, open_all, close_all),
		TEST_FIXTURE("a user with many processes leaves threads to another user",
			     test_turns, open_all, close_all),
		TEST_FIXTURE("dartd does not wait for a thread that is held", test_close, open_all,
			     close_all),
	};

	return cmocka_run_group_tests_name("application_examination", tests, NULL, NULL);
}
