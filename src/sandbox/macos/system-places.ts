/** What programs of the system need to run. All of /System would include the users' volume under another name. */
export const READABLE_TREES = [
  '/usr',
  '/bin',
  '/sbin',
  '/System/Library',
  '/System/Cryptexes',
  '/System/iOSSupport',
  '/System/Volumes/Preboot/Cryptexes',
  '/Library/Apple',
  '/Library/Developer',
  '/Library/Frameworks',
  '/Library/Java',
  '/private/etc/ssl',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
  '/dev/fd',
] as const;

/** The root, which the loader opens, links beside it, and single files. */
export const READABLE_FILES = [
  '/',
  '/etc',
  '/tmp',
  '/var',
  '/private/etc/localtime',
  '/private/etc/protocols',
  '/private/etc/services',
  '/private/etc/shells',
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
] as const;

export const WRITABLE_DEVICES = ['/dev/null', '/dev/zero'] as const;

/** Names of users and groups, the time zone, the log: no service that acts for the caller. */
export const MACH_SERVICES = [
  'com.apple.bsd.dirhelper',
  'com.apple.logd',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
] as const;

/** What `uname`, language runtimes and compilers ask about the machine; nothing about other processes. */
export const SYSCTLS = [
  'hw.activecpu',
  'hw.byteorder',
  'hw.cacheconfig',
  'hw.cachelinesize',
  'hw.cachesize',
  'hw.cpufamily',
  'hw.cpufrequency',
  'hw.cpusubtype',
  'hw.cputype',
  'hw.l1dcachesize',
  'hw.l1icachesize',
  'hw.l2cachesize',
  'hw.logicalcpu',
  'hw.logicalcpu_max',
  'hw.machine',
  'hw.memsize',
  'hw.model',
  'hw.ncpu',
  'hw.packages',
  'hw.pagesize',
  'hw.pagesize_compat',
  'hw.physicalcpu',
  'hw.physicalcpu_max',
  'hw.tbfrequency',
  'kern.argmax',
  'kern.boottime',
  'kern.hostname',
  'kern.maxfilesperproc',
  'kern.maxproc',
  'kern.ngroups',
  'kern.osproductversion',
  'kern.osrelease',
  'kern.ostype',
  'kern.osvariant_status',
  'kern.osversion',
  'kern.secure_kernel',
  'kern.usrstack64',
  'kern.version',
  'machdep.cpu.brand_string',
  'sysctl.proc_translated',
  'vm.loadavg',
] as const;

export const SYSCTL_PREFIXES = ['hw.optional.', 'hw.perflevel', 'machdep.cpu.'] as const;
