/*
 * What a program can do to get out: one row an attempt, each in a child of its own.
 *
 * Run inside a sandbox it tells what is closed; run outside with the argument `outside` (as root, in
 * namespaces of its own, so that nothing of the host changes) it tells that the attempt itself works.
 * Output: a line a row, NAME TAB RESULT, where RESULT is `ok`, an errno, or `signal N`.
 * It knows nothing of what is expected: the test does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_fsopen
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

/* A result of our own, where a call succeeds but what it gives is right. */
#define TOLD(n) (errno = (n), -1)

static const char *self_path;

static int readable(const char *path) { return open(path, O_RDONLY | O_NONBLOCK); }
static int writable(const char *path) { return open(path, O_WRONLY | O_NONBLOCK); }

/* Files that belong to the host, to pid 1 or to the kernel. */
static long shadow_of_1(void) { return readable("/proc/1/root/etc/shadow"); }
static long shadow(void) { return readable("/etc/shadow"); }
static long root_of_1(void) { return open("/proc/1/root/", O_PATH | O_DIRECTORY) < 0 ? -1 : readable("/proc/1/root/"); }
static long mem_of_1(void) { return open("/proc/1/mem", O_RDWR); }
static long environ_of_1(void) { char b[1]; int f = readable("/proc/1/environ"); return f < 0 ? -1 : read(f, b, 1); }
static long maps_of_1(void) { char b[1]; int f = readable("/proc/1/maps"); return f < 0 ? -1 : read(f, b, 1); }
static long fds_of_1(void) { return readable("/proc/1/fd"); }
static long exe_of_1(void) { return open("/proc/1/exe", O_RDWR); }
static long own_exe(void) { return open("/proc/self/exe", O_RDWR); }
static long core_pattern(void) { return writable("/proc/sys/kernel/core_pattern"); }
static long modprobe(void) { return writable("/proc/sys/kernel/modprobe"); }
static long sysrq(void) { return writable("/proc/sysrq-trigger"); }
static long kcore(void) { return readable("/proc/kcore"); }
/* Names without addresses are no secret. */
static long kallsyms(void) { char b[4096]; int f = readable("/proc/kallsyms"); if (f < 0) return -1; ssize_t n = read(f, b, sizeof b - 1); if (n <= 0) return TOLD(ENODATA); b[n] = 0; for (char *l = b; l; l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL) if (strtoull(l, NULL, 16)) return 1; return TOLD(ENODATA); }
static long keys(void) { char b[1]; int f = readable("/proc/keys"); if (f < 0) return -1; return read(f, b, 1) == 1 ? 1 : TOLD(ENODATA); }
static long cgroup_fs(void) { return readable("/sys/fs/cgroup"); }
static long sys_kernel(void) { return readable("/sys/kernel"); }
static long dev_mem(void) { return readable("/dev/mem"); }
static long dev_kmsg(void) { return readable("/dev/kmsg"); }
static long dev_fuse(void) { return readable("/dev/fuse"); }
static long dev_tun(void) { return readable("/dev/net/tun"); }
static long dev_kvm(void) { return readable("/dev/kvm"); }
static long host_run(void) { DIR *d = opendir("/run"); if (!d) return -1; struct dirent *e; while ((e = readdir(d))) if (e->d_name[0] != '.') return 1; return TOLD(ENOENT); }
static long host_home(void) { DIR *d = opendir("/root"); if (!d) return -1; struct dirent *e; while ((e = readdir(d))) if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) return 1; return TOLD(ENOENT); }
static long write_root(void) { return open("/", O_TMPFILE | O_WRONLY, 0600); }
static long write_usr(void) { return open("/usr", O_TMPFILE | O_WRONLY, 0600); }
static long write_etc(void) { return open("/etc", O_TMPFILE | O_WRONLY, 0600); }
static long write_sh(void) { return open("/bin/sh", O_WRONLY); }
static long write_passwd(void) { return open("/etc/passwd", O_WRONLY); }
static long remount_usr(void) { return mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL); }

