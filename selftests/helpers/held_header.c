// SPDX-License-Identifier: GPL-2.0-only
/*
 * held_header: a process whose ELF header cannot be read: a reader waits until it ends.  Prints
 * "held", or ends with an error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "selftests/lib/held_header.h"

int main(void)
{
	static const char held[] = "held\n";
	const int fd = held_header__open();

	if (fd < 0) {
		perror("held_header: userfaultfd");
		return EXIT_FAILURE;
	}
	if (!held_header__hold(fd))
		syscall(SYS_exit_group, EXIT_FAILURE);
	syscall(SYS_write, STDOUT_FILENO, held, sizeof(held) - 1);
	held_header__wait();
}
