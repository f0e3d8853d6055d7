// SPDX-License-Identifier: LGPL-2.1-or-later
/* The journals and appenders in a configuration file. */
#include <string.h>

#include <dart/journal.h>
#include <dart/journal_access.h>
#include <libdart/configuration/configuration_loader_internal.h>

struct journal {
	const char *name, *file;
	const yaml_node_t *appenders; /* NULL: none */
	long long batches_log2, entry, batch_log2, lists_log2, parts; /* -1: not given */
};

static int take_batches(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_JOURNAL_BATCHES_LOG2_MAX, into);
}

static int take_entry(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_JOURNAL_ENTRY_MAX, into);
}

static int take_batch(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_JOURNAL_BATCH_LOG2_MAX, into);
}

static int take_lists(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_JOURNAL_LISTS_LOG2_MAX, into);
}

static int take_parts(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_JOURNAL_PARTS_MAX, into);
}

/* The item of the journal comes before the items of its appenders. */
static int take_appenders(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const yaml_node_t **appenders = into;

	*appenders = node;
	return 0;
}

static int check_journal(struct dart_yaml *yaml, const yaml_node_t *item,
			 const struct journal *journal)
{
	if (!journal->name || journal->batches_log2 < 0 || journal->entry < 0)
		return dart_yaml__refuse(yaml, item, "the journal has no '%s'",
					 !journal->name		   ? "name" :
					 journal->batches_log2 < 0 ? "batches" :
								     "entry");
	if (strlen(journal->name) >= DART_JOURNAL_NAME_MAX)
		return dart_yaml__refuse(yaml, item,
					 "the name of a journal has at most %d bytes: '%s'",
					 DART_JOURNAL_NAME_MAX - 1, journal->name);
	if (journal->batches_log2 < DART_JOURNAL_BATCHES_LOG2_MIN)
		return dart_yaml__refuse(yaml, item, "a list has at least %d batches",
					 1 << DART_JOURNAL_BATCHES_LOG2_MIN);
	if (journal->batch_log2 >= 0 && journal->batch_log2 < DART_JOURNAL_BATCH_LOG2_MIN)
		return dart_yaml__refuse(yaml, item, "a batch has at least %d bytes",
					 1 << DART_JOURNAL_BATCH_LOG2_MIN);
	return dart_configuration__check_path(yaml, item, journal->file);
}

static int add_journal(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		       const yaml_node_t *item, const struct journal *journal)
{
	char identity[64 + DART_JOURNAL_NAME_MAX];
	int ret = check_journal(yaml, item, journal);

	if (ret)
		return ret;
	snprintf(identity, sizeof(identity), "journal '%s'", journal->name);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, identity);
	if (!ret && journal->file)
		ret = dart_configuration_loader__claim(loader, yaml, item, journal->file,
						       journal->file);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		loader, yaml, item,
		json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:o*, s:s*}", "request",
			  "journal-create", "name", journal->name, "batches_log2",
			  (json_int_t)journal->batches_log2, "entry_length",
			  (json_int_t)journal->entry, "batch_log2",
			  dart_configuration__optional(journal->batch_log2), "lists_log2",
			  dart_configuration__optional(journal->lists_log2), "parts",
			  dart_configuration__optional(journal->parts), "file", journal->file),
		journal->file);
}

static int take_journal(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text, offsetof(struct journal, name) },
		{ "batches", take_batches, offsetof(struct journal, batches_log2) },
		{ "entry", take_entry, offsetof(struct journal, entry) },
		{ "batch", take_batch, offsetof(struct journal, batch_log2) },
		{ "lists", take_lists, offsetof(struct journal, lists_log2) },
		{ "parts", take_parts, offsetof(struct journal, parts) },
		{ "file", dart_configuration__take_text, offsetof(struct journal, file) },
		{ "appenders", take_appenders, offsetof(struct journal, appenders) },
		{}
	};
	struct journal journal = {
		.batches_log2 = -1,
		.entry = -1,
		.batch_log2 = -1,
		.lists_log2 = -1,
		.parts = -1,
	};
	struct dart_configuration_hosts hosts = {
		.loader = into,
		.host = "appender",
		.object = "journal",
		.request = "appender-add",
	};
	int ret, taken;

	ret = dart_yaml__take_mapping(yaml, item, members, &journal) ?:
		      add_journal(into, yaml, item, &journal);
	if (!journal.appenders || !dart_yaml__goes_on(yaml, ret))
		return ret;
	hosts.name = journal.name ?: "?";
	taken = dart_yaml__take_list(yaml, journal.appenders, dart_configuration__take_host_of,
				     &hosts);
	return taken ?: ret;
}

int dart_configuration__take_journals(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_journal, into);
}
