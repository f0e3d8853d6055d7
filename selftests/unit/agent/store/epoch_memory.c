// SPDX-License-Identifier: GPL-2.0-only
/* The banks of a store with epochs, also after a kill between any two instructions. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/store/epoch_memory.h"
#include "selftests/unit/unit.h"

#define LENGTH 24 /* bytes of slots */
#define FIRST_NS 1000

static const __be32 addresses[2] = { 0x0100000a, 0x0200000a };

static uint8_t *map(void)
{
	uint8_t *address = mmap(NULL, DART_EPOCH_MEMORY_LENGTH(LENGTH), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(address != MAP_FAILED);
	return address;
}

static void unmap(uint8_t *address)
{
	munmap(address, DART_EPOCH_MEMORY_LENGTH(LENGTH));
}

static void test_turns(void **state)
{
	struct epoch_memory memory;
	uint8_t *address = map();
	uint64_t since;

	epoch_memory__open(&memory, address, LENGTH, true, FIRST_NS);
	assert_int_equal(epoch_memory__current(&memory)->since_ns, FIRST_NS);
	assert_true(epoch_memory__is_clear(&memory) && !epoch_memory__is_full(&memory));
	memset(epoch_memory__slots(&memory, 0), 1, LENGTH);
	epoch_memory__turn(&memory, 2000, addresses, 2);
	assert_int_equal(memory.state->current, 1);
	assert_int_equal(epoch_memory__current(&memory)->since_ns, 2000);
	assert_true(epoch_memory__is_full(&memory) && !epoch_memory__is_clear(&memory));
	assert_int_equal(memory.state->banks[0].until_ns, 2000);
	assert_int_equal(memory.state->banks[0].reporters, 2);
	assert_memory_equal(memory.state->banks[0].addresses, addresses, sizeof(addresses));
	epoch_memory__clear(&memory);
	assert_true(epoch_memory__is_clear(&memory) && !epoch_memory__is_full(&memory));
	assert_int_equal(epoch_memory__slots(&memory, 0)[LENGTH - 1], 0);
	/* The clock was set back. */
	epoch_memory__turn(&memory, 5, addresses, 0);
	since = epoch_memory__current(&memory)->since_ns;
	assert_int_equal(memory.state->current, 0);
	assert_int_equal(since, 5);
	assert_int_equal(memory.state->banks[1].since_ns, 2000);
	assert_int_equal(memory.state->banks[1].until_ns, 2001);
	assert_true(epoch_memory__is_full(&memory));
	/* The next dartd finds them as they are. */
	epoch_memory__open(&memory, address, LENGTH, false, 7);
	assert_int_equal(epoch_memory__current(&memory)->since_ns, 5);
	assert_int_equal(memory.state->banks[1].until_ns, 2001);
	epoch_memory__clear(&memory);
	/* And the time goes on from there. */
	epoch_memory__turn(&memory, 60, addresses, 0);
	assert_int_equal(memory.state->banks[0].until_ns, 60);
	assert_int_equal(epoch_memory__current(&memory)->since_ns, 60);
	epoch_memory__clear(&memory);
	/* A clock that stands still. */
	epoch_memory__turn(&memory, 60, addresses, 0);
	assert_int_equal(memory.state->banks[1].until_ns, 61);
	assert_int_equal(epoch_memory__current(&memory)->since_ns, 61);
	unmap(address);
}

static void test_other_contents(void **state)
{
	struct epoch_memory memory;
	uint8_t *address = map();
	uint32_t i;

	/* Anything may be in a file. */
	for (i = 0; i < 3; i++) {
		memset(address, 0x5a, DART_EPOCH_MEMORY_LENGTH(LENGTH));
		memory.state = (void *)(address + DART_EPOCH_BANKS * DART_EPOCH_STRIDE(LENGTH));
		if (i)
			memory.state->magic = DART_EPOCH_MEMORY_MAGIC;
		if (i == 2)
			memory.state->current = 1;
		epoch_memory__open(&memory, address, LENGTH, false, FIRST_NS);
		assert_int_equal(epoch_memory__current(&memory)->since_ns, FIRST_NS);
		assert_int_equal(epoch_memory__current(&memory)->until_ns, 0);
		assert_true(epoch_memory__is_clear(&memory));
		assert_int_equal(*epoch_memory__slots(&memory, 0), 0);
		assert_int_equal(epoch_memory__slots(&memory, 1)[LENGTH - 1], 0);
	}
	unmap(address);
}

/* Reports may be late, so a clear bank may have been written again. */
static void test_sweep(void **state)
{
	struct epoch_memory memory;
	uint8_t *address = map();
	uint8_t *slots;

	epoch_memory__open(&memory, address, LENGTH, true, FIRST_NS);
	slots = epoch_memory__slots(&memory, 1);
	assert_int_equal(epoch_memory__sweep(&memory, 8), 0);
	slots[0] = 1;
	slots[7] = 1;
	slots[LENGTH - 1] = 1;
	epoch_memory__slots(&memory, 0)[8] = 1; /* of the present epoch */
	assert_int_equal(epoch_memory__sweep(&memory, 8), 2);
	assert_int_equal(slots[0] | slots[7] | slots[LENGTH - 1], 0);
	assert_int_equal(epoch_memory__slots(&memory, 0)[8], 1);
	assert_int_equal(epoch_memory__sweep(&memory, 8), 0);
	assert_true(epoch_memory__is_clear(&memory));
	unmap(address);
}

/* ---- kills */

static void turn(struct epoch_memory *memory)
{
	epoch_memory__turn(memory, 3000, addresses, 2);
}

/* The epoch of FIRST_NS is in use or full, and no other one but its successor is there. */
static bool check_turn(const struct epoch_memory *memory)
{
	const struct dart_epoch_bank *now = epoch_memory__current(memory);
	const struct dart_epoch_bank *former = &memory->state->banks[epoch_memory__other(memory)];

	assert_int_equal(now->until_ns, 0);
	if (now->since_ns == FIRST_NS) {
		assert_false(epoch_memory__is_full(memory));
		return false;
	}
	assert_int_equal(now->since_ns, 3000);
	assert_true(epoch_memory__is_full(memory) && !epoch_memory__is_clear(memory));
	assert_int_equal(former->since_ns, FIRST_NS);
	assert_int_equal(former->until_ns, 3000);
	assert_int_equal(former->reporters, 2);
	return true;
}

/* The full epoch is there, or its bank waits to be cleared, or is clear. */
static bool check_clear(const struct epoch_memory *memory)
{
	const uint32_t other = epoch_memory__other(memory);

	assert_int_equal(epoch_memory__current(memory)->since_ns, 3000);
	if (epoch_memory__is_full(memory))
		assert_int_equal(memory->state->banks[other].until_ns, 3000);
	if (epoch_memory__is_clear(memory))
		assert_int_equal(epoch_memory__slots(memory, other)[LENGTH - 1], 0);
	return epoch_memory__is_clear(memory);
}

/*
 * A child does @change of the memory at @address, an instruction at a time; after each of them
 * another dartd opens a copy of the memory, for which @check returns whether @change is complete.
 */
static void kill_everywhere(uint8_t *address, void (*change)(struct epoch_memory *memory),
			    bool (*check)(const struct epoch_memory *memory))
{
	const size_t state_at = DART_EPOCH_BANKS * DART_EPOCH_STRIDE(LENGTH);
	struct epoch_memory memory, next;
	bool was_complete = false;
	uint8_t *copy = map();
	uint32_t steps = 0, bank;
	int status;
	pid_t child;

	epoch_memory__open(&memory, address, LENGTH, false, FIRST_NS);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		change(&memory);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	while (WIFSTOPPED(status)) {
		memcpy(copy + state_at, address + state_at, sizeof(struct dart_epoch_memory));
		for (bank = 0; bank < DART_EPOCH_BANKS; bank++)
			memcpy(copy + bank * DART_EPOCH_STRIDE(LENGTH),
			       address + bank * DART_EPOCH_STRIDE(LENGTH), LENGTH);
		epoch_memory__open(&next, copy, LENGTH, false, 99);
		if (was_complete)
			assert_true(check(&next));
		else
			was_complete = check(&next);
		steps++;
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_true(was_complete && steps > 50);
	unmap(copy);
}

static void test_kills(void **state)
{
	struct epoch_memory memory;
	uint8_t *address = map();

	epoch_memory__open(&memory, address, LENGTH, true, FIRST_NS);
	memset(epoch_memory__slots(&memory, 0), 1, LENGTH);
	kill_everywhere(address, turn, check_turn);
	kill_everywhere(address, epoch_memory__clear, check_clear);
	unmap(address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a turn ends an epoch where the next one begins, and a bank is cleared for it",
		     test_turns),
		TEST("memory with other contents is cleared", test_other_contents),
		TEST("slots that were written after their bank was cleared are counted and cleared",
		     test_sweep),
		TEST("a kill after any instruction of a turn or a clearing loses no epoch",
		     test_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
