import { expect, it } from 'vitest';
import { faultOf, namedCommands } from '../../helpers/remedies.ts';

it('issue 30.3 every command that a message names is one that a shell and ctxd take as it is printed', () => {
  const named = namedCommands();
  expect(named.length).toBeGreaterThan(150);
  const faults = named.flatMap(({ text, file }) => {
    const fault = faultOf(text);
    return fault === null ? [] : [`${file}: ${text} ${fault}`];
  });
  expect([...new Set(faults)]).toEqual([]);
});
