#!/bin/sh
# Process 1 of the emulated host once it has its disk: mounts what Debian mounts, runs the tests,
# tells that it came to the end, and switches off. The second serial line has nothing but results.
export PATH=/usr/bin:/usr/sbin HOME=/root ROLLCAGE_BIN_DIR=/opt/rollcage ROLLCAGE_SKIP_LOG=/run/skips
exec </dev/null >/dev/ttyS1 2>&1
busybox mount -t proc -o nosuid,nodev,noexec proc /proc
busybox mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
busybox mount -t cgroup2 -o nosuid,nodev,noexec,nsdelegate cgroup2 /sys/fs/cgroup
busybox mkdir -p /dev/pts /dev/shm
busybox mount -t devpts -o nosuid,noexec,gid=5,mode=620,ptmxmode=666 devpts /dev/pts
busybox mount -t tmpfs -o nosuid,nodev tmpfs /dev/shm
busybox mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs /run
busybox mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /tmp
busybox ip link set lo up
cd /tmp
/opt/it --exact --test-threads=2 $(busybox cat /tests.txt)
echo "emulated-host: tests ended with $?"
busybox cat /run/skips 2>/dev/null
echo "emulated-host: end"
busybox poweroff -f
