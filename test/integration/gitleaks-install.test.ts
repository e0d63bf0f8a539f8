import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildWithGo, downloadProgram, installGitleaks } from '#src/scrub/gitleaks/install.js';
import { releaseFor } from '#src/scrub/gitleaks/pinned.js';
import { programBytes, putProgram } from '../unit/scrub/gitleaks/gitleaks-copy.ts';

let base = '';
let server: Server | undefined;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'gitleaks-')));
  await mkdir(join(base, 'bin'));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  server = undefined;
  await rm(base, { recursive: true, force: true });
});

async function serve(answer: RequestListener): Promise<string> {
  const made = createServer(answer);
  server = made;
  await new Promise<void>((listening) => made.listen(0, '127.0.0.1', listening));
  const address = made.address() as AddressInfo;
  return `http://127.0.0.1:${address.port}/gitleaks.tar.gz`;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A tar archive of files, as `tar` writes it. */
function archive(...files: [name: string, bytes: Buffer][]): Buffer {
  const blocks = files.flatMap(([name, bytes]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    return [withChecksum(header), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function withChecksum(header: Buffer): Buffer {
  header.fill(' ', 148, 156);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The archive with a link as its first entry. */
function asLink(tar: Buffer): Buffer {
  const header = Buffer.from(tar.subarray(0, 512));
  header.write('2LICENSE', 156);
  return Buffer.concat([withChecksum(header), tar.subarray(512)]);
}

describe('SEC-1.1 the release of gitleaks', () => {
  const program = programBytes();
  const whole = archive(['LICENSE', Buffer.from('terms\n')], ['gitleaks', program]);

  it('is pinned for every platform contextd runs on', () => {
    for (const platform of ['linux', 'darwin'])
      for (const arch of ['x64', 'arm64']) {
        const release = releaseFor(platform, arch);
        expect(release?.url).toMatch(new RegExp(`/v8\\.30\\.1/gitleaks_8\\.30\\.1_${platform}_${arch}\\.tar\\.gz$`));
        expect(release?.sha256).toMatch(/^[0-9a-f]{64}$/);
      }
    expect(releaseFor('win32', 'x64')).toBeUndefined();
  });

  it('contains the program if its checksum is the pinned one', async () => {
    const url = await serve((_request, answer) => answer.end(whole));
    expect((await downloadProgram({ url, sha256: sha256(whole) }, 10_000)).equals(program)).toBe(true);
  });

  it.each<[string, RequestListener, RegExp]>([
    ['another archive', (_request, answer) => answer.end(archive(['gitleaks', Buffer.from('evil')])), /sha256 .* not /],
    ['an archive cut short', (_request, answer) => answer.end(whole.subarray(0, -20)), /sha256 .* not /],
    ['a refusal', (_request, answer) => answer.writeHead(404).end(), /answers with 404/],
    [
      'a connection that breaks',
      (_request, answer) => {
        answer.writeHead(200, { 'content-length': whole.length });
        answer.write(whole.subarray(0, -20), () => answer.destroy());
      },
      /cannot download/,
    ],
  ])('is not used if the answer is %s', async (_what, listener, message) => {
    const url = await serve(listener);
    await expect(downloadProgram({ url, sha256: sha256(whole) }, 10_000)).rejects.toThrow(message);
  });

  it('is not used if the server is late or absent, or if the program is not in it', async () => {
    const silent = await serve(() => {});
    await expect(downloadProgram({ url: silent, sha256: sha256(whole) }, 50)).rejects.toThrow(/no answer in time/);
    server?.closeAllConnections();
    await new Promise<void>((done) => server?.close(() => done()));
    await expect(downloadProgram({ url: silent, sha256: sha256(whole) }, 10_000)).rejects.toThrow(/ECONNREFUSED/);
    const empty = archive(['README', Buffer.from('x')]);
    const url = await serve((_request, answer) => answer.end(empty));
    await expect(downloadProgram({ url, sha256: sha256(empty) }, 10_000)).rejects.toThrow(/holds no file gitleaks/);
  });

  it.each<[string, (tar: Buffer) => Buffer, RegExp]>([
    ['a file cut short', (tar) => tar.subarray(0, 700), /is not a whole tar archive/],
    ['a header whose checksum is wrong', (tar) => Buffer.concat([Buffer.from('x'), tar.subarray(1)]), /checksum/],
    ['a link of that name', asLink, /holds no file gitleaks/],
  ])('is not used if its archive holds %s', async (_what, damage, message) => {
    const damaged = gzipSync(damage(gunzipSync(archive(['gitleaks', program]))));
    const url = await serve((_request, answer) => answer.end(damaged));
    await expect(downloadProgram({ url, sha256: sha256(damaged) }, 10_000)).rejects.toThrow(message);
  });

  it('may hold the program as ./gitleaks', async () => {
    const dotted = archive(['./gitleaks', program]);
    const url = await serve((_request, answer) => answer.end(dotted));
    expect((await downloadProgram({ url, sha256: sha256(dotted) }, 10_000)).equals(program)).toBe(true);
  });
});

describe('SEC-1.1 installing gitleaks', () => {
  const said: string[] = [];
  const own = () => join(base, 'own');
  const deps = (release?: { url: string; sha256: string }, searchPath = join(base, 'bin')) => ({
    directory: own(),
    searchPath,
    release,
    /** Go is found through the process's own PATH; these tests are about the other ways. */
    runGo: async () => ({ isThere: false, fault: undefined }),
    say: (line: string) => void said.push(line),
  });
  beforeEach(() => void said.splice(0));

  it('takes the program from PATH, readable only by its owner', async () => {
    await putProgram(join(base, 'bin/gitleaks'), programBytes());
    expect(await installGitleaks(deps())).toEqual({ path: join(own(), 'gitleaks'), version: '8.30.1' });
    expect(await readdir(own())).toEqual(['gitleaks']);
    const modes = await Promise.all(['', 'gitleaks'].map((name) => stat(join(own(), name))));
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '700']);
  });

  it('builds it with Go if it is not on PATH', async () => {
    const runGo = async (folder: string) => {
      await putProgram(join(folder, 'gitleaks'), programBytes());
      return { isThere: true, fault: undefined };
    };
    expect((await installGitleaks({ ...deps(), runGo }))?.version).toBe('8.30.1');
    expect(await readdir(own())).toEqual(['gitleaks']);
  });

  it('says that it builds, and leaves no cache of Go that the person does not have', async () => {
    const [mine, bin] = [join(base, 'mine'), join(base, 'go-bin')];
    const script = [
      '#!/bin/sh',
      `if [ "$1" = env ]; then printf '%s\\n' "$HOME/.config/go/env" "\${GOMODCACHE:-$HOME/go/pkg/mod}" "\${GOCACHE:-$HOME/.cache/go-build}" "\${GOPATH:-$HOME/go}"; exit; fi`,
      // As the real one: checksums, and counters beside its settings.
      `mkdir -p "\${GOPATH:-$HOME/go}/pkg/sumdb" "\${XDG_CONFIG_HOME:-$HOME/.config}/go/telemetry"`,
      'mkdir -p "$GOCACHE/x" "$GOMODCACHE/y" && echo "$GOMODCACHE $GOCACHE $*" > "$HOME/seen" && cp "$HOME/gitleaks" "$GOBIN/gitleaks"',
    ];
    await mkdir(bin);
    await mkdir(mine);
    await writeFile(join(bin, 'go'), `${script.join('\n')}\n`, { mode: 0o755 });
    await putProgram(join(base, 'gitleaks'), programBytes());
    const before = { ...process.env };
    try {
      Object.assign(process.env, { PATH: `${bin}:${before.PATH}`, HOME: base, GOCACHE: mine });
      delete process.env.GOMODCACHE;
      expect((await installGitleaks({ ...deps(), runGo: buildWithGo }))?.version).toBe('8.30.1');
    } finally {
      process.env = before;
    }
    expect(said).toEqual([expect.stringMatching(/^Building gitleaks .* with Go \(/), 'gitleaks 8.30.1: built with Go']);
    expect(await readFile(join(base, 'seen'), 'utf8')).toMatch(
      new RegExp(`^${own()}/build-\\w+/GOMODCACHE ${mine} install -trimpath -modcacherw `),
    );
    expect([await readdir(own()), await readdir(mine)]).toEqual([['gitleaks'], ['x']]);
    for (const made of ['go', '.config']) expect(await readdir(base)).not.toContain(made);
  });

  it('downloads it if Go cannot build it, and reports what failed', async () => {
    const whole = archive(['gitleaks', programBytes()]);
    const url = await serve((_request, answer) => answer.end(whole));
    const runGo = async () => ({ isThere: true, fault: 'no such module' });
    const binary = await installGitleaks({ ...deps({ url, sha256: sha256(whole) }), runGo });
    expect(binary?.version).toBe('8.30.1');
    expect(said.join('\n')).toContain('Go could not build it: no such module');
  });

  it('continues without it if everything fails, and leaves nothing behind', async () => {
    const url = await serve((_request, answer) => answer.end('not it'));
    expect(await installGitleaks(deps({ url, sha256: '0'.repeat(64) }))).toBeNull();
    expect(said.join('\n')).toMatch(/has sha256 [0-9a-f]{64}, not 0{64}: it is not used/);
    expect(await readdir(own())).toEqual([]);
  });

  it('fetches nothing if the pinned version is already installed', async () => {
    await mkdir(own());
    await putProgram(join(own(), 'gitleaks'), programBytes());
    const binary = await installGitleaks(deps({ url: 'http://127.0.0.1:1/', sha256: '' }));
    expect(binary?.version).toBe('8.30.1');
    expect(said).toEqual([]);
  });

  it('keeps a program of another version only if the pinned one cannot be installed', async () => {
    await mkdir(own());
    await putProgram(join(own(), 'gitleaks'), programBytes('v8.1.0'));
    expect((await installGitleaks(deps()))?.version).toBe('8.1.0');
    await putProgram(join(base, 'bin/gitleaks'), programBytes());
    expect((await installGitleaks(deps()))?.version).toBe('8.30.1');
  });

  it('fails if it cannot create its directory', async () => {
    await writeFile(join(base, 'file'), '');
    await chmod(join(base, 'file'), 0o600);
    const blocked = { ...deps(), directory: join(base, 'file/own') };
    await expect(installGitleaks(blocked)).rejects.toThrow(/ENOTDIR/);
  });
});
