// SPDX-License-Identifier: GPL-2.0-only
/* replay DIRECTORY: gives each file in it to the harness that this is linked with. */
#include <dirent.h>

#include "fuzz.h"

static void replay(const char *directory, const char *name)
{
	char path[4096];
	struct stat status;
	uint8_t *bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	require(file && !fstat(fileno(file), &status));
	bytes = malloc(status.st_size + 1);
	require(bytes && fread(bytes, 1, status.st_size + 1, file) == (size_t)status.st_size);
	fclose(file);
	/* Known if it does not come back. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, status.st_size);
	free(bytes);
}

int main(int argc, char *argv[])
{
	DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
	const struct dirent *entry;
	unsigned int count = 0;

	if (!directory) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(directory))) {
		if (*entry->d_name == '.')
			continue;
		replay(argv[1], entry->d_name);
		count++;
	}
	closedir(directory);
	printf("%u inputs\n", count);
	return !count;
}
