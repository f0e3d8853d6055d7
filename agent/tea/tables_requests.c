// SPDX-License-Identifier: GPL-2.0-only
/* The requests about tables and their requesters. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/rdma/remote_requests.h"
#include "lookup_tables.h"
#include "table_kept.h"
#include "tables_json.h"

/* The subject of requests is the first member. */
static struct lookup_tables *tables_of(const struct request *request)
{
	return request->subject;
}

/* The number of mended rows tells how the last dartd ended. */
static void log_mended(const struct lookup_table *table)
{
	const struct dart_tea_mended *mended = &table->mended;

	if (table->object.memory.has_contents)
		log__info(
			"table %s has %llu entries; mended: %llu repeated, %llu torn, %llu misplaced, %llu of other servers, %llu rows",
			table->object.name, (unsigned long long)mended->entries,
			(unsigned long long)mended->repeated, (unsigned long long)mended->torn,
			(unsigned long long)mended->misplaced, (unsigned long long)table->foreign,
			(unsigned long long)mended->rows);
}

static int create_table(struct request *request)
{
	struct remote_origin origin = { .fd = request->fd };
	struct table_parameters parameters;
	struct lookup_table *table;
	const char *name;
	int ret;

	ret = table_parameters__unpack(request, &name, &origin.file, &parameters);
	if (ret)
		return ret;
	origin.epoch = table_kept__read_epoch(request->kept, name);
	ret = lookup_tables__create(tables_of(request), name, &parameters, &origin, &table,
				    &request->error);
	if (ret)
		return ret;
	remote_requests__tell_created(request, &table->object, &origin,
				      table_kept__table(table->epoch));
	log_mended(table);
	return 0;
}

static int change_table(struct request *request)
{
	struct table_changes changes;
	struct remote_object *object;
	struct lookup_table *table;
	struct entry_batch batch;
	json_int_t count;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I !}", "name", &name, "count", &count) ?:
		      remote_requests__find(request, name, &object);
	if (ret)
		return ret;
	table = (struct lookup_table *)object;
	ret = lookup_table__check_user(table, request->uid, &request->error);
	if (ret)
		return ret;
	request->is_free = true;
	ret = entry_batch__read(&batch, &table->parameters.geometry, request->fd, count,
				&request->error);
	if (ret)
		return ret;
	lookup_table__change(table, &batch, &changes);
	entry_batch__close(&batch);
	request->result = tables_json__changes(&changes);
	return 0;
}

static int add_requester(struct request *request)
{
	struct named_peer named;
	struct requester *requester;
	int ret;

	ret = remote_requests__find_no_peer(request, &named) ?:
		      lookup_tables__add_requester(tables_of(request),
						   (struct lookup_table *)named.object,
						   named.address, &requester, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s looks table %s up: %zu bytes%s", named.text, named.object->name,
		  requester->memory.length, requester->memory.is_huge ? " in huge pages" : "");
	named.peer = &requester->peer;
	remote_requests__tell_peer(request, &named);
	return 0;
}

static int remove_requester(struct request *request)
{
	struct named_peer named;
	int ret = remote_requests__find_peer(request, &named);

	if (ret)
		return ret;
	remote_requests__tell_peer(request, &named);
	log__info("%s no longer looks table %s up", named.text, named.object->name);
	remote_objects__remove_peer(request->subject, named.object, named.peer);
	return 0;
}

static int renew_requester(struct request *request)
{
	struct named_peer named;
	int ret;

	ret = remote_requests__find_peer(request, &named) ?:
		      lookup_tables__renew_requester(tables_of(request),
						     (struct lookup_table *)named.object,
						     (struct requester *)named.peer,
						     &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s has a new queue pair for table %s", named.text, named.object->name);
	remote_requests__tell_peer(request, &named);
	return 0;
}

const struct request_type tables_requests[] = {
	{ "table-create", "table", create_table, .only_root = "create a table",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "table" },
	{ "table-delete", "table", remote_requests__delete, .member = "name",
	  .only_root = "delete a table", .ends = "table" },
	{ "table-list", "tables", remote_requests__list, .member = "" },
	{ "table-open", "table", remote_requests__open, .member = "name" },
	{ "table-change", "changes", change_table, .fd = REQUEST_FD_REQUIRED },
	{ "table-export", "tables", remote_requests__export, .member = "name",
	  .only_root = "see what switches have to know" },
	{ "requester-add", "requester", add_requester, .only_root = "add a requester",
	  .keeps = "requester" },
	{ "requester-remove", "requester", remove_requester, .only_root = "remove a requester",
	  .ends = "requester" },
	{ "requester-renew", "requester", renew_requester, .only_root = "renew a requester" },
	{ "requester-list", "requesters", remote_requests__list_peers, .member = NULL },
	{}
};
