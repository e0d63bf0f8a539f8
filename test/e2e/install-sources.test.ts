import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Agent, createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../helpers/authority.ts';
import { buildGoPrograms } from '../helpers/build-go-programs.ts';
import { type GitServer, startGitDaemon, TestRepository } from '../helpers/git-servers.ts';
import { tarOf, zipOf } from '../helpers/hostile-archives.ts';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

const SECRET = 'open-sesame';
const KEY = 'reader';

const programs = buildGoPrograms('s3-server');
const base = realpathSync(mkdtempSync(join(tmpdir(), 'sources-')));
const tool = join(base, 'weather');
let at: Installation;
let git: GitServer;
let web: Server;
let s3: ReturnType<typeof spawn> | undefined;
let endpoint = '';
let variables: Record<string, string>;

beforeAll(async () => {
  makeTool(tool);
  const names = readdirSync(tool);
  const entries = names.map((name) => ({
    path: name,
    body: readFileSync(join(tool, name)),
    mode: statSync(join(tool, name)).mode & 0o777,
  }));
  const [tar, zip] = [tarOf(entries.map((entry) => ({ ...entry, path: `weather-1/${entry.path}` }))), zipOf(entries)];
  writeFileSync(join(base, 'tool.tgz'), tar);

  const authority = await createAuthority('Sources of a test');
  const identity = await authority.issue('localhost');
  for (const [name, text] of Object.entries({
    'ca.pem': authority.pem,
    'cert.pem': identity.cert,
    'key.pem': identity.key,
  }))
    writeFileSync(join(base, name), text, { mode: 0o600 });
  variables = { NODE_EXTRA_CA_CERTS: join(base, 'ca.pem'), AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: SECRET };
  const files: Readonly<Record<string, Buffer>> = { '/tool.tar.gz': tar, '/tool.zip': zip };
  web = createServer(identity, ({ url = '' }, response) => {
    const file = files[url];
    if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));

  const repository = new TestRepository(join(base, 'git/org/weather.git'));
  makeTool(join(repository.dir, 'tools/weather'));
  repository.commit({ 'README.md': 'Not a tool.\n' });
  repository.git('tag', 'v1');
  git = await startGitDaemon(join(base, 'git'));

  at = await install({ init: false, warm: true });
  // git's own setting leads github.com to the server of the test.
  const config = `[url "${git.url}/"]\n\tinsteadOf = https://github.com/\n`;
  writeFileSync(join(at.environment.HOME ?? '', '.gitconfig'), config);
  if (programs.missing === null) await startS3(authority.pem, tar);
});

afterAll(async () => {
  s3?.kill('SIGKILL');
  web?.closeAllConnections();
  web?.close();
  await git?.close();
  await at?.remove();
  programs.remove();
  rmSync(base, { recursive: true, force: true });
});

/** gofakes3 behind TLS, with the archive in it. */
async function startS3(ca: string, tar: Buffer): Promise<void> {
  const words = [join(base, 'cert.pem'), join(base, 'key.pem'), KEY];
  const child = spawn(join(programs.dir, 's3-server'), words, { stdio: ['pipe', 'pipe', 'inherit'] });
  s3 = child;
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text) => resolve(String(text).trim())),
  );
  endpoint = `https://localhost:${port}`;
  const client = new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: KEY, secretAccessKey: SECRET },
    requestHandler: { httpsAgent: new Agent({ ca }) },
  });
  await client.send(new CreateBucketCommand({ Bucket: 'tools' }));
  await client.send(new PutObjectCommand({ Bucket: 'tools', Key: 'tool.tgz', Body: tar }));
  client.destroy();
}

function webUrl(path: string): string {
  return `https://localhost:${(web.address() as AddressInfo).port}${path}`;
}

const sources: readonly [what: string, source: () => string][] = [
  ['github.com with a folder and a tag', () => 'github.com/org/weather//tools/weather@v1'],
  ['a repository on this disk', () => `git::file://${base}/git/org/weather.git//tools/weather@main`],
  ['a .tar.gz of a web server', () => webUrl('/tool.tar.gz')],
  ['a .zip of a web server', () => webUrl('/tool.zip')],
  ['an object of S3', () => `s3::${endpoint}/tools/tool.tgz`],
  ['a folder', () => tool],
  ['an archive on this disk', () => join(base, 'tool.tgz')],
];

describe('FR-10.1 FR-10.2 FR-10.3 a tool answers through the proxy after one command', () => {
  for (const [what, source] of sources)
    it.skipIf(what.includes('S3') && programs.missing !== null)(`from ${what}`, async () => {
      const project = join(base, `project ${what.replaceAll(/\W+/g, ' ')}`);
      mkdirSync(project);
      const run = (program: string, ...words: string[]): Promise<Finished> =>
        at.run(program, words, { cwd: project, env: variables });
      await run(CTXD, 'init', '--no-toolchains', '--no-network');
      const { code, stderr, stdout } = await run(CTXD, 'tool', 'install', source(), '--yes');
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('ctxd:')]);
      expect(stdout).toContain(`weather 1.0.0 is installed, from ${source()}`);
      const answer = await run('.claude/tools/weather/weather', '{"city":"Oslo"}');
      expect(JSON.parse(answer.stdout)).toMatchObject({
        success: true,
        data: { version: '1.0.0', input: { city: 'Oslo' } },
      });
      const lock = JSON.parse(readFileSync(join(project, 'contextd.lock'), 'utf8')) as { tools: { weather: object } };
      const pin =
        source().startsWith('/') && !source().endsWith('.tgz')
          ? 'sha256'
          : /git/.test(source())
            ? 'commit'
            : 'archive_sha256';
      expect(Object.keys(lock.tools.weather)).toContain(pin);
    });
});
