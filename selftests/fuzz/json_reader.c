// SPDX-License-Identifier: GPL-2.0-only
/* Replies of dartd as dartctl reads and prints them, JSON, beside jansson. */
#include <libdart/json.h>

#include "fuzz.h"
#include "tools/dartctl/cli/json_indent.h"

static unsigned int deeper(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

/* How deep objects and arrays are nested. */
static unsigned int depth_of(json_t *json)
{
	unsigned int depth = 0;
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(json))
		json_object_foreach(json, key, value)
			depth = deeper(depth, depth_of(value));
	if (json_is_array(json))
		json_array_foreach(json, i, value)
			depth = deeper(depth, depth_of(value));
	return depth + (json_is_object(json) || json_is_array(json));
}

static bool is_one_value(struct json_reader *reader, struct json_span *value)
{
	return json_reader__value(reader, value) && json_reader__next(reader) == JSON_TOKEN_END;
}

/* What is printed is ASCII, and the same value. */
static void check_printed(const char *text, size_t size, json_t *json)
{
	struct json_indent out = {};
	struct json_reader reader;
	json_t *printed;
	size_t i;

	json_reader__open(&reader, text, size);
	require(json_indent__value(&out, &reader) && !out.has_failed && !out.depth);
	for (i = 0; i < out.length; i++)
		require((out.bytes[i] >= ' ' && out.bytes[i] <= 0x7f) || out.bytes[i] == '\n');
	printed = dart_json__loadb(out.bytes, out.length, JSON_DECODE_ANY, NULL);
	require(printed && json_equal(printed, json));
	json_decref(printed);
	json_indent__clear(&out);
}

/* Each member that jansson knows is found with its value, unless escapes may hide its key. */
static void check_members(const char *text, size_t size, json_t *json)
{
	struct json_members members = {};
	const struct json_span *found;
	struct json_reader reader;
	json_t *loaded, *value;
	const char *key;

	json_reader__open(&reader, text, size);
	require(json_reader__next(&reader) == JSON_TOKEN_OBJECT);
	require(json_reader__members(&reader, &members));
	require(members.count >= json_object_size(json));
	if (!memchr(text, '\\', size)) {
		json_object_foreach(json, key, value) {
			found = json_members__find(&members, key);
			require(found);
			loaded = json_span__load(found);
			require(loaded && json_equal(loaded, value));
			json_decref(loaded);
		}
	}
	json_members__clear(&members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = (char *)exact_copy(data, size);
	json_t *json = dart_json__loadb(text, size, JSON_DECODE_ANY, NULL);
	struct json_reader reader;
	struct json_span value;
	json_t *plain;
	bool is_valid;

	json_reader__open(&reader, text, size);
	is_valid = is_one_value(&reader, &value);
	require(!is_valid || json);
	/* jansson takes a NUL for the end; dart_json__loadb() takes a wide integer for a key. */
	plain = json_loadb(text, size, JSON_DECODE_ANY, NULL);
	require(is_valid || !plain || depth_of(plain) > JSON_READER_DEPTH || memchr(text, 0, size));
	json_decref(plain);
	if (is_valid) {
		require(value.text >= text && value.text + value.length <= text + size);
		check_printed(text, size, json);
	}
	if (is_valid && json_is_object(json))
		check_members(text, size, json);
	json_decref(json);
	free(text);
	return 0;
}