/* Namespaces and mounts. */
static long unshare_user(void) { return unshare(CLONE_NEWUSER); }
static long unshare_mount(void) { return unshare(CLONE_NEWNS); }
static long unshare_net(void) { return unshare(CLONE_NEWNET); }
static long unshare_pid(void) { return unshare(CLONE_NEWPID); }
static long raw_clone(unsigned long flags) { long p = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0); if (p == 0) _exit(0); return p; }
static long clone_user(void) { return raw_clone(CLONE_NEWUSER); }
static long clone_mount(void) { return raw_clone(CLONE_NEWNS); }
static long clone_net(void) { return raw_clone(CLONE_NEWNET); }
static long clone_three(void) { struct clone_args a = { .exit_signal = SIGCHLD }; long p = syscall(SYS_clone3, &a, sizeof a); if (p == 0) _exit(0); return p; }
static long enter_ns(void) { int f = open("/proc/self/ns/uts", O_RDONLY); return f < 0 ? -1 : setns(f, 0); }
static long mount_proc(void) { return mount("proc", "/tmp", "proc", 0, NULL); }
static long mount_tmpfs(void) { return mount("none", "/tmp", "tmpfs", 0, NULL); }
static long unmount(void) { mount("none", "/tmp", "tmpfs", 0, NULL); return umount2("/tmp", MNT_DETACH); }
static long fs_open(void) { return syscall(SYS_fsopen, "tmpfs", 0); }
static long tree_open(void) { return syscall(SYS_open_tree, AT_FDCWD, "/", 1); }
static long mount_move(void) { return syscall(SYS_move_mount, -1, "", -1, "", 0); }
static long mount_attr(void) { return syscall(SYS_mount_setattr, -1, "", 0, NULL, 0); }
static long pivot(void) { return syscall(SYS_pivot_root, "/", "/"); }
static long change_root(void) { return chroot("/"); }
static long make_node(const char *path, mode_t mode, dev_t device) { if (mknod(path, mode, device)) return -1; return unlink(path); }
static long make_block(void) { return make_node("/tmp/probe-b", S_IFBLK | 0600, 0xfe00); }
static long make_char(void) { return make_node("/tmp/probe-c", S_IFCHR | 0600, 0x101); }
static long by_handle(void) { return syscall(SYS_open_by_handle_at, -1, NULL, 0); }
static long to_handle(void) { struct { struct file_handle h; char b[128]; } h = { .h.handle_bytes = 128 }; int id; return name_to_handle_at(AT_FDCWD, "/", &h.h, &id, 0); }

/* Sockets. */
static long vsock(void) { return socket(40, SOCK_STREAM, 0); }
static long packet(void) { return socket(AF_PACKET, SOCK_RAW, 0); }
static long alg(void) { return socket(38, SOCK_SEQPACKET, 0); }
static long netlink_netfilter(void) { return socket(AF_NETLINK, SOCK_RAW, 12); }
static long netlink_audit(void) { return socket(AF_NETLINK, SOCK_RAW, 9); }
static long netlink_route(void) { return socket(AF_NETLINK, SOCK_RAW, 0); }
static long raw_ip(void) { return socket(AF_INET, SOCK_RAW, 1); }
static long ping(void) { return socket(AF_INET, SOCK_DGRAM, 1); }
static long mptcp(void) { return socket(AF_INET, SOCK_STREAM, 262); }
static long sctp(void) { return socket(AF_INET, SOCK_STREAM, 132); }
static long bluetooth(void) { return socket(31, SOCK_RAW, 0); }
static long can(void) { return socket(29, SOCK_RAW, 1); }
static long tcp(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long udp6(void) { return socket(AF_INET6, SOCK_DGRAM, 0); }
static long unix_pair(void) { int p[2]; return socketpair(AF_UNIX, SOCK_STREAM, 0, p); }
static struct sockaddr_in address(const char *ip, int port) { struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) }; inet_pton(AF_INET, ip, &a.sin_addr); return a; }
static long send_out(void) { struct sockaddr_in a = address("192.0.2.1", 9); return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&a, sizeof a); }
static long connect_out(void) { struct sockaddr_in a = address("192.0.2.1", 9); long r = connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), (void *)&a, sizeof a); return r < 0 && errno == EINPROGRESS ? 0 : r; }
static long low_port(void) { struct sockaddr_in a = address("127.0.0.1", 81); return bind(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof a); }
static long own_loopback(void)
{
	struct sockaddr_in a = address("127.0.0.1", 0);
	socklen_t l = sizeof a;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (void *)&a, l) || listen(server, 1) || getsockname(server, (void *)&a, &l)) return -1;
	return connect(client, (void *)&a, l);
}
static long change_interface(void) { struct ifreq r = { .ifr_name = "lo" }; int s = socket(AF_INET, SOCK_DGRAM, 0); if (ioctl(s, SIOCGIFFLAGS, &r)) return -1; return ioctl(s, SIOCSIFFLAGS, &r); }
static long other_interfaces(void) { struct if_nameindex *i = if_nameindex(); int n = 0; if (!i) return -1; while (i[n].if_index) n++; return n > 1 ? n : TOLD(ENODEV); }
static long attach_filter(void) { return setsockopt(socket(AF_UNIX, SOCK_DGRAM, 0), SOL_SOCKET, 26, "", 0); }

