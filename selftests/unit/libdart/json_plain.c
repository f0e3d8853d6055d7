// SPDX-License-Identifier: GPL-2.0-only
/* The end of the plain bytes of a string, beside jansson. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>
#include <libdart/json_plain.h>

#include "selftests/unit/unit.h"

/* Several words, and a part of one before and after them. */
#define LENGTH_MAX 40
#define ALIGNMENTS 8

/* The bytes that jansson prints as they are, DEL excepted. */
static bool is_plain[256];

static bool is_printed_as_is(uint8_t byte)
{
	const char bytes[] = { byte };
	json_t *json = json_stringn(bytes, 1);
	char *printed = json ? dart_json__dumps(json, JSON_ENCODE_ANY) : NULL;
	bool is_same = printed && strlen(printed) == strlen("\"?\"") && printed[1] == (char)byte;

	free(printed);
	json_decref(json);
	return is_same;
}

/* Memory of @length plain bytes, which ends after the last one, at any @alignment. */
static char *plain_bytes(char **memory, size_t alignment, size_t length)
{
	size_t i;

	*memory = malloc(alignment + length ?: 1);
	assert_non_null(*memory);
	for (i = 0; i < length; i++)
		(*memory)[alignment + i] = "Az09 ~!#[]"[i % 10];
	return *memory + alignment;
}

static void test_other(void **state)
{
	size_t alignment, length = LENGTH_MAX, place;
	char *memory, *bytes;
	const char *end;
	unsigned int byte;

	for (byte = 0; byte < 256; byte++)
		for (alignment = 0; alignment < ALIGNMENTS; alignment++)
			for (place = 0; place < length; place++) {
				bytes = plain_bytes(&memory, alignment, length);
				bytes[place] = byte;
				end = bytes + (is_plain[byte] ? length : place);
				assert_ptr_equal(dart_json_plain__end(bytes, bytes + length), end);
				free(memory);
			}
}

static void test_lengths(void **state)
{
	size_t alignment, length;
	char *memory, *bytes;

	for (alignment = 0; alignment < ALIGNMENTS; alignment++)
		for (length = 0; length <= LENGTH_MAX; length++) {
			bytes = plain_bytes(&memory, alignment, length);
			assert_ptr_equal(dart_json_plain__end(bytes, bytes + length),
					 bytes + length);
			free(memory);
		}
}

/* A byte that a borrow or carry of the byte before it could hide or invent. */
static void test_pairs(void **state)
{
	unsigned int first, second;
	char bytes[9] = "abcdefgh";
	const char *end;

	for (first = 0; first < 256; first++)
		for (second = 0; second < 256; second++) {
			bytes[3] = first;
			bytes[4] = second;
			end = bytes + (!is_plain[first] ? 3 : !is_plain[second] ? 4 : 8);
			assert_ptr_equal(dart_json_plain__end(bytes, bytes + 8), end);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("each byte that JSON escapes ends a plain run, at each place", test_other),
		TEST("a run of any length at any alignment ends with its memory", test_lengths),
		TEST("no byte changes how the next one is taken", test_pairs),
	};
	unsigned int byte;

	for (byte = 0; byte < 256; byte++)
		is_plain[byte] = is_printed_as_is(byte) && byte != 0x7f;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
