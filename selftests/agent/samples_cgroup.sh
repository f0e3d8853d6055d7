#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Samples that eBPF programs take: of cgroups and of the host.  Each value is between two
# that the kernel's own files show.
. "$(dirname "$0")/../lib.sh"

root=/sys/fs/cgroup
top=/sys/fs/cgroup/samples
work=/sys/fs/cgroup/samples/work
controllers=(memory pids cpu io)
sources=(memory pids bandwidth pressure io)

# as_object: "name value" lines as a JSON object
as_object() {
	gojq -nR '[inputs | split(" ") | {(.[0]): (.[1] | tonumber)}] | add'
}

kernel_memory() {
	{
		for file in current peak min low high max swap.current; do
			echo "${file//./_} $(cat "$work/memory.$file")"
		done | sed 's/ max$/ 9223372036854771712/'
		sed 's/^/events_/' "$work/memory.events"
		cat "$work/memory.stat"
	} | as_object
}

kernel_pids() {
	{
		for file in current peak max; do
			echo "$file $(cat "$work/pids.$file")"
		done | sed 's/ max$/ 4194305/'
		sed 's/^/events_/' "$work/pids.events"
	} | as_object
}

kernel_bandwidth() {
	awk 'FILENAME ~ /stat$/ { print $1, $2 }
		FILENAME ~ /max$/ {
			print "quota", $1 == "max" ? -1 : $1 * 1000
			print "period", $2 * 1000
		}' "$work/cpu.stat" "$work/cpu.max" |
		sed 's/^throttled_usec \(.*\)/throttled_time \1000/' | as_object
}

# pressure_of DIRECTORY SUFFIX: in us; 0 if the kernel lacks irq.pressure
pressure_of() {
	{
		echo irq_full 0
		for file in cpu memory io irq; do
			[ ! -e "$1/$file$2" ] ||
				sed "s/ .*total=/ /; s/^/${file}_/" "$1/$file$2"
		done
	} | as_object
}

kernel_cgroup_pressure() {
	pressure_of "$work" .pressure
}

kernel_pressure() {
	pressure_of /proc/pressure ''
}

kernel_io() {
	awk '{ for (i = 2; i <= NF; i++) { split($i, part, "="); sum[part[1]] += part[2] } }
		END { for (name in sum) printf "%s %.0f\n", name, sum[name]; print "left_out", 0 }' \
		"$work/io.stat" | as_object
}

# By device: {"254:0.rbytes": 4096, ...}
kernel_disks() {
	awk '{ for (i = 2; i <= NF; i++) { split($i, part, "=")
		printf "%s.%s %.0f\n", $1, part[1], part[2] } }' "$work/io.stat" | as_object
}

disks() {
	dartctl -j show cgroup:disks@/samples/work+100ms | gojq -c '[.values.rows[] |
		"\(.major):\(.minor)" as $disk | del(.time, .device, .major, .minor) |
		with_entries(.key |= "\($disk).\(.)")] | add'
}

# Each device of io.stat appears in its row, and the rows of other devices that the cgroup used are
# 0.
disks_agree() {
	local before values after
	before=$(kernel_disks)
	values=$(disks)
	after=$(kernel_disks)
	agree "$before" "$values" "$after" 0 &&
		gojq -e -n --argjson before "$before" --argjson values "$values" \
			'$values | with_entries(select(.key | in($before) | not)) | all(. == 0)'
}

# The threads of gojq, six or so, must not be among them.
kernel_tasks() {
	{
		grep -E '^(ctxt|processes|procs_)' /proc/stat
		sed 's/.*\/\([0-9]*\) .*/threads \1/' /proc/loadavg
		sed 's/^/threads_max /' /proc/sys/kernel/threads-max
		sed 's/^/pid_max /' /proc/sys/kernel/pid_max
	} >/run/tasks
	as_object </run/tasks
}

kernel_swap() {
	awk '/^SwapTotal/ { print "total", $2 * 1024 } /^SwapFree/ { print "free", $2 * 1024 }
		/^CommitLimit/ { print "commit_limit", $2 * 1024 }' /proc/meminfo | as_object
}

kernel_hugepages() {
	awk '/^HugePages_Total/ { print "total", $2 } /^HugePages_Free/ { print "free", $2 }
		/^HugePages_Rsvd/ { print "reserved", $2 } /^HugePages_Surp/ { print "surplus", $2 }
		/^Hugepagesize/ { print "size", $2 * 1024 }
		/^Hugetlb/ { print "hugetlb", $2 * 1024 }' /proc/meminfo | as_object
}

# The files contain all members of a sample, and more.
# shellcheck disable=SC2016 # variables of jq
each='.values |= del(.time) | .values as $values | .before as $kernel |
	.before = ($values | with_entries(.value = $kernel[.key]))'
