/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries in the cache of a switch with lookup tables, and the sketch that finds popular keys.
 * Functions return 0, or -errno with a sentence in @error, unless they say otherwise.
 */
#ifndef CACHE_CACHED_H
#define CACHE_CACHED_H

#include <dart/tea.h>
#include <libdart/error.h>

#include "tools/dartctl/switch/lookups/program.h"
#include "tools/dartctl/switch/thrift/thrift.h"

struct cached {
	uint8_t key[DART_TEA_KEY_MAX];
	uint8_t value[DART_TEA_VALUE_MAX];
	int32_t handle; /* number that the switch gave to the entry */
};

struct cached_list {
	struct lookup_sizes sizes;
	size_t count; /* at most sizes.cache_room */
	struct cached *entries; /* in no order */
};

/* Initializes an empty list.  Returns 0 or -ENOMEM. */
int cached__open(struct cached_list *list, const struct lookup_sizes *sizes);
void cached__close(struct cached_list *list);

/* The entry of a key, or NULL. */
struct cached *cached__find(const struct cached_list *list, const uint8_t *key);
/* Adds an entry to the switch and to the list.  -ENOSPC: the cache is full. */
int cached__add(struct cached_list *list, struct thrift *thrift, const uint8_t *key,
		const uint8_t *value, struct dart_error *error);
/* Writes the value to the switch unless the entry has it already. */
int cached__change(const struct cached_list *list, struct thrift *thrift, struct cached *cached,
		   const uint8_t *value, struct dart_error *error);
/* Removes an entry; the last one of the list takes its place. */
int cached__remove(struct cached_list *list, struct thrift *thrift, struct cached *cached,
		   struct dart_error *error);

/* Sets how many packets in a period make a key popular; 0: no key becomes popular. */
int cached__set_threshold(struct thrift *thrift, uint32_t packets, struct dart_error *error);
/* Clears the sketch, which begins a period, see <dart/tea_sketch.h>. */
int cached__clear_sketch(struct thrift *thrift, struct dart_error *error);

#endif /* CACHE_CACHED_H */
