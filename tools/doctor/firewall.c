// SPDX-License-Identifier: GPL-2.0-only
/* Reads the rules of nftables, and of the older iptables as well. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "firewall.h"
#include "nft_ruleset.h"
#include "text_file.h"

#define CHECK "firewall"
/* A user's PATH may lack these. */
#define PATHS "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin "
#define NOT_FOUND 127 /* of a shell: no such program */

/*
 * Is nftables loaded?  Asking nft would load it; it holds no rule before.  If built
 * into the kernel, it may lack a directory in sysfs.
 */
static bool may_have_nftables(void)
{
	struct utsname kernel;
	char pattern[256];
	bool is_module;
	glob_t found;

	if (text_file__exists("/sys/module/nf_tables"))
		return true;
	uname(&kernel);
	snprintf(pattern, sizeof(pattern), "/lib/modules/%s/kernel/net/netfilter/nf_tables.ko*",
		 kernel.release);
	is_module = !glob(pattern, 0, NULL, &found);
	globfree(&found);
	return !is_module;
}

static void insert_rule(struct findings *findings, const struct nft_place *place)
{
	findings__command(findings, "nft insert rule %s %s %s udp dport 4791 accept", place->family,
			  place->table, place->chain);
}

/* "rule 7 of the chain inet filter input" */
static const char *words(const struct nft_place *place, char text[320])
{
	char rule[48] = "";

	if (place->handle)
		snprintf(rule, sizeof(rule), "rule %lld of ", place->handle);
	snprintf(text, 320, "%sthe chain %s %s %s", rule, place->family,
		 place->table, place->chain);
	return text;
}

/* True if there is a finding that is not ok. */
static bool judge_nftables(struct findings *findings, const char *netdev, char note[320])
{
	struct nft_verdict verdict;
	json_t *ruleset;
	FILE *output;
	int status;

	output = popen(PATHS "nft -j list ruleset 2>/dev/null", "re");
	ruleset = output ? json_loadf(output, 0, NULL) : NULL;
	status = output ? pclose(output) : -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
		findings__warn(findings, CHECK,
			       "nftables is loaded, but its rules cannot be read without nft");
		findings__command(findings, "apt-get install nftables");
		return true;
	}
	if (status || !nft_ruleset__judge(ruleset, netdev, &verdict)) {
		json_decref(ruleset);
		findings__warn(findings, CHECK, "nft does not list its rules");
		findings__command(findings, "nft list ruleset");
		return true;
	}
	json_decref(ruleset);

	if (verdict.drops) {
		findings__fail(findings, CHECK, "%s drops UDP to port 4791, which is RoCE",
			       words(&verdict.dropping, note));
		insert_rule(findings, &verdict.dropping);
		return true;
	}
	if (*verdict.unknown.chain) {
		findings__warn(
			findings, CHECK,
			"%s may drop UDP to port 4791, which is RoCE: its condition is not understood",
			words(&verdict.unknown, note));
		insert_rule(findings, &verdict.unknown);
		return true;
	}
	if (*verdict.may_drop.chain)
		words(&verdict.may_drop, note);
	return false;
}

/* Judges a line of iptables -S; true if it may drop RoCE, *@accepts if it accepts it. */
static bool line_drops(const char *line, bool *accepts, bool *is_certain)
{
	bool is_port = strstr(line, "--dport 4791 ");
	bool has_condition;

	if (!strncmp(line, "-P INPUT DROP", 13)) {
		*is_certain = true;
		return true;
	}
	if (strncmp(line, "-A INPUT ", 9))
		return false;
	has_condition = strncmp(line, "-A INPUT -j ", 12);
	if (strstr(line, "-j ACCEPT")) {
		*accepts |= is_port || !has_condition;
		return false;
	}
	if (*accepts || strstr(line, "-p tcp") || strstr(line, "-p icmp") ||
	    (strstr(line, "-p udp") && strstr(line, "--dport") && !is_port) ||
	    strstr(line, "-i lo "))
		return false;
	/* Jumps to a chain of the user, or drops. */
	*is_certain = is_port || !has_condition;
	return strstr(line, "-j ");
}

/*
 * iptables-legacy keeps its rules outside nftables.  The chain INPUT is judged by
 * its simple rules.  True if there is a finding that is not ok.
 */
static bool judge_legacy(struct findings *findings)
{
	bool accepts = false, drops = false, is_certain = false, certain;
	char line[1024], reason[256] = "", policy[32] = "";
	FILE *output;
	int status;

	if (!text_file__line(line, sizeof(line), "/proc/net/ip_tables_names"))
		return false;
	output = popen(PATHS "iptables-legacy -w -S INPUT 2>/dev/null", "re");
	while (output && fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = '\0';
		if (!line_drops(line, &accepts, &certain))
			continue;
		/* The policy is listed first, and decides last. */
		if (line[1] == 'P') {
			snprintf(policy, sizeof(policy), "%.31s", line);
		} else if (!is_certain) {
			drops = true;
			is_certain = certain;
			snprintf(reason, sizeof(reason), "%.255s", line);
		}
	}
	status = output ? pclose(output) : -1;
	if (status) {
		findings__warn(findings, CHECK, "the rules of iptables-legacy cannot be read");
		findings__command(findings, "iptables-legacy -S INPUT");
		return true;
	}
	if (!is_certain && *policy && !accepts) {
		drops = is_certain = true;
		strcpy(reason, policy);
	}
	if (!drops)
		return false;
	if (is_certain)
		findings__fail(findings, CHECK,
			       "iptables-legacy drops UDP to port 4791, which is RoCE: '%s'",
			       reason);
	else
		findings__warn(findings, CHECK,
			       "iptables-legacy may drop UDP to port 4791, which is RoCE: '%s'",
			       reason);
	findings__command(findings, "iptables-legacy -I INPUT -p udp --dport 4791 -j ACCEPT");
	return true;
}

void check_firewall(struct findings *findings, const struct rdma_port *port, const char *program)
{
	char note[320] = "";

	if (!port->is_roce || !port->is_soft) {
		findings__ok(findings, CHECK, "%s takes packets before the firewall of this host",
			     port->device);
		return;
	}
	if (geteuid()) {
		findings__warn(findings, CHECK, "only root can read the rules");
		findings__command(findings, "sudo %s", program);
		return;
	}
	if (judge_legacy(findings) ||
	    (may_have_nftables() && judge_nftables(findings, port->netdev, note)))
		return;
	if (*note)
		findings__ok(findings, CHECK,
			     "UDP to port 4791 is accepted, but for packets that %s drops", note);
	else
		findings__ok(findings, CHECK, "UDP to port 4791 is accepted");
}
