// SPDX-License-Identifier: GPL-2.0-only
/* Finds, hands over and drops the memory that outlives dartd. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/log.h"
#include "kept_memory.h"
#include "remote_memory.h"

void kept_memory__prefix(const char *noun, const char *object,
			 char prefix[static FD_STORE_NAME_MAX])
{
	snprintf(prefix, FD_STORE_NAME_MAX, "%s-%s,", noun, object);
}

void kept_memory__name(char name[static FD_STORE_NAME_MAX], const char *noun, const char *object,
		       const char *geometry, ...)
{
	va_list arguments;
	size_t used;

	kept_memory__prefix(noun, object, name);
	used = strlen(name);
	va_start(arguments, geometry);
	vsnprintf(name + used, FD_STORE_NAME_MAX - used, geometry, arguments);
	va_end(arguments);
}

int kept_memory__find(struct kept_memory *kept, const char *name, uint64_t length)
{
	int fd = fd_store__get(kept->descriptors, name);
	struct dart_error error;

	if (fd < 0 || !remote_memory__check_kept(kept->noun, length, fd, &error))
		return fd;
	log__warning("dropped the kept memory '%s': %s", name, error.text);
	fd_store__remove(kept->descriptors, name);
	return -1;
}

/* For the next dartd. */
static void kept_memory__put(struct kept_memory *kept, const char *name, int fd)
{
	struct dart_error error;

	if (!fd_store__put(name, fd, &error) || kept->has_warned)
		return;
	kept->has_warned = true;
	log__warning(
		"%ss without a file are empty after a restart of dartd: no descriptors are kept: %s (start dartd by systemd, or create %ss with --file)",
		kept->noun, error.text, kept->noun);
}

void kept_memory__remove(struct kept_memory *kept, const char *name)
{
	fd_store__remove(kept->descriptors, name);
}

bool kept_memory__drop_others(struct kept_memory *kept, const char *object, const char *name)
{
	char prefix[FD_STORE_NAME_MAX], other[FD_STORE_NAME_MAX];
	bool has_dropped = false;

	kept_memory__prefix(kept->noun, object, prefix);
	while (fd_store__find(kept->descriptors, prefix, other) && (!name || strcmp(other, name))) {
		fd_store__remove(kept->descriptors, other);
		has_dropped = true;
	}
	return has_dropped;
}

void kept_memory__settle(struct kept_memory *kept, const char *object,
			 const char *name, bool is_found, int fd)
{
	if (kept_memory__drop_others(kept, object, is_found ? name : NULL))
		log__warning(
			"dropped the kept memory of %s %s: it is not for the same geometry or shares, or the %s has a file",
			kept->noun, object, kept->noun);
	if (is_found)
		fd_store__release(kept->descriptors, name);
	else if (fd >= 0)
		kept_memory__put(kept, name, fd);
}

/* @name: NOUN-OBJECT,GEOMETRY */
static void log_kept(void *unused, const char *name)
{
	int noun = strcspn(name, "-");
	const char *object = name + noun + 1;

	log__warning(
		"the memory of %.*s %.*s is kept, but the %.*s is not registered (create it again, or dartctl %.*s delete it)",
		noun, name, (int)strcspn(object, ","), object, noun, name, noun, name);
}

void kept_memory__log(const struct kept_memory *kept)
{
	char prefix[FD_STORE_NAME_MAX];

	snprintf(prefix, sizeof(prefix), "%s-", kept->noun);
	fd_store__each(kept->descriptors, prefix, log_kept, NULL);
}