# Their times are in us.
each_in_us=".values |= (del(.time) | map_values(. / 1000 | floor)) | $each"
throttled_in_us=".values.throttled_time |= (. / 1000 | floor) * 1000 | $each"

# agrees KERNEL ENTRY [TOLERANCE [FILTER]]
agrees() {
	compare_sample "$1" "$2" "${3:-0}" "${4:-$each}"
}

# is SOURCE CGROUP CONDITION: of the values of an entry
is() {
	dartctl -j show "cgroup:$1@/samples/$2+100ms" | is_true ".values.sum | $3"
}

# loaded: the number of eBPF programs that the agent attached
loaded() {
	find "/proc/$(pidof dartd)/fd" -lname '*bpf_link*' | wc -l
}

has_loaded() {
	[ "$(loaded)" = "$1" ]
}

add() {
	local source
	for source in "${sources[@]}"; do
		dartctl source add "cgroup:$source" --cgroup "samples/$1" --gather 100ms ||
			return
	done
}

# in_work COMMAND...
in_work() {
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$work" "$@"
}

# Memory, tasks, I/O and throttling of $work; nothing runs there afterwards but a process
# that waits.
use_all() {
	mkfifo /run/holds /run/ends
	# shellcheck disable=SC2016 # the other shell expands it
	in_work sh -c 'text=$(head -c 3000000 /dev/zero | tr "\0" x)
		echo >/run/holds; read -r _ </run/ends; echo "${#text}"' &
	read -r _ </run/holds
	in_work dd if=/dev/zero of=/dev/shm/samples bs=1M count=8
	in_work dd if=/dev/zero of=/dev/nullb0 bs=64k count=16 oflag=direct
	in_work dd if=/dev/nullb0 of=/dev/null bs=64k count=4 iflag=direct
	echo 64M >"$work/memory.high"
	echo 1 >"$work/pids.max"	# one process waits
	in_work sh -c 'true | true'
	echo max >"$work/pids.max"
	echo "5000 50000" >"$work/cpu.max"
	in_work timeout 0.5 sh -c 'while :; do :; done'
	[ "$(cat "$work/pids.current")" = 1 ]
}

grep -q memory "$root/cgroup.controllers" || skip "the kernel has no memory controller"
modprobe null_blk nr_devices=0
mount -t configfs none /sys/kernel/config 2>/dev/null
for disk in nullb0 nullb1; do
	mkdir /sys/kernel/config/nullb/$disk
	echo 1 >/sys/kernel/config/nullb/$disk/memory_backed
	echo 64 >/sys/kernel/config/nullb/$disk/size
	echo 1 >/sys/kernel/config/nullb/$disk/power
done
for controller in "${controllers[@]}"; do
	echo "+$controller" >"$root/cgroup.subtree_control"
done
mkdir "$top" "$top/bare"
for controller in "${controllers[@]}"; do
	echo "+$controller" >"$top/cgroup.subtree_control"
done
mkdir "$work" "$top/idle"

check "the agent starts" host_up
check "samples of a cgroup are gathered" add work
check "the I/O of the cgroup above is gathered" \
	dartctl source add cgroup:io --cgroup samples --gather 100ms
check "a cgroup uses memory, tasks, CPU and a disk" use_all
check "the kernel's flush alone brings the lines of memory.stat" soon is memory work \
	'.anon > 2e6 and .shmem >= 8 * 1048576 and .file >= .shmem and .kernel > 0 and
	.slab_unreclaimable > 0 and .pgfault > 500 and .high == 67108864'
check "the I/O is there before anything reads io.stat" soon is io work \
	'.wbytes == 1048576 and .rbytes == 262144 and .wios > 0 and .rios > 0'
# io_above CONDITION: of the cgroup above the working one
io_above() {
	dartctl -j show cgroup:io@/samples+100ms | is_true ".values.sum | $1"
}
check "the cgroup above has it as well" soon io_above \
	'.wbytes == 1048576 and .rbytes == 262144 and .wios > 0 and .rios > 0'
check "the kernel's work alone brings the pressure" soon is pressure work \
	'.cpu_some > 0 and .cpu_full > 0'
check "forks that failed are counted" is pids work '.events_max > 0 and .peak > 1'
check "throttled periods are counted" is bandwidth work \
	'.nr_throttled > 0 and .throttled_time > 0 and .quota == 5000000'
check "cgroup:memory has the values of memory.current and its other files" \
	soon agrees kernel_memory cgroup:memory@/samples/work
check "cgroup:pids has the values of pids.current and its other files" \
	soon agrees kernel_pids cgroup:pids@/samples/work
