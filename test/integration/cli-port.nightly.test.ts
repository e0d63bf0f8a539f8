import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appears } from '../helpers/appears.ts';
import { CTXD, type Finished, type Installation, install, OTHER_UID } from '../helpers/installation.ts';

/** Answers each line with the same line in capitals, on loopback of the project. */
const SERVE = (port: number) => `exec perl -MIO::Socket::INET -e '
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1:${port}", Listen => 5, ReuseAddr => 1) or die $!;
open(my $up, ">", "up-${port}"); close $up;
while (my $client = $server->accept) { while (my $line = <$client>) { print $client uc $line; $client->flush } close $client }
'`;
const PORT = 4712;
const READ = `exec 3<>/dev/tcp/127.0.0.1/${PORT} && echo hello >&3 && head -1 <&3`;

let machine: Installation;
let serving: Promise<Finished>;
const serverEnd = new AbortController();

beforeAll(async () => {
  machine = await install({ warm: true, ...(process.getuid?.() === 0 ? { owner: OTHER_UID } : {}) });
  const input = { command: SERVE(PORT), timeout_ms: 120_000 };
  serving = machine.call('safe_bash', input, { signal: serverEnd.signal }).catch(() => ({}) as Finished);
  await appears(machine.project, `up-${PORT}`);
});
afterAll(async () => {
  serverEnd.abort();
  await serving;
  await machine.remove();
});

/** `ctxd port` as a process, once it has printed where it listens. */
async function openPort(
  ...words: string[]
): Promise<{ child: ChildProcess; port: number; said: string; err: Promise<string> }> {
  const child = spawn(CTXD, ['port', ...words], { cwd: machine.project, env: machine.environment });
  const err = text(child.stderr);
  const [chunk] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(async () => Promise.reject(new Error(await err))),
  ]);
  const said = String(chunk);
  return { child, port: Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]), said, err };
}

/** Sends text, ends its side, and returns all that comes back. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(sent);
  return text(socket);
}

/** Forwarders of this daemon, which other files may use at the same time for other things. */
const forwarders = async (): Promise<number> => {
  const { pid } = await machine.status();
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [name, parentOf(name)]),
  );
  const isBelow = (name: string): boolean =>
    name === String(pid) || (parents.has(name) && isBelow(parents.get(name) ?? ''));
  return [...parents.keys()].filter((name) => isForwarder(name) && isBelow(name)).length;
};

function parentOf(pid: string): string {
  return /^PPid:\s+(\d+)/m.exec(procFile(pid, 'status'))?.[1] ?? '';
}

/** Node gets the port as a word; so does the bwrap around it. */
function isForwarder(pid: string): boolean {
  const [program = '', ...words] = procFile(pid, 'cmdline').split('\0');
  return program.endsWith('/node') && words.includes(String(PORT));
}

function procFile(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

describe('the loopback of a project', () => {
  it('a server of one call answers another call, and no call with share: false', async () => {
    expect((await machine.ask('safe_bash', { command: READ })).data.stdout).toBe('HELLO\n');
    const alone = await machine.ask('safe_bash', { command: READ, share: false });
    expect(alone.data.stderr).toContain('Connection refused');
  });

  it('ctxd port lists what listens there', async () => {
    const { stdout } = await machine.run(CTXD, ['port', '--json']);
    expect(JSON.parse(stdout)).toEqual([{ port: PORT, address: '127.0.0.1' }]);
  });

  it('ctxd port opens a port on 127.0.0.1 of the host, for several visitors, until it is interrupted', async () => {
    const { child, port, said } = await openPort(String(PORT), '--host-port', '0');
    expect(said).toContain('Every user of this machine can connect');
    const long = 'a line that is long enough\n'.repeat(20_000);
    const answers = await Promise.all([exchange(port, 'one\n'), exchange(port, 'two\n'), exchange(port, long)]);
    expect(answers[0]).toBe('ONE\n');
    expect(answers[1]).toBe('TWO\n');
    expect(answers[2] === long.toUpperCase()).toBe(true);
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    const listeners = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`:${hex} `) && line.includes(' 0A ')),
    );
    expect(listeners.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${hex}`]);
    const rest = text(child.stdout ?? Readable.from([]));
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    expect([await exited, await rest]).toEqual([[0, null], '']);
    await expect(exchange(port, 'one\n')).rejects.toThrow('ECONNREFUSED');
    await expect.poll(forwarders, { timeout: 20_000 }).toBe(0);
  });

  it('a killed ctxd port leaves nothing behind', async () => {
    const { child } = await openPort(String(PORT), '--host-port', '0');
    expect(await forwarders()).toBe(1);
    child.kill('SIGKILL');
    await expect.poll(forwarders, { timeout: 20_000 }).toBe(0);
  });

  it('ctxd port says that nothing listens, closes the connections, and opens the port once something does', async () => {
    const alone = await machine.run(CTXD, ['port', '4713'], { cwd: machine.project });
    expect(alone).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('nothing listens on port 4713'),
    });
    const child = spawn('script', ['-qec', `${CTXD} port 4713 --host-port 0`, '/dev/null'], {
      cwd: machine.project,
      env: { ...machine.environment, SHELL: '/bin/sh' },
    });
    let shown = '';
    child.stdout.on('data', (chunk) => {
      shown += String(chunk);
    });
    await expect
      .poll(() => shown, { timeout: 20_000 })
      .toContain('ctxd: nothing listens on port 4713 in the project now; `ctxd port` lists what does.');
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(shown)?.[1]);
    expect(await exchange(port, 'one\n').catch(() => '')).toBe('');
    const end = new AbortController();
    const second = machine.call('safe_bash', { command: SERVE(4713) }, { signal: end.signal }).catch(() => null);
    await appears(machine.project, 'up-4713');
    expect(await exchange(port, 'one\n')).toBe('ONE\n');
    child.stdin.write('\x03');
    await once(child, 'exit');
    end.abort();
    await second;
  });

  it('a server in a background job answers a later call and the host, until the job is stopped', async () => {
    const { data } = await machine.ask('safe_bash', { command: SERVE(4714), background: true });
    await appears(machine.project, 'up-4714');
    const later = await machine.ask('safe_bash', { command: READ.replaceAll(String(PORT), '4714') });
    expect(later.data.stdout).toBe('HELLO\n');
    const { child, port } = await openPort('4714', '--host-port', '0');
    expect(await exchange(port, 'one\n')).toBe('ONE\n');
    await machine.ask('jobs', { action: 'stop', job: data.job });
    expect(await exchange(port, 'one\n').catch(() => '')).toBe('');
    child.kill('SIGTERM');
  });

  it('ctxd port names the host port that is taken, and what is not a port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const number = String(typeof address === 'object' ? address?.port : address);
    const refused = await machine.run(CTXD, ['port', String(PORT), '--host-port', number]);
    taken.close();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`port ${number} of 127.0.0.1 is taken`);
    for (const word of ['0', 'http']) expect((await machine.run(CTXD, ['port', word])).code).toBe(2);
    expect((await machine.run(CTXD, ['port', String(PORT), '--json'])).stderr).toContain('--json prints one value');
  });

  it('ctxd port ends with an error when contextd stops', async () => {
    const { child, err } = await openPort(String(PORT), '--host-port', '0');
    // Otherwise the stop waits for the server's call.
    serverEnd.abort();
    await serving;
    const exited = once(child, 'exit');
    await machine.run(CTXD, ['server', 'stop']);
    expect(await exited).toEqual([1, null]);
    expect(await err).toContain(`contextd closed the way to port ${PORT}`);
  });
});
