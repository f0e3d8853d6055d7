/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with an element for each peer of a collector's memory: of journals, ledgers and sketches. */
#ifndef DART_TARGET_FILE_H
#define DART_TARGET_FILE_H

#include "collectors.h"

/* A kind of memory; its file is {"dart_OBJECTS": 1, "OBJECTS": [...]}. */
struct dart_target_kind {
	const char *object; /* "journal" */
	const char *objects; /* "journals" */
	const char *part; /* its peers: "appender" */
	const char *content; /* which the memory takes from these: "entries" */
	size_t size; /* bytes of a target, which begins with its struct dart_collector */
	/*
	 * Takes the members of @json, which may be hostile, that dart_collector__take_path() left,
	 * @others in number, into @target.  Returns 0, or sets @error and returns -EINVAL.
	 */
	int (*take)(json_t *json, size_t others, void *target, struct dart_error *error);
};

/*
 * Reads the target for the peer at @address from the file at @path.  INADDR_ANY stands for the only
 * peer in the file.  Returns 0, or sets @error and returns -ENOENT if there is none, -EINVAL,
 * -ENOMEM or the error of opening the file.
 */
int dart_target_file__load(const struct dart_target_kind *kind, const char *path,
			   struct in_addr address, void *target, struct dart_error *error);
/*
 * Reads the targets of all peers from the file, at most @most of them; sets *@count.  Returns 0, or
 * sets @error and returns -EINVAL, -ENOMEM or the error of opening the file.
 */
int dart_target_file__load_all(const struct dart_target_kind *kind, const char *path, void *targets,
			       uint32_t most, uint32_t *count, struct dart_error *error);
/* An element of such a file, with the members of @geometry, whose reference it takes. */
json_t *dart_target_file__element(const struct dart_collector *collector, json_t *geometry);

#endif /* DART_TARGET_FILE_H */
