/* SPDX-License-Identifier: GPL-2.0-only */
/* The answer of a receiver, and its meaning: pure functions. */
#ifndef CONTROLLER_ANSWER_H
#define CONTROLLER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/random.h>

#define ANSWER_TEXT_MAX 200
#define ANSWER_BODY_MAX 4096

struct answer {
	bool is_one; /* an HTTP response arrived */
	long status; /* of HTTP */
	uint64_t retry_after_ns; /* the header Retry-After; 0 without it */
	/*
	 * Has a header X-Prometheus-Remote-Write-...-Written, as receivers of 2.0 must; and the
	 * number in that of samples, or ANSWER_WRITTEN_UNKNOWN.
	 */
	bool has_written;
	uint64_t written;
	char text[ANSWER_TEXT_MAX]; /* the reason why no answer arrived, or the first line of its body */
	bool is_line_whole; /* no further byte of the body belongs to it */
	/* Samples that the receiver left out of a message that it took, as a format reads it. */
	uint64_t rejected;
	size_t body_length;
	uint8_t body[ANSWER_BODY_MAX]; /* its beginning, for formats that read it */
};

#define ANSWER_WRITTEN_UNKNOWN UINT64_MAX

/* Before the first line of an answer. */
void answer__begin(struct answer *answer);
/*
 * Takes a line of the head.  Of several answers, such as 100 or a proxy's, the last counts: true if
 * @bytes begin one.
 */
bool answer__take_header(struct answer *answer, const char *bytes, size_t count);
/*
 * Takes the next bytes of the body, as far as they fit: the first line, in printable ASCII, is the
 * text.
 */
void answer__take_body(struct answer *answer, const char *bytes, size_t count);
/* The first line of these bytes is the text instead, in the same way. */
void answer__set_text(struct answer *answer, const char *bytes, size_t count);

enum verdict {
	VERDICT_DONE, /* the message was taken */
	VERDICT_AGAIN, /* the same message, later */
	VERDICT_REFUSED, /* this message will never be taken */
	VERDICT_OLDER, /* the receiver takes only the older format, see format.h */
	VERDICT_PARTLY, /* the samples that @written counts were taken, the others never */
	VERDICT_SMALLER, /* a piece of the message may be taken */
};

/*
 * The common rule, which the specifications of remote write give and InfluxDB follows: 2xx is
 * success; 429, 5xx and no answer call for another attempt; other 4xx must not be tried again.
 * 400, 413 and 422 may be about one series of many.  Redirections other than 307 and 308, which
 * the poster follows, wait for somebody to mend them.
 */
enum verdict answer__judge(const struct answer *answer);

/*
 * How long to wait before attempt @attempts, from 1 on: 100 ms, doubled each time up to 30 s,
 * between half and all of it at random, so that many controllers do not come back at once;
 * and as long as the receiver says, up to 5 min.
 */
#define ANSWER_BACKOFF_MIN_NS 100000000ULL
#define ANSWER_BACKOFF_MAX_NS 30000000000ULL
#define ANSWER_RETRY_AFTER_MAX_NS 300000000000ULL
uint64_t answer__backoff_ns(const struct answer *answer, unsigned int attempts,
			    struct dart_random *random);

#endif /* CONTROLLER_ANSWER_H */
