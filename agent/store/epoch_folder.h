/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The folder with the files of a store's epochs, see <dart/epoch.h>.  Whatever ends dartd, or the
 * machine, a file is there and whole, or not there.
 */
#ifndef EPOCH_FOLDER_H
#define EPOCH_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/store/epoch_file.h>

struct epoch_folder {
	char path[PATH_MAX];
	uint64_t keep_ns, keep_bytes; /* of all files; 0: no limit */
};

struct epoch_item {
	uint64_t since_ns, until_ns;
	uint64_t bytes;
};

/* The epochs with files, the oldest one first. */
struct epoch_list {
	struct epoch_item *items;
	size_t count;
};

/* The folder of @store in the directory @state; nothing is created.  -ENAMETOOLONG. */
int epoch_folder__open(struct epoch_folder *folder, const char *state, const char *store,
		       struct dart_error *error);
/* Removes what a dartd left unfinished. */
void epoch_folder__tidy(const struct epoch_folder *folder);

/* A folder that does not exist is empty.  The caller frees the items. */
int epoch_folder__list(const struct epoch_folder *folder, struct epoch_list *list,
		       struct dart_error *error);
/* Returns a descriptor for reading; -ENOENT. */
int epoch_folder__read(const struct epoch_folder *folder, const struct epoch_item *item,
		       struct dart_error *error);
/*
 * Writes the file of @epoch, as dart_epoch_file__write() does, and makes it permanent.  On error
 * nothing is left.
 */
int epoch_folder__write(const struct epoch_folder *folder, const struct dart_epoch *epoch,
			const void *slots, dart_epoch_pace *pace, void *argument,
			struct dart_error *error);
/*
 * The time by which files are old, of one dartd.  The clock of the host may step forward by
 * mistake, for a while or for good, and files that this removed would not come back.
 */
struct epoch_clock {
	bool is_set;
	int64_t trusted_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME that ages are taken by */
	int64_t stepped_ns; /* the same since a step forward that may be wrong */
	int64_t step_ns; /* CLOCK_BOOTTIME of this step; 0: the clock has not stepped */
};

/*
 * Returns the time for epoch_folder__retain() of a folder that keeps files for @keep_ns: @real_ns,
 * or the time by the clock before it stepped forward, until @keep_ns have passed since.  Whichever
 * of the two was right, all files from before the step are then older than the folder keeps.
 * @real_ns, @boot_ns: CLOCK_REALTIME and CLOCK_BOOTTIME now.
 */
uint64_t epoch_clock__now(struct epoch_clock *clock, uint64_t keep_ns, int64_t real_ns,
			  int64_t boot_ns);
/*
 * Removes the files of all epochs that are older at @now_ns than the folder keeps, and then the
 * oldest ones until the others are as few bytes as it keeps; the youngest one stays.  Returns how
 * many it removed, or, after it tried all, -errno with @error for the first one that stays though
 * it should not.
 */
int epoch_folder__retain(const struct epoch_folder *folder, uint64_t now_ns,
			 struct dart_error *error);

#endif /* EPOCH_FOLDER_H */
