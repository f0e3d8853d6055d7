// SPDX-License-Identifier: GPL-2.0-only
/* The requests about entries: register, unregister, list, show. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/table/schema.h>

#include "agent/base/log.h"
#include "agent/schema/schema_json.h"
#include "registry_json.h"

/* The end of a request that registered @entry. */
static int reply_entry(struct request *request, struct entry *entry)
{
	struct registry *registry = request->subject;

	inventory__set_owner(&registry->inventory, entry, request->uid);
	request->result = registry_json__entry(entry);
	return 0;
}

static int register_source(struct request *request)
{
	struct selector_choice choice;
	const struct source *source;
	struct selector selector;
	struct entry *entry;
	int ret;

	ret = selector__unpack(request, &source, &choice) ?:
		      selector__choose(&selector, source, &choice, &request->error);
	if (ret)
		return ret;
	ret = registry__add_source(request->subject, &selector, NULL, &entry, &request->error);
	selector__close(&selector);
	if (ret)
		return ret;
	log__info("registered source %s", entry->name);
	return reply_entry(request, entry);
}

static int register_map(struct request *request)
{
	struct registry *registry = request->subject;
	const char *name = NULL;
	struct entry *entry;
	int ret;

	ret = request__unpack(request, "{s?s !}", "name", &name) ?:
		      quotas__check(&registry->inventory.quotas, request->uid,
				    1, 0, &request->error) ?:
		      registry__add_map(registry, request->fd, NULL, name, &entry,
					&request->error);
	if (ret)
		return ret;
	map_owner_watch__add(registry->rooms.map_owner_watch, entry->extent.map_id);
	log__peer_info("registered map %u as %s", entry->extent.map_id, entry->name);
	request__keep(request, json_pack("{s:I}", "map_id", (json_int_t)entry->extent.map_id));
	return reply_entry(request, entry);
}

static int register_counters(struct request *request)
{
	struct entry *entry;
	json_t *names = NULL;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s?o !}", "name", &name, "counters", &names);
	if (!ret && names && !json_array_size(names))
		ret = dart_error__set(&request->error, EINVAL,
				      "the list of counters has no name in it");
	ret = ret ?: registry__add_counters(request->subject, name, names, &entry, &request->error);
	if (ret)
		return ret;
	log__info("registered counters %s", entry->name);
	return reply_entry(request, entry);
}

