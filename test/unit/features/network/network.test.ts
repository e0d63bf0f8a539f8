import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#src/audit/log.js';
import { checkConfig } from '#src/config/load.js';
import type { Timer } from '#src/core/clock.js';
import type { Denial } from '#src/core/envelope.js';
import { silentLogger } from '#src/core/log.js';
import { type ConnectionFact, type EgressCommand, scopeKey } from '#src/egress/messages.js';
import { NetworkJournal } from '#src/features/network/journal.js';
import { createNetworkManagement } from '#src/features/network/management.js';
import { Network } from '#src/features/network/network.js';
import { createNetworkLog } from '#src/stores/network-log.js';
import { createNetworkRules, type NewRule } from '#src/stores/network-rules.js';
import type { Database } from '#src/stores/sqlite.js';
import { DAY_MS, makeTempDir, openTestDatabase, openTestProjects, TestClock } from '../../stores/open-stores.ts';

const NO_CREDENTIALS = {
  boundFor: () => [],
  placeholdersFor: () => ({}),
  rejected: async () => {},
  refresh: async () => {},
  forget: async () => {},
};
const COMMANDS = scopeKey({ project: '/p', tool: null });
const EVERYTHING = { project: '', session: '', deniedOnly: false, afterId: 0, limit: 100 };
const NEVER: Timer = { after: () => () => {} };
const MIRRORS = [{ pattern: 'mirror.example.com:8443', privateAddresses: ['10.0.0.5'] }];
const BY_ANN = {
  by: 'ann',
  once: false,
  for_ms: 0,
  private_addresses: [],
  dry_run: false,
};

function rule(pattern: string, more: Partial<NewRule> = {}): NewRule {
  const limits = { once: false, expiresMs: null, privateAddresses: [], anyPrivate: false };
  return { pattern, group: null, verdict: 'allow', givenBy: 'ann', ...limits, ...more };
}

let lastId = 0;

function fact(more: Partial<ConnectionFact>): ConnectionFact {
  lastId += 1;
  return {
    id: lastId,
    scope: COMMANDS,
    namespace: 'net:[1]',
    lane: null,
    atMs: 5,
    host: 'a.example.com',
    port: 443,
    via: 'connect',
    allowed: true,
    rule: 'a.example.com',
    why: '',
    isAllowable: false,
    ...more,
  };
}

/** The network of a daemon with everything it sends, on a database of its own or on `database`. */
async function open({ database, mode = 'on' }: { database?: Database; mode?: 'on' | 'off' } = {}) {
  const used = database ?? (await openTestDatabase(await makeTempDir()));
  const clock = new TestClock();
  const { config } = checkConfig({ network: { default: mode } });
  if (config === undefined) throw new Error('the configuration is valid');
  const rules = createNetworkRules({ database: used, clock });
  const log = createNetworkLog({ database: used });
  const told: EgressCommand[] = [];
  const refused: [string, Denial][] = [];
  const audit: AuditRecord[] = [];
  const journal = new NetworkJournal({
    log,
    clock,
    timer: NEVER,
    logger: silentLogger,
    auditLog: { append: async (record) => void audit.push(record) },
    liveSessions: { list: () => [{ project: '/p', session: 'only', branch: null }] },
    mask: (text) => text.replaceAll('hunter2', '[MASKED]'),
  });
  const network = new Network({
    extraCa: () => [],
    mirrorsOf: (group) => (group === 'npm' ? MIRRORS : []),
    rules,
    journal,
    credentials: NO_CREDENTIALS,
    config: config.network,
    clock,
    logger: silentLogger,
  });
  network.connect({
    tell: (command) => told.push(command),
    onRefused: ({ requestId }, denial) => refused.push([requestId, denial]),
  });
  await network.start();
  const policies = (scope = COMMANDS) =>
    told.flatMap((one) =>
      one.op === 'policy' && one.scope === scope ? [one.policy.rules.map((it) => it.pattern)] : [],
    );
  return { database: used, clock, rules, log, told, refused, audit, journal, network, policies };
}

