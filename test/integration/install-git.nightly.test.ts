import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FETCH_LIMITS } from '#src/install/limits.js';
import { createAuthority, type ServerIdentity } from '../helpers/authority.ts';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { type Beside, type GitServer, startGitDaemon, startGitHttps, TestRepository } from '../helpers/git-servers.ts';

const place = new FetchPlace();
const served = join(place.dir, 'served');
const TOOL = { 'tool.json': '{}', 'bin/run': '#!/bin/sh\n' };
const LOGIN = 'reader:open-sesame';

const LARGE = 'large '.repeat(1_000);
const OID = createHash('sha256').update(LARGE).digest('hex');
/** What the LFS server was asked, and what it sends. */
const asked: unknown[] = [];
let sent: () => string | null = () => LARGE;

/** Another place than this server for the content; null: this one. */
let elsewhere: string | null = null;

let identity: ServerIdentity;
let daemon: GitServer;
let open: GitServer;
let closed: GitServer;
let silent: Server;
let tool: TestRepository;
let first: string;
let second: string;

/** The batch API of Git LFS, behind the login of the server. */
const lfs: Beside = (request, response) => {
  if (request.url === '/org/lfs.git/info/lfs/objects/batch') {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      asked.push(JSON.parse(text));
      const header = { Authorization: request.headers.authorization };
      const download = elsewhere === null ? { href: `${closed.url}/content/${OID}`, header } : { href: elsewhere };
      response.end(JSON.stringify({ objects: [{ oid: OID, actions: { download } }] }));
    });
    return true;
  }
  if (request.url !== `/content/${OID}`) return false;
  const content = sent();
  if (content === null) response.writeHead(404).end();
  else response.end(content);
  return true;
};

/** A home whose git knows the servers of the test, and takes github.com to be the daemon. */
function writeHome(home: string, more = ''): void {
  mkdirSync(home, { recursive: true });
  const text = `[http]\n\tsslCAInfo = ${join(place.dir, 'ca.pem')}\n[url "${daemon.url}/"]\n\tinsteadOf = https://github.com/\n${more}`;
  writeFileSync(join(home, '.gitconfig'), text);
}

