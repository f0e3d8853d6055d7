/* SPDX-License-Identifier: GPL-2.0-only */
/* Capabilities of the test. */
#ifndef DART_TEST_CAPABILITY_H
#define DART_TEST_CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

/* Takes @capability from this process, or gives it back. */
static inline void capability_set(uint32_t capability, bool has_it)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	const uint32_t bit = 1U << (capability % 32);

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	if (has_it)
		data[capability / 32].effective |= bit;
	else
		data[capability / 32].effective &= ~bit;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

#endif /* DART_TEST_CAPABILITY_H */
