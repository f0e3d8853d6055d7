// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The settings of dartd in a configuration file, as a table of rows: see
 * Documentation/adding/setting.md.  Items that dartd registers are in configuration_items.c,
 * configuration_stores.c and configuration_tables.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/configuration/configuration_settings.h>
#include <libdart/tls_places.h>

/* ---- numbers and texts */

/* Seconds: fewer would wake the adapters of large fleets all the time. */
#define KEEPALIVE_MIN	5
#define KEEPALIVE_MAX	3600
/* Six bits; RFC 2474. */
#define DSCP_MAX	63
/* DART_ZERO_RECORD_REST_MAX of the module. */
#define REST_MAX	64
/* Each peer has a queue pair or a descriptor; no host has more of these. */
#define LIMIT_MAX	65536

#define MEMBER(member)	DART_SETTING_MEMBER(struct dart_configuration, member)
#define NUMBER(member, min, max) \
	.type = DART_SETTING_NUMBER, MEMBER(member), .least = (min), .most = (max)
#define LIMIT(member)	\
	.key = "limits." #member, NUMBER(limits.member, 1, LIMIT_MAX)

/* dartd may run in any directory: relative paths have no meaning. */
static const struct dart_setting rows[] = {
	{ .key = "device", .type = DART_SETTING_TEXT, MEMBER(device),
	  .noun = "a text without control characters", .is_for_start = true },
	{ .key = "port", NUMBER(port, 1, UINT16_MAX), .is_for_start = true },
	{ .key = "exposure", .type = DART_SETTING_CHOICE, MEMBER(exposure), .words = "exact|page",
	  .is_for_start = true },
	{ .key = "gatherer", .type = DART_SETTING_CHOICE, MEMBER(gatherer),
	  .words = "auto|module|programs", .is_for_start = true },
	{ .key = "rest", NUMBER(rest, 1, REST_MAX), .is_for_start = true },
	{ .key = "keepalive", NUMBER(keepalive, KEEPALIVE_MIN, KEEPALIVE_MAX),
	  .is_for_start = true },
	{ .key = "dscp", NUMBER(dscp, 1, DSCP_MAX), .is_for_start = true },
	{ .key = "tcp.certificate", .type = DART_SETTING_PATH, MEMBER(tcp.certificate) },
	{ .key = "tcp.key", .type = DART_SETTING_PATH, MEMBER(tcp.key) },
	{ .key = "tcp.authorities", .type = DART_SETTING_PATH, MEMBER(tcp.authorities) },
	{ .key = "tcp.revoked", .type = DART_SETTING_PATH, MEMBER(tcp.revoked) },
	{ .key = "tcp.port", NUMBER(tcp.port, 1, UINT16_MAX) },
	{ LIMIT(controllers), .help = "by default 1024" },
	{ LIMIT(readers), .help = "of stores, and as many of tables, journals, ledgers and sketches, by default 1024" },
	{ LIMIT(callers), .help = "over RDMA, and as many over TCP, by default 64" },
	{ LIMIT(per_address),
	  .help = "controllers, readers and callers from one address, by default 64; over TCP as many more" },
	{ LIMIT(half_open),
	  .help = "connections that are not established yet, by default 64; over TCP as many more" },
	{ LIMIT(clients), .help = "of the socket, such as dartctl(1), by default 64" },
	{ LIMIT(entries_per_user),
	  .help = "slices and maps that a user other than root has registered, by default 4096; and as many cgroups, with their entries, in subtrees that belong to the user" },
	{ LIMIT(slice_mib_per_user),
	  .help = "MiB of memory that slices of a user other than root share, by default 32" },
	{ LIMIT(requests_per_second_per_user),
	  .help = "requests that a user other than root makes, by default 1000: those of 10 s at once, then its clients wait, and the clients of others do not" },
};

const struct dart_settings dart_configuration__settings = DART_SETTINGS(rows);

/* Remembers the place of the first setting. */
static int note_setting(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
			const yaml_node_t *node)
{
	char **place = &loader->configuration->settings_place;

	if (*place || asprintf(place, "%s:%u", yaml->path, dart_yaml__line(node)) >= 0)
		return 0;
	*place = NULL;
	return dart_error__no_memory(yaml->error);
}