beforeAll(async () => {
  tool = new TestRepository(join(served, 'org/tool.git'));
  first = tool.commit(TOOL);
  tool.git('tag', 'v1');
  second = tool.commit({ ...TOOL, 'sub/dir/only-here': 'x' });
  tool.git('tag', '--annotate', '--message=Two', 'v2');
  daemon = await startGitDaemon(served);
  const authority = await createAuthority('Git of a test');
  writeFileSync(join(place.dir, 'ca.pem'), authority.pem);
  identity = await authority.issue('localhost');
  open = await startGitHttps(served, identity, null);
  closed = await startGitHttps(served, identity, LOGIN, lfs);
  silent = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  writeHome(place.home);
  const large = new TestRepository(join(served, 'org/lfs.git'));
  large.commit({ 'big.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize ${LARGE.length}\n` });
  const objects = join(large.dir, '.git/lfs/objects', OID.slice(0, 2), OID.slice(2, 4));
  mkdirSync(objects, { recursive: true });
  writeFileSync(join(objects, OID), LARGE);
});

afterAll(async () => {
  silent.close();
  await Promise.all([daemon.close(), open.close(), closed.close()]);
  place.remove();
});

describe('issue 17 part 1: a tool from git', () => {
  it('github.com/org/tool@v1 is the commit of the tag, without .git, by the url.insteadOf of the person', async () => {
    const { tool: fetched, files, left } = await place.fetch('github.com/org/tool@v1');
    expect(files).toEqual(TOOL);
    expect(fetched).toMatchObject({ files: 2, signature: null });
    expect(fetched?.resolved).toEqual({ source: 'github.com/org/tool@v1', commit: first, ref: 'refs/tags/v1' });
    expect(left).toEqual(['tool']);
  });

  it('an annotated tag, a branch, the default branch and a commit lead to the commit', async () => {
    const refs = ['@v2', '@main', '', `@${second}`];
    const found = await Promise.all(refs.map((ref) => place.fetch(`github.com/org/tool${ref}`)));
    expect(found.map(({ tool: one }) => [one?.resolved.commit, one?.resolved.ref])).toEqual([
      [second, 'refs/tags/v2'],
      [second, 'refs/heads/main'],
      [second, 'refs/heads/main'],
      [second, undefined],
    ]);
  });

  it('a commit that no ref names arrives too', async () => {
    const { tool: fetched } = await place.fetch(`git::file://${tool.dir}@${first}`);
    expect(fetched?.resolved.commit).toBe(first);
  });

  it('//FOLDER is the tool', async () => {
    const { files } = await place.fetch(`git::file://${tool.dir}//sub/dir@v2`);
    expect(files).toEqual({ 'only-here': 'x' });
  });

  it('https works with git’s own http-backend', async () => {
    expect((await place.fetch(`git::${open.url}/org/tool.git@v1`)).files).toEqual(TOOL);
  });

  it('the execute bit is that of git', async () => {
    tool.git('update-index', '--chmod=+x', 'bin/run');
    tool.git('commit', '--quiet', '--message=Executable');
    tool.git('reset', '--quiet', '--hard');
    const { tool: fetched } = await place.fetch('github.com/org/tool');
    const { statSync } = await import('node:fs');
    expect(statSync(join(fetched?.dir ?? '', 'bin/run')).mode & 0o777).toBe(0o700);
    expect(statSync(join(fetched?.dir ?? '', 'tool.json')).mode & 0o777).toBe(0o600);
  });

  it('a private repository opens with the credential helper of the person', async () => {
    const home = join(place.dir, 'helped');
    const [user, password] = LOGIN.split(':');
    writeHome(home, `[credential]\n\thelper = "!f() { echo username=${user}; echo password=${password}; }; f"\n`);
    const { files } = await place.fetch(`git::${closed.url}/org/tool.git@v1`, { credentials: { HOME: home } });
    expect(files).toEqual(TOOL);
  });

  it('a private repository opens with ~/.netrc', async () => {
    const home = join(place.dir, 'netrc-home');
    writeHome(home);
    writeFileSync(join(home, '.netrc'), `machine localhost login ${LOGIN.replace(':', ' password ')}\n`, {
      mode: 0o600,
    });
    const { files } = await place.fetch(`git::${closed.url}/org/tool.git@v1`, { credentials: { HOME: home } });
    expect(files).toEqual(TOOL);
  });

  it('reports its steps in their order', async () => {
    const { progress } = await place.fetch('github.com/org/tool@v1');
    const steps = progress.map(({ step }) => step).filter((step, at, all) => step !== all[at - 1]);
    expect(steps).toEqual(['resolve', 'download', 'unpack', 'check']);
    expect(progress.every(({ bytes, bytes_per_second }) => bytes >= 0 && bytes_per_second >= 0)).toBe(true);
  });

  it('links inside the repository become copies', async () => {
    tool.commitTree('links', [
      { mode: '100644', path: 'a', body: 'text' },
      { mode: '120000', path: 'b', body: 'a' },
    ]);
    expect((await place.fetch('github.com/org/tool@links')).files).toEqual({ a: 'text', b: 'text' });
  });

  it('submodules come if they are requested, and not otherwise', async () => {
    const inner = new TestRepository(join(served, 'org/inner.git'));
    const commit = inner.commit({ 'lib.txt': 'inner' });
    const outer = new TestRepository(join(served, 'org/outer.git'));
    outer.commit({ ...TOOL, '.gitmodules': '[submodule "x"]\n\tpath = vendor/inner\n\turl = ../inner.git\n' });
    outer.git('update-index', '--add', '--cacheinfo', `160000,${commit},vendor/inner`);
    outer.git('commit', '--quiet', '--message=Submodule');
    const refused = await place.fetch('github.com/org/outer');
    expect(refused.error?.code).toBe('PERMISSION_DENIED');
    expect(refused.error?.remedy).toContain('github.com/org/outer?submodules=true');
    const { files } = await place.fetch('github.com/org/outer?submodules=true');
    expect(files['vendor/inner/lib.txt']).toBe('inner');
  });
});

describe('issue 17 part 1: files of Git LFS come if they are requested', () => {
  const withLogin = (name: string): { HOME: string } => {
    const home = join(place.dir, name);
    const [user, password] = LOGIN.split(':');
    writeHome(home, `[credential]\n\thelper = "!f() { echo username=${user}; echo password=${password}; }; f"\n`);
    return { HOME: home };
  };

  it('from a local repository', async () => {
    const source = `git::file://${join(served, 'org/lfs.git')}?lfs=true`;
    expect((await place.fetch(source)).files).toEqual({ 'big.bin': LARGE });
  });

  it('over the batch API, with the credentials that git has', async () => {
    const { files, error } = await place.fetch(`git::${closed.url}/org/lfs.git?lfs=true`, {
      credentials: { ...withLogin('lfs-home'), NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') },
    });
    expect(error).toBeNull();
    expect(files).toEqual({ 'big.bin': LARGE });
    expect(asked).toEqual([
      { operation: 'download', transfers: ['basic'], objects: [{ oid: OID, size: LARGE.length }] },
    ]);
  });

  it('a login of the person does not go where the server says that the content is', async () => {
    const seen: (string | undefined)[] = [];
    const other = createHttps(identity, (request, response) => {
      seen.push(request.headers.authorization);
      response.end(LARGE);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    elsewhere = `https://localhost:${(other.address() as AddressInfo).port}/content`;
    const own = withLogin('lfs-elsewhere');
    writeFileSync(join(own.HOME, '.netrc'), `machine localhost login ${LOGIN.replace(':', ' password ')}\n`, {
      mode: 0o600,
    });
    const { files, error } = await place.fetch(`git::${closed.url}/org/lfs.git?lfs=true`, {
      credentials: { ...own, NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') },
    });
    elsewhere = null;
    other.close();
    expect([error, files, seen]).toEqual([null, { 'big.bin': LARGE }, [undefined]]);
  });

  it.each([
    ['other bytes of the same size', () => 'x'.repeat(LARGE.length), 'INTEGRITY_FAILED'],
    ['fewer bytes', () => LARGE.slice(1), 'INTEGRITY_FAILED'],
    ['more bytes', () => `${LARGE}x`, 'INTEGRITY_FAILED'],
    ['nothing', () => null, 'NOT_FOUND'],
  ])('a server that sends %s: %s', async (_name, content, code) => {
    sent = content;
    const { error, left } = await place.fetch(`git::${closed.url}/org/lfs.git?lfs=true`, {
      credentials: { ...withLogin(`lfs-${code}-${_name}`), NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') },
    });
    sent = () => LARGE;
    expect([error?.code, left]).toEqual([code, []]);
  });

  it('beyond the limit nothing is downloaded', async () => {
    asked.length = 0;
    const { error } = await place.fetch(`git::${closed.url}/org/lfs.git?lfs=true`, {
      limits: { ...FETCH_LIMITS, bytes: 4_000 },
      credentials: { ...withLogin('lfs-limit'), NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') },
    });
    expect([error?.code, asked]).toEqual(['PAYLOAD_TOO_LARGE', []]);
  });
});

describe('issue 17 part 2: nothing of a repository or of a person’s settings runs', () => {
  it('no hook, filter, fsmonitor, template or alternate of the person runs, and attributes change no byte', async () => {
    const mark = join(place.dir, 'ran');
    const home = join(place.dir, 'armed');
    const hooks = join(home, 'hooks');
    mkdirSync(hooks, { recursive: true });
    const touch = `touch ${mark}`;
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc'])
      writeFileSync(join(hooks, hook), `#!/bin/sh\n${touch}\n`, { mode: 0o755 });
    writeHome(
      home,
      `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = ${touch}\n\talternateRefsCommand = ${touch}\n\tautocrlf = true\n` +
        `[init]\n\ttemplateDir = ${home}\n[filter "evil"]\n\tsmudge = ${touch}\n\tprocess = ${touch}\n\trequired = true\n` +
        `[filter "lfs"]\n\tsmudge = ${touch}\n\tprocess = ${touch}\n`,
    );
    const armed = new TestRepository(join(served, 'org/armed.git'));
    const text = 'line\nline\n$Id$ $Format:%H$\n';
    armed.commit({ '.gitattributes': '* filter=evil text eol=crlf ident export-subst\n', f: text });
    const { files, error } = await place.fetch('github.com/org/armed', { credentials: { HOME: home } });
    expect(error).toBeNull();
    expect(files.f).toBe(text);
    expect(existsSync(mark)).toBe(false);
  });

  it('a transport that runs a command is refused, even if the settings of the person lead to it', async () => {
    const home = join(place.dir, 'ext');
    const mark = join(place.dir, 'ext-ran');
    writeHome(
      home,
      `[url "ext::sh -c touch% ${mark}"]\n\tinsteadOf = https://evil.example.com/\n[protocol]\n\tallow = always\n`,
    );
    const { error } = await place.fetch('git::https://evil.example.com/x', { credentials: { HOME: home } });
    expect(error?.code).toBe('PERMISSION_DENIED');
    expect(error?.message).toContain('ext::');
    expect(existsSync(mark)).toBe(false);
  });

  it('a submodule cannot make this machine read its own repositories', async () => {
    const outer = new TestRepository(join(served, 'org/thief.git'));
    outer.commit({ '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = file://${tool.dir}\n` });
    outer.git('update-index', '--add', '--cacheinfo', `160000,${first},x`);
    outer.git('commit', '--quiet', '--message=Submodule');
    const { error } = await place.fetch('github.com/org/thief?submodules=true');
    expect(error?.code).toBe('PERMISSION_DENIED');
  });

  it('a file of Git LFS is refused unless it is requested', async () => {
    const { error } = await place.fetch('github.com/org/lfs');
    expect(error?.code).toBe('PERMISSION_DENIED');
    expect(error?.remedy).toContain('github.com/org/lfs?lfs=true');
  });

  const TREES: [string, { mode: string; path: string; body?: string }[], RegExp][] = [
    ['a link out of the tool', [{ mode: '120000', path: 'l', body: '../../etc/passwd' }], /INTEGRITY_FAILED/],
    ['a link to an absolute path', [{ mode: '120000', path: 'l', body: '/etc/passwd' }], /INTEGRITY_FAILED/],
    [
      'names that differ in case',
      [
        { mode: '100644', path: 'A' },
        { mode: '100644', path: 'a' },
      ],
      /INTEGRITY_FAILED/,
    ],
    ['the name ..', [{ mode: '100644', path: '..' }], /INTEGRITY_FAILED/],
    ['a slash in a name', [{ mode: '100644', path: 'a/../../evil' }], /INTEGRITY_FAILED/],
    ['the name .git', [{ mode: '100644', path: '.git' }], /INTEGRITY_FAILED/],
    ['a control character', [{ mode: '100644', path: 'a\x1bb' }], /INTEGRITY_FAILED/],
    [
      'a file twice',
      [
        { mode: '100644', path: 'f' },
        { mode: '100644', path: 'f', body: 'x' },
      ],
      /INTEGRITY_FAILED/,
    ],
    ['a setuid mode', [{ mode: '104755', path: 'f' }], /INTEGRITY_FAILED/],
  ];
  for (const [name, entries, code] of TREES)
    it(`a commit with ${name} is refused, and nothing stays`, async () => {
      tool.commitTree('hostile', entries);
      const { error, left } = await place.fetch('github.com/org/tool@hostile');
      expect(error?.code).toMatch(code);
      expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
      expect(left).toEqual([]);
    });

  it('a few trees that name billions of files end at the limit', async () => {
    let tree = tool.tree([{ mode: '100644', path: 'f', body: 'boom' }]);
    for (let level = 0; level < 12; level += 1)
      tree = tool.tree(Array.from({ length: 10 }, (_, n) => ({ mode: '40000', path: `d${n}`, id: tree })));
    tool.git('update-ref', 'refs/heads/bomb', tool.git('commit-tree', tree, '-m', 'Bomb'));
    const { error, left } = await place.fetch('github.com/org/tool@bomb');
    expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
    expect(left).toEqual([]);
  });

  it('a file of zeros, and a pack larger than the limit, end at the limit', async () => {
    const large = new TestRepository(join(served, 'org/large.git'));
    large.commit({ zeros: '\0'.repeat(3_000_000) });
    const limits = { ...FETCH_LIMITS, bytes: 1_000_000 };
    expect((await place.fetch('github.com/org/large', { limits })).error?.code).toBe('PAYLOAD_TOO_LARGE');
    const { randomBytes } = await import('node:crypto');
    large.commit({ noise: randomBytes(3_000_000).toString('hex') });
    const { error, left } = await place.fetch('github.com/org/large', { limits });
    expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
    expect(left).toEqual([]);
  });
});

describe('issue 17 part 8: each fault of git has its code and its remedy, and leaves nothing', () => {
  const cases: [name: string, source: () => string, code: string, says: RegExp][] = [
    ['no such repository', () => 'github.com/org/missing', 'NOT_FOUND', /is not a repository/],
    ['no such repository over https', () => `git::${open.url}/org/missing.git`, 'NOT_FOUND', /is not a repository/],
    ['no such local repository', () => `git::file://${place.dir}/missing`, 'NOT_FOUND', /is not a repository/],
    ['no such ref', () => 'github.com/org/tool@v9', 'NOT_FOUND', /no tag or branch v9/],
    ['no such commit', () => `github.com/org/tool@${'12'.repeat(20)}`, 'NOT_FOUND', /does not have this version/],
    ['no such folder', () => 'github.com/org/tool//missing@v1', 'PATH_NOT_FOUND', /no folder missing/],
    ['a folder that is a file', () => 'github.com/org/tool//tool.json@v1', 'PATH_NOT_FOUND', /no folder/],
    ['private without credentials', () => `git::${closed.url}/org/tool.git`, 'AUTH_FAILED', /is private/],
    ['nobody listens', () => 'git::https://localhost:1/x', 'UPSTREAM_UNAVAILABLE', /cannot be reached/],
  ];
  for (const [name, source, code, says] of cases)
    it(`${name}: ${code}`, async () => {
      const { error, left } = await place.fetch(source());
      expect(error?.code).toBe(code);
      expect(error?.message).toMatch(says);
      expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
      expect(left).toEqual([]);
    });

  it('a certificate that nobody vouches for: UPSTREAM_UNAVAILABLE', async () => {
    const home = join(place.dir, 'strange');
    mkdirSync(home);
    const { error } = await place.fetch(`git::${open.url}/org/tool.git`, { credentials: { HOME: home } });
    expect(error?.code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('a repository without a commit: NOT_FOUND', async () => {
    new TestRepository(join(served, 'org/empty.git'));
    const { error } = await place.fetch('github.com/org/empty');
    expect([error?.code, error?.message]).toEqual(['NOT_FOUND', expect.stringMatching(/has no commit/)]);
  });

  it('a server that takes the connection and says nothing: UPSTREAM_TIMEOUT', async () => {
    const { port } = silent.address() as { port: number };
    const home = join(place.dir, 'silent');
    mkdirSync(home);
    writeFileSync(join(home, '.gitconfig'), `[url "git://127.0.0.1:${port}/"]\n\tinsteadOf = https://github.com/\n`);
    const limits = { ...FETCH_LIMITS, stall_ms: 300 };
    const { error, left } = await place.fetch('github.com/org/tool', { limits, credentials: { HOME: home } });
    expect([error?.code, left]).toEqual(['UPSTREAM_TIMEOUT', []]);
  });

  it('a tag that moved since the lock was written: CONFLICT, with the source that still gets the old commit', async () => {
    const { error } = await place.fetch('github.com/org/tool@v2', { expected: { commit: first } });
    expect(error?.code).toBe('CONFLICT');
    expect(error?.remedy).toContain(`github.com/org/tool@${first}`);
    expect(error?.details).toEqual({ expected_commit: first, commit: second });
    const old = await place.fetch(`github.com/org/tool@${first}`, { expected: { commit: first } });
    expect(old.files).toEqual(TOOL);
  });

  it('a branch that moved on since the lock was written still gives the commit of the lock', async () => {
    for (const source of ['github.com/org/tool', 'github.com/org/tool@main']) {
      const { tool: fetched, files } = await place.fetch(source, { expected: { commit: first } });
      expect(files).toEqual(TOOL);
      expect(fetched?.resolved).toEqual({ source, commit: first, ref: 'refs/heads/main' });
    }
    const gone = await place.fetch('github.com/org/tool', { expected: { commit: '12'.repeat(20) } });
    expect(gone.error?.code).toBe('NOT_FOUND');
  });

  it('no git on PATH: PATH_NOT_FOUND', async () => {
    const { error } = await place.fetch('github.com/org/tool', { credentials: { PATH: place.home } });
    expect([error?.code, error?.message]).toEqual(['PATH_NOT_FOUND', expect.stringMatching(/needs git/)]);
  });
});
