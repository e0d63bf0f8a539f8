import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ground, identitiesHere } from '../helpers/sandbox-identities.ts';
import { proveProcessLimit } from './planted.ts';

const MIB = 1024 * 1024;
/** Less than the programs try to hold, more than python itself needs. */
const LIMITS = { memoryBytes: 256 * MIB, pids: 16 };

/** Fills 400 MiB in a way that no process maps a page of it: `take` returns where to write. */
const HOLD = `
import ctypes, errno, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
SIZE = 400 << 20
def refused(number):
    print(errno.errorcode[number], flush=True)
    sys.exit(0)
def fill(area):
    for at in range(0, SIZE, 4 << 20):
        area[at:at + (4 << 20)] = bytes([1]) * (4 << 20)
        area.madvise(mmap.MADV_DONTNEED)
    print('held', flush=True)
    time.sleep(60)
`;

const SHARES: Readonly<Record<string, { script: string; refusal: string }>> = {
  'a memfd': {
    script: `
try: fd = os.memfd_create('x')
except OSError as error: refused(error.errno)
for _ in range(SIZE >> 20): os.write(fd, bytes(1 << 20))
print('held', flush=True); time.sleep(60)`,
    refusal: 'ENOSYS',
  },
  'a shared anonymous mapping': {
    script: `
try: area = mmap.mmap(-1, SIZE)
except OSError as error: refused(error.errno)
fill(area)`,
    refusal: 'EPERM',
  },
  'a shared mapping of /dev/zero': {
    script: `
try: area = mmap.mmap(os.open('/dev/zero', os.O_RDWR), SIZE)
except OSError as error: refused(error.errno)
fill(area)`,
    refusal: 'ENODEV',
  },
  'System V shared memory': {
    script: `
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0, ctypes.c_size_t(SIZE), 0o1600)
if segment < 0: refused(ctypes.get_errno())
place = libc.shmat(segment, None, 0)
ctypes.memset(place, 1, SIZE)
libc.shmdt(ctypes.c_void_p(place))
print('held', flush=True); time.sleep(60)`,
    refusal: 'ENOSYS',
  },
};

/** Deleted files that no process has open: their descriptors are in transit in a socket that nobody reads. */
const IN_FLIGHT = `
import array, os, socket, time
here, there = socket.socketpair()
for place in ('/tmp/x', '/dev/shm/x'):
    fd = os.open(place, os.O_RDWR | os.O_CREAT)
    try:
        for _ in range(250): os.write(fd, bytes(1 << 20))
    except OSError: pass
    os.unlink(place)
    here.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])
    os.close(fd)
print('held', flush=True)
time.sleep(60)
`;

describe.each(identitiesHere())('memory that belongs to no process, %s', (identity) => {
  let ground: Ground;
  let byCgroup = false;
  let hasPython = false;
  beforeAll(async () => {
    ground = await Ground.open(identity);
    byCgroup = await ground.byCgroup();
    await proveProcessLimit(ground);
    hasPython = (await ground.run('command -v python3')).exitCode === 0;
    if (!hasPython) console.warn(`SKIPPED: memory that belongs to no process, ${identity}: it needs python3`);
  });
  afterAll(() => ground.close());

  const python = (script: string, limits = {}) =>
    ground.run('', { argv: ['python3', '-c', script], limits: { ...LIMITS, ...limits }, timeoutMs: 30_000 });

  test.each(Object.keys(SHARES))('SEC-2.5 %s does not hold more than the limit', async (name) => {
    if (!hasPython) return;
    const { script = '', refusal = '' } = SHARES[name] ?? {};
    const seen = await python(HOLD + script);
    if (byCgroup) expect(seen).toMatchObject({ endedBy: 'oom', out: '' });
    else expect(seen).toMatchObject({ endedBy: 'exit', exitCode: 0, out: `${refusal}\n` });
  });

  test('SEC-2.5 deleted files in memory count, even with their descriptors in transit in a socket', async () => {
    if (!hasPython) return;
    expect(await python(IN_FLIGHT)).toMatchObject({ endedBy: 'oom' });
    const roomy = await python(IN_FLIGHT.replace('time.sleep(60)', 'time.sleep(1)'), { memoryBytes: 512 * MIB });
    expect(roomy).toMatchObject({ endedBy: 'exit', exitCode: 0, out: 'held\n' });
  });

  test('SEC-2.5 a tool process that holds more than its limit is killed', async () => {
    const script = 'head -c 120M /dev/zero >/tmp/x; sleep 20';
    const exit = await ground.openTool(script, { ...LIMITS, memoryBytes: 96 * MIB });
    // A cgroup kills one process of the tool, the watchdog kills all.
    expect([{ code: null, signal: 'SIGKILL' }, ...(byCgroup ? [{ code: 0, signal: null }] : [])]).toContainEqual(exit);
    expect(await ground.openTool('exit 3', LIMITS)).toEqual({ code: 3, signal: null });
  });

  test('SEC-2.5 /dev/zero reads as zeros', async () => {
    expect(await ground.run('head -c 3 /dev/zero | od -An -tx1')).toMatchObject({ exitCode: 0, out: ' 00 00 00\n' });
  });

  test('SEC-2.5 a command runs on no more processors than its limit and cannot regain them', async () => {
    if (!hasPython || byCgroup) return;
    if (availableParallelism() < 2)
      return console.warn('SKIPPED: the choice of processors was not tried: one processor');
    const script = `
import os
print(len(os.sched_getaffinity(0)))
try: os.sched_setaffinity(0, range(64)); print('all')
except OSError as error: print(error.strerror)`;
    const bound = await python(script, { cpus: 1 });
    expect(bound.out).toBe('1\nOperation not permitted\n');
    expect((await python(script, { cpus: 0 })).out).toMatch(new RegExp(`^${availableParallelism()}\n`));
  });
});
