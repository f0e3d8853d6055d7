// SPDX-License-Identifier: GPL-2.0-only
/* The requests about tables and their requesters. */
#include <errno.h>

#include "agent/base/log.h"
#include "lookup_tables.h"
#include "tables_json.h"

static int find(struct request *request, const char *name, struct lookup_table **table)
{
	*table = lookup_tables__find(request->subject, name);
	if (*table)
		return 0;
	return dart_error__set(&request->error, ENOENT,
			       "there is no table '%s' (see dartctl table list)", name);
}

/* The number of mended rows tells how the last dartd ended. */
static void log_created(const struct lookup_table *table, const struct table_origin *origin)
{
	const struct dart_tea_mended *mended = &table->mended;

	log__info("created table %s: %zu bytes%s%s", table->name, table->memory.length,
		  table->memory.is_huge ? " in huge pages" : "",
		  origin->kept < 0 ? "" : ", with the entries in it");
	if (table->memory.has_contents)
		log__info("table %s has %llu entries; mended: %llu repeated, %llu torn, %llu misplaced, %llu of other servers, %llu rows",
			  table->name, (unsigned long long)mended->entries,
			  (unsigned long long)mended->repeated,
			  (unsigned long long)mended->torn,
			  (unsigned long long)mended->misplaced,
			  (unsigned long long)table->foreign,
			  (unsigned long long)mended->rows);
}

static int create_table(struct request *request)
{
	struct table_origin origin = { .fd = request->fd };
	struct table_parameters parameters;
	struct lookup_table *table;
	const char *name;
	int ret;

	ret = table_parameters__unpack(request, &name, &origin.file, &parameters);
	if (ret)
		return ret;
	origin.epoch = table_kept__read_epoch(request->kept, name);
	ret = lookup_tables__create(request->subject, name, &parameters,
				    &origin, &table, &request->error);
	if (ret)
		return ret;
	log_created(table, &origin);
	request__keep(request, table_kept__table(table));
	request->result = tables_json__table(table);
	return 0;
}

static int delete_table(struct request *request)
{
	struct lookup_tables *tables = request->subject;
	struct lookup_table *table;
	int ret = find(request, request->text, &table);

	if (ret && kept_memory__drop_others(&tables->objects.kept, request->text, NULL)) {
		log__info("deleted the kept memory of table %s", request->text);
		request->result = json_pack("{s:s}", "name", request->text);
		return 0;
	}
	if (ret)
		return ret;
	listener__disconnect(tables->objects.listener, &table->readers);
	request->result = tables_json__table(table);
	log__info("deleted table %s", table->name);
	lookup_tables__delete(tables, table);
	return 0;
}

static int list_tables(struct request *request)
{
	const struct lookup_tables *tables = request->subject;
	const struct lookup_table *table;

	request->result = json_array();
	TAILQ_FOREACH(table, &tables->list, link)
		reply__append(&request->result, tables_json__table(table));
	return 0;
}

static int open_table(struct request *request)
{
	struct lookup_table *table;
	int ret;

	ret = find(request, request->text, &table) ?:
		      remote_memory__reopen(&table->memory, table->name, &request->error);
	if (ret < 0)
		return ret;
	*request->reply_fd = ret;
	request->result = tables_json__table(table);
	return 0;
}

static int change_table(struct request *request)
{
	struct table_changes changes;
	struct lookup_table *table;
	struct entry_batch batch;
	json_int_t count;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I !}", "name", &name, "count", &count) ?:
		      find(request, name, &table)				       ?:
		      entry_batch__read(&batch, &table->parameters.geometry, request->fd, count,
					&request->error);
	if (ret)
		return ret;
	lookup_table__change(table, &batch, &changes);
	entry_batch__close(&batch);
	request->result = tables_json__changes(&changes);
	return 0;
}

static int export_table(struct request *request)
{
	struct lookup_table *table;
	int ret = find(request, request->text, &table);

	if (!ret)
		request->result = tables_json__export(table);
	return ret;
}

