// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn RATE SECONDS LIFETIME_MS LONG_MS: starts containers for SECONDS, RATE a second or as many
 * as the machine can.  Each is a process in its own cgroup (/churn/cN) and network
 * namespace, with the veth device cN in this namespace, and lives for LIFETIME_MS; every eighth
 * lives for LONG_MS.
 * Container N sends 10 + N % 37 datagrams and then no more.  Every second container
 * removes its device; the others leave it to the end of their namespace.  When all are
 * removed, prints JSON: how many containers a second came and went, and for each container
 * the times (CLOCK_BOOTTIME, ns) when its namespace existed, all datagrams were sent, its
 * end began, its device was removed (or 0) and its cgroup was removed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup/churn"
#define SECOND_NS 1000000000ULL

/*
 * Containers that make their namespaces at a time.  The kernel makes one after the other; in
 * a slow kernel, dozens would wait until it takes them for hung.
 */
#define BIRTHS_MAX 8
#define LONG_EVERY 8

struct life {
	pid_t pid;
	uint64_t inode; /* of the network namespace */
	uint64_t datagrams;
	uint64_t born_ns, sent_ns, ending_ns, unlinked_ns, removed_ns;
};

struct link_request {
	struct nlmsghdr header;
	struct ifinfomsg link;
	char attributes[256];
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void cgroup_path(char *path, size_t size, int number, const char *file)
{
	snprintf(path, size, CGROUPS "/c%d%s", number, file);
}

static void enter_cgroup(int number)
{
	char path[64];
	int fd;

	cgroup_path(path, sizeof(path), number, "");
	check(!mkdir(path, 0755), path);
	cgroup_path(path, sizeof(path), number, "/cgroup.procs");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	check(fd >= 0 && write(fd, "0", 1) == 1, path);
	close(fd);
}

/* Adds an attribute; an attribute without a length contains the following ones. */
static struct rtattr *add(struct link_request *request, int type, const void *data, size_t length)
{
	struct rtattr *attribute =
		(void *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(attribute), data, length);
	request->header.nlmsg_len =
		NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
	return attribute;
}

static void end(struct link_request *request, struct rtattr *attribute)
{
	attribute->rta_len = (char *)request + request->header.nlmsg_len - (char *)attribute;
}

static void carry_out(struct link_request *request)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char more[512];
	} reply;

	check(fd >= 0, "netlink");
	check(send(fd, request, request->header.nlmsg_len, 0) > 0, "netlink");
	check(recv(fd, &reply, sizeof(reply), 0) >= (ssize_t)NLMSG_LENGTH(sizeof(reply.error)),
	      "netlink");
	errno = -reply.error.error;
	check(!errno, "veth");
	close(fd);
}

/* Makes eth0 here, and its peer, named like the container, in the namespace @outside. */
static void make_veth(int number, int outside)
{
	struct link_request request = {
		.header = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			.nlmsg_type = RTM_NEWLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE |
				       NLM_F_EXCL | NLM_F_ACK,
		},
	};
	const struct ifinfomsg none = {};
	struct rtattr *information, *data, *peer;
	char name[IFNAMSIZ];

	add(&request, IFLA_IFNAME, "eth0", sizeof("eth0"));
	information = add(&request, IFLA_LINKINFO, "", 0);
	add(&request, IFLA_INFO_KIND, "veth", strlen("veth"));
	data = add(&request, IFLA_INFO_DATA, "", 0);
	peer = add(&request, VETH_INFO_PEER, &none, sizeof(none));
	snprintf(name, sizeof(name), "c%d", number);
	add(&request, IFLA_IFNAME, name, strlen(name) + 1);
	add(&request, IFLA_NET_NS_FD, &outside, sizeof(outside));
	end(&request, peer);
	end(&request, data);
	end(&request, information);
	carry_out(&request);
}

/* Both ends. */
static void remove_veth(void)
{
	struct link_request request = {
		.header = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			.nlmsg_type = RTM_DELLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.link.ifi_index = if_nametoindex("eth0"),
	};

	carry_out(&request);
}

static void send_datagrams(uint64_t count)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	const struct sockaddr_in unused = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	check(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &request), "loopback");
	while (count--)
		check(sendto(fd, "", 1, 0, (const struct sockaddr *)&unused, sizeof(unused)) == 1,
		      "datagram");
	close(fd);
}

