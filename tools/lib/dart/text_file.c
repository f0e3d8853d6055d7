// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads files that users write or agents export: byte order mark, addresses. */
#include <arpa/inet.h>
#include <stdlib.h>
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

bool dart_export_text__mac(const char *text, uint8_t mac[6])
{
	unsigned int bytes[6];
	int i, end = 0;

	if (strlen(text) != 17 || strspn(text, "0123456789abcdefABCDEF:") != 17 ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &bytes[0], &bytes[1], &bytes[2], &bytes[3],
		   &bytes[4], &bytes[5], &end) != 6 ||
	    end != 17 || bytes[0] & 1)
		return false;
	for (i = 0; i < 6; i++)
		mac[i] = bytes[i];
	return true;
}

bool dart_export_text__base(const char *text, uint64_t *base)
{
	size_t digits;

	if (strncmp(text, "0x", 2))
		return false;
	text += 2;
	digits = strspn(text, "0123456789abcdefABCDEF");
	if (!digits || digits > 16 || text[digits])
		return false;
	*base = strtoull(text, NULL, 16);
	return true;
}

bool dart_export_text__address(const char *text, struct in_addr *address)
{
	return inet_pton(AF_INET, text, address) == 1 && address->s_addr != INADDR_ANY &&
	       !IN_MULTICAST(ntohl(address->s_addr)) && address->s_addr != INADDR_BROADCAST;
}