/* The table and the requester that a request names. */
struct named_requester {
	struct lookup_table *table;
	const char *text;
	struct in_addr address;
	struct requester *requester;	/* NULL if there is none */
};

static int find_named(struct request *request, struct named_requester *named)
{
	const char *table;
	int ret;

	ret = request__unpack(request, "{s:s, s:s !}", "table", &table, "address", &named->text) ?:
		      find(request, table, &named->table)					 ?:
		      local_path__parse_peer(named->text, "requests of switches", &named->address,
					     &request->error);
	if (!ret)
		named->requester = lookup_table__find_requester(named->table, named->address);
	return ret;
}

static int find_requester(struct request *request, struct named_requester *named)
{
	int ret = find_named(request, named);

	if (!ret && !named->requester)
		ret = dart_error__set(&request->error, ENOENT, "'%s' has no requester %s",
				      named->table->name, named->text);
	return ret;
}

static int add_requester(struct request *request)
{
	struct named_requester named;
	int ret = find_named(request, &named);

	if (!ret && named.requester)
		ret = dart_error__set(&request->error, EEXIST, "'%s' has a requester %s already",
				      named.table->name, named.text);
	ret = ret ?: lookup_tables__add_requester(
			     request->subject, named.table, named.address,
			     &named.requester, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s looks table %s up: %zu bytes%s", named.text,
		  named.table->name, named.requester->memory.length,
		  named.requester->memory.is_huge ? " in huge pages" : "");
	request->result = tables_json__requester(named.table, named.requester);
	return 0;
}

static int remove_requester(struct request *request)
{
	struct named_requester named;
	int ret = find_requester(request, &named);

	if (ret)
		return ret;
	request->result = tables_json__requester(named.table, named.requester);
	log__info("%s no longer looks table %s up", named.text, named.table->name);
	lookup_tables__remove_requester(request->subject, named.table, named.requester);
	return 0;
}

static int renew_requester(struct request *request)
{
	struct named_requester named;
	int ret;

	ret = find_requester(request, &named) ?:
		      lookup_tables__renew_requester(request->subject, named.table, named.requester,
						     &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s has a new queue pair for table %s", named.text, named.table->name);
	request->result = tables_json__requester(named.table, named.requester);
	return 0;
}

static int list_requesters(struct request *request)
{
	const struct lookup_tables *tables = request->subject;
	struct lookup_table *table, *only = NULL;
	const struct requester *requester;
	const char *name = NULL;
	int ret;

	ret = request__unpack(request, "{s?s !}", "table", &name);
	if (!ret && name)
		ret = find(request, name, &only);
	if (ret)
		return ret;
	request->result = json_array();
	TAILQ_FOREACH(table, &tables->list, link)
		TAILQ_FOREACH(requester, &table->requesters, link)
			if (!only || table == only)
				reply__append(&request->result,
					      tables_json__requester(table, requester));
	return 0;
}

const struct request_type tables_requests[] = {
	{ "table-create", "table", create_table,
	  .only_root = "create a table", .fd = REQUEST_FD_OPTIONAL,
	  .keeps = "table" },
	{ "table-delete", "table", delete_table, .member = "name",
	  .only_root = "delete a table", .ends = "table" },
	{ "table-list", "tables", list_tables, .member = "" },
	{ "table-open", "table", open_table, .member = "name" },
	{ "table-change", "changes", change_table,
	  .only_root = "change a table", .fd = REQUEST_FD_REQUIRED },
	{ "table-export", "tables", export_table, .member = "name",
	  .only_root = "see what switches have to know" },
	{ "requester-add", "requester", add_requester,
	  .only_root = "add a requester", .keeps = "requester" },
	{ "requester-remove", "requester", remove_requester,
	  .only_root = "remove a requester", .ends = "requester" },
	{ "requester-renew", "requester", renew_requester,
	  .only_root = "renew a requester" },
	{ "requester-list", "requesters", list_requesters, .member = NULL },
	{ }
};