/* Kernel surface. */
static long uring(void) { return syscall(SYS_io_uring_setup, 1, NULL); }
static long bpf(void) { return syscall(SYS_bpf, 0, NULL, 0); }
static long perf(void) { return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0); }
static long userfault(void) { return syscall(SYS_userfaultfd, 0); }
static long key_control(void) { return syscall(SYS_keyctl, 0, -1, 0); }
static long key_add(void) { return syscall(SYS_add_key, "user", "probe", "x", 1, -1); }
static long key_request(void) { return syscall(SYS_request_key, NULL, NULL, NULL, 0); }
static long load_module(void) { return syscall(SYS_init_module, NULL, 0, ""); }
static long load_kernel(void) { return syscall(SYS_kexec_load, 0, 0, NULL, 0xffffUL); }
static long read_log(void) { return syscall(SYS_syslog, 10, NULL, 0); }
static long restart(void) { return syscall(SYS_reboot, 0, 0, 0, NULL); }
static long set_time(void) { return syscall(SYS_settimeofday, NULL, NULL); }
static long set_name(void) { return sethostname("probe", 5); }
static long swap_on(void) { return syscall(SYS_swapon, "/nonexistent", 0); }
static long account(void) { return syscall(SYS_acct, "/nonexistent"); }
static long quota(void) { return syscall(SYS_quotactl, 0xffff, NULL, 0, NULL); }
static long local_descriptors(void) { char b[64]; return syscall(SYS_modify_ldt, 0, b, sizeof b); }
static long io_level(void) { return syscall(SYS_iopl, 0); }
static long io_ports(void) { return syscall(SYS_ioperm, 0x80, 1, 0); }
static long fan_notify(void) { return syscall(SYS_fanotify_init, 0, 0); }
static long domain(void) { return syscall(SYS_personality, 0x40000); }
static long real_time(void) { struct sched_param p = { .sched_priority = 1 }; return sched_setscheduler(0, SCHED_FIFO, &p); }
static long splice_pipe(void) { int a[2], b[2]; if (pipe(a) || pipe(b)) return -1; if (write(a[1], "x", 1) != 1) return -1; return splice(a[0], NULL, b[1], NULL, 1, 0); }
static long shared_memory(void) { long id = syscall(SYS_shmget, 0, 4096, 0600 | 01000); if (id >= 0) syscall(SYS_shmctl, id, 0, NULL); return id; }
static long listener(void) { uint16_t filter[4] = { 6, 0, 0, 0x7fff }; struct { unsigned short n; void *f; } program = { 1, filter }; prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); return syscall(SYS_seccomp, 1, 8, &program); }
static long secure_bits(void) { return prctl(28, 1); }
static long fake_memory_map(void) { return prctl(35, 14, NULL, 0, 0); }
static long terminal_input(void) { return ioctl(0, 0x5412, "x"); }
static long memfd_executable(void) { return syscall(SYS_memfd_create, "probe", 0x10); }
static long memfd_plain(void) { return syscall(SYS_memfd_create, "probe", 0); }
static long memfd_sealed(void) { return syscall(SYS_memfd_create, "probe", 8); }
static long int80(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); return r > 0 ? r : TOLD(ENOSYS); }
static long x32(void) { return syscall(0x40000000 | 39); }

