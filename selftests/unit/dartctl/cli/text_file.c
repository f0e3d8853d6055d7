// SPDX-License-Identifier: GPL-2.0-only
/* Files as editors of Windows save them: the byte order mark is not read as text. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/text_file.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/secret.h"
#include "tools/dartctl/lookup/input.h"

#define MARK "\xef\xbb\xbf"

static void expect_bytes(const char *bytes, const char *rest)
{
	size_t length = strlen(bytes);
	const void *at = bytes;

	dart_text_file__skip_mark(&at, &length);
	assert_int_equal(length, strlen(rest));
	assert_memory_equal(at, rest, length);
}

static void expect_file(const char *bytes, const char *rest)
{
	FILE *file = fmemopen((void *)bytes, strlen(bytes), "r");
	char read[16] = "";

	assert_non_null(file);
	dart_text_file__pass_mark(file);
	assert_int_equal(fread(read, 1, sizeof(read) - 1, file), strlen(rest));
	assert_string_equal(read, rest);
	fclose(file);
}

static void test_mark(void **state)
{
	expect_bytes(MARK "a", "a");
	expect_bytes(MARK, "");
	expect_bytes("a" MARK, "a" MARK);
	expect_bytes("\xef\xbb", "\xef\xbb");
	expect_bytes("\xef\xbc\x81", "\xef\xbc\x81");
	expect_bytes("", "");
	expect_file(MARK "[]", "[]");
	expect_file(MARK MARK, MARK);
	expect_file("[]", "[]");
	expect_file("a" MARK, "a" MARK);
}

static void expect_secret(const char *bytes, const char *expected)
{
	char path[] = "/tmp/text_file.XXXXXX";
	int fd = mkstemp(path);
	struct dart_error error;
	char *secret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
	assert_int_equal(secret__read(path, &secret, &error), 0);
	assert_string_equal(secret, expected);
	secret__free(secret);
	unlink(path);
}

static void test_secret(void **state)
{
	expect_secret(MARK "pass word\r\n", "pass word");
	expect_secret("pass word\n", "pass word");
	/* U+FF01, whose first byte equals that of the mark. */
	expect_secret("\xef\xbc\x81\n", "\xef\xbc\x81");
}

static const char schema_text[] = "key: [{name: port, type: u16}]\nvalue: [{name: to, type: u8}]\n";
static const char rows[] = MARK "port,to\r\n1,2\r\n3,4\r\n";

/* Byte by byte, as a pipe may give them. */
static void *feed(void *data)
{
	const int *fd = data;
	size_t i;

	for (i = 0; i < strlen(rows); i++)
		assert_int_equal(write(*fd, rows + i, 1), 1);
	close(*fd);
	return NULL;
}

static void test_rows(void **state)
{
	FILE *file = fmemopen((void *)schema_text, strlen(schema_text), "r");
	struct dart_key_schema *schema;
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct dart_error error;
	struct lookup_input input;
	pthread_t feeder;
	char name[32];
	int ends[2];

	assert_int_equal(dart_key_schema__load(file, "schema", &schema, &error), 0);
	fclose(file);
	assert_int_equal(lookup_layout__init(&layout, schema, &error), 0);
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(lookup_input__open(&input, name, &layout, lookup_csv__next, &error), 0);
	close(ends[0]);
	assert_int_equal(pthread_create(&feeder, NULL, feed, &ends[1]), 0);
	assert_int_equal(lookup_input__next(&input, entry, &error), 1);
	assert_memory_equal(entry, "\0\1\2", 3);
	assert_int_equal(lookup_input__next(&input, entry, &error), 1);
	assert_memory_equal(entry, "\0\3\4", 3);
	assert_int_equal(lookup_input__next(&input, entry, &error), 0);
	pthread_join(feeder, NULL);
	lookup_input__close(&input);
	lookup_layout__free(&layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a byte order mark at the beginning is skipped, and no other bytes are",
		     test_mark),
		TEST("a password is read without a byte order mark and line ends of Windows",
		     test_secret),
		TEST("entries of a table are read behind a byte order mark that comes byte by byte",
		     test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
