// SPDX-License-Identifier: GPL-2.0-only
/* Nodes of ZooKeeper, and files: see node.h. */
#include "node.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/files.h>
#include <libdart/json.h>

unsigned int node__member(const char *name)
{
	const size_t length = strspn(name, "0123456789");
	unsigned long number;

	if (!length || length > 4 || name[length] || *name == '0')
		return 0;
	number = strtoul(name, NULL, 10);
	return number <= SHARD_MEMBERS_MAX ? number : 0;
}

unsigned int node__unreached(const char *name, struct portion_set *portions)
{
	static const char word[] = ".unreached.";
	const size_t length = strcspn(name, ".");
	char number[8] = "";
	unsigned int member;

	if (length >= sizeof(number) || strncmp(name + length, word, strlen(word)))
		return 0;
	memcpy(number, name, length);
	member = node__member(number);
	if (!member || member > SHARD_UNREACHED_MEMBERS ||
	    portion_set__parse(name + length + strlen(word), portions))
		return 0;
	return member;
}

void node__print_unreached(unsigned int member, const struct portion_set *portions,
			   char name[static NODE_UNREACHED_MAX])
{
	const int length = snprintf(name, NODE_UNREACHED_MAX, "%u.unreached.", member);

	portion_set__print(portions, name + length);
}

int node__parse(const char *data, size_t length, struct node *node)
{
	json_t *root = length <= NODE_DATA_MAX ? json_loadb(data, length, 0, NULL) : NULL;
	const char *boot_id = json_string_value(json_object_get(root, "boot_id")) ?: "";
	const json_int_t version = json_integer_value(json_object_get(root, "version"));
	int ret = -EINVAL;

	if (json_is_object(root) && version >= 0 && strlen(boot_id) < NODE_BOOT_ID_MAX) {
		node->version = version;
		strcpy(node->boot_id, boot_id);
		ret = 0;
	}
	json_decref(root);
	return ret;
}

void node__print(const char *boot_id, uint64_t version, char data[static NODE_DATA_MAX])
{
	snprintf(data, NODE_DATA_MAX, "{\"boot_id\": \"%s\", \"version\": %llu}", boot_id,
		 (unsigned long long)version);
}

void node__read_boot_id(char boot_id[static NODE_BOOT_ID_MAX])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	size_t length = file ? fread(boot_id, 1, NODE_BOOT_ID_MAX - 1, file) : 0;
	size_t i;

	if (file)
		fclose(file);
	boot_id[length] = '\0';
	for (i = 0; isxdigit((unsigned char)boot_id[i]) || boot_id[i] == '-'; i++)
		;
	boot_id[i] = '\0';
}

int node__read_auth(const char *path, char text[static NODE_AUTH_MAX], struct dart_error *error)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t length;

	*text = '\0';
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	length = read(fd, text, NODE_AUTH_MAX - 1);
	close(fd);
	if (length < 0)
		return dart_error__system(error, errno, "cannot read '%s'", path);
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (length == NODE_AUTH_MAX - 1 || *text == ':' || !strchr(text, ':')) {
		explicit_bzero(text, NODE_AUTH_MAX);
		return dart_error__set(error, EINVAL, "'%s' is not a line USER:PASSWORD", path);
	}
	return 0;
}

/* NULL: out of memory; a list that lacks a member would have others take its targets. */
static json_t *describe_members(const struct member_list *list)
{
	json_t *members = json_array();
	unsigned int i;
	int ret = 0;

	for (i = 1; i <= SHARD_MEMBERS_MAX; i++)
		if (member_set__has(&list->present, i))
			ret |= json_array_append_new(members, json_integer(i));
	if (!ret)
		return members;
	json_decref(members);
	return NULL;
}

static json_t *describe_unreached(const struct member_list *list)
{
	char text[PORTION_SET_TEXT], number[8];
	json_t *unreached = json_object();
	unsigned int i;
	int ret = 0;

	for (i = 0; i < SHARD_UNREACHED_MEMBERS; i++) {
		if (portion_set__is_empty(&list->unreached[i]))
			continue;
		portion_set__print(&list->unreached[i], text);
		snprintf(number, sizeof(number), "%u", i + 1);
		ret |= json_object_set_new(unreached, number, json_string(text));
	}
	if (!ret)
		return unreached;
	json_decref(unreached);
	return NULL;
}

/* NULL: out of memory. */
static json_t *describe(const struct member_list *list, const char *boot_id)
{
	json_t *root = json_pack("{so sf sI sb}", "members", describe_members(list), "valid_until",
				 list->valid_ns / 1e9, "version", (json_int_t)list->version,
				 "agreed", (int)list->is_agreed);
	json_t *unreached = describe_unreached(list);
	int ret = root && unreached ? 0 : -1;

	if (!ret && *boot_id)
		ret = json_object_set_new(root, "boot_id", json_string(boot_id));
	if (!ret && list->session_ns)
		ret = json_object_set_new(root, "session", json_real(list->session_ns / 1e9));
	if (!ret && json_object_size(unreached))
		ret = json_object_set(root, "unreached", unreached);
	json_decref(unreached);
	if (!ret)
		return root;
	json_decref(root);
	return NULL;
}

static int write_text(const char *path, const char *text, struct dart_error *error)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	int err;

	if (fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	err = dart_files__write(fd, text, strlen(text));
	if (close(fd) && !err)
		err = -errno;
	return err ? dart_error__system(error, -err, "cannot write '%s'", path) : 0;
}

/* It is not forced to a disk: after a failure of the host no list of before counts. */
int node__write_list(const char *path, const struct member_list *list, const char *boot_id,
		     struct dart_error *error)
{
	json_t *root = describe(list, boot_id);
	char *text = root ? dart_json__print(root, 0) : NULL;
	char *beside = NULL;
	int ret;

	json_decref(root);
	if (!text || asprintf(&beside, "%s.new", path) < 0) {
		free(text);
		return dart_error__no_memory(error);
	}
	ret = write_text(beside, text, error);
	if (!ret && rename(beside, path))
		ret = dart_error__system(error, errno, "cannot rename '%s'", beside);
	free(beside);
	free(text);
	return ret;
}
