// SPDX-License-Identifier: GPL-2.0-only
/* Reads of addresses that may not be readable. */
#include "peek.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "test.h"

static _Thread_local sigjmp_buf unreadable;
static _Thread_local volatile bool is_peeking;

static void on_fault(int signal)
{
	if (is_peeking)
		siglongjmp(unreadable, 1);
	abort();
}

void peek_init(void)
{
	const struct sigaction action = {
		.sa_handler = on_fault,
		.sa_flags = SA_NODEFER,
	};

	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
}

bool peek(const volatile char *address, uint64_t *value)
{
	if (sigsetjmp(unreadable, 0)) {
		is_peeking = false;
		return false;
	}
	is_peeking = true;
	*value = *(const volatile uint64_t *)address;
	is_peeking = false;
	return true;
}
