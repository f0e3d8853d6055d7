// SPDX-License-Identifier: GPL-2.0-only
/* The heads and bodies of receivers' answers, and their meaning for remote write 2.0. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/url.h"
#include "tools/controller/push/formats/formats.h"

static struct answer read_head(const char *const *lines)
{
	struct answer answer;

	answer__begin(&answer);
	for (; *lines; lines++)
		answer__take_header(&answer, *lines, strlen(*lines));
	return answer;
}

/* Names of headers are the same in any case: balancers rewrite them. */
static void test_names(void **state)
{
	static const char *const heads[][3] = {
		{ "HTTP/1.1 204 OK\r\n", "X-Prometheus-Remote-Write-Samples-Written: 7\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "x-prometheus-remote-write-samples-written: 7\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "X-PROMETHEUS-REMOTE-WRITE-SAMPLES-WRITTEN: 7\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "X-Prometheus-Remote-Write-Samples-WRITTEN:\t7 \r\n" },
	};
	struct answer answer;
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		answer = read_head(heads[i]);
		answer.is_one = true;
		answer.status = 204;
		assert_true(answer.has_written);
		assert_int_equal(answer.written, 7);
		assert_int_equal(format_remote_write_2.judge(&answer, true), VERDICT_DONE);
	}
}

static void test_others(void **state)
{
	static const char *const heads[][3] = {
		{ "HTTP/1.1 204 OK\r\n", "X-Prometheus-Remote-Write-Version: 2.0.0\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "X-Prometheus-Remote-Write-Note: written: 7\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "X-Prometheus-Remote-Write-Samples-Written\r\n" },
		{ "HTTP/1.1 204 OK\r\n", "Written: 7\r\n" },
	};
	struct answer answer;
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		answer = read_head(heads[i]);
		answer.is_one = true;
		answer.status = 204;
		assert_false(answer.has_written);
		assert_int_equal(format_remote_write_2.judge(&answer, true), VERDICT_OLDER);
		assert_int_equal(format_remote_write_2.judge(&answer, false), VERDICT_REFUSED);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		const char *line;
		uint64_t written;
	} lines[] = {
		{ "X-Prometheus-Remote-Write-Samples-Written:0\r\n", 0 },
		{ "X-Prometheus-Remote-Write-Samples-Written: 18446744073709551614\r\n",
		  UINT64_MAX - 1 },
		{ "X-Prometheus-Remote-Write-Samples-Written: 99999999999999999999\r\n",
		  ANSWER_WRITTEN_UNKNOWN },
		{ "X-Prometheus-Remote-Write-Samples-Written: 7 8\r\n", ANSWER_WRITTEN_UNKNOWN },
		{ "X-Prometheus-Remote-Write-Samples-Written: -7\r\n", ANSWER_WRITTEN_UNKNOWN },
		{ "X-Prometheus-Remote-Write-Samples-Written:\r\n", ANSWER_WRITTEN_UNKNOWN },
		{ "X-Prometheus-Remote-Write-Histograms-Written: 7\r\n", ANSWER_WRITTEN_UNKNOWN },
	};
	struct answer answer;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		answer__begin(&answer);
		assert_false(answer__take_header(&answer, lines[i].line, strlen(lines[i].line)));
		assert_true(answer.has_written);
		assert_int_equal(answer.written, lines[i].written);
	}
}

/* Nothing of 100, or of a proxy, is left. */
static void test_last(void **state)
{
	static const char *const lines[] = {
		"HTTP/1.1 100 Continue\r\n",
		"X-Prometheus-Remote-Write-Samples-Written: 7\r\n",
		"\r\n",
		"HTTP/1.1 204 OK\r\n",
		NULL,
	};

	assert_false(read_head(lines).has_written);
}

static void test_body(void **state)
{
	struct answer answer;
	char text[300];

	answer__begin(&answer);
	answer__take_body(&answer, "too ", 4);
	answer__take_body(&answer, "late\x1b\xff\nand more", 15);
	answer__take_body(&answer, "still", 5);
	assert_string_equal(answer.text, "too late  ");

	answer__begin(&answer);
	memset(text, 'x', sizeof(text));
	answer__take_body(&answer, text, sizeof(text));
	answer__take_body(&answer, text, sizeof(text));
	assert_int_equal(strlen(answer.text), ANSWER_TEXT_MAX - 1);
}

/* Where a redirection may take the token of a receiver. */
static void test_origin(void **state)
{
	static const char own[] = "https://user:secret@receiver.example/api/v1/write?a=b";
	static const char *const same[] = {
		"https://receiver.example/",
		"https://RECEIVER.example:443/other#part",
		"HTTPS://somebody:else@receiver.example/",
	};
	static const char *const others[] = {
		"http://receiver.example/",
		"https://receiver.example:8443/",
		"https://receiver.example.evil.example/",
		"https://receiver.example@evil.example/",
		"https://evil.example/https://receiver.example/",
		"https://evil.example#@receiver.example/",
		"https://evil.example?@receiver.example/",
		"https://receiver.example./",
		"//receiver.example/",
		"receiver.example",
		"file:///etc/passwd",
		"",
	};
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_true(url__is_same_origin(own, same[i]));
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(url__is_same_origin(own, others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a header of 2.0 counts in any case of its name", test_names),
		TEST("no other header does", test_others),
		TEST("a number of samples that is not one is not known", test_numbers),
		TEST("only the last of several answers counts", test_last),
		TEST("the first line of the body is kept, as far as it fits, in ASCII", test_body),
		TEST("another scheme, host or port is another origin", test_origin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
