import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API, GIT, PACKAGES, type PrivateHosts, startPrivateHosts } from '../fixtures/private-host.ts';
import { createAuthority } from '../helpers/authority.ts';
import { buildGoPrograms } from '../helpers/build-go-programs.ts';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

/** Looks like nothing that a pattern finds: only what is bound can mask it. */
const SECRET = randomBytes(15).toString('base64url').replace(/[-_]/g, 'x');
const BASIC = Buffer.from(`x-access-token:${SECRET}`).toString('base64');
const REPO = `https://${GIT}/org/repo.git`;

let at: Installation;
let hosts: PrivateHosts;
let outside: string;

/** As a process if it has variables of its own: a credential may come from the environment. */
const ctxd = (words: readonly string[], env?: Record<string, string>): Promise<Finished> =>
  env === undefined ? at.run(CTXD, words) : at.runProcess(CTXD, words, { env });
const bash = (command: string): Promise<Answer> => at.ask('safe_bash', { command, timeout_ms: 60_000 });

async function bind(...words: string[]): Promise<Finished> {
  const done = await ctxd(['network', 'credential', 'add', ...words, '--yes'], { MY_TOKEN: SECRET });
  expect(done.stderr).toBe('');
  return done;
}

function howToBind(host: string): string {
  return `ctxd network credential add ${host} --from SOURCE --paths PATHS, with --push or --methods if it is needed`;
}

function git(...words: string[]): string {
  const env = { ...process.env, HOME: outside, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', words, { cwd: outside, env, encoding: 'utf8', stdio: 'pipe' });
}

/** Two bare repositories with one commit each. */
function makeRepositories(): string {
  const root = join(outside, 'served');
  git('init', '-q', '-b', 'main', 'work');
  writeFileSync(join(outside, 'work', 'README'), 'private\n');
  git('-C', 'work', 'add', '.');
  git('-C', 'work', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
  mkdirSync(join(root, 'org'), { recursive: true });
  for (const name of ['repo', 'other']) git('clone', '-q', '--bare', 'work', join(root, 'org', `${name}.git`));
  return root;
}

beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'credentials-'));
  const authority = await createAuthority('Corp CA');
  writeFileSync(join(outside, 'ca.pem'), authority.pem);
  writeFileSync(join(outside, 'token'), `${SECRET}\n`, { mode: 0o600 });
  const identity = await authority.issue(GIT, PACKAGES, API);
  hosts = await startPrivateHosts(identity, { secret: SECRET, repositories: makeRepositories() });
  at = await install({ init: false });
  await ctxd(['config', 'set', 'network.upstream_proxy', hosts.proxyUrl]);
  await ctxd(['init', '--no-network', '--no-toolchains']);
  await ctxd(['network', 'mirrors', '--yes'], { NODE_EXTRA_CA_CERTS: join(outside, 'ca.pem') });
  await ctxd(['network', 'allow', GIT, PACKAGES, API, '--yes']);
  await bind(GIT, '--from', `file:${join(outside, 'token')}`, '--paths', '/org/repo.git/*', '--push');
  await bind(PACKAGES, '--from', 'env:MY_TOKEN', '--paths', '/npm/*', '--placeholder', 'NODE_AUTH_TOKEN');
  await bind(PACKAGES, '--from', 'env:MY_TOKEN', '--paths', '/pip/*', '--scheme', 'basic');
  await bind(PACKAGES, '--from', 'env:MY_TOKEN', '--paths', '/go/*');
  await bind(API, '--from', 'env:MY_TOKEN', '--paths', '/v1/*');
  await bind(API, '--from', 'env:MY_TOKEN', '--paths', '/api/v3/*');
});

afterAll(async () => {
  await at?.remove();
  await hosts?.close();
  rmSync(outside, { recursive: true, force: true });
});

