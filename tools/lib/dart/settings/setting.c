// SPDX-License-Identifier: LGPL-2.1-or-later
/* Takes, compares and frees the members that rows of settings describe: see setting.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/quantity.h>
#include <libdart/settings/setting.h>

#define PLACES_MAX	4

static void *member_of(const struct dart_setting *setting, const void *object)
{
	return (char *)object + setting->offset;
}

static bool is_text(const struct dart_setting *setting)
{
	return setting->type == DART_SETTING_TEXT || setting->type == DART_SETTING_PATH;
}

static enum dart_quantity quantity_of(const struct dart_setting *setting)
{
	return setting->type == DART_SETTING_TIME  ? DART_QUANTITY_TIME :
	       setting->type == DART_SETTING_BYTES ? DART_QUANTITY_BYTES :
						     DART_QUANTITY_NUMBER;
}

/* ---- one value */

/* "A, B or C" of the words "A|B|C". */
static void print_words(const char *words, const char *last, char *text, size_t size)
{
	size_t used = 0, length;

	for (*text = '\0'; *words && used < size; words += length + !!words[length]) {
		length = strcspn(words, "|");
		used += snprintf(text + used, size - used, "%s%.*s",
				 !used ? "" : words[length] ? ", " : last, (int)length, words);
	}
}

void dart_setting__print_bounds(const struct dart_setting *setting, char *text, size_t size)
{
	char least[32], most[32];

	*text = '\0';
	if (setting->expected) {
		snprintf(text, size, "%s", setting->expected);
	} else if (setting->type == DART_SETTING_CHOICE) {
		print_words(setting->words, " or ", text, size);
	} else if (setting->most) {
		dart_quantity__print(quantity_of(setting), setting->least, least, sizeof(least));
		dart_quantity__print(quantity_of(setting), setting->most, most, sizeof(most));
		snprintf(text, size, "%s to %s%s%s", least, most, setting->example ? ", e.g. " : "",
			 setting->example ?: "");
	}
}

int dart_setting__refuse(const struct dart_setting *setting, const char *text,
			 struct dart_error *error)
{
	char bounds[160];

	if (setting->type == DART_SETTING_PATH && *text && *text != '/')
		return dart_error__set(error, EINVAL, "'%.200s' is not an absolute path", text);
	if (is_text(setting))
		return dart_error__set(error, EINVAL, "expected %s", setting->noun ?: "a text");
	dart_setting__print_bounds(setting, bounds, sizeof(bounds));
	if (setting->noun)
		return dart_error__set(error, EINVAL, "'%.200s' is not %s%s%s%s", text,
				       setting->noun, *bounds ? " (expected " : "", bounds,
				       *bounds ? ")" : "");
	if (setting->type != DART_SETTING_CHOICE)
		return dart_error__set(error, EINVAL, "'%.200s' is not a number from %s", text,
				       bounds);
	print_words(setting->words, " nor ", bounds, sizeof(bounds));
	return dart_error__set(error, EINVAL, "'%.200s' is neither %s", text, bounds);
}

/* The number of @word among @words, from 1; 0 if it is not one of them. */
static uint64_t find_word(const char *words, const char *word)
{
	const size_t wanted = strlen(word);
	uint64_t number;
	size_t length;

	for (number = 1; *words; number++, words += length + !!words[length]) {
		length = strcspn(words, "|");
		if (length == wanted && !strncmp(words, word, length))
			return number;
	}
	return 0;
}

static uint64_t number_of(const struct dart_setting *setting, const void *object)
{
	const void *member = member_of(setting, object);

	return setting->size == sizeof(uint8_t)	 ? *(const uint8_t *)member :
	       setting->size == sizeof(uint16_t) ? *(const uint16_t *)member :
	       setting->size == sizeof(uint32_t) ? *(const uint32_t *)member :
						   *(const uint64_t *)member;
}

