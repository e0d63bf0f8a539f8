import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unwrapCodex, unwrapGemini } from '#src/proxy/shell/other-wrappers.js';
import { codexWrapped, geminiWrapped } from '../../../helpers/client-wrappers.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';

/** Everything that means something to the wrappers, to a shell, or to contextd. */
const MARKS = [
  ...["'", '"', '\\', '\n', ' ', '$', '`', ';', '&&', '|', '>', '<', '(', ')', '{', '}', '#', '\n)\n'],
  `'"'"'`,
  "\n\nexec '/bin/bash' -c 'touch made'",
  "exec '/usr/bin/env' -c 'x'",
  '__code=$?\nexit $__code',
  `trap 'jobs -p > "$_bgpids_file"' EXIT`,
  `__CODEX_SNAPSHOT_OVERRIDE_0="\${PATH-}"`,
  'fi\n',
  'contextd-sh -c',
  'CODEX_THREAD_ID= GEMINI_CLI=',
];
const COMMAND = fc
  .array(fc.oneof(fc.constantFrom(...MARKS), fc.string({ unit: 'grapheme', maxLength: 6 })), { maxLength: 8 })
  .map((parts) => parts.join(''));

describe('issue 35 part 3: the wrappers of Codex and Gemini CLI', () => {
  it('give back any command, whatever marks of wrappers are in it', () => {
    fc.assert(
      fc.property(COMMAND, (command) => {
        expect(unwrapCodex(codexWrapped(command))).toBe(command);
        expect(unwrapGemini(geminiWrapped(command))).toBe(command);
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('are run by bash as the command that is taken out of them', () => {
    const command = `printf %s "it's" $((1+1))\nprintf ' %s' 'a "b"'`;
    const run = (text: string) => spawnSync('bash', ['-c', text], { encoding: 'utf8' }).stdout;
    for (const text of [codexWrapped(command), geminiWrapped(command)]) expect(run(text)).toBe(run(command));
  });

  it('are not recognized in a text of another shape, which then runs as it stands', () => {
    const text = codexWrapped('make');
    for (const other of [
      'make',
      `touch made\n${text}`,
      `${text}; touch made`,
      `${text} && touch made`,
      text.replace("exec '/bin/bash'", "exec '/usr/bin/env'"),
      text.replace('\nfi\n', '\nfi; touch made\n'),
      text.replace(/export PATH='[^']*'/, 'export PATH=$(touch made)'),
      text.replace('2>&1; then :; fi', '2>&1; then touch made; fi'),
    ])
      expect(unwrapCodex(other), other).toBeNull();
    for (const other of ['make', `touch made; ${geminiWrapped('make')}`, `${geminiWrapped('make')}; touch made`])
      expect(unwrapGemini(other), other).toBeNull();
  });
});
