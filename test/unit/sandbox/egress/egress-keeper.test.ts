import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { rulePortsOf } from '#src/sandbox/egress/bridge.js';
import { freeUid } from '#src/sandbox/egress/egress-jail.js';
import { EgressKeeper, type RunningEgress } from '#src/sandbox/egress/egress-keeper.js';
import type { EgressProcessEvents } from '#src/sandbox/egress/egress-process.js';
import { proxyVariables } from '#src/sandbox/egress/variables.js';

/** A process that a test starts, readies and ends. */
interface Started {
  readonly events: EgressProcessEvents;
  readonly sent: unknown[];
  isReady: boolean;
}

function openKeeper(startFails = false) {
  const started: Started[] = [];
  const said: string[] = [];
  const keeper = new EgressKeeper({
    async start(events) {
      if (startFails) throw new Error('no bubblewrap');
      const own: Started = { events, sent: [], isReady: false };
      started.push(own);
      const running: RunningEgress = {
        pid: started.length,
        isOutdated: false,
        get isReady() {
          return own.isReady;
        },
        send: (command) => void own.sent.push(command),
        stop: async () => {
          said.push('stopped');
          events.onGone('');
        },
      };
      return running;
    },
    onEvent: () => {},
    onReady: (start) => void said.push(`ready ${start}`),
    onTold: () => void said.push('told'),
    onLost: () => void said.push('lost'),
    onUnavailable: () => void said.push('unavailable'),
    logger: silentLogger,
  });
  const ready = (): void => {
    const last = started.at(-1);
    if (last === undefined) throw new Error('nothing was started');
    last.isReady = true;
    last.events.onEvent({ ev: 'ready' });
  };
  const die = async (): Promise<void> => {
    started.at(-1)?.events.onGone('it crashed');
    await vi.advanceTimersByTimeAsync(1);
  };
  return { keeper, started, said, ready, die };
}

describe('the proxy process', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('gets the listeners when the daemon has told it everything, and not for an earlier start', async () => {
    const { keeper, said, ready, die } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    keeper.told(1);
    ready();
    await die();
    ready();
    keeper.told(1);
    expect([said, keeper.isUp]).toEqual([['ready 1', 'lost', 'ready 2'], false]);
    keeper.told(2);
    expect([said.at(-1), keeper.isUp]).toEqual(['told', true]);
  });

  test('gets the listeners after a while if the daemon says nothing, and then refuses everything', async () => {
    const { keeper, said, ready } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    ready();
    await vi.advanceTimersByTimeAsync(4_998);
    expect(said).toEqual(['ready 1']);
    await vi.advanceTimersByTimeAsync(2);
    expect(said).toEqual(['ready 1', 'told']);
  });

  test('is started again at once when it dies, but after five starts in a minute only every ten seconds', async () => {
    const { keeper, started, ready, die } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 1; i <= 5; i++) {
      expect(started).toHaveLength(i);
      ready();
      await die();
    }
    expect(started).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(9_998);
    expect(started).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(2);
    expect(started).toHaveLength(6);
  });

  test('that answers nothing for fifteen seconds is ended and started again; any event counts as an answer', async () => {
    const { keeper, started, said, ready } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    ready();
    keeper.told(1);
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(15_000);
      expect(started[0]?.sent).toHaveLength(3 * (i + 1));
      started[0]?.events.onEvent({ ev: 'synced', id: 0, open: [] });
    }
    expect(said).not.toContain('stopped');
    await vi.advanceTimersByTimeAsync(20_001);
    expect(said.slice(-2)).toEqual(['stopped', 'lost']);
    expect(started).toHaveLength(2);
    ready();
    keeper.told(2);
    keeper.unwant();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started[1]?.sent).toEqual([]);
  });

  test('that is not started again at once is unavailable meanwhile, so that nothing waits for it', async () => {
    const { keeper, said, ready, die } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 1; i <= 5; i++) {
      expect(keeper.failure).toBeNull();
      ready();
      await die();
    }
    expect([said.filter((word) => word === 'unavailable'), keeper.failure]).toEqual([['unavailable'], 'it crashed']);
    await vi.advanceTimersByTimeAsync(10_000);
    ready();
    expect(keeper.failure).toBeNull();
  });

  test('that never says that it is ready is ended, and counts as one that does not start', async () => {
    const { keeper, said, started } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(5_002);
    expect([started.length, said]).toEqual([2, ['stopped', 'lost']]);
    await vi.advanceTimersByTimeAsync(5_002);
    expect(said).toEqual(['stopped', 'lost', 'stopped', 'lost', 'unavailable']);
  });

  test('that never starts makes the network unavailable with its last words, until a later start succeeds', async () => {
    const { keeper, said, started, ready, die } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    await die();
    await die();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(started).toHaveLength(2);
    expect([said, keeper.failure]).toEqual([['lost', 'lost', 'unavailable'], 'it crashed']);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(started).toHaveLength(3);
    ready();
    expect(keeper.failure).toBeNull();
  });

  test('that cannot be spawned is a failure too', async () => {
    const { keeper, said } = openKeeper(true);
    keeper.want();
    await vi.advanceTimersByTimeAsync(10);
    expect([said.at(-1), keeper.failure]).toEqual(['unavailable', 'Error: no bubblewrap']);
  });

  test('ends when nothing needs it, and stays ended', async () => {
    const { keeper, started, said, ready } = openKeeper();
    keeper.want();
    await vi.advanceTimersByTimeAsync(1);
    ready();
    keeper.told(1);
    keeper.unwant();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([started.length, keeper.isUp, said]).toEqual([1, false, ['ready 1', 'told', 'stopped']]);
  });
});

