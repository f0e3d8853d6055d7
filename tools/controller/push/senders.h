/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number of messages that may be under way at a time: one while that is enough, then twice as
 * many, up to the bound of the settings.
 *
 * Some receivers serve one connection after the other, and answer nothing on a second connection
 * while the first is open: messages there would only wait.  So a question is asked first, see
 * poster__ask(), and later again if it gets no answer.  Pure functions.
 */
#ifndef CONTROLLER_SENDERS_H
#define CONTROLLER_SENDERS_H

#include <stdbool.h>
#include <stdint.h>

/* Answers in a row while more messages wait than there are senders, or no message waits. */
#define SENDERS_BUSY 3U
#define SENDERS_IDLE 64U
/* When it is asked again, twice as late each time. */
#define SENDERS_AGAIN_MIN_NS 10000000000ULL
#define SENDERS_AGAIN_MAX_NS 600000000000ULL

struct senders {
	unsigned int max;
	unsigned int count; /* now; from 1 on */
	unsigned int busy, idle; /* answers in a row */
	bool are_parallel; /* the receiver answers beside an open connection */
	uint64_t again_ns; /* when the question may be asked, CLOCK_MONOTONIC */
	unsigned int asked; /* in vain, in a row */
};

void senders__open(struct senders *senders, unsigned int max);

/*
 * A message was answered; @waiting messages could be sent if there were senders for them.  True
 * if the question is to be asked.
 */
bool senders__take(struct senders *senders, uint64_t waiting, uint64_t now_ns);
/* The question was answered, or not. */
void senders__take_question(struct senders *senders, bool is_answered, uint64_t now_ns);
/* A message got no answer, or was not taken: the next answer may come from another receiver. */
void senders__fail(struct senders *senders);

#endif /* CONTROLLER_SENDERS_H */
