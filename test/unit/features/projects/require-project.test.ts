import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { forRegisteredProjects } from '#src/features/projects/require-project.js';
import { loadProtocol } from '#src/protocol/load.js';
import type { RpcMethods } from '#src/protocol/management-contract.js';
import { rpcMethods } from '#src/protocol/management-rpcs.js';
import { management } from '../../../helpers/behind.ts';

/** Rpcs that are carried out, or begin, without a registered project at `root`. */
const WITHOUT_PROJECT = [
  'registerProject',
  'unregisterProject',
  'sessionSecrets',
  'revealSecret',
  'endSession',
  'readNetworkLog',
  // Their handlers look for the project themselves.
  'listTools',
  'acceptTool',
  'rollbackTool',
  'removeTool',
  'revokeRules',
];

/** Asks every rpc whose request has a root. Returns the names that were reached and the codes of refusals. */
async function askAll(root: string, registered: string[]) {
  const reached: string[] = [];
  const recording = rpcMethods((name) => async () => {
    reached.push(name);
    return Promise.reject(new Error('reached'));
  });
  const find = async (asked: string) =>
    registered.includes(asked) ? { root: asked, tools: [], registeredAt: 0 } : null;
  const guarded: RpcMethods = forRegisteredProjects(management(recording), { find });
  const refused: Record<string, string> = {};
  for (const { originalName = '', requestDeserialize } of Object.values(loadProtocol().ManagementService.service)) {
    const empty = requestDeserialize(Buffer.alloc(0));
    const method = Object.entries(guarded).find(([name]) => name === originalName)?.[1];
    if (!('root' in empty) || method === undefined || originalName === 'installTool') continue;
    const thrown = await method({ ...empty, root }).catch((error: unknown) => error);
    if (thrown instanceof ContextdError) refused[originalName] = `${thrown.code}: ${thrown.message}`;
  }
  return { reached, refused };
}

describe('a request about a project', () => {
  it('is refused before its handler if nobody registered the project, except where the table says otherwise', async () => {
    const { reached, refused } = await askAll('/p', ['/other']);
    expect(reached.toSorted()).toEqual(WITHOUT_PROJECT.toSorted());
    expect(Object.keys(refused).length).toBeGreaterThan(35);
    expect(new Set(Object.values(refused))).toEqual(new Set(['NOT_FOUND: /p is not a registered project']));
  });

  it.each([
    ['of a registered project', '/p'],
    ['without a root, which means the machine or all projects,', ''],
  ])('%s reaches its handler', async (_what, root) => {
    const { reached, refused } = await askAll(root, ['/p']);
    expect(refused).toEqual({});
    expect(reached.length).toBeGreaterThan(45);
  });
});
