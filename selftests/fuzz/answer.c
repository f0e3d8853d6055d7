// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answer of a receiver of metrics: the lines of its head up to an empty one, and its body.  The
 * first byte says by how many bytes the body comes at a time, and the next two are the status.  Each
 * format reads and judges it.
 */
#include <strings.h>

#include "fuzz.h"
#include "tools/controller/base/url.h"
#include "tools/controller/push/formats/formats.h"

static const char own[] = "https://receiver.example:8443/api/v1/write";

static void check_text(const struct answer *answer)
{
	const char *byte;

	require(strnlen(answer->text, ANSWER_TEXT_MAX) < ANSWER_TEXT_MAX);
	for (byte = answer->text; *byte; byte++)
		require(*byte >= ' ' && *byte <= '~');
}

/* Is it "https", with the host and the port of the receiver after user and password? */
static bool is_own(const char *url)
{
	static const char scheme[] = "https:", host[] = "receiver.example:";
	char authority[4096];
	const char *begin;
	char *end;

	if (strncasecmp(url, scheme, strlen(scheme)))
		return false;
	begin = url + strlen(scheme) + strspn(url + strlen(scheme), "/");
	snprintf(authority, sizeof(authority), "%.*s", (int)strcspn(begin, "/?#"), begin);
	begin = strrchr(authority, '@') ? strrchr(authority, '@') + 1 : authority;
	/* A host may contain any character as %HH. */
	if (strchr(begin, '%'))
		return true;
	return !strncasecmp(begin, host, strlen(host)) &&
	       strtoul(begin + strlen(host), &end, 10) == 8443 && !*end;
}

/* A redirection with the origin of the receiver may take the token of the receiver along. */
static void check_location(const char *line, size_t length)
{
	static const char name[] = "Location: ";
	char *url;

	if (length < sizeof(name) || memcmp(line, name, sizeof(name) - 1))
		return;
	url = strndup(line + sizeof(name) - 1, length - (sizeof(name) - 1));
	require(url);
	url[strcspn(url, "\r\n")] = '\0';
	if (url__is_same_origin(own, url)) {
		require(is_own(url));
		require(url__is_same_origin(url, own));
	}
	free(url);
}

/* Returns the length of the head, with the empty line. */
static size_t take_head(struct answer *answer, const char *text, size_t size)
{
	size_t at = 0, length;
	const char *end;

	while (at < size) {
		end = memchr(text + at, '\n', size - at);
		length = end ? (size_t)(end + 1 - text) - at : size - at;
		if (answer__take_header(answer, text + at, length))
			require(!answer->has_written && answer->written == ANSWER_WRITTEN_UNKNOWN);
		require(answer->has_written || answer->written == ANSWER_WRITTEN_UNKNOWN);
		check_location(text + at, length);
		at += length;
		if (length == 1 || (length == 2 && text[at - 2] == '\r'))
			break;
	}
	return at;
}

/* As a format reads it.  What some samples are missing of is said to be taken in part. */
static void judge_by(const struct format *format, struct answer answer)
{
	const enum verdict verdict = format__judge(format, &answer, false);

	check_text(&answer);
	require(verdict != VERDICT_OLDER);
	if (verdict == VERDICT_PARTLY)
		require(answer.rejected || answer.written != ANSWER_WRITTEN_UNKNOWN);
	if (verdict == VERDICT_DONE)
		require(answer.status / 100 == 2 && !answer.rejected);
}

static void judge(const struct answer *answer)
{
	const struct format *const *format;
	struct dart_random random = {};
	enum verdict verdict;
	uint64_t wait_ns;
	unsigned int i;

	for (format = formats; *format; format++)
		judge_by(*format, *answer);
	for (i = 0; i < 4; i++) {
		verdict = i & 1 ? format_remote_write_2.judge(answer, i & 2) :
				  answer__judge(answer);
		/* Samples that count as written by 2.0 were acknowledged. */
		if (i & 1 && verdict == VERDICT_DONE)
			require(answer->has_written && answer->written);
		if (verdict == VERDICT_PARTLY)
			require(answer->written != ANSWER_WRITTEN_UNKNOWN);
		require(verdict != VERDICT_OLDER || i == 3);
	}
	for (i = 1; i < 40; i++) {
		wait_ns = answer__backoff_ns(answer, i, &random);
		require(wait_ns >= ANSWER_BACKOFF_MIN_NS / 2 &&
			wait_ns <= ANSWER_RETRY_AFTER_MAX_NS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer answer;
	size_t step, at, count;
	uint8_t *exact;

	if (size < 3)
		return 0;
	step = data[0] + 1;
	answer__begin(&answer);
	at = 3 + take_head(&answer, (const char *)data + 3, size - 3);
	for (; at < size; at += count) {
		count = step < size - at ? step : size - at;
		exact = exact_copy(data + at, count);
		answer__take_body(&answer, (const char *)exact, count);
		free(exact);
	}
	answer.status = data[1] | data[2] << 8;
	answer.is_one = answer.status >= 200;
	answer.retry_after_ns = (uint64_t)data[0] << 36;
	check_text(&answer);
	judge(&answer);
	return 0;
}
