/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers that share targets out between them, without talking to each other: rendezvous
 * hashing (Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998).
 *
 * Each of the members 1 to N gives each target a score, which depends on the member and on the name
 * of the target alone: XXH3 of 64 bits, with the number of the member as its seed, over the bytes
 * of HOST:PORT.  The members in the order of their scores, highest first, are the order of the
 * target.  The first of them scrapes it; members 2 to R stand by: they are connected, READ the
 * target now and then, and pass nothing to outputs.  If a member is added, it takes its part of the
 * targets from all others, and no target moves between these.
 *
 * All controllers compute this, also of different versions: the function must not change.
 */
#ifndef CONTROLLER_SHARD_H
#define CONTROLLER_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#define SHARD_MEMBERS_MAX 1024U
/* How often a member READs a target for which it stands by. */
#define SHARD_STANDBY_DEFAULT_NS 60000000000ULL
/* How long a member that joins lets the others see the list that names it. */
#define SHARD_HANDOVER_DEFAULT_NS 5000000000ULL

struct shard {
	unsigned int member; /* this controller, from 1; 0: it scrapes all targets */
	unsigned int members; /* number of controllers; 0: not set, or a file lists them */
	/* Members that scrape a target or stand by for it; 0: not set, so one */
	unsigned int replication;
	uint64_t standby_ns; /* between two READs of a member that stands by; 0: not set */
	char *file; /* that lists the members, see below; owned by the settings; or NULL */
	uint64_t handover_ns; /* until a member that joins scrapes; 0: not set */
};

/* The targets of all sources, by what a member does with them. */
struct shard_parts {
	size_t own; /* it scrapes these */
	size_t standby; /* it stands by for these */
	size_t left; /* only others connect to these */
};

/* Returns 0, or -EINVAL with a sentence in @error if a number is missing or beyond another one. */
int shard__check(const struct shard *shard, struct dart_error *error);

/* The score of @member for the target @name; of equal scores the lower number comes first. */
uint64_t shard__score(const char *name, unsigned int member);
/* The time between two READs by members that stand by, with the default. */
uint64_t shard__standby_ns(const struct shard *shard);

/* ---- the members that are there */

/*
 * The members of a shard that are there, as one of them knows: a list, and the news that it has
 * changed.  The configuration gives the list, or a source that somebody else writes; whoever reads
 * it calls membership__take() for each list, and nothing for a source that fails, so that the last
 * list counts on.
 *
 * At each moment at most one member that the newest list names scrapes a target, if
 *
 *   - each member takes a list at most handover_ns after it was made, or its list is not valid any
 *     more by then; it may leave lists out, and
 *   - a member that a list left out is named again handover_ns later at the earliest.
 *
 * For this a member that joins stands by for handover_ns before it scrapes, or until a list says
 * that all other members use a list that names it: until then they have stopped.  A member that was
 * there before takes over at once, because then only members that are gone come before it.  A
 * member that is not in the list stands by where it would scrape, and so does a member whose list
 * is not valid any more; for the next list it joins anew.
 *
 * A list may also say which targets a member cannot reach, by portions: each target belongs to one
 * of SHARD_PORTIONS by its name.  Members that cannot reach its portion come after all others in
 * the order of a target; if no member reaches it, the order is the plain one.  At each moment at
 * most one member scrapes a target then, too, if
 *
 *   - a list names portions that another member cannot reach only once the controller of that member
 *     has used a list that names them, and
 *   - a list names portions that the own member could not reach until all others have used a list
 *     that does not name them any more.
 *
 * So of two members, whenever the second one passes over the first one, the first one passes over
 * itself.  The first members of the plain order stand by in any case, and find out when they reach
 * a target again; they alone say that they do not, so that a target that nobody reaches moves at
 * most as often as there are such members.
 *
 * Pure code: the caller tells the time, CLOCK_BOOTTIME in ns, as base/validity.h does.
 */
/* Of all targets, by their names. */
#define SHARD_PORTIONS 2048U
/* Members with higher numbers cannot say which targets they do not reach. */
#define SHARD_UNREACHED_MEMBERS 64U
/* Characters of a set of portions, with a NUL. */
#define PORTION_SET_TEXT (SHARD_PORTIONS / 4 + 1)

/* Bit I stands for portion I. */
struct portion_set {
	uint64_t bits[SHARD_PORTIONS / 64];
};

/* Bit I - 1 stands for member I. */
struct member_set {
	uint64_t bits[SHARD_MEMBERS_MAX / 64];
};