test('the ports of rules are those that rules allow, besides the usual ones', () => {
  const rule = (pattern: string, verdict: 'allow' | 'deny' = 'allow') => ({
    pattern,
    verdict,
    privateAddresses: [],
    anyPrivate: false,
    expiresMs: null,
  });
  const patterns = [
    'a.example.com',
    'a.example.com:8443',
    '*.example.com:8443',
    'b.example.com:443',
    'c.example.com:0',
  ];
  const rules = [...patterns.map((pattern) => rule(pattern)), rule('d.example.com:9000', 'deny')];
  expect(rulePortsOf({ rules, uploadMaxBytes: null })).toEqual([8443]);
  const many = Array.from({ length: 100 }, (_, i) => rule(`a.example.com:${5_000 + i}`));
  expect(rulePortsOf({ rules: many, uploadMaxBytes: null })).toHaveLength(64);
});

test('the user of the proxy process has no account', () => {
  expect(freeUid('root:x:0:0::/:/bin/sh\n')).toBe(61_183);
  expect(freeUid('one:x:61183:5::/:\ntwo:x:7:61182::/:\n')).toBe(61_181);
  const full = Array.from({ length: 606 }, (_, i) => `u${i}:x:${60_578 + i}:1::/:`).join('\n');
  expect(() => freeUid(full)).toThrow('has an account');
});

test('a variable that the caller sets is left out in both cases, and the others stay', () => {
  const set = proxyVariables('127.32.0.1', { https_proxy: 'http://own:1', NPM_CONFIG_FETCH_RETRIES: '5' });
  expect(Object.keys(set).sort()).toEqual(
    [
      'CARGO_NET_RETRY',
      'HTTP_PROXY',
      'NODE_USE_ENV_PROXY',
      'NO_PROXY',
      'NO_UPDATE_NOTIFIER',
      'PIP_DISABLE_PIP_VERSION_CHECK',
      'PIP_RETRIES',
      'UV_HTTP_RETRIES',
      'http_proxy',
      'no_proxy',
      'npm_config_fetch_retry_mintimeout',
      'npm_config_update_notifier',
      'pnpm_config_fetch_retries',
      'pnpm_config_fetch_retry_mintimeout',
    ].sort(),
  );
});
