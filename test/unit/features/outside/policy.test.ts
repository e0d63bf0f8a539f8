import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { checkConfig } from '#src/config/load.js';
import { commandPolicyFor, defaultCpus, policyFor, toolNetworkFor } from '#src/features/outside/policy.js';
import { baseView } from '#src/sandbox/contract/policy.js';

const NOTHING = {
  toolchains: { mounts: [], hidden: [], path: [], variables: {}, hostPath: [] },
  allowedPaths: [],
  hostNetwork: { certificates: [], caVariables: [], variables: { A: 'b' }, homeFiles: [] },
};

function cpusOf(sandbox: object): number | undefined {
  const { config } = checkConfig(JSON.parse(JSON.stringify({ sandbox })));
  return config && policyFor({ path: '/home/ann/shop', layer: null }, config.sandbox).limits.cpus;
}

const ON = { forCommands: () => ({ network: 'project' }) as const, placeholdersFor: () => ({}) };

test('SEC-2.5 one command leaves processor time to the daemon and the person, on a machine of any size', () => {
  expect([1, 2, 3, 4, 8, 64].map(defaultCpus)).toEqual([0.75, 1.5, 2.25, 3, 7, 63]);
  expect(cpusOf({})).toBe(defaultCpus(availableParallelism()));
  expect(cpusOf({})).toBeLessThan(availableParallelism());
});

test('SEC-2.5 a person can set another number of processors, or 0 for no limit', () => {
  expect([cpusOf({ cpus: 1.25 }), cpusOf({ cpus: 0 }), cpusOf({ cpus: null })]).toEqual([
    1.25,
    0,
    defaultCpus(availableParallelism()),
  ]);
  expect(cpusOf({ cpus: -1 })).toBeUndefined();
});

test('SEC-2.3 only commands share the loopback of their project; a tool process has its own', () => {
  const { config } = checkConfig({});
  if (config === undefined) throw new Error('the default configuration is not valid');
  const session = { project: '/p', session: 'a', branch: null };
  expect(
    commandPolicyFor(session, baseView(session.project), config.sandbox, { partsFor: () => NOTHING }, ON).network,
  ).toBe('project');
  expect(policyFor(baseView(session.project), config.sandbox).network).toBe('none');
});

test('commands get placeholders for the credentials of their project beside the settings of the host', () => {
  const { config } = checkConfig({});
  if (config === undefined) throw new Error('the default configuration is not valid');
  const network = { ...ON, placeholdersFor: (project: string) => ({ TOKEN: `placeholder of ${project}` }) };
  const session = { project: '/p', session: 'a', branch: null };
  const policy = commandPolicyFor(
    session,
    baseView(session.project),
    config.sandbox,
    { partsFor: () => NOTHING },
    network,
  );
  expect(policy.hostNetwork?.variables).toEqual({ A: 'b', TOKEN: 'placeholder of /p' });
});

test('a tool with a network trusts what the commands trust, and gets no registry and no placeholder', () => {
  const hostNetwork = {
    certificates: ['PEM'],
    caVariables: ['PIP_CERT'],
    variables: { A: 'b' },
    homeFiles: [{ path: '.npmrc', text: 'x' }],
  };
  const outside = { partsFor: () => ({ ...NOTHING, hostNetwork }) };
  const call = { session: { project: '/p', session: 'a', branch: null }, tool: 't', grants: ['network:npm'] };
  const granted = { network: 'project', networkTool: 't' } as const;
  expect(toolNetworkFor(call, outside, { forTool: () => granted })).toEqual({
    ...granted,
    hostNetwork: { ...hostNetwork, variables: {}, homeFiles: [] },
  });
  expect(toolNetworkFor(call, outside, { forTool: () => ({ network: 'none' }) })).toEqual({ network: 'none' });
});

test('toolchains and allowed directories are for commands; a tool process gets neither', () => {
  const { config } = checkConfig({});
  if (config === undefined) throw new Error('the default configuration is not valid');
  const session = { project: '/p', session: 'a', branch: null };
  const parts = { ...NOTHING, toolchains: { ...NOTHING.toolchains, mounts: ['/opt/go'] }, allowedPaths: ['/wt'] };
  const partsFor = (project: string) => (project === '/p' ? parts : NOTHING);
  expect(commandPolicyFor(session, baseView(session.project), config.sandbox, { partsFor }, ON)).toMatchObject(parts);
  expect(policyFor(baseView(session.project), config.sandbox)).not.toHaveProperty('toolchains');
  expect(policyFor(baseView(session.project), config.sandbox)).not.toHaveProperty('allowedPaths');
});

test('only the commands of a session get its storage; the process that serves all sessions gets none', () => {
  const { config } = checkConfig({});
  const session = { project: '/p', session: 'a', branch: null };
  if (config === undefined) throw new Error('the empty configuration is valid');
  expect(
    commandPolicyFor(session, baseView(session.project), config.sandbox, { partsFor: () => NOTHING }, ON).storage,
  ).toEqual({ session: 'a' });
  expect(policyFor(baseView(session.project), config.sandbox).storage).toBeNull();
});
