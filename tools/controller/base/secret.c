// SPDX-License-Identifier: GPL-2.0-only
/* Passwords and tokens in files: see secret.h. */
#include "secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/text_file.h>

static int check(const char *path, const char *secret, size_t length, struct dart_error *error)
{
	size_t i;

	if (!length)
		return dart_error__set(error, EINVAL, "'%s' is empty", path);
	if (length > SECRET_MAX)
		return dart_error__set(error, EINVAL, "'%s' has more than %d bytes", path,
				       SECRET_MAX);
	for (i = 0; i < length; i++) {
		if ((unsigned char)secret[i] < ' ' || secret[i] == 0x7f)
			return dart_error__set(error, EINVAL, "'%s' has a control character", path);
	}
	return 0;
}

int secret__read(const char *path, char **secretp, struct dart_error *error)
{
	char *secret = malloc(SECRET_MAX + 5);
	const void *text = secret;
	size_t length;
	FILE *file;
	int ret;

	if (!secret)
		return dart_error__no_memory(error);
	file = fopen(path, "re");
	if (!file) {
		ret = dart_error__system(error, errno, "cannot open '%s'", path);
		free(secret);
		return ret;
	}
	setvbuf(file, NULL, _IONBF, 0);
	length = fread(secret, 1, SECRET_MAX + 4, file);
	ret = ferror(file) ? dart_error__set(error, EIO, "cannot read '%s'", path) : 0;
	fclose(file);
	secret[length] = '\0';
	length = strcspn(secret, "\r\n");
	secret[length] = '\0';
	/* With a byte order mark, receivers would refuse the secret without a visible reason. */
	dart_text_file__skip_mark(&text, &length);
	memmove(secret, text, length + 1);
	if (!ret)
		ret = check(path, secret, length, error);
	if (ret)
		secret__free(secret);
	else
		*secretp = secret;
	return ret;
}

void secret__free(char *secret)
{
	if (!secret)
		return;
	explicit_bzero(secret, strlen(secret));
	free(secret);
}
