import { describe, expect, it } from 'vitest';
import { Gate } from '#src/egress/gate.js';
import { CLIENTS_PER_SCOPE, CONNECTIONS_PER_SCOPE, HOSTS_PER_SCOPE, REFUSALS_AT_ONCE } from '#src/egress/limits.js';
import type { EgressEvent } from '#src/egress/messages.js';

const SCOPE = 'scope';

function gateOf(pattern: string, resolve: () => Promise<readonly string[]> = async () => ['192.0.2.1']) {
  const events: EgressEvent[] = [];
  const ownAddresses = () => new Set(['203.0.113.5']);
  const gate = new Gate({ emit: (event) => void events.push(event), now: () => 1_000, ownAddresses, resolve });
  const allow = (...patterns: string[]): void => {
    const rules = patterns.map((text) => ({
      pattern: text,
      verdict: 'allow' as const,
      privateAddresses: [],
      anyPrivate: false,
      expiresMs: null,
    }));
    gate.setPolicy(SCOPE, { rules, uploadMaxBytes: null });
  };
  allow(pattern);
  const ask = (host: string) =>
    gate.admit({ scope: SCOPE, namespace: 'net:[1]', lane: null, host, port: 443, via: 'connect' });
  return { gate, events, allow, ask };
}

describe('the gate', () => {
  it('admits a limited number of connections of a scope at once, and more when one has ended', async () => {
    const { ask } = gateOf('good.example');
    const open = [];
    for (let n = 0; n < CONNECTIONS_PER_SCOPE; n += 1) open.push((await ask('good.example')).connection);
    expect(open.every((connection) => connection !== null)).toBe(true);
    expect((await ask('good.example')).refusal).toMatchObject({
      status: 503,
      text: expect.stringContaining('512 open'),
    });
    open[0]?.end();
    expect((await ask('good.example')).connection).not.toBeNull();
  });

  it('admits a scope to new hosts, however many names it has asked for under a wildcard', async () => {
    const { ask } = gateOf('*.good.example');
    for (let n = 0; n < HOSTS_PER_SCOPE; n += 1) (await ask(`h${n}.good.example`)).connection?.end();
    expect((await ask('one-more.good.example')).connection).not.toBeNull();
    expect((await ask('h7.good.example')).connection).not.toBeNull();
  });

  it('takes port 0 for a port, which no rule allows, in every way in but a look-up', () => {
    const { gate } = gateOf('good.example');
    const asked = { scope: SCOPE, namespace: 'net:[1]', lane: null, host: 'good.example', port: 0 } as const;
    for (const via of ['socks', 'connect', 'http', 'direct'] as const)
      expect(gate.screen({ ...asked, via }).refusal).toMatchObject({ status: 403 });
    expect(gate.screen({ ...asked, via: 'dns' }).name).toBe('good.example');
  });

  it('lets a limited number of programs of a scope in', () => {
    const { gate } = gateOf('good.example');
    const leave = Array.from({ length: CLIENTS_PER_SCOPE }, () => gate.enter(SCOPE));
    expect(gate.enter(SCOPE)).toBeNull();
    expect(gate.enter('another scope')).not.toBeNull();
    leave[0]?.();
    expect(gate.enter(SCOPE)).not.toBeNull();
  });

  it('judges by the policy that holds when the name was looked up', async () => {
    let answer: (addresses: readonly string[]) => void = () => {};
    const looked = () =>
      new Promise<readonly string[]>((resolve) => {
        answer = resolve;
      });
    const { ask, allow, events } = gateOf('good.example', looked);
    const asking = ask('good.example');
    await Promise.resolve();
    allow('other.example');
    answer(['192.0.2.1']);
    expect((await asking).refusal).toMatchObject({ status: 403 });
    expect(events).toMatchObject([{ ev: 'connection', fact: { host: 'good.example', allowed: false } }]);
  });

  it('reports the number of the refusals that it does not report one by one, once', async () => {
    const { gate, events, ask } = gateOf('good.example');
    for (let n = 0; n < REFUSALS_AT_ONCE + 50; n += 1) await ask(`evil${n}.example`);
    expect(events.filter(({ ev }) => ev === 'connection')).toHaveLength(REFUSALS_AT_ONCE);
    expect([gate.settle(), gate.settle()]).toEqual([[], []]);
    expect(events.filter(({ ev }) => ev === 'unreported')).toEqual([{ ev: 'unreported', scope: SCOPE, count: 50 }]);
  });

  it('refuses addresses of this machine itself', async () => {
    const { ask } = gateOf('good.example', async () => ['192.0.2.1', '203.0.113.5']);
    expect((await ask('good.example')).refusal?.text).toContain('it leads to 203.0.113.5, an address of this machine');
  });

  it('says that a name has no address', async () => {
    const { ask, events } = gateOf('good.example', async () => []);
    expect((await ask('good.example')).refusal).toMatchObject({ status: 502 });
    expect(events).toMatchObject([
      { ev: 'connection', fact: { allowed: true } },
      { ev: 'closed', why: 'its name has no address' },
    ]);
  });
});
