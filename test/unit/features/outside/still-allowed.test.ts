import { expect, test } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { stillAllowed } from '#src/features/outside/still-allowed.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';

const POLICY: SandboxPolicy = {
  workspace: { path: '/p', layer: ['br_1'] },
  network: 'project',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'full',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 1, pids: 1, fileBytes: 1, openFiles: 1, cpus: 1 },
  allowedPaths: ['/shared', '/taken-back'],
  repository: '/repository',
  hostNetwork: {
    certificates: ['of the host', 'taken back'],
    caVariables: ['SSL_CERT_FILE'],
    variables: {
      npm_config_registry: 'https://old.example.com',
      PIP_INDEX_URL: 'https://pip.example.com',
      TOKEN: 'stands for it',
    },
    homeFiles: [{ path: '.npmrc', text: 'registry=https://old.example.com' }],
  },
  toolchains: { mounts: ['/opt/go', '/opt/gone'], hidden: [], path: [], variables: {}, hostPath: [] },
};

const toolchain = (mount: string) => ({ name: mount, path: mount, mounts: [mount], variables: {}, addedMs: 0 });

function allowed(now: {
  roots?: string[];
  paths?: string[];
  isOn?: boolean;
  isClosed?: boolean;
  isUnknown?: boolean;
}): SandboxPolicy {
  return stillAllowed(POLICY, {
    projects: {
      roots: () => now.roots ?? ['/p'],
      notRegistered: (code, root) => new ContextdError(code, `${root} is not registered`),
    },
    branches: {
      layersOf({ branch }) {
        if (now.isClosed === true) throw new ContextdError('CONFLICT', `branch ${branch} is closed`);
        return now.isUnknown === true ? null : ['br_1'];
      },
    },
    outside: {
      decidedFor: () => ({
        toolchains: [toolchain('/opt/go')],
        path: [],
        paths: now.paths ?? ['/shared', '/repository'],
      }),
    },
    hostNetworks: {
      part: () => ({
        certificates: ['of the host'],
        caVariables: ['SSL_CERT_FILE'],
        variables: { npm_config_registry: 'https://new.example.com', PIP_INDEX_URL: 'https://pip.example.com' },
        homeFiles: [],
      }),
    },
    network: { isOn: () => now.isOn ?? true, placeholdersFor: () => ({ TOKEN: 'stands for it' }) },
  });
}

test('SEC-2.3 a command of a carried call gets no directory, toolchain or repository that was taken back since', () => {
  expect(allowed({})).toMatchObject({
    allowedPaths: ['/shared'],
    repository: '/repository',
    toolchains: { mounts: ['/opt/go'] },
    network: 'project',
  });
  const none = allowed({ paths: [] });
  expect(none.allowedPaths).toEqual([]);
  expect(none).not.toHaveProperty('repository');
});

test('SEC-2.3 a command of a carried call has no network once a person has turned that of the project off', () => {
  expect(allowed({ isOn: false }).network).toBe('none');
});

test('SEC-2.3 no command of a carried call starts in a branch that was closed or a project that was unregistered', () => {
  expect(() => allowed({ isClosed: true })).toThrow('branch br_1 is closed');
  // Closed before the daemon of now started.
  expect(() => allowed({ isUnknown: true })).toThrow('branch br_1 is closed');
  expect(() => allowed({ roots: ['/other'] })).toThrow(expect.objectContaining({ code: 'PERMISSION_DENIED' }));
});

test('SEC-2.3 a command of a carried call gets no certificate, mirror or setting of the host that was taken back since', () => {
  expect(allowed({}).hostNetwork).toEqual({
    certificates: ['of the host'],
    caVariables: ['SSL_CERT_FILE'],
    variables: { PIP_INDEX_URL: 'https://pip.example.com', TOKEN: 'stands for it' },
    homeFiles: [],
  });
});
