import { expect, test } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { EgressRelay } from '#src/sandbox/client/egress-relay.js';
import { Inheritance } from '#src/sandbox/client/inheritance.js';
import type { SteeredCommand } from '#src/sandbox/contract/command.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';

const POLICY: SandboxPolicy = {
  workspace: { path: '/p', layer: null },
  network: 'none',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'full',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 1, pids: 1, fileBytes: 1, openFiles: 1, cpus: 1 },
  allowedPaths: ['/taken-back'],
};

const COMMAND: SteeredCommand = {
  started: Promise.resolve(),
  ended: new Promise(() => {}),
  input: async () => {},
  signal: async () => 0,
  usage: async () => ({ processes: 0, memoryBytes: 0, cpuMs: 0 }),
  activity: async () => null,
};

/** The next daemon's part, whose spawner takes what it is sent, and the daemon before. */
function inherited(stillAllowed: (policy: SandboxPolicy) => SandboxPolicy = (policy) => policy) {
  const toSpawner: unknown[] = [];
  const toEarlier: unknown[] = [];
  const resumed: [number, boolean][] = [];
  const inheritance = new Inheritance({
    relay: new EgressRelay({ logger: silentLogger }),
    own: () => [],
    isEnding: () => false,
    isTaken: () => false,
    running: () => ({ spawner: { pid: 1, send: (message) => void toSpawner.push(message), async stop() {} } }),
    isBusy: () => false,
    start() {},
    receive() {},
    lost() {},
    async renew() {},
    drop() {},
    resume(run, _onFound, hasEnded) {
      resumed.push([run.number, hasEnded]);
      return COMMAND;
    },
    stillAllowed,
    logger: silentLogger,
  });
  const state = { pid: 1, rest: Buffer.alloc(0), firstId: 100, refs: [], taken: [7, 8], started: [] };
  inheritance.adopt(state, { send: (header) => void toEarlier.push(header) });
  return { inheritance, toSpawner, toEarlier, resumed };
}

const RUN: JsonObject = JSON.parse(JSON.stringify({ op: 'run', id: 9, policy: POLICY, command: { argv: ['true'] } }));

test('SEC-2.3 what an earlier daemon starts gets the policy that is allowed now', () => {
  const { inheritance, toSpawner } = inherited((policy) => ({ ...policy, allowedPaths: [] }));
  inheritance.pass(RUN, Buffer.alloc(0));
  expect(toSpawner).toEqual([{ ...RUN, policy: { ...POLICY, allowedPaths: [] } }]);
});

test('SEC-2.3 an earlier daemon learns that its command may not start any more', () => {
  const { inheritance, toSpawner, toEarlier } = inherited(() => {
    throw new ContextdError('CONFLICT', 'branch br_1 is closed');
  });
  inheritance.pass(RUN, Buffer.alloc(0));
  expect(toSpawner).toEqual([]);
  expect(toEarlier).toMatchObject([{ re: 'error', id: 9, error: { code: 'CONFLICT' } }]);
});

test('NFR-2.3: a job whose spawner ended before the next daemon went on with it has ended too', () => {
  const { inheritance, resumed } = inherited();
  const run = (number: number) => ({ number, signal: new AbortController().signal });
  inheritance.resume(run(7), () => {});
  inheritance.spawnerLost();
  inheritance.resume(run(8), () => {});
  expect(resumed).toEqual([
    [7, false],
    [8, true],
  ]);
});
