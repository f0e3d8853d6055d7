// SPDX-License-Identifier: GPL-2.0-only
/*
 * nat_csv KIND COUNT SEED VERSION: prints the NAT entries of nat_entry.h as CSV, as
 * dartctl table import reads them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "selftests/lib/nat_entry.h"

static unsigned int port(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static void print(const struct nat_entry *entry)
{
	const uint8_t *key = entry->key, *value = entry->value;

	printf("%u.%u.%u.%u,%u.%u.%u.%u,%u,%u,%u,%u.%u.%u.%u,%u,%s\n", key[0], key[1], key[2],
	       key[3], key[4], key[5], key[6], key[7], port(key + 8), port(key + 10), key[12],
	       value[0], value[1], value[2], value[3], port(value + 4),
	       value[6] ? "source" : "destination");
}

int main(int argc, char *argv[])
{
	uint64_t count, seed, i;
	struct nat_entry entry;
	uint32_t version;
	bool is_random;

	if (argc != 5 || nat_entry__find_kind(argv[1], &is_random)) {
		fputs("usage: nat_csv random|consecutive COUNT SEED VERSION\n", stderr);
		return EXIT_FAILURE;
	}
	count = strtoull(argv[2], NULL, 10);
	seed = strtoull(argv[3], NULL, 10);
	version = strtoul(argv[4], NULL, 10);
	puts("src,dst,sport,dport,proto,address,port,rewrite");
	for (i = 0; i < count; i++) {
		entry = nat_entry__make(is_random, seed, i, version);
		print(&entry);
	}
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
