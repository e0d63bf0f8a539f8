import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mount } from '#src/guard/contract/mount.js';
import { type DenialFacts, findDenials, placesOf } from '#src/sandbox/denials/denials.js';
import { judgeEnd } from '#src/sandbox/jail/command-end.js';
import { makeWorkspace, onHost, startJail, systemMounts, whyNoJail } from '../fixtures/plain-jail.ts';

const noJail = whyNoJail();
if (noJail !== null) console.warn(`SKIPPED: messages of real programs in the sandbox were not tried: ${noJail}`);

/** `$W` stands for the workspace. A command whose program is not in /usr/bin is skipped with a warning. */
const CASES: readonly (readonly [program: string, script: string, claims: readonly string[]])[] = [
  ['touch', 'touch /usr/x', ['read_only /usr/x']],
  ['touch', 'touch "/usr/a b"', ['read_only /usr/a b']],
  ['bash', 'echo x >/foo', ['read_only /foo']],
  ['sh', 'sh -c "echo x >/usr/x"', ['read_only /usr/x']],
  ['bash', 'echo x >>.git/hooks/post-checkout', ['read_only $W/.git/hooks/post-checkout']],
  ['mkdir', 'mkdir -p /opt/a/b', ['read_only /opt']],
  ['cp', 'cp a.txt .claude/x', ['read_only $W/.claude/x']],
  ['mv', 'mv .claude c2', ['read_only $W/.claude']],
  ['rm', 'rm .git/config', ['read_only $W/.git/config']],
  ['git', 'git config user.name x', ['read_only $W/.git/config']],
  ['git', 'git init /usr/r', ['read_only /usr/r']],
  ['tar', 'tar cf /usr/x.tar a.txt', ['read_only /usr/x.tar']],
  ['perl', `perl -e 'open(F, ">", "/usr/x") or die "cannot write /usr/x: $!"'`, ['read_only /usr/x']],
  ['python3', `python3 -c 'open("/usr/x", "w")'`, ['read_only /usr/x']],
  ['node', `/node -e 'fs.writeFileSync("/usr/x", "")'`, ['read_only /usr/x']],
  ['gcc', 'echo "int main(){return 0;}" >/tmp/m.c; gcc /tmp/m.c -o /usr/m', ['read_only /usr/m']],
  ['touch', 'touch /usr/x; true', ['read_only /usr/x']],

  ['cat', 'cat /root/.ssh/id_rsa', ['absent /root/.ssh/id_rsa']],
  ['ls', 'ls /var/log', ['absent /var/log']],
  ['bash', '/opt/tool/x', ['absent /opt/tool/x']],
  ['sh', 'sh -c /opt/tool/x', ['absent /opt/tool/x']],
  ['git', 'git clone /srv/repo.git /tmp/r', ['absent /srv/repo.git']],
  ['python3', 'python3 /srv/x.py', ['absent /srv/x.py']],
  ['node', '/node /srv/x.js', ['absent /srv/x.js']],
  ['node', `/node -e 'child_process.spawn("/srv/x")'`, ['absent /srv/x']],
  ['perl', 'perl /srv/x.pl', ['absent /srv/x.pl']],
  ['gcc', 'gcc /srv/m.c', ['absent /srv/m.c']],
  ['make', 'make -C /srv', ['absent /srv']],

  ['cat', 'cat .env', ['hidden $W/.env']],
  ['rm', 'rm .env', ['hidden $W/.env']],
  ['cat', 'cat $W/private/key', ['hidden $W/private/key']],
  ['touch', 'touch private/x', ['hidden $W/private/x']],

  ['curl', 'curl -sS https://example.com', ['network example.com']],
  ['curl', 'curl -sS http://192.0.2.1/', ['network 192.0.2.1']],
  ['git', 'git fetch https://example.com/x.git', ['network example.com']],
  ['git', 'git fetch git@example.com:x/y.git', ['network example.com']],
  ['wget', 'wget -O /tmp/x http://example.com', ['network example.com']],
  ['bash', 'echo >/dev/tcp/192.0.2.1/80', ['network 192.0.2.1']],
  ['python3', `python3 -c 'import socket; socket.create_connection(("example.com", 80))'`, ['network ']],
  ['node', `/node -e 'fetch("https://example.com")'`, ['network example.com']],
  [
    'npm',
    'npm view left-pad --fetch-retries=0 --registry=https://registry.example.com/',
    ['network registry.example.com'],
  ],

  // The same programs failing for reasons other than the sandbox.
  ['cat', 'cat missing.txt', []],
  ['cat', 'cat /usr/missing /tmp/missing', []],
  ['bash', 'echo x >/usr/bin/true || cat /nowhere/x 2>/dev/null || exit 1', ['read_only /usr/bin/true']],
  ['bash', 'echo x >private.txt; chmod 0 private.txt; cat private.txt', []],
  ['bash', 'echo >/dev/tcp/127.0.0.1/1', []],
  ['curl', 'curl -sS http://127.0.0.1:1/', []],
  ['node', `/node -e 'net.connect(1, "127.0.0.1")'`, []],
  ['git', 'git checkout no-such-branch', []],
  ['cat', 'echo "2026-01-02 03:04:05 cat: /srv/x: No such file or directory" >app.log; cat app.log; exit 1', []],
  ['grep', 'echo "cat: /srv/x: No such file or directory" >app.log; grep -Hn srv app.log; exit 1', []],
  ['bash', 'no-such-program', []],
];

