import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSource, readSource } from '#src/config/credential-source.js';
import { silentLogger } from '#src/core/log.js';
import { createNetworkCredentialManagement } from '#src/features/network/credential-management.js';
import { headerValue, NetworkCredentials } from '#src/features/network/credentials.js';
import type { NetworkCredentialInfo__Output as NetworkCredentialInfo } from '#src/protocol/generated/management.js';
import { createCredentialStore, type StoredCredential } from '#src/stores/credentials.js';
import { makeTempDir, openTestDatabase, openTestProjects, TestClock } from '../../stores/open-stores.ts';

const SECRET = 'q7Vt2mLx9Kp4';
const HOUR_MS = 3_600_000;

function credential(more: Partial<StoredCredential> = {}): StoredCredential {
  return {
    scope: '/p',
    host: 'api.example.com',
    port: 443,
    paths: [],
    header: 'authorization',
    scheme: 'bearer',
    user: '',
    secret: SECRET,
    source: 'env:TOKEN',
    methods: ['GET', 'HEAD'],
    placeholders: [],
    refreshMs: 0,
    readMs: 0,
    givenBy: 'ann',
    ...more,
  };
}

async function open() {
  const dir = await makeTempDir();
  const database = await openTestDatabase(dir);
  const clock = new TestClock();
  const environment = { path: '', home: dir, variable: () => undefined };
  const { projects } = await openTestProjects(database, clock);
  const make = () => {
    const store = createCredentialStore({ database });
    return new NetworkCredentials({ store, projects, environment, clock, logger: silentLogger });
  };
  const credentials = make();
  await credentials.start();
  const changed: string[] = [];
  credentials.onChange((scope) => changed.push(scope));
  return { dir, database, clock, projects, credentials, make, changed };
}

