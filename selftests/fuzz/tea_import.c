// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of lookup tables, CSV or JSON: the first byte chooses the format, the second
 * the end of the first piece.  Each entry stays the same when it is printed and read
 * again.
 */
#include <errno.h>

#include "fuzz.h"
#include "tools/dartctl/lookup/parser.h"
#include "tools/dartctl/lookup/printer.h"

static const char text[] =
	"key: [{name: a, type: ipv4}, {name: p, type: u16, names: {dns: 53}}]\n"
	"value: [{name: v, type: ipv6}, {name: m, type: mac}, {name: b, type: bytes, count: 2},"
	"{name: t, type: text, count: 5}, {name: s, type: u16, count: 3, stack: true},"
	"{name: l, type: ipv4, count: 2}, {name: n, type: u64}]\n";

static struct lookup_layout *layout(void)
{
	static struct lookup_layout layout;
	struct dart_key_schema *schema;
	struct dart_error error;
	FILE *file;

	if (layout.count)
		return &layout;
	file = fmemopen((void *)text, strlen(text), "r");
	require(file && !dart_key_schema__load(file, "schema", &schema, &error));
	fclose(file);
	require(!lookup_layout__init(&layout, schema, &error));
	return &layout;
}

static void require_round_trip(const char *format, lookup_parser_next *next, const uint8_t *entry)
{
	const struct lookup_printer *printer = lookup_printer__find(format);
	const size_t length = layout()->key_length + layout()->value_length;
	uint8_t again[LOOKUP_ENTRY_MAX];
	struct lookup_parser parser;
	struct dart_error error;
	struct lookup_span span;
	size_t size;
	char *printed;
	FILE *file = open_memstream(&printed, &size);

	require(file && printer);
	if (printer->begin)
		printer->begin(file, layout());
	printer->entry(file, layout(), entry);
	fclose(file);
	span = (struct lookup_span){ printed, printed + size, true };
	lookup_parser__init(&parser, layout(), next);
	require(next(&parser, &span, again, &error) == 1);
	require(!memcmp(again, entry, length));
	free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct dart_error error = {};
	struct lookup_parser parser;
	struct lookup_span span;
	lookup_parser_next *next;
	char *bytes;
	int ret;

	if (size < 2)
		return 0;
	next = data[0] & 1 ? lookup_json__next : lookup_csv__next;
	bytes = (char *)exact_copy(data + 2, size - 2);
	span = (struct lookup_span){ bytes, bytes + size - 2, false };
	if (data[1] < size - 2)
		span.end = bytes + data[1];
	lookup_parser__init(&parser, layout(), next);
	while ((ret = next(&parser, &span, entry, &error))) {
		require(span.at >= bytes && span.at <= span.end);
		if (ret == 1) {
			require_round_trip("csv", lookup_csv__next, entry);
			require_round_trip("json", lookup_json__next, entry);
			continue;
		}
		if (ret != -EAGAIN) {
			require(ret == -EINVAL);
			require_sentence(&error);
			break;
		}
		require(!span.is_last);
		span.is_last = span.end == bytes + size - 2;
		span.end = bytes + size - 2;
	}
	free(bytes);
	return 0;
}