/* Claims "limits: callers" for limits.callers: one of all files may have it. */
static int claim_setting(struct dart_yaml *yaml, const yaml_node_t *node,
			 const struct dart_setting *setting, void *into)
{
	const int above = strcspn(setting->key, ".");
	const char *below = setting->key[above] ? setting->key + above + 1 : "";
	struct dart_configuration_loader *loader = into;
	char identity[64], what[64];

	snprintf(identity, sizeof(identity), "setting %s", setting->key);
	snprintf(what, sizeof(what), "'%.*s%s%s'", above, setting->key, *below ? ": " : "", below);
	return note_setting(loader, yaml, node) ?:
	       dart_configuration_loader__claim(loader, yaml, node, identity, what);
}

/* ---- lists */

static int append(char ***list, size_t *count, const char *text)
{
	char **longer = reallocarray(*list, *count + 1, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	*list = longer;
	longer[*count] = strdup(text);
	if (!longer[*count])
		return -ENOMEM;
	++*count;
	return 0;
}

/* Copies an address into a list; @what has each address once in all files. */
static int read_address(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
			const yaml_node_t *item, const char *what, char ***list, size_t *count)
{
	const char *text = dart_yaml__text(item) ?: "";
	char identity[INET6_ADDRSTRLEN + 32], address[INET6_ADDRSTRLEN];
	struct in6_addr bytes;
	int family, ret;

	family = inet_pton(AF_INET, text, &bytes) == 1 ? AF_INET : AF_INET6;
	if (family == AF_INET6 && inet_pton(AF_INET6, text, &bytes) != 1)
		return dart_yaml__refuse(
			yaml, item, "'%s' is not an address (write 10.0.0.1 or \"fd00::1\")", text);
	inet_ntop(family, &bytes, address, sizeof(address));
	snprintf(identity, sizeof(identity), "%s %s", what, address);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, address);
	if (ret)
		return ret;
	return append(list, count, address) ? dart_error__no_memory(yaml->error) : 0;
}

static int read_listen_address(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_configuration_loader *loader = into;
	struct dart_configuration *configuration = loader->configuration;

	return read_address(loader, yaml, item, "listen", &configuration->listen,
			    &configuration->listen_count);
}

static int read_tcp_address(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_configuration_loader *loader = into;
	struct dart_configuration_tcp *tcp = &loader->configuration->tcp;

	return read_address(loader, yaml, item, "tcp: listen", &tcp->listen, &tcp->listen_count);
}

static int read_addresses(struct dart_yaml *yaml, const yaml_node_t *node,
			  struct dart_configuration_loader *loader,
			  int (*read)(struct dart_yaml *yaml, const yaml_node_t *item, void *into),
			  const size_t *count)
{
	int ret = note_setting(loader, yaml, node) ?:
		  dart_yaml__take_list(yaml, node, read, loader);

	if (!ret && !*count)
		return dart_yaml__refuse(yaml, node,
					 "no address to listen at (remove 'listen' for all)");
	return ret;
}

static int read_listen(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return read_addresses(yaml, node, loader, read_listen_address,
			      &loader->configuration->listen_count);
}

static int read_tcp_listen(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return read_addresses(yaml, node, loader, read_tcp_address,
			      &loader->configuration->tcp.listen_count);
}

static int read_prefix(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	const char *text = dart_yaml__text(item) ?: "";
	struct dart_prefix prefix;
	struct dart_error error;

	if (dart_prefix__parse(&prefix, text, &error))
		return dart_yaml__refuse(yaml, item, "%s", error.text);
	return dart_prefixes__add(into, &prefix) ? dart_error__no_memory(yaml->error) : 0;
}

/* An empty list is given, too: it allows no address. */
static int read_prefixes(struct dart_yaml *yaml, const yaml_node_t *node,
			 struct dart_configuration_loader *loader, struct dart_prefixes *prefixes)
{
	prefixes->is_given = true;
	return note_setting(loader, yaml, node) ?:
	       dart_yaml__take_list(yaml, node, read_prefix, prefixes);
}

static int read_controllers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return read_prefixes(yaml, node, loader, &loader->configuration->controllers);
}

static int read_readers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return read_prefixes(yaml, node, loader, &loader->configuration->readers);
}

static int read_callers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return read_prefixes(yaml, node, loader, &loader->configuration->callers);
}

/* Adds a caller to tcp->subjects, whose number among them is *@place then. */
static int take_subject(struct dart_yaml *yaml, const yaml_node_t *item,
			struct dart_configuration_tcp *tcp, size_t *place)
{
	const char *name;
	int ret = dart_configuration__take_text(yaml, item, &name);

