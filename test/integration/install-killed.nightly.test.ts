import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttps, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { fetchTool } from '#src/install/fetch.js';
import { FETCH_STEPS, type FetchStep } from '#src/install/messages.js';
import { parseSource } from '#src/install/source.js';
import { createAuthority } from '../helpers/authority.ts';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { TestRepository } from '../helpers/git-servers.ts';
import { tarOf } from '../helpers/hostile-archives.ts';

const place = new FetchPlace();
const isLinux = process.platform === 'linux';
let repository: TestRepository;
let web: HttpsServer;
let silent: Server;
let sources: Record<'git' | 'http' | 'folder', string>;
const LARGE_BYTES = 16 * 1024 * 1024;
const credentials = { NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') };

beforeAll(async () => {
  repository = new TestRepository(join(place.dir, 'repository'));
  const files = Object.fromEntries<string>(
    Array.from({ length: 200 }, (_, n) => [`d${n % 10}/f${n}`, `text ${n}\n`.repeat(50)]),
  );
  // Takes longer to unpack than it takes to find and kill who does it.
  files.large = randomBytes(LARGE_BYTES / 2).toString('hex');
  repository.commit(files);
  const archive = tarOf(Object.entries(files).map(([path, body]) => ({ path, body })));
  const authority = await createAuthority('Web of a test');
  writeFileSync(credentials.NODE_EXTRA_CA_CERTS, authority.pem);
  web = createHttps(await authority.issue('localhost'), ({ url }, response) => {
    if (url === '/tool.tgz') response.end(archive);
    else response.writeHead(404).end();
  });
  // git asks it for its refs and waits.
  silent = createServer((socket) => socket.on('error', () => {}));
  await Promise.all([web, silent].map((one) => new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))));
  const { port } = web.address() as AddressInfo;
  sources = {
    git: `git::file://${repository.dir}`,
    http: `https://localhost:${port}/tool.tgz`,
    folder: repository.dir,
  };
});

afterAll(async () => {
  silent.close();
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
  place.remove();
});

/** Processes that work in a directory, or in one below. */
function workersIn(dir: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const isZombie = / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''));
      return !isZombie && readlinkSync(`/proc/${pid}/cwd`).startsWith(dir);
    } catch {
      return false;
    }
  });
}

interface Ended {
  code: string;
  remedy: string | undefined;
}

/** Fetches until `step` begins, does `then`, and says how the fetch ended. */
async function interrupt(
  source: string,
  step: FetchStep,
  into: string,
  then: () => void,
  abort: AbortController,
): Promise<Ended> {
  let done = false;
  const options = place.options({
    into,
    credentials,
    signal: abort.signal,
    onProgress(progress) {
      if (done || progress.step !== step) return;
      done = true;
      then();
    },
  });
  try {
    await fetchTool(parseSource(source, '/'), options);
    return { code: 'installed', remedy: undefined };
  } catch (thrown) {
    if (!(thrown instanceof ContextdError)) throw thrown;
    return { code: thrown.code, remedy: thrown.remedy };
  }
}

