// SPDX-License-Identifier: GPL-2.0-only
/* Lists of targets in files and of URLs, JSON. */
#include "tools/controller/discovery/sd_json.h"

#include "fuzz.h"
#include "tools/controller/exposition/exposition_sd.h"

/* As another Prometheus gets it: with the labels of the target, each name once. */
static void print(const struct target_settings *target, enum label_names_form form)
{
	const char *name, *character;
	char *text = NULL;
	size_t length = 0;
	json_t *json, *labels, *value;
	FILE *file = open_memstream(&text, &length);

	require(file);
	require(!exposition_sd__print(file, "localhost", target->name, target->labels, form));
	fclose(file);
	json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	labels = json_object_get(json, "labels");
	require(json_is_object(labels));
	require(!strcmp(json_string_value(json_object_get(labels, "instance")), target->name));
	json_object_foreach(labels, name, value)
		for (character = name; form == LABEL_NAMES_PLAIN && *character; character++)
			require(*character == '_' || (*character >= '0' && *character <= '9') ||
				(*character >= 'A' && *character <= 'Z') ||
				(*character >= 'a' && *character <= 'z'));
	json_decref(json);
	free(text);
}

static void check(const struct target_list *list)
{
	const struct target_settings *target;
	json_t *labels;
	size_t i;

	for (i = 0; i < list->count; i++) {
		target = &list->items[i]->settings;
		require(*target->host && target->port && target->interval_ns);
		require(target->class <= SETTINGS_CLASS_MAX);
		require(!i || strcmp(list->items[i - 1]->settings.name, target->name) < 0);
		/* All outputs print the text unchanged. */
		labels = json_loads(target->labels->text, JSON_REJECT_DUPLICATES, NULL);
		require(json_is_object(labels) && json_object_get(labels, "dc"));
		json_decref(labels);
		print(target, LABEL_NAMES_UTF8);
		print(target, LABEL_NAMES_PLAIN);
	}
}

static struct relabel_rules *make_rules(void)
{
	static const char text[] =
		"[{regex: '__meta_(.*)', action: labelmap},"
		" {source_labels: [__address__], regex: '(.*):9100', target_label: __address__}]";
	struct relabel_rules *rules = NULL;
	const yaml_node_t *root;
	struct dart_error error;
	struct dart_yaml yaml;

	require(!dart_yaml__parse(&yaml, text, strlen(text), "rules", &root, &error));
	require(!relabel_rules__read(&yaml, root, &rules));
	dart_yaml__close(&yaml);
	return rules;
}

static void parse(const uint8_t *data, size_t size, struct relabel_rules *rules)
{
	struct target_defaults defaults = {
		.interval_ns = 1000000000,
		.labels = json_pack("{ss}", "dc", "d1"),
		.relabel = rules,
	};
	struct shared_text *source = shared_text__new("source");
	struct target_list list = {};
	struct target_faults faults = {};
	struct dart_error error = {};

	require(defaults.labels && source);
	if (sd_json__parse(data, size, &defaults, source, &list, &faults, &error))
		require_sentence(&error);
	check(&list);
	target_list__clear(&list);
	shared_text__release(source);
	json_decref(defaults.labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct relabel_rules *rules;

	if (!rules)
		rules = make_rules();
	parse(data, size, NULL);
	parse(data, size, rules);
	return 0;
}