	if (ret)
		return ret;
	if (strchr(name, '*'))
		return dart_yaml__refuse(yaml, item, "'%s': each caller is named in full", name);
	for (*place = 0; *place < tcp->subject_count; ++*place)
		if (!strcmp(tcp->subjects[*place], name))
			return 0;
	return append(&tcp->subjects, &tcp->subject_count, name) ?
		       dart_error__no_memory(yaml->error) :
		       0;
}

static int read_subject(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_configuration_loader *loader = into;
	size_t place;

	loader->configuration->tcp.has_subjects = true;
	return take_subject(yaml, item, &loader->configuration->tcp, &place);
}

/* Callers that may change tables come first: a certificate with several names has this one. */
static int read_changer(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_configuration_loader *loader = into;
	struct dart_configuration_tcp *tcp = &loader->configuration->tcp;
	char *name;
	size_t place;
	int ret = take_subject(yaml, item, tcp, &place);

	if (ret || place < tcp->changer_count)
		return ret;
	name = tcp->subjects[place];
	for (; place > tcp->changer_count; place--)
		tcp->subjects[place] = tcp->subjects[place - 1];
	tcp->subjects[tcp->changer_count++] = name;
	return 0;
}

static int read_changers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, read_changer, into);
}

static int read_subjects(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, read_subject, into);
}

/* ---- the whole file */

/* Takes the files that dartctl tls makes, and allows all controllers with its certificates. */
static int take_defaults(struct dart_yaml *yaml, struct dart_configuration_tcp *tcp)
{
	tcp->certificate = strdup(DART_TLS_HOST_CERTIFICATE);
	tcp->key = strdup(DART_TLS_HOST_KEY);
	tcp->authorities = strdup(DART_TLS_AUTHORITIES);
	if (!tcp->revoked)
		tcp->revoked = strdup(DART_TLS_REVOKED);
	if (!tcp->certificate || !tcp->key || !tcp->authorities || !tcp->revoked ||
	    (!tcp->has_subjects &&
	     append(&tcp->subjects, &tcp->subject_count, DART_TLS_CONTROLLER_SUBJECT)))
		return dart_error__no_memory(yaml->error);
	return 0;
}

static int read_group(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
		      struct dart_configuration_loader *loader);

static int read_tcp(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_setting whole = { .key = "tcp" };
	struct dart_configuration_loader *loader = into;
	struct dart_configuration_tcp *tcp = &loader->configuration->tcp;
	int ret = claim_setting(yaml, node, &whole, loader);

	if (ret)
		return ret;
	if (asprintf(&tcp->place, "%s:%u", yaml->path, dart_yaml__line(node)) < 0) {
		tcp->place = NULL;
		return dart_error__no_memory(yaml->error);
	}
	ret = read_group(yaml, node, "tcp", loader);
	if (ret)
		return ret;
	if (!tcp->certificate && !tcp->key && !tcp->authorities)
		return take_defaults(yaml, tcp);
	if (!tcp->certificate || !tcp->key || !tcp->authorities || !tcp->subject_count)
		return dart_yaml__refuse(
			yaml, node,
			"'tcp' needs a certificate, a key, authorities and subjects, or none of these files (then those of dartctl tls are taken)");
	return 0;
}

/* The mapping tcp comes before its keys, which are in both tables. */
static const struct dart_setting list_rows[] = {
	{ .key = "listen", .read = read_listen },
	{ .key = "allow.controllers", .read = read_controllers },
	{ .key = "allow.readers", .read = read_readers },
	{ .key = "allow.callers", .read = read_callers },
	{ .key = "tcp", .read = read_tcp },
	{ .key = "tcp.subjects", .read = read_subjects },
	{ .key = "tcp.tables", .read = read_changers },
	{ .key = "tcp.listen", .read = read_tcp_listen },
	{ .key = "host", .read = dart_configuration__take_host },
	{ .key = "sources", .read = dart_configuration__take_sources },
	{ .key = "maps", .read = dart_configuration__take_maps },
	{ .key = "counters", .read = dart_configuration__take_counters },
	{ .key = "probes", .read = dart_configuration__take_probes },
	{ .key = "applications", .read = dart_configuration__take_applications },
	{ .key = "stores", .read = dart_configuration__take_stores },
	{ .key = "tables", .read = dart_configuration__take_tables },
	{ .key = "journals", .read = dart_configuration__take_journals },
	{ .key = "ledgers", .read = dart_configuration__take_ledgers },
	{ .key = "sketches", .read = dart_configuration__take_sketches },
};