static void set_number(const struct dart_setting *setting, void *object, uint64_t value)
{
	void *member = member_of(setting, object);

	if (setting->size == sizeof(uint8_t))
		*(uint8_t *)member = value;
	else if (setting->size == sizeof(uint16_t))
		*(uint16_t *)member = value;
	else if (setting->size == sizeof(uint32_t))
		*(uint32_t *)member = value;
	else
		*(uint64_t *)member = value;
}

static int set_text(const struct dart_setting *setting, void *object, const char *text,
		    struct dart_error *error)
{
	char **member = member_of(setting, object);

	if (!*text || (setting->type == DART_SETTING_PATH && *text != '/'))
		return dart_setting__refuse(setting, text, error);
	free(*member);
	*member = strdup(text);
	return *member ? 0 : dart_error__no_memory(error);
}

int dart_setting__take(const struct dart_setting *setting, void *object, const char *text,
		       struct dart_error *error)
{
	uint64_t value;

	if (setting->take)
		return setting->take(object, setting, text, error);
	switch (setting->type) {
	case DART_SETTING_FLAG:
		*(bool *)member_of(setting, object) = true;
		return 0;
	case DART_SETTING_WORD:
		*(const char **)member_of(setting, object) = text;
		return 0;
	case DART_SETTING_TEXT:
	case DART_SETTING_PATH:
		return set_text(setting, object, text, error);
	case DART_SETTING_CHOICE:
		value = find_word(setting->words, text);
		if (!value)
			return dart_setting__refuse(setting, text, error);
		break;
	default:
		if (dart_quantity__parse(quantity_of(setting), text, setting->least, setting->most,
					 &value))
			return dart_setting__refuse(setting, text, error);
	}
	set_number(setting, object, value);
	return 0;
}

const struct dart_setting *dart_settings__find(const struct dart_settings *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (table->rows[i].key && !strcmp(table->rows[i].key, name))
			return &table->rows[i];
	for (i = 0; i < table->count; i++)
		if (table->rows[i].option && !strcmp(table->rows[i].option, name))
			return &table->rows[i];
	return NULL;
}

/* ---- files */

enum match { MATCH_NONE, MATCH_KEY, MATCH_MAPPING };

/* Is @key, as "flow.bytes", the key @name of @group, or in a mapping of this name? */
static enum match match_key(const char *key, const char *group, const char *name)
{
	const size_t above = group ? strlen(group) : 0, length = strlen(name);

	if (!key || strchr(name, '.'))
		return MATCH_NONE;
	if (group) {
		if (strncmp(key, group, above) || key[above] != '.')
			return MATCH_NONE;
		key += above + 1;
	}
	if (strncmp(key, name, length))
		return MATCH_NONE;
	return !key[length] ? MATCH_KEY : key[length] == '.' ? MATCH_MAPPING : MATCH_NONE;
}

/* The first row that has @name, directly or as its mapping. */
static enum match find_row(const struct dart_settings_of *places, const char *group,
			   const char *name, size_t *place, size_t *row)
{
	enum match match;

	for (*place = 0; places[*place].table; ++*place) {
		for (*row = 0; *row < places[*place].table->count; ++*row) {
			match = match_key(places[*place].table->rows[*row].key, group, name);
			if (match)
				return match;
		}
	}
	return MATCH_NONE;
}

static int refuse_key(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
		      const char *name, const struct dart_settings_of *places)
{
	const size_t above = group ? strlen(group) + 1 : 0;
	char known[256] = "", key[64];
	size_t i, place, row, used = 0;
	const struct dart_settings *table;

	for (; places->table; places++) {
		table = places->table;
		for (i = 0; i < table->count && used < sizeof(known); i++) {
			if (!table->rows[i].key || strlen(table->rows[i].key) <= above)
				continue;
			snprintf(key, sizeof(key), "%.*s",
				 (int)strcspn(table->rows[i].key + above, "."),
				 table->rows[i].key + above);
			/* Each mapping once, where its first row is. */
			if (!find_row(places, group, key, &place, &row) || place || row != i)
				continue;
			used += snprintf(known + used, sizeof(known) - used, "%s%s",
					 used ? ", " : "", key);
		}
	}
	return dart_yaml__refuse(yaml, node, "unknown key '%s' (the keys here are %s)",
				 name ?: "?", known);
}

