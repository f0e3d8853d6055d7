#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl share changes a file of shares without taking it away from its readers.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
file=$scratch/shares.json

# collector ADDRESS: writes the export of a collector
collector() {
	cat >"$scratch/$1.json" <<-END
	{"dart_collectors": 1, "collectors": [{"name": "paths", "reporter": "10.78.0.1",
	"mac": "02:00:00:00:00:01", "ip": "$1", "qpn": 17, "rkey": 4660,
	"base": "0x3a5f00000000", "slots_log2": 10, "value_length": 20,
	"checksum_bits": 32, "redundancy": 2, "first_psn": 0}]}
	END
}

# has OWNER:GROUP:MODE
has() {
	[ "$(stat -c %u:%g:%a "$file")" = "$1" ]
}

collector 10.78.0.2
collector 10.78.0.3
own=$(id -u):$(id -g)
umask 022
check "a file of shares is made" dartctl share create "$file" \
	--collectors "$scratch/10.78.0.2.json" --collectors "$scratch/10.78.0.3.json"
check "only its owner can read it" has "$own:600"
chmod 644 "$file"
check "shares move" dartctl share move "$file" 0-9 --to 10.78.0.3
check "all can read it still" has "$own:644"
check "they move once more" dartctl share move "$file" 0-9 --to 10.78.0.2
check "all can read it still" has "$own:644"
if [ "$(id -u)" = 0 ]; then
	chown 65534:65534 "$file"
	chmod 640 "$file"
	check "a collector retires in a file of another user" \
		dartctl share retire "$file" 10.78.0.3
	check "it is his still" has 65534:65534:640
fi

# A user who may read the folder locks it: nobody waits for him.
exec 4<"$scratch"
flock 4
check "shares move while the folder is locked" timeout 30 \
	dartctl share move "$file" 0-9 --to 10.78.0.2
check "another file is made there" timeout 30 dartctl share create "$scratch/more.json" \
	--collectors "$scratch/10.78.0.2.json"
exec 4<&-
refuse "a file that is there is not made" "is there already" dartctl share create "$file" \
	--collectors "$scratch/10.78.0.2.json"

# at_once: one share each, by 16 commands
at_once() {
	local i pids=() ok=0

	for i in {100..115}; do
		dartctl share move "$file" "$i" --to 10.78.0.9 >/dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || ok=1
	done
	return "$ok"
}
check "16 commands move a share each at once" at_once
check "no change of them is lost" sh -c "dartctl -j share show $file |
	is_true '.collectors | map(select(.collector == \"10.78.0.9\").shares) == [\"100-115\"]'"
check "nothing else is left in the folder" sh -c "ls $scratch | sort | tr '\n' ' ' |
	grep -qx '10.78.0.2.json 10.78.0.3.json more.json shares.json '"
mv "$file" "$scratch/elsewhere"
ln -s "$scratch/elsewhere" "$file"
check "a link is replaced" dartctl share move "$file" 0-19 --to 10.78.0.3
check "only the owner can read the new file" has "$own:600"
finish
