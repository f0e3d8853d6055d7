// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sets of shares as text, see share_set.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share_set.h"

/* Bytes of the longest list: two of each three shares, "1021-1022,". */
#define TEXT_MAX ((DART_STORE_SHARES / 3 + 1) * 10 + 1)

/* Reads a number of at most 4 digits and advances @text. */
static bool parse_share(const char **text, uint32_t *share)
{
	size_t digits = strspn(*text, "0123456789");

	if (!digits || digits > 4)
		return false;
	*share = strtoul(*text, NULL, 10);
	*text += digits;
	return *share < DART_STORE_SHARES;
}

int dart_share_set__parse(const char *text, struct dart_share_set *set)
{
	const char *rest = text;
	uint32_t first, last;

	*set = (struct dart_share_set){};
	do {
		if ((rest != text && *rest++ != ',') || !parse_share(&rest, &first))
			return -EINVAL;
		last = first;
		if (*rest == '-') {
			rest++;
			if (!parse_share(&rest, &last) || last < first)
				return -EINVAL;
		}
		for (; first <= last; first++) {
			/* A share that is named twice is a mistake. */
			if (dart_share_set__has(set, first))
				return -EINVAL;
			dart_share_set__add(set, first);
		}
	} while (*rest);
	return 0;
}

char *dart_share_set__text(const struct dart_share_set *set)
{
	char *text = malloc(TEXT_MAX);
	uint32_t first, last;
	size_t used = 0;

	if (!text)
		return NULL;
	*text = '\0';
	for (first = 0; first < DART_STORE_SHARES; first = last + 1) {
		last = first;
		if (!dart_share_set__has(set, first))
			continue;
		while (last + 1 < DART_STORE_SHARES && dart_share_set__has(set, last + 1))
			last++;
		used += snprintf(text + used, TEXT_MAX - used, "%s%" PRIu32, used ? "," : "",
				 first);
		if (last != first)
			used += snprintf(text + used, TEXT_MAX - used, "-%" PRIu32, last);
	}
	return text;
}

uint32_t dart_share_set__count(const struct dart_share_set *set)
{
	uint32_t count = 0, w;

	for (w = 0; w < DART_STORE_SHARES / 64; w++)
		count += __builtin_popcountll(set->words[w]);
	return count;
}
