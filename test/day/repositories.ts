import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveGit } from '../fixtures/private-host.ts';
import { createAuthority } from '../helpers/authority.ts';

/** Repositories and an API behind HTTPS on this machine, by its name and with a certificate of their own. */
export interface Repositories {
  /** `https://NAME:PORT` */
  readonly url: string;
  /** `NAME:PORT`, as a rule names it. */
  readonly place: string;
  /** The address to which the name leads. */
  readonly address: string;
  /** A file with the certificates that the person trusts, and the one of this server. */
  readonly bundle: string;
  close(): Promise<void>;
}

const SYSTEM_BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

/** Null if the name of this machine leads nowhere. */
export async function serveRepositories(): Promise<Repositories | null> {
  const name = hostname().toLowerCase();
  const address = (await lookup(name, { family: 4 }).catch(() => null))?.address;
  if (address === undefined) return null;
  const dir = mkdtempSync(join(tmpdir(), 'day-repositories-'));
  const authority = await createAuthority('Day CA');
  const server = createServer(await authority.issue(name), (request, response) => {
    if (request.url === '/api/status')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"up":true}');
    else serveGit(request, response, dir);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  const place = `${name}:${(server.address() as AddressInfo).port}`;
  fill(dir, `https://${place}`);
  const bundle = join(dir, 'certificates.pem');
  const present = [process.env.SSL_CERT_FILE ?? '', ...SYSTEM_BUNDLES].find((path) => path !== '' && existsSync(path));
  writeFileSync(bundle, `${present === undefined ? '' : readFileSync(present, 'utf8')}\n${authority.pem}`);
  return {
    url: `https://${place}`,
    place,
    address,
    bundle,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `one.git` with a commit, and `two.git` that has it as a submodule. */
function fill(dir: string, url: string): void {
  const draft = join(dir, 'draft');
  mkdirSync(draft);
  const git = (cwd: string, ...words: readonly string[]): void => {
    const identity = ['-c', 'user.name=Ann Example', '-c', 'user.email=ann@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...identity, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  for (const [name, files] of Object.entries({ one: { 'one.txt': 'one\n' }, two: { 'two.txt': 'two\n' } })) {
    const work = join(draft, name);
    mkdirSync(work);
    git(work, 'init', '-q', '-b', 'main');
    for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
    if (name === 'two') {
      // The server cannot be asked while this process is busy.
      git(work, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(dir, 'one.git'), 'sub');
      git(work, 'config', '-f', '.gitmodules', 'submodule.sub.url', `${url}/one.git`);
    }
    git(work, 'add', '-A');
    git(work, 'commit', '-q', '-m', `The first of ${name}`);
    git(draft, 'clone', '-q', '--bare', work, join(dir, `${name}.git`));
    git(join(dir, `${name}.git`), 'config', 'http.receivepack', 'true');
  }
  rmSync(draft, { recursive: true });
}