static int read_value(struct dart_yaml *yaml, const yaml_node_t *node,
		      const struct dart_setting *setting, void *object)
{
	const char *text = dart_yaml__text(node);
	struct dart_error error;
	int ret;

	if (setting->read)
		return setting->read(yaml, node, object);
	ret = text ? dart_setting__take(setting, object, text, &error) :
		     dart_setting__refuse(setting, setting->noun ? "?" : "", &error);
	if (ret == -EINVAL)
		return dart_yaml__refuse(yaml, node, "%s", error.text);
	return ret ? dart_error__no_memory(yaml->error) : 0;
}

/* @seen has a bit for each row of each place. */
static int read_pair(struct dart_yaml *yaml, const yaml_node_pair_t *pair, const char *group,
		     const struct dart_settings_of *places, uint64_t seen[static PLACES_MAX])
{
	const yaml_node_t *node = yaml_document_get_node(&yaml->document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);
	const char *name = dart_yaml__text(node);
	const struct dart_setting *setting;
	size_t place, row;
	enum match match;
	int ret;

	match = name ? find_row(places, group, name, &place, &row) : MATCH_NONE;
	if (!match)
		return refuse_key(yaml, node, group, name, places);
	if (seen[place] & 1ULL << row)
		return dart_yaml__refuse(yaml, node, "'%s' occurs twice (remove one)", name);
	seen[place] |= 1ULL << row;
	/* The keys of tables have one dot at most. */
	if (match == MATCH_MAPPING)
		return dart_settings__read(yaml, value, name, places);
	places += place;
	setting = &places->table->rows[row];
	ret = places->before ? places->before(yaml, value, setting, places->subject) : 0;
	return ret ?: read_value(yaml, value, setting, places->object);
}

int dart_settings__read(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
			const struct dart_settings_of *places)
{
	uint64_t seen[PLACES_MAX] = {};
	const yaml_node_pair_t *pair;
	int ret = 0, taken;

	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     dart_yaml__goes_on(yaml, ret) && pair < node->data.mapping.pairs.top; pair++) {
		taken = read_pair(yaml, pair, group, places, seen);
		ret = taken ?: ret;
	}
	return ret;
}

/* ---- whole structures */

static bool is_set(const struct dart_setting *setting, const void *object)
{
	const char *byte = member_of(setting, object);
	size_t i;

	for (i = 0; setting->type && i < setting->size; i++)
		if (byte[i])
			return true;
	return false;
}

bool dart_settings__has_any(const struct dart_settings *table, const void *object)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (table->rows[i].key && is_set(&table->rows[i], object))
			return true;
	return false;
}

/* Is a joint row of the mapping that @setting is in set? */
static bool is_joint_set(const struct dart_settings *table, const struct dart_setting *setting,
			 const void *object)
{
	const size_t length = strcspn(setting->key, ".") + 1;
	const struct dart_setting *row;
	size_t i;

	for (i = 0; i < table->count; i++) {
		row = &table->rows[i];
		if (row->is_joint && !strncmp(row->key, setting->key, length) &&
		    is_set(row, object))
			return true;
	}
	return false;
}

void dart_settings__merge(const struct dart_settings *table, void *into, void *from)
{
	const struct dart_setting *setting;
	uint64_t moved = 0;
	size_t i;

	for (i = 0; i < table->count; i++) {
		setting = &table->rows[i];
		if (is_set(setting, from) && !is_set(setting, into) &&
		    !(setting->is_joint && is_joint_set(table, setting, into)))
			moved |= 1ULL << i;
	}
	for (i = 0; i < table->count; i++) {
		setting = &table->rows[i];
		if (!(moved & 1ULL << i))
			continue;
		memcpy(member_of(setting, into), member_of(setting, from), setting->size);
		memset(member_of(setting, from), 0, setting->size);
	}
}

