// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the objects whose memory peers reach, counts, announces and offers them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/entry_name.h"
#include "remote_objects.h"

void remote_objects__open(struct remote_objects *objects)
{
	TAILQ_INIT(&objects->list);
}

/* ---- one object */

static int remote_objects__open_view(const struct remote_objects *objects,
				     struct remote_object *object, uint64_t base,
				     struct dart_error *error)
{
	size_t offset = 0, length = object->memory.length;

	if (objects->kind->window)
		objects->kind->window(object, &offset, &length);
	return memory_view__open(&object->read, objects->device,
				 (uint8_t *)object->memory.address + offset, length,
				 IBV_ACCESS_REMOTE_READ, base, error);
}

static int remote_object__open_memory(struct remote_object *object, const char *noun,
				      uint64_t length, const struct remote_origin *origin,
				      struct dart_error *error)
{
	if (origin->kept >= 0)
		return remote_memory__resume(&object->memory, noun, length, origin->kept, error);
	return remote_memory__open(&object->memory, noun, length, origin->fd, error);
}

static int remote_objects__open_object(const struct remote_objects *objects,
				       struct remote_object *object, uint64_t length,
				       const struct remote_origin *origin, struct dart_error *error)
{
	const struct remote_kind *kind = objects->kind;
	int ret;

	object->readers = (struct peer_object){ .noun = kind->noun, .name = object->name };
	TAILQ_INIT(&object->peers);
	object->file = origin->file ? strdup(origin->file) : NULL;
	if (origin->file && !object->file)
		return dart_error__no_memory(error);
	ret = remote_object__open_memory(object, kind->noun, length, origin, error);
	if (ret)
		goto free_file;
	ret = kind->open ? kind->open(object, error) : 0;
	if (ret)
		goto close_memory;
	ret = remote_objects__open_view(objects, object, origin->read_base, error);
	if (!ret)
		return 0;
	if (kind->close)
		kind->close(object);
close_memory:
	remote_memory__close(&object->memory);
free_file:
	free(object->file);
	return ret;
}

static void remote_objects__detach_object(const struct remote_objects *objects,
					  struct remote_object *object)
{
	struct remote_peer *peer;

	while ((peer = TAILQ_FIRST(&object->peers))) {
		TAILQ_REMOVE(&object->peers, peer, link);
		objects->kind->free_peer(peer);
	}
	memory_view__close(&object->read);
}

static void remote_objects__free_object(struct remote_objects *objects,
					struct remote_object *object)
{
	TAILQ_REMOVE(&objects->list, object, link);
	remote_objects__detach_object(objects, object);
	if (objects->kind->close)
		objects->kind->close(object);
	remote_memory__close(&object->memory);
	free(object->file);
	free(object);
}

void remote_objects__close(struct remote_objects *objects)
{
	struct remote_object *object;

	while ((object = TAILQ_FIRST(&objects->list)))
		remote_objects__free_object(objects, object);
}

/* ---- counts and changes */

/* @more: 1 or -1 */
static void remote_objects__count(const struct remote_objects *objects, uint64_t *count,
				  uint64_t length, int more)
{
	count__add(count, more);
	count__add(&objects->memory_counts->regions, more);
	count__add(&objects->memory_counts->bytes, more * (int64_t)length);
}

void remote_objects__announce_peer(const struct remote_objects *objects, const char *event,
				   const struct remote_peer *peer,
				   const struct remote_object *object)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->address, text, sizeof(text));
	changes__announce_in(objects->changes, event, objects->kind->peer, text,
			     objects->kind->noun, object->name);
}

static void note_end_of_peer(const struct remote_objects *objects,
			     const struct remote_object *object, const struct remote_peer *peer)
{
	remote_objects__announce_peer(objects, "removed", peer, object);
	remote_objects__count(objects, objects->peer_count, peer->length, -1);
}

/* Call this before the peers are removed. */
static void note_end_of_peers(const struct remote_objects *objects,
			      const struct remote_object *object)
{
	const struct remote_peer *peer;

	TAILQ_FOREACH(peer, &object->peers, link)
		note_end_of_peer(objects, object, peer);
}

/* ---- all objects */

void remote_objects__detach(struct remote_objects *objects)
{
	struct remote_object *object;

	TAILQ_FOREACH(object, &objects->list, link) {
		note_end_of_peers(objects, object);
		remote_objects__detach_object(objects, object);
	}
}

int remote_objects__attach(struct remote_objects *objects, struct dart_error *error)
{
	struct remote_object *object;
	int ret;

	TAILQ_FOREACH(object, &objects->list, link) {
		ret = remote_objects__open_view(objects, object, object->read.base, error);
		if (ret)
			return ret;
		if (objects->kind->attached)
			objects->kind->attached(object);
	}
	return 0;
}

struct remote_object *remote_objects__find(const struct remote_objects *objects, const char *name)
{
	struct remote_object *object;

	TAILQ_FOREACH(object, &objects->list, link)
		if (!strcmp(object->name, name))
			return object;
	return NULL;
}

