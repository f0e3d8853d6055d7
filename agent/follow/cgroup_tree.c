// SPDX-License-Identifier: GPL-2.0-only
/* Walks and watches the cgroups of a tree, a few in each turn of the event loop. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/log.h"
#include "cgroup_events.h"
#include "cgroup_tree.h"

/* Cgroups that a new follower's request takes at once: all, on most hosts. */
#define FIRST_TURN 64
/* A later turn ends with the cgroup that exceeds this. */
#define TURN_NS (10 * INT64_C(1000000))
struct cgroup_tree {
	LIST_ENTRY(cgroup_tree) link;
	struct cgroup_followers members;
	int top;
	ino_t inode;
	struct file_watch watch; /* of the top */
	struct cgroup_set set;
	struct cgroup_list queues[CGROUP_CLASSES];
	struct cgroup_events events;
	sd_event_source *turns; /* while a cgroup is queued */
};

static void cgroup_tree__enqueue(struct cgroup_tree *tree, struct cgroup *cgroup, bool is_to_scan)
{
	cgroup->is_to_scan |= is_to_scan;
	if (cgroup->is_queued)
		return;
	cgroup->is_queued = true;
	TAILQ_INSERT_TAIL(&tree->queues[cgroup__class(cgroup)], cgroup, queued);
	sd_event_source_set_enabled(tree->turns, SD_EVENT_ON);
}

static void cgroup_tree__dequeue(struct cgroup_tree *tree, struct cgroup *cgroup)
{
	if (cgroup->is_queued)
		TAILQ_REMOVE(&tree->queues[cgroup__class(cgroup)], cgroup, queued);
	cgroup->is_queued = false;
}

/* Judges a failure of inotify: its watches, or its instances, are used up. */
static enum coverage_reason watch_reason(int code)
{
	return code == ENOSPC || code == EMFILE ? COVERAGE_WATCHES : coverage__reason_of(code);
}

/* ---- owners */

static uid_t user_of(const struct cgroup *parent, uid_t owner)
{
	return parent && parent->user ? parent->user : owner;
}

/*
 * The directory of @from belongs to another user than before: it was delegated, or taken
 * back.  All below get a watch of the other instance.
 */
static void cgroup_tree__set_user(struct cgroup_tree *tree, struct cgroup *from, uid_t user)
{
	struct cgroup *cgroup;

	for (cgroup = from; cgroup; cgroup = cgroup__next(cgroup, from)) {
		cgroup_events__unwatch(&tree->events, cgroup);
		cgroup_tree__dequeue(tree, cgroup);
		cgroup->user = user;
		cgroup_followers__charge(&tree->members, cgroup);
		cgroup_tree__enqueue(tree, cgroup, true);
	}
	cgroup_tree__dequeue(tree, from);
}

/* ---- cgroups that come and go */

