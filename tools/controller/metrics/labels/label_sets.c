// SPDX-License-Identifier: GPL-2.0-only
/* Stores sets of labels, and finds them by their text. */
#include "label_sets.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/settings/labels.h"

void label_list__add(struct label_list *list, const char *name, const char *value)
{
	uint32_t at, i;
	int order = 1;

	if (!*value || list->count == LABEL_LIST_MAX)
		return;
	for (at = list->count; at; at--) {
		order = strcmp(name, list->labels[at - 1].name);
		if (order >= 0)
			break;
	}
	if (at && !order)
		return;
	for (i = list->count++; i > at; i--)
		list->labels[i] = list->labels[i - 1];
	list->labels[at] = (struct metric_label){ name, value };
}

/*
 * Returns an upper bound of the text in bytes: a backslash may precede each byte of names and
 * values.
 */
static size_t text_bound(const struct label_list *list)
{
	size_t bytes = 1;
	uint32_t i;

	for (i = 0; i < list->count; i++)
		bytes += 2 * strlen(list->labels[i].name) + 2 * strlen(list->labels[i].value) +
			 strlen(",\"\"=\"\"");
	return bytes;
}

static char *print_value(char *to, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n') {
			*to++ = '\\';
			*to++ = 'n';
			continue;
		}
		if (*value == '"' || *value == '\\')
			*to++ = '\\';
		*to++ = *value;
	}
	return to;
}

/* Prints quotes around a name unless it is plain, as the text formats with UTF-8 require. */
static char *print_name(char *to, const char *name)
{
	if (labels__is_plain_name(name))
		return stpcpy(to, name);
	*to++ = '"';
	to = print_value(to, name);
	*to++ = '"';
	return to;
}

static bool label_sets__print(struct label_sets *sets, const struct label_list *list)
{
	const size_t bound = text_bound(list);
	char *larger, *to;
	uint32_t i;

	if (bound > sets->text_size) {
		larger = realloc(sets->text, bound * 2);
		if (!larger)
			return false;
		sets->text = larger;
		sets->text_size = bound * 2;
	}
	to = sets->text;
	for (i = 0; i < list->count; i++) {
		if (i)
			*to++ = ',';
		to = print_name(to, list->labels[i].name);
		to = stpcpy(to, "=\"");
		to = print_value(to, list->labels[i].value);
		*to++ = '"';
	}
	*to = '\0';
	return true;
}

/* Returns the one copy of @text in the arena; NULL if memory ran out. */
static const char *label_sets__keep(struct label_sets *sets, const char *text)
{
	const uint32_t found = text_index__find(&sets->values, text);
	const char **larger;
	const char *copy;
	uint32_t room;

	if (found != TEXT_INDEX_NONE)
		return sets->texts[found];
	if (sets->text_count == sets->text_room) {
		room = sets->text_room ? sets->text_room * 2 : 64;
		larger = reallocarray(sets->texts, room, sizeof(*larger));
		if (!larger)
			return NULL;
		sets->texts = larger;
		sets->text_room = room;
	}
	copy = arena__copy(sets->arena, text, strlen(text));
	if (!copy || text_index__add(&sets->values, copy, sets->text_count))
		return NULL;
	sets->texts[sets->text_count++] = copy;
	return copy;
}

static bool label_sets__grow(struct label_sets *sets)
{
	const uint32_t room = sets->room ? sets->room * 2 : 64;
	struct label_set *larger;

	if (sets->count < sets->room)
		return true;
	larger = reallocarray(sets->sets, room, sizeof(*larger));
	if (!larger)
		return false;
	sets->sets = larger;
	sets->room = room;
	return true;
}

static bool label_sets__copy(struct label_sets *sets, const struct label_list *list,
			     struct label_set *set)
{
	struct metric_label *labels = arena__take_array(sets->arena, list->count, sizeof(*labels));
	uint32_t i;

	set->text = arena__copy(sets->arena, sets->text, strlen(sets->text));
	set->labels = labels;
	set->count = list->count;
	if (!labels || !set->text)
		return false;
	for (i = 0; i < list->count; i++) {
		labels[i].name = label_sets__keep(sets, list->labels[i].name);
		labels[i].value = label_sets__keep(sets, list->labels[i].value);
		if (!labels[i].name || !labels[i].value)
			return false;
	}
	return true;
}

uint32_t label_sets__find(struct label_sets *sets, const struct label_list *list)
{
	struct label_set *set;
	uint32_t number;

	if (!label_sets__print(sets, list))
		return TEXT_INDEX_NONE;
	number = text_index__find(&sets->by_text, sets->text);
	if (number != TEXT_INDEX_NONE)
		return number;
	if (!label_sets__grow(sets))
		return TEXT_INDEX_NONE;
	set = &sets->sets[sets->count];
	if (!label_sets__copy(sets, list, set) ||
	    text_index__add(&sets->by_text, set->text, sets->count))
		return TEXT_INDEX_NONE;
	return sets->count++;
}

void label_sets__free(struct label_sets *sets)
{
	text_index__free(&sets->by_text);
	text_index__free(&sets->values);
	free(sets->sets);
	free(sets->texts);
	free(sets->text);
}