describe('Credentials of the daemon', () => {
  it('hold for their project, those of the machine for all, and the project wins', async () => {
    const { credentials, make, changed } = await open();
    await credentials.set(credential({ scope: '', secret: `${SECRET}machine` }));
    await credentials.set(credential());
    await credentials.set(credential({ paths: ['/v1/*'] }));
    const again = make();
    await again.start();
    for (const one of [credentials, again]) {
      expect(one.boundFor('/p').map(({ value, paths }) => [value, paths])).toEqual([
        [`Bearer ${SECRET}`, ['/v1/*']],
        [`Bearer ${SECRET}`, []],
      ]);
      expect(one.boundFor('/q').map(({ value }) => value)).toEqual([`Bearer ${SECRET}machine`]);
    }
    expect(changed).toEqual(['', '/p', '/p']);
    await again.forget('/p');
    expect(again.boundFor('/p').map(({ value }) => value)).toEqual([`Bearer ${SECRET}machine`]);
  });

  it.each([
    [{ scheme: 'bearer' }, `Bearer ${SECRET}`],
    [{ scheme: 'token' }, `token ${SECRET}`],
    [{ scheme: 'plain' }, SECRET],
    [{ scheme: 'basic' }, `Basic ${Buffer.from(`x-access-token:${SECRET}`).toString('base64')}`],
    [{ scheme: 'basic', user: 'ann' }, `Basic ${Buffer.from(`ann:${SECRET}`).toString('base64')}`],
    [{ scheme: 'basic', secret: `bob:${SECRET}` }, `Basic ${Buffer.from(`bob:${SECRET}`).toString('base64')}`],
  ] as const)('%j becomes %s', (more, value) => {
    expect(headerValue(credential(more))).toBe(value);
  });

  it('are masked in sessions of their project, in the form that the host gets as well', async () => {
    const { credentials } = await open();
    await credentials.set(credential({ scheme: 'basic' }));
    const seeds = credentials.withSeeds(null);
    const encoded = Buffer.from(`x-access-token:${SECRET}`).toString('base64');
    const found = async (project: string): Promise<number> => {
      const guards = await seeds.guardsFor({ project, session: 's', branch: null });
      return guards.flatMap((guard) => guard.scan(`a ${SECRET} b ${encoded} c`)).length;
    };
    expect(await found('/p')).toBeGreaterThanOrEqual(2);
    expect(await found('/q')).toBe(0);
    await credentials.remove(credentials.list('/p'));
    expect(await found('/p')).toBeGreaterThanOrEqual(2);
    expect(seeds.guards()).toHaveLength(1);
  });

  it('have no value once they have expired, until the file is read again', async () => {
    const { dir, clock, credentials, changed } = await open();
    const file = join(dir, 'token');
    await credentials.set(credential({ source: `file:${file}`, refreshMs: HOUR_MS, readMs: clock.now() }));
    clock.nowMs += HOUR_MS;
    expect(credentials.boundFor('/p')).toMatchObject([{ value: '' }]);
    await credentials.refresh();
    await credentials.refresh();
    expect(changed).toEqual(['/p', '/p']);
    expect(credentials.list('/p').map((one) => credentials.stateOf(one))).toEqual(['expired']);
    writeFileSync(file, `${SECRET}new\n`);
    clock.nowMs += HOUR_MS;
    await credentials.refresh();
    expect(credentials.boundFor('/p')).toMatchObject([{ value: `Bearer ${SECRET}new` }]);
  });

  it('are read again, at most once a minute, when the host does not accept them', async () => {
    const { dir, clock, credentials } = await open();
    const file = join(dir, 'token');
    await credentials.set(credential({ source: `file:${file}` }));
    const id = credentials.boundFor('/p')[0]?.id ?? '';
    writeFileSync(file, `${SECRET}second`);
    await credentials.rejected(id);
    expect(credentials.boundFor('/p')).toMatchObject([{ id, value: `Bearer ${SECRET}second` }]);
    writeFileSync(file, `${SECRET}third`);
    await credentials.rejected(id);
    expect(credentials.boundFor('/p')).toMatchObject([{ value: `Bearer ${SECRET}second` }]);
    expect(credentials.list('/p').map((one) => credentials.stateOf(one))).toEqual(['rejected']);
    clock.nowMs += 60_000;
    await credentials.rejected(id);
    expect(credentials.boundFor('/p')).toMatchObject([{ value: `Bearer ${SECRET}third` }]);
  });

  it('are not read again from a file that commands can replace by now, or from a link', async () => {
    const { dir, clock, projects, credentials } = await open();
    const file = join(dir, 'token');
    writeFileSync(join(dir, 'other'), `${SECRET}other`);
    symlinkSync(join(dir, 'other'), file);
    await credentials.set(credential({ source: `file:${file}` }));
    const id = credentials.boundFor('/p')[0]?.id ?? '';
    await credentials.rejected(id);
    expect(credentials.boundFor('/p')).toMatchObject([{ value: `Bearer ${SECRET}` }]);
    rmSync(file);
    writeFileSync(file, `${SECRET}own`);
    await projects.register(dir, []);
    clock.nowMs += 60_000;
    await credentials.rejected(id);
    expect(credentials.boundFor('/p')).toMatchObject([{ value: `Bearer ${SECRET}` }]);
  });
});

