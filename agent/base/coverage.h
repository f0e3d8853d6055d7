/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage: of each kind of objects, how many the host has, how many are served, and
 * the reasons of the rest.
 *
 * A tally counts the objects of one follower, or of another owner of objects.  It
 * changes only when an object does: each object has a place in it, which is moved in
 * constant time.  The objects that are missing are linked by reason, so that a reason
 * always has an object that exists as its example.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

enum coverage_kind {
	COVERAGE_FILESYSTEMS,
	COVERAGE_NETDEVS,
	COVERAGE_DISKS,
	COVERAGE_CGROUPS,
	COVERAGE_NAMESPACES,
	COVERAGE_SOURCES,
	COVERAGE_PROBES,
	COVERAGE_MAPS,
	COVERAGE_KINDS
};

/* Why an object is not served. */
enum coverage_reason {
	COVERAGE_UNREGISTERED,	/* no client registered it */
	COVERAGE_WATCHES,	/* inotify allows no more of them */
	COVERAGE_MEMORY,
	COVERAGE_TABLE,		/* the region or the control region is full */
	COVERAGE_NAME,		/* too long, or taken by another entry */
	COVERAGE_QUOTA,		/* of the owner of a subtree, or of a user */
	COVERAGE_PERMISSION,
	COVERAGE_INVISIBLE,	/* it exists, and dartd cannot see it */
	COVERAGE_UNSUPPORTED,	/* by this kernel or this object */
	COVERAGE_OTHER,
	COVERAGE_REASONS
};

/*
 * Where an object stands; embedded in the follower's record of the object.  All zeros:
 * not counted.
 */
struct coverage_place {
	TAILQ_ENTRY(coverage_place) link;
	const char *name;	/* of the object, whose memory the record owns */
	/* Further objects that the place stands for; changes only while it is not counted. */
	uint64_t more;
	uint8_t state;		/* private to coverage.c */
};

TAILQ_HEAD(coverage_places, coverage_place);

/* The objects that are missing for one reason. */
struct coverage_missing {
	uint64_t count;
	uint64_t unplaced;	/* of these, objects without a record */
	struct coverage_places places;
	char example[DART_ERROR_MAX];	/* an object without a record */
	struct dart_error why;	/* of the last object */
};

struct coverage_tally {
	uint64_t present;	/* served, missing and staged objects */
	uint64_t served;
	uint64_t lacking; /* objects that lack the values by their nature; not in @present */
	struct coverage_places staged;	/* registered in a batch that has not ended */
	struct coverage_missing missing[COVERAGE_REASONS];
};

void coverage_tally__open(struct coverage_tally *tally);

/* The object of @place, which may be counted already, lacks the values, as objects of its type do. */
void coverage_tally__lack(struct coverage_tally *tally, struct coverage_place *place);
/* The object of @place, which may be counted already, is registered, in a batch. */
void coverage_tally__stage(struct coverage_tally *tally,
			   struct coverage_place *place, const char *name);
/* The batch has ended: the staged objects are served. */
void coverage_tally__publish(struct coverage_tally *tally);
/* The batch could not be published: all staged objects are missing. */
void coverage_tally__withdraw(struct coverage_tally *tally, enum coverage_reason reason,
			      const struct dart_error *why);
/*
 * The object is not served.  @place: NULL if the owner remembers nothing about the object, as when
 * memory runs out; @name is then copied, and the object counts until
 * coverage_tally__forget_unplaced().
 */
void coverage_tally__miss(struct coverage_tally *tally, struct coverage_place *place,
			  enum coverage_reason reason, const char *name,
			  const struct dart_error *why);
/* The object has ended, or does not count.  Call this before @place is freed. */
void coverage_tally__forget(struct coverage_tally *tally, struct coverage_place *place);
/* Before all objects are looked for again. */
void coverage_tally__forget_unplaced(struct coverage_tally *tally);

bool coverage_place__is_missing(const struct coverage_place *place);
/* Only of a place that is missing. */
enum coverage_reason coverage_place__reason(const struct coverage_place *place);

/*
 * Count objects that are missing, and missing objects whose reason can pass without another event.
 */
uint64_t coverage_tally__missing(const struct coverage_tally *tally);
uint64_t coverage_tally__passing(const struct coverage_tally *tally);
/* The name of an object that is missing for @reason, or NULL. */
const char *coverage_tally__example(const struct coverage_tally *tally,
				    enum coverage_reason reason);

/*
 * Tells agent/coverage/ of changes.  Rooms that count touch it, and the figures are computed once
 * at the end of this round of the event loop; without a change, nothing runs.  NULL: no handler.
 */
struct coverage_watch {
	sd_event_source *later;
	bool is_outdated;	/* count the objects without a follower again, too */
};

void coverage_watch__touch(struct coverage_watch *watch);
/* A follower has come or gone, or a registration has failed. */
void coverage_watch__recount(struct coverage_watch *watch);

/* The reason of a call that returned -@code. */
enum coverage_reason coverage__reason_of(int code);
/* False: attempts fail for the same reason until a client registers the object. */
bool coverage__can_pass(enum coverage_reason reason);
/* "cgroups", "watches" */
const char *coverage__kind_name(enum coverage_kind kind);
const char *coverage__reason_name(enum coverage_reason reason);
/*
 * Writes the remedy for @why, of the object @example: the words in the parentheses at the end of
 * @why, or else the remedy for any object of this kind that is missing for this reason.  Returns
 * how many bytes of @why come before the remedy.
 */
size_t coverage__remedy(char remedy[static DART_ERROR_MAX], enum coverage_kind kind,
			enum coverage_reason reason, const char *example, const char *why);

#endif /* COVERAGE_H */