static void __attribute__((noreturn))
live(struct life *life, int number, unsigned long lifetime_ms, sem_t *births)
{
	const struct timespec lifetime = {
		.tv_sec = lifetime_ms / 1000,
		.tv_nsec = lifetime_ms % 1000 * 1000000,
	};
	int outside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct stat namespace;

	enter_cgroup(number);
	check(outside >= 0 && !unshare(CLONE_NEWNET), "network namespace");
	check(!stat("/proc/self/ns/net", &namespace), "network namespace");
	make_veth(number, outside);
	close(outside);
	life->inode = namespace.st_ino;
	life->born_ns = now_ns(CLOCK_BOOTTIME);
	sem_post(births);
	send_datagrams(life->datagrams);
	life->sent_ns = now_ns(CLOCK_BOOTTIME);
	nanosleep(&lifetime, NULL);
	life->ending_ns = now_ns(CLOCK_BOOTTIME);
	if (number % 2) {
		remove_veth();
		life->unlinked_ns = now_ns(CLOCK_BOOTTIME);
	}
	_exit(EXIT_SUCCESS);
}

/* Removes the cgroups of ended containers; returns their number. */
static int reap_one(struct life *lives, int count, int flags)
{
	char path[64];
	int status, number;
	pid_t pid;

	do
		pid = waitpid(-1, &status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return 0;
	check(!status, "a container has failed");
	for (number = 0; number < count; number++)
		if (lives[number].pid == pid)
			break;
	cgroup_path(path, sizeof(path), number, "");
	check(!rmdir(path), path);
	lives[number].removed_ns = now_ns(CLOCK_BOOTTIME);
	/* The number may come back. */
	lives[number].pid = 0;
	return 1;
}

static void print(const struct life *lives, int count, double seconds)
{
	printf("{\"rate\": %.1f, \"lives\": [", count / seconds);
	for (int i = 0; i < count; i++)
		printf("%s{\"inode\": %llu, \"datagrams\": %llu, \"born\": %llu, \"sent\": %llu, \"ending\": %llu, \"unlinked\": %llu, \"removed\": %llu}",
		       i ? ",\n" : "", (unsigned long long)lives[i].inode,
		       (unsigned long long)lives[i].datagrams, (unsigned long long)lives[i].born_ns,
		       (unsigned long long)lives[i].sent_ns, (unsigned long long)lives[i].ending_ns,
		       (unsigned long long)lives[i].unlinked_ns,
		       (unsigned long long)lives[i].removed_ns);
	printf("]}\n");
}

static void sleep_until(uint64_t time_ns)
{
	const struct timespec then = { .tv_sec = time_ns / SECOND_NS,
				       .tv_nsec = time_ns % SECOND_NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL))
		;
}

static void on_child(int signal)
{
}

int main(int argc, char *argv[])
{
	unsigned long rate = argc == 5 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long seconds = rate ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long lifetime_ms = seconds ? strtoul(argv[3], NULL, 10) : 0;
	unsigned long long_ms = lifetime_ms ? strtoul(argv[4], NULL, 10) : 0;
	uint64_t start = now_ns(CLOCK_MONOTONIC), end, due = start;
	struct life *lives;
	sem_t *births;
	int most, alive_max, count, alive = 0;
	pid_t pid;

	if (!long_ms || rate > 1000 || seconds > 3600) {
		fprintf(stderr, "usage: churn RATE SECONDS LIFETIME_MS LONG_MS\n");
		return 2;
	}
	most = rate * seconds;
	alive_max = 2 * rate * (lifetime_ms + long_ms / LONG_EVERY) / 1000;
	lives = mmap(NULL, most * sizeof(*lives), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	births = mmap(NULL, sizeof(*births), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	check(lives != MAP_FAILED && births != MAP_FAILED && !sem_init(births, 1, BIRTHS_MAX),
	      "memory");
	check(!mkdir(CGROUPS, 0755) || errno == EEXIST, CGROUPS);

	check(!sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = on_child }, NULL), "signal");
	end = start + seconds * SECOND_NS;
	for (count = 0; count < most && now_ns(CLOCK_MONOTONIC) < end; count++) {
		/* More containers at once would not help a slow machine. */
		if (alive > alive_max)
			alive -= reap_one(lives, count, 0);
		/* A container that ends interrupts it. */
		while (sem_wait(births))
			while (reap_one(lives, count, WNOHANG))
				alive--;
		lives[count].datagrams = 10 + count % 37;
		pid = fork();
		check(pid >= 0, "fork");
		if (!pid)
			live(&lives[count], count, count % LONG_EVERY ? lifetime_ms : long_ms,
			     births);
		lives[count].pid = pid;
		alive++;
		while (reap_one(lives, count + 1, WNOHANG))
			alive--;
		due += SECOND_NS / rate;
		sleep_until(due);
	}
	/* The containers that live at the end do not count. */
	end = now_ns(CLOCK_MONOTONIC);
	while (reap_one(lives, count, 0))
		;
	print(lives, count, (double)(end - start) / SECOND_NS);
	return EXIT_SUCCESS;
}
