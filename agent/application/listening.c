// SPDX-License-Identifier: GPL-2.0-only
/* Lists sockets and finds the ones of processes: see listening.h. */
#include "listening.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A server listens before it has clients, so its listening sockets have low numbers. */
#define DESCRIPTORS_MAX 256
/* Of a namespace; its user decides. */
#define SOCKETS_MAX 16384
/* Each user can create namespaces. */
#define LISTS_MAX 64

void listening__keep(struct listening *listening)
{
	listening->is_kept = true;
}

void listening__drop(struct listening *listening)
{
	while (listening->count)
		free(listening->lists[--listening->count].sockets);
	free(listening->lists);
	listening->lists = NULL;
	listening->is_kept = false;
}

/* ---- lists */

/* Returns false without memory. */
static bool list__add(struct listening_list *list, uint64_t inode, uint16_t port)
{
	struct listening_socket *all;

	/* At powers of two. */
	if (!(list->count & (list->count - 1))) {
		all = reallocarray(list->sockets, list->count ? 2 * list->count : 1, sizeof(*all));
		if (!all)
			return false;
		list->sockets = all;
	}
	list->sockets[list->count++] = (struct listening_socket){ .inode = inode, .port = port };
	return true;
}

/* Appends the listening sockets of the process' namespace, which the kernel prints first. */
static void list__read(struct listening_list *list, pid_t pid, const char *name)
{
	unsigned long long inode;
	unsigned int port, state;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, sizeof(line), file)) /* the heading */
		goto close;
	while (list->count < SOCKETS_MAX && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %llu", &port, &state,
			   &inode) != 3 ||
		    state != 0x0a)
			break;
		if (!list__add(list, inode, port))
			break;
	}
close:
	fclose(file);
}

static int by_inode(const void *a, const void *b)
{
	const struct listening_socket *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Returns NULL without memory, or if the process has ended. */
static const struct listening_list *listening__list(struct listening *listening, pid_t pid)
{
	struct listening_list *lists, *list;
	struct stat namespace;
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (stat(path, &namespace))
		return NULL;
	for (i = 0; i < listening->count; i++)
		if (listening->lists[i].namespace == namespace.st_ino)
			return &listening->lists[i];
	if (listening->count == LISTS_MAX)
		free(listening->lists[--listening->count].sockets);
	lists = reallocarray(listening->lists, listening->count + 1, sizeof(*lists));
	if (!lists)
		return NULL;
	listening->lists = lists;
	list = &lists[listening->count++];
	*list = (struct listening_list){ .namespace = namespace.st_ino };
	list__read(list, pid, "tcp");
	list__read(list, pid, "tcp6");
	if (list->count)
		qsort(list->sockets, list->count, sizeof(*list->sockets), by_inode);
	listening->reads++;
	return list;
}

/* ---- processes */

static uint16_t list__port(const struct listening_list *list, pid_t pid, const char *descriptor)
{
	const struct listening_socket *found;
	struct listening_socket wanted = {};
	char path[64], link[64];
	unsigned long long inode;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", pid, descriptor);
	length = readlink(path, link, sizeof(link) - 1);
	if (length <= 0)
		return 0;
	link[length] = '\0';
	if (sscanf(link, "socket:[%llu]", &inode) != 1)
		return 0;
	wanted.inode = inode;
	found = bsearch(&wanted, list->sockets, list->count, sizeof(wanted), by_inode);
	return found ? found->port : 0;
}

/* The kernel lists descriptors in the order of their numbers. */
static uint16_t list__lowest_port(const struct listening_list *list, pid_t pid)
{
	uint16_t lowest = 0, port;
	const struct dirent *file;
	DIR *directory;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	while (directory && (file = readdir(directory))) {
		if (!isdigit((unsigned char)*file->d_name))
			continue;
		if (atoi(file->d_name) >= DESCRIPTORS_MAX)
			break;
		port = list__port(list, pid, file->d_name);
		if (port && (!lowest || port < lowest))
			lowest = port;
	}
	if (directory)
		closedir(directory);
	return lowest;
}

uint16_t listening__port(struct listening *listening, pid_t pid)
{
	const struct listening_list *list;
	uint16_t port;

	list = listening__list(listening, pid);
	port = list && list->count ? list__lowest_port(list, pid) : 0;
	if (!listening->is_kept)
		listening__drop(listening);
	return port;
}
