import { expect, it } from 'vitest';
import { idsLike } from '#src/gateway/ids/near-ids.js';

const IDS = [
  'contextd:safe_bash@1.0.0',
  'alpha:echo#11111111',
  'alpha:echo_all#22222222',
  'beta:echo#33333333',
  'beta:list#44444444',
  'gitlab:create_issue#55555555',
];

it.each<[asked: string, meant: string[]]>([
  ['echo', ['alpha:echo#11111111', 'beta:echo#33333333']],
  ['alpha:echo#99999999', ['alpha:echo#11111111', 'alpha:echo_all#22222222', 'beta:echo#33333333']],
  ['beta:ehco', ['beta:echo#33333333']],
  ['beta:ehco#99999999', ['beta:echo#33333333']],
  ['alpha:list', ['beta:list#44444444']],
  ['alpha:something_else', []],
  ['github:create_issue#99999999', ['gitlab:create_issue#55555555']],
  ['alhpa:ehco', []],
  ['bata:list', ['beta:list#44444444']],
  ['contextd:safe_bsh@1.0.0', ['contextd:safe_bash@1.0.0']],
])(
  'issue 34: for the id %s the tools of its server come first, and no other that only looks like it',
  (asked, meant) => {
    expect(idsLike(asked, IDS)).toEqual(meant);
  },
);
