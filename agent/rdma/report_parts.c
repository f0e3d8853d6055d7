// SPDX-License-Identifier: GPL-2.0-only
/* Gives reporters parts of the memory of an object, and finds them again. */
#include <errno.h>
#include <string.h>

#include "report_parts.h"

static uint8_t *part_of(const struct report_parts *parts, const struct remote_object *object,
			uint32_t part)
{
	return (uint8_t *)object->memory.address + part * parts->length;
}

uint32_t report_parts__number(const struct report_parts *parts, const struct remote_object *object,
			      const struct report_qp *report_qp)
{
	const uint8_t *memory = report_qp->view.memory_region->addr;

	return (memory - part_of(parts, object, 0)) / parts->length;
}

static bool is_free(const struct report_parts *parts, const struct remote_object *object,
		    uint32_t part)
{
	const struct remote_peer *peer;

	TAILQ_FOREACH(peer, &object->peers, link)
		if (report_parts__number(parts, object, (const struct report_qp *)peer) == part)
			return false;
	return true;
}

/* Returns the first free part, or -ENOSPC. */
static int find_part(const struct report_parts *parts, const struct remote_objects *objects,
		     const struct remote_object *object, struct dart_error *error)
{
	uint32_t part;

	for (part = 0; part < parts->count; part++)
		if (is_free(parts, object, part))
			return part;
	return dart_error__set(error, ENOSPC, "all %u parts of %s '%s' are taken (remove one %s)",
			       parts->count, objects->kind->noun, object->name,
			       objects->kind->peer);
}

int report_parts__add(struct remote_objects *objects, struct remote_object *object,
		      const struct report_parts *parts, struct in_addr address, int part,
		      const struct report_qp_origin *origin, struct report_qp **result,
		      struct dart_error *error)
{
	bool is_known = part >= 0 && (uint32_t)part < parts->count && is_free(parts, object, part);
	int ret;

	if (!object->read.pd)
		return dart_error__set(error, ENODEV,
				       "%ss need the RDMA device, which is not there now",
				       objects->kind->peer);
	if (!is_known)
		part = find_part(parts, objects, object, error);
	if (part < 0)
		return part;
	ret = report_qp__new(objects->device, address, part_of(parts, object, part), parts->length,
			     parts->write_max, origin, result, error);
	if (ret)
		return ret;
	/* Bytes of the former reporter would look like earlier ones of the new one. */
	if (!is_known)
		memset(part_of(parts, object, part), 0, parts->length);
	remote_objects__add_peer(objects, object, &(*result)->peer);
	return 0;
}

void report_parts__keep(json_t *kept, uint32_t part)
{
	json_object_set_new(kept, "part", json_integer(part));
}

int report_parts__kept(const json_t *kept, uint32_t most)
{
	const json_t *part = json_object_get(kept, "part");

	if (!json_is_integer(part) || json_integer_value(part) < 0 ||
	    json_integer_value(part) >= most)
		return -1;
	return json_integer_value(part);
}
