// SPDX-License-Identifier: GPL-2.0-only
/* Finds the mirrors that controllers offer, and tells their owners of changes: see mirror.h. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <dart/control.h>

#include "mirror.h"

int mirror_place__find(const void *data, struct mirror_place *place, struct dart_error *error)
{
	struct dart_control_mirror mirror;

	memcpy(&mirror, (const uint8_t *)data + sizeof(struct dart_control_request),
	       sizeof(mirror));
	*place = (struct mirror_place){
		.address = le64toh(mirror.address),
		.rkey = le32toh(mirror.rkey),
		.length = le32toh(mirror.length),
	};
	if (!place->length && (place->address || place->rkey))
		return dart_error__set(error, EPROTO, "it offers a mirror of 0 bytes");
	if (place->length % DART_CONTROL_BLOCK || place->length > DART_CONTROL_MIRROR_MAX)
		return dart_error__set(error, EPROTO, "it offers a mirror of %u bytes",
				       place->length);
	if (place->address > UINT64_MAX - place->length)
		return dart_error__set(error, EPROTO,
				       "it offers a mirror that ends beyond all addresses");
	return 0;
}

void mirrors__open(struct mirrors *mirrors, const struct dart_table_writer *writer)
{
	*mirrors = (struct mirrors){ .writer = writer };
	table_watchers__open(&mirrors->watchers);
}

void mirrors__join(struct mirrors *mirrors, struct mirror *mirror, const struct mirror_place *place,
		   void (*changed)(struct table_watcher *watcher))
{
	*mirror = (struct mirror){
		.mirrors = mirrors,
		.place = *place,
		.generation = mirrors->generation,
	};
	table_watchers__join(&mirrors->watchers, &mirror->watcher, changed);
}

void mirrors__leave(struct mirror *mirror)
{
	table_watchers__leave(&mirror->watcher);
	mirror->mirrors = NULL;
}

void mirrors__publish(struct mirrors *mirrors, uint64_t generation, uint32_t used)
{
	mirrors->generation = generation;
	mirrors->used = used;
	table_watchers__tell(&mirrors->watchers);
}