static const struct dart_settings list_table = DART_SETTINGS(list_rows);

static int read_group(struct dart_yaml *yaml, const yaml_node_t *node, const char *group,
		      struct dart_configuration_loader *loader)
{
	const struct dart_settings_of places[] = {
		{ .table = &list_table, .object = loader },
		{ .table = &dart_configuration__settings, .object = loader->configuration,
		  .before = claim_setting, .subject = loader },
		{},
	};

	return dart_settings__read(yaml, node, group, places);
}

int dart_configuration__take(struct dart_yaml *yaml, const yaml_node_t *root, void *into)
{
	return read_group(yaml, root, NULL, into);
}

/* ---- printing: JSON, which YAML includes */

/* Adds a list of texts to @into, unless it is NULL. */
static int set_list(json_t *json, const char *group, const char *key, json_t *list)
{
	json_t *into = json;

	if (!list)
		return 0;
	if (group && !json_object_get(json, group) &&
	    json_object_set_new(json, group, json_object())) {
		json_decref(list);
		return -ENOMEM;
	}
	if (group)
		into = json_object_get(json, group);
	return json_object_set_new(into, key, list) ? -ENOMEM : 0;
}

/* NULL if there is no list. */
static json_t *prefixes_to_json(const struct dart_prefixes *prefixes)
{
	char address[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 8];
	const struct dart_prefix *prefix;
	json_t *list;
	size_t i;

	if (!prefixes->is_given)
		return NULL;
	list = json_array();
	for (i = 0; i < prefixes->count; i++) {
		prefix = &prefixes->list[i];
		inet_ntop(prefix->family, prefix->address, address, sizeof(address));
		snprintf(text, sizeof(text), "%s/%u", address, prefix->length);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

/* NULL if it is empty. */
static json_t *texts_to_json(char *const *texts, size_t count)
{
	json_t *list = count ? json_array() : NULL;
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

int dart_configuration__print_settings(FILE *file, const struct dart_configuration *configuration)
{
	const struct dart_configuration_tcp *tcp = &configuration->tcp;
	json_t *root = json_object();
	int ret;

	ret = dart_settings__to_json(&dart_configuration__settings, configuration, root) ?:
	      set_list(root, NULL, "listen",
		       texts_to_json(configuration->listen, configuration->listen_count)) ?:
	      set_list(root, "allow", "controllers",
		       prefixes_to_json(&configuration->controllers)) ?:
	      set_list(root, "allow", "readers", prefixes_to_json(&configuration->readers)) ?:
	      set_list(root, "allow", "callers", prefixes_to_json(&configuration->callers)) ?:
	      set_list(root, "tcp", "subjects",
		       texts_to_json(tcp->subjects + tcp->changer_count,
				     tcp->subject_count - tcp->changer_count)) ?:
	      set_list(root, "tcp", "tables", texts_to_json(tcp->subjects, tcp->changer_count)) ?:
	      set_list(root, "tcp", "listen", texts_to_json(tcp->listen, tcp->listen_count));
	if (!ret && json_dumpf(root, file, JSON_INDENT(2)))
		ret = -EIO;
	json_decref(root);
	return ret;
}

/* ---- freeing */

static void free_list(char **list, size_t count)
{
	while (count)
		free(list[--count]);
	free(list);
}

void dart_configuration__close(struct dart_configuration *configuration)
{
	struct dart_configuration_tcp *tcp = &configuration->tcp;
	struct dart_configuration_item *item;
	size_t i;

	for (i = 0; i < configuration->item_count; i++) {
		item = &configuration->items[i];
		json_decref(item->request);
		free(item->path);
		free(item->file);
	}
	free(configuration->items);
	free_list(configuration->listen, configuration->listen_count);
	free_list(tcp->subjects, tcp->subject_count);
	free_list(tcp->listen, tcp->listen_count);
	free(tcp->place);
	free(configuration->settings_place);
	dart_prefixes__clear(&configuration->controllers);
	dart_prefixes__clear(&configuration->readers);
	dart_prefixes__clear(&configuration->callers);
	dart_settings__clear(&dart_configuration__settings, configuration);
	*configuration = (struct dart_configuration){};
}
