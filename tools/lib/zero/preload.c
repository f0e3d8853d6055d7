// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libdartzero-preload: shows variables of programs that nobody changed, see libdartzero-preload(7).
 *
 * Before main() the pages of the variables that a layout of dart_application(5) names are replaced
 * by a memfd, at their addresses.  A thread with a table of descriptors of its own hands it to
 * dartd: programs close descriptors that they did not open, and see none of these.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>

#include "preload_layout.h"
#include "preload_pages.h"
#include "preload_process.h"
#include "zero_internal.h"

#define LAYOUTS_OF_ADMIN "/etc/dart/layouts"
#define LAYOUTS_BESIDE "share/dart/schemas/applications/layouts"
/* A program that becomes a daemon by two forks ends the process between them in this time. */
#define HEIR_MS 10000
#define HEIR_LOOK_MS 100

/* A program has one of each. */
static struct dart_zero zero = {
	DART_ZERO_INITIALIZER,
	.is_fixed = true,
	.is_exact = true,
	.prefix = "",
};
static struct preload_layout layout; /* which the objects refer to */
static char label[PRELOAD_LABEL_MAX], other_label[PRELOAD_LABEL_MAX];
/* A copy of all pieces for the child of the next fork(); NULL: the variables are not shared. */
static char *snapshot;
static bool has_handlers; /* of fork() */
/* This process if it comes of fork() in a process that was shown, or in its child, and so on. */
static pid_t child;
static bool has_own_label; /* of the environment */
static pid_t forking; /* the process that calls fork(), for its child: it may end at once */
static int64_t daemon_ms; /* when setsid() made this process a daemon that has no child yet; or 0 */
static struct dart_zero_object **objects;
static uint32_t object_count;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char sentence[PRELOAD_REASON_MAX + 128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	dprintf(STDERR_FILENO, "libdartzero-preload: %s\n", sentence);
}

/* ---- daemons of two forks */

/*
 * The child of a new session shares its variables at once, while it has no other thread, and shows
 * them when its parent ends.
 */
static struct {
	pid_t parent; /* 0: this process is no such child */
	/* Waiting; then either the thread goes on to show the variables, or it ends. */
	enum { HEIR_WAITS, HEIR_SHOWS, HEIR_ENDS } _Atomic state;
} heir;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Leaves HEIR_WAITS, if nothing else has. */
static bool heir__decide(int state)
{
	int waits = HEIR_WAITS;

	return atomic_compare_exchange_strong(&heir.state, &waits, state);
}

/* In the thread of a child. */
static bool heir__may_register(struct dart_zero *shared)
{
	const int64_t until = now_ms() + HEIR_MS;
	struct pollfd end = { .fd = syscall(SYS_pidfd_open, heir.parent, 0), .events = POLLIN };

	(void)shared;
	while (heir.state == HEIR_WAITS && now_ms() < until)
		if (getppid() != heir.parent || poll(&end, 1, HEIR_LOOK_MS) > 0)
			heir__decide(HEIR_SHOWS);
	heir__decide(HEIR_ENDS);
	if (end.fd >= 0)
		close(end.fd);
	return heir.state == HEIR_SHOWS;
}

/* ---- fork() */

static void start_or_say(void);
static void forget_registrations(void);

static size_t all_bytes(void)
{
	size_t bytes = 0, i;

	for (i = 0; i < zero.piece_count; i++)
		bytes += zero.pieces[i].bytes;
	return bytes;
}

/*
 * The child must find the bytes of this moment, while the parent goes on.  Handlers that were
 * registered later, as those of the program, have run.  The lock is not taken: its thread
 * allocates memory, and the allocator of the program may have its own handlers.
 */
static void before_fork(void)
{
	char *to = snapshot;
	size_t i;

	forking = getpid();
	for (i = 0; snapshot && i < zero.piece_count; to += zero.pieces[i++].bytes)
		memcpy(to, zero.pieces[i].at, zero.pieces[i].bytes);
}

/*
 * The kernel left the pieces out of the child: a child without this handler, of a raw clone(2),
 * ends rather than write to the memory of its parent.  The descriptors were those of the thread,
 * which the child does not have.
 */
