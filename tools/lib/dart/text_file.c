// SPDX-License-Identifier: LGPL-2.1-or-later
/* The byte order mark of files that users write. */
#include <string.h>

#include <libdart/text_file.h>

static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };

void dart_text_file__skip_mark(const void **text, size_t *length)
{
	if (*length < sizeof(mark) || memcmp(*text, mark, sizeof(mark)))
		return;
	*text = (const char *)*text + sizeof(mark);
	*length -= sizeof(mark);
}

void dart_text_file__pass_mark(FILE *file)
{
	int first = getc(file);

	if (first == mark[0] && getc(file) == mark[1])
		getc(file);
	else if (first != mark[0] && first != EOF)
		ungetc(first, file);
}

bool dart_text_file__is_at_end(FILE *file)
{
	int next = getc(file);

	if (next == EOF)
		return true;
	ungetc(next, file);
	return false;
}
