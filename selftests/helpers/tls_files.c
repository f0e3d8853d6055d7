// SPDX-License-Identifier: GPL-2.0-only
/*
 * tls_files DIRECTORY NAME...: makes an authority and certificates for these names in
 * DIRECTORY, see selftests/lib/tls_files.h.
 */
#include <stdio.h>

#include "selftests/lib/tls_files.h"

int main(int argc, char *argv[])
{
	if (argc < 3) {
		fputs("usage: tls_files DIRECTORY NAME...\n", stderr);
		return 2;
	}
	tls_files__make(argv[1], (const char *const *)argv + 2, argc - 2);
	return 0;
}
