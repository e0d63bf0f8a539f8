import { expect, test } from 'vitest';
import { Jail } from '#src/sandbox/jail/bubblewrap.js';
import { marked, newMark } from '../../../escape/processes.ts';

/**
 * A bubblewrap without the binding to its parent's death, which it makes a moment after its init has left the group.
 */
function startUnbound(mark: string): Jail {
  const args = ['--unshare-user', '--unshare-pid', '--new-session', '--ro-bind', '/', '/', '--json-status-fd', '4'];
  const command = ['sh', '-c', 'echo started; sleep 60; :', mark];
  return new Jail(
    {
      commandLine: ['/usr/bin/bwrap', '--args', '3', '--', ...command],
      args: Buffer.from(args.map((one) => `${one}\0`).join('')),
      inheritedFds: [],
      strayFds: [],
      group: null,
      pinned: [],
      release: () => {},
    },
    ['ignore', 'pipe', 'ignore'],
  );
}

test('kills a sandbox whose bubblewrap was killed before the sandbox was bound to its death', async () => {
  const mark = newMark();
  const jail = startUnbound(mark);
  await new Promise((resolve) => jail.child.stdout?.once('data', resolve));
  expect(marked(mark)).not.toEqual([]);
  jail.kill();
  expect(await jail.ended).toEqual({ ran: false, code: null, signal: 'SIGKILL' });
  await jail.gone;
  expect(marked(mark)).toEqual([]);
});
