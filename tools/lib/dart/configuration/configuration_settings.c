// SPDX-License-Identifier: LGPL-2.1-or-later
/* The settings of dartd in a configuration file, and its outline. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>

int dart_configuration__claim_setting(struct dart_configuration_loader *loader,
				      struct dart_yaml *yaml,
				      const yaml_node_t *node, const char *name)
{
	char identity[64], what[64];

	snprintf(identity, sizeof(identity), "setting %s", name);
	snprintf(what, sizeof(what), "'%s'", name);
	return dart_configuration_loader__claim(loader, yaml, node, identity,
						what);
}

/* Remembers where the first of the settings is. */
static int note_setting(struct dart_configuration_loader *loader,
			struct dart_yaml *yaml, const yaml_node_t *node)
{
	char **place = &loader->configuration->settings_place;

	if (*place ||
	    asprintf(place, "%s:%u", yaml->path, dart_yaml__line(node)) >= 0)
		return 0;
	*place = NULL;
	return dart_error__no_memory(yaml->error);
}

static int take_device(struct dart_yaml *yaml, const yaml_node_t *node,
		       void *into)
{
	struct dart_configuration_loader *loader = into;
	const char *name;
	int ret;

	ret = note_setting(loader, yaml, node)			  ?:
		      dart_configuration__claim_setting(loader, yaml, node, "device") ?:
		      dart_configuration__take_text(yaml, node, &name);
	if (ret)
		return ret;
	loader->configuration->device = strdup(name);
	return loader->configuration->device ?
		       0 :
		       dart_error__no_memory(yaml->error);
}

static int take_port(struct dart_yaml *yaml, const yaml_node_t *node,
		     void *into)
{
	struct dart_configuration_loader *loader = into;
	long long port;
	int ret;

	ret = note_setting(loader, yaml, node)			?:
		      dart_configuration__claim_setting(loader, yaml, node, "port") ?:
		      dart_configuration__take_number(yaml, node, 1, UINT16_MAX,
						      &port);
	if (!ret)
		loader->configuration->port = port;
	return ret;
}

/* Seconds: fewer would wake the adapters of large fleets all the time. */
#define KEEPALIVE_MIN 5
#define KEEPALIVE_MAX 3600

static int take_keepalive(struct dart_yaml *yaml, const yaml_node_t *node,
			  void *into)
{
	struct dart_configuration_loader *loader = into;
	long long seconds;
	int ret;

	ret = note_setting(loader, yaml, node)			     ?:
		      dart_configuration__claim_setting(loader, yaml, node, "keepalive") ?:
		      dart_configuration__take_number(
			      yaml, node, KEEPALIVE_MIN, KEEPALIVE_MAX,
			      &seconds);
	if (!ret)
		loader->configuration->keepalive = seconds;
	return ret;
}

static int take_exposure(struct dart_yaml *yaml, const yaml_node_t *node,
			 void *into)
{
	struct dart_configuration_loader *loader = into;
	const char *text = dart_yaml__text(node) ?: "";
	int ret;

	ret = note_setting(loader, yaml, node) ?:
		      dart_configuration__claim_setting(loader, yaml, node, "exposure");
	if (ret)
		return ret;
	if (!strcmp(text, "exact"))
		loader->configuration->exposure = DART_CONTROL_EXPOSURE_EXACT;
	else if (!strcmp(text, "page"))
		loader->configuration->exposure = DART_CONTROL_EXPOSURE_PAGE;
	else
		return dart_yaml__refuse(
			yaml, node, "'%s' is neither exact nor page", text);
	return 0;
}

int dart_configuration__append(char ***list, size_t *count, const char *text)
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

int dart_configuration__take_address(struct dart_configuration_loader *loader,
				     struct dart_yaml *yaml,
				     const yaml_node_t *item, const char *what,
				     char ***list, size_t *count)
{
	const char *text = dart_yaml__text(item) ?: "";
	char identity[INET6_ADDRSTRLEN + 32], address[INET6_ADDRSTRLEN];
	struct in6_addr bytes;
	int family, ret;

	family = inet_pton(AF_INET, text, &bytes) == 1 ? AF_INET : AF_INET6;
	if (family == AF_INET6 && inet_pton(AF_INET6, text, &bytes) != 1)
		return dart_yaml__refuse(
			yaml, item,
			"'%s' is not an address (write 10.0.0.1 or \"fd00::1\")",
			text);
	inet_ntop(family, &bytes, address, sizeof(address));
	snprintf(identity, sizeof(identity), "%s %s", what, address);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity,
					       address);
	if (ret)
		return ret;
	if (dart_configuration__append(list, count, address))
		return dart_error__no_memory(yaml->error);
	return 0;
}

static int take_listen_address(struct dart_yaml *yaml, const yaml_node_t *item,
			       void *into)
{
	struct dart_configuration_loader *loader = into;
	struct dart_configuration *configuration = loader->configuration;

	return dart_configuration__take_address(loader, yaml, item, "listen",
						&configuration->listen,
						&configuration->listen_count);
}

static int take_listen(struct dart_yaml *yaml, const yaml_node_t *node,
		       void *into)
{
	struct dart_configuration_loader *loader = into;
	int ret;

	ret = note_setting(loader, yaml, node) ?:
		      dart_yaml__take_list(yaml, node, take_listen_address,
					   loader);
	if (!ret && !loader->configuration->listen_count)
		return dart_yaml__refuse(
			yaml, node,
			"no address to listen at (remove 'listen' for all)");
	return ret;
}