static void after_fork_in_child(void)
{
	const bool is_heir = daemon_ms && now_ms() - daemon_ms < HEIR_MS;
	char *from = snapshot;
	size_t i;

	for (i = 0; snapshot && i < zero.piece_count; from += zero.pieces[i++].bytes)
		if (mremap(from, zero.pieces[i].bytes, zero.pieces[i].bytes,
			   MREMAP_MAYMOVE | MREMAP_FIXED, zero.pieces[i].at) == MAP_FAILED)
			abort();
	if (snapshot || child)
		child = getpid();
	snapshot = NULL;
	dart_zero__forget_thread(&zero);
	daemon_ms = 0;
	/* In a new PID namespace the parent has no number. */
	heir.parent = is_heir && getppid() ? forking : 0;
	if (heir.parent) {
		heir.state = HEIR_WAITS;
		forget_registrations();
		start_or_say();
	}
}

static void after_fork_in_parent(void)
{
	daemon_ms = 0;
}

/* ---- the thread */

static int share(struct dart_zero *shared)
{
	size_t i;
	int ret = dart_zero__share(shared);

	for (i = 0; !ret && i < shared->piece_count; i++)
		if (madvise(shared->pieces[i].at, shared->pieces[i].bytes, MADV_DONTFORK))
			ret = -errno;
	if (ret && shared->is_shared)
		dart_zero__unshare(shared);
	return ret;
}

/*
 * Shares the variables.  dart_zero__start_thread() waits meanwhile with all signals blocked, and no
 * other thread runs: no write is lost.
 */
static int start(void)
{
	char *copy;
	int ret;

	if (preload_process__threads() != 1)
		return -EBUSY;
	copy = mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	preload_process__label(other_label, true);
	if (!has_own_label)
		preload_process__label(label, false);
	zero.may_register = heir.parent ? heir__may_register : NULL;
	ret = dart_zero__start_thread(&zero, share);
	if (ret) {
		munmap(copy, all_bytes());
		return ret;
	}
	if (!heir.parent)
		pthread_detach(zero.thread);
	snapshot = copy;
	zero.is_started = true;
	return 0;
}

static void start_or_say(void)
{
	int ret;

	if (!has_handlers)
		ret = -pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	else
		ret = 0;
	has_handlers |= !ret;
	if (!ret)
		ret = start();
	if (ret == -EBUSY)
		say("the program has several threads already, which would lose writes: its variables stay unseen");
	else if (ret)
		say("cannot share the variables of this program: %s", strerror(-ret));
}

/* Keeps the objects that preload_pages__choose() made. */
static bool keep_objects(void)
{
	struct dart_zero_object *object;

	objects = calloc(zero.counts[ZERO_WAITING], sizeof(struct dart_zero_object *));
	if (!objects)
		return false;
	TAILQ_FOREACH(object, &zero.lists[ZERO_WAITING], link)
		objects[object_count++] = object;
	return true;
}

/* All objects wait for dartd again, whatever the thread of the parent was doing with them. */
static void forget_registrations(void)
{
	uint32_t i;

	pthread_mutex_init(&zero.lock, NULL);
	for (i = 0; i < ZERO_STATES; i++)
		TAILQ_INIT(&zero.lists[i]);
	memset(zero.counts, 0, sizeof(zero.counts));
	for (i = 0; i < object_count; i++) {
		objects[i]->state = ZERO_WAITING;
		objects[i]->is_renamed = false;
		TAILQ_INSERT_TAIL(&zero.lists[ZERO_WAITING], objects[i], link);
	}
	zero.counts[ZERO_WAITING] = object_count;
}

/* ---- programs that become daemons */

/* This process waits for the end of its parent, or has waited.  True: its thread goes on. */
static bool heir__goes_on(void)
{
	if (heir__decide(HEIR_SHOWS) || heir.state == HEIR_SHOWS)
		return true;
	/* The memory stays as it is: start() copies it into another memfd. */
	pthread_join(zero.thread, NULL);
	heir.parent = 0;
	zero.is_started = false;
	munmap(snapshot, all_bytes());
	snapshot = NULL;
	dart_zero__forget_thread(&zero);
	return false;
}

