// SPDX-License-Identifier: GPL-2.0-only
/* Loads probes into the kernel and registers their maps. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "probe.h"

#define TYPES "/sys/kernel/btf/vmlinux"

static int cannot(const struct probe *probe, const char *verb, int code, struct dart_error *error)
{
	return dart_error__system(error, code, "cannot %s the eBPF programs of '%s'", verb,
				  probe->kind->name);
}

static const struct probe_map *probe__map(const struct probe *probe, size_t index)
{
	const struct probe_map *map = &probe->kind->maps[index];

	return index < PROBE_MAPS_MAX && map->entry ? map : NULL;
}

/* The entry of map @index, or NULL if it is not registered. */
static struct entry *probe__entry(const struct probes *probes,
				  const struct probe *probe, size_t index)
{
	return inventory__find_map(&probes->registry->inventory, probe->map_ids[index]);
}

static int probe__open_object(struct probe *probe, uint32_t cpus)
{
	const struct probe_map *map;
	const void *elf;
	size_t i, size;
	int ret = 0;

	elf = probe->kind->object(&size);
	probe->object = bpf_object__open_mem(elf, size, NULL);
	if (!probe->object)
		return -errno;
	for (i = 0; !ret && (map = probe__map(probe, i)); i++)
		if (map->has_row_per_cpu)
			ret = bpf_map__set_max_entries(
				bpf_object__find_map_by_name(probe->object, map->name), cpus);
	return ret;
}

static int probe__register(struct probes *probes, struct probe *probe, struct dart_error *error)
{
	const struct probe_map *map;
	struct entry *entry;
	size_t i;
	int ret;

	for (i = 0; (map = probe__map(probe, i)); i++) {
		ret = registry__add_map(probes->registry,
					bpf_object__find_map_fd_by_name(probe->object, map->name),
					bpf_object__btf(probe->object), map->entry, &entry, error);
		if (ret)
			return ret;
		probe->map_ids[i] = entry->extent.map_id;
	}
	return 0;
}

