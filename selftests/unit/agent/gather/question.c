// SPDX-License-Identifier: GPL-2.0-only
/* Threads of questions: one for each outstanding question, and a bound for all. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/gather/question.h"
#include "selftests/unit/unit.h"

/* Questions hang until the test opens this gate. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open;
	unsigned int waiting;
	unsigned int freed;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int hang(struct question *question)
{
	pthread_mutex_lock(&gate.lock);
	gate.waiting++;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.is_open)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	return 7;
}

static void free_question(struct question *question)
{
	free(question);
	pthread_mutex_lock(&gate.lock);
	gate.freed++;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static const struct question_kind kind = { .ask = hang, .free = free_question };

static struct question *new_question(void)
{
	struct question *question = malloc(sizeof(*question));

	assert_non_null(question);
	question__begin(question, &kind);
	return question;
}

/* Waits until @count reaches @least. */
static void wait_for(const unsigned int *count, unsigned int least)
{
	pthread_mutex_lock(&gate.lock);
	while (*count < least)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

/* Owners ask, release their questions while the kernel hangs, and come again. */
static void test_bound(void **state)
{
	struct question *question, *last;
	unsigned int i;

	for (i = 0; i < QUESTION_THREADS_MAX; i++) {
		question = new_question();
		assert_false(question__ask(question, 0));
		question__put(question);
	}
	wait_for(&gate.waiting, QUESTION_THREADS_MAX);
	last = new_question();
	/* Answered, by nothing yet: no thread was started. */
	assert_true(question__ask(last, 0));
	assert_int_equal(last->code, -EAGAIN);
	assert_int_equal(gate.waiting, QUESTION_THREADS_MAX);

	pthread_mutex_lock(&gate.lock);
	gate.is_open = true;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	wait_for(&gate.freed, QUESTION_THREADS_MAX);
	/* The last thread frees its question a moment before it makes room. */
	while (last->code == -EAGAIN)
		question__ask(last, 1000);
	assert_int_equal(last->code, 7);
	question__put(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("questions that hang take a bounded number of threads", test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