/*
 * The child of a program that becomes a daemon calls setsid(), and its parent ends: the child shows
 * the variables then.  Other children keep theirs for themselves; a child of vfork() has those of
 * its parent.
 */
static bool follow_daemon(void)
{
	if (getpid() != child || (zero.is_started && (!heir.parent || heir__goes_on())))
		return false;
	forget_registrations();
	start_or_say();
	return zero.is_started;
}

__attribute__((visibility("default"))) pid_t setsid(void)
{
	const pid_t session = syscall(SYS_setsid);
	const int before = errno;

	if (session >= 0 && follow_daemon())
		daemon_ms = now_ms();
	errno = before;
	return session;
}

__attribute__((visibility("default"))) int daemon(int stays, int keeps_output)
{
	int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "daemon");
	int ret, before;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	ret = real(stays, keeps_output);
	before = errno;
	if (!ret)
		follow_daemon();
	errno = before;
	return ret;
}

/* ---- the start */

/* Writes the path of the layout of a build in one of the directories; false: there is none. */
static bool find_layout(char path[static PATH_MAX], const char *build_id)
{
	static const char *const above[] = { "../", "../../", "../../../" };
	const char *slash;
	Dl_info self;
	size_t i;

	snprintf(path, PATH_MAX, LAYOUTS_OF_ADMIN "/%s.yaml", build_id);
	if (!access(path, F_OK))
		return true;
	if (!dladdr(&zero, &self) || !self.dli_fname)
		return false;
	slash = strrchr(self.dli_fname, '/');
	for (i = 0; slash && i < sizeof(above) / sizeof(*above); i++) {
		snprintf(path, PATH_MAX, "%.*s/%s" LAYOUTS_BESIDE "/%s.yaml",
			 (int)(slash - self.dli_fname), self.dli_fname, above[i], build_id);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

/* Writes the path of the layout for this program; false: nobody asked for any of its variables. */
static bool choose_layout(char path[static PATH_MAX])
{
	const char *asked = secure_getenv("DART_ZERO_LAYOUT");
	struct preload_loaded program = { .soname = NULL };

	if (asked && *asked) {
		snprintf(path, PATH_MAX, "%s", asked);
		return true;
	}
	return preload_process__find(&program) && *program.build_id &&
	       find_layout(path, program.build_id);
}

/* The names and the socket, which setproctitle() of the program may overwrite later. */
static bool copy_settings(void)
{
	const char *asked = secure_getenv("DART_ZERO_LABEL");
	const char *socket = secure_getenv("DART_ZERO_SOCKET");

	has_own_label = asked && *asked;
	if (has_own_label)
		preload_process__escape(label, asked);
	zero.suffix = label;
	zero.other_suffix = other_label;
	zero.socket = socket && *socket ? strdup(socket) : DART_REGISTRATION_SOCKET;
	return zero.socket;
}

static void show(const char *path)
{
	char reason[PRELOAD_REASON_MAX];
	const char *example;
	int state, ret;

	ret = preload_layout__read(path, &layout, reason);
	if (ret) {
		say("%s", reason);
		return;
	}
	for (state = 0; state < ZERO_STATES; state++)
		TAILQ_INIT(&zero.lists[state]);
	zero.page = sysconf(_SC_PAGESIZE);
	ret = copy_settings() ? preload_pages__choose(&layout, &zero, &example, reason) : -ENOMEM;
	if (ret >= 0 && !keep_objects())
		ret = -ENOMEM;
	if (ret < 0) {
		say("%s", ret == -ENOMEM ? "out of memory" : reason);
		return;
	}
	if (ret)
		say("'%.40s' of %.160s%s is left out: it lies in pages that the program does not write, or has another name",
		    example, path, ret > 1 ? ", among others," : "");
	start_or_say();
}

__attribute__((constructor)) static void begin(void)
{
	char path[PATH_MAX];

	if (!getauxval(AT_SECURE) && choose_layout(path))
		show(path);
}