check "cgroup:bandwidth has the values of cpu.stat and cpu.max" \
	soon agrees kernel_bandwidth cgroup:bandwidth@/samples/work 0 "$throttled_in_us"
check "cgroup:pressure has the totals of cpu.pressure, memory.pressure and io.pressure" \
	soon agrees kernel_cgroup_pressure cgroup:pressure@/samples/work 0 "$each_in_us"
check "cgroup:io has the sums of io.stat" \
	soon agrees kernel_io cgroup:io@/samples/work
# A reader makes the kernel move the counts of the working cgroup to the one above, not further.
mkdir "$top/ends"
in_ending() {
	# shellcheck disable=SC2016 # the other shell expands it
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$top/ends" "$@"
}
in_ending dd if=/dev/zero of=/dev/nullb0 bs=64k count=2 oflag=direct
check "the I/O of a second cgroup below is added" soon io_above '.wbytes == 1179648'
rmdir "$top/ends"
check "the I/O of a cgroup that was removed stays" soon io_above '.wbytes == 1179648'
kernel_io_above() {
	work=$top kernel_io
}
check "the sums of io.stat above are those" soon agrees kernel_io_above cgroup:io@/samples
check "they have not changed by that" io_above '.wbytes == 1179648 and .rbytes == 262144'

in_work dd if=/dev/zero of=/dev/nullb1 bs=64k count=3 oflag=direct
check "the I/O of a cgroup on each disk is gathered" \
	dartctl source add cgroup:disks --cgroup samples/work --gather 100ms
check "cgroup:disks has the lines of io.stat" soon disks_agree
check "it has a row for each disk that the cgroup has used" is_true \
	'[.values.rows[].wbytes] | contains([1048576, 196608])' \
	<<<"$(dartctl -j show cgroup:disks@/samples/work+100ms)"
check "a cgroup that has used no disk has no rows" sh -c \
	'dartctl source add cgroup:disks --cgroup samples/idle --gather 100ms &&
		dartctl -j show cgroup:disks@/samples/idle+100ms |
		is_true ".values.rows == {}"'

# The file of the cgroup above the working one.  Reading it makes the kernel add times up.
kernel_times() {
	awk '$1 == "usage_usec" { print "sum_exec_runtime", $2 }' "$top/cpu.stat" | as_object
}
check "the CPU time of a cgroup and of the cgroups below is sampled" \
	dartctl source add cgroup:cpu --cgroup samples --gather 100ms
# shellcheck disable=SC2016 # variables of jq
in_us='.values |= {sum_exec_runtime: (.sum_exec_runtime / 1000 | floor)}'
check "gathered, cgroup:cpu has the usage of cpu.stat" \
	soon agrees kernel_times cgroup:cpu@/samples 0 "$in_us"
mkdir "$top/busy" "$top/busy/below"
before=$(sampled cgroup:cpu@/samples)
sh -c 'echo $$ >"$0/cgroup.procs"; exec timeout 1 sh -c "while :; do :; done"' \
	"$top/busy/below"
has_grown() {
	after=$(sampled cgroup:cpu@/samples)
	# shellcheck disable=SC2016 # variables of jq
	is_true -n --argjson before "$before" --argjson after "$after" \
		'$after.sum_exec_runtime - $before.sum_exec_runtime > 300000000'
}
check "it grows while a task two levels below runs, though nothing reads cpu.stat" soon has_grown
rmdir "$top/busy/below" "$top/busy"
check "it keeps the time of cgroups that were removed" \
	soon agrees kernel_times cgroup:cpu@/samples 0 "$in_us"
# shellcheck disable=SC2016 # variables of jq
check "it has not fallen" is_true --argjson before "$after" '.sum_exec_runtime >= $before.sum_exec_runtime' \
	<<<"$(sampled cgroup:cpu@/samples)"
dartctl unregister cgroup:cpu@/samples+100ms

echo max >"$work/cpu.max"
check "a cgroup without a limit has a quota of -1" soon is bandwidth work '.quota == -1'

check "a swap area is added" sh -c 'mkswap /dev/nullb1 && swapon /dev/nullb1'
for source in pressure tasks swap; do
	check "the source $source of the host is sampled" \
		dartctl source add $source --gather 100ms
done
check "pressure has the totals of /proc/pressure" soon agrees kernel_pressure pressure 0 "$each_in_us"
check "tasks has the values of /proc/stat and /proc/loadavg, to 5" \
	soon agrees kernel_tasks tasks 5
check "swap has the values of /proc/meminfo" soon agrees kernel_swap swap
check "the swap area is seen" sh -c \
	'dartctl -j show swap+100ms | is_true ".values.sum.total > 60000000"'