describe('setNetworkCredential', () => {
  const info: NetworkCredentialInfo = {
    host: 'API.example.com',
    port: 8443,
    header: 'authorization',
    scheme: 'bearer',
    user: '',
    source: 'env:TOKEN',
    methods: ['GET'],
    paths: ['/v1/*'],
    placeholders: ['TOKEN'],
    refresh_ms: 0,
    given_by: 'ann',
    from: '',
    read_ms: 0,
    state: '',
  };

  async function manage() {
    const { credentials, projects, clock } = await open();
    await projects.register('/project', []);
    const network = { rulesFor: () => [] };
    return { credentials, management: createNetworkCredentialManagement({ credentials, network, clock }) };
  }

  it('answers everything but the value, and changes nothing in a dry run', async () => {
    const { credentials, management } = await manage();
    const request = { credential: info, root: '', secret: SECRET, dry_run: true };
    const plan = await management.setNetworkCredential(request);
    expect(plan.credentials).toEqual([]);
    expect(plan.changed).toMatchObject([{ host: 'api.example.com', port: 8443, from: 'machine', state: 'ok' }]);
    expect(plan.notes.at(-1)).toBe(
      'Commands cannot reach api.example.com:8443 yet: ctxd network allow api.example.com:8443 --machine',
    );
    const done = await management.setNetworkCredential({ ...request, dry_run: false });
    expect(done.credentials).toHaveLength(1);
    expect(JSON.stringify([plan, done])).not.toContain(SECRET);
    expect(credentials.placeholdersFor('/any')).toEqual({ TOKEN: 'contextd-placeholder' });
    await expect(
      management.removeNetworkCredentials({ root: '', host: 'api.example.com', paths: [] }),
    ).rejects.toThrow();
    const gone = await management.removeNetworkCredentials({ root: '', host: 'api.example.com:8443', paths: [] });
    expect([gone.credentials.length, gone.changed.length]).toEqual([0, 1]);
  });

  it.each([
    [{ host: '10.0.0.1' }, 'is not a host'],
    [{ host: '*.example.com' }, 'is not a host'],
    [{ header: 'host' }, 'is not a header'],
    [{ header: 'proxy-authorization' }, 'is not a header'],
    [{ header: 'a b' }, 'is not a header'],
    [{ scheme: 'digest' }, 'is not a scheme'],
    [{ methods: [] }, 'is not a method'],
    [{ methods: ['CONNECT'] }, 'is not a method'],
    [{ paths: ['org/*'] }, 'is not a path'],
    [{ paths: ['/org/../*'] }, 'is not a path'],
    [{ paths: ['/org?x'] }, 'is not a path'],
    [{ user: 'a:b' }, 'a user name has no blanks and no colon'],
    [{ placeholders: ['PATH'] }, 'cannot hold a placeholder'],
    [{ placeholders: ['HTTPS_PROXY'] }, 'cannot hold a placeholder'],
    [{ source: 'file:relative' }, 'is not where a secret comes from'],
  ])('refuses %j', async (more, why) => {
    const { management } = await manage();
    const request = { credential: { ...info, ...more }, root: '', secret: SECRET, dry_run: false };
    await expect(management.setNetworkCredential(request)).rejects.toThrow(why);
  });

  it('refuses a file that commands can replace', async () => {
    const { management } = await manage();
    const credential = { ...info, source: 'file:/project/token' };
    const request = { credential, root: '', secret: SECRET, dry_run: false };
    await expect(management.setNetworkCredential(request)).rejects.toThrow('where commands can replace it');
  });

  it.each(['short', '12345678901', 'password', `two\nlines${SECRET}`, ` ${SECRET}`])(
    'refuses the secret %j',
    async (secret) => {
      const { management } = await manage();
      const request = { credential: info, root: '', secret, dry_run: false };
      await expect(management.setNetworkCredential(request)).rejects.toThrow('the secret is too short');
    },
  );
});

describe('readSource', () => {
  const environment = {
    path: '/nonexistent',
    home: '/',
    variable: (name: string) => (name === 'T' ? SECRET : undefined),
  };
  const read = (text: string) => readSource(parseSource(text), 'git.example.com', environment);

  it('reads variables and small files, and says what it cannot read', async () => {
    const dir = await makeTempDir();
    writeFileSync(join(dir, 'token'), `${SECRET}\n`);
    writeFileSync(join(dir, 'large'), 'x'.repeat(9_000));
    expect(await read('env:T')).toBe(SECRET);
    expect(await read(`file:${dir}/token`)).toBe(SECRET);
    await expect(read('env:U')).rejects.toThrow('the variable U holds no secret');
    await expect(read(`file:${dir}/large`)).rejects.toThrow('is not a file with a secret of at most 8192 bytes');
    await expect(read(`file:${dir}`)).rejects.toThrow('is not a file with a secret');
    await expect(read('file:/dev/zero')).rejects.toThrow('is not a file with a secret');
    symlinkSync(dir, join(dir, 'link'));
    await expect(read(`file:${dir}/link/token`)).rejects.toThrow('leads to another file');
    await expect(read('gh')).rejects.toThrow('gh is not installed');
  });
});
