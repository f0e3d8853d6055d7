// SPDX-License-Identifier: GPL-2.0-only
/* Names of any bytes as UTF-8, and back.  The first byte is the room for a text that is cut off. */
#include "fuzz.h"

/* Also without the room for all of it. */
static void check_cut(const char *name, size_t size, enum dart_escape escape, size_t room,
		      const char *whole)
{
	char *cut = malloc(room);
	size_t length;

	require(cut);
	length = dart_escape__text(name, size, escape, cut, room);
	require(length < room && strlen(cut) == length);
	require(dart_escape__is_utf8(cut) && !strncmp(cut, whole, length));
	/* Nothing that follows it would become an escape. */
	require(!length || cut[length - 1] != '\\');
	free(cut);
}

static void check_plain(const char *text)
{
	const unsigned char *byte;

	require(dart_escape__is_utf8(text));
	for (byte = (const unsigned char *)text; *byte; byte++)
		require(*byte >= ' ' && *byte != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name, *escaped, *sentence, *again;
	size_t room, length;

	if (!size)
		return 0;
	room = data[0] + 1;
	name = strndup((const char *)data + 1, size - 1);
	require(name);
	length = strlen(name);

	escaped = dart_escape__new(name, DART_ESCAPE_NAME);
	sentence = dart_escape__new(name, DART_ESCAPE_SENTENCE);
	require(escaped && sentence);
	check_plain(escaped);
	check_plain(sentence);
	require(dart_escape__is_plain(name, length) == !strcmp(name, escaped));
	check_cut(name, length, DART_ESCAPE_NAME, room, escaped);
	check_cut(name, length, DART_ESCAPE_SENTENCE, room, sentence);
	again = dart_escape__new(sentence, DART_ESCAPE_SENTENCE);
	require(again && !strcmp(again, sentence));
	dart_escape__decode(escaped);
	require(!strcmp(escaped, name));
	free(again);
	free(sentence);
	free(escaped);
	free(name);
	return 0;
}