echo 120 >/proc/sys/vm/overcommit_ratio
check "the limit of committed memory follows its ratio" soon agrees kernel_swap swap
echo 5000 >/proc/sys/vm/overcommit_kbytes
check "the limit of committed memory follows its size" soon agrees kernel_swap swap
check "that size is seen" is_true '.total + 5000 * 1024 == .commit_limit' <<<"$(sampled swap)"
echo 50 >/proc/sys/vm/overcommit_ratio
swapoff /dev/nullb1
echo 3 >/proc/sys/vm/nr_hugepages
echo 5 >/proc/sys/vm/nr_overcommit_hugepages
check "huge pages are sampled" dartctl source add hugepages --gather 100ms
mkdir /run/huge
mkfifo /run/has_pages /run/needs_none
check "four huge pages are reserved, of which two are used" mount -t hugetlbfs none /run/huge
python3 -c '
import mmap
with open("/run/huge/file", "w+b") as file:
    size = 2 << 20
    file.truncate(4 * size)
    pages = mmap.mmap(file.fileno(), 4 * size)
    pages[0] = pages[size] = 1
    print(flush=True)
    open("/run/needs_none").read()' >/run/has_pages &
read -r _ </run/has_pages
check "hugepages has the values of /proc/meminfo" soon agrees kernel_hugepages hugepages
check "pages that are free, reserved and surplus are seen" is_true \
	'.total == 4 and .free == 2 and .reserved == 2 and .surplus == 1 and .size == 2097152 and
		.hugetlb == 8388608' <<<"$(sampled hugepages)"
echo >/run/needs_none
wait $!
rm /run/has_pages /run/needs_none
umount /run/huge
echo 0 >/proc/sys/vm/nr_overcommit_hugepages
echo 0 >/proc/sys/vm/nr_hugepages

programs=$(loaded)
dartctl source add swap --gather 1s
check "a second record of a source takes the program of the first" has_loaded "$programs"
dartctl unregister swap+100ms
dartctl unregister tasks+100ms
check "the program of a source is unloaded with its last record" \
	soon has_loaded $((programs - 1))
dartctl unregister swap+1s
check "the program of two records is unloaded with the second" \
	soon has_loaded $((programs - 2))
dartctl unregister hugepages+100ms

refuse "the root cgroup is refused" "the root cgroup has no counters" \
	dartctl source add cgroup:memory --cgroup / --gather 100ms
refuse "the memory of a cgroup cannot be registered without an interval" \
	"source cgroup:memory can only be gathered" \
	dartctl source add cgroup:memory --cgroup samples/idle

mkdir "$top/idle/one"
dartctl source add cgroup:memory --cgroup samples/idle/one --gather 100ms >/dev/null
check "a cgroup without the controller has no values" is memory idle/one '. == null'
echo +memory >"$top/idle/cgroup.subtree_control"
check "it has values once the controller is enabled" soon is memory idle/one '.current >= 0'
echo -memory >"$top/idle/cgroup.subtree_control"
check "it has no values once the controller is disabled" soon is memory idle/one '. == null'
rmdir "$top/idle/one"

check "all cgroups of a subtree are followed" \
	dartctl source follow cgroup:memory --cgroup /samples/bare --gather 100ms
mkdir "$top/bare/new"
check "a cgroup that appears is sampled" soon dartctl show \
	cgroup:memory@/samples/bare/new+100ms
rmdir "$top/bare/new"
check "its entry leaves with it" soon lacks cgroup:memory@/samples/bare/new+100ms

check "samples of another cgroup are gathered" add idle
rmdir "$top/idle"
check "its entries leave when it is removed" soon lacks cgroup:io@/samples/idle+100ms
check "nothing holds the cgroups that were removed" soon grep -x \
	"nr_dying_descendants 0" "$top/cgroup.stat"

check "the agent stops" host_down
check "the agent starts without CAP_SYSLOG" env WITHOUT=CAP_SYSLOG \
	setpriv --bounding-set -syslog "$tests/host_up"
refuse "a source that needs a variable of the kernel is refused then" \
	"source tasks cannot be sampled here: the kernel hides .*CAP_SYSLOG" \
	dartctl source add tasks --gather 100ms
check "a source that needs structures only is sampled" \
	dartctl source add cgroup:pids --cgroup samples/work --gather 100ms
check "its values are gathered" is pids work '.current > 0'
check "the agent stops again" host_down
echo >/run/ends
rm -f /dev/shm/samples /run/holds /run/ends
soon rmdir "$work"
rmdir "$top/bare" "$top"
for disk in nullb0 nullb1; do
	rmdir /sys/kernel/config/nullb/$disk
done
for controller in "${controllers[@]}"; do
	echo "-$controller" >"$root/cgroup.subtree_control"
done
finish