static void cgroup_tree__free_one(struct cgroup_tree *tree, struct cgroup *cgroup)
{
	cgroup_followers__end_entries(&tree->members, cgroup);
	cgroup__include_all(cgroup);
	cgroup_places__free(&cgroup->places);
	cgroup_events__unwatch(&tree->events, cgroup);
	cgroup_tree__dequeue(tree, cgroup);
	cgroup_followers__discharge(&tree->members, cgroup, 0);
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
static int cgroup_tree__take(struct cgroup_tree *tree, struct cgroup *parent, const char *path,
			     uid_t owner, enum coverage_reason *reason, struct dart_error *error)
{
	const struct quotas *quotas = &tree->members.followers->registry->inventory.delegated;
	const uid_t user = user_of(parent, owner);
	struct cgroup *cgroup;
	char whole[PATH_MAX];
	int ret;

	if (cgroup__join_path(whole, tree->members.path, path))
		ret = dart_error__set(error, ENAMETOOLONG,
				      "the path of the cgroup has more than %d bytes",
				      PATH_MAX - 1);
	else
		ret = quotas__check(quotas, user, 1, 0, error);
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
	cgroup->charge = 1 + tree->members.count * inventory__charge_of(whole);
	cgroup_followers__charge(&tree->members, cgroup);
	cgroup_tree__enqueue(tree, cgroup, true);
	return 0;
}

/*
 * Takes the child @name of @parent, unless it is known.  False: it would exceed the quota
 * of a user, and so would all others in @parent.
 */
static bool cgroup_tree__find_child(struct cgroup_tree *tree, struct cgroup *parent,
				    const char *name)
{
	enum coverage_reason reason;
	struct dart_error error;
	struct stat status = {};
	char path[PATH_MAX];

	if (cgroup__join_path(path, parent->path, name)) {
		dart_error__set(&error, ENAMETOOLONG,
				"the path of the cgroup has more than %d bytes", PATH_MAX - 1);
		cgroup_followers__leave_out(&tree->members, parent, 1, COVERAGE_NAME, parent->path,
					    &error);
		return true;
	}
	if (cgroup_set__find(&tree->set, path))
		return true;
	if (!parent->user && fstatat(tree->top, path, &status, AT_SYMLINK_NOFOLLOW))
		return true;
	if (!cgroup_tree__take(tree, parent, path, status.st_uid, &reason, &error))
		return true;
	cgroup_followers__leave_out(&tree->members, parent, 1, reason, path, &error);
	return !(reason == COVERAGE_QUOTA && parent->user);
}

/*
 * Leaves out the cgroups that the kernel counts below @cgroup, except known children and cgroups
 * below known children, for the most frequent reason among the children.
 */
static void cgroup_tree__count_left_out(struct cgroup_tree *tree, struct cgroup *cgroup, int fd)
{
	struct cgroups_left_out *left_out, *most = NULL;
	const struct cgroup *child;
	const char *name;
	uint64_t all, known = 0;

	if (SLIST_EMPTY(&cgroup->left_out))
		return;
	all = cgroup__count_below(fd, ".");
	TAILQ_FOREACH(child, &cgroup->children, sibling) {
		name = strrchr(child->path, '/');
		known += 1 + cgroup__count_below(fd, name ? name + 1 : child->path);
	}
	SLIST_FOREACH(left_out, &cgroup->left_out, link) {
		known += left_out->count;
		if (!most || left_out->count > most->count)
			most = left_out;
	}
	if (all > known)
		cgroup_followers__leave_out(&tree->members, cgroup, all - known, most->reason,
					    most->example, &most->why);
}

/* Takes the children that are not known.  Returns -errno if it cannot list all children. */
static int cgroup_tree__find_children(struct cgroup_tree *tree, struct cgroup *cgroup,
				      DIR *directory)
{
	struct dirent *file;
	bool goes_on = true;

	while (goes_on) {
		errno = 0;
		file = readdir(directory);
		if (!file)
			return -errno;
		if (file->d_type == DT_DIR && file->d_name[0] != '.')
			goes_on = cgroup_tree__find_child(tree, cgroup, file->d_name);
	}
	return 0;
}

/* Looks for children; takes @fd over. */
static void cgroup_tree__scan(struct cgroup_tree *tree, struct cgroup *cgroup, int fd)
{
	DIR *directory = fdopendir(fd);
	int ret = directory ? 0 : -errno;
	struct dart_error error;

	cgroup->is_to_scan = false;
	cgroup__include_all(cgroup);
	if (!ret)
		ret = cgroup_tree__find_children(tree, cgroup, directory);
	/* -ENOENT: the cgroup has ended.  Otherwise at least one child counts until the retry. */
	if (ret && ret != -ENOENT) {
		dart_error__system(&error, -ret, "cannot list the children of a cgroup");
		cgroup_followers__leave_out(&tree->members, cgroup, 1, coverage__reason_of(-ret),
					    cgroup->path, &error);
	}
	cgroup_tree__count_left_out(tree, cgroup, fd);
	if (directory)
		closedir(directory);
	else
		close(fd);
}

/* ---- turns */

/* The cgroup cannot be followed, and its children cannot be listed. */
static void cgroup_tree__fail(struct cgroup_tree *tree, struct cgroup *cgroup, int fd,
			      enum coverage_reason reason, const struct dart_error *error)
{
	uint64_t below = fd < 0 ? 0 : cgroup__count_below(fd, ".");

	cgroup__include_all(cgroup);
	if (fd < 0 || !cgroup__is_root(fd))
		cgroup_followers__miss(&tree->members, &cgroup->places, 1, reason, cgroup->path,
				       error);
	if (below)
		cgroup_followers__leave_out(&tree->members, cgroup, below, reason, cgroup->path,
					    error);
}

/* Its watch, entries and children; takes @fd over. */
static void cgroup_tree__visit_open(struct cgroup_tree *tree, struct cgroup *cgroup, int fd)
{
	struct dart_error error;
	int ret = 0;

	if (!cgroup->is_watched) {
		cgroup->is_to_scan = true;
		ret = cgroup_events__watch(&tree->events, cgroup, fd, &error);
	}
	if (ret) {
		cgroup_tree__fail(tree, cgroup, fd, watch_reason(-ret), &error);
		close(fd);
		return;
	}
	/* From now on its entries are charged. */
	cgroup_followers__discharge(&tree->members, cgroup, 1);
	if (!cgroup__is_root(fd))
		cgroup_followers__register(&tree->members, cgroup, fd);
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
		cgroup_tree__fail(tree, cgroup, -1, coverage__reason_of(errno), &error);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (cgroup->inode && cgroup->inode != status.st_ino) {
		/* Another cgroup took the name. */
		cgroup_tree__drop(tree, cgroup);
		if (parent)
			cgroup_tree__enqueue(tree, parent, true);
		close(fd);
		return;
	}
	cgroup->inode = status.st_ino;
	if (cgroup->user != user_of(parent, status.st_uid))
		cgroup_tree__set_user(tree, cgroup, user_of(parent, status.st_uid));
	cgroup_tree__visit_open(tree, cgroup, fd);
}

static struct cgroup *cgroup_tree__next(const struct cgroup_tree *tree)
{
	return TAILQ_FIRST(&tree->queues[CGROUP_OF_ROOT]) ?:
		       TAILQ_FIRST(&tree->queues[CGROUP_DELEGATED]);
}

/* Part of a batch: at least @least cgroups, and then until @end. */
static void cgroup_tree__work(struct cgroup_tree *tree, unsigned int least, int64_t end)
{
	struct cgroup *cgroup;

	while ((cgroup = cgroup_tree__next(tree))) {
		if (least)
			least--;
		else if (dart_clock__ns(CLOCK_MONOTONIC) >= end)
			return;
		cgroup_tree__dequeue(tree, cgroup);
		cgroup_tree__visit(tree, cgroup);
	}
	sd_event_source_set_enabled(tree->turns, SD_EVENT_OFF);
}

static void cgroup_tree__begin(struct cgroup_tree *tree)
{
	registry__begin(tree->members.followers->registry);
}

static int cgroup_tree__end(struct cgroup_tree *tree, struct dart_error *error)
{
	int end = registry__end(tree->members.followers->registry, error);

	/* Each further turn would find it full, too. */
	if (end == -ENOSPC)
		tree->members.is_full = true;
	return end;
}

static void cgroup_tree__turn(struct cgroup_tree *tree)
{
	const int64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct dart_error error;

	cgroup_tree__work(tree, 1, now + TURN_NS);
	if (cgroup_tree__end(tree, &error))
		log__peer_error("cgroups of %s: cannot publish changes: %s", tree->members.path,
				error.text);
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
	const struct cgroup_place *place;
	bool is_missing;

	tree->members.is_full = false;
	for (cgroup = top; cgroup; cgroup = cgroup__next(cgroup, top)) {
		is_missing = !cgroup->is_watched;
		SLIST_FOREACH(place, &cgroup->places, link)
			is_missing |= coverage_place__is_missing(&place->place);
		if (is_missing || !SLIST_EMPTY(&cgroup->left_out))
			cgroup_tree__enqueue(tree, cgroup, !SLIST_EMPTY(&cgroup->left_out));
	}
}

/* ---- events */

static struct cgroup_tree *tree_of(struct cgroup_events *events)
{
	return (struct cgroup_tree *)((char *)events - offsetof(struct cgroup_tree, events));
}

/* Adds, replaces or drops the child @name of @parent to match the file system. */
static void on_child(struct cgroup_events *events, struct cgroup *parent, const char *name,
		     bool is_created)
{
	struct cgroup_tree *tree = tree_of(events);
	struct cgroup *known = NULL;
	struct stat status;
	char path[PATH_MAX];
	bool is_there;

	if (!cgroup__join_path(path, parent->path, name))
		known = cgroup_set__find(&tree->set, path);
	if (!known && !is_created) {
		if (cgroup_followers__include_one(&tree->members, parent))
			cgroup_tree__enqueue(tree, parent, true);
		return;
	}
	if (known) {
		is_there = !fstatat(tree->top, path, &status, AT_SYMLINK_NOFOLLOW) &&
			   S_ISDIR(status.st_mode);
		/* Without an inode it still waits for its turn, which examines it. */
		if (is_there && (!known->inode || known->inode == status.st_ino))
			return;
		cgroup_tree__drop(tree, known);
		if (!is_there)
			return;
	}
	cgroup_tree__find_child(tree, parent, name);
}

static void on_changed(struct cgroup_events *events, struct cgroup *cgroup, bool is_to_scan)
{
	cgroup_tree__enqueue(tree_of(events), cgroup, is_to_scan);
}

static void on_events_begin(struct cgroup_events *events)
{
	cgroup_tree__begin(tree_of(events));
}

static void on_events_end(struct cgroup_events *events)
{
	cgroup_tree__turn(tree_of(events));
}

static void on_top_removed(struct file_watch *watch)
{
	struct cgroup_tree *tree = file_watch__owner(watch, struct cgroup_tree);
	unsigned int count = tree->members.count;

	/* The last one takes the tree with it. */
	while (count--)
		follower__ended(&TAILQ_FIRST(&tree->members.list)->follower);
}

/* ---- the whole */

static void cgroup_tree__free(struct cgroup_tree *tree)
{
	if (tree->set.top)
		cgroup_tree__drop(tree, tree->set.top);
	file_watch__stop(tree->members.followers->file_watches, &tree->watch);
	cgroup_events__close(&tree->events);
	sd_event_source_disable_unref(tree->turns);
	if (tree->top >= 0)
		close(tree->top);
	LIST_REMOVE(tree, link);
	free(tree->members.path);
	free(tree);
}

static int cgroup_tree__open_sources(struct cgroup_tree *tree, struct dart_error *error)
{
	static const struct cgroup_events_handlers handlers = {
		.begin = on_events_begin,
		.end = on_events_end,
		.child = on_child,
		.changed = on_changed,
	};
	sd_event *loop = tree->members.followers->loop;
	int ret = cgroup_events__open(&tree->events, loop, &tree->set, &handlers);

	if (ret >= 0)
		ret = sd_event_add_defer(loop, &tree->turns, on_turn, tree);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(tree->turns, SD_EVENT_OFF);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot create an event source");
	return 0;
}

static int cgroup_tree__open(struct followers *followers, int fd, const struct stat *status,
			     const char *path, struct cgroup_tree **result,
			     struct dart_error *error)
{
	struct cgroup_tree *tree = calloc(1, sizeof(*tree));
	struct cgroup *top = NULL;
	int class, ret;

	if (!tree)
		return dart_error__no_memory(error);
	tree->members.followers = followers;
	tree->inode = status->st_ino;
	TAILQ_INIT(&tree->members.list);
	cgroup_set__open(&tree->set);
	for (class = 0; class < CGROUP_CLASSES; class ++)
		TAILQ_INIT(&tree->queues[class]);
	LIST_INSERT_HEAD(&followers->cgroup_trees, tree, link);
	tree->members.path = strdup(path);
	tree->top = -1;
	ret = cgroup_tree__open_sources(tree, error);
	if (!ret) {
		tree->top = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (tree->top < 0)
			ret = dart_error__system(error, errno, "cannot follow cgroups");
	}
	if (!ret && !cgroup__is_root(fd))
		ret = file_watch__start(followers->file_watches, &tree->watch, fd, on_top_removed,
					error);
	if (!ret) {
		top = tree->members.path ? cgroup_set__add(&tree->set, NULL, "") : NULL;
		ret = top ? 0 : dart_error__no_memory(error);
	}
	if (ret) {
		cgroup_tree__free(tree);
		return ret;
	}
	top->user = status->st_uid;
	top->charge = 1;
	cgroup_followers__charge(&tree->members, top);
	*result = tree;
	return 0;
}

static struct cgroup_tree *find_tree(const struct followers *followers, ino_t inode,
				     const char *path)
{
	struct cgroup_tree *tree;

	LIST_FOREACH(tree, &followers->cgroup_trees, link)
		if (tree->inode == inode && !strcmp(tree->members.path, path))
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
		return dart_error__system(error, errno, "cannot follow cgroups");
	tree = find_tree(followers, status.st_ino, path);
	if (!tree)
		ret = cgroup_tree__open(followers, fd, &status, path, &tree, error);
	if (ret)
		return ret;
	member->tree = tree;
	TAILQ_INSERT_TAIL(&tree->members.list, member, link);
	tree->members.count++;
	for (cgroup = tree->set.top; cgroup; cgroup = cgroup__next(cgroup, tree->set.top))
		cgroup_tree__enqueue(tree, cgroup, !SLIST_EMPTY(&cgroup->left_out));
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
	for (cgroup = tree->set.top; cgroup; cgroup = cgroup__next(cgroup, tree->set.top)) {
		cgroup_places__forget(&cgroup->places, member);
		SLIST_FOREACH(left_out, &cgroup->left_out, link)
			cgroup_places__forget(&left_out->places, member);
	}
	TAILQ_REMOVE(&tree->members.list, member, link);
	if (!--tree->members.count)
		cgroup_tree__free(tree);
}