describe.skipIf(!isLinux)('issue 17 part 2: whatever ends a fetch, nothing is left but the directory', () => {
  for (const kind of ['git', 'http', 'folder'] as const)
    for (const step of FETCH_STEPS)
      it(`${kind}: killed when it begins to ${step}`, async () => {
        const into = place.newInto();
        const kill = (): void => {
          for (const pid of workersIn(join(into, 'work'))) process.kill(pid, 'SIGKILL');
        };
        const { code, remedy } = await interrupt(sources[kind], step, into, kill, new AbortController());
        // A folder is neither looked up nor downloaded; the last step may be over before the signal comes.
        const isOver = step === 'check' || (kind === 'folder' && step !== 'unpack');
        if (!(isOver && code === 'installed')) {
          expect(code).toMatch(/RESOURCE_LIMIT|UPSTREAM_ERROR|INTEGRITY_FAILED/);
          expect(remedy).toMatch(/^[A-Z].{8,}/s);
          expect(readdirSync(into)).toEqual([]);
        }
        await expect.poll(() => workersIn(into)).toEqual([]);
        expect(readdirSync(place.home)).toEqual([]);
      });

  for (const kind of ['git', 'http', 'folder'] as const)
    for (const step of FETCH_STEPS)
      it(`${kind}: cancelled when it begins to ${step}`, async () => {
        const into = place.newInto();
        const abort = new AbortController();
        const { code } = await interrupt(sources[kind], step, into, () => abort.abort(), abort);
        if (code !== 'installed') expect([code, readdirSync(into)]).toEqual(['CANCELLED', []]);
        else expect(kind === 'folder' && (step === 'resolve' || step === 'download')).toBe(true);
        await expect.poll(() => workersIn(into)).toEqual([]);
      });

  it('cancelled before it begins: nothing is started', async () => {
    const into = place.newInto();
    const abort = new AbortController();
    abort.abort();
    expect((await interrupt(sources.git, 'resolve', into, () => {}, abort)).code).toBe('CANCELLED');
    expect(readdirSync(into)).toEqual([]);
  });

  it('a cancelled fetch ends the git that waits for a server', async () => {
    const home = join(place.dir, 'waiting');
    mkdirSync(home);
    const { port } = silent.address() as AddressInfo;
    writeFileSync(join(home, '.gitconfig'), `[url "git://127.0.0.1:${port}/"]\n\tinsteadOf = https://github.com/\n`);
    const into = place.newInto();
    const abort = new AbortController();
    const fetched = fetchTool(
      parseSource('github.com/org/tool', '/'),
      place.options({ into, signal: abort.signal, credentials: { HOME: home } }),
    );
    const failed = expect(fetched).rejects.toMatchObject({ code: 'CANCELLED' });
    await new Promise((resolve) => silent.once('connection', resolve));
    expect(workersIn(into).length).toBeGreaterThan(1);
    abort.abort();
    await failed;
    await expect.poll(() => workersIn(into)).toEqual([]);
    expect(readdirSync(into)).toEqual([]);
  });

  it('a daemon that dies takes the whole fetch with it', async () => {
    const home = join(place.dir, 'orphan');
    mkdirSync(home);
    const { port } = silent.address() as AddressInfo;
    writeFileSync(join(home, '.gitconfig'), `[url "git://127.0.0.1:${port}/"]\n\tinsteadOf = https://github.com/\n`);
    const into = place.newInto();
    const dist = join(import.meta.dirname, '../../dist/src/install');
    const program = join(place.dir, 'daemon.mjs');
    const options = {
      ...place.options({ into, credentials: { HOME: home } }),
      signal: undefined,
      onProgress: undefined,
    };
    writeFileSync(
      program,
      `import { fetchTool } from ${JSON.stringify(pathToFileURL(join(dist, 'fetch.js')).href)};
       import { parseSource } from ${JSON.stringify(pathToFileURL(join(dist, 'source.js')).href)};
       const options = ${JSON.stringify(options)};
       await fetchTool(parseSource('github.com/org/tool', '/'), { ...options, signal: new AbortController().signal, onProgress() {} });`,
    );
    const daemon: ChildProcess = spawn(process.execPath, [program], { stdio: 'ignore' });
    await new Promise((resolve) => silent.once('connection', resolve));
    expect(workersIn(into).length).toBeGreaterThan(1);
    daemon.kill('SIGKILL');
    await expect.poll(() => workersIn(into)).toEqual([]);
  });
});

describe('issue 17 part 1: a tool from a folder or an archive of this disk', () => {
  it('a folder arrives without .git, and a link in the place of the folder is followed once', async () => {
    symlinkSync(repository.dir, join(place.dir, 'linked'));
    const { files, tool } = await place.fetch(join(place.dir, 'linked'));
    expect(Object.keys(files)).toHaveLength(201);
    expect(tool?.resolved).toEqual({ source: join(place.dir, 'linked') });
  });

  it('a local archive arrives with its sha256', async () => {
    const path = join(place.dir, 'local.tgz');
    writeFileSync(path, tarOf([{ path: 'tool/f', body: 'x' }]));
    const { files, tool } = await place.fetch(path);
    expect(files).toEqual({ f: 'x' });
    expect(tool?.resolved.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['a folder that is not there', 'missing', 'PATH_NOT_FOUND'],
    ['a folder that is a file', 'plain', 'PATH_NOT_FOUND'],
    ['an archive that is not there', 'missing.tgz', 'PATH_NOT_FOUND'],
    ['an archive that is a folder', 'folder.zip', 'PATH_NOT_FOUND'],
    ['an archive that is a pipe', 'pipe.zip', 'PATH_NOT_FOUND'],
    ['a folder with a link out of it', 'links', 'INTEGRITY_FAILED'],
    ['a folder with a pipe', 'pipes', 'INTEGRITY_FAILED'],
  ])('%s: %s is %s', async (_name, path, code) => {
    const { execFileSync } = await import('node:child_process');
    writeFileSync(join(place.dir, 'plain'), 'x');
    for (const dir of ['folder.zip', 'links', 'pipes']) mkdirSync(join(place.dir, dir), { recursive: true });
    execFileSync('sh', ['-c', 'rm -f pipe.zip pipes/p links/l; mkfifo pipe.zip pipes/p; ln -s ../.. links/l'], {
      cwd: place.dir,
    });
    const { error, left } = await place.fetch(`./${path}`);
    expect([error?.code, left]).toEqual([code, []]);
    expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
  });
});