/* Can a new object be called @name? */
static int check_name(const struct remote_objects *objects, const char *name,
		      struct dart_error *error)
{
	const char *noun = objects->kind->noun;
	int ret = entry_name__check(name, error);

	if (ret)
		return ret;
	if (!objects->device->context)
		return dart_error__set(error, ENODEV, "%ss need an RDMA device, and %s", noun,
				       device__is_wanted(objects->device) ?
					       "it is not there now" :
					       "the configuration turns RDMA off");
	if (strlen(name) >= REMOTE_OBJECT_NAME_MAX)
		return dart_error__set(error, ENAMETOOLONG,
				       "the name of a %s has at most %d characters", noun,
				       REMOTE_OBJECT_NAME_MAX - 1);
	if (remote_objects__find(objects, name))
		return dart_error__set(error, EEXIST, "the %s '%s' already exists", noun, name);
	return 0;
}

int remote_objects__add(struct remote_objects *objects, struct remote_object *object,
			const char *name, uint64_t length, struct remote_origin *origin,
			struct dart_error *error)
{
	char kept[FD_STORE_NAME_MAX];
	int ret;

	ret = check_name(objects, name, error);
	if (ret)
		return ret;
	strcpy(object->name, name);
	objects->kind->print_kept(object, kept);
	origin->kept = origin->file ? -1 : kept_memory__find(&objects->kept, kept, length);
	ret = remote_objects__open_object(objects, object, length, origin, error);
	if (ret)
		return ret;
	kept_memory__settle(&objects->kept, name, kept, origin->kept >= 0,
			    origin->file ? -1 : object->memory.fd);
	TAILQ_INSERT_TAIL(&objects->list, object, link);
	remote_objects__count(objects, objects->object_count, length, 1);
	changes__announce(objects->changes, "added", objects->kind->noun, name);
	return 0;
}

void remote_objects__delete(struct remote_objects *objects, struct remote_object *object)
{
	char kept[FD_STORE_NAME_MAX];

	listener__disconnect(objects->listener, &object->readers);
	note_end_of_peers(objects, object);
	changes__announce(objects->changes, "removed", objects->kind->noun, object->name);
	remote_objects__count(objects, objects->object_count, object->memory.length, -1);
	if (!object->file) {
		objects->kind->print_kept(object, kept);
		kept_memory__remove(&objects->kept, kept);
	}
	remote_objects__free_object(objects, object);
}

/* ---- peers */

void remote_objects__add_peer(struct remote_objects *objects, struct remote_object *object,
			      struct remote_peer *peer)
{
	TAILQ_INSERT_TAIL(&object->peers, peer, link);
	remote_objects__announce_peer(objects, "added", peer, object);
	remote_objects__count(objects, objects->peer_count, peer->length, 1);
}

void remote_objects__remove_peer(struct remote_objects *objects, struct remote_object *object,
				 struct remote_peer *peer)
{
	note_end_of_peer(objects, object, peer);
	TAILQ_REMOVE(&object->peers, peer, link);
	objects->kind->free_peer(peer);
}

struct remote_peer *remote_object__find_peer(const struct remote_object *object,
					     struct in_addr address)
{
	struct remote_peer *peer;

	TAILQ_FOREACH(peer, &object->peers, link)
		if (peer->address.s_addr == address.s_addr)
			return peer;
	return NULL;
}

json_int_t remote_object__count_peers(const struct remote_object *object)
{
	const struct remote_peer *peer;
	json_int_t count = 0;

	TAILQ_FOREACH(peer, &object->peers, link)
		count++;
	return count;
}

/* ---- readers */

/* The requests of readers of both kinds: their private data, hostile. */
struct named_request {
	struct peer_request head;
	char name[REMOTE_OBJECT_NAME_MAX];
};

static int check_asked(const char name[static REMOTE_OBJECT_NAME_MAX], const char *noun,
		       struct dart_error *error)
{
	size_t length = strnlen(name, REMOTE_OBJECT_NAME_MAX);
	size_t i;

	if (length == REMOTE_OBJECT_NAME_MAX)
		return dart_error__set(error, EPROTO, "its request does not name a %s", noun);
	for (i = length; i < REMOTE_OBJECT_NAME_MAX; i++)
		if (name[i])
			return dart_error__set(error, EPROTO,
					       "its request has data behind the name");
	return 0;
}

int remote_objects__offer(void *subject, const void *data, struct peer_offer *offer,
			  struct dart_error *error)
{
	const struct named_request *request = data;
	const struct remote_objects *objects = subject;
	const char *noun = objects->kind->noun;
	struct remote_object *object;
	int ret;

	ret = check_asked(request->name, noun, error);
	if (ret)
		return ret;
	object = remote_objects__find(objects, request->name);
	if (!object)
		return dart_error__set(error, ENOENT, "there is no %s '%s'", noun, request->name);
	offer->pd = object->read.pd;
	offer->object = &object->readers;
	offer->length = objects->kind->offer(object, offer->data);
	return 0;
}
