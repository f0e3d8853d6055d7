// SPDX-License-Identifier: GPL-2.0-only
/* Questions to code that can hang: see question.h. */
#include "question.h"

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

struct question_sampler {
	struct dart_sampler sampler;
	struct dart_question *question;
};

/*
 * Not freezable: the kernel cannot be suspended while a work item of a freezable queue hangs.
 * Questions begin in a pass of the gathering, whose queue is freezable.  Up to @active questions
 * can hang before others have to wait; 0: the default, hundreds.
 */
static const struct {
	const char *name;
	int active;
} queues[] = {
	[DART_QUESTION_DISKS] = { "dart_zero_disk_fs", 0 },
	[DART_QUESTION_SERVERS] = { "dart_zero_fs", 64 },
	[DART_QUESTION_DRIVERS] = { "dart_zero_driver", 0 },
};

static struct workqueue_struct *workqueues[DART_QUESTION_QUEUES];

int dart_question_init(void)
{
	enum dart_question_queue i;

	static_assert(ARRAY_SIZE(queues) == DART_QUESTION_QUEUES);
	for (i = 0; i < DART_QUESTION_QUEUES; i++) {
		workqueues[i] = alloc_workqueue("%s", WQ_UNBOUND | WQ_SYSFS, queues[i].active,
						queues[i].name);
		if (!workqueues[i])
			goto err_queues;
	}
	return 0;

err_queues:
	while (i-- > 0)
		destroy_workqueue(workqueues[i]);
	return -ENOMEM;
}

void dart_question_exit(void)
{
	enum dart_question_queue i;

	for (i = 0; i < DART_QUESTION_QUEUES; i++)
		destroy_workqueue(workqueues[i]);
}

void dart_question_put(struct dart_question *question)
{
	if (refcount_dec_and_test(&question->references))
		question->kind->free(question);
}

static void ask_work(struct work_struct *work)
{
	struct dart_question *question = container_of(work, struct dart_question, work);
	const u64 patience = (u64)question->patience_ms * NSEC_PER_MSEC;
	const u64 time = ktime_get_boottime_ns();
	int ret;

	/* While the work item runs, it owns the values. */
	memset(question->values, 0, question->length);
	ret = question->kind->ask(question);

	spin_lock(&question->lock);
	question->is_slow = ktime_get_ns() - question->begun > patience;
	question->ret = ret;
	question->time = time;
	question->has_new = true;
	question->is_running = false;
	complete_all(&question->answered);
	spin_unlock(&question->lock);
	dart_question_put(question);
	/* dart_question_exit() waits for the return of this function. */
	module_put(THIS_MODULE);
}

void dart_question_begin(struct dart_question *question, const struct dart_question_kind *kind,
			 enum dart_question_queue queue, unsigned int patience_ms, void *values,
			 size_t length)
{
	question->kind = kind;
	question->queue = queue;
	question->patience_ms = patience_ms;
	question->values = values;
	question->length = length;
	refcount_set(&question->references, 1);
	INIT_WORK(&question->work, ask_work);
	init_completion(&question->answered);
	spin_lock_init(&question->lock);
	question->is_running = false;
	question->is_slow = false;
	question->has_new = false;
}

/* Called with the lock held, when the work item does not run. */
static void start(struct dart_question *question)
{
	question->is_running = true;
	question->has_new = false;
	question->begun = ktime_get_ns();
	reinit_completion(&question->answered);
	refcount_inc(&question->references);
	/* The region holds the module. */
	__module_get(THIS_MODULE);
	queue_work(workqueues[question->queue], &question->work);
}

static bool wait_for_answer(struct dart_question *question, unsigned int ms)
{
	return wait_for_completion_timeout(&question->answered, msecs_to_jiffies(ms));
}

/* Called with the lock held.  Copies the values only if it returns 0. */
static int take(struct dart_question *question, void *values, u64 *time)
{
	if (question->is_running || !question->has_new)
		return -EAGAIN;
	if (!question->ret) {
		*time = question->time;
		memcpy(values, question->values, question->length);
	}
	return question->ret;
}

int dart_question_first(struct dart_question *question, unsigned int ms)
{
	int ret = -EAGAIN;

	spin_lock(&question->lock);
	start(question);
	spin_unlock(&question->lock);
	wait_for_answer(question, ms);
	spin_lock(&question->lock);
	if (question->has_new)
		ret = question->ret;
	spin_unlock(&question->lock);
	return ret;
}

int dart_question_sample(struct dart_question *question, void *values, u64 *time)
{
	bool may_wait = false;
	int ret, newer;

	spin_lock(&question->lock);
	ret = take(question, values, time);
	if (!question->is_running && ret != -ENODEV) {
		may_wait = question->patience_ms && !question->is_slow;
		start(question);
	}
	spin_unlock(&question->lock);
	if (!may_wait || !wait_for_answer(question, question->patience_ms))
		return ret;

	spin_lock(&question->lock);
	newer = take(question, values, time);
	question->has_new = false;
	spin_unlock(&question->lock);
	return newer == -EAGAIN ? ret : newer;
}

struct dart_sampler *dart_question_sampler_new(const struct dart_sampler_kind *kind,
					       struct dart_question *question)
{
	struct question_sampler *sampler;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return NULL;
	sampler->sampler.kind = kind;
	sampler->question = question;
	return &sampler->sampler;
}

struct dart_question *dart_question_of(struct dart_sampler *sampler)
{
	return container_of(sampler, struct question_sampler, sampler)->question;
}

int dart_question_sampler_sample(struct dart_sampler *sampler, void *values, u64 *time)
{
	return dart_question_sample(dart_question_of(sampler), values, time);
}

void dart_question_sampler_free(struct dart_sampler *sampler)
{
	dart_question_put(dart_question_of(sampler));
	kfree(container_of(sampler, struct question_sampler, sampler));
}
