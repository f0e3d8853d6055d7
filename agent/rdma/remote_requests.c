// SPDX-License-Identifier: GPL-2.0-only
/* Handles requests about stores or lookup tables: see remote_requests.h. */
#include <errno.h>

#include "agent/base/log.h"
#include "local_path.h"
#include "remote_requests.h"

static const struct remote_kind *kind_of(const struct request *request)
{
	return ((const struct remote_objects *)request->subject)->kind;
}

int remote_requests__find(struct request *request, const char *name, struct remote_object **object)
{
	const char *noun = kind_of(request)->noun;

	*object = remote_objects__find(request->subject, name);
	if (*object)
		return 0;
	return dart_error__set(&request->error, ENOENT, "there is no %s '%s' (see dartctl %s list)",
			       noun, name, noun);
}

void remote_requests__tell_created(struct request *request, const struct remote_object *object,
				   const struct remote_origin *origin, json_t *kept)
{
	const struct remote_kind *kind = kind_of(request);

	log__info("created %s %s: %zu bytes%s%s%s%s", kind->noun, object->name,
		  object->memory.length, object->memory.is_huge ? " in huge pages" : "",
		  origin->kept < 0 ? "" : ", with the ", origin->kept < 0 ? "" : kind->contents,
		  origin->kept < 0 ? "" : " in it");
	request__keep(request, kept);
	request->result = kind->to_json(object);
}

static int find_named(struct request *request, struct named_peer *named)
{
	const struct remote_kind *kind = kind_of(request);
	const char *object;
	int ret;

	ret = request__unpack(request, "{s:s, s:s !}", kind->noun, &object, "address", &named->text) ?:
		      remote_requests__find(request, object, &named->object) ?:
		      local_path__parse_peer(named->text, kind->purpose, &named->address,
					     &request->error);
	if (!ret)
		named->peer = remote_object__find_peer(named->object, named->address);
	return ret;
}

int remote_requests__find_peer(struct request *request, struct named_peer *named)
{
	int ret = find_named(request, named);

	if (ret || named->peer)
		return ret;
	return dart_error__set(&request->error, ENOENT, "'%s' has no %s %s", named->object->name,
			       kind_of(request)->peer, named->text);
}

int remote_requests__find_no_peer(struct request *request, struct named_peer *named)
{
	int ret = find_named(request, named);

	if (ret || !named->peer)
		return ret;
	return dart_error__set(&request->error, EEXIST, "'%s' has a %s %s already",
			       named->object->name, kind_of(request)->peer, named->text);
}

void remote_requests__tell_peer(struct request *request, const struct named_peer *named)
{
	request->result = kind_of(request)->peer_to_json(named->object, named->peer);
}

int remote_requests__delete(struct request *request)
{
	const struct remote_kind *kind = kind_of(request);
	struct remote_objects *objects = request->subject;
	struct remote_object *object;
	int ret = remote_requests__find(request, request->text, &object);

	if (ret && kept_memory__drop_others(&objects->kept, request->text, NULL)) {
		log__info("deleted the kept memory of %s %s", kind->noun, request->text);
		request->result = json_pack("{s:s}", "name", request->text);
		return 0;
	}
	if (ret)
		return ret;
	listener__disconnect(objects->listener, &object->readers);
	request->result = kind->to_json(object);
	log__info("deleted %s %s", kind->noun, object->name);
	remote_objects__delete(objects, object);
	return 0;
}

int remote_requests__open(struct request *request)
{
	struct remote_object *object;
	int ret;

	ret = remote_requests__find(request, request->text, &object) ?:
		      remote_memory__reopen(&object->memory, object->name, &request->error);
	if (ret < 0)
		return ret;
	*request->reply_fd = ret;
	request->result = kind_of(request)->to_json(object);
	return 0;
}

int remote_requests__export(struct request *request)
{
	struct remote_object *object;
	int ret = remote_requests__find(request, request->text, &object);

	if (!ret)
		request->result = kind_of(request)->export(object);
	return ret;
}

int remote_requests__list(struct request *request)
{
	const struct remote_objects *objects = request->subject;
	const struct remote_object *object;

	request->result = json_array();
	TAILQ_FOREACH(object, &objects->list, link)
		reply__append(&request->result, objects->kind->to_json(object));
	return 0;
}

int remote_requests__list_peers(struct request *request)
{
	const struct remote_objects *objects = request->subject;
	const struct remote_kind *kind = objects->kind;
	struct remote_object *object, *only = NULL;
	const struct remote_peer *peer;
	const char *name = NULL;
	int ret;

	ret = request__unpack(request, "{s?s !}", kind->noun, &name);
	if (!ret && name)
		ret = remote_requests__find(request, name, &only);
	if (ret)
		return ret;
	request->result = json_array();
	TAILQ_FOREACH(object, &objects->list, link)
		TAILQ_FOREACH(peer, &object->peers, link)
			if (!only || object == only)
				reply__append(&request->result, kind->peer_to_json(object, peer));
	return 0;
}
