import { expect, it } from 'vitest';
import { toolMatcher } from '#src/catalog/tool-glob.js';

it.each<[glob: string, matched: string[], others: string[]]>([
  ['alpha:echo', ['alpha:echo', 'alpha:echo#1a2b3c4d', 'alpha:echo@1.2.0'], ['alpha:echo_all#1a2b3c4d', 'beta:echo']],
  ['alpha:echo*', ['alpha:echo#1a2b3c4d', 'alpha:echo_all#1a2b3c4d'], ['alpha:ech#1a2b3c4d']],
  ['alpha:*', ['alpha:echo#1a2b3c4d'], ['beta:alpha#1a2b3c4d']],
  ['*:echo', ['alpha:echo#1a2b3c4d', 'beta:echo'], ['alpha:echo_all']],
  ['alpha:echo#1a2b3c4d', ['alpha:echo#1a2b3c4d'], ['alpha:echo#00000000', 'alpha:echo']],
  ['resource::a:x#1a2b3c4d', ['resource::a:x#1a2b3c4d', 'resource::a:x#1a2b3c4d~2'], ['resource::a:x#00000000~2']],
  ['resource::a:x#1a2b3c4d~2', ['resource::a:x#1a2b3c4d~2'], ['resource::a:x#1a2b3c4d', 'resource::a:x#1a2b3c4d~3']],
  ['safe_bash', ['safe_bash'], ['safe_bash2']],
])('issue 34: the pattern %s covers every version of the tools that it names', (glob, matched, others) => {
  expect([...matched, ...others].filter(toolMatcher(glob))).toEqual(matched);
});