describe('A command without the secret', () => {
  it('clones and pushes to the private repository that a person named', async () => {
    const author = '-c user.name=a -c user.email=a@example.com';
    const { data } = await bash(
      `cd /tmp && git clone -q ${REPO} cloned && cd cloned && cat README && echo more >more && git add . && git ${author} commit -qm second && git push -q origin main && git ls-remote origin main`,
    );
    expect(data).toMatchObject({
      exit_code: 0,
      stdout: expect.stringMatching(/^private\n[0-9a-f]{40}\trefs\/heads\/main\n$/),
    });
    expect(git('-C', 'served/org/repo.git', 'log', '--format=%s')).toBe('second\nfirst\n');
    expect(hosts.authorizations).toContain(`Basic ${BASIC}`);
  });

  it('gets an answer that says why for another repository', async () => {
    const before = hosts.requests.length;
    const { data, meta } = await bash(`git clone https://${GIT}/org/other.git /tmp/other`);
    expect(data.exit_code).not.toBe(0);
    expect(data.stderr).toContain(`contextd refused ${GIT}:443: no credential for this host is bound to its path`);
    expect(meta.denied).toMatchObject([
      { kind: 'network', host: GIT, port: 443, how_to_allow: `A person can allow it: ${howToBind(GIT)}` },
    ]);
    expect(hosts.requests.length).toBe(before);
  });

  it('installs from a private npm registry, with its own placeholder in the request', async () => {
    const registry = `https://${PACKAGES}/npm/`;
    const { data } = await bash(
      `mkdir -p /tmp/n && cd /tmp/n && npm init -y >/dev/null && echo '//${PACKAGES}/npm/:_authToken=\${NODE_AUTH_TOKEN}' >.npmrc && npm install --no-audit --no-fund --registry ${registry} left && node -p 'require("left")' && echo "$NODE_AUTH_TOKEN"`,
    );
    expect(data.stderr).toBe('');
    expect(data).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/\nleft\ncontextd-placeholder\n$/) });
    expect(hosts.requests).toContain(`GET ${PACKAGES} /npm/left/-/left-1.0.0.tgz`);
    expect([...hosts.authorizations].join()).not.toContain('placeholder');
  });

  it('downloads from a private Python index', async () => {
    const index = `https://${PACKAGES}/pip/simple`;
    const { data } = await bash(`python3 -m pip download -q --no-deps -d /tmp/p --index-url ${index} left; ls /tmp/p`);
    expect(data.stdout).toMatch(/^left-1\.0\.0.*\.whl\n$/);
  });

  it('downloads from a private module proxy with go, which trusts the certificate made for the host', async ({
    skip,
  }) => {
    if ((await bash('command -v go')).data.exit_code !== 0) skip('SKIPPED: go is not installed');
    const { data } = await bash(
      `mkdir -p /tmp/g && cd /tmp/g && export GOPROXY=https://${PACKAGES}/go GONOSUMDB='*' GOTOOLCHAIN=local GOMODCACHE=/tmp/g/m && go mod init x && go mod download -modcacherw example.com/left@v1.0.0 && ls m/example.com`,
    );
    expect(data, String(data.stderr)).toMatchObject({ exit_code: 0, stdout: 'left@v1.0.0\n' });
    expect(hosts.requests).toContain(`GET ${PACKAGES} /go/example.com/left/@v/v1.0.0.zip`);
  });

  it('uses an API with a Go program of its own, by the proxy variables and without', async ({ skip }) => {
    const programs = buildGoPrograms('go-fetch');
    try {
      if (programs.missing !== null) skip(`SKIPPED: ${programs.missing}`);
      copyFileSync(join(programs.dir, 'go-fetch'), join(at.project, 'go-fetch'));
      for (const unset of ['', 'env -u HTTPS_PROXY -u https_proxy ']) {
        const { data } = await bash(`${unset}./go-fetch https://${API}/v1/me`);
        expect(data, String(data.stderr)).toMatchObject({ exit_code: 0, stdout: '200\n' });
      }
      const other = await bash(`env -u SSL_CERT_FILE ./go-fetch https://${API}/v2/me`);
      expect(other.data.stdout).toBe('403\n');
    } finally {
      programs.remove();
    }
  });

  it('uses an API with gh', async ({ skip }) => {
    const gh = (process.env.PATH ?? '')
      .split(':')
      .map((dir) => join(dir, 'gh'))
      .find((path) => existsSync(path));
    if (gh === undefined) return skip('SKIPPED: gh is not installed');
    copyFileSync(gh, join(at.project, 'gh'));
    const before = hosts.requests.length;
    const ask = (path: string) => bash(`GH_HOST=${API} GH_ENTERPRISE_TOKEN=contextd-placeholder ./gh api ${path}`);
    const { data } = await ask('meta');
    expect(data, String(data.stderr)).toMatchObject({ exit_code: 0 });
    expect(hosts.requests.slice(before)).toEqual([`GET ${API} /api/v3/meta`]);
    const refused = await ask(`https://${GIT}/api/v3/meta`);
    expect(refused.data.exit_code).not.toBe(0);
  });

  it('uses an API with a bearer token, whose echo of the token is masked', async () => {
    const { data, meta } = await bash(
      `curl -sS -i https://${API}/v1/me; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'`,
    );
    expect(data).toMatchObject({ exit_code: 0 });
    expect(hosts.authorizations).toContain(`Bearer ${SECRET}`);
    // The proxy masks what the host returns, and the scrubber what is written otherwise.
    expect(data.stdout).toMatch(/^x-echo: Bearer \*{10,}\r?$/im);
    expect(data.stdout).toMatch(/\[SECRET_\d+\]/);
    const shown = JSON.stringify({ data, meta });
    const spellings = [SECRET, Buffer.from(`Bearer ${SECRET}`).toString('base64'), Buffer.from(SECRET).toString('hex')];
    for (const spelling of spellings) expect(shown).not.toContain(spelling);
  });

  it.each([
    [
      'another method',
      `-X DELETE https://${API}/v1/me`,
      'the credential for its path is for GET and HEAD, not for DELETE',
    ],
    ['another path', `https://${API}/v2/me`, 'no credential for this host is bound to its path'],
    ['a path that leads elsewhere', `--path-as-is https://${API}/v1/../v2/me`, 'its path holds . or ..'],
    ['another host inside', `-H 'Host: ${GIT}' https://${API}/v1/me`, 'it names another host than its connection'],
  ])('is refused %s', async (_what, words, why) => {
    const before = hosts.requests.length;
    const { data } = await bash(`echo direct; curl -sS --noproxy '*' ${words}; echo proxy; curl -sS ${words}`);
    const remedy = /credential/.test(why) ? `. A person can allow it: ${howToBind(API)}` : '';
    const refused = `contextd refused ${API}:443: ${why}${remedy}\n`;
    expect(data.stdout).toBe(`direct\n${refused}proxy\n${refused}`);
    expect(hosts.requests.length).toBe(before);
  });
});

