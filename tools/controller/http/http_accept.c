// SPDX-License-Identifier: GPL-2.0-only
/* Reads Accept headers: see http_accept.h.  No parameter is expected to quote a comma. */
#include "http_accept.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"
#define WEIGHT_MAX 1000

/* How exactly a media range matches a type, in ascending order. */
enum exactness {
	OTHER,
	ANY, /* the range is an asterisk, a slash and an asterisk */
	ANY_SUBTYPE,
	EXACT,
};

/* A text without surrounding blanks. */
struct part {
	const char *text;
	size_t length;
};

/* Returns the part of @text up to @separator or @end, and moves @text past the separator. */
static struct part take_part(const char **text, const char *end, char separator)
{
	const char *found = memchr(*text, separator, end - *text);
	struct part part = { *text, (found ?: end) - *text };

	*text = found ? found + 1 : end;
	while (part.length && strchr(BLANKS, *part.text)) {
		part.text++;
		part.length--;
	}
	while (part.length && strchr(BLANKS, part.text[part.length - 1]))
		part.length--;
	return part;
}

static bool is_equal(struct part part, const char *text, size_t length)
{
	return part.length == length && !strncasecmp(part.text, text, length);
}

static enum exactness compare(struct part range, const char *type)
{
	const size_t slash = strcspn(type, "/");

	if (is_equal(range, type, strlen(type)))
		return EXACT;
	if (is_equal(range, "*/*", 3))
		return ANY;
	return range.length == slash + 2 && !strncasecmp(range.text, type, slash + 1) &&
			       range.text[slash + 1] == '*' ?
		       ANY_SUBTYPE :
		       OTHER;
}

/* Reads "0.25".  A malformed weight counts as 0, because the peer may not want the type. */
static unsigned int read_weight(struct part number)
{
	unsigned int weight = 0, unit = WEIGHT_MAX;
	size_t i;

	for (i = 0; i < number.length && i < sizeof("0.000") - 1; i++) {
		if (i == 1 && number.text[i] == '.')
			continue;
		if (!isdigit((unsigned char)number.text[i]))
			return 0;
		weight += (number.text[i] - '0') * unit;
		unit /= 10;
	}
	return weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
}

static void read_parameters(const char *text, const char *end, const char *parameter,
			    struct http_accepted *accepted)
{
	struct part part;

	while (text < end) {
		part = take_part(&text, end, ';');
		if (part.length > 2 && !strncasecmp(part.text, "q=", 2))
			accepted->weight =
				read_weight((struct part){ part.text + 2, part.length - 2 });
		else if (is_equal(part, parameter, strlen(parameter)))
			accepted->has_parameter = true;
	}
}

struct http_accepted http_accept__find(const char *accept, const char *type, const char *parameter)
{
	struct http_accepted best = { .weight = accept ? 0 : WEIGHT_MAX }, found;
	enum exactness most = OTHER, exactness;
	const char *text = accept ?: "", *end = text + strlen(text), *range, *range_end;
	struct part whole;

	while (text < end) {
		whole = take_part(&text, end, ',');
		range = whole.text;
		range_end = range + whole.length;
		exactness = compare(take_part(&range, range_end, ';'), type);
		found = (struct http_accepted){ .weight = WEIGHT_MAX,
						.is_named = exactness == EXACT };
		read_parameters(range, range_end, parameter, &found);
		if (exactness == OTHER || exactness < most ||
		    (exactness == most && found.weight <= best.weight))
			continue;
		most = exactness;
		best = found;
	}
	return best;
}
