// SPDX-License-Identifier: GPL-2.0-only
/* Walks and watches the cgroups of a tree, a few in each turn of the event loop. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/clock.h"
#include "agent/base/inotify.h"
#include "agent/base/log.h"
#include "cgroup_set.h"
#include "cgroup_tree.h"

/* Cgroups that a new follower's request takes at once: all, on most hosts. */
#define FIRST_TURN 64
/* A later turn ends with the cgroup that exceeds this. */
#define TURN_NS (10 * INT64_C(1000000))
/* All cgroups of a class are compared again at most this often. */
#define RESYNC_NS (2 * INT64_C(1000000000))

struct cgroup_events {
	struct cgroup_tree *tree;
	int fd;			/* -1: not open */
	sd_event_source *source;
	bool are_lost;		/* compare everything again */
};

struct cgroup_tree {
	LIST_ENTRY(cgroup_tree) link;
	struct followers *followers;
	TAILQ_HEAD(, cgroup_follower) members;
	unsigned int member_count;
	char *path;		/* of the top */
	int top;
	ino_t inode;
	struct file_watch watch;	/* of the top */
	struct cgroup_set set;
	struct cgroup_list queues[CGROUP_CLASSES];
	struct cgroup_events events[CGROUP_CLASSES];
	sd_event_source *turns;	/* while a cgroup is queued */
	sd_event_source *resync;
	int64_t resynced;	/* ns, CLOCK_MONOTONIC */
	bool is_full;		/* the table: until the next attempt */
};

static void cgroup_tree__enqueue(struct cgroup_tree *tree,
				 struct cgroup *cgroup, bool is_to_scan)
{
	cgroup->is_to_scan |= is_to_scan;
	if (cgroup->is_queued)
		return;
	cgroup->is_queued = true;
	TAILQ_INSERT_TAIL(&tree->queues[cgroup__class(cgroup)], cgroup, queued);
	sd_event_source_set_enabled(tree->turns, SD_EVENT_ON);
}

static void cgroup_tree__dequeue(struct cgroup_tree *tree,
				 struct cgroup *cgroup)
{
	if (cgroup->is_queued)
		TAILQ_REMOVE(&tree->queues[cgroup__class(cgroup)], cgroup,
			     queued);
	cgroup->is_queued = false;
}

