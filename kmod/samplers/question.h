/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions to code that can hang: a driver whose device is gone, or a file system whose server is
 * unreachable.  A work item of its own asks each question, so such code delays only its own record.
 */
#ifndef DART_ZERO_QUESTION_H
#define DART_ZERO_QUESTION_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "sampler.h"

struct dart_question;

/* Work items that hang delay only others of their queue, and only if they are many. */
enum dart_question_queue {
	DART_QUESTION_DISKS,	/* file systems that lie on disks */
	DART_QUESTION_SERVERS,	/* other file systems */
	DART_QUESTION_DRIVERS,	/* of network and RDMA devices */
	DART_QUESTION_QUEUES
};

struct dart_question_kind {
	/*
	 * Fills in the zeroed @question->values, and returns the codes of sample() in struct
	 * dart_sampler_kind.  Called by the work item, without locks.
	 */
	int (*ask)(struct dart_question *question);
	/* Frees the question, after both the sampler and the work item have released it. */
	void (*free)(struct dart_question *question);
};

/* Shared by a sampler and its work item: the last to finish frees it. */
struct dart_question {
	const struct dart_question_kind *kind;
	enum dart_question_queue queue;
	unsigned int patience_ms;
	void *values;			/* of @length bytes: @has_new guards them */
	size_t length;
	refcount_t references;
	struct work_struct work;
	struct completion answered;	/* completed while the work item does not run */

	spinlock_t lock;		/* guards the members below */
	bool is_running;
	bool is_slow;			/* the last answer took longer than the patience */
	bool has_new;			/* @ret, @time and @values are new */
	int ret;
	u64 time;			/* CLOCK_BOOTTIME, ns */
	u64 begun;			/* CLOCK_MONOTONIC, ns: time of the last question */
};

int dart_question_init(void);
/* Waits for all work items. */
void dart_question_exit(void);

/*
 * Initializes @question, with one reference.  A sample waits up to @patience_ms for an answer; 0:
 * it does not wait, and returns the answer of the previous sample.
 */
void dart_question_begin(struct dart_question *question, const struct dart_question_kind *kind,
			 enum dart_question_queue queue, unsigned int patience_ms, void *values,
			 size_t length);
void dart_question_put(struct dart_question *question);

/*
 * Asks for the first time, and waits up to @ms.  Returns the answer, which the next
 * dart_question_sample() returns again, or -EAGAIN without an answer in time.  Called without locks
 * by the only owner of @question, who holds the module.
 */
int dart_question_first(struct dart_question *question, unsigned int ms);

/*
 * Asks, and copies the values.  Waits as dart_question_begin() says, unless the last answer was
 * late.  The next call copies values that came late, with their time.  Returns the answer, or
 * -EAGAIN without a new answer.  One caller at a time, who holds the module.
 */
int dart_question_sample(struct dart_question *question, void *values, u64 *time);

/*
 * A sampler of @kind, whose sample() is dart_question_sampler_sample() and whose free() is
 * dart_question_sampler_free(); or NULL.  The sampler takes over the caller's reference.
 */
struct dart_sampler *dart_question_sampler_new(const struct dart_sampler_kind *kind,
					       struct dart_question *question);
int dart_question_sampler_sample(struct dart_sampler *sampler, void *values, u64 *time);
void dart_question_sampler_free(struct dart_sampler *sampler);
/* The question of a sampler that dart_question_sampler_new() made. */
struct dart_question *dart_question_of(struct dart_sampler *sampler);

#endif /* DART_ZERO_QUESTION_H */