static int probe__unregister(struct probes *probes, struct probe *probe, struct dart_error *error)
{
	struct entry *entry;
	size_t i;
	int ret;

	for (i = 0; probe__map(probe, i); i++) {
		entry = probe__entry(probes, probe, i);
		ret = entry ? registry__remove(probes->registry, entry, error) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static void probe__free(struct probe *probe)
{
	bpf_links__close(&probe->bpf_links);
	bpf_object__close(probe->object);
	*probe = (struct probe){ .kind = probe->kind };
}

static int probe__check_kernel(const struct probe_kind *kind, struct dart_error *error)
{
	const char *missing = NULL;

	if (access(TYPES, R_OK))
		missing = "the kernel has no BTF (run a kernel with CONFIG_DEBUG_INFO_BTF=y)";
	else if (kind->needs && access(kind->needs, R_OK))
		missing = kind->needs_what;
	if (missing)
		return dart_error__set(error, EOPNOTSUPP, "the probe '%s' cannot run here: %s",
				       kind->name, missing);
	return 0;
}

static int probe__start(struct probes *probes, struct probe *probe, struct dart_error *error)
{
	const struct probe_kind *kind = probe->kind;
	int ret;

	ret = probe__check_kernel(kind, error);
	if (ret)
		return ret;

	ret = probe__open_object(probe, probes->cpus) ?: bpf_object__load(probe->object);
	if (ret) {
		ret = cannot(probe, "load", -ret, error);
		goto free_probe;
	}
	ret = probe__register(probes, probe, error);
	if (ret)
		goto unregister;
	ret = bpf_links__open(&probe->bpf_links, probe->object);
	if (ret) {
		ret = cannot(probe, "attach", -ret, error);
		goto unregister;
	}
	return 0;

unregister:
	probe__unregister(probes, probe, &(struct dart_error){ });
free_probe:
	probe__free(probe);
	return ret;
}

/* Loads all programs of a probe or, on error, none. */
static int probe__load(struct probes *probes, struct probe *probe, struct dart_error *error)
{
	const char *name = probe->kind->name;
	int ret;

	if (probe->object)
		return dart_error__set(error, EEXIST, "the probe '%s' is already loaded", name);
	ret = probe__start(probes, probe, error);
	probe->failure = ret ? *error : (struct dart_error){};
	probe->reason = coverage__reason_of(-ret);
	coverage_watch__touch(probes->coverage);
	if (!ret)
		changes__announce(probes->changes, "loaded", "probe", name);
	return ret;
}

/*
 * Unregisters its entries and unloads its programs; the maps live until the
 * leases of the entries end.
 */
static int probe__unload(struct probes *probes, struct probe *probe, struct dart_error *error)
{
	int ret;

	if (!probe->object)
		return dart_error__set(error, ENOENT, "the probe '%s' is not loaded",
				       probe->kind->name);
	ret = probe__unregister(probes, probe, error);
	if (ret)
		return ret;
	probe__free(probe);
	coverage_watch__touch(probes->coverage);
	changes__announce(probes->changes, "unloaded", "probe", probe->kind->name);
	return 0;
}

/* Returns NULL and sets @error if no probe has that name. */
static struct probe *probes__find(const struct probes *probes, const char *name,
				  struct dart_error *error)
{
	const struct probe_kind *kind = probe_kind__find(name, error);

	return kind ? &probes->probes[kind - probe_kinds] : NULL;
}

int probes__open(struct probes *probes, uint32_t cpus, struct registry *registry,
		 const struct changes *changes, struct dart_error *error)
{
	size_t i;

	*probes = (struct probes){ .registry = registry,
				   .changes = changes,
				   .cpus = cpus };
	probes->probes = calloc(probe_kind_count, sizeof(*probes->probes));
	if (!probes->probes)
		return dart_error__no_memory(error);

	for (i = 0; i < probe_kind_count; i++)
		probes->probes[i].kind = &probe_kinds[i];
	return 0;
}

void probes__close_in_background(const struct probes *probes, struct background_close *closing)
{
	size_t i;

	for (i = 0; i < probe_kind_count; i++)
		bpf_links__close_in_background(&probes->probes[i].bpf_links, closing);
}

void probes__close(struct probes *probes)
{
	size_t i;

	for (i = 0; i < probe_kind_count; i++)
		probe__free(&probes->probes[i]);
	free(probes->probes);
}

/*
 * Returns how many events were not counted: the kernel does not run a program
 * while the same one is running on that CPU.
 */
static uint64_t probe__missed(const struct probe *probe)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, probe->object) {
		struct bpf_prog_info info = { };
		uint32_t size = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

/* JSON of <dart/registration.h>; NULL if out of memory. */
static json_t *probe__describe(const struct probes *probes, const struct probe *probe)
{
	json_t *entries = json_array(), *json;
	const struct entry *entry;
	size_t i;

	for (i = 0; probe->object && probe__map(probe, i); i++) {
		entry = probe__entry(probes, probe, i);
		if (entry)
			reply__append(&entries, json_string(entry->name));
	}
	json = json_pack("{s:s, s:b, s:o, s:s}", "name", probe->kind->name,
			 "loaded", !!probe->object, "entries", entries,
			 "description", probe->kind->description);
	if (probe->object)
		json_object_set_new(json, "missed", json_integer(probe__missed(probe)));
	return json;
}

/* ---- requests */

static int list_probes(struct request *request)
{
	const struct probes *probes = request->subject;
	size_t i;

	request->result = json_array();
	for (i = 0; i < probe_kind_count; i++)
		reply__append(&request->result, probe__describe(probes, &probes->probes[i]));
	return 0;
}

/* Loads or unloads the probe that the request names. */
static int change_probe(struct request *request,
			int (*change)(struct probes *probes, struct probe *probe,
				      struct dart_error *error))
{
	struct probe *probe;
	int ret;

	probe = probes__find(request->subject, request->text, &request->error);
	if (!probe)
		return -ENOENT;
	ret = change(request->subject, probe, &request->error);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded", request->text);
	request->result = probe__describe(request->subject, probe);
	return 0;
}

static int load_probe(struct request *request)
{
	return change_probe(request, probe__load);
}

static int unload_probe(struct request *request)
{
	return change_probe(request, probe__unload);
}

const struct request_type probe_requests[] = {
	{ "probe-list", "probes", list_probes, .member = "" },
	{ "probe-load", "probe", load_probe, .member = "name",
	  .only_root = "load or unload a probe", .keeps = "probe" },
	{ "probe-unload", "probe", unload_probe, .member = "name",
	  .only_root = "load or unload a probe", .ends = "probe" },
	{ }
};
