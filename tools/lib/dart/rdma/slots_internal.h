/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The users of a completion queue, and the numbers of their work requests.  A number consists of a
 * slot and an epoch, which no earlier user of the slot used: so a completion of a queue pair that
 * is gone, as soft-RoCE leaves them in the completion queue, belongs to nobody.
 *
 * Pure code.  One thread takes slots and gives them back; another one may enter, leave and find
 * users, if it learns of a number from the first and has left before that gives it back.
 */
#ifndef DART_SLOTS_H
#define DART_SLOTS_H

#include <stdint.h>

#define DART_SLOTS_MAX 4096
#define DART_SLOTS_NONE UINT64_MAX /* the number of no user */
/* No number has this bit: users mark work requests of another kind by it. */
#define DART_SLOTS_MARK (UINT64_C(1) << 63)

/* Of the thread that takes. */
struct dart_slot {
	uint64_t epoch; /* of the present user or the last */
	uint32_t next_free;
};

/* Of the thread that finds. */
struct dart_slot_user {
	uint64_t number;
	void *user; /* NULL: none */
};

struct dart_slots {
	uint32_t count;
	uint32_t first_free; /* count: none */
	struct dart_slot *slots;
	struct dart_slot_user *users;
};

/* For @count users, at most DART_SLOTS_MAX.  Returns 0 or -ENOMEM. */
int dart_slots__open(struct dart_slots *slots, uint32_t count);
/* Also of zeros, or if dart_slots__open() failed. */
void dart_slots__close(struct dart_slots *slots);

/* The number of a new user, or DART_SLOTS_NONE if there is no room. */
uint64_t dart_slots__take(struct dart_slots *slots);
void dart_slots__give_back(struct dart_slots *slots, uint64_t number);

/* @user is found by @number from now on, until it leaves. */
void dart_slots__enter(struct dart_slots *slots, uint64_t number, void *user);
void dart_slots__leave(struct dart_slots *slots, uint64_t number);
/* NULL if the user of @number has left.  Any number is allowed. */
void *dart_slots__find(const struct dart_slots *slots, uint64_t number);
/* Asks for the memory that dart_slots__find() needs. */
void dart_slots__prefetch(const struct dart_slots *slots, uint64_t number);

/*
 * Numbers from 0 of objects that come and go, such as groups of queue pairs: a number that has come
 * back is given again, so all are less than the most objects that there were at once.  For one
 * thread.
 */
/* Zeroed memory has given none. */
struct dart_numbers {
	uint32_t next; /* it and all above were never given */
	uint32_t *back; /* numbers that have come back; room for all below @next */
	uint32_t back_count;
};

/* Returns 0 or -ENOMEM. */
int dart_numbers__take(struct dart_numbers *numbers, uint32_t *number);
void dart_numbers__give_back(struct dart_numbers *numbers, uint32_t number);
void dart_numbers__close(struct dart_numbers *numbers);

#endif /* DART_SLOTS_H */