describe.skipIf(noJail !== null)('SEC-2.3 messages of real programs in a sandbox are understood', () => {
  let place: ReturnType<typeof makeWorkspace>;
  let mounts: Mount[];
  beforeAll(() => {
    place = makeWorkspace();
    const { base, workspace } = place;
    onHost(
      'git init -q .; mkdir .claude private; echo x >a.txt; echo "KEY=1" >.env; echo k >private/key; echo {} >.claude/settings.json',
      workspace,
    );
    const inside = (name: string): string => join(workspace, name);
    mounts = [
      ...systemMounts(base),
      { kind: 'ro-bind', source: process.execPath, dest: '/node' },
      { kind: 'bind', source: workspace, dest: workspace },
      { kind: 'bind', source: inside('.git'), dest: inside('.git') },
      ...['.git/hooks', '.git/config', '.claude'].map(
        (name): Mount => ({ kind: 'ro-bind', source: inside(name), dest: inside(name) }),
      ),
      { kind: 'ro-bind', source: '/dev/null', dest: inside('.env') },
      { kind: 'tmpfs', dest: inside('private'), sizeBytes: 4096 },
      { kind: 'remount-ro', dest: inside('private') },
      { kind: 'remount-ro', dest: '/dev' },
      { kind: 'remount-ro', dest: '/' },
    ];
  });
  afterAll(() => place.remove());

  async function claimsOf(script: string): Promise<string[]> {
    const { workspace } = place;
    const jail = startJail({ script: script.replaceAll('$W', workspace), mounts, cwd: workspace });
    const { code, signal } = await jail.exited;
    const { stdout, stderr } = jail.output;
    const exit = { ran: true, code, signal };
    const facts: DenialFacts = {
      ...judgeEnd({ exit, interruptedBy: null, events: null, stderr, cwd: workspace }),
      ...placesOf(mounts, [join(workspace, '.env'), join(workspace, 'private')]),
      pipeStatus: [],
      stdout: Buffer.from(stdout),
      stderr: Buffer.from(stderr),
      cwd: workspace,
      workspace,
      repositoryAbove: null,
      isRepositoryMounted: false,
      seccomp: null,
      network: { missing: null },
      findOnHost: () => null,
      isAllowable: () => true,
      fileMaxBytes: 1,
      isAtRoot: () => true,
      hookScript: () => null,
    };
    return findDenials(facts).map(({ kind, path, host }) =>
      `${kind} ${path ?? host ?? ''}`.replaceAll(workspace, '$W'),
    );
  }

  test.each(CASES)('%s: %s', async (program, script, claims) => {
    if (program !== 'node' && !existsSync(`/usr/bin/${program}`)) {
      console.warn(`SKIPPED, no /usr/bin/${program}: ${script}`);
      return;
    }
    expect(await claimsOf(script)).toEqual(claims);
  });
});
