// SPDX-License-Identifier: GPL-2.0-only
/* Applies rules to the targets that sources name: see target_relabel.h. */
#include "target_relabel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/settings/labels.h"

#define ADDRESS "__address__"

const char *target_relabel__key(const char *label)
{
	static const struct {
		const char *label, *key;
	} keys[] = {
		{ "__scrape_interval__", "interval" },
		{ "__class__", "class" },
		{ "__transport__", "transport" },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(label, keys[i].label))
			return keys[i].key;
	return NULL;
}

/* Fills the set; the texts are those of @target.  Returns 0 or -ENOMEM. */
static int fill_set(struct relabel_set *set, const struct unlabelled_target *target)
{
	const char *name;
	json_t *value;
	int err = 0;
	size_t i;

	for (i = 0; i < TARGET_RELABEL_OBJECTS; i++) {
		json_object_foreach((json_t *)target->labels[i], name, value)
			err = err ?: relabel_set__put(set, name, json_string_value(value) ?: "");
	}
	return err ?: relabel_set__put(set, ADDRESS, target->address);
}

/* What rules made of a target. */
struct made {
	struct target_defaults defaults; /* its pointers belong to the source */
	char *host;
	uint16_t port;
	json_t *labels;
	struct shared_text *text; /* of the labels */
};

/* Takes each label as a setting, or as a label of the target.  -EINVAL with a reason. */
static int take_labels(struct made *made, const struct relabel_set *set, struct dart_error *reason)
{
	const struct relabel_label *label = set->labels;
	const char *key;
	int ret = 0;

	made->labels = json_object();
	if (!made->labels)
		return -ENOMEM;
	for (; !ret && label < set->labels + set->count; label++) {
		key = target_relabel__key(label->name);
		if (key)
			ret = target_defaults__take(&made->defaults, key, label->value, reason);
		else if (strncmp(label->name, "__", 2))
			ret = labels__add(made->labels, label->name, label->value, reason);
	}
	return ret ?: labels__text(made->labels, NULL, &made->text, reason);
}

static int take_address(struct made *made, const char *address, struct dart_error *reason)
{
	int ret = settings__parse_agent(address, &made->host, &made->port);

	if (ret == -EINVAL)
		return dart_error__set(
			reason, EINVAL,
			"'%.300s' in __address__ is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			address);
	made->port = made->port ?: settings__default_port(made->defaults.transport);
	return ret;
}

static int add(struct target_list_builder *builder, struct made *made, struct dart_error *reason)
{
	const struct target_defaults *defaults = builder->defaults;
	struct target_item *item;
	int ret;

	builder->defaults = &made->defaults;
	ret = target_list__add(builder, made->host, made->port, &item);
	builder->defaults = defaults;
	if (ret == -EINVAL)
		return dart_error__set(reason, EINVAL, "'%.300s' in __address__ is not a host",
				       made->host);
	if (!ret)
		item->settings.labels = shared_text__hold(made->text);
	return ret;
}

int target_relabel__add(struct target_list_builder *builder, const struct relabel_rules *rules,
			const struct unlabelled_target *target, struct target_faults *faults,
			struct dart_error *error)
{
	struct made made = { .defaults = *builder->defaults };
	struct dart_error reason, fault;
	struct relabel_set set = {};
	int ret = fill_set(&set, target) ?: relabel_rules__apply(rules, &set);

	if (!ret)
		target_faults__drop(faults, target->address);
	if (ret > 0)
		ret = take_labels(&made, &set, &reason) ?:
			      take_address(&made, relabel_set__get(&set, ADDRESS), &reason) ?:
			      add(builder, &made, &reason);
	if (ret == -EINVAL) {
		dart_error__set(&fault, EINVAL, "'%.300s' after relabel_configs: %.400s",
				target->address, reason.text);
		target_faults__add(faults, &fault);
		ret = 0;
	}
	relabel_set__free(&set);
	json_decref(made.labels);
	shared_text__release(made.text);
	free(made.host);
	if (ret == -E2BIG)
		return dart_error__set(error, EINVAL, "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	return ret;
}

/* The targets of a configuration have settings of their own, one by one. */
static int add_configured(struct target_list_builder *builder, const struct relabel_rules *rules,
			  const struct target_settings *settings, struct target_faults *faults)
{
	const struct target_defaults defaults = {
		.transport = settings->transport,
		.interval_ns = settings->interval_ns,
		.class = settings->class,
		.entries = settings->entries,
		.metric_relabel = settings->metric_relabel,
	};
	/* It was written by labels__text(). */
	json_t *labels = settings->labels ? json_loads(settings->labels->text, 0, NULL) : NULL;
	const struct unlabelled_target target = {
		.address = settings->name,
		.labels = { labels },
	};
	struct dart_error error;
	int ret = -ENOMEM;

	builder->defaults = &defaults;
	builder->source = settings->source;
	if (labels || !settings->labels)
		ret = target_relabel__add(builder, rules, &target, faults, &error);
	builder->defaults = NULL;
	json_decref(labels);
	return ret;
}

int target_relabel__list(struct target_list *list, const struct relabel_rules *rules,
			 struct target_faults *faults)
{
	struct target_list_builder builder = {};
	int ret = 0;
	size_t i;

	if (relabel_rules__is_empty(rules))
		return 0;
	for (i = 0; !ret && i < list->count; i++)
		ret = add_configured(&builder, rules, &list->items[i]->settings, faults);
	if (ret) {
		target_list__clear(&builder.list);
		return ret;
	}
	target_list__clear(list);
	target_list__finish(&builder, list);
	return 0;
}
