import { expect, test } from 'vitest';
import { withDenialFacts } from '#src/sandbox/denials/sources.js';
import type { DenialSource } from '#src/sandbox/sandbox.js';
import type { SandboxPolicy } from '#src/sandbox/sandbox-policy.js';

const POLICY: SandboxPolicy = {
  workspace: { path: '/w', layer: null },
  network: 'none',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'reduced',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 0, pids: 0, fileBytes: 0, openFiles: 0, cpus: 0 },
};

const denial = (host: string, rule: string) => ({ kind: 'network', host, rule, how_to_allow: 'not at all' });

/** A source that writes down when it is called. */
function sourceOf(events: string[], host: string): DenialSource {
  return {
    begin({ workspace }) {
      events.push(`begin ${workspace.path}`);
      return () => {
        events.push('end');
        return [denial(host, 'fact')];
      };
    },
  };
}

test('a source is asked from the start to the end of a command, and its facts come first', async () => {
  const events: string[] = [];
  const { denied } = await withDenialFacts([sourceOf(events, 'a.example.com')], POLICY, async () => {
    events.push('run');
    return { denied: [denial('a.example.com', 'guess'), denial('b.example.com', 'guess')] };
  });
  expect(denied).toEqual([denial('a.example.com', 'fact'), denial('b.example.com', 'guess')]);
  expect(events).toEqual(['begin /w', 'run', 'end']);
});

test('without a source a result stays as it is, even with two rules for one path', async () => {
  const result = { denied: [denial('a.example.com', 'one'), denial('a.example.com', 'two')] };
  expect(await withDenialFacts([], POLICY, async () => result)).toEqual(result);
});

test('a source learns the end of a command that fails', async () => {
  const events: string[] = [];
  const failing = withDenialFacts([sourceOf(events, 'a.example.com')], POLICY, async () => {
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  expect(events).toEqual(['begin /w', 'end']);
});