/* Other processes, identity, limits. */
static long trace_child(void) { int p = fork(); if (!p) { pause(); _exit(0); } long r = syscall(SYS_ptrace, 16, p, 0, 0); int e = errno; kill(p, SIGKILL); errno = e; return r; }
static long read_memory(void) { char a[1], b[1] = { 1 }; struct iovec l = { a, 1 }, r = { b, 1 }; return process_vm_readv(getpid(), &l, 1, &r, 1, 0); }
static long steal_descriptor(void) { int p = syscall(SYS_pidfd_open, getpid(), 0); return p < 0 ? -1 : syscall(SYS_pidfd_getfd, p, 1, 0); }
static long become_root(void) { return setuid(0); }
static long become_group(void) { return setgid(0); }
static long set_groups(void) { gid_t g = 0; return syscall(SYS_setgroups, 1, &g); }
static long raise_files(void) { struct rlimit l; getrlimit(RLIMIT_NOFILE, &l); l.rlim_max += 1; return setrlimit(RLIMIT_NOFILE, &l); }
static long raise_priority(void) { return setpriority(PRIO_PROCESS, 0, -5); }
static long adjust_oom(void) { int f = writable("/proc/self/oom_score_adj"); return f < 0 ? -1 : write(f, "-1000", 5); }
static long extra_descriptors(void) { DIR *d = opendir("/proc/self/fd"); if (!d) return -1; struct dirent *e; while ((e = readdir(d))) if (e->d_name[0] != '.' && atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(d)) return 1; return TOLD(EBADF); }
static long capabilities(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	if (!f) return -1;
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, "Cap", 3) == 0 && strtoull(line + 7, NULL, 16) != 0) return 1;
		if (strncmp(line, "NoNewPrivs:", 11) == 0 && atoi(line + 11) != 1) return 2;
		if (strncmp(line, "Seccomp:", 8) == 0 && atoi(line + 8) != 2) return 3;
	}
	return TOLD(EPERM);
}

/* Code that was written is not executed. */
static int copy_to(const char *to)
{
	char b[65536];
	ssize_t n;
	int in = open(self_path, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (in < 0 || out < 0) return -1;
	while ((n = read(in, b, sizeof b)) > 0) if (write(out, b, n) != n) return -1;
	return close(out);
}
static long execute_copy(const char *to)
{
	if (copy_to(to)) return TOLD(EIO);
	int told[2];
	if (pipe2(told, O_CLOEXEC)) return -1;
	int p = fork(), error = 0;
	if (p == 0) {
		execl(to, to, "nothing", NULL);
		error = errno;
		if (write(told[1], &error, sizeof error)) {}
		_exit(1);
	}
	close(told[1]);
	if (read(told[0], &error, sizeof error) <= 0) error = 0;
	waitpid(p, NULL, 0);
	unlink(to);
	return error ? TOLD(error) : 0;
}
static long execute_workspace(void) { return execute_copy(access("/workspace", W_OK) ? "/tmp/probe-copy-w" : "/workspace/probe-copy"); }
static long execute_tmp(void) { return execute_copy("/tmp/probe-copy"); }
static long execute_shm(void) { return execute_copy("/dev/shm/probe-copy"); }
static long map_written(void) { if (copy_to("/tmp/probe-map")) return TOLD(EIO); int f = open("/tmp/probe-map", O_RDONLY); void *m = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, 0); int e = errno; unlink("/tmp/probe-map"); errno = e; return m == MAP_FAILED ? -1 : 0; }
static long own_jit(void) { return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0; }
static long set_id_mounts(void) { struct statvfs s; if (statvfs(access("/workspace", F_OK) ? "/" : "/workspace", &s)) return -1; return (s.f_flag & ST_NOSUID) && (s.f_flag & ST_NODEV) ? TOLD(EPERM) : 0; }
static long set_id_usr(void) { struct statvfs s; if (statvfs("/usr", &s)) return -1; return (s.f_flag & ST_NOSUID) && (s.f_flag & ST_RDONLY) ? TOLD(EPERM) : 0; }