describe('the policies of the proxy process', () => {
  it('hold what a person decided for the project and the machine, and are sent again when it starts again', async () => {
    const { network, rules, policies, told } = await open();
    await rules.set('/p', [rule('a.example.com')]);
    await rules.set('', [rule('*.b.example.com')]);
    await rules.set('/other', [rule('c.example.com')]);
    expect(network.forCommands('/p')).toEqual({ network: 'project' });
    network.forCommands('/p');
    expect(policies()).toEqual([['a.example.com', '*.b.example.com']]);
    network.onEgress({ ev: 'ready' }, null);
    expect(policies()).toEqual([
      ['a.example.com', '*.b.example.com'],
      ['a.example.com', '*.b.example.com'],
    ]);
    expect(told.map(({ op }) => op)).toEqual(['settings', 'policy', 'settings', 'policy']);
  });

  it('come with what hosts got from an earlier process, so that the limit of uploads outlives it', async () => {
    const { network, told } = await open();
    network.forCommands('/p');
    network.onEgress({ ev: 'sent', scope: COMMANDS, host: 'a.example.com', bytes: 700 }, null);
    network.onEgress({ ev: 'sent', scope: COMMANDS, host: 'a.example.com', bytes: 900 }, null);
    network.onEgress({ ev: 'ready' }, null);
    expect(told.slice(-3)).toMatchObject([
      { op: 'settings' },
      { op: 'sent', scope: COMMANDS, hosts: { 'a.example.com': 900 } },
      { op: 'policy' },
    ]);
  });

  it('are sent at once when a decision changes, and are empty for a project whose network is off', async () => {
    const { network, rules, policies } = await open();
    network.forCommands('/p');
    await rules.set('', [rule('a.example.com')]);
    network.changed('');
    await rules.setOn('/p', false);
    network.changed('/p');
    expect(policies()).toEqual([[], ['a.example.com'], []]);
    expect(network.forCommands('/p')).toEqual({ network: 'none' });
  });

  it('include the mirrors of this machine if a group of theirs is allowed, for a tool if it asks for the group', async () => {
    const { network, rules, policies, told } = await open();
    network.forCommands('/p');
    network.forTool('/p', 'fetcher', ['network:npm']);
    network.forTool('/p', 'other', ['network:pypi']);
    await rules.set('/p', [
      rule('registry.npmjs.org', { group: 'npm' }),
      rule('registry.yarnpkg.com', { group: 'npm' }),
      rule('pypi.org', { group: 'pypi' }),
    ]);
    network.changed('/p');
    expect(policies().at(-1)?.toSorted()).toEqual(
      ['mirror.example.com:8443', 'pypi.org', 'registry.npmjs.org', 'registry.yarnpkg.com'].toSorted(),
    );
    const ofTool = (tool: string) => policies(scopeKey({ project: '/p', tool })).at(-1);
    expect(ofTool('fetcher')).toContain('mirror.example.com:8443');
    expect(ofTool('other')).toEqual(['pypi.org', 'files.pythonhosted.org']);
    const all = told.flatMap((one) => (one.op === 'policy' ? one.policy.rules : []));
    expect(all.find(({ pattern }) => pattern.startsWith('mirror'))).toMatchObject({
      verdict: 'allow',
      privateAddresses: ['10.0.0.5'],
    });
  });

  it('follow network.default if nobody decided for the project', async () => {
    const { network, rules } = await open({ mode: 'off' });
    expect(network.forCommands('/p')).toEqual({ network: 'none' });
    await rules.setOn('/p', true);
    expect(network.forCommands('/p')).toEqual({ network: 'project' });
  });

  it('lose a rule when its time is over, also in the database', async () => {
    const { network, rules, policies, clock, database } = await open();
    await rules.set('/p', [rule('a.example.com', { expiresMs: clock.nowMs + DAY_MS })]);
    network.forCommands('/p');
    clock.nowMs += DAY_MS;
    await network.expire();
    expect(policies()).toEqual([['a.example.com'], []]);
    expect(await database.read('SELECT * FROM network_rules')).toEqual([]);
  });
});

