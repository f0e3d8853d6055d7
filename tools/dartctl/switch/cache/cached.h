/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries in the cache of a switch with lookup tables, and the sketch that finds their
 * keys.  Functions return 0, or -errno with a sentence in @error, unless they say otherwise.
 */
#ifndef SWITCH_LOOKUP_CACHED_H
#define SWITCH_LOOKUP_CACHED_H

#include <dart/tea.h>
#include <libdart/error.h>

#include "tools/dartctl/switch/lookups/program.h"
#include "tools/dartctl/switch/thrift/thrift.h"

struct lookup_cached {
	uint8_t key[DART_TEA_KEY_MAX];
	uint8_t value[DART_TEA_VALUE_MAX];
	int32_t handle; /* of the switch for it */
};

struct lookup_cached_list {
	struct lookup_sizes sizes;
	size_t count; /* at most sizes.cache_room */
	struct lookup_cached *entries; /* in no order */
};

/* Takes an empty list.  Returns 0 or -ENOMEM. */
int lookup_cached__open(struct lookup_cached_list *list,
			const struct lookup_sizes *sizes);
void lookup_cached__close(struct lookup_cached_list *list);

/* The entry of a key, or NULL. */
struct lookup_cached *lookup_cached__find(const struct lookup_cached_list *list,
					  const uint8_t *key);
/* -ENOSPC: there is no room. */
int lookup_cached__add(struct lookup_cached_list *list, struct thrift *thrift,
		       const uint8_t *key, const uint8_t *value,
		       struct dart_error *error);
/* Does nothing if it has this value. */
int lookup_cached__change(const struct lookup_cached_list *list,
			  struct thrift *thrift, struct lookup_cached *cached,
			  const uint8_t *value, struct dart_error *error);
/* The last entry of the list takes its place. */
int lookup_cached__remove(struct lookup_cached_list *list,
			  struct thrift *thrift, struct lookup_cached *cached,
			  struct dart_error *error);

/* Packets of a period from which on a key is popular; 0: none is. */
int lookup_cached__set_threshold(struct thrift *thrift, uint32_t packets,
				 struct dart_error *error);
/* Begins a period, see <dart/tea_sketch.h>. */
int lookup_cached__clear_sketch(struct thrift *thrift,
				struct dart_error *error);

#endif /* SWITCH_LOOKUP_CACHED_H */
