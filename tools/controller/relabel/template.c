// SPDX-License-Identifier: GPL-2.0-only
/* Replaces the names of groups in templates: see template.h. */
#include "template.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No expression has a group with a larger number. */
#define NUMBER_MAX 100000000U

int template_text__add(struct template_text *text, const char *bytes, size_t length)
{
	size_t room = text->room ?: 64;
	char *larger;

	while (room - 1 < text->length + length)
		room *= 2;
	if (room != text->room) {
		larger = realloc(text->text, room);
		if (!larger)
			return -ENOMEM;
		text->text = larger;
		text->room = room;
	}
	if (length)
		memcpy(text->text + text->length, bytes, length);
	text->length += length;
	text->text[text->length] = '\0';
	return 0;
}

/* Go also takes letters beyond ASCII; a group has no such name, so the reference is empty. */
static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/*
 * Finds the name after a dollar sign; returns the bytes that it takes with its braces, or 0 if
 * there is none.
 */
static size_t find_name(const char *at, const char **name, size_t *length)
{
	const bool has_brace = *at == '{';
	size_t end = has_brace;

	while (is_of_name(at[end]))
		end++;
	*name = at + has_brace;
	*length = end - has_brace;
	if (!*length || (has_brace && at[end] != '}'))
		return 0;
	return end + has_brace;
}

/* Is the name a number?  Go reads none with a leading zero. */
static bool read_number(const char *name, size_t length, unsigned int *number)
{
	size_t i;

	*number = 0;
	for (i = 0; i < length; i++) {
		if (!isdigit((unsigned char)name[i]) || *number >= NUMBER_MAX)
			return false;
		*number = *number * 10 + (name[i] - '0');
	}
	return *name != '0' || length == 1;
}

int template__expand(const char *template, const struct regex *regex,
		     const struct regex_group *groups, unsigned int count,
		     struct template_text *text)
{
	const char *dollar, *name;
	unsigned int number;
	size_t length, taken;
	int err = 0;

	while (!err && (dollar = strchr(template, '$'))) {
		err = template_text__add(text, template, dollar - template);
		template = dollar + 1;
		if (err)
			break;
		taken = find_name(template, &name, &length);
		if (!taken) {
			err = template_text__add(text, "$", 1);
			template += *template == '$';
			continue;
		}
		template += taken;
		if (!read_number(name, length, &number)) {
			number = regex__find_group(regex, name, length);
			if (!number)
				continue;
		}
		if (number < count && groups[number].at)
			err = template_text__add(text, groups[number].at, groups[number].length);
	}
	return err ?: template_text__add(text, template, strlen(template));
}
