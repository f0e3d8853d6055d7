/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metrics of a program in memory that controllers READ while the program runs: an update costs what
 * it costs in any other variable, and nothing in the program runs to show it.
 *
 *	struct web {
 *		uint64_t requests;
 *		uint32_t connections;
 *	};
 *	DART_ZERO_TYPE(web, struct web,
 *		       DART_ZERO_COUNTER(struct web, requests, "requests"),
 *		       DART_ZERO_GAUGE(struct web, connections, ""));
 *
 *	DART_ZERO struct web site;
 *	DART_ZERO_VARIABLE(site, web);
 *
 *	int main(void)
 *	{
 *		struct web *peer;
 *
 *		dart_zero_start("shop", 1 << 16);
 *		peer = dart_zero_malloc(&dart_zero_web, "peer-1");
 *		site.requests++;
 *		peer->requests++;
 *
 * shows the entries shop/site and shop/peer-1.  These are the two types of metrics of the ZERO
 * paper (USENIX ATC 2022, figure 6): variables that an attribute places side by side in one
 * section, and objects of an allocator.  Both lie in one memfd of the program, which dartd maps for
 * reading.
 *
 * The program works the same without dartd, before it starts and after it ends.  A thread that
 * takes no signal and sleeps while nothing changes hands the memfd to each dartd that appears.
 * The thread has a table of descriptors of its own, so the program may close all of its own.
 * fork() gives the child a private copy, which is not shown unless the child calls
 * dart_zero_start().
 *
 * Link it statically: each program has its own section.
 */
#ifndef DART_ZERO_LIBRARY_H
#define DART_ZERO_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a value changes, as in <dart/control.h>. */
enum dart_zero_kind {
	DART_ZERO_KIND_COUNTER, /* only grows */
	DART_ZERO_KIND_GAUGE,
	DART_ZERO_KIND_SEQUENCE, /* see dart_zero_begin() */
	DART_ZERO_KIND_TEXT, /* as many bytes as the width, up to the first 0 */
};

struct dart_zero_field {
	const char *name; /* letters, digits and _-.:/@+=%~[] */
	const char *unit; /* "" without one */
	uint32_t offset; /* bytes from the start of the object */
	uint32_t width; /* bytes of an element: 1, 2, 4 or 8; of a text any number */
	uint32_t count; /* elements */
	enum dart_zero_kind kind;
	uint32_t is_signed;
};

/* A description of objects: at most 1,024 fields. */
struct dart_zero_type {
	const char *name;
	uint32_t length; /* bytes of an object */
	uint32_t field_count;
	const struct dart_zero_field *fields;
};

struct dart_zero_variable {
	const char *name;
	void *memory;
	const struct dart_zero_type *type;
};

/* The sections of a program; made by dart_zero_start(). */
struct dart_zero_sections {
	char *first, *end; /* the variables, and a page after them */
	const struct dart_zero_variable *const *variables, *const *variables_end;
};

/* @elements: 1, or those of an array. */
#define DART_ZERO_FIELD(type_, member_, unit_, elements_, kind_, is_signed_)                       \
	{                                                                                          \
		#member_, unit_, (uint32_t)offsetof(type_, member_),                               \
			(uint32_t)(sizeof(((type_ *)0)->member_) / (elements_)), elements_, kind_, \
			is_signed_                                                                 \
	}
#define DART_ZERO_COUNTER(type_, member_, unit_) \
	DART_ZERO_FIELD(type_, member_, unit_, 1, DART_ZERO_KIND_COUNTER, 0)
#define DART_ZERO_COUNTERS(type_, member_, unit_, elements_) \
	DART_ZERO_FIELD(type_, member_, unit_, elements_, DART_ZERO_KIND_COUNTER, 0)
#define DART_ZERO_GAUGE(type_, member_, unit_) \
	DART_ZERO_FIELD(type_, member_, unit_, 1, DART_ZERO_KIND_GAUGE, 0)
#define DART_ZERO_GAUGES(type_, member_, unit_, elements_) \
	DART_ZERO_FIELD(type_, member_, unit_, elements_, DART_ZERO_KIND_GAUGE, 0)
#define DART_ZERO_SIGNED_GAUGE(type_, member_, unit_) \
	DART_ZERO_FIELD(type_, member_, unit_, 1, DART_ZERO_KIND_GAUGE, 1)
/* An array of characters. */
#define DART_ZERO_TEXT(type_, member_) \
	DART_ZERO_FIELD(type_, member_, "", 1, DART_ZERO_KIND_TEXT, 0)
#define DART_ZERO_SEQUENCE(type_, member_) \
	DART_ZERO_FIELD(type_, member_, "", 1, DART_ZERO_KIND_SEQUENCE, 0)

/* Describes objects of type_, a structure, as dart_zero_NAME; the fields follow. */
#define DART_ZERO_TYPE(name_, type_, ...)                                                       \
	static const struct dart_zero_field dart_zero_fields_##name_[] = { __VA_ARGS__ };       \
	static const struct dart_zero_type dart_zero_##name_ __attribute__((unused)) = {        \
		#name_, (uint32_t)sizeof(type_),                                                \
		(uint32_t)(sizeof(dart_zero_fields_##name_) / sizeof(struct dart_zero_field)),  \
		dart_zero_fields_##name_                                                        \
	}

/* Linkers with --gc-sections drop what only the bounds of a section refer to. */
#ifdef __has_attribute
#if __has_attribute(retain)
#define DART_ZERO_KEPT __attribute__((used, retain))
#endif
#endif
#ifndef DART_ZERO_KEPT
#define DART_ZERO_KEPT __attribute__((used))
#endif

/* The attribute of a variable whose values are shown: placed beside the others. */
#define DART_ZERO DART_ZERO_KEPT __attribute__((section("dart_zero"), aligned(64)))

/* Shows the DART_ZERO variable_, of a type that DART_ZERO_TYPE(type_name_, ...) describes. */
#define DART_ZERO_VARIABLE(variable_, type_name_)                                                 \
	static const struct dart_zero_variable dart_zero_variable_##variable_ = {                 \
		#variable_, &(variable_), &dart_zero_##type_name_                                 \
	};                                                                                        \
	DART_ZERO_KEPT __attribute__((section(                                                    \
		"dart_zero_variables"))) static const struct dart_zero_variable                   \
		*const dart_zero_shown_##variable_ = &dart_zero_variable_##variable_

struct dart_zero_status {
	uint32_t registered; /* entries that dartd lists */
	uint32_t waiting; /* for dartd, or for its answer */
	uint32_t refused; /* by dartd */
	char reason[256]; /* the last refusal or failure; "" without one */
};

extern char __start_dart_zero[] __attribute__((weak, visibility("hidden")));
extern char __stop_dart_zero[] __attribute__((weak, visibility("hidden")));
extern const struct dart_zero_variable *const __start_dart_zero_variables[]
	__attribute__((weak, visibility("hidden")));
extern const struct dart_zero_variable *const __stop_dart_zero_variables[]
	__attribute__((weak, visibility("hidden")));

/* See dart_zero_start().  @socket: path of the socket of dartd. */
int dart_zero_start_sections(const struct dart_zero_sections *sections, const char *name,
			     size_t room, const char *socket);

/*
 * Shows all DART_ZERO variables as entries NAME/VARIABLE, and keeps @room bytes, at most 1 MiB with
 * the variables, for dart_zero_malloc().  Call it before other threads write the variables, and
 * after daemon().  A child of fork() may call it again, with another name.
 *
 * Returns 0, or -errno: -EALREADY: it was called before; -ENOSYS: this kernel is older than 5.9;
 * -EXDEV: DART_ZERO variables follow libdartzero in the program (name it last when you link).
 * After an error the variables work, unseen.
 */
static inline int dart_zero_start(const char *name, size_t room)
{
	struct dart_zero_sections sections;

	sections.first = __start_dart_zero;
	sections.end = __stop_dart_zero;
	sections.variables = __start_dart_zero_variables;
	sections.variables_end = __stop_dart_zero_variables;
	return dart_zero_start_sections(&sections, name, room, NULL);
}

/* Ends the entries and the thread.  Variables and objects keep their values. */
void dart_zero_stop(void);

/*
 * Allocates an object, zeroed, aligned to 64 bytes, which is the entry NAME/@name.  If the room is
 * used up, or before dart_zero_start(), the object is ordinary memory, which nobody reads.  NULL:
 * out of memory.
 */
void *dart_zero_malloc(const struct dart_zero_type *type, const char *name);
/* Its bytes are used again when no controller reads them any more.  NULL is ignored. */
void dart_zero_free(void *object);

void dart_zero_get_status(struct dart_zero_status *status);

/*
 * Records of several words that belong together.  Such a type consists of lines of 64 bytes; each
 * begins and ends with a uint32_t, which is a DART_ZERO_SEQUENCE.  One thread at a time calls
 * dart_zero_begin(), writes the other members, and calls dart_zero_end().  Controllers discard
 * values of two updates.  The record is empty until the first end.
 */
struct dart_zero_line {
	uint32_t sequence;
	uint32_t words[14];
	uint32_t last_sequence;
};

/* Stores before it become visible before stores after it, to adapters as well. */
static inline void dart_zero_order_stores(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb oshst" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

static inline void dart_zero_set_sequences(void *record, size_t length, uint32_t sequence)
{
	struct dart_zero_line *line = (struct dart_zero_line *)record;

	for (; length >= sizeof(*line); length -= sizeof(*line), line++) {
		__atomic_store_n(&line->sequence, sequence, __ATOMIC_RELAXED);
		__atomic_store_n(&line->last_sequence, sequence, __ATOMIC_RELAXED);
	}
}

static inline void dart_zero_begin(void *record, size_t length)
{
	dart_zero_set_sequences(record, length, (*(uint32_t *)record + 1) | 1);
	dart_zero_order_stores();
}

static inline void dart_zero_end(void *record, size_t length)
{
	const uint32_t next = *(uint32_t *)record + 1;

	dart_zero_order_stores();
	dart_zero_set_sequences(record, length, next ? next : 2);
}

#ifdef __cplusplus
}
#endif

#endif /* DART_ZERO_LIBRARY_H */