/* "" and "a" are below the top, "/" and "/b" are whole paths. */
static int join_path(char path[static PATH_MAX], const char *outer,
		     const char *name)
{
	const char *slash = *outer && strcmp(outer, "/") && *name ? "/" : "";

	if (snprintf(path, PATH_MAX, "%s%s%s", outer, slash, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* The root of the hierarchy has neither a type nor counters. */
static bool is_root(int fd)
{
	return faccessat(fd, "cgroup.type", F_OK, 0) != 0;
}

/* How many cgroups the kernel has below @name in @fd; 0 if it does not tell. */
static uint64_t count_below(int fd, const char *name)
{
	static const char member[] = "nr_descendants ";
	char path[NAME_MAX + sizeof("/cgroup.stat")], text[4096], *at;
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "%s/cgroup.stat", name);
	file = openat(fd, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	text[length > 0 ? length : 0] = '\0';
	at = strstr(text, member);
	return at ? strtoull(at + sizeof(member) - 1, NULL, 10) : 0;
}

/* ---- places in the tallies of the followers */

/* NULL: out of memory. */
static struct cgroup_record *record_of(struct cgroup_records *records,
				       struct cgroup_follower *member)
{
	struct cgroup_record *record;

	SLIST_FOREACH(record, records, link)
		if (record->member == member)
			return record;
	record = calloc(1, sizeof(*record));
	if (!record)
		return NULL;
	record->member = member;
	SLIST_INSERT_HEAD(records, record, link);
	return record;
}

static void records__free(struct cgroup_records *records)
{
	struct cgroup_record *record;

	while ((record = SLIST_FIRST(records))) {
		SLIST_REMOVE_HEAD(records, link);
		follower__forget(&record->member->follower, &record->place);
		free(record);
	}
}

static void records__forget(struct cgroup_records *records,
			    const struct cgroup_follower *member)
{
	struct cgroup_record *record;

	SLIST_FOREACH(record, records, link)
		if (record->member == member)
			break;
	if (!record)
		return;
	SLIST_REMOVE(records, record, cgroup_record, link);
	follower__forget(&record->member->follower, &record->place);
	free(record);
}

/* @count cgroups are left out, and each follower has a place for them in @records. */
static void cgroup_tree__miss(struct cgroup_tree *tree,
			      struct cgroup_records *records, uint64_t count,
			      enum coverage_reason reason, const char *name,
			      const struct dart_error *why)
{
	struct cgroup_follower *member;
	struct cgroup_record *record;

	TAILQ_FOREACH(member, &tree->members, link) {
		record = record_of(records, member);
		if (record) {
			follower__forget(&member->follower, &record->place);
			record->place.more = count - 1;
		}
		follower__fail(&member->follower,
			       record ? &record->place : NULL, reason, name,
			       why);
	}
}

static void left_out__free(struct cgroups_left_out *left_out)
{
	records__free(&left_out->records);
	free(left_out);
}

static void cgroup__include_all(struct cgroup *cgroup)
{
	struct cgroups_left_out *left_out;

	while ((left_out = SLIST_FIRST(&cgroup->left_out))) {
		SLIST_REMOVE_HEAD(&cgroup->left_out, link);
		left_out__free(left_out);
	}
}

/* @more cgroups below @cgroup are left out, such as @path. */
static void cgroup_tree__leave_out(struct cgroup_tree *tree,
				   struct cgroup *cgroup, uint64_t more,
				   enum coverage_reason reason,
				   const char *path,
				   const struct dart_error *why)
{
	struct cgroups_left_out *left_out;

	SLIST_FOREACH(left_out, &cgroup->left_out, link)
		if (left_out->reason == reason)
			break;
	if (!left_out) {
		left_out = calloc(1, sizeof(*left_out) + strlen(path) + 1);
		/* It counts at the next attempt. */
		if (!left_out)
			return;
		left_out->reason = reason;
		left_out->why = *why;
		strcpy(left_out->example, path);
		SLIST_INIT(&left_out->records);
		SLIST_INSERT_HEAD(&cgroup->left_out, left_out, link);
	}
	left_out->count += more;
	cgroup_tree__miss(tree, &left_out->records, left_out->count, reason,
			  left_out->example, why);
}

/* A cgroup below @cgroup, which dartd does not know, has ended. */
static void cgroup_tree__include_one(struct cgroup_tree *tree,
				     struct cgroup *cgroup)
{
	struct cgroups_left_out *left_out = SLIST_FIRST(&cgroup->left_out);

	if (!left_out)
		return;
	/* Perhaps it was the last one: the kernel knows. */
	if (left_out->count == 1) {
		cgroup_tree__enqueue(tree, cgroup, true);
		return;
	}
	left_out->count--;
	cgroup_tree__miss(tree, &left_out->records, left_out->count,
			  left_out->reason, left_out->example, &left_out->why);
}

/* ---- entries of a cgroup */

static struct entry *find_entry(const struct cgroup_follower *member,
				const struct cgroup *cgroup)
{
	const struct follower *follower = &member->follower;
	const struct selector_key key = {
		.source = follower->source->id,
		.gather_ms = follower->gather_ms,
		.object = cgroup->inode,
	};
	struct entry *entry =
		inventory__find_source(&follower->followers->registry->inventory, &key);

	return entry && entry->group == &follower->group ? entry : NULL;
}

static void cgroup_tree__register(struct cgroup_tree *tree,
				  struct cgroup_follower *member,
				  struct cgroup *cgroup, int fd)
{
	struct follower *follower = &member->follower;
	struct cgroup_record *record = record_of(&cgroup->records, member);
	struct selector selector;
	char whole[PATH_MAX];
	struct dart_error error;
	int ret;

	if (!record) {
		dart_error__no_memory(&error);
		follower__fail(follower, NULL, COVERAGE_MEMORY, cgroup->path,
			       &error);
		return;
	}
	if (find_entry(member, cgroup)) {
		if (coverage_place__is_missing(&record->place))
			coverage_tally__stage(&follower->tally, &record->place,
					      cgroup->path);
		return;
	}
	if (join_path(whole, tree->path, cgroup->path))
		ret = dart_error__set(&error, ENAMETOOLONG, "path is too long");
	else
		ret = selector__cgroup(&selector, follower->source, fd, whole,
				       &error);
	if (!ret && tree->is_full)
		ret = dart_error__set(
			&error, ENOSPC,
			"the table has no room for more cgroups (unregister something)");
	if (ret) {
		follower__fail(follower, &record->place,
			       coverage__reason_of(-ret), cgroup->path, &error);
		return;
	}
	selector.delegated_to = cgroup->user;
	follower__register(follower, &selector, &record->place, cgroup->path);
	selector__close(&selector);
}

static void cgroup_tree__end_entries(struct cgroup_tree *tree,
				     const struct cgroup *cgroup)
{
	const struct cgroup_follower *member;
	struct entry *entry;

	TAILQ_FOREACH(member, &tree->members, link) {
		entry = find_entry(member, cgroup);
		if (entry)
			registry__entry_ended(tree->followers->registry, entry);
	}
}

/* ---- watches */

static void cgroup_tree__unwatch(struct cgroup_tree *tree,
				 struct cgroup *cgroup)
{
	if (!cgroup->is_watched)
		return;
	/* Fails if the directory was removed, and the watch with it. */
	inotify_rm_watch(tree->events[cgroup->watch_class].fd, cgroup->wd);
	cgroup_set__unwatch(&tree->set, cgroup);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata);

/*
 * To call before looking for children, so that a child created in between is seen twice
 * rather than never.
 */
static int cgroup_tree__watch(struct cgroup_tree *tree, struct cgroup *cgroup,
			      int fd, struct dart_error *error)
{
	const enum cgroup_class class = cgroup__class(cgroup);
	struct cgroup_events *events = &tree->events[class];
	int wd, ret;

	if (events->fd < 0) {
		ret = inotify__open(&events->fd, &events->source,
				    tree->followers->loop, on_event, events,
				    error);
		if (ret)
			return ret;
	}
	wd = inotify__add(events->fd, fd,
			  IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR);
	if (wd < 0)
		return dart_error__set(error, -wd,
				       "cannot watch a cgroup: %s%s",
				       strerror(-wd), inotify__remedy(-wd));
	if (!cgroup_set__watch(&tree->set, cgroup, class, wd))
		return 0;
	inotify_rm_watch(events->fd, wd);
	return dart_error__no_memory(error);
}

/* inotify has no more watches, or no more instances. */
static enum coverage_reason watch_reason(int code)
{
	return code == ENOSPC || code == EMFILE ? COVERAGE_WATCHES :
						  coverage__reason_of(code);
}

/* ---- owners */

static uid_t user_of(const struct cgroup *parent, uid_t owner)
{
	return parent && parent->user ? parent->user : owner;
}

/* Charges the cgroup itself, which has a watch, and the entries that it has. */
static void cgroup_tree__charge(struct cgroup_tree *tree,
				struct cgroup *cgroup)
{
	struct registry *registry = tree->followers->registry;
	const struct cgroup_follower *member;
	struct entry *entry;

	quotas__release(&registry->inventory.delegated, cgroup->charged, cgroup->charge,
			0);
	cgroup->charged = quotas__charge(&registry->inventory.delegated, cgroup->user,
					 cgroup->charge, 0);
	TAILQ_FOREACH(member, &tree->members, link) {
		entry = find_entry(member, cgroup);
		if (entry)
			inventory__delegate(&registry->inventory, entry, cgroup->user);
	}
}

/*
 * The directory of @from belongs to another user than before: it was delegated, or taken
 * back.  All below get a watch of the other instance.
 */
static void cgroup_tree__set_user(struct cgroup_tree *tree, struct cgroup *from,
				  uid_t user)
{
	struct cgroup *cgroup;

	for (cgroup = from; cgroup; cgroup = cgroup__next(cgroup, from)) {
		cgroup_tree__unwatch(tree, cgroup);
		cgroup_tree__dequeue(tree, cgroup);
		cgroup->user = user;
		cgroup_tree__charge(tree, cgroup);
		cgroup_tree__enqueue(tree, cgroup, true);
	}
	cgroup_tree__dequeue(tree, from);
}

/* ---- cgroups that come and go */

static void cgroup_tree__free_one(struct cgroup_tree *tree,
				  struct cgroup *cgroup)
{
	cgroup_tree__end_entries(tree, cgroup);
	cgroup__include_all(cgroup);
	records__free(&cgroup->records);
	cgroup_tree__unwatch(tree, cgroup);
	cgroup_tree__dequeue(tree, cgroup);
	quotas__release(&tree->followers->registry->inventory.delegated, cgroup->charged,
			cgroup->charge, 0);
	cgroup_set__remove(&tree->set, cgroup);
}

/* Removes a cgroup and all below it, from the leaves up. */
static void cgroup_tree__drop(struct cgroup_tree *tree, struct cgroup *from)
{
	struct cgroup *cgroup;

	do {
		cgroup = cgroup__first_leaf(from);
		cgroup_tree__free_one(tree, cgroup);
	} while (cgroup != from);
}

/* A child of @parent, @path below the top; its reason if it is left out. */
static int cgroup_tree__take(struct cgroup_tree *tree, struct cgroup *parent,
			     const char *path, uid_t owner,
			     enum coverage_reason *reason,
			     struct dart_error *error)
{
	const struct quotas *quotas = &tree->followers->registry->inventory.delegated;
	const uid_t user = user_of(parent, owner);
	struct cgroup *cgroup;
	char whole[PATH_MAX];
	int ret;

	if (join_path(whole, tree->path, path))
		ret = dart_error__set(
			error, ENAMETOOLONG,
			"the path of the cgroup has more than %d bytes",
			PATH_MAX - 1);
	else
		ret = quotas__check(quotas, user, 0, error);
	*reason = coverage__reason_of(-ret);
	if (ret)
		return ret;
	cgroup = cgroup_set__add(&tree->set, parent, path);
	if (!cgroup) {
		*reason = COVERAGE_MEMORY;
		return dart_error__no_memory(error);
	}
	cgroup->user = user;
	/* Or the cgroups that wait would leave no room for the entries of the first. */
	cgroup->charge = 1 + tree->member_count * inventory__charge_of(whole);
	cgroup_tree__charge(tree, cgroup);
	cgroup_tree__enqueue(tree, cgroup, true);
	return 0;
}

/*
 * Takes the child @name of @parent, unless it is known.  False: it would exceed the quota
 * of a user, and so would all others in @parent.
 */
static bool cgroup_tree__find_child(struct cgroup_tree *tree,
				    struct cgroup *parent, const char *name)
{
	enum coverage_reason reason;
	struct dart_error error;
	struct stat status = {};
	char path[PATH_MAX];

	if (join_path(path, parent->path, name)) {
		dart_error__set(&error, ENAMETOOLONG,
				"the path of the cgroup has more than %d bytes",
				PATH_MAX - 1);
		cgroup_tree__leave_out(tree, parent, 1, COVERAGE_NAME,
				       parent->path, &error);
		return true;
	}
	if (cgroup_set__find(&tree->set, path))
		return true;
	if (!parent->user && fstatat(tree->top, path, &status,
				     AT_SYMLINK_NOFOLLOW))
		return true;
	if (!cgroup_tree__take(tree, parent, path, status.st_uid, &reason,
			       &error))
		return true;
	cgroup_tree__leave_out(tree, parent, 1, reason, path, &error);
	return !(reason == COVERAGE_QUOTA && parent->user);
}

/*
 * The cgroups that the kernel counts below @cgroup, but for the known children and those
 * below them, are left out: for the reason that most of the children have.
 */
static void cgroup_tree__count_left_out(struct cgroup_tree *tree,
					struct cgroup *cgroup, int fd)
{
	struct cgroups_left_out *left_out, *most = NULL;
	const struct cgroup *child;
	const char *name;
	uint64_t all, known = 0;

	if (SLIST_EMPTY(&cgroup->left_out))
		return;
	all = count_below(fd, ".");
	TAILQ_FOREACH(child, &cgroup->children, sibling) {
		name = strrchr(child->path, '/');
		known += 1 + count_below(fd, name ? name + 1 : child->path);
	}
	SLIST_FOREACH(left_out, &cgroup->left_out, link) {
		known += left_out->count;
		if (!most || left_out->count > most->count)
			most = left_out;
	}
	if (all > known)
		cgroup_tree__leave_out(tree, cgroup, all - known, most->reason,
				       most->example, &most->why);
}

/* Looks for children; takes @fd over. */
static void cgroup_tree__scan(struct cgroup_tree *tree, struct cgroup *cgroup,
			      int fd)
{
	DIR *directory = fdopendir(fd);
	struct dirent *file;
	bool goes_on = true;

	if (!directory) {
		close(fd);
		return;
	}
	cgroup->is_to_scan = false;
	cgroup__include_all(cgroup);
	while (goes_on && (file = readdir(directory)))
		if (file->d_type == DT_DIR && file->d_name[0] != '.')
			goes_on = cgroup_tree__find_child(tree, cgroup,
							  file->d_name);
	cgroup_tree__count_left_out(tree, cgroup, fd);
	closedir(directory);
}

/* ---- turns */

/* The cgroup cannot be followed, and those below it cannot be looked for. */
static void cgroup_tree__fail(struct cgroup_tree *tree, struct cgroup *cgroup,
			      int fd, enum coverage_reason reason,
			      const struct dart_error *error)
{
	uint64_t below = fd < 0 ? 0 : count_below(fd, ".");

	cgroup__include_all(cgroup);
	if (fd < 0 || !is_root(fd))
		cgroup_tree__miss(tree, &cgroup->records, 1, reason,
				  cgroup->path, error);
	if (below)
		cgroup_tree__leave_out(tree, cgroup, below, reason,
				       cgroup->path, error);
}

/* From now on its entries are charged. */
static void cgroup_tree__end_reservation(struct cgroup_tree *tree,
					 struct cgroup *cgroup)
{
	quotas__release(&tree->followers->registry->inventory.delegated, cgroup->charged,
			cgroup->charge - 1, 0);
	cgroup->charge = 1;
}

/* Its watch, entries and children; takes @fd over. */
static void cgroup_tree__visit_open(struct cgroup_tree *tree,
				    struct cgroup *cgroup, int fd)
{
	struct cgroup_follower *member;
	struct dart_error error;
	int ret = 0;

	if (!cgroup->is_watched) {
		cgroup->is_to_scan = true;
		ret = cgroup_tree__watch(tree, cgroup, fd, &error);
	}
	if (ret) {
		cgroup_tree__fail(tree, cgroup, fd, watch_reason(-ret), &error);
		close(fd);
		return;
	}
	cgroup_tree__end_reservation(tree, cgroup);
	if (!is_root(fd))
		TAILQ_FOREACH(member, &tree->members, link)
			cgroup_tree__register(tree, member, cgroup, fd);
	if (cgroup->is_to_scan)
		cgroup_tree__scan(tree, cgroup, fd);
	else
		close(fd);
}

static void cgroup_tree__visit(struct cgroup_tree *tree, struct cgroup *cgroup)
{
	struct cgroup *parent = cgroup->parent;
	struct dart_error error;
	struct stat status;
	int fd;

	fd = openat(tree->top, *cgroup->path ? cgroup->path : ".",
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENODEV) && parent) {
		cgroup_tree__drop(tree, cgroup);
		return;
	}
	if (fd < 0 || fstat(fd, &status)) {
		dart_error__system(&error, errno, "cannot open a cgroup");
		cgroup_tree__fail(tree, cgroup, -1, coverage__reason_of(errno),
				  &error);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (cgroup->inode && cgroup->inode != status.st_ino) {
		/* Another one has the name. */
		cgroup_tree__drop(tree, cgroup);
		if (parent)
			cgroup_tree__enqueue(tree, parent, true);
		close(fd);
		return;
	}
	cgroup->inode = status.st_ino;
	if (cgroup->user != user_of(parent, status.st_uid))
		cgroup_tree__set_user(tree, cgroup,
				      user_of(parent, status.st_uid));
	cgroup_tree__visit_open(tree, cgroup, fd);
}

static struct cgroup *cgroup_tree__next(const struct cgroup_tree *tree)
{
	return TAILQ_FIRST(&tree->queues[CGROUP_OF_ROOT]) ?:
		       TAILQ_FIRST(&tree->queues[CGROUP_DELEGATED]);
}

/* Part of a batch: at least @least cgroups, and then until @end. */
static void cgroup_tree__work(struct cgroup_tree *tree, unsigned int least,
			      int64_t end)
{
	struct cgroup *cgroup;

	while ((cgroup = cgroup_tree__next(tree))) {
		if (least)
			least--;
		else if (clock__nanoseconds(CLOCK_MONOTONIC) >= end)
			return;
		cgroup_tree__dequeue(tree, cgroup);
		cgroup_tree__visit(tree, cgroup);
	}
	sd_event_source_set_enabled(tree->turns, SD_EVENT_OFF);
}

static void cgroup_tree__begin(struct cgroup_tree *tree)
{
	registry__begin(tree->followers->registry);
}

static int cgroup_tree__end(struct cgroup_tree *tree, struct dart_error *error)
{
	int end = registry__end(tree->followers->registry, error);

	/* Each further turn would find it full, too. */
	if (end == -ENOSPC)
		tree->is_full = true;
	return end;
}

static void cgroup_tree__turn(struct cgroup_tree *tree)
{
	const int64_t now = clock__nanoseconds(CLOCK_MONOTONIC);
	struct dart_error error;

	cgroup_tree__work(tree, 1, now + TURN_NS);
	if (cgroup_tree__end(tree, &error))
		log__peer_error("cgroups of %s: cannot publish changes: %s",
				tree->path, error.text);
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct cgroup_tree *tree = userdata;

	cgroup_tree__begin(tree);
	cgroup_tree__turn(tree);
	return 0;
}

void cgroup_tree__retry(struct cgroup_tree *tree)
{
	struct cgroup *top = tree->set.top, *cgroup;
	const struct cgroup_record *record;
	bool is_missing;

	tree->is_full = false;
	for (cgroup = top; cgroup; cgroup = cgroup__next(cgroup, top)) {
		is_missing = !cgroup->is_watched;
		SLIST_FOREACH(record, &cgroup->records, link)
			is_missing |= coverage_place__is_missing(&record->place);
		if (is_missing || !SLIST_EMPTY(&cgroup->left_out))
			cgroup_tree__enqueue(tree, cgroup,
					     !SLIST_EMPTY(&cgroup->left_out));
	}
}

/* ---- events */

static int on_resync(sd_event_source *source, uint64_t time, void *userdata)
{
	struct cgroup_tree *tree = userdata;
	struct cgroup *top = tree->set.top, *cgroup;
	int class;

	tree->resynced = clock__nanoseconds(CLOCK_MONOTONIC);
	for (cgroup = top; cgroup; cgroup = cgroup__next(cgroup, top))
		if (tree->events[cgroup__class(cgroup)].are_lost)
			cgroup_tree__enqueue(tree, cgroup, true);
	for (class = 0; class < CGROUP_CLASSES; class++)
		tree->events[class].are_lost = false;
	return 0;
}

static void cgroup_events__lost(struct cgroup_events *events)
{
	struct cgroup_tree *tree = events->tree;
	int64_t due = tree->resynced ? tree->resynced + RESYNC_NS : 0;

	if (events->are_lost)
		return;
	events->are_lost = true;
	sd_event_source_set_time(tree->resync, due / 1000);
	sd_event_source_set_enabled(tree->resync, SD_EVENT_ONESHOT);
}

/* Adds, replaces or drops the child @name of @parent to match the file system. */
static void cgroup_tree__sync(struct cgroup_tree *tree, struct cgroup *parent,
			      const char *name, bool is_created)
{
	struct cgroup *known = NULL;
	struct stat status;
	char path[PATH_MAX];
	bool is_there;

	if (!join_path(path, parent->path, name))
		known = cgroup_set__find(&tree->set, path);
	if (!known && !is_created) {
		cgroup_tree__include_one(tree, parent);
		return;
	}
	if (known) {
		is_there = !fstatat(tree->top, path, &status,
				    AT_SYMLINK_NOFOLLOW) &&
			   S_ISDIR(status.st_mode);
		/* Without an inode it has not had its turn yet, and is looked at then. */
		if (is_there &&
		    (!known->inode || known->inode == status.st_ino))
			return;
		cgroup_tree__drop(tree, known);
		if (!is_there)
			return;
	}
	cgroup_tree__find_child(tree, parent, name);
}

static void on_inotify_event(const struct inotify_event *event, void *userdata)
{
	struct cgroup_events *events = userdata;
	struct cgroup_tree *tree = events->tree;
	struct cgroup *cgroup;

	if (event->mask & IN_Q_OVERFLOW) {
		cgroup_events__lost(events);
		return;
	}
	cgroup = event->mask & IN_ISDIR ?
			 cgroup_set__find_watch(&tree->set,
						events - tree->events,
						event->wd) :
			 NULL;
	if (!cgroup)
		return;
	if (event->mask & (IN_CREATE | IN_DELETE))
		cgroup_tree__sync(tree, cgroup, event->name,
				  event->mask & IN_CREATE);
	else if (event->mask & IN_ATTRIB && !event->len)
		cgroup_tree__enqueue(tree, cgroup, false);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	struct cgroup_events *events = userdata;

	cgroup_tree__begin(events->tree);
	inotify__read(fd, on_inotify_event, events);
	cgroup_tree__turn(events->tree);
	return 0;
}

static void on_top_removed(struct file_watch *watch)
{
	struct cgroup_tree *tree = file_watch__owner(watch, struct cgroup_tree);
	unsigned int count = tree->member_count;

	/* The last one takes the tree with it. */
	while (count--)
		follower__ended(&TAILQ_FIRST(&tree->members)->follower);
}

/* ---- the whole */

static void cgroup_tree__free(struct cgroup_tree *tree)
{
	int class;

	if (tree->set.top)
		cgroup_tree__drop(tree, tree->set.top);
	file_watch__stop(tree->followers->file_watches, &tree->watch);
	for (class = 0; class < CGROUP_CLASSES; class++) {
		sd_event_source_disable_unref(tree->events[class].source);
		if (tree->events[class].fd >= 0)
			close(tree->events[class].fd);
	}
	sd_event_source_disable_unref(tree->turns);
	sd_event_source_disable_unref(tree->resync);
	if (tree->top >= 0)
		close(tree->top);
	LIST_REMOVE(tree, link);
	free(tree->path);
	free(tree);
}

static int cgroup_tree__open_sources(struct cgroup_tree *tree,
				     struct dart_error *error)
{
	sd_event *loop = tree->followers->loop;
	int ret = sd_event_add_defer(loop, &tree->turns, on_turn, tree);

	if (ret >= 0)
		ret = sd_event_source_set_enabled(tree->turns, SD_EVENT_OFF);
	if (ret >= 0)
		ret = sd_event_add_time(loop, &tree->resync, CLOCK_MONOTONIC, 0,
					0, on_resync, tree);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(tree->resync, SD_EVENT_OFF);
	if (ret < 0)
		return dart_error__system(error, -ret,
					  "cannot create an event source");
	return 0;
}

static int cgroup_tree__open(struct followers *followers, int fd,
			     const struct stat *status, const char *path,
			     struct cgroup_tree **result,
			     struct dart_error *error)
{
	struct cgroup_tree *tree = calloc(1, sizeof(*tree));
	struct cgroup *top = NULL;
	int class, ret;

	if (!tree)
		return dart_error__no_memory(error);
	tree->followers = followers;
	tree->inode = status->st_ino;
	TAILQ_INIT(&tree->members);
	cgroup_set__open(&tree->set);
	for (class = 0; class < CGROUP_CLASSES; class++) {
		TAILQ_INIT(&tree->queues[class]);
		tree->events[class].tree = tree;
		tree->events[class].fd = -1;
	}
	LIST_INSERT_HEAD(&followers->cgroup_trees, tree, link);
	tree->path = strdup(path);
	tree->top = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	ret = tree->top < 0 ? dart_error__system(error, errno,
						 "cannot follow cgroups") :
			      cgroup_tree__open_sources(tree, error);
	if (!ret && !is_root(fd))
		ret = file_watch__start(followers->file_watches, &tree->watch,
					fd, on_top_removed, error);
	if (!ret) {
		top = tree->path ? cgroup_set__add(&tree->set, NULL, "") : NULL;
		ret = top ? 0 : dart_error__no_memory(error);
	}
	if (ret) {
		cgroup_tree__free(tree);
		return ret;
	}
	top->user = status->st_uid;
	top->charge = 1;
	cgroup_tree__charge(tree, top);
	*result = tree;
	return 0;
}

static struct cgroup_tree *find_tree(const struct followers *followers,
				     ino_t inode, const char *path)
{
	struct cgroup_tree *tree;

	LIST_FOREACH(tree, &followers->cgroup_trees, link)
		if (tree->inode == inode && !strcmp(tree->path, path))
			return tree;
	return NULL;
}

int cgroup_tree__join(struct cgroup_follower *member, int fd, const char *path,
		      struct dart_error *error)
{
	struct followers *followers = member->follower.followers;
	struct cgroup_tree *tree;
	struct cgroup *cgroup;
	struct stat status;
	int ret = 0;

	if (fstat(fd, &status))
		return dart_error__system(error, errno,
					  "cannot follow cgroups");
	tree = find_tree(followers, status.st_ino, path);
	if (!tree)
		ret = cgroup_tree__open(followers, fd, &status, path, &tree,
					error);
	if (ret)
		return ret;
	member->tree = tree;
	TAILQ_INSERT_TAIL(&tree->members, member, link);
	tree->member_count++;
	for (cgroup = tree->set.top; cgroup;
	     cgroup = cgroup__next(cgroup, tree->set.top))
		cgroup_tree__enqueue(tree, cgroup,
				     !SLIST_EMPTY(&cgroup->left_out));
	cgroup_tree__begin(tree);
	cgroup_tree__work(tree, FIRST_TURN, 0);
	return cgroup_tree__end(tree, error);
}

void cgroup_tree__leave(struct cgroup_follower *member)
{
	struct cgroup_tree *tree = member->tree;
	struct cgroups_left_out *left_out;
	struct cgroup *cgroup;

	if (!tree)
		return;
	member->tree = NULL;
	for (cgroup = tree->set.top; cgroup;
	     cgroup = cgroup__next(cgroup, tree->set.top)) {
		records__forget(&cgroup->records, member);
		SLIST_FOREACH(left_out, &cgroup->left_out, link)
			records__forget(&left_out->records, member);
	}
	TAILQ_REMOVE(&tree->members, member, link);
	if (!--tree->member_count)
		cgroup_tree__free(tree);
}
