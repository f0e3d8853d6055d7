// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared_counter [unmapped]: counts to 42 in memory that it shares with a child, as servers do
 * whose workers count.  Only the child uses the memory, so that only the child has mapped its page:
 * fork(2) copies no mapping of shared memory.  With "unmapped" the parent has unmapped the memory
 * by then.  Prints "ready", and waits for its end.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

volatile uint64_t *shared_counter; /* has a symbol, which a layout names */

int main(int argc, char **argv)
{
	int counted[2];
	char byte;

	shared_counter = mmap(NULL, sizeof(*shared_counter), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared_counter == MAP_FAILED || pipe(counted)) {
		perror("shared_counter");
		return EXIT_FAILURE;
	}
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (*shared_counter < 42)
			++*shared_counter;
		if (write(counted[1], "", 1) != 1)
			return EXIT_FAILURE;
		pause();
	}
	close(counted[1]);
	if (read(counted[0], &byte, 1) != 1)
		return EXIT_FAILURE;
	if (argc > 1)
		munmap((void *)shared_counter, sizeof(*shared_counter));
	puts("ready");
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
