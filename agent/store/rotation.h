/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rotation of a store with epochs: gives reporters and readers the empty bank of its memory, by
 * the same queue pairs, and has the full one written to a file when reporters had time to follow.
 */
#ifndef ROTATION_H
#define ROTATION_H

#include <jansson.h>

#include <libdart/store/store_query.h>

#include "agent/base/counts.h"
#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "agent/rdma/report_qp.h"
#include "epoch_folder.h"
#include "epoch_index.h"
#include "epoch_memory.h"
#include "epoch_writer.h"

/* The wishes of a request: when the store rotates, and which files dartd keeps. */
struct rotation_plan {
	uint64_t period_ns; /* of an epoch; 0: see @reports */
	uint64_t reports; /* of an epoch, about; 0: see @period_ns */
	uint64_t keep_ns, keep_bytes; /* of files; 0: no limit */
	bool falls; /* the redundancy of reports, as the bank fills */
	char schema[DART_EPOCH_SCHEMA_MAX]; /* in files; "" if not known */
};

#define ROTATION_PERIOD_MIN_NS UINT64_C(1000000000)
#define ROTATION_PERIOD_MAX_NS (UINT64_C(365) * 86400 * 1000000000)

struct rotation {
	struct rotation_plan plan;
	struct epoch_counts counts, *all_counts; /* the latter of all stores */
	struct remote_objects *objects;
	struct remote_object *object;
	struct dart_store_geometry geometry;
	struct epoch_memory memory;
	struct epoch_folder folder;
	struct epoch_index index; /* of the folder */
	struct epoch_writer writer;
	struct dart_store *stores[DART_EPOCH_BANKS]; /* for samples */
	uint32_t redundancy; /* of reports now */
	int64_t end_ns; /* CLOCK_BOOTTIME: when the period of the epoch is over */
	int64_t turned_ns; /* CLOCK_BOOTTIME: when the present epoch began */
	bool is_in_grace; /* reporters follow, and the former bank is written afterwards */
	bool is_swept; /* the other bank contains no late report, and none comes into it */
	bool is_due; /* waits for the bank */
	bool is_late; /* this wait is counted */
	bool has_failed; /* the last write of the full bank */
	bool has_kept; /* a file that was to be removed */
	sd_event_source *end; /* of the epoch, or a look at how full it is */
	sd_event_source *grace; /* of the former memory, or of a failed write */
};

/*
 * Opens the rotation of @object, whose memory is open and has DART_EPOCH_MEMORY_LENGTH() bytes; all
 * arguments outlive it, except for @plan.  @state: dartd's directory; @counts: of all stores.
 */
int rotation__open(struct rotation **rotation, const struct rotation_plan *plan,
		   struct remote_objects *objects, struct remote_object *object,
		   const struct dart_store_geometry *geometry, sd_event *loop, const char *state,
		   struct epoch_counts *counts, struct dart_error *error);
/* The full bank stays as it is.  @rotation may be NULL. */
void rotation__close(struct rotation *rotation);

/* Ends the present epoch now.  -EBUSY while the memory of the one before is taken. */
int rotation__rotate(struct rotation *rotation, struct dart_error *error);

/* The slots that peers reach now. */
void *rotation__slots(const struct rotation *rotation);
size_t rotation__offset(const struct rotation *rotation);

/* For replies: how the store rotates, and its present epoch. */
json_t *rotation__to_json(const struct rotation *rotation);
/*
 * Calls @take as epoch_index__select() does.  @take returns 0, -ENOMEM, or a positive value that
 * ends the calls without an error.
 */
int rotation__select(struct rotation *rotation, uint64_t since_ns, uint64_t until_ns,
		     epoch_index_take *take, void *argument, struct dart_error *error);
/* The same as a list, for replies. */
json_t *rotation__list(struct rotation *rotation, uint64_t since_ns, uint64_t until_ns,
		       struct dart_error *error);
/* Opens the file of the epoch that began at @since_ns for reading; -ENOENT. */
int rotation__read(struct rotation *rotation, uint64_t since_ns, struct dart_error *error);

#endif /* ROTATION_H */
