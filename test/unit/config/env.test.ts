import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { daemonEnvironment, readEnvironment } from '#src/config/env.js';

describe('the environment', () => {
  it('treats an empty variable as unset', () => {
    const env = readEnvironment({ HOME: '', CONTEXTD_HOME: '', XDG_STATE_HOME: '', NO_COLOR: '' });
    expect(env.home).toBe(homedir());
    expect(env.contextdHome).toBeUndefined();
    expect(env.xdgStateHome).toBeUndefined();
    expect(env.noColor).toBe(false);
  });

  it('prefers its own session id over that of Claude Code', () => {
    expect(readEnvironment({ CONTEXTD_SESSION_ID: 'a', CLAUDE_CODE_SESSION_ID: 'b' }).sessionId).toBe('a');
    expect(readEnvironment({ CLAUDE_CODE_SESSION_ID: 'b' }).sessionId).toBe('b');
  });

  it('gives a daemon PATH, HOME, XDG_*, CONTEXTD_HOME and the coverage directory, and nothing else', () => {
    const env = readEnvironment({
      PATH: '/bin',
      HOME: '/home/me',
      CONTEXTD_HOME: '/c',
      XDG_CONFIG_HOME: '/1',
      XDG_DATA_HOME: '/2',
      XDG_STATE_HOME: '/3',
      XDG_RUNTIME_DIR: '/4',
      NODE_V8_COVERAGE: '/v8',
      NODE_OPTIONS: '--require /evil.js',
      LD_PRELOAD: '/evil.so',
      CONTEXTD_SESSION_ID: 's',
    });
    expect(daemonEnvironment(env)).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      CONTEXTD_HOME: '/c',
      XDG_CONFIG_HOME: '/1',
      XDG_DATA_HOME: '/2',
      XDG_STATE_HOME: '/3',
      XDG_RUNTIME_DIR: '/4',
      NODE_V8_COVERAGE: '/v8',
    });
    expect(daemonEnvironment(readEnvironment({ PATH: '/bin', HOME: '/h' }))).toEqual({ PATH: '/bin', HOME: '/h' });
  });
});