static int take_prefix(struct dart_yaml *yaml, const yaml_node_t *item,
		       void *into)
{
	const char *text = dart_yaml__text(item) ?: "";
	struct dart_prefix prefix;
	struct dart_error error;

	if (dart_prefix__parse(&prefix, text, &error))
		return dart_yaml__refuse(yaml, item, "%s", error.text);
	if (dart_prefixes__add(into, &prefix))
		return dart_error__no_memory(yaml->error);
	return 0;
}

/* Even an empty list is one: it allows no address. */
static int take_prefixes(struct dart_yaml *yaml, const yaml_node_t *node,
			 void *into)
{
	struct dart_prefixes *prefixes = into;

	prefixes->is_given = true;
	return dart_yaml__take_list(yaml, node, take_prefix, prefixes);
}

static int take_allow(struct dart_yaml *yaml, const yaml_node_t *node,
		      void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "controllers", take_prefixes,
		  offsetof(struct dart_configuration, controllers) },
		{ "readers", take_prefixes,
		  offsetof(struct dart_configuration, readers) },
		{ "callers", take_prefixes,
		  offsetof(struct dart_configuration, callers) },
		{}
	};
	struct dart_configuration_loader *loader = into;

	return note_setting(loader, yaml, node) ?:
		       dart_yaml__take_mapping(yaml, node, members,
					       loader->configuration);
}

/* As many as have a queue pair or a descriptor on any host. */
#define LIMIT_MAX 65536

static int take_limit(struct dart_configuration_loader *loader,
		      struct dart_yaml *yaml, const yaml_node_t *node,
		      const char *name, uint32_t *limit)
{
	long long number;
	int ret;

	ret = dart_configuration__claim_setting(loader, yaml, node, name) ?:
		      dart_configuration__take_number(yaml, node, 1, LIMIT_MAX,
						      &number);
	if (!ret)
		*limit = number;
	return ret;
}

static int take_controllers(struct dart_yaml *yaml, const yaml_node_t *node,
			    void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: controllers",
			  &loader->configuration->limits.controllers);
}

static int take_readers(struct dart_yaml *yaml, const yaml_node_t *node,
			void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: readers",
			  &loader->configuration->limits.readers);
}

static int take_callers(struct dart_yaml *yaml, const yaml_node_t *node,
			void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: callers",
			  &loader->configuration->limits.callers);
}

static int take_clients(struct dart_yaml *yaml, const yaml_node_t *node,
			void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: clients",
			  &loader->configuration->limits.clients);
}

static int take_per_address(struct dart_yaml *yaml, const yaml_node_t *node,
			    void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: per_address",
			  &loader->configuration->limits.per_address);
}

static int take_half_open(struct dart_yaml *yaml, const yaml_node_t *node,
			  void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: half_open",
			  &loader->configuration->limits.half_open);
}

static int take_entries_per_user(struct dart_yaml *yaml,
				 const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: entries_per_user",
			  &loader->configuration->limits.entries_per_user);
}

static int take_slice_mib_per_user(struct dart_yaml *yaml,
				   const yaml_node_t *node, void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(loader, yaml, node, "limits: slice_mib_per_user",
			  &loader->configuration->limits.slice_mib_per_user);
}

static int take_requests_per_second_per_user(struct dart_yaml *yaml,
					     const yaml_node_t *node,
					     void *into)
{
	struct dart_configuration_loader *loader = into;

	return take_limit(
		loader, yaml, node, "limits: requests_per_second_per_user",
		&loader->configuration->limits.requests_per_second_per_user);
}

static int take_tcp(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return note_setting(into, yaml, node) ?:
		       dart_configuration__take_tcp(yaml, node, into);
}

static int take_limits(struct dart_yaml *yaml, const yaml_node_t *node,
		       void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "controllers", take_controllers, 0 },
		{ "readers", take_readers, 0 },
		{ "callers", take_callers, 0 },
		{ "clients", take_clients, 0 },
		{ "per_address", take_per_address, 0 },
		{ "half_open", take_half_open, 0 },
		{ "entries_per_user", take_entries_per_user, 0 },
		{ "slice_mib_per_user", take_slice_mib_per_user, 0 },
		{ "requests_per_second_per_user",
		  take_requests_per_second_per_user, 0 },
		{}
	};

	return note_setting(into, yaml, node) ?:
		       dart_yaml__take_mapping(yaml, node, members, into);
}

int dart_configuration__take(struct dart_yaml *yaml, const yaml_node_t *root,
			     void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "device", take_device, 0 },
		{ "listen", take_listen, 0 },
		{ "port", take_port, 0 },
		{ "exposure", take_exposure, 0 },
		{ "keepalive", take_keepalive, 0 },
		{ "allow", take_allow, 0 },
		{ "limits", take_limits, 0 },
		{ "tcp", take_tcp, 0 },
		{ "host", dart_configuration__take_host, 0 },
		{ "sources", dart_configuration__take_sources, 0 },
		{ "maps", dart_configuration__take_maps, 0 },
		{ "counters", dart_configuration__take_counters, 0 },
		{ "probes", dart_configuration__take_probes, 0 },
		{ "stores", dart_configuration__take_stores, 0 },
		{ "tables", dart_configuration__take_tables, 0 },
		{}
	};

	return dart_yaml__take_mapping(yaml, root, members, into);
}
