// SPDX-License-Identifier: GPL-2.0-only
/* The configuration of a guest, read from its initramfs. */
#include "guest_config.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file__load(const char *path, char **data, size_t *length)
{
	struct stat status;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &status) ? -errno : 0;
	if (err)
		goto out;
	*length = status.st_size;
	*data = calloc(1, *length + 1);
	err = -ENOMEM;
	if (!*data)
		goto out;
	err = transfer__read(fd, *data, *length);
out:
	close(fd);
	return err;
}

static void guest_config__set(struct guest_config *config, char *line)
{
	const struct {
		const char *key;
		const char **value;
	} known[] = {
		{ "name=", &config->name },
		{ "address=", &config->address },
		{ "outside=", &config->outside },
		{ "hosts=", &config->hosts },
		{ "modules=", &config->modules },
		{ "directory=", &config->directory },
		{ "path=", &config->path },
		{ "share=", &config->share },
		{ "manager=", &config->manager },
		{ "root=", &config->root },
		{ "project=", &config->project },
		{ "built=", &config->built },
		{ "copied=", &config->copied },
	};
	size_t i, length;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		length = strlen(known[i].key);
		if (!strncmp(line, known[i].key, length))
			*known[i].value = line + length;
	}
}

int guest_config__load(struct guest_config *config)
{
	size_t length = 0, count = 0;
	char *line = NULL, *end;
	int err;

	*config = (struct guest_config){
		.name = "", .address = "", .outside = "", .hosts = "", .modules = "",
		.directory = "/", .path = "", .share = "", .manager = "", .root = "",
		.project = "", .built = "", .copied = "",
	};
	err = file__load("/guest", &line, &length);
	if (err)
		return err;
	end = line + length;
	for (; line < end && *line; line += strlen(line) + 1)
		guest_config__set(config, line);
	if (line + 1 >= end)
		return 0;

	/* Never more arguments than bytes. */
	config->command = calloc(end - line, sizeof(*config->command));
	if (!config->command)
		return -ENOMEM;
	for (line++; line < end; line += strlen(line) + 1)
		config->command[count++] = line;
	return 0;
}
