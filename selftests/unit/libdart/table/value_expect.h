/* SPDX-License-Identifier: GPL-2.0-only */
/* Values as JSON, printed in both ways. */
#ifndef VALUE_EXPECT_H
#define VALUE_EXPECT_H

#include <libdart/table/value.h>

#include "sample.h"

static inline json_t *json__expect(json_t *json, const char *text)
{
	char *dump;

	assert_non_null(json);
	dump = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
	assert_non_null(dump);
	assert_string_equal(dump, text);
	free(dump);
	return json;
}

/* dart_entry__to_json() and dart_entry__print_json() agree on @text. */
static inline void values__expect(const struct dart_entry *entry, const void *copies,
			   const char *text)
{
	char *printed;
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	json_decref(json__expect(dart_entry__to_json(entry, copies), text));
	assert_non_null(out);
	dart_entry__print_json(entry, copies, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(printed, text);
	free(printed);
}

#endif /* VALUE_EXPECT_H */
