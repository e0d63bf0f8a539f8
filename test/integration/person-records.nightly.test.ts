import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type DaemonClient } from '#src/cli/client.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { loadProtocol } from '#src/protocol/load.js';
import type { RpcMethods, RpcName } from '#src/protocol/management-contract.js';
import { actOf, RPC_NAMES, wireName } from '#src/protocol/management-rpcs.js';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

/** The rpcs that change nothing a person decides on. Another one needs a record: see `act` in MANAGEMENT_RPCS. */
const READING = [
  ...['serverStatus', 'listTools', 'tailAudit', 'checkHealth', 'stats', 'sessionSecrets', 'listAllowedValues'],
  ...['listSessions', 'readSession', 'inspectSession', 'replaySession', 'listCaches', 'listRunning', 'reviewRules'],
  ...['listQuarantine', 'listToolchains', 'readHostNetwork', 'listPaths', 'listPorts', 'listNetwork'],
  ...['listNetworkGroups', 'readNetworkLog', 'listNetworkCredentials', 'searchMemories', 'listMemories'],
  ...['getMemories', 'reportMemories', 'listLessons', 'listBranches', 'planBranchFiles', 'listUndo', 'planUndo'],
  ...['listCheckpoints', 'httpStatus', 'listHttpTokens'],
  ...['listApprovals', 'listApprovalAnswers', 'listApprovalRules', 'readCatalogue'],
  ...['listUpstreams', 'reviewUpstream'],
  // Writes its records itself, one for each setting.
  'recordSettings',
  // Events of a client's session, which are in the session's log.
  'takeHook',
];

/** Requests that act, for the fields of which an empty value only reads or is refused by the check of its shape. */
const FIELDS: Record<string, unknown> = {
  token: '[SECRET_1]',
  sha256: 'ab'.repeat(32),
  id: '0123abcd',
  which: '0123abcd',
  outcome: 'success',
  files: 'apply',
  action: 'now',
  path: '/opt/x',
  file: '/opt/x',
  port: 1,
  host: 'example.com',
  tool: 'safe_bash',
  answer: 'once',
};

let at: Installation;
let daemon: DaemonClient;
beforeAll(async () => {
  at = await install();
  const paths = resolvePaths({ ...readEnvironment(at.environment), contextdHome: at.home }, findInstallRoot());
  daemon = await connect(paths);
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

interface Line {
  kind?: string;
  tool: string;
  door: string;
  project: string;
  input: Record<string, unknown>;
  error_code: string | null;
}

/** They end the daemon: `e2e/lifecycle.test.ts` and `e2e/restarted-daemon.nightly.test.ts`. */
const ENDING: readonly RpcName[] = ['stopServer', 'restartServer'];

async function acts(): Promise<Line[]> {
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--lines', '1000', '--json']);
  return JSON.parse(stdout).filter(({ kind }: Line) => kind === 'person');
}

function requestOf(name: string, root: string) {
  const service: ServiceDefinition = loadProtocol().ManagementService.service;
  const request = service[wireName(name)]?.requestDeserialize(Buffer.alloc(0));
  for (const [field, empty] of Object.entries(request)) {
    const value = FIELDS[field];
    if (typeof value === typeof empty) request[field] = value;
    if (field === 'root' || field === 'project_root') request[field] = root;
    if (field === 'secret' && empty === null) request[field] = { root, session: '', token: '[SECRET_1]' };
    if (field === 'credential') request[field] = { host: 'example.com', methods: ['GET'] };
  }
  if (name === 'changeNetwork') request.action = 'on';
  if (name === 'undoChanges') request.which = 'undo_01234567';
  return request;
}

describe('A11 what a person does with ctxd', () => {
  it('is an act with a record, or one of the rpcs that only read', () => {
    const reading = RPC_NAMES.filter((name) => actOf(name, requestOf(name, '/p')) === null);
    expect(reading.toSorted(), 'an rpc that only reads is listed in READING too').toEqual(READING.toSorted());
  });

  it('A11 SEC-5.1: leaves one record for each rpc that is an act, also if it fails', { timeout: 300_000 }, async () => {
    // Two of them end the daemon.
    const {
      execute: _execute,
      installTool: _install,
      close: _close,
      stopServer: _stop,
      restartServer: _restart,
      ...client
    } = daemon;
    const methods: Omit<RpcMethods, 'stopServer' | 'restartServer'> = client;
    // What comes after the project is unregistered is refused before it is an act.
    const last = 'unregisterProject';
    const names = RPC_NAMES.filter((name) => !READING.includes(name) && !ENDING.includes(name) && name !== last);
    for (const name of [...names, last] as const) {
      if (name === 'stopServer' || name === 'restartServer') continue;
      const before = (await acts()).length;
      const request = requestOf(name, at.project);
      const failure = await methods[name](request).then(
        () => null,
        ({ code }: { code: string }) => code,
      );
      const written = (await acts()).slice(before);
      const command = actOf(name, request)?.command;
      expect({ name, written }).toMatchObject({
        name,
        written: [{ tool: command, door: 'ctxd', error_code: failure }],
      });
    }
  });

  it('A11: a change of a setting is recorded, with a daemon, without one, and if the file was edited', {
    timeout: 300_000,
  }, async () => {
    const settings = async () => (await acts()).filter(({ tool }) => tool === 'config set').map(({ input }) => input);
    expect((await at.run(CTXD, ['config', 'set', 'budget.default_tokens', '1500'])).code).toBe(0);
    expect(await settings()).toEqual([{ key: 'budget.default_tokens', value: 1500 }]);
    expect((await at.run(CTXD, ['config', 'set', 'budget.default_tokens', '1500'])).code).toBe(0);
    expect(await settings()).toHaveLength(1);
    await at.run(CTXD, ['server', 'stop']);
    const env = JSON.stringify({ NAME: 'not-to-be-shown' });
    expect((await at.run(CTXD, ['config', 'set', 'tools.env', env])).code).toBe(0);
    await at.run(CTXD, ['server', 'start']);
    expect((await settings()).slice(1)).toEqual([{ key: 'tools.env', value: { NAME: '(hidden)' } }]);
    await at.run(CTXD, ['server', 'stop']);
    writeFileSync(join(at.home, 'config/config.json'), '{"budget":{"default_tokens":1600}}');
    await at.run(CTXD, ['server', 'start']);
    expect((await settings()).slice(2)).toEqual([
      { key: 'budget.default_tokens', value: 1600 },
      { key: 'tools.env', value: {} },
    ]);
  });
});
