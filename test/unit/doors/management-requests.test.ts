import { describe, expect, it } from 'vitest';
import { checkRequests } from '#src/doors/management-requests.js';
import { management } from '../../helpers/behind.ts';

const door = checkRequests(management());
const SHA256 = 'ab'.repeat(32);

describe('a management door without gRPC', () => {
  it('passes plain requests on, and every answer survives JSON', async () => {
    const root = '/p';
    const quarantine = { root, which: '0123abcd', unseen: false };
    const secret = { root, session: '', token: '[SECRET_1]' };
    const answers = [
      await door.serverStatus({}),
      await door.stopServer({ grace_ms: 0, restart: false }),
      await door.registerProject({ root }),
      await door.unregisterProject({ root }),
      await door.listTools({ root, offered: false }),
      await door.tailAudit({ limit: 5, project_root: '' }),
      await door.checkHealth({ project_root: '' }),
      await door.sessionSecrets({ root, session: '' }),
      await door.revealSecret(secret),
      await door.allowValue({ secret, value: '', everywhere: false, by: 'a' }),
      await door.disallowValue({ root, id: 'abcd' }),
      await door.listAllowedValues({ root }),
      await door.stats({ project_root: '', days: 1 }),
      await door.reviewRules({ root }),
      await door.approveRules({ root, sha256: SHA256 }),
      await door.revokeRules({ root }),
      await door.listQuarantine({ root, which: '', unseen: false }),
      await door.restoreQuarantined(quarantine),
      await door.removeQuarantined(quarantine),
      await door.acceptQuarantined({ ...quarantine, sha256: SHA256 }),
      await door.revokeAccepted(quarantine),
      await door.setToolchains({ toolchains: [], path: [] }),
      await door.listToolchains({}),
      await door.allowPath({ root, path: '/q' }),
      await door.disallowPath({ root, path: '/q' }),
      await door.listPaths({ root }),
      await door.listPorts({ root }),
      await door.openPort({ root, port: 65_535 }),
      await door.getSchema('safe_bash', root),
    ];
    expect(JSON.parse(JSON.stringify(answers))).toEqual(answers);
    expect(answers[4]).toEqual({ tools: [] });
  });

  it.each(['SECRET_1', '[SECRET_0]', '[SECRET_01]', '[SECRET\\_1]', '[SECRET_1] ', ''])(
    'rejects %j as the token of a secret, unless a value is allowed',
    async (token) => {
      const secret = { root: '/p', session: '', token };
      const refused = { code: 'ARGS_INVALID' };
      await expect(door.revealSecret(secret)).rejects.toMatchObject(refused);
      const allowed = { secret, everywhere: false, by: '' };
      await expect(door.allowValue({ ...allowed, value: '' })).rejects.toMatchObject(refused);
      expect(await door.allowValue({ ...allowed, value: 'x' })).toEqual({ values: [], changed: [], session: '' });
      await expect(door.allowValue({ ...allowed, value: 'x'.repeat(65_537) })).rejects.toMatchObject(refused);
    },
  );

  it.each(['', 'abc', 'ABCD', '../x'])('rejects %j as the id of an allowed value', async (id) => {
    await expect(door.disallowValue({ root: '/p', id })).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it.each([0, 65_536])('rejects the port %i', async (port) => {
    await expect(door.openPort({ root: '/p', port })).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it('replaces 0 days by the default number of days', async () => {
    const asked: number[] = [];
    const { stats } = checkRequests(
      management({
        stats: async ({ days }) => {
          asked.push(days);
          return { rows: [] };
        },
      }),
    );
    for (const days of [0, 1, 366]) await stats({ project_root: '', days });
    expect(asked).toEqual([7, 1, 366]);
  });

  it.each([
    ['an empty', ''],
    ['a relative', 'relative'],
    ['a NUL in the', '/a\0b'],
    ['too long a', `/${'x'.repeat(4096)}`],
  ])('rejects %s path as project root in every request that needs one', async (_what, root) => {
    const quarantine = { root, which: 'x', unseen: false };
    const rejected = [
      door.registerProject({ root }),
      door.unregisterProject({ root }),
      door.sessionSecrets({ root, session: '' }),
      door.readCatalogue({ root }),
      door.listPorts({ root }),
      door.openPort({ root, port: 1 }),
      door.reviewRules({ root }),
      door.approveRules({ root, sha256: SHA256 }),
      door.revokeRules({ root }),
      door.listQuarantine({ root, which: '', unseen: false }),
      door.listQuarantine(quarantine),
      door.restoreQuarantined(quarantine),
      door.removeQuarantined(quarantine),
      door.acceptQuarantined({ ...quarantine, sha256: SHA256 }),
      door.revokeAccepted(quarantine),
      door.allowPath({ root, path: '/q' }),
      door.allowPath({ root: '/p', path: root }),
      door.disallowPath({ root: '/p', path: root }),
      door.listPaths({ root }),
      door.setToolchains({ toolchains: [{ name: 'x', mounts: [root], variables: {} }], path: [] }),
      door.setToolchains({ toolchains: [{ name: 'x', mounts: [], variables: { JAVA_HOME: root } }], path: [] }),
      ...(root === '' ? [] : [door.checkHealth({ project_root: root })]),
    ];
    for (const request of rejected) await expect(request).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });

  it.each([
    ['empty', ''],
    ['with a NUL', 'a\0b'],
    ['too long', 'x'.repeat(4097)],
  ])('rejects the name of something set aside if it is %s', async (_what, which) => {
    const request = { root: '/p', which, unseen: false };
    const rejected = [
      door.restoreQuarantined(request),
      door.acceptQuarantined({ ...request, sha256: SHA256 }),
      door.revokeAccepted(request),
    ];
    for (const one of rejected) await expect(one).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it('rejects variables that lead to no toolchain, and lists that are too long', async () => {
    const wrong = { code: 'ARGS_INVALID' };
    const set = (variables: Record<string, string>, path: string[] = []) =>
      door.setToolchains({ toolchains: [{ name: 'x', mounts: [], variables }], path });
    for (const name of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', '']) {
      await expect(set({ [name]: '/x' })).rejects.toMatchObject(wrong);
    }
    await expect(
      set(
        {},
        Array.from({ length: 201 }, () => '/x'),
      ),
    ).rejects.toMatchObject(wrong);
    expect(await set({ JAVA_HOME: '/usr/lib/jvm/x' })).toMatchObject({
      toolchains: [{ variables: { JAVA_HOME: '/usr/lib/jvm/x' } }],
    });
  });

  it('rejects a hash that is not a whole SHA-256, and numbers above the limit', async () => {
    const accept = (sha256: string) => door.acceptQuarantined({ root: '/p', which: 'x', sha256 });
    const wrong = { code: 'ARGS_INVALID' };
    for (const sha256 of ['', 'ab', SHA256.toUpperCase()]) await expect(accept(sha256)).rejects.toMatchObject(wrong);
    await expect(door.tailAudit({ limit: 1001, project_root: '' })).rejects.toMatchObject(wrong);
    await expect(door.stats({ project_root: '', days: 367 })).rejects.toMatchObject(wrong);
  });
});
