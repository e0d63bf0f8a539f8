import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import { readDotenv } from '#src/scrub/vault/seeds/credential-files.js';
import { seedValues } from '#src/scrub/vault/seeds/seed-value.js';
import { createSeeds, type Seeds } from '#src/scrub/vault/seeds.js';
import { generate, seededRandom } from '../../../helpers/sample-patterns.ts';
import { sessionNamed } from '../../../helpers/sessions.ts';

const random = seededRandom(3);
const make = (): string => generate('[a-z]{6}[0-9]{2}[A-Z]{6}[a-z0-9]{6}', random);

let home: string;
let project: string;
let now: number;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'seeds-home-')));
  project = realpathSync(mkdtempSync(join(tmpdir(), 'seeds-project-')));
  now = 0;
});
afterEach(() => {
  for (const dir of [home, project]) rmSync(dir, { recursive: true, force: true });
});

function plant(dir: string, file: string, text: string): void {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
}

function seedsWith(variables: { name: string; value: string }[] = [], root: string | null = project): Seeds {
  const clock = { now: () => now, monotonic: () => now };
  const envValues = async (texts: readonly string[]) => texts.map((text) => seedValues(readDotenv(text)));
  return createSeeds({ home, variables, projectOf: async () => root, envValues, logger: silentLogger, clock });
}

