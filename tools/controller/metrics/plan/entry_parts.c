// SPDX-License-Identifier: GPL-2.0-only
/* Splits the names of entries. */
#include "entry_parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(char *to, size_t size, const char *from, size_t length)
{
	snprintf(to, size, "%.*s", (int)length, from);
}

/* Parses "1s" or "250ms" to milliseconds; 0 if @text is not an interval. */
static uint32_t parse_interval(const char *text)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text) || strlen(text) > 10)
		return 0;
	number = strtoul(text, &end, 10);
	if (!strcmp(end, "ms"))
		return number < UINT32_MAX ? number : 0;
	if (!strcmp(end, "s"))
		return number < UINT32_MAX / 1000 ? number * 1000 : 0;
	return 0;
}

static int digit_of(char digit)
{
	if (!isxdigit((unsigned char)digit))
		return -1;
	return isdigit((unsigned char)digit) ? digit - '0' :
					       tolower((unsigned char)digit) - 'a' + 10;
}

/* Decodes in place: each %XX becomes its byte, except NUL. */
static void decode(char *text)
{
	char *to = text;
	int high, low;

	while (*text) {
		high = *text == '%' ? digit_of(text[1]) : -1;
		low = high >= 0 ? digit_of(text[2]) : -1;
		if (low >= 0 && (high || low)) {
			*to++ = high * 16 + low;
			text += 3;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void entry_parts__split_selector(struct entry_parts *parts)
{
	char *slash;

	if (begins(parts->source, "snmp:") || !strcmp(parts->source, "sockets")) {
		strcpy(parts->netns, parts->selector);
		parts->selector[0] = '\0';
	} else if (begins(parts->source, "netdev:") || begins(parts->source, "rdma:")) {
		/* A device name never contains '/'. */
		slash = strrchr(parts->selector, '/');
		if (!slash)
			return;
		*slash = '\0';
		strcpy(parts->netns, parts->selector);
		memmove(parts->selector, slash + 1, strlen(slash + 1) + 1);
	}
}

void entry_parts__split(const char *name, struct entry_parts *parts)
{
	const char *plus = strrchr(name, '+');
	const char *at = strchr(name, '@');
	size_t length = strlen(name);

	parts->interval_ms = plus ? parse_interval(plus + 1) : 0;
	parts->interval[0] = '\0';
	parts->selector[0] = '\0';
	parts->netns[0] = '\0';
	if (parts->interval_ms) {
		length = plus - name;
		copy(parts->interval, sizeof(parts->interval), plus + 1, strlen(plus + 1));
	}
	parts->object_length = length;
	if (!at || at >= name + length) {
		copy(parts->source, sizeof(parts->source), name, length);
		return;
	}
	copy(parts->source, sizeof(parts->source), name, at - name);
	copy(parts->selector, sizeof(parts->selector), at + 1, name + length - at - 1);
	entry_parts__split_selector(parts);
	decode(parts->selector);
	decode(parts->netns);
}
