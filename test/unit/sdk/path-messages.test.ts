import { expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { fileFault, protectedFault, resolvePath } from '#src/sdk/workspace-path.js';

const NAMES = ['passwd', 'password', 'secret', 'token'];

function messageOf(fault: unknown): string {
  if (fault instanceof ContextdError) return fault.message;
  throw fault;
}

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (thrown) {
    return thrown;
  }
}

it.each(NAMES)('no message about a path named %s reads as a sentence that tells a secret', (name) => {
  const place = { workspace: '/work', cwd: '/work' };
  const faults = [
    thrownBy(() => resolvePath(place, `/etc/${name}`)),
    thrownBy(() => resolvePath(place, `../${name}`)),
    protectedFault(name, '.git/hooks'),
    ...['ENOENT', 'ENOTDIR', 'EACCES'].map((code) => fileFault(Object.assign(new Error(code), { code }), name)),
  ];
  for (const fault of faults) {
    const message = messageOf(fault);
    expect(message).toContain(name);
    expect(message).not.toMatch(new RegExp(`${name}\\W*\\s(?:is|was|are|set to)\\b`));
  }
});