static bool is_same(const struct dart_setting *setting, const void *one, const void *other)
{
	const void *a = member_of(setting, one), *b = member_of(setting, other);
	const char *text = is_text(setting) ? *(char *const *)a : NULL;

	if (text && *(char *const *)b)
		return !strcmp(text, *(char *const *)b);
	return !memcmp(a, b, setting->size);
}

bool dart_settings__equal(const struct dart_settings *table, const void *one, const void *other,
			  bool is_for_start)
{
	const struct dart_setting *setting;
	size_t i;

	for (i = 0; i < table->count; i++) {
		setting = &table->rows[i];
		if (setting->type && (setting->is_for_start || !is_for_start) &&
		    !is_same(setting, one, other))
			return false;
	}
	return true;
}

void dart_settings__print_for_start(const struct dart_settings *table, const char *separator,
				    char *text, size_t size)
{
	const char *key, *last = "";
	size_t i, used = 0;
	int length;

	*text = '\0';
	for (i = 0; i < table->count && used < size; i++) {
		key = table->rows[i].key;
		length = key ? strcspn(key, ".") : 0;
		/* The keys of a mapping are neighbours. */
		if (!table->rows[i].is_for_start || !key ||
		    (strcspn(last, ".") == (size_t)length && !strncmp(last, key, length)))
			continue;
		used += snprintf(text + used, size - used, "%s%.*s", used ? separator : "", length,
				 key);
		last = key;
	}
}

int dart_settings__own(const struct dart_settings *table, void *copy)
{
	char **text;
	int ret = 0;
	size_t i;

	for (i = 0; i < table->count; i++) {
		text = is_text(&table->rows[i]) ? member_of(&table->rows[i], copy) : NULL;
		if (!text || !*text)
			continue;
		*text = strdup(*text);
		if (!*text)
			ret = -ENOMEM;
	}
	return ret;
}

/* The word of a CHOICE, as JSON. */
static json_t *word_to_json(const struct dart_setting *setting, uint64_t number)
{
	const char *word = setting->words;

	for (; number > 1; number--)
		word += strcspn(word, "|") + 1;
	return json_stringn(word, strcspn(word, "|"));
}

static json_t *value_to_json(const struct dart_setting *setting, const void *object)
{
	switch (setting->type) {
	case DART_SETTING_TEXT:
	case DART_SETTING_PATH:
	case DART_SETTING_WORD:
		return json_string(*(char *const *)member_of(setting, object));
	case DART_SETTING_FLAG:
		return json_true();
	case DART_SETTING_CHOICE:
		return word_to_json(setting, number_of(setting, object));
	default:
		return json_integer(number_of(setting, object));
	}
}

int dart_settings__to_json(const struct dart_settings *table, const void *object, json_t *json)
{
	const struct dart_setting *setting;
	const char *key, *dot;
	char group[64];
	json_t *into;
	size_t i;

	for (i = 0; i < table->count; i++) {
		setting = &table->rows[i];
		key = setting->key;
		if (!key || !is_set(setting, object))
			continue;
		dot = strchr(key, '.');
		into = json;
		if (dot) {
			snprintf(group, sizeof(group), "%.*s", (int)(dot - key), key);
			if (!json_object_get(json, group) &&
			    json_object_set_new(json, group, json_object()))
				return -ENOMEM;
			into = json_object_get(json, group);
			key = dot + 1;
		}
		if (json_object_set_new(into, key, value_to_json(setting, object)))
			return -ENOMEM;
	}
	return 0;
}

void dart_settings__clear(const struct dart_settings *table, void *object)
{
	const struct dart_setting *setting;
	size_t i;

	for (i = 0; i < table->count; i++) {
		setting = &table->rows[i];
		if (is_text(setting))
			free(*(char **)member_of(setting, object));
		if (setting->type)
			memset(member_of(setting, object), 0, setting->size);
	}
}
