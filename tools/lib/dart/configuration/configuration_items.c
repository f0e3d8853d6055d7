// SPDX-License-Identifier: LGPL-2.1-or-later
/* The items of a configuration file except stores and tables, as requests to dartd. */
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>

/* Claims @request as a whole; the caller keeps its reference. */
static int claim_request(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
			 const yaml_node_t *node, const json_t *request, const char *what)
{
	char *identity;
	int ret;

	identity = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
	if (!identity)
		return dart_error__no_memory(yaml->error);
	ret = dart_configuration_loader__claim(loader, yaml, node, identity, what);
	free(identity);
	return ret;
}

/* Claims "KIND 'NAME'". */
static int claim_name(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		      const yaml_node_t *node, const char *kind, const char *name)
{
	char *identity;
	int ret;

	if (asprintf(&identity, "%s '%s'", kind, name) < 0)
		return dart_error__no_memory(yaml->error);
	ret = dart_configuration_loader__claim(loader, yaml, node, identity, identity);
	free(identity);
	return ret;
}

/* Claims an item, then adds it; takes the reference to @request. */
static int add_once(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		    const yaml_node_t *node, json_t *request, const char *path, const char *what)
{
	int ret = request ? claim_request(loader, yaml, node, request, what) : 0;

	if (!ret)
		return dart_configuration_loader__add(loader, yaml, node, request, path);
	json_decref(request);
	return ret;
}

/* ---- host */

struct host {
	const char *gather; /* interval */
	bool is_deferrable;
};

int dart_configuration__take_host(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "gather", dart_configuration__take_text, offsetof(struct host, gather) },
		{ "deferrable", dart_configuration__take_flag,
		  offsetof(struct host, is_deferrable) },
		{}
	};
	struct host host = {};
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &host);
	if (!ret && !host.gather)
		ret = dart_yaml__refuse(yaml, node,
					"'gather' is missing: how often, as in {gather: 1s}");
	return ret   ?:
		       add_once(into, yaml, node,
				json_pack("{s:s, s:s, s:o*}", "request", "register-host", "gather",
					  host.gather, "deferrable",
					  host.is_deferrable ? json_true() : NULL),
				NULL, "host");
}

/* ---- sources */

struct source {
	const char *name, *netns, *netdev, *disk, *cgroup, *filesystem;
	const char *path; /* of the namespace, disk, cgroup or mount point */
	const char *gather; /* interval, or NULL */
	bool is_deferrable;
	bool is_followed;
};

static int check_source(struct dart_yaml *yaml, const yaml_node_t *node,
			const struct source *source)
{
	const bool has_object = source->netns || source->disk ||
				source->cgroup || source->filesystem;

	if (!source->name)
		return dart_yaml__refuse(yaml, node, "'source' is missing");
	if (!!source->disk + !!source->cgroup + !!source->filesystem +
		    (source->netns || source->netdev) >
	    1)
		return dart_yaml__refuse(
			yaml, node,
			"%s: a source takes one of a namespace, a disk, a cgroup or a filesystem",
			source->name);
	if (source->is_followed &&
	    (source->netns || source->netdev || source->disk || source->filesystem))
		return dart_yaml__refuse(
			yaml, node,
			"%s: 'follow' is for all of a kind or for a cgroup and those below it (remove one of the keys)",
			source->name);
	if (source->path && !has_object)
		return dart_yaml__refuse(
			yaml, node,
			"%s: a 'path' needs the name of its netns, disk, cgroup or filesystem",
			source->name);
	return dart_configuration__check_path(yaml, node, source->path);
}

/* Finds the path and the label of the object of @source, if there is an object. */
static int find_object(struct dart_yaml *yaml, const yaml_node_t *node, const struct source *source,
		       char path[static PATH_MAX], const char **label)
{
	const char *text = source->netns  ?:
			   source->disk	  ?:
			   source->cgroup ?:
			   source->filesystem;
	enum dart_object_kind kind =
		source->disk	   ? DART_OBJECT_DISK :
		source->cgroup	   ? DART_OBJECT_CGROUP :
		source->filesystem ? DART_OBJECT_FILESYSTEM :
				     DART_OBJECT_NETNS;
	struct dart_error error;

	*label = text;
	if (source->path)
		strcpy(path, source->path);
	else if (text && dart_object__find(kind, text, path, label, &error))
		return dart_yaml__refuse(yaml, node, "%s", error.text);
	return 0;
}

static int add_source(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		      const yaml_node_t *node, const struct source *source)
{
	char path[PATH_MAX], what[256];
	const char *label;
	json_t *request;
	int ret;

	ret = check_source(yaml, node, source) ?: find_object(yaml, node, source, path, &label);
	if (ret)
		return ret;
	request = json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*}", "request",
			    source->is_followed ? "follow-source" : "register-source", "source",
			    source->name, "netns", source->netns ? label : NULL, "netdev",
			    source->netdev, "disk", source->disk ? label : NULL, "cgroup",
			    source->cgroup ? label : NULL, "filesystem",
			    source->filesystem ? label : NULL, "gather", source->gather,
			    "deferrable", source->is_deferrable ? json_true() : NULL);
	snprintf(what, sizeof(what), "source '%s'%s%s%s%s", source->name,
		 label || source->netdev ? " of " : "",
		 source->netdev ?:
			 label	?:
				  "",
		 source->gather ? ", gathered every " : "", source->gather ?: "");
	return add_once(loader, yaml, node, request, label ? path : NULL, what);
}

