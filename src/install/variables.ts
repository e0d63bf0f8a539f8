import { isInstallVariable } from '../core/variable-names.ts';

/** The whole environment of the child: PATH, HOME, the variables of `isInstallVariable`, and what keeps it quiet. Temporary files are in `work`; nothing may ask a question on a terminal. */
export function fetchEnvironment(variables: Readonly<Record<string, string>>, work: string): Record<string, string> {
  return {
    ...Object.fromEntries(
      Object.entries(variables).filter(([name]) => name === 'PATH' || name === 'HOME' || isInstallVariable(name)),
    ),
    LC_ALL: 'C',
    TMPDIR: work,
    GIT_TERMINAL_PROMPT: '0',
    // Node's own clients then use the proxy variables.
    NODE_USE_ENV_PROXY: '1',
  };
}
