/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A question to kernel code that can hang: a driver whose device is gone, or a file system whose
 * server is unreachable.  Each question has a thread, so such code delays only its own records.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A thread that hangs in the kernel cannot be ended, and its owner may come and go: a network device
 * of a container asks for its RDMA device.  More threads than this are not started.
 */
#define QUESTION_THREADS_MAX 256

struct question;

struct question_kind {
	/*
	 * Called by the thread, without locks: stores the answer in the struct that contains
	 * @question, and returns 0 or -errno.
	 */
	int (*ask)(struct question *question);
	/* Frees that struct, after both the owner and the thread released it; NULL: it stays. */
	void (*free)(struct question *question);
};

/*
 * The first member of a struct with the answer.  The thread uses this struct while a question is
 * outstanding, and the owner at all other times.
 */
struct question {
	const struct question_kind *kind;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t answered;
	unsigned int users;
	bool is_asking;
	int code; /* of the last answer: 0 or -errno; -EAGAIN: none yet */
	uint64_t begun; /* time of the last question, CLOCK_BOOTTIME, ns */
	uint64_t time; /* time of the last answer, or 0 */
};

void question__begin(struct question *question, const struct question_kind *kind);
/* Releases the question; an outstanding answer is dropped. */
void question__put(struct question *question);

/*
 * Asks, unless a question is outstanding, and waits up to @patience_ms ms for the answer.  Returns
 * true if the answer is there: no question is outstanding.  If no thread can be started, the answer
 * is the earlier one, and the next call tries again.
 */
bool question__ask(struct question *question, unsigned int patience_ms);
/* Returns true if no question is outstanding. */
bool question__is_answered(struct question *question);

#endif /* QUESTION_H */
