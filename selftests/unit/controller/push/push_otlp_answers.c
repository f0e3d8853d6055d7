// SPDX-License-Identifier: GPL-2.0-only
/* Answers to messages of OTLP/HTTP, and the URL of requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/formats.h"

static struct answer read_answer(long status, const char *body, size_t length)
{
	struct answer answer;

	answer__begin(&answer);
	answer.is_one = true;
	answer.status = status;
	answer__take_body(&answer, body, length / 2);
	answer__take_body(&answer, body + length / 2, length - length / 2);
	format_otlp.read_answer(&answer);
	return answer;
}

static void expect_answer(long status, const char *body, size_t length, enum verdict verdict,
			  uint64_t rejected, const char *text)
{
	const struct answer answer = read_answer(status, body, length);

	assert_int_equal(format_otlp.judge(&answer, false), verdict);
	assert_int_equal(answer.rejected, rejected);
	assert_string_equal(answer.text, text);
}

#define ANSWER(status, body, verdict, rejected, text) \
	expect_answer(status, body, sizeof(body) - 1, verdict, rejected, text)

static void test_answers(void **state)
{
	ANSWER(200, "", VERDICT_DONE, 0, "");
	ANSWER(200, "\x0a\x00", VERDICT_DONE, 0, "");
	ANSWER(200, "\x0a\x07\x08\x03\x12\x03old", VERDICT_PARTLY, 3, "old");
	ANSWER(200, "\x0a\x07\x12\x03old\x08\x03", VERDICT_PARTLY, 3, "old");
	ANSWER(200, "\x0a\x02\x08\x03", VERDICT_PARTLY, 3, "");
	/* A warning: all was taken. */
	ANSWER(200, "\x0a\x09\x12\x07warning", VERDICT_DONE, 0, "warning");
	/* -1 */
	ANSWER(200, "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", VERDICT_DONE, 0, "");
	/* Status of google.rpc. */
	ANSWER(400,
	       "\x08\x03\x12\x09"
	       "bad\x1b\xffmess",
	       VERDICT_REFUSED, 0, "bad  mess");
	ANSWER(503,
	       "\x12\x04"
	       "busy",
	       VERDICT_AGAIN, 0, "busy");
	/* Other programs answer in words. */
	ANSWER(404, "404 page not found\n", VERDICT_REFUSED, 0, "404 page not found");
	ANSWER(502, "<html>", VERDICT_AGAIN, 0, "<html>");
	ANSWER(400, "{\"message\":\"x\"}", VERDICT_REFUSED, 0, "{\"message\":\"x\"}");
}

/* The table of the specification: no other status than these leads to another attempt. */
static void test_statuses(void **state)
{
	long status;

	for (status = 400; status < 600; status++) {
		const struct answer answer = read_answer(status, "", 0);
		const enum verdict verdict = format_otlp.judge(&answer, false);

		if (status == 429 || (status >= 502 && status <= 504))
			assert_int_equal(verdict, VERDICT_AGAIN);
		else
			assert_int_equal(verdict,
					 status == 413 ? VERDICT_SMALLER : VERDICT_REFUSED);
	}
}

/* Of a body that is longer than what is kept, the beginning counts; broken ones say nothing. */
static void test_broken_answers(void **state)
{
	static char body[3 * ANSWER_BODY_MAX];
	struct answer answer;
	size_t i;

	memset(body, 'x', sizeof(body));
	/* Lengths 12000 and 11994. */
	memcpy(body, "\x0a\xe0\x5d\x08\x03\x12\xda\x5d", 8);
	answer = read_answer(200, body, sizeof(body));
	assert_int_equal(answer.rejected, 3);
	assert_int_equal(strlen(answer.text), ANSWER_TEXT_MAX - 1);
	assert_int_equal(strspn(answer.text, "x"), ANSWER_TEXT_MAX - 1);
	for (i = 0; i < 8; i++) {
		answer = read_answer(200, body, i);
		assert_true(answer.rejected == 0 || answer.rejected == 3);
	}
	memset(body, 0xff, sizeof(body));
	answer = read_answer(200, body, sizeof(body));
	assert_int_equal(answer.rejected, 0);
	answer = read_answer(400, body, sizeof(body));
	assert_int_equal(format_otlp.judge(&answer, false), VERDICT_REFUSED);
}

static void expect_url(const char *url, const char *expected)
{
	char text[100];
	const struct receiver_settings settings = { .url = text };
	char *made;

	strcpy(text, url);
	made = format_otlp.url(&settings);
	assert_string_equal(made, expected);
	free(made);
}

static void test_urls(void **state)
{
	expect_url("http://h:4318", "http://h:4318/v1/metrics");
	expect_url("http://h:4318/", "http://h:4318/v1/metrics");
	expect_url("http://h/?a=b", "http://h/v1/metrics?a=b");
	expect_url("http://h?a=b", "http://h/v1/metrics?a=b");
	expect_url("https://h/api/v1/otlp/v1/metrics", "https://h/api/v1/otlp/v1/metrics");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("answers say what was left out, and why", test_answers),
		TEST("what the specification lets come again comes again, and nothing else",
		     test_statuses),
		TEST("no byte behind a broken answer is read", test_broken_answers),
		TEST("the path is that of the specification, unless the URL has one", test_urls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