describe('a permission for one call', () => {
  it('is used up by the first call that uses it, which keeps it to its end', async () => {
    const { network, rules, policies, database } = await open();
    await rules.set('/p', [rule('a.example.com', { once: true })]);
    network.forCommands('/p');
    const other = network.began('/p', { session: 's', requestId: 'req_2' });
    const first = network.began('/p', { session: 's', requestId: 'req_1' });
    network.onEgress({ ev: 'connection', fact: fact({}) }, { session: 's', requestId: 'req_1' });
    other();
    expect(await database.read('SELECT * FROM network_rules')).toEqual([]);
    expect(network.rulesFor('/p').map(({ pattern }) => pattern)).toEqual(['a.example.com']);
    expect(policies()).toHaveLength(1);
    first();
    expect(policies().at(-1)).toEqual([]);
    expect(network.rulesFor('/p')).toEqual([]);
  });

  it('is over with the first of the commands that may have used it if the call is not known, so a job does not keep it', async () => {
    const { network, rules, policies } = await open();
    await rules.set('/p', [rule('a.example.com', { once: true })]);
    network.forCommands('/p');
    network.began('/p', { session: 's', requestId: 'job_1' });
    const call = network.began('/p', { session: 's', requestId: 'req_1' });
    const later = network.began('/p', { session: 's', requestId: 'req_2' });
    network.onEgress({ ev: 'connection', fact: fact({ lane: '127.32.250.7' }) }, null);
    expect(policies()).toHaveLength(1);
    call();
    expect(policies().at(-1)).toEqual([]);
    later();
    expect(network.rulesFor('/p')).toEqual([]);
  });

  it('is over when the proxy process starts again if nothing but a connection held it', async () => {
    const { network, rules, policies } = await open();
    await rules.set('/p', [rule('a.example.com', { once: true })]);
    network.forCommands('/p');
    network.onEgress({ ev: 'connection', fact: fact({}) }, { session: 's', requestId: 'req_that_ended' });
    expect(network.rulesFor('/p')).toHaveLength(1);
    network.onEgress({ ev: 'ready' }, null);
    expect([network.rulesFor('/p'), policies().at(-1)]).toEqual([[], []]);
  });

  it('is one permission if it is for a group, with the mirrors that the group includes', async () => {
    const { network, rules, policies } = await open();
    const hosts = ['registry.npmjs.org', 'registry.yarnpkg.com'];
    await rules.set('/p', [
      ...hosts.map((host) => rule(host, { group: 'npm', once: true })),
      rule('pypi.org', { group: 'pypi', once: true }),
    ]);
    network.forCommands('/p');
    const run = { session: 's', requestId: 'req_1' };
    const end = network.began('/p', run);
    const mirror = { host: 'mirror.example.com', port: 8443, rule: 'mirror.example.com:8443' };
    network.onEgress({ ev: 'connection', fact: fact(mirror) }, run);
    expect(policies().at(-1)).toEqual(expect.arrayContaining([...hosts, 'mirror.example.com:8443']));
    expect(rules.list('/p').map(({ pattern }) => pattern)).toEqual(['pypi.org']);
    await end();
    expect(policies().at(-1)).toEqual(['pypi.org']);
  });

  it('is used by each connection that it lets pass, not only if it is the first rule about the host', async () => {
    const used = async (once: Partial<NewRule>, others: readonly NewRule[]) => {
      const { network, rules } = await open();
      await rules.set('/p', [rule('*.example.com', { once: true, ...once }), ...others]);
      network.forCommands('/p');
      network.onEgress({ ev: 'connection', fact: fact({}) }, null);
      return rules.list('/p').every((one) => !one.once);
    };
    expect(await used({}, [])).toBe(true);
    expect(await used({}, [rule('a.example.com')])).toBe(false);
    expect(await used({ anyPrivate: true }, [rule('a.example.com')])).toBe(true);
    expect(await used({}, [rule('b.example.com'), rule('a.example.com', { verdict: 'deny' })])).toBe(true);
  });

  it('stays for the next call if it was only refused or looked up', async () => {
    const { network, rules } = await open();
    await rules.set('/p', [rule('a.example.com', { once: true })]);
    network.forCommands('/p');
    const end = network.began('/p', undefined);
    network.onEgress({ ev: 'connection', fact: fact({ allowed: false, why: 'no' }) }, null);
    network.onEgress({ ev: 'connection', fact: fact({ via: 'dns', port: 0 }) }, null);
    await end();
    expect(rules.list('/p')).toHaveLength(1);
  });

  it('goes at once, with the call that uses it, when a person takes it back', async () => {
    const { network, rules, policies } = await open();
    await rules.set('/p', [rule('a.example.com', { once: true })]);
    network.forCommands('/p');
    const [given] = rules.list('/p');
    if (given === undefined) throw new Error('the rule is there');
    network.began('/p', undefined);
    network.onEgress({ ev: 'connection', fact: fact({}) }, null);
    network.removed('/p', [given]);
    expect(policies().at(-1)).toEqual([]);
  });
});

