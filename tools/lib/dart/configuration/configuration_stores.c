// SPDX-License-Identifier: LGPL-2.1-or-later
/* The stores and reporters in a configuration file. */
#include <string.h>

#include <dart/epoch.h>
#include <dart/store.h>
#include <dart/store_access.h>
#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/settings/quantity.h>

struct store {
	const char *name, *file;
	const yaml_node_t *reporters; /* NULL: none */
	long long slots_log2, value, checksum, redundancy; /* -1: not given */
	/* Of a store with epochs; 0, NULL or false: not given. */
	uint64_t epoch_ns, epoch_reports, keep_ns, keep_bytes;
	const char *schema;
	bool falls;
	const char *transport;
};

static int take_quantity(struct dart_yaml *yaml, const yaml_node_t *node,
			 enum dart_quantity quantity, uint64_t *value)
{
	const char *text;
	int ret = dart_configuration__take_text(yaml, node, &text);

	return ret ?: dart_quantity__parse(quantity, text, 1, INT64_MAX, value);
}

/* "1min", or a number of reports. */
static int take_epoch(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct store *store = into;

	if (take_quantity(yaml, node, DART_QUANTITY_TIME, &store->epoch_ns) &&
	    take_quantity(yaml, node, DART_QUANTITY_NUMBER, &store->epoch_reports))
		return dart_yaml__refuse(yaml, node,
					 "an epoch takes a time such as 1min, or a number of reports");
	if (store->epoch_ns && store->epoch_ns < 1000000000)
		return dart_yaml__refuse(yaml, node, "an epoch takes 1 s at least");
	return 0;
}

static int take_keep(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	if (take_quantity(yaml, node, DART_QUANTITY_TIME, into))
		return dart_yaml__refuse(yaml, node, "files are kept for a time such as 1440min");
	return 0;
}

static int take_keep_bytes(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	if (take_quantity(yaml, node, DART_QUANTITY_BYTES, into))
		return dart_yaml__refuse(yaml, node, "files are kept up to a size such as 10G");
	return 0;
}

static int take_slots(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_STORE_SLOTS_LOG2_MAX, into);
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, DART_STORE_VALUE_MIN,
					       DART_STORE_VALUE_MAX, into);
}

static int take_checksum(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	long long *bits = into;
	int ret;

	ret = dart_configuration__take_number(yaml, node, 8, 64, bits);
	if (!ret && *bits != 8 && *bits != 16 && *bits != 32 && *bits != 64)
		ret = dart_yaml__refuse(yaml, node, "a checksum has 8, 16, 32 or 64 bits");
	return ret;
}

static int take_transport(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **word = into;
	int ret = dart_configuration__take_text(yaml, node, word);

	if (!ret && strcmp(*word, "uc") && strcmp(*word, "rc") && strcmp(*word, "auto"))
		ret = dart_yaml__refuse(yaml, node, "a transport is uc, rc or auto");
	return ret;
}

static int take_redundancy(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_STORE_REDUNDANCY_MAX, into);
}

/* The item of the store comes before the items of its reporters. */
static int take_reporters(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const yaml_node_t **reporters = into;

	*reporters = node;
	return 0;
}

static int check_store(struct dart_yaml *yaml, const yaml_node_t *item, const struct store *store)
{
	if (!store->name || store->slots_log2 < 0 || store->value < 0)
		return dart_yaml__refuse(yaml, item, "the store has no '%s'",
					 !store->name	       ? "name" :
					 store->slots_log2 < 0 ? "slots" :
								 "value");
	if (strlen(store->name) >= DART_STORE_NAME_MAX)
		return dart_yaml__refuse(yaml, item,
					 "the name of a store has at most %d bytes: '%s'",
					 DART_STORE_NAME_MAX - 1, store->name);
	if (!store->epoch_ns && !store->epoch_reports &&
	    (store->keep_ns || store->keep_bytes || store->schema || store->falls))
		return dart_yaml__refuse(yaml, item,
					 "the store has no 'epoch', which its other keys need");
	if (store->schema && strlen(store->schema) >= DART_EPOCH_SCHEMA_MAX)
		return dart_yaml__refuse(yaml, item, "the name of a schema has at most %d bytes",
					 DART_EPOCH_SCHEMA_MAX - 1);
	return dart_configuration__check_path(yaml, item, store->file);
}

/* NULL if it is not given. */
static json_t *given(uint64_t number)
{
	return number ? json_integer(number) : NULL;
}

static int add_store(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		     const yaml_node_t *item, const struct store *store)
{
	char identity[64 + DART_STORE_NAME_MAX];
	int ret = check_store(yaml, item, store);

	if (ret)
		return ret;
	snprintf(identity, sizeof(identity), "store '%s'", store->name);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, identity);
	if (!ret && store->file)
		ret = dart_configuration_loader__claim(
			loader, yaml, item, store->file, store->file);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		loader, yaml, item,
		json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:s*, s:o*, s:o*, s:o*, s:o*, s:s*, s:o*, s:s*}",
			  "request", "store-create", "name", store->name, "slots_log2", (json_int_t)store->slots_log2,
			  "value_length", (json_int_t)store->value, "redundancy",
			  dart_configuration__optional(store->redundancy), "checksum_bits",
			  dart_configuration__optional(store->checksum), "file", store->file,
			  "epoch_ns", given(store->epoch_ns), "epoch_reports",
			  given(store->epoch_reports), "keep_ns", given(store->keep_ns),
			  "keep_bytes", given(store->keep_bytes), "schema", store->schema,
			  "falling", store->falls ? json_true() : NULL, "transport",
			  store->transport),
		store->file);
}

static int take_store(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text, offsetof(struct store, name) },
		{ "slots", take_slots, offsetof(struct store, slots_log2) },
		{ "value", take_value, offsetof(struct store, value) },
		{ "checksum", take_checksum, offsetof(struct store, checksum) },
		{ "redundancy", take_redundancy,
		  offsetof(struct store, redundancy) },
		{ "file", dart_configuration__take_text,
		  offsetof(struct store, file) },
		{ "epoch", take_epoch, 0 },
		{ "keep", take_keep, offsetof(struct store, keep_ns) },
		{ "keep_bytes", take_keep_bytes, offsetof(struct store, keep_bytes) },
		{ "schema", dart_configuration__take_text, offsetof(struct store, schema) },
		{ "falling", dart_configuration__take_flag, offsetof(struct store, falls) },
		{ "transport", take_transport, offsetof(struct store, transport) },
		{ "reporters", take_reporters,
		  offsetof(struct store, reporters) },
		{}
	};
	struct store store = {
		.slots_log2 = -1,
		.value = -1,
		.checksum = -1,
		.redundancy = -1,
	};
	struct dart_configuration_hosts hosts = {
		.loader = into,
		.host = "reporter",
		.object = "store",
		.request = "reporter-add",
	};
	int ret, taken;

	ret = dart_yaml__take_mapping(yaml, item, members, &store) ?:
		      add_store(into, yaml, item, &store);
	if (!store.reporters || !dart_yaml__goes_on(yaml, ret))
		return ret;
	hosts.name = store.name ?: "?";
	taken = dart_yaml__take_list(yaml, store.reporters,
				     dart_configuration__take_host_of, &hosts);
	return taken ?: ret;
}

int dart_configuration__take_stores(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_store, into);
}