async function knows(seeds: Seeds, value: string): Promise<boolean> {
  const guards = await seeds.guardsFor(sessionNamed('s'));
  return guards.some((guard) => guard.scan(`before ${value} after`).length > 0);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe("SEC-1.3 the user's credentials are known from the start", () => {
  it.each([
    ['.netrc', (s: string) => `machine h login me password ${s}\n`],
    ['.netrc', (s: string) => `machine h\n  login me\n  password "${s}"\n`],
    ['.npmrc', (s: string) => `//registry.example/:_authToken=${s}\n`],
    ['.npmrc', (s: string) => `//registry.example/:_auth=${base64(`me:${s}`)}\n`],
    ['.pypirc', (s: string) => `[pypi]\nusername = me\npassword = ${s}\n`],
    ['.aws/credentials', (s: string) => `[default]\naws_access_key_id = x\naws_secret_access_key = ${s}\n`],
    ['.docker/config.json', (s: string) => JSON.stringify({ auths: { h: { auth: base64(`me:${s}`) } } })],
    ['.kube/config', (s: string) => `users:\n- name: me\n  user:\n    token: ${s}\n`],
    ['.config/gh/hosts.yml', (s: string) => `github.com:\n    oauth_token: ${s}\n`],
    ['.git-credentials', (s: string) => `https://me:${s}@host\n`],
    ['.git-credentials', (s: string) => `https://${s}:x-oauth-basic@host\n`],
    ['.config/gcloud/application_default_credentials.json', (s: string) => JSON.stringify({ refresh_token: s })],
    ['.azure/msal_token_cache.json', (s: string) => JSON.stringify({ AccessToken: { a: { secret: s } } })],
    ['.cargo/credentials.toml', (s: string) => `[registry]\ntoken = "${s}"\n`],
    ['.pgpass', (s: string) => `h:5432:db:me:${s}\n`],
  ])('%s', async (file, textOf) => {
    const secret = make();
    plant(home, file, textOf(secret));
    expect(await knows(seedsWith(), secret)).toBe(true);
  });

  it('includes variables', async () => {
    const secret = make();
    expect(await knows(seedsWith([{ name: 'BACKUP_TOKEN', value: secret }]), secret)).toBe(true);
  });
});

describe('SEC-1.3 .env files of a project', () => {
  it.each([
    ['.env', (s: string) => `API_KEY=${s}\n`],
    ['.env.production', (s: string) => `export API_KEY="${s}" # note\n`],
    ['services/api/.env.local', (s: string) => `A='it'\nAPI_KEY='${s}'\n`],
    ['.env', (s: string) => `DATABASE_URL=postgres://app:${s}@db:5432/app\n`],
    ['.env', (s: string) => `BROKEN='never closed\nAPI_KEY=${s}\n`],
  ])('%s', async (file, textOf) => {
    const secret = make();
    plant(project, file, textOf(secret));
    expect(await knows(seedsWith(), secret)).toBe(true);
  });

  it.each([
    ['a template', '.env.example'],
    ['a file of a dependency', 'node_modules/x/.env'],
    ['a file deep in the tree', 'a/b/c/d/e/.env'],
  ])('does not include %s', async (_what, file) => {
    const secret = make();
    plant(project, file, `API_KEY=${secret}\n`);
    expect(await knows(seedsWith(), secret)).toBe(false);
  });

  it('are not read in a directory that is not registered', async () => {
    const secret = make();
    plant(project, '.env', `API_KEY=${secret}\n`);
    expect(await knows(seedsWith([], null), secret)).toBe(false);
  });

  it('are read again if one changed or appeared, at most once a second, and old values stay known', async () => {
    const [first, second, third] = [make(), make(), make()];
    plant(project, '.env', `API_KEY=${first}\n`);
    const seeds = seedsWith();
    expect(await knows(seeds, first)).toBe(true);
    plant(project, '.env', `API_KEY=${second}-longer\n`);
    plant(project, 'sub/.env', `API_KEY=${third}\n`);
    now = 999;
    expect(await knows(seeds, second)).toBe(false);
    now = 1_000;
    expect([await knows(seeds, `${second}-longer`), await knows(seeds, third)]).toEqual([true, true]);
    expect(await knows(seeds, first)).toBe(true);
  });
});

describe('what cannot be read', () => {
  it('does not delay a call, and is reported by name', async () => {
    const outside = make();
    plant(home, 'outside', `API_KEY=${outside}\n`);
    symlinkSync(join(home, 'outside'), join(project, '.env'));
    symlinkSync(home, join(project, 'linked'));
    execFileSync('mkfifo', [join(project, '.env.pipe'), join(home, '.netrc')]);
    mkdirSync(join(project, '.env.dir'));
    plant(project, '.env.huge', `API_KEY=${make()}\n${'#'.repeat(1024 * 1024)}`);
    const seeds = seedsWith();
    expect(await knows(seeds, outside)).toBe(false);
    const skipped = Object.fromEntries(seeds.skipped().map(({ file, why }) => [file, why]));
    expect(skipped).toMatchObject({
      [join(home, '.netrc')]: 'not a regular file',
      [join(project, '.env')]: 'ELOOP',
      [join(project, '.env.pipe')]: 'not a regular file',
      [join(project, '.env.huge')]: 'over the limit of 131072 bytes for the .env files of a project',
    });
    expect(JSON.stringify(skipped)).not.toContain(outside);
  });

  it('includes what is beyond the limit of a project, and small files are read first', async () => {
    const [kept, lost] = [make(), make()];
    plant(project, '.env.a', `API_KEY=${lost}\n${'#'.repeat(100_000)}`);
    plant(project, '.env.b', '#'.repeat(90_000));
    plant(project, 'app/.env', `API_KEY=${kept}\n`);
    const seeds = seedsWith();
    expect([await knows(seeds, kept), await knows(seeds, lost)]).toEqual([true, false]);
    expect(seeds.skipped()).toEqual([{ file: join(project, '.env.a'), why: expect.stringContaining('131072 bytes') }]);
  });

  it('includes the rest of a directory with too many entries, but not the usual names', async () => {
    const secret = make();
    for (let at = 0; at <= 10_000; at++) plant(project, `f${at}`, '');
    plant(project, '.env', `API_KEY=${secret}\n`);
    const seeds = seedsWith();
    expect(await knows(seeds, secret)).toBe(true);
    expect(seeds.skipped()).toEqual([{ file: project, why: 'too many entries to look at each of them' }]);
  });

  it('fails the calls of its own project until it is read', async () => {
    const secret = make();
    plant(project, '.env', `API_KEY=${secret}\n`);
    let isBroken = true;
    const other = mkdtempSync(join(tmpdir(), 'seeds-other-'));
    const seeds = createSeeds({
      home,
      variables: [],
      projectOf: async ({ project: name }) => (name === 'other' ? other : project),
      envValues: async (texts) => {
        if (isBroken) throw new Error('too late');
        return texts.map((text) => seedValues(readDotenv(text)));
      },
      logger: silentLogger,
      clock: { now: () => now, monotonic: () => now },
    });
    await expect(seeds.guardsFor(sessionNamed('s'))).rejects.toThrow('too late');
    await expect(seeds.guardsFor({ ...sessionNamed('s'), project: 'other' })).resolves.toHaveLength(2);
    isBroken = false;
    expect(await knows(seeds, secret)).toBe(true);
    rmSync(other, { recursive: true });
  });

  it('is ignored if it is malformed', async () => {
    plant(home, '.docker/config.json', '{"auths":');
    plant(home, '.kube/config', '\0\0\0');
    expect(await knows(seedsWith(), make())).toBe(false);
  });
});

describe('a project with many values', () => {
  it('lets other work go on while they are added', async () => {
    plant(project, '.env', Array.from({ length: 1_000 }, (_, at) => `API_KEY_${at}=${make()}\n`).join(''));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    await seedsWith().guardsFor(sessionNamed('s'));
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(15);
  });
});

describe('the thread that searches outputs', () => {
  it('reads the files of a project', async () => {
    const scanner = createScanner({
      config: { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 },
      logger: silentLogger,
      readRules: async () => ({ pack: [], official: { name: 'gitleaks.toml', text: '' } }),
    });
    const secret = make();
    expect(await scanner.envValues([`API_KEY=${secret}`, ''])).toEqual([[secret], []]);
    await scanner.stop();
  });
});

describe('values that are not worth masking', () => {
  it.each([
    'short1',
    'true',
    'development',
    'changeme-please-1',
    'your-api-key-here',
    'aaaaaaaaaaaaaaaa',
    '1234567890',
    '/usr/local/share/keys',
    './certs/server.pem',
    'https://example.com/path',
    'db.example.com:5432',
    'me@example.com',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what a file holds.
    '${OTHER_SECRET}',
    '<your-token>',
    'production',
  ])('%s', (value) => {
    expect(seedValues([{ name: 'API_SECRET', value }])).toEqual([]);
  });

  it('are kept only if they look random, under a name that is not telling', () => {
    const values = (value: string): string[] => seedValues([{ name: 'THING', value }]);
    expect(values('my-nice-app-2')).toEqual([]);
    expect(values('0123456789abcdef0123deadbeef0011')).toEqual([]);
    const secrets = ['[A-Za-z0-9]{40}', 'SG.[A-Za-z0-9]{22}.[A-Za-z0-9]{40}'].map((pattern) =>
      generate(pattern, random),
    );
    for (const secret of secrets) expect(values(secret)).toEqual([secret]);
  });
});