describe('a tool', () => {
  const grants = (...targets: string[]) => ['exec', ...targets.map((target) => `network:${target}`)];
  const reached = async (asked: readonly string[], allowed: readonly NewRule[]) => {
    const { network, rules, policies } = await open();
    await rules.set('/p', allowed);
    expect(network.forTool('/p', 'fetcher', asked)).toEqual({ network: 'project', networkTool: 'fetcher' });
    return policies(scopeKey({ project: '/p', tool: 'fetcher' }))[0];
  };

  it('reaches what it asks for, which a person granted with it, and nothing else', async () => {
    for (const allowed of ['a.example.com', 'b.example.com', '*.example.com', '*.a.example.com:8443'])
      expect(await reached(grants('a.example.com', '*.b.example.com:8443'), [rule(allowed)])).toEqual([
        'a.example.com',
        '*.b.example.com:8443',
      ]);
    expect(await reached(grants('npm'), [])).toEqual([
      'registry.npmjs.org',
      'registry.yarnpkg.com',
      MIRRORS[0]?.pattern,
    ]);
  });

  it('reaches a private address of a host only if it asks for the host and a person allowed the address', async () => {
    const both: readonly [string, string, readonly string[]][] = [
      ['a.example.com', 'a.example.com', ['a.example.com']],
      ['a.example.com', 'b.example.com', []],
      ['*.example.com', 'a.example.com', ['a.example.com']],
      ['a.example.com', '*.example.com', ['a.example.com']],
      ['*.example.com', '*.a.example.com', ['*.a.example.com']],
      ['example.com', '*.example.com', []],
      ['evilexample.com', '*.example.com', []],
      ['a.example.com:8443', 'a.example.com', []],
      ['a.example.com:443', 'a.example.com', ['a.example.com:443']],
      ['a.example.com', 'a.example.com:80', ['a.example.com:80']],
      ['a.example.com:8443', '*.example.com:8443', ['a.example.com:8443']],
      ['a.example.com:22', '*.example.com:8443', []],
      ['npm', 'registry.npmjs.org', ['registry.npmjs.org']],
    ];
    for (const [asked, allowed, expected] of both) {
      const { network, rules, told } = await open();
      await rules.set('/p', [rule(allowed, { privateAddresses: ['10.0.0.9'] })]);
      network.forTool('/p', 'fetcher', grants(asked));
      const known = told.flatMap((one) => (one.op === 'policy' ? one.policy.rules : []));
      const reaching = known.filter(({ privateAddresses }) => privateAddresses.includes('10.0.0.9'));
      expect([asked, allowed, reaching.map(({ pattern }) => pattern)]).toEqual([asked, allowed, expected]);
    }
  });

  it('tells the proxy process what its grants declare, with the hosts and mirrors of its groups; commands declare nothing', async () => {
    const { network, told } = await open();
    network.forCommands('/p');
    network.forTool('/p', 'fetcher', grants('a.example.com', '*.b.example.com:8443', 'npm'));
    const declared = told.flatMap((one) => (one.op === 'policy' ? [one.policy.declared] : []));
    expect(declared).toEqual([
      undefined,
      [
        'a.example.com',
        '*.b.example.com:8443',
        'registry.npmjs.org',
        'registry.yarnpkg.com',
        ...MIRRORS.map((one) => one.pattern),
      ],
    ]);
  });

  it('is held by every denial', async () => {
    const allowed = [rule('*.example.com'), rule('a.example.com', { verdict: 'deny' })];
    expect(await reached(grants('*.example.com'), allowed)).toEqual(['a.example.com', '*.example.com']);
  });

  it('has no network if it asks for none, whatever a person allowed', async () => {
    const { network, rules, told } = await open();
    await rules.set('/p', [rule('a.example.com')]);
    expect(network.forTool('/p', 'quiet', ['exec'])).toEqual({ network: 'none' });
    expect(told).toEqual([]);
  });
});

