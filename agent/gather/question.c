// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include <libdart/clock.h>

#include "question.h"

/* Threads of all questions, including questions that their owners released before the answer. */
static atomic_uint threads;

void question__begin(struct question *question, const struct question_kind *kind)
{
	pthread_condattr_t attributes;

	*question = (struct question){
		.kind = kind,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.users = 1,
		.code = -EAGAIN,
	};
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&question->answered, &attributes);
	pthread_condattr_destroy(&attributes);
}

void question__put(struct question *question)
{
	bool is_last;

	pthread_mutex_lock(&question->lock);
	is_last = !--question->users;
	pthread_mutex_unlock(&question->lock);
	if (!is_last)
		return;
	pthread_cond_destroy(&question->answered);
	pthread_mutex_destroy(&question->lock);
	if (question->kind->free)
		question->kind->free(question);
}

static void *ask_once(void *argument)
{
	struct question *question = argument;
	const int code = question->kind->ask(question);

	pthread_mutex_lock(&question->lock);
	question->code = code;
	question->time = dart_clock__ns(CLOCK_BOOTTIME);
	question->is_asking = false;
	pthread_cond_broadcast(&question->answered);
	pthread_mutex_unlock(&question->lock);
	question__put(question);
	atomic_fetch_sub(&threads, 1);
	return NULL;
}

/* The caller holds the lock. */
static void start_thread(struct question *question)
{
	pthread_attr_t attributes;
	pthread_t thread;

	question->begun = dart_clock__ns(CLOCK_BOOTTIME);
	if (atomic_fetch_add(&threads, 1) >= QUESTION_THREADS_MAX) {
		atomic_fetch_sub(&threads, 1);
		return;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &attributes, ask_once, question)) {
		question->is_asking = true;
		question->users++;
	} else {
		atomic_fetch_sub(&threads, 1);
	}
	pthread_attr_destroy(&attributes);
}

/* The caller holds the lock, which is released during the wait. */
static void wait_for_answer(struct question *question, unsigned int patience_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += patience_ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (question->is_asking &&
	       !pthread_cond_timedwait(&question->answered, &question->lock, &until))
		;
}

bool question__ask(struct question *question, unsigned int patience_ms)
{
	bool is_answered;

	pthread_mutex_lock(&question->lock);
	if (!question->is_asking)
		start_thread(question);
	if (patience_ms)
		wait_for_answer(question, patience_ms);
	is_answered = !question->is_asking;
	pthread_mutex_unlock(&question->lock);
	return is_answered;
}

bool question__is_answered(struct question *question)
{
	bool is_answered;

	pthread_mutex_lock(&question->lock);
	is_answered = !question->is_asking;
	pthread_mutex_unlock(&question->lock);
	return is_answered;
}
