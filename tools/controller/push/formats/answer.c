// SPDX-License-Identifier: GPL-2.0-only
/* Reads answers, and judges them: see answer.h. */
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WRITTEN_BEGIN "x-prometheus-remote-write-"
#define WRITTEN_END "-written"

void answer__begin(struct answer *answer)
{
	*answer = (struct answer){ .written = ANSWER_WRITTEN_UNKNOWN };
}

static bool begins(const char *bytes, size_t count, const char *with)
{
	return count >= strlen(with) && !strncasecmp(bytes, with, strlen(with));
}

/* Is it "X-Prometheus-Remote-Write-...-Written"?  Names of headers are the same in any case. */
static bool is_written(const char *line, size_t count)
{
	const char *colon = memchr(line, ':', count);
	const size_t length = colon ? colon - line : 0;

	return length > strlen(WRITTEN_BEGIN WRITTEN_END) && begins(line, length, WRITTEN_BEGIN) &&
	       !strncasecmp(colon - strlen(WRITTEN_END), WRITTEN_END, strlen(WRITTEN_END));
}

/* The number after the colon, or ANSWER_WRITTEN_UNKNOWN. */
static uint64_t number_of(const char *bytes, size_t count)
{
	const char *at = memchr(bytes, ':', count);
	char text[24], *end;
	size_t length = at ? bytes + count - ++at : 0;
	unsigned long long number;

	while (length && (*at == ' ' || *at == '\t')) {
		at++;
		length--;
	}
	if (!length || length >= sizeof(text) || *at < '0' || *at > '9')
		return ANSWER_WRITTEN_UNKNOWN;
	memcpy(text, at, length);
	text[length] = '\0';
	number = strtoull(text, &end, 10);
	return end[strspn(end, " \t\r\n")] ? ANSWER_WRITTEN_UNKNOWN : number;
}

bool answer__take_header(struct answer *answer, const char *bytes, size_t count)
{
	if (begins(bytes, count, "HTTP/")) {
		answer__begin(answer);
		return true;
	}
	if (is_written(bytes, count)) {
		answer->has_written = true;
		if (begins(bytes, count, WRITTEN_BEGIN "samples" WRITTEN_END ":"))
			answer->written = number_of(bytes, count);
	}
	return false;
}

static void take_text(struct answer *answer, const char *bytes, size_t count)
{
	size_t length = strlen(answer->text), i;

	for (i = 0; i < count && !answer->is_line_whole; i++) {
		if (bytes[i] == '\n' || length + 1 == ANSWER_TEXT_MAX) {
			answer->is_line_whole = true;
		} else {
			answer->text[length++] = bytes[i] < ' ' || bytes[i] > '~' ? ' ' : bytes[i];
			answer->text[length] = '\0';
		}
	}
}

void answer__take_body(struct answer *answer, const char *bytes, size_t count)
{
	const size_t room = ANSWER_BODY_MAX - answer->body_length;
	const size_t kept = count < room ? count : room;

	memcpy(answer->body + answer->body_length, bytes, kept);
	answer->body_length += kept;
	take_text(answer, bytes, count);
}

void answer__set_text(struct answer *answer, const char *bytes, size_t count)
{
	answer->text[0] = '\0';
	answer->is_line_whole = false;
	take_text(answer, bytes, count);
}

enum verdict answer__judge(const struct answer *answer)
{
	const long status = answer->status;

	if (!answer->is_one || status == 429 || status / 100 == 5 || status / 100 == 3)
		return VERDICT_AGAIN;
	if (status / 100 == 2)
		return VERDICT_DONE;
	return status == 400 || status == 413 || status == 422 ? VERDICT_SMALLER : VERDICT_REFUSED;
}

uint64_t answer__backoff_ns(const struct answer *answer, unsigned int attempts,
			    struct dart_random *random)
{
	uint64_t wait_ns = ANSWER_BACKOFF_MIN_NS;
	uint64_t asked_ns = answer->retry_after_ns;

	while (--attempts && wait_ns < ANSWER_BACKOFF_MAX_NS)
		wait_ns *= 2;
	if (wait_ns > ANSWER_BACKOFF_MAX_NS)
		wait_ns = ANSWER_BACKOFF_MAX_NS;
	wait_ns = wait_ns / 2 + dart_random__below(random, wait_ns / 2);
	if (asked_ns > ANSWER_RETRY_AFTER_MAX_NS)
		asked_ns = ANSWER_RETRY_AFTER_MAX_NS;
	return wait_ns > asked_ns ? wait_ns : asked_ns;
}
