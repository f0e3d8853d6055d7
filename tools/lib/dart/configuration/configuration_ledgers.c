// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ledgers and adders in a configuration file. */
#include <string.h>

#include <dart/ledger.h>
#include <dart/ledger_access.h>
#include <libdart/configuration/configuration_loader_internal.h>

struct ledger {
	const char *name, *file;
	const yaml_node_t *adders; /* NULL: none */
	long long words_log2, rows; /* -1: not given */
};

static int take_words(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_LEDGER_WORDS_LOG2_MAX, into);
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_LEDGER_ROWS_MAX, into);
}

/* The item of the ledger comes before the items of its adders. */
static int take_adders(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const yaml_node_t **adders = into;

	*adders = node;
	return 0;
}

static int check_ledger(struct dart_yaml *yaml, const yaml_node_t *item,
			const struct ledger *ledger)
{
	if (!ledger->name || ledger->words_log2 < 0)
		return dart_yaml__refuse(yaml, item, "the ledger has no '%s'",
					 ledger->name ? "words" : "name");
	if (strlen(ledger->name) >= DART_LEDGER_NAME_MAX)
		return dart_yaml__refuse(yaml, item,
					 "the name of a ledger has at most %d bytes: '%s'",
					 DART_LEDGER_NAME_MAX - 1, ledger->name);
	if (ledger->words_log2 < DART_LEDGER_WORDS_LOG2_MIN)
		return dart_yaml__refuse(yaml, item, "a row has at least %d words",
					 1 << DART_LEDGER_WORDS_LOG2_MIN);
	return dart_configuration__check_path(yaml, item, ledger->file);
}

static int add_ledger(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		      const yaml_node_t *item, const struct ledger *ledger)
{
	char identity[64 + DART_LEDGER_NAME_MAX];
	int ret = check_ledger(yaml, item, ledger);

	if (ret)
		return ret;
	snprintf(identity, sizeof(identity), "ledger '%s'", ledger->name);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, identity);
	if (!ret && ledger->file)
		ret = dart_configuration_loader__claim(loader, yaml, item, ledger->file,
						       ledger->file);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		loader, yaml, item,
		json_pack("{s:s, s:s, s:I, s:o*, s:s*}", "request", "ledger-create", "name",
			  ledger->name, "words_log2", (json_int_t)ledger->words_log2, "rows",
			  dart_configuration__optional(ledger->rows), "file", ledger->file),
		ledger->file);
}

static int take_ledger(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text, offsetof(struct ledger, name) },
		{ "words", take_words, offsetof(struct ledger, words_log2) },
		{ "rows", take_rows, offsetof(struct ledger, rows) },
		{ "file", dart_configuration__take_text, offsetof(struct ledger, file) },
		{ "adders", take_adders, offsetof(struct ledger, adders) },
		{}
	};
	struct ledger ledger = { .words_log2 = -1, .rows = -1 };
	struct dart_configuration_hosts hosts = {
		.loader = into,
		.host = "adder",
		.object = "ledger",
		.request = "adder-add",
	};
	int ret, taken;

	ret = dart_yaml__take_mapping(yaml, item, members, &ledger);
	ret = ret ?: add_ledger(into, yaml, item, &ledger);
	if (!ledger.adders || !dart_yaml__goes_on(yaml, ret))
		return ret;
	hosts.name = ledger.name ?: "?";
	taken = dart_yaml__take_list(yaml, ledger.adders, dart_configuration__take_host_of, &hosts);
	return taken ?: ret;
}

int dart_configuration__take_ledgers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_ledger, into);
}