/* A list of members, as its source made it. */
struct member_list {
	struct member_set present;
	uint64_t valid_ns; /* until then; 0: without an end */
	uint64_t version; /* a number that its writer gave it; 0: none */
	bool is_agreed; /* all other members use a list that names the own member if this one does */
	uint64_t session_ns; /* others replace a member that is silent so long; 0: not told */
	/* Portions that member I + 1 cannot reach. */
	struct portion_set unreached[SHARD_UNREACHED_MEMBERS];
};

struct membership {
	struct shard shard; /* its file is borrowed or NULL */
	bool is_listed; /* somebody else makes the list; otherwise members 1 to N are there */
	bool is_known; /* there was a list */
	struct member_set present; /* of the last list */
	uint64_t valid_ns; /* of the last list: until when it is valid; 0: without an end */
	uint64_t version; /* of the last list */
	bool is_agreed; /* of the last list */
	uint64_t session_ns; /* of the last list */
	struct portion_set unreached[SHARD_UNREACHED_MEMBERS]; /* of the last list */
	uint64_t ready_ns; /* this member joined, and scrapes from then on */
};

enum shard_role {
	SHARD_OWN, /* this member scrapes the target */
	SHARD_STANDBY, /* it stands by for the target */
	SHARD_LEFT, /* it leaves the target to others */
};

static inline bool member_set__has(const struct member_set *set, unsigned int member)
{
	return set->bits[(member - 1) / 64] >> ((member - 1) % 64) & 1;
}

static inline void member_set__add(struct member_set *set, unsigned int member)
{
	set->bits[(member - 1) / 64] |= 1ULL << ((member - 1) % 64);
}

static inline void member_set__remove(struct member_set *set, unsigned int member)
{
	set->bits[(member - 1) / 64] &= ~(1ULL << ((member - 1) % 64));
}

unsigned int member_set__count(const struct member_set *set);

/* The portion of the target @name: XXH3 of 64 bits over HOST:PORT, modulo SHARD_PORTIONS. */
unsigned int shard__portion(const char *name);

static inline bool portion_set__has(const struct portion_set *set, unsigned int portion)
{
	return set->bits[portion / 64] >> (portion % 64) & 1;
}

static inline void portion_set__add(struct portion_set *set, unsigned int portion)
{
	set->bits[portion / 64] |= 1ULL << (portion % 64);
}

static inline void portion_set__remove(struct portion_set *set, unsigned int portion)
{
	set->bits[portion / 64] &= ~(1ULL << (portion % 64));
}

bool portion_set__is_empty(const struct portion_set *set);
/* As hexadecimal digits; of each 16 the first one stands for the highest four portions. */
void portion_set__print(const struct portion_set *set, char text[static PORTION_SET_TEXT]);
/* Returns 0, or -EINVAL with @set as before. */
int portion_set__parse(const char *text, struct portion_set *set);

/* Begins with the members of @shard, or with an unknown list if a file lists them. */
void membership__begin(struct membership *membership, const struct shard *shard);
/*
 * The same while a program runs: if a file lists the members, and this one has the same number, the
 * members that were there are the list until the file is read.
 */
void membership__follow(struct membership *membership, const struct shard *shard);
/* @list is the list from now on.  True if roles may differ from before. */
bool membership__take(struct membership *membership, const struct member_list *list,
		      uint64_t now_ns);
/* When roles change without another list; 0: never. */
uint64_t membership__change_ns(const struct membership *membership, uint64_t now_ns);
/* False once the last list is not valid any more. */
bool membership__is_valid(const struct membership *membership, uint64_t now_ns);

/* How many members are there; 0: not known, or there is no shard. */
unsigned int membership__count(const struct membership *membership);
/*
 * How many other members that are there come before @member in the plain order of the target @name,
 * in which it does not matter who reaches it.
 */
unsigned int membership__rank(const struct membership *membership, const char *name,
			      unsigned int member);
/* The same, in the order in which members that cannot reach the target come last. */
unsigned int membership__place(const struct membership *membership, const char *name,
			       unsigned int member);
/* What the own member does with the target @name: scrape it, if there is no shard. */
enum shard_role membership__role(const struct membership *membership, const char *name,
				 uint64_t now_ns);
/*
 * Is @member there, and one of the first @replication members in the plain order of the target
 * @name (0: the first one)?  Each is, if there is no shard.
 */
bool membership__has(const struct membership *membership, const char *name, unsigned int member,
		     unsigned int replication);
/*
 * Sets order[place] to the member at this place in the order of the target @name.  Returns how many
 * members are there.
 */
unsigned int membership__order(const struct membership *membership, const char *name,
			       unsigned int order[static SHARD_MEMBERS_MAX]);

#endif /* CONTROLLER_SHARD_H */
