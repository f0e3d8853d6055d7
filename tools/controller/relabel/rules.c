// SPDX-License-Identifier: GPL-2.0-only
/* Applies rules to sets of labels, as Prometheus' package relabel does: see rules.h. */
#include "rules.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <nettle/md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "rules_private.h"
#include "template.h"

/* ---- sets */

void relabel_set__clear(struct relabel_set *set)
{
	set->count = 0;
	arena__free(&set->texts);
}

void relabel_set__free(struct relabel_set *set)
{
	relabel_set__clear(set);
	free(set->labels);
	*set = (struct relabel_set){};
}

/* Returns the place of @name, or the place where it belongs. */
static uint32_t relabel_set__find(const struct relabel_set *set, const char *name, bool *is_there)
{
	uint32_t low = 0, high = set->count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(name, set->labels[middle].name);
		if (!order) {
			*is_there = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	*is_there = false;
	return low;
}

const char *relabel_set__get(const struct relabel_set *set, const char *name)
{
	bool is_there;
	const uint32_t at = relabel_set__find(set, name, &is_there);

	return is_there ? set->labels[at].value : "";
}

static void relabel_set__remove(struct relabel_set *set, uint32_t at)
{
	set->count--;
	memmove(&set->labels[at], &set->labels[at + 1], (set->count - at) * sizeof(*set->labels));
}

static int relabel_set__grow(struct relabel_set *set)
{
	const uint32_t room = set->room ? 2 * set->room : 32;
	struct relabel_label *larger;

	if (set->count < set->room)
		return 0;
	larger = reallocarray(set->labels, room, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	set->labels = larger;
	set->room = room;
	return 0;
}

int relabel_set__put(struct relabel_set *set, const char *name, const char *value)
{
	bool is_there;
	const uint32_t at = relabel_set__find(set, name, &is_there);

	if (!*value) {
		if (is_there)
			relabel_set__remove(set, at);
		return 0;
	}
	if (is_there) {
		set->labels[at].value = value;
		return 0;
	}
	if (relabel_set__grow(set))
		return -ENOMEM;
	memmove(&set->labels[at + 1], &set->labels[at], (set->count - at) * sizeof(*set->labels));
	set->labels[at] = (struct relabel_label){ name, value };
	set->count++;
	return 0;
}

/* ---- one rule and one set */

struct work {
	struct relabel_set *set;
	const struct relabel_rule *rule;
	struct template_text joined; /* values of the source labels */
	struct regex_group *groups; /* of the last match */
	unsigned int group_room;
};

/* Sets the label @name to a copy of the text. */
static int work__put(struct work *work, const char *name, const char *value)
{
	struct arena *arena = &work->set->texts;
	const char *copy = arena__copy(arena, value, strlen(value));

	return copy ? relabel_set__put(work->set, name, copy) : -ENOMEM;
}

static int work__join(struct work *work)
{
	const struct relabel_rule *rule = work->rule;
	const char *value;
	size_t i;
	int err;

	work->joined.length = 0;
	err = template_text__add(&work->joined, "", 0);
	for (i = 0; !err && i < rule->source_count; i++) {
		value = relabel_set__get(work->set, rule->sources[i]);
		if (i)
			err = template_text__add(&work->joined, rule->separator,
						 strlen(rule->separator));
		err = err ?: template_text__add(&work->joined, value, strlen(value));
	}
	return err;
}

static int work__match(struct work *work, const char *text)
{
	return regex__search(work->rule->regex, text, 0, work->groups, 0);
}

/* Looks for a match from @start on, and for its groups. */
static int work__search(struct work *work, const char *text, size_t start)
{
	const unsigned int count = work->rule->group_count;
	struct regex_group *larger;

	if (count > work->group_room) {
		larger = reallocarray(work->groups, count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		work->groups = larger;
		work->group_room = count;
	}
	return regex__search(work->rule->regex, text, start, work->groups, count);
}

static int work__expand(struct work *work, const char *template, struct template_text *text)
{
	const struct relabel_rule *rule = work->rule;

	text->length = 0;
	return template__expand(template, rule->regex, work->groups, rule->group_count, text) ?:
		       template_text__add(text, "", 0);
}

static int work__replace(struct work *work)
{
	struct template_text name = {}, value = {};
	const char *target;
	int ret = work__search(work, work->joined.text, 0);

	if (ret <= 0)
		return ret;
	ret = work__expand(work, work->rule->target, &name) ?:
		      work__expand(work, work->rule->replacement, &value);
	if (!ret && relabel_name__is_valid(name.text)) {
		target = arena__copy(&work->set->texts, name.text, name.length);
		ret = target ? work__put(work, target, value.text) : -ENOMEM;
	}
	free(name.text);
	free(value.text);
	return ret;
}

static int work__hash(struct work *work)
{
	uint8_t digest[MD5_DIGEST_SIZE];
	struct md5_ctx context;
	uint64_t hash = 0;
	char text[24];
	int i;

	md5_init(&context);
	md5_update(&context, work->joined.length, (const uint8_t *)work->joined.text);
	md5_digest(&context, sizeof(digest), digest);
	for (i = 8; i < MD5_DIGEST_SIZE; i++)
		hash = hash << 8 | digest[i];
	snprintf(text, sizeof(text), "%" PRIu64, hash % work->rule->modulus);
	return work__put(work, work->rule->target, text);
}

/* Bytes of the character at @text, which is UTF-8; writes the code point. */
static size_t read_character(const char *text, wint_t *character)
{
	const uint8_t first = *text;
	size_t length = 1 + (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0), i;

	*character = length == 1 ? first : first & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			*character = first;
			return 1;
		}
		*character = *character << 6 | (text[i] & 0x3f);
	}
	return length;
}

static size_t write_character(wint_t character, char text[static 4])
{
	if (character < 0x80) {
		text[0] = character;
		return 1;
	}
	if (character < 0x800) {
		text[0] = 0xc0 | character >> 6;
		text[1] = 0x80 | (character & 0x3f);
		return 2;
	}
	if (character < 0x10000) {
		text[0] = 0xe0 | character >> 12;
		text[1] = 0x80 | (character >> 6 & 0x3f);
		text[2] = 0x80 | (character & 0x3f);
		return 3;
	}
	text[0] = 0xf0 | character >> 18;
	text[1] = 0x80 | (character >> 12 & 0x3f);
	text[2] = 0x80 | (character >> 6 & 0x3f);
	text[3] = 0x80 | (character & 0x3f);
	return 4;
}

static int work__change_case(struct work *work, wint_t (*change)(wint_t, locale_t))
{
	struct template_text changed = {};
	const char *at = work->joined.text;
	wint_t character;
	char bytes[4];
	size_t length;
	int ret = template_text__add(&changed, "", 0);

	while (!ret && *at) {
		at += read_character(at, &character);
		length = write_character(change(character, work->rule->locale), bytes);
		ret = template_text__add(&changed, bytes, length);
	}
	if (!ret)
		ret = work__put(work, work->rule->target, changed.text);
	free(changed.text);
	return ret;
}

/*
 * Replaces all matches in @name; an expression such as "a)|(b" has several.  As Go does, an empty
 * match right after another one is not replaced.
 */
static int work__rename(struct work *work, const char *name, struct template_text *renamed)
{
	const size_t length = strlen(name);
	size_t start = 0, done = 0, from, to;
	int ret = 0;

	renamed->length = 0;
	while (!ret && start <= length && (ret = work__search(work, name, start)) > 0) {
		from = work->groups[0].at - name;
		to = from + work->groups[0].length;
		ret = template_text__add(renamed, name + done, from - done);
		if (!ret && (to > done || !from))
			ret = template__expand(work->rule->replacement, work->rule->regex,
					       work->groups, work->rule->group_count, renamed);
		done = to;
		start = to > start ? to : start + 1;
		while ((name[start] & 0xc0) == 0x80)
			start++;
	}
	return ret ?: template_text__add(renamed, name + done, length - done);
}

/* Later labels in the order of their names replace earlier ones that get the same name. */
static int work__map(struct work *work)
{
	const uint32_t count = work->set->count;
	struct relabel_label *before = calloc(count + 1, sizeof(*before));
	struct template_text renamed = {};
	const char *name;
	uint32_t i;
	int ret = before ? 0 : -ENOMEM;

	if (before && count)
		memcpy(before, work->set->labels, count * sizeof(*before));
	for (i = 0; !ret && i < count; i++) {
		ret = work__match(work, before[i].name);
		if (ret > 0) {
			ret = work__rename(work, before[i].name, &renamed);
			name = ret ? NULL :
				     arena__copy(&work->set->texts, renamed.text, renamed.length);
			ret = name ? relabel_set__put(work->set, name, before[i].value) : -ENOMEM;
		}
	}
	free(renamed.text);
	free(before);
	return ret;
}

static int work__filter(struct work *work, bool keeps)
{
	struct relabel_set *set = work->set;
	uint32_t kept = 0, i;
	int ret;

	for (i = 0; i < set->count; i++) {
		ret = work__match(work, set->labels[i].name);
		if (ret < 0)
			return ret;
		if (ret == keeps)
			set->labels[kept++] = set->labels[i];
	}
	set->count = kept;
	return 0;
}

/* 1 if both are the same, 0 if not, or -errno: keeps the set? */
static int keep_if(int ret, bool wanted)
{
	return ret < 0 ? ret : ret == wanted;
}

/* 1: the set remains. */
static int done(int ret)
{
	return ret < 0 ? ret : 1;
}

static int work__apply(struct work *work)
{
	const struct relabel_rule *rule = work->rule;
	bool is_equal;

	switch (rule->action) {
	case RELABEL_KEEP:
	case RELABEL_DROP:
		return keep_if(work__match(work, work->joined.text), rule->action == RELABEL_KEEP);
	case RELABEL_KEEPEQUAL:
	case RELABEL_DROPEQUAL:
		is_equal = !strcmp(relabel_set__get(work->set, rule->target), work->joined.text);
		return is_equal == (rule->action == RELABEL_KEEPEQUAL);
	case RELABEL_HASHMOD:
		return done(work__hash(work));
	case RELABEL_LABELMAP:
		return done(work__map(work));
	case RELABEL_LABELDROP:
	case RELABEL_LABELKEEP:
		return done(work__filter(work, rule->action == RELABEL_LABELKEEP));
	case RELABEL_LOWERCASE:
		return done(work__change_case(work, towlower_l));
	case RELABEL_UPPERCASE:
		return done(work__change_case(work, towupper_l));
	case RELABEL_REPLACE:
	case RELABEL_ACTIONS:
		break;
	}
	return done(work__replace(work));
}

/* Does @target name the label, or a label that only a match determines? */
static bool may_write(const char *target, const char *name)
{
	return strchr(target, '$') || !strcmp(target, name);
}

static bool rule__touches(const struct relabel_rule *rule, const char *name)
{
	int found;

	switch (rule->action) {
	case RELABEL_KEEP:
	case RELABEL_DROP:
	case RELABEL_KEEPEQUAL:
	case RELABEL_DROPEQUAL:
		return false;
	case RELABEL_LABELMAP:
		return true;
	case RELABEL_LABELDROP:
	case RELABEL_LABELKEEP:
		found = regex__search(rule->regex, name, 0, NULL, 0);
		return found < 0 || found == (rule->action == RELABEL_LABELDROP);
	default:
		return may_write(rule->target, name);
	}
}

bool relabel_rules__touch(const struct relabel_rules *rules, const char *name)
{
	size_t i;

	for (i = 0; rules && i < rules->count; i++)
		if (rule__touches(&rules->rules[i], name))
			return true;
	return false;
}

int relabel_rules__apply(const struct relabel_rules *rules, struct relabel_set *set)
{
	struct work work = { .set = set };
	size_t i;
	int ret = 1;

	for (i = 0; rules && ret > 0 && i < rules->count; i++) {
		work.rule = &rules->rules[i];
		ret = work__join(&work);
		if (!ret)
			ret = work__apply(&work);
	}
	free(work.joined.text);
	free(work.groups);
	return ret;
}
