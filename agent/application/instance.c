// SPDX-License-Identifier: GPL-2.0-only
/* Makes the entries of a process: see instance.h. */
#include "instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/entry_name.h"
#include "agent/region/selector.h"
#include "host_process.h"
#include "plan.h"

/* A server opens the port that names it within this time, even on a busy host. */
#define PORT_MS 5000

/* The module gathers the entry.  -EOPNOTSUPP: it cannot. */
static int instance__add_gathered(struct instance_rooms *rooms, struct instance *instance,
				  struct process_request *asked,
				  const struct dart_application_entry *flat,
				  struct dart_error *error)
{
	struct application_locations locations;
	struct process_memory memory;
	struct entry *entry;
	int ret, fd;

	if (instance->format != APPLICATION_FORMAT_ANY ||
	    !rooms->registry->rooms.region->way->gathers_processes)
		return -EOPNOTSUPP;
	ret = application_locations__make(&locations, flat, &instance->process, error);
	if (ret)
		return ret;
	memory = (struct process_memory){
		.pid = instance->process.pid,
		.locations = locations.list,
		.location_count = locations.count,
	};
	asked->memory = &memory;
	asked->layout = &locations.layout;
	ret = registry__add_process(rooms->registry, asked, &fd, &entry, error);
	application_locations__clear(&locations);
	asked->memory = NULL;
	return ret;
}

static int instance__need_writer(struct instance_rooms *rooms, struct instance *instance,
				 struct dart_error *error)
{
	return instance->writer ? 0 :
				  writer__new(rooms->writers, &instance->process,
					      instance->gather_ms, &instance->writer, error);
}

/* The writer gathers the entry.  Takes @flat over. */
static int instance__add_written(struct instance_rooms *rooms, struct instance *instance,
				 struct process_request *asked, struct dart_application_entry *flat,
				 struct dart_error *error)
{
	struct record_layout layout;
	struct entry *entry;
	int ret, fd;

	ret = record_layout__init(&layout, flat->schema, NULL, error);
	if (ret)
		return ret;
	asked->layout = &layout;
	ret = instance__need_writer(rooms, instance, error) ?:
		      registry__add_process(rooms->registry, asked, &fd, &entry, error);
	if (!ret) {
		ret = writer__add(instance->writer, flat, &layout, fd, error);
		close(fd);
		if (ret)
			registry__take_out(rooms->registry, entry);
	}
	record_layout__clear(&layout);
	return ret;
}

/* ENTRY@LABEL, or ENTRY@LABEL[INSTANCE] as dart_metrics(5) takes apart, and the interval. */
static int name_entry(char name[static DART_CONTROL_ENTRY_NAME_MAX],
		      const struct dart_application_entry *entry, const char *label,
		      uint32_t gather_ms, struct dart_error *error)
{
	char both[DART_CONTROL_ENTRY_NAME_MAX];
	int length;

	if (entry->instance)
		length = snprintf(both, sizeof(both), "%s[%s]", label, entry->instance);
	else
		length = snprintf(both, sizeof(both), "%s", label);
	if (length >= (int)sizeof(both))
		return dart_error__set(error, ENAMETOOLONG, "the name of '%s' is too long",
				       entry->schema->name);
	return entry_name__of(name, entry->schema->name, both, error) ?:
		       selector__add_interval(name, gather_ms, error);
}

static int instance__add_entry(struct instance_rooms *rooms, struct instance *instance,
			       const struct dart_application_entry *from, struct dart_error *error)
{
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	struct process_request asked = {
		.name = name,
		.group = instance->group,
		.gather_ms = instance->gather_ms,
		.rows = from->rows,
		.object = ++rooms->last_object,
	};
	struct dart_application_entry flat;
	int ret;

	ret = name_entry(name, from, instance->label, instance->gather_ms, error) ?:
		      application_entry__flatten(from, &flat, error);
	if (ret)
		return ret;
	instance->names[instance->entry_count] = strdup(name);
	if (!instance->names[instance->entry_count]) {
		dart_application_entry__clear(&flat);
		return dart_error__no_memory(error);
	}
	ret = instance__add_gathered(rooms, instance, &asked, &flat, error);
	instance->are_gathered_by_module[instance->entry_count] = !ret;
	if (ret == -EOPNOTSUPP)
		ret = instance__add_written(rooms, instance, &asked, &flat, error);
	dart_application_entry__clear(&flat);
	if (ret)
		free(instance->names[instance->entry_count]);
	else
		instance->entry_count++;
	return ret;
}

/* True if no entry of @layout is called after @label. */
static bool is_unused(const struct instance_rooms *rooms,
		      const struct dart_application_layout *layout, const char *label,
		      uint32_t gather_ms)
{
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	struct dart_error error;
	uint32_t i;

	for (i = 0; i < layout->entry_count; i++)
		if (name_entry(name, &layout->entries[i], label, gather_ms, &error) ||
		    inventory__check_unused(&rooms->registry->inventory, name, &error))
			return false;
	return true;
}