static int take_source(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
#define TEXT(name, member) \
	{ name, dart_configuration__take_text, offsetof(struct source, member) }
		TEXT("source", name),
		TEXT("netns", netns),
		TEXT("netdev", netdev),
		TEXT("disk", disk),
		TEXT("cgroup", cgroup),
		TEXT("filesystem", filesystem),
		TEXT("path", path),
		TEXT("gather", gather),
#undef TEXT
		{ "deferrable", dart_configuration__take_flag,
		  offsetof(struct source, is_deferrable) },
		{ "follow", dart_configuration__take_flag, offsetof(struct source, is_followed) },
		{}
	};
	struct source source = {};
	int ret;

	if (item->type == YAML_SCALAR_NODE)
		ret = dart_configuration__take_text(yaml, item, &source.name);
	else
		ret = dart_yaml__take_mapping(yaml, item, members, &source);
	return ret ?: add_source(into, yaml, item, &source);
}

int dart_configuration__take_sources(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_source, into);
}

/* ---- maps */

struct map {
	const char *pinned, *name;
};

static int take_map(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "pinned", dart_configuration__take_text,
		  offsetof(struct map, pinned) },
		{ "name", dart_configuration__take_text,
		  offsetof(struct map, name) },
		{}
	};
	struct map map = {};
	int ret;

	ret = dart_yaml__take_mapping(yaml, item, members, &map);
	if (ret)
		return ret;
	if (!map.pinned)
		return dart_yaml__refuse(yaml, item, "a map needs the path that it is 'pinned' at");
	ret = dart_configuration__check_path(yaml, item, map.pinned) ?:
		      claim_name(into, yaml, item, map.name ? "map" : "map at",
				 map.name ?: map.pinned);
	return ret   ?:
		       dart_configuration_loader__add(into, yaml, item,
						      json_pack("{s:s, s:s*}", "request",
								"register-map", "name", map.name),
						      map.pinned);
}

int dart_configuration__take_maps(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_map, into);
}

/* ---- counters */

struct counters {
	const char *name;
	json_t *names;
};

static int take_counter_name(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	const char *name;
	int ret = dart_configuration__take_text(yaml, item, &name);

	if (!ret && json_array_append_new(into, json_string(name)))
		ret = dart_error__no_memory(yaml->error);
	return ret;
}

static int take_counter_names(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	json_t **names = into;
	int ret;

	*names = json_array();
	ret = dart_yaml__take_list(yaml, node, take_counter_name, *names);
	if (!ret && !json_array_size(*names))
		ret = dart_yaml__refuse(
			yaml, node,
			"no counter in the list (remove 'counters' if a module has registered them)");
	return ret;
}

static int take_counters(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text,
		  offsetof(struct counters, name) },
		{ "counters", take_counter_names,
		  offsetof(struct counters, names) },
		{}
	};
	struct counters counters = {};
	int ret;

	ret = dart_yaml__take_mapping(yaml, item, members, &counters);
	if (!ret && !counters.name)
		ret = dart_yaml__refuse(yaml, item, "'name' is missing");
	ret = ret ?: claim_name(into, yaml, item, "counters", counters.name);
	if (!ret)
		return dart_configuration_loader__add(
			into, yaml, item,
			json_pack("{s:s, s:s, s:o*}", "request", "register-counters", "name",
				  counters.name, "counters", counters.names),
			NULL);
	json_decref(counters.names);
	return ret;
}

int dart_configuration__take_counters(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_counters, into);
}

/* ---- probes */

static int take_probe(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	const char *name;
	int ret;

	ret = dart_configuration__take_text(yaml, item, &name) ?:
		      claim_name(into, yaml, item, "probe", name);
	return ret   ?:
		       dart_configuration_loader__add(into, yaml, item,
						      json_pack("{s:s, s:s}", "request",
								"probe-load", "name", name),
						      NULL);
}

int dart_configuration__take_probes(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_probe, into);
}

/* ---- applications */

struct application {
	const char *name, *unit, *cgroup, *exe;
	const char *gather; /* interval, or NULL */
	bool is_followed;
};

static int take_application(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
#define TEXT(name, member) \
	{ name, dart_configuration__take_text, offsetof(struct application, member) }
		TEXT("application", name),
		TEXT("unit", unit),
		TEXT("cgroup", cgroup),
		TEXT("exe", exe),
		TEXT("gather", gather),
#undef TEXT
		{ "follow", dart_configuration__take_flag,
		  offsetof(struct application, is_followed) },
		{}
	};
	struct application application = {};
	char what[256];
	int ret;

	if (item->type == YAML_SCALAR_NODE)
		ret = dart_configuration__take_text(yaml, item, &application.name);
	else
		ret = dart_yaml__take_mapping(yaml, item, members, &application);
	if (ret)
		return ret;
	if (!application.name)
		return dart_yaml__refuse(yaml, item, "'application' is missing");
	if (!!application.unit + !!application.cgroup + !!application.exe > 1)
		return dart_yaml__refuse(
			yaml, item,
			"%s: an application takes one of a unit, a cgroup or an exe (remove the others)",
			application.name);
	snprintf(what, sizeof(what), "application '%s'", application.name);
	return add_once(into, yaml, item,
			json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:o*}", "request",
				  "application-add", "name", application.name, "unit",
				  application.unit, "cgroup", application.cgroup, "exe",
				  application.exe, "gather", application.gather, "follow",
				  application.is_followed ? json_true() : NULL),
			NULL, what);
}

int dart_configuration__take_applications(struct dart_yaml *yaml, const yaml_node_t *node,
					  void *into)
{
	return dart_yaml__take_list(yaml, node, take_application, into);
}
