/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state file, DIRECTORY/registrations.json: the objects that dartd registers again when it
 * starts.  Only root may read it: it contains secret addresses.
 *
 *	{"format": "dartd registrations", "version": 1, "boot_id": B,
 *	 "checksum": C, "registrations": [R, ...]}
 *
 * B: /proc/sys/kernel/random/boot_id when it was written.  C: XXH64 of R as compact JSON with
 * sorted members, 16 hexadecimal digits.  R: {"name": "entry cpustat", "request": {...}, "path": P,
 * "owner": UID, "origin": "command" or "configuration", "kept": {...}}, see struct registration.
 */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>

#define STATE_FILE_NAME "registrations.json"
#define STATE_FILE_VERSION 1
#define STATE_FILE_MAX (64 << 20) /* bytes */

struct state_file {
	const char *path;	/* of its directory, the caller's; for messages */
	int directory;	/* open and locked, or -1: nothing is kept */
	bool is_new;		/* there was no file to be loaded */
	bool is_same_boot;	/* of the file that was loaded */
};

/*
 * Opens the directory, which it creates if its parent is there, and locks it as
 * long as this process lives.  -EBUSY: another dartd has locked it; -errno.
 */
int state_file__open(struct state_file *file, const char *directory, struct dart_error *error);
void state_file__close(struct state_file *file);

/*
 * Returns the registrations, a new reference: an empty array if there is no file.
 * A damaged file is put aside as registrations.json.refused, and a file that dartd cannot read stays
 * as it is, so that nothing is kept; then the array is empty, and the sentence is in @error, else it
 * is empty.  NULL: there are too little memory or too few descriptors now; @error says so.
 */
json_t *state_file__load(struct state_file *file, struct dart_error *error);

/*
 * Replaces the file: after a crash at any instant it is the old or the new one.
 * Takes the reference of the array.  -EFBIG: the file would have more than STATE_FILE_MAX bytes,
 * which state_file__load() would refuse.
 */
int state_file__save(const struct state_file *file, json_t *registrations,
		     struct dart_error *error);

#endif /* STATE_FILE_H */
