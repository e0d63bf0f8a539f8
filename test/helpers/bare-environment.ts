import type { Environment } from '#src/config/env.js';

/** What contextd knows of an environment in which only these are set. */
export function bareEnvironment(set: Partial<Environment> & Pick<Environment, 'home'>): Environment {
  return {
    contextdHome: undefined,
    xdgConfigHome: undefined,
    xdgDataHome: undefined,
    xdgStateHome: undefined,
    xdgRuntimeDir: undefined,
    path: '',
    toolchains: {},
    network: {},
    install: {},
    projectRunner: null,
    sessionId: undefined,
    branch: undefined,
    noColor: false,
    coverageDir: undefined,
    secretVariables: [],
    ...set,
  };
}
