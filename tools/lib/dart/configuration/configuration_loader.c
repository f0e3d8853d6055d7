// SPDX-License-Identifier: LGPL-2.1-or-later
/* Collects the items of configuration files, each at most once, and takes their values. */
#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/settings/quantity.h>

int dart_configuration_loader__claim(struct dart_configuration_loader *loader,
				     struct dart_yaml *yaml, const yaml_node_t *node,
				     const char *identity, const char *what)
{
	const char *place;

	place = json_string_value(json_object_get(loader->places, identity));
	if (place)
		return dart_yaml__refuse(yaml, node, "%s occurs twice, also at %s (remove one)",
					 what, place);
	if (json_object_set_new(loader->places, identity,
				json_sprintf("%s:%u", yaml->path, dart_yaml__line(node))))
		return dart_error__no_memory(yaml->error);
	return 0;
}

int dart_configuration_loader__add(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
				   const yaml_node_t *node, json_t *request, const char *path)
{
	struct dart_configuration *configuration = loader->configuration;
	struct dart_configuration_item *items, item = {
		.request = request,
		.path = path ? strdup(path) : NULL,
		.file = strdup(yaml->path),
		.line = dart_yaml__line(node),
	};

	items = reallocarray(configuration->items, configuration->item_count + 1, sizeof(*items));
	if (items)
		configuration->items = items;
	if (!items || !request || (path && !item.path) || !item.file) {
		json_decref(request);
		free(item.path);
		free(item.file);
		return dart_error__no_memory(yaml->error);
	}
	items[configuration->item_count++] = item;
	return 0;
}

int dart_configuration__take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **text = into;

	*text = dart_yaml__text(node);
	if (!*text || !**text)
		return dart_yaml__refuse(yaml, node, "expected a text without control characters");
	return 0;
}

int dart_configuration__take_flag(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node) ?: "";
	bool *flag = into;

	*flag = !strcmp(text, "true");
	if (!*flag && strcmp(text, "false"))
		return dart_yaml__refuse(yaml, node, "'%s' is neither true nor false", text);
	return 0;
}

int dart_configuration__take_number(struct dart_yaml *yaml, const yaml_node_t *node,
				    long long least, long long most, long long *number)
{
	const char *text = dart_yaml__text(node) ?: "";
	uint64_t value;

	if (dart_quantity__parse(DART_QUANTITY_NUMBER, text, least, most, &value))
		return dart_yaml__refuse(yaml, node, "'%s' is not a number from %lld to %lld", text,
					 least, most);
	*number = value;
	return 0;
}

static bool is_host_address(const char *text)
{
	struct in_addr address;

	return inet_pton(AF_INET, text, &address) == 1 && address.s_addr &&
	       !IN_MULTICAST(ntohl(address.s_addr)) && !IN_BADCLASS(ntohl(address.s_addr));
}

int dart_configuration__take_host_of(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	const struct dart_configuration_hosts *hosts = into;
	const char *text = dart_yaml__text(item) ?: "";
	char identity[128];
	int ret;

	if (!is_host_address(text))
		return dart_yaml__refuse(yaml, item, "'%s' is not the IPv4 address of a %s", text,
					 hosts->host);
	snprintf(identity, sizeof(identity), "%s %s of %s '%s'", hosts->host, text, hosts->object,
		 hosts->name);
	ret = dart_configuration_loader__claim(hosts->loader, yaml, item, identity, identity);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		hosts->loader, yaml, item,
		json_pack("{s:s, s:s, s:s}", "request", hosts->request,
			  hosts->object, hosts->name, "address", text),
		NULL);
}

int dart_configuration__take_power(struct dart_yaml *yaml, const yaml_node_t *node, int most,
				   long long *log2)
{
	const char *text = dart_yaml__text(node) ?: "";

	*log2 = dart_quantity__logarithm(text, most);
	if (*log2 >= 0)
		return 0;
	return dart_yaml__refuse(yaml, node,
				 "'%s' is not a power of two from 2^0 to 2^%d, such as 2^20", text,
				 most);
}

int dart_configuration__check_path(struct dart_yaml *yaml,
				   const yaml_node_t *node, const char *path)
{
	if (!path || (*path == '/' && strlen(path) < PATH_MAX))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not a path from the root", path);
}

json_t *dart_configuration__optional(long long number)
{
	return number < 0 ? NULL : json_integer(number);
}
