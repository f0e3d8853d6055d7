/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sentences of an output that pushes: its last error, and the log, which gets faults when they
 * begin and when they end, and losses once an hour.  In the thread of the output.
 */
#ifndef CONTROLLER_NOTICES_H
#define CONTROLLER_NOTICES_H

#include "tools/controller/base/few.h"
#include "tools/controller/base/hourly.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/outputs/output_figures.h"
#include "tools/controller/push/queue/rate_limit.h"
#include "tools/controller/push/queue/refusals.h"

/* How often in ten minutes the begin and the end of a fault are said at most. */
#define NOTICES_OF_FAULT 10
#define NOTICES_OF_FAULT_NS 600000000000ULL

/* A fault that comes and goes, as that of a receiver that is too busy for each second request. */
struct fault {
	bool is_told; /* it goes on, and was said */
	bool is_left_out; /* it goes on, and was not said */
	struct few few;
};

struct notices {
	struct output *log; /* NULL: nothing is said */
	const char *name; /* of the output, see receiver_settings__name() */
	const char *spool; /* its directory; NULL without a spool */
	struct output_error_holder error; /* copied in any thread */
	struct fault outage, spool_fault, force_fault;
	struct hourly damage, drops, older, limited;
};

/* All zeros before; the caller sets name and spool. */
void notices__open(struct notices *notices, struct output *log);
void notices__close(struct notices *notices);

/* Samples so far; the damaged ones of the spool do not count as dropped. */
struct notices_losses {
	unsigned long long dropped;
	unsigned long long damaged;
	unsigned long long damaged_bytes;
	unsigned long long older;
	struct rate_limit *limit; /* knows the largest agent */
};

void notices__say_losses(struct notices *notices, const struct notices_losses *losses,
			 uint64_t now_ns);

/* Says that scrapes were dropped because of the limit, with the name of an agent. */
void notices__say_limited(struct notices *notices, struct rate_limit *limit, uint64_t now_ns);

/* An attempt failed with @answer, for the reason @text, without a full stop. */
void notices__say_outage(struct notices *notices, const struct answer *answer, const char *text);
/* The receiver answers; samples were dropped so far. */
void notices__end_outage(struct notices *notices, unsigned long long dropped);
/* Samples were refused with @answer, which is the last error now. */
void notices__take_refusal(struct notices *notices, const struct answer *answer);
/* So many samples were refused for a reason, so far, now some of the host with @answer. */
void notices__say_refusal(const struct notices *notices, enum refusal_reason reason,
			  const char *host, unsigned long long samples,
			  const struct answer *answer);
/* The receiver gets the older format from now on. */
void notices__say_older(const struct notices *notices, const struct format *format);

/* The spool cannot be written to, or read, because of -@err. */
void notices__say_unwritable(struct notices *notices, int err);
void notices__say_unreadable(struct notices *notices, int err);
void notices__end_unwritable(struct notices *notices);
/* The spool was forced to the disk with @err, which may be 0. */
void notices__take_force(struct notices *notices, int err);

/* The last sentences. */
struct notices_sum {
	unsigned long long sent, refused, dropped, unsent, older, requests, bytes;
	unsigned long long left; /* samples that wait still */
};
void notices__sum_up(const struct notices *notices, const struct notices_sum *sum);

#endif /* CONTROLLER_NOTICES_H */
