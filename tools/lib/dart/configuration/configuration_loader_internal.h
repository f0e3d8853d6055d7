/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of reading configuration files; for the files of the configuration only. */
#ifndef DART_CONFIGURATION_LOADER_H
#define DART_CONFIGURATION_LOADER_H

#include <libdart/configuration/configuration.h>
#include <libdart/settings/setting.h>
#include <libdart/yaml_file.h>

struct dart_configuration_loader {
	struct dart_configuration *configuration;
	/* FILE:LINE of each identity that may occur only once, by the identity */
	json_t *places;
	/* NULL: the first mistake ends the loading */
	const struct dart_yaml_mistakes *mistakes;
};

/*
 * Refuses @identity if it has occurred before, in this file or another one, with
 * both places; @what is its name for people.
 */
int dart_configuration_loader__claim(struct dart_configuration_loader *loader,
				     struct dart_yaml *yaml, const yaml_node_t *node,
				     const char *identity, const char *what);
/*
 * Appends an item and takes the reference to @request, which may be NULL if out
 * of memory; copies @path, which may be NULL.
 */
int dart_configuration_loader__add(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
				   const yaml_node_t *node, json_t *request, const char *path);

/* The whole document; @into: a struct dart_configuration_loader. */
int dart_configuration__take(struct dart_yaml *yaml, const yaml_node_t *root, void *into);

/* Values of keys.  @into: const char **; the text lives as long as @yaml. */
int dart_configuration__take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
/* @into: bool * */
int dart_configuration__take_flag(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_number(struct dart_yaml *yaml, const yaml_node_t *node,
				    long long least, long long most, long long *number);

/* Takes a power of two, "2^20" or "1048576", into its logarithm, 0 to @most. */
int dart_configuration__take_power(struct dart_yaml *yaml, const yaml_node_t *node, int most,
				   long long *log2);
/* Refuses a path that does not begin at the root; @path may be NULL. */
int dart_configuration__check_path(struct dart_yaml *yaml,
				   const yaml_node_t *node, const char *path);
/* NULL if @number is negative, which means that the file does not give it. */
json_t *dart_configuration__optional(long long number);

/* The hosts that may use a store or a table. */
struct dart_configuration_hosts {
	struct dart_configuration_loader *loader;
	const char *host;	/* "reporter" */
	const char *object;	/* "store" */
	const char *name;	/* of the object */
	const char *request;	/* adds a host: "reporter-add" */
};

/* Takes the IPv4 address of a host, once.  @into: a struct dart_configuration_hosts. */
int dart_configuration__take_host_of(struct dart_yaml *yaml, const yaml_node_t *item, void *into);

/* Items and lists of them; @into: a struct dart_configuration_loader. */
int dart_configuration__take_host(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_sources(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_maps(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_counters(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_probes(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_applications(struct dart_yaml *yaml, const yaml_node_t *node,
					  void *into);
int dart_configuration__take_stores(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_tables(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_journals(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_ledgers(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_configuration__take_sketches(struct dart_yaml *yaml, const yaml_node_t *node, void *into);

#endif /* DART_CONFIGURATION_LOADER_H */
