import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RUNTIMES, SECCOMP_RULES, type ToolProfile } from '#src/core/profile.js';
import { narrowPolicy, processPolicy, profileKey } from '#src/runner/create-runner.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';

const MIB = 1024 * 1024;
const PROFILE: ToolProfile = { runtime: 'node', entry: 'main.js', minIsolation: 'reduced', seccomp: [], limits: {} };

function policy(change: Partial<SandboxPolicy['limits']> = {}): SandboxPolicy {
  return {
    workspace: { path: '/w', layer: null },
    network: 'none',
    roPaths: ['/opt/x'],
    deny: ['*.pem'],
    storage: null,
    minIsolation: 'reduced',
    seccomp: { inet: true, unix: true, debugger: false },
    limits: { memoryBytes: 512 * MIB, pids: 100, fileBytes: 1, openFiles: 2, cpus: 2, ...change },
  };
}

const profiles: fc.Arbitrary<ToolProfile> = fc.record({
  runtime: fc.constantFrom(...RUNTIMES),
  entry: fc.constantFrom('main.js', 'tool'),
  minIsolation: fc.constantFrom('full', 'reduced'),
  seccomp: fc.subarray([...SECCOMP_RULES]),
  limits: fc.record({ memoryMb: fc.nat(4096), pids: fc.nat(4096), cpus: fc.nat(64) }, { requiredKeys: [] }),
});

describe('a tool’s profile', () => {
  it('changes nothing if it requests nothing', () => {
    expect([narrowPolicy(policy(), PROFILE), processPolicy(policy(), PROFILE)]).toEqual([policy(), policy()]);
  });

  it('SEC-2.1 narrows what the configuration allows and never widens it, except for the debugger', () => {
    fc.assert(
      fc.property(profiles, fc.nat(8), (profile, cpus) => {
        const allowed = policy({ cpus });
        for (const got of [narrowPolicy(allowed, profile), processPolicy(allowed, profile)]) {
          expect(got).toMatchObject({ workspace: { path: '/w', layer: null }, roPaths: ['/opt/x'], deny: ['*.pem'] });
          expect(got.limits.memoryBytes).toBeLessThanOrEqual(allowed.limits.memoryBytes);
          expect(got.limits.pids).toBeLessThanOrEqual(allowed.limits.pids);
          expect(got.limits.cpus || Infinity).toBeLessThanOrEqual(cpus || Infinity);
          expect(got.seccomp.debugger).toBe(profile.seccomp.includes('debugger'));
          if (profile.seccomp.includes('no-inet')) expect(got.seccomp.inet).toBe(false);
          if (profile.minIsolation === 'full') expect(got.minIsolation).toBe('full');
        }
      }),
    );
  });

  it('SEC-2.1 takes unix sockets from commands; the process keeps them, because its connection is one', () => {
    const profile: ToolProfile = { ...PROFILE, seccomp: ['no-unix'] };
    expect(narrowPolicy(policy(), profile).seccomp.unix).toBe(false);
    expect(processPolicy(policy(), profile).seccomp.unix).toBe(true);
  });

  it('does not lower a configured "full"', () => {
    const full = { ...policy(), minIsolation: 'full' } as const;
    expect(narrowPolicy(full, PROFILE).minIsolation).toBe('full');
  });

  it('decides which tools share a process: the order of its rules and the time of a call do not matter', () => {
    const a: ToolProfile = { ...PROFILE, seccomp: ['no-inet', 'debugger'], limits: { timeoutMs: 1 } };
    const b: ToolProfile = { ...PROFILE, seccomp: ['debugger', 'no-inet'] };
    expect(profileKey(a)).toBe(profileKey(b));
    expect(profileKey(a)).not.toBe(profileKey(PROFILE));
    expect(profileKey({ ...b, limits: { pids: 20 } })).not.toBe(profileKey(b));
  });
});
