import { describe, expect, it } from 'vitest';
import * as daemonSide from '#src/config/env.js';
import { resolvePaths } from '#src/config/paths.js';
import { daemonEnvironment, readProxyEnvironment, resolvePlaces } from '#src/proxy/environment.js';

const ENVIRONMENTS: Record<string, NodeJS.ProcessEnv> = {
  CONTEXTD_HOME: { HOME: '/h', CONTEXTD_HOME: '/data/../c', XDG_RUNTIME_DIR: '/run/user/1', XDG_STATE_HOME: '/s' },
  'XDG directories': { HOME: '/h', XDG_RUNTIME_DIR: '/run/user/1', XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/c' },
  'no run directory': { HOME: '/h', XDG_DATA_HOME: '/d' },
  'relative and empty values': { HOME: '', CONTEXTD_HOME: '', XDG_RUNTIME_DIR: 'run', XDG_STATE_HOME: './s' },
};

describe('the proxy and the daemon agree', () => {
  for (const [name, source] of Object.entries(ENVIRONMENTS)) {
    it(`on socket, certificates and log: ${name}`, () => {
      const places = resolvePlaces(readProxyEnvironment(source));
      const { runDir, socket, stateDir, certsDir, logFile } = resolvePaths(daemonSide.readEnvironment(source), '/i');
      expect(places).toEqual({ runDir, socket, stateDir, certsDir, logFile, startLock: `${runDir}/start.lock` });
    });

    it(`on the environment of a daemon: ${name}`, () => {
      const given = { PATH: '/bin', ...source, SECRET: 'x', XDG_SESSION_ID: '1' };
      const there = daemonSide.daemonEnvironment(daemonSide.readEnvironment(given));
      expect(daemonEnvironment(readProxyEnvironment(given))).toEqual(there);
    });
  }

  it('on the session and its branch', () => {
    for (const source of [
      { CONTEXTD_SESSION_ID: 'a', CLAUDE_CODE_SESSION_ID: 'b' },
      { CONTEXTD_SESSION_ID: '', CLAUDE_CODE_SESSION_ID: 'b' },
      { CONTEXTD_BRANCH: 'br_1' },
      {},
    ]) {
      expect(readProxyEnvironment(source).branch).toBe(daemonSide.readEnvironment(source).branch ?? '');
      expect(readProxyEnvironment(source).sessionId).toBe(daemonSide.readEnvironment(source).sessionId ?? '');
    }
  });
});
