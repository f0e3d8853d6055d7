// SPDX-License-Identifier: GPL-2.0-only
/* Files of epochs. */
#include <fcntl.h>
#include <unistd.h>

#include <libdart/store/epoch_file.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dart_store_rule rule = { DART_STORE_PLURALITY, 0 };
	struct dart_store_answer answer;
	struct dart_epoch_file *file;
	struct dart_error error = {};
	uint8_t key;
	int fd;

	fd = open(file_of(data, size), O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	if (dart_epoch_file__open(fd, &file, &error)) {
		require_sentence(&error);
	} else {
		require(!dart_store_geometry__check(&dart_epoch_file__epoch(file)->geometry));
		for (key = 0; key < 16; key++)
			if (dart_epoch_file__query(file, &key, sizeof(key), &rule, &answer, &error))
				require_sentence(&error);
		dart_epoch_file__close(file);
	}
	close(fd);
	return 0;
}