/* Has the process started so recently that it may open its port soon? */
static bool is_new(pid_t pid)
{
	const uint64_t now = dart_clock__ns(CLOCK_BOOTTIME) / 1000000;
	uint64_t start;
	pid_t parent;

	return host_process__origin(pid, &parent, &start) &&
	       start * 1000 / sysconf(_SC_CLK_TCK) + PORT_MS > now;
}

/*
 * The label is the service of the process, its TCP port, or the process itself: the first one that
 * no other instance has.
 */
static int instance__choose_label(struct instance_rooms *rooms, struct instance *instance,
				  const struct dart_application_layout *layout,
				  struct dart_error *error)
{
	const uint32_t gather_ms = instance->gather_ms;
	const pid_t pid = instance->process.pid;
	char cgroup[PATH_MAX];
	uint16_t port;

	if (host_process__cgroup(pid, cgroup) && cgroup__service(cgroup, instance->label) &&
	    is_unused(rooms, layout, instance->label, gather_ms))
		return 0;
	port = listening__port(&rooms->listening, pid);
	snprintf(instance->label, sizeof(instance->label), "%u", port);
	if (port && is_unused(rooms, layout, instance->label, gather_ms))
		return 0;
	if (!port && is_new(pid))
		return dart_error__set(
			error, ENOEXEC,
			"process %d has just started, and may open the port that names it: try again after %d s",
			pid, PORT_MS / 1000);
	snprintf(instance->label, sizeof(instance->label), "pid-%d", pid);
	return 0;
}

static int instance__add_entries(struct instance_rooms *rooms, struct instance *instance,
				 const struct instance_parts *parts, struct dart_error *error)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < parts->layout->entry_count; i++)
		ret = instance__add_entry(rooms, instance, &parts->layout->entries[i], error);
	if (!ret && parts->described) {
		ret = writer__describe(instance->writer, parts->pidfd, parts->format,
				       *parts->described, error);
		*parts->described = NULL;
	}
	if (!ret && instance->writer)
		ret = writer__start(instance->writer, error);
	if (ret)
		instance__withdraw(rooms, instance, false);
	return ret;
}

int instance__new(struct instance_rooms *rooms, const struct instance_parts *parts,
		  struct instance **result, struct dart_error *error)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	int ret = 0;

	if (!instance)
		return dart_error__no_memory(error);
	instance->pidfd = -1;
	instance->group = parts->group;
	instance->format = parts->format;
	instance->gather_ms = parts->gather_ms;
	instance->build_id = parts->build_id;
	instance->process = *parts->process;
	host_process__executable(instance->process.pid, instance->executable);
	if (parts->label)
		snprintf(instance->label, sizeof(instance->label), "%s", parts->label);
	else
		ret = instance__choose_label(rooms, instance, parts->layout, error);
	if (!ret)
		ret = instance__add_entries(rooms, instance, parts, error);
	if (ret) {
		instance->process.memory = -1;
		instance__free(instance);
		return ret;
	}
	parts->process->memory = -1;
	instance->pidfd = parts->pidfd;
	instance->is_staged = true;
	*result = instance;
	return 0;
}

void instance__withdraw(struct instance_rooms *rooms, struct instance *instance, bool has_ended)
{
	struct entry *entry;
	uint32_t i;

	for (i = 0; i < instance->entry_count; i++) {
		entry = inventory__find(&rooms->registry->inventory, instance->names[i]);
		/* The module may have told the end before. */
		if (!entry || entry->group != instance->group)
			continue;
		if (has_ended)
			registry__entry_ended(rooms->registry, entry);
		else
			registry__take_out(rooms->registry, entry);
	}
}

bool instance__has_row_of_module(const struct instance *instance)
{
	uint32_t i;

	for (i = 0; i < instance->entry_count; i++)
		if (instance->are_gathered_by_module[i])
			return true;
	return false;
}

/* The entry has a single row. */
static bool is_empty(const struct region *region, const struct entry *entry)
{
	const struct dart_zero_record_line *line =
		(const void *)(region->memory + entry->extent.data);

	return !__atomic_load_n(&line->sequence, __ATOMIC_RELAXED);
}

bool instance__lacks_values(const struct instance_rooms *rooms, const struct instance *instance,
			    uint32_t index)
{
	const struct entry *entry;

	if (!instance->are_gathered_by_module[index])
		return false;
	entry = inventory__find(&rooms->registry->inventory, instance->names[index]);
	return entry && entry->group == instance->group &&
	       is_empty(rooms->registry->rooms.region, entry);
}

void instance__free(struct instance *instance)
{
	uint32_t i;

	sd_event_source_disable_unref(instance->end);
	if (instance->writer)
		writer__stop(instance->writer);
	for (i = 0; i < instance->entry_count; i++)
		free(instance->names[i]);
	if (instance->pidfd >= 0)
		close(instance->pidfd);
	if (instance->process.memory >= 0)
		application_process__detach(&instance->process);
	free(instance);
}
