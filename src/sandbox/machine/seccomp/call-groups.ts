/** Calls that every tool may make with any arguments, grouped by purpose. */
export const ALLOWED_CALLS: Readonly<Record<string, readonly string[]>> = {
  openFiles: words(`
    open openat creat close close_range dup dup2 dup3 pipe pipe2 fcntl flock umask cachestat
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek readahead fadvise64
    sendfile splice tee copy_file_range truncate ftruncate fallocate
    sync syncfs fsync fdatasync sync_file_range`),
  directoriesAndNames: words(`
    getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir link linkat symlink symlinkat unlink unlinkat
    rename renameat renameat2 readlink readlinkat mknod mknodat`),
  fileAttributes: words(`
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 file_getattr file_setattr
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr setxattrat getxattr lgetxattr fgetxattr getxattrat
    listxattr llistxattr flistxattr listxattrat removexattr lremovexattr fremovexattr removexattrat`),
  waiting: words(`
    select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4 inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
    io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents`),
  memory: words(`
    brk mmap munmap mremap mprotect madvise mincore msync mlock mlock2 munlock mlockall munlockall memfd_create mseal
    pkey_alloc pkey_free pkey_mprotect map_shadow_stack`),
  processes: words(`
    fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid getpgid setpgid getpgrp getsid setsid
    pidfd_open pidfd_send_signal prctl arch_prctl set_tid_address restart_syscall rseq rseq_slice_yield`),
  signals: words(`
    kill tkill tgkill pause sigaltstack rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend
    rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo`),
  threads: words(`
    futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list get_robust_list membarrier`),
  scheduling: words(`
    sched_yield sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_setattr sched_getattr
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_setaffinity sched_getaffinity getcpu
    getpriority setpriority ioprio_get ioprio_set getrlimit setrlimit prlimit64 getrusage`),
  identity: words(`
    getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid
    setfsuid setfsgid setgroups capget capset uname sysinfo getrandom`),
  time: words(`
    time times gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
    timer_create timer_settime timer_gettime timer_getoverrun timer_delete
    timerfd_create timerfd_settime timerfd_gettime`),
  // socket and socketpair, which decide whom a tool can talk to, are in default-profile.ts.
  sockets: words(`
    bind connect listen accept accept4 getsockname getpeername getsockopt setsockopt shutdown
    sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg`),
  // In the sandbox's own IPC namespace.
  systemVAndPosixIpc: words(`
    shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr`),
  // A process may always restrict itself further; `file` and browsers do.
  selfConfinement: words('seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self'),
  // Only the kernel makes a traced process call these; refusing them would crash it.
  tracingByTheHost: words('uretprobe uprobe'),
};

/** Calls that return EPERM with any arguments, grouped by reason. */
export const DENIED_CALLS: Readonly<Record<string, readonly string[]>> = {
  mountsAndRoots: words(`
    mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree open_tree_attr move_mount mount_setattr`),
  newNamespaces: words('unshare setns'),
  // File handles reach files that are not mounted.
  fileHandles: words('name_to_handle_at open_by_handle_at'),
  kernelPrograms: words('bpf perf_event_open'),
  // Submitted entries do what system calls do, and no filter sees them.
  ioUring: words('io_uring_setup io_uring_enter io_uring_register'),
  // Used by past kernel exploits and needed by no honest work here.
  exploitMaterial: words(
    'userfaultfd vmsplice memfd_secret modify_ldt remap_file_pages process_madvise process_mrelease',
  ),
  // The kernel's keys belong to the user, not to the sandbox.
  keys: words('add_key request_key keyctl'),
  // Ways into another process's descriptors.
  descriptorTheft: words('pidfd_getfd'),
  wholeMachine: words(`
    kexec_load kexec_file_load init_module finit_module delete_module create_module query_module get_kernel_syms
    reboot swapon swapoff acct syslog sethostname setdomainname vhangup quotactl quotactl_fd
    fanotify_init fanotify_mark lookup_dcookie nfsservctl uselib sysfs ustat _sysctl`),
  clocks: words('settimeofday clock_settime clock_adjtime adjtimex'),
  ports: words('iopl ioperm'),
  numaPlacement: words('mbind get_mempolicy set_mempolicy set_mempolicy_home_node migrate_pages move_pages'),
};

/** Calls that return ENOSYS: libraries then use their fallback for a kernel without them. */
export const ABSENT_CALLS: Readonly<Record<string, readonly string[]>> = {
  // Its flags are in memory, which no filter can read; libc falls back to clone.
  clone3: ['clone3'],
  // The mode of a new file is in memory, too; libraries fall back to openat.
  openat2: ['openat2'],
  newerThanTheirUsers: words('statmount listmount listns lsm_get_self_attr lsm_set_self_attr lsm_list_modules'),
  neverBuilt: words(`
    getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old
    set_thread_area get_thread_area`),
};

/**
 * Calls that return ENOSYS in a sandbox without a cgroup: they make memory that belongs to no process and no mount, so
 * it cannot be counted from outside. A message queue or a set of semaphores is kernel memory of nearly any size.
 */
export const UNCOUNTED_CALLS: readonly string[] = ['memfd_create', 'shmget', 'msgget', 'semget'];

/** Calls that return EPERM in a sandbox without a cgroup: they would undo its choice of processors. */
export const UNBINDING_CALLS: readonly string[] = ['sched_setaffinity'];

/** Calls that read or control another process: EPERM unless the tool is a debugger. */
export const DEBUGGER_CALLS: readonly string[] = ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp'];

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