#define ROW(f) { #f, f }
static const struct { const char *name; long (*act)(void); } rows[] = {
	ROW(shadow_of_1), ROW(shadow), ROW(root_of_1), ROW(mem_of_1), ROW(environ_of_1), ROW(maps_of_1),
	ROW(fds_of_1), ROW(exe_of_1), ROW(own_exe), ROW(core_pattern), ROW(modprobe), ROW(sysrq),
	ROW(kcore), ROW(kallsyms), ROW(keys), ROW(cgroup_fs), ROW(sys_kernel), ROW(dev_mem), ROW(dev_kmsg),
	ROW(dev_fuse), ROW(dev_tun), ROW(dev_kvm), ROW(host_run), ROW(host_home), ROW(write_root),
	ROW(write_usr), ROW(write_etc), ROW(write_sh), ROW(write_passwd), ROW(remount_usr),
	ROW(unshare_user), ROW(unshare_mount), ROW(unshare_net), ROW(unshare_pid), ROW(clone_user),
	ROW(clone_mount), ROW(clone_net), ROW(clone_three), ROW(enter_ns), ROW(mount_proc),
	ROW(mount_tmpfs), ROW(unmount), ROW(fs_open), ROW(tree_open), ROW(mount_move), ROW(mount_attr),
	ROW(pivot), ROW(change_root), ROW(make_block), ROW(make_char), ROW(by_handle), ROW(to_handle),
	ROW(vsock), ROW(packet), ROW(alg), ROW(netlink_netfilter), ROW(netlink_audit),
	ROW(netlink_route), ROW(raw_ip), ROW(ping), ROW(mptcp), ROW(sctp), ROW(bluetooth), ROW(can),
	ROW(tcp), ROW(udp6), ROW(unix_pair), ROW(send_out), ROW(connect_out), ROW(low_port),
	ROW(own_loopback), ROW(change_interface), ROW(other_interfaces), ROW(attach_filter),
	ROW(uring), ROW(bpf), ROW(perf), ROW(userfault), ROW(key_control), ROW(key_add),
	ROW(key_request), ROW(load_module), ROW(load_kernel), ROW(read_log), ROW(restart),
	ROW(set_time), ROW(set_name), ROW(swap_on), ROW(account), ROW(quota), ROW(local_descriptors),
	ROW(io_level), ROW(io_ports), ROW(fan_notify), ROW(domain), ROW(real_time), ROW(splice_pipe),
	ROW(shared_memory), ROW(listener), ROW(secure_bits), ROW(fake_memory_map), ROW(terminal_input),
	ROW(memfd_executable), ROW(memfd_plain), ROW(memfd_sealed), ROW(int80), ROW(x32),
	ROW(trace_child), ROW(read_memory), ROW(steal_descriptor), ROW(become_root), ROW(become_group),
	ROW(set_groups), ROW(raise_files), ROW(raise_priority), ROW(adjust_oom), ROW(extra_descriptors),
	ROW(capabilities), ROW(execute_workspace), ROW(execute_tmp), ROW(execute_shm), ROW(map_written),
	ROW(own_jit), ROW(set_id_mounts), ROW(set_id_usr),
};

/* Namespaces of a row's own, so that what succeeds outside changes nothing there. */
static void step_aside(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC)) { perror("unshare"); exit(3); }
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) { perror("private mounts"); exit(3); }
}

int main(int argc, char **argv)
{
	int outside = argc > 1 && strcmp(argv[1], "outside") == 0;
	if (argc > 1 && strcmp(argv[1], "nothing") == 0) return 0;
	self_path = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int status = 0;
		pid_t child = fork();
		if (child < 0) { perror("fork"); return 3; }
		if (child == 0) {
			if (outside) step_aside();
			errno = 0;
			_exit(rows[i].act() < 0 ? errno : 0);
		}
		if (waitpid(child, &status, 0) != child) { perror("wait"); return 3; }
		if (WIFSIGNALED(status)) printf("%s\tsignal %d\n", rows[i].name, WTERMSIG(status));
		else if (WEXITSTATUS(status)) printf("%s\t%d\n", rows[i].name, WEXITSTATUS(status));
		else printf("%s\tok\n", rows[i].name);
	}
	return 0;
}