describe('The secret', () => {
  it('is in no file of the daemon but its database, which only its user reads', async () => {
    await bash(`curl -sS https://${API}/v1/me`);
    const holding = [SECRET, BASIC].flatMap((text) => at.filesHolding(text)).map((path) => path.slice(at.home.length));
    expect([...new Set(holding)].filter((path) => !/^\/state\/contextd\.db(-wal)?$/.test(path))).toEqual([]);
    for (const path of holding) expect(statSync(join(at.home, path)).mode & 0o777).toBe(0o600);
    expect(statSync(join(at.home, 'state')).mode & 0o777).toBe(0o700);
  });

  it('is in no answer of ctxd and in no record of a call', async () => {
    const lists = await Promise.all(
      [
        ['network', 'credential', 'list'],
        ['network', 'credential', 'list', '--json'],
        ['network', 'log'],
        ['audit', 'tail', '--json'],
      ].map((words) => ctxd(words)),
    );
    for (const { code, stdout, stderr } of lists) {
      expect(code).toBe(0);
      expect(stdout).toContain(API);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(lists[0]?.stdout).toContain(
      `${GIT}\tGET HEAD POST\t/org/repo.git/*\tauthorization (basic)\tfile:${outside}/token`,
    );
  });

  it('is gone from the files of the daemon when it was removed and the daemon has stopped', async () => {
    const unbound = await ctxd(['network', 'credential', 'remove', 'other.example.com']);
    expect(unbound.stderr).toBe(
      'ctxd: no credential is bound to other.example.com. See `ctxd network credential list`.\n',
    );
    for (const host of [GIT, PACKAGES, API])
      expect((await ctxd(['network', 'credential', 'remove', host, '--yes'])).code).toBe(0);
    expect((await ctxd(['network', 'credential', 'list', '--json'])).stdout).toBe('[]\n');
    const { data } = await bash(
      `curl -sS -H 'Authorization: mine' https://${API}/v2/me; echo "\${NODE_AUTH_TOKEN-none}"`,
    );
    expect(data.stdout).toMatch(/^mine\n[\s\S]*\nnone\n$/);
    await ctxd(['server', 'stop']);
    expect([SECRET, BASIC].flatMap((text) => at.filesHolding(text))).toEqual([]);
  });
});

describe('ctxd network credential', () => {
  it('changes nothing without a terminal and without --yes', async () => {
    const words = ['network', 'credential', 'add', API, '--from', 'env:MY_TOKEN'];
    const { code, stderr } = await ctxd(words, { MY_TOKEN: SECRET });
    expect(code).toBe(1);
    expect(stderr).toContain(`${API}: GET, HEAD of every path, from the variable MY_TOKEN`);
    expect(stderr).toContain('no credential was changed. A person answers yes at a terminal, or passes --yes.');
    expect((await ctxd(['network', 'credential', 'list', '--json'])).stdout).toBe('[]\n');
  });

  it('says what it does not accept, and nothing of the secret', async () => {
    const refused = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await ctxd(['network', 'credential', 'add', API, ...words, '--yes'], {
        MY_TOKEN: SECRET,
      });
      expect(code).not.toBe(0);
      expect(stderr).not.toContain(SECRET);
      return stderr;
    };
    expect(await refused()).toContain('no source of the secret is named');
    expect(await refused('--from', 'env:NOT_SET')).toContain('the variable NOT_SET holds no secret');
    expect(await refused('--from', 'env:MY_TOKEN', '--push')).toContain('a push is granted by path');
    expect(await refused('--from', 'env:MY_TOKEN', '--header', 'Host')).toContain('"host" is not a header');
  });

  it('reads a file again when a person says so', async () => {
    const file = join(outside, 'token');
    await bind(API, '--from', `file:${file}`);
    const renewed = `${SECRET}renewed`;
    writeFileSync(file, renewed);
    expect(readFileSync(file, 'utf8')).toBe(renewed);
    await ctxd(['network', 'credential', 'refresh', API, '--yes']);
    await bash(`curl -sS https://${API}/v1/me`);
    expect(hosts.authorizations).toContain(`Bearer ${renewed}`);
  });
});