/* Not logged: there can be thousands in a second. */
static int new_slice(struct request *request)
{
	struct slice_request asked = {
		.owner = request->uid,
		.fd = request->fd,
	};
	json_int_t offset = 0, memory = 0;
	json_t *json, *has_memory = NULL;
	const char *exposure = NULL;
	struct entry *entry;
	int ret;

	ret = request__unpack(request, "{s:s, s:o, s?I, s?o, s?s !}", "name", &asked.name,
			      "schema", &json, "offset", &offset, "memory", &has_memory, "exposure",
			      &exposure);
	if (!ret && has_memory && !json_is_integer(has_memory))
		ret = dart_error__set(&request->error, EINVAL, "'memory' is not an integer");
	memory = json_integer_value(has_memory);
	if (!ret && (offset < 0 || memory < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "'offset' and 'memory' are not negative");
	if (!ret && exposure && strcmp(exposure, "exact"))
		ret = dart_error__set(&request->error, EINVAL,
				      "'exposure' is not \"exact\" (leave it out)");
	ret = ret ?: schema_json__new(json, &asked.schema, &request->error);
	if (ret)
		return ret;
	asked.offset = offset;
	asked.has_memory = has_memory;
	asked.memory = memory;
	asked.is_exact = exposure;
	ret = registry__add_slice(request->subject, &asked, request->reply_fd,
				  &entry, &request->error);
	if (ret)
		return ret;
	registry__note_slice(entry, request->uid, json);
	if (request->slice)
		*request->slice = registry__note_place(entry);
	return reply_entry(request, entry);
}

/* The short form: "OFFSET NAME". */
static int add_slice(struct request *request)
{
	struct registry *registry = request->subject;
	struct slice_request asked = { .owner = request->uid, .fd = -1 };
	struct entry *entry;
	char *end;
	int ret;

	/* Neither a sign nor a space, which strtoull() takes. */
	if (*request->text < '0' || *request->text > '9')
		return dart_error__set(&request->error, EINVAL, "'+' is not followed by an offset");
	errno = 0;
	asked.offset = strtoull(request->text, &end, 10);
	if (errno || *end != ' ')
		return dart_error__set(&request->error, EINVAL,
				       "'+' is not followed by an offset, a space and a name");
	asked.name = end + 1;
	ret = registry__add_like(registry, request->slice ? *request->slice : 0, &asked, &entry,
				 &request->error);
	if (ret)
		return ret;
	inventory__set_owner(&registry->inventory, entry, request->uid);
	*request->slice = registry__note_place(entry);
	return 0;
}

static int unregister_group(struct request *request, struct entry_group *group)
{
	/* Only root registers groups. */
	int ret = request__check_owner(request, 0, group->name);

	if (ret)
		return ret;
	if (group->part_of)
		return dart_error__set(&request->error, EBUSY,
				       "'%s' is part of '%s' (unregister that)",
				       group->name, group->part_of->name);
	request->result = group->operations->describe(group);
	return group->operations->unregister(group, &request->error);
}

static int unregister_entry(struct request *request, struct entry *entry)
{
	const struct entry_group *whole;
	int ret;

	if (entry->is_self)
		return dart_error__set(
			&request->error, EPERM,
			"'%s' is the entry about dartd itself, which cannot be unregistered",
			entry->name);
	whole = entry->group && entry->group->part_of ? entry->group->part_of : entry->group;
	if (whole)
		return dart_error__set(&request->error, EBUSY,
				       "'%s' is part of '%s' (unregister that)",
				       entry->name, whole->name);
	ret = request__check_owner(request, entry->owner, entry->name) ?:
		      registry__remove(request->subject, entry, &request->error);
	if (!ret)
		request->result = registry_json__entry(entry);
	return ret;
}

/* Not logged either. */
static int unregister_slice(struct request *request)
{
	struct entry *entry;
	int ret;

	ret = registry__find_slice(request->subject, request->text, request->fd,
				   &entry, &request->error) ?:
		      unregister_entry(request, entry);
	if (!ret)
		json_object_set_new(request->result, "lease_ms", json_integer(LEASE_MS));
	return ret;
}

static int find_entry(struct request *request, struct entry **entry)
{
	const struct registry *registry = request->subject;

	*entry = inventory__find(&registry->inventory, request->text);
	if (*entry)
		return 0;
	return dart_error__set(&request->error, ENOENT, "there is no entry '%s'", request->text);
}

static int unregister(struct request *request)
{
	const struct registry *registry = request->subject;
	struct entry_group *group;
	struct entry *entry;
	int ret;

	group = inventory__find_group(&registry->inventory, request->text);
	if (group)
		ret = unregister_group(request, group);
	else
		ret = find_entry(request, &entry) ?: unregister_entry(request, entry);
	if (!ret)
		log__peer_info("unregistered %s", request->text);
	return ret;
}

static int list_entries(struct request *request)
{
	const struct registry *registry = request->subject;
	const struct entry_group *group;
	const struct entry *entry;
	const int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	const char *before = "";

	reply_text__begin(&request->answer, "entries");
	reply_text__put(&request->answer, "[");
	TAILQ_FOREACH(entry, &registry->inventory.entries, link) {
		reply_text__put(&request->answer, before);
		registry_json__write(entry, now, &request->answer);
		before = ",";
	}
	TAILQ_FOREACH(group, &registry->inventory.groups, link) {
		reply_text__put(&request->answer, before);
		reply_text__json(&request->answer, group->operations->describe(group));
		before = ",";
	}
	reply_text__put(&request->answer, "]");
	return 0;
}

/*
 * Finds the entry with the shortest interval among the entries named NAME+INTERVAL, where NAME is
 * the name in the request.
 */
static struct entry *find_gathered(const struct request *request)
{
	const struct registry *registry = request->subject;
	const size_t wanted = strlen(request->text);
	struct entry *entry, *found = NULL;
	uint32_t ms, least = UINT32_MAX;
	size_t length;

	TAILQ_FOREACH(entry, &registry->inventory.entries, link) {
		if (strncmp(entry->name, request->text, wanted))
			continue;
		ms = dart_gathered_name__ms(entry->name, &length);
		if (!ms || length != wanted || ms >= least)
			continue;
		least = ms;
		found = entry;
	}
	return found;
}

static int show_entry(struct request *request)
{
	struct entry *entry;
	int ret = find_entry(request, &entry);

	if (ret) {
		entry = find_gathered(request);
		ret = entry ? 0 : ret;
	}
	return ret ?: registry_json__values(entry, &request->result, &request->error);
}

const struct request_type registry_requests[] = {
	{ "register-source", "entry", register_source,
	  .only_root = "register a source of the kernel",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "entry" },
	{ "register-map", "entry", register_map, .fd = REQUEST_FD_REQUIRED,
	  .keeps = "entry" },
	{ "register-counters", "entry", register_counters,
	  .only_root = "register counters", .keeps = "entry" },
	{ "new-slice", "entry", new_slice, .fd = REQUEST_FD_OPTIONAL },
	{ "+", NULL, add_slice, .is_short = true },
	{ "unregister-slice", "entry", unregister_slice, .member = "name",
	  .fd = REQUEST_FD_REQUIRED },
	{ "unregister", "entry", unregister, .member = "name",
	  .ends = "entry" },
	{ "list", "entries", list_entries, .member = "" },
	{ "show", "entry", show_entry, .member = "name" },
	{ }
};