describe('the log', () => {
  it('has each connection with its bytes, and repeated refusals once', async () => {
    const { network, journal, log, clock } = await open();
    network.forCommands('/p');
    const run = { session: 's', requestId: 'req_1' };
    const allowed = fact({ atMs: clock.nowMs });
    network.onEgress({ ev: 'connection', fact: allowed }, run);
    await journal.flush();
    expect(await log.read(EVERYTHING)).toMatchObject([{ host: 'a.example.com', durationMs: null, isAllowed: true }]);
    clock.nowMs += 40;
    network.onEgress({ ev: 'closed', traffic: { id: allowed.id, up: 10, down: 2000 }, why: '' }, run);
    for (let i = 0; i < 3; i++)
      network.onEgress({ ev: 'connection', fact: fact({ host: 'evil.example', allowed: false, why: 'no' }) }, run);
    await journal.flush();
    expect(await log.read(EVERYTHING)).toMatchObject([
      { host: 'a.example.com', up: 10, down: 2000, durationMs: 40, requestId: 'req_1', session: 's', repeats: 1 },
      { host: 'evil.example', isAllowed: false, why: 'no', repeats: 3 },
    ]);
    expect(await log.read({ ...EVERYTHING, deniedOnly: true })).toHaveLength(1);
    expect(await log.read({ ...EVERYTHING, session: 'another' })).toEqual([]);
  });

  it('holds no secret that a program puts into a name', async () => {
    const { network, journal, log } = await open();
    network.forCommands('/p');
    network.onEgress(
      { ev: 'connection', fact: fact({ host: 'hunter2.evil.example', allowed: false, why: 'no' }) },
      null,
    );
    await journal.flush();
    expect(await log.read(EVERYTHING)).toMatchObject([{ host: '[MASKED].evil.example' }]);
  });

  it('records connections of no known call in the audit log of their session; those of a call are in its own record', async () => {
    const { network, journal, audit } = await open();
    network.forCommands('/p');
    const refusal = { host: 'evil.example', allowed: false, rule: null, why: 'no' } as const;
    network.onEgress({ ev: 'connection', fact: fact(refusal) }, { session: 's', requestId: 'req_1' });
    network.onEgress({ ev: 'connection', fact: fact({ ...refusal, port: 22 }) }, null);
    await journal.flush();
    expect(audit).toMatchObject([
      { kind: 'connections', project: '/p', session: 'only', connections: [{ host: 'evil.example', port: 22 }] },
    ]);
  });

  it('records every connection of no known call, those that were allowed first, also if there are more than a record lists', async () => {
    const { network, journal, audit } = await open();
    network.forCommands('/p');
    for (let n = 0; n < 500; n += 1)
      network.onEgress({ ev: 'connection', fact: fact({ host: `junk${n}.example`, allowed: false, why: 'no' }) }, null);
    network.onEgress({ ev: 'unreported', scope: COMMANDS, count: 7_000 }, null);
    const reached = fact({});
    network.onEgress({ ev: 'connection', fact: reached }, null);
    network.onEgress({ ev: 'closed', traffic: { id: reached.id, up: 5, down: 6 }, why: '' }, null);
    await journal.flush();
    const [record] = audit;
    const listed = (record?.connections ?? []) as { host: string; verdict: string; count?: number }[];
    expect(listed[0]).toMatchObject({ host: 'a.example.com', verdict: 'allowed', up: 5, down: 6 });
    expect(listed).toHaveLength(101);
    expect(listed.at(-1)).toMatchObject({ host: '*', verdict: 'denied' });
    expect(listed.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(7_501);
  });

  it('names the session of a connection of no known call if all calls that run are of one', async () => {
    const { network, journal, audit } = await open();
    network.forCommands('/p');
    const ends = ['one', 'one'].map((session, i) => network.began('/p', { session, requestId: `req_${i}` }));
    network.onEgress({ ev: 'connection', fact: fact({ allowed: false, why: 'no' }) }, null);
    network.began('/p', { session: 'two', requestId: 'req_3' });
    network.onEgress({ ev: 'connection', fact: fact({ allowed: false, why: 'no', port: 22 }) }, null);
    for (const end of ends) await end();
    await journal.flush();
    expect(audit.map(({ session, connections }) => [session, connections?.length])).toEqual([
      ['one', 1],
      ['', 1],
    ]);
  });

  it('repeats no audit record for what a record of the last minute has, and writes the rest of it later', async () => {
    const { network, journal, audit, clock } = await open();
    network.forCommands('/p');
    const refuse = () =>
      network.onEgress({ ev: 'connection', fact: fact({ allowed: false, why: 'no', atMs: clock.nowMs }) }, null);
    for (let n = 0; n < 5; n += 1) {
      refuse();
      await journal.flush();
    }
    expect(audit).toHaveLength(1);
    clock.nowMs += 60_000;
    await journal.flush();
    expect(audit.map(({ connections }) => connections)).toMatchObject([[{ up: 0 }], [{ count: 4 }]]);
    refuse();
    await journal.flush();
    refuse();
    await network.stop();
    expect(audit).toHaveLength(4);
  });

  it('has equal connections of a call once within a minute, with their number, their bytes and their own ends', async () => {
    const { network, journal, log, clock } = await open();
    network.forCommands('/p');
    const run = { session: 's', requestId: 'req_1' };
    const facts = [1, 2, 3, 4].map(() => fact({ atMs: clock.nowMs }));
    for (const one of facts) network.onEgress({ ev: 'connection', fact: one }, run);
    clock.nowMs += 40;
    const whys = ['', 'cut off', ''];
    for (const [i, why] of whys.entries())
      network.onEgress({ ev: 'closed', traffic: { id: facts[i]?.id ?? 0, up: 1, down: 10 }, why }, run);
    await journal.flush();
    expect(await log.read(EVERYTHING)).toMatchObject([
      { host: 'a.example.com', repeats: 3, up: 2, down: 20, durationMs: null, why: '' },
      { host: 'a.example.com', repeats: 1, up: 1, down: 10, durationMs: 40, why: 'cut off', isAllowed: true },
    ]);
    clock.nowMs += 60_000;
    network.onEgress({ ev: 'connection', fact: fact({ atMs: clock.nowMs }) }, run);
    await journal.flush();
    expect((await log.read(EVERYTHING)).map(({ repeats }) => repeats)).toEqual([3, 1, 1]);
  });

  it('is not filled by one project: its share is what the others leave, and a flood of names is one entry for each rule', async () => {
    const { network, journal, log, clock } = await open();
    network.forCommands('/p');
    network.forCommands('/q');
    const quiet = { scope: scopeKey({ project: '/q', tool: null }), host: 'b.example.com', rule: 'b.example.com' };
    network.onEgress({ ev: 'connection', fact: fact({ ...quiet, atMs: clock.nowMs }) }, null);
    for (let n = 0; n < 20_000; n += 1) {
      const asked = { host: `h${n}.example.com`, rule: '*.example.com', atMs: clock.nowMs };
      network.onEgress({ ev: 'connection', fact: fact(asked) }, null);
    }
    await journal.flush();
    const all = await log.read({ ...EVERYTHING, limit: 100_000 });
    expect(all.length).toBeLessThanOrEqual(1_002);
    expect(all.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(20_001);
    expect(all.at(-1)).toMatchObject({ host: '*.example.com', repeats: 19_000 });
    await log.prune({ maxAgeMs: DAY_MS, maxRows: 100 }, clock.nowMs);
    const kept = await log.read({ ...EVERYTHING, limit: 100_000 });
    expect(kept.map(({ project }) => project).filter((project) => project === '/q')).toHaveLength(1);
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept.length).toBeGreaterThanOrEqual(99);
  });

  it('ends what was open when the proxy process starts again, and keeps no more than a person asked for', async () => {
    const { network, journal, log, clock } = await open();
    network.forCommands('/p');
    network.onEgress({ ev: 'connection', fact: fact({ atMs: clock.nowMs - DAY_MS }) }, null);
    network.onEgress({ ev: 'ready' }, null);
    for (let port = 1; port <= 5; port++)
      network.onEgress({ ev: 'connection', fact: fact({ port, allowed: false, why: 'no', atMs: clock.nowMs }) }, null);
    await journal.flush();
    expect((await log.read(EVERYTHING))[0]).toMatchObject({ why: 'the proxy ended', durationMs: DAY_MS });
    await log.prune({ maxAgeMs: DAY_MS / 2, maxRows: 3 }, clock.nowMs);
    expect((await log.read(EVERYTHING)).map(({ port }) => port)).toEqual([3, 4, 5]);
  });
});

describe('an answer', () => {
  const denial = (host: string): Denial => ({
    kind: 'network',
    host,
    rule: 'no rule of this project allows it',
    how_to_allow: `A person can allow it: ctxd network allow ${host}`,
  });

  it('says that nobody has decided yet, as long as that is so, and names the group of a host', async () => {
    const { network, rules } = await open();
    expect(network.explained({ project: '/p', tool: null }, [denial('registry.npmjs.org')])).toEqual([
      {
        kind: 'network',
        host: 'registry.npmjs.org',
        rule: 'nobody has decided yet what this project may reach; only a person can',
        how_to_allow:
          'A person can allow it: ctxd network allow registry.npmjs.org, or ctxd network allow npm for its whole group',
      },
    ]);
    const [ofMirror] = network.explained({ project: '/p', tool: null }, [
      { ...denial('mirror.example.com'), port: 8443 },
    ]);
    expect(ofMirror?.how_to_allow).toContain(', or ctxd network allow npm for its whole group');
    const [bySsh] = network.explained({ project: '/p', tool: null }, [
      { ...denial('registry.npmjs.org:22'), host: 'registry.npmjs.org', port: 22 },
    ]);
    expect(bySsh?.how_to_allow).toBe('A person can allow it: ctxd network allow registry.npmjs.org:22');
    const [ofOther] = network.explained({ project: '/p', tool: null }, [
      { ...denial('mirror.example.com'), port: 443 },
    ]);
    expect(ofOther?.how_to_allow).not.toContain('npm');
    await rules.set('/p', [rule('a.example.com')]);
    expect(network.explained({ project: '/p', tool: null }, [denial('b.example.com')])).toEqual([
      denial('b.example.com'),
    ]);
  });

  it('has what is refused to the own process of a tool, if one call uses it', async () => {
    const { network } = await open();
    network.forTool('/p', 'fetcher', ['network:a.example.com']);
    const scope = scopeKey({ project: '/p', tool: 'fetcher' });
    const refuse = (host: string): void =>
      network.onEgress({ ev: 'connection', fact: fact({ scope, host, allowed: false, isAllowable: true }) }, null);
    const one = network.beganTool({ project: '/p', tool: 'fetcher' });
    const ofOther = network.beganTool({ project: '/p', tool: 'other' });
    for (const host of ['a.example.com', 'a.example.com', 'evil.example.com']) refuse(host);
    expect(one.denied.map(({ host }) => host)).toEqual(['a.example.com', 'evil.example.com']);
    const two = network.beganTool({ project: '/p', tool: 'fetcher' });
    refuse('b.example.com');
    one.end();
    refuse('c.example.com');
    expect(one.denied).toHaveLength(2);
    expect(two.denied.map(({ host }) => host)).toEqual(['c.example.com']);
    expect(ofOther.denied).toEqual([]);
  });

  it('reports what is refused to a job, by the id of the job', async () => {
    const { network, refused } = await open();
    network.forCommands('/p');
    const refusal = fact({ host: 'evil.example', allowed: false, rule: null, why: 'no', isAllowable: true });
    network.onEgress({ ev: 'connection', fact: refusal }, { session: 's', requestId: 'job_1' });
    expect(refused).toMatchObject([['job_1', { kind: 'network', host: 'evil.example', port: 443 }]]);
  });
});

describe('what a person decides', () => {
  async function managed() {
    const parts = await open();
    const { projects } = await openTestProjects(parts.database, parts.clock);
    await projects.register('/p', []);
    const management = createNetworkManagement({ ...parts, projects, catalog: { versions: () => [] } });
    const decide = (action: string, targets: string[], more = {}) =>
      management.changeNetwork({ ...BY_ANN, root: '/p', action, targets, ...more });
    return { ...parts, management, decide };
  }

  it('includes the mirrors of this machine if it is a group, and the list of groups names them', async () => {
    const { groups } = await (await managed()).management.listNetworkGroups({});
    const mirrors = groups.flatMap((group) => group.mirrors.map((host) => [group.name, host]));
    expect(mirrors).toEqual([['npm', 'mirror.example.com:8443']]);
  });

  it('survives a restart, and is shown with who decided it', async () => {
    const { decide, database, management } = await managed();
    await decide('allow', ['*.CORP.example:8443'], { private_addresses: ['10.1.2.3'] });
    await decide('allow', ['pypi']);
    await management.changeNetwork({ ...BY_ANN, root: '', action: 'deny', targets: ['pypi.org'] });
    const { network } = await open({ database });
    expect(network.rulesFor('/p').map(({ pattern, group, verdict }) => [pattern, group, verdict])).toEqual([
      ['*.corp.example:8443', null, 'allow'],
      ['files.pythonhosted.org', 'pypi', 'allow'],
      ['pypi.org', 'pypi', 'allow'],
      ['pypi.org', null, 'deny'],
    ]);
    const { rules } = await management.listNetwork({ root: '/p' });
    expect(rules[2]).toMatchObject({
      pattern: 'pypi.org',
      from: 'project',
      given_by: 'ann',
      overridden_by: 'pypi.org',
    });
    expect(rules[3]).toMatchObject({ verdict: 'deny', from: 'machine' });
  });

  it('is only planned by a dry run', async () => {
    const { decide, rules, told } = await managed();
    const plan = await decide('allow', ['npm', '*.example.com'], { dry_run: true });
    expect(plan.changed.map(({ pattern }) => pattern)).toEqual([
      'registry.npmjs.org',
      'registry.yarnpkg.com',
      '*.example.com',
    ]);
    expect(plan.notes).toEqual(['*.example.com is every name below example.com.']);
    expect(rules.list('/p')).toEqual([]);
    expect(told).toEqual([]);
  });

  it('is taken back by the name or the group that was given', async () => {
    const { decide, rules } = await managed();
    await decide('allow', ['npm', 'a.example.com']);
    await decide('remove', ['npm']);
    expect(rules.list('/p').map(({ pattern }) => pattern)).toEqual(['a.example.com']);
    await expect(decide('remove', ['npm'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is not narrowed by a permission for one call or for a time', async () => {
    const { decide, rules } = await managed();
    await decide('allow', ['a.example.com']);
    expect((await decide('allow', ['a.example.com'], { once: true })).changed).toEqual([]);
    expect((await decide('allow', ['a.example.com'], { for_ms: 1000 })).changed).toEqual([]);
    expect(rules.list('/p')).toMatchObject([{ once: false, expiresMs: null }]);
    expect((await decide('deny', ['a.example.com'])).changed).toMatchObject([{ verdict: 'deny' }]);
  });

  it('is a denial until a person takes it back or decides the opposite for good, not for one call or for a time', async () => {
    const { decide, rules, network, policies } = await managed();
    network.forCommands('/p');
    const verdicts = () => rules.list('/p').map(({ verdict }) => verdict);
    await decide('deny', ['a.example.com']);
    for (const limits of [{ once: true }, { for_ms: 1000 }]) {
      const { notes } = await decide('allow', ['a.example.com'], limits);
      expect(notes).toEqual(['a.example.com stays denied by a.example.com: ctxd network remove a.example.com']);
      expect(verdicts().toSorted()).toEqual(['allow', 'deny']);
    }
    expect(policies().at(-1)).toHaveLength(2);
    const { notes } = await decide('allow', ['a.example.com']);
    expect([notes, verdicts()]).toEqual([[], ['allow']]);
    await decide('deny', ['a.example.com'], { for_ms: 1000 });
    expect(verdicts().toSorted()).toEqual(['allow', 'deny']);
    await decide('remove', ['a.example.com']);
    expect(verdicts()).toEqual([]);
  });

  it('is the same after a restart, a permission and a denial of one name included', async () => {
    const { decide, database } = await managed();
    await decide('deny', ['a.example.com']);
    await decide('allow', ['a.example.com'], { once: true });
    const { rules } = await open({ database });
    expect(rules.list('/p').map(({ verdict, once }) => [verdict, once])).toEqual([
      ['allow', true],
      ['deny', false],
    ]);
  });

  it('is refused for what is no host, with what to write', async () => {
    const { decide } = await managed();
    for (const target of ['pipy', '*.co.uk', '127.0.0.1', 'https://example.com', 'a.example.com:0', 'ex ample.com'])
      await expect(decide('allow', [target])).rejects.toMatchObject({ code: expect.stringMatching(/ARGS|NOT_FOUND/) });
    await expect(decide('allow', ['npm'], { private_addresses: ['10.0.0.1'] })).rejects.toThrow('is a group');
    await expect(decide('allow', ['a.example.com'], { private_addresses: ['10.0.0'] })).rejects.toThrow('IP address');
    await expect(decide('allow', [])).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });
});
