import { describe, expect, it } from 'vitest';
import { HOST_GROUPS, hostGroup } from '#src/egress/groups.js';
import type { NetworkRule } from '#src/egress/messages.js';
import {
  addressFault,
  compilePolicy,
  decide,
  decideName,
  isPublicSuffix,
  nextExpiry,
  parsePattern,
  portsOfPolicy,
} from '#src/egress/rules.js';

const NOW = 1_000_000;

function rule(pattern: string, more: Partial<NetworkRule> = {}): NetworkRule {
  return { pattern, verdict: 'allow', privateAddresses: [], anyPrivate: false, expiresMs: null, ...more };
}

function policyOf(...rules: (string | NetworkRule)[]) {
  return compilePolicy({
    rules: rules.map((one) => (typeof one === 'string' ? rule(one) : one)),
    uploadMaxBytes: null,
  });
}

describe('a pattern', () => {
  const READ: [string, object][] = [
    ['example.com', { name: 'example.com', isWildcard: false, port: null }],
    ['example.com:8443', { name: 'example.com', isWildcard: false, port: 8443 }],
    ['*.corp.example', { name: 'corp.example', isWildcard: true, port: null }],
    ['*.corp.example:22', { name: 'corp.example', isWildcard: true, port: 22 }],
    ['nexus:8081', { name: 'nexus', isWildcard: false, port: 8081 }],
  ];
  for (const [text, pattern] of READ)
    it(`${text} is read`, () => {
      expect(parsePattern(text, 'allow')).toEqual({ pattern, why: null });
    });

  const REFUSED = [
    '',
    '*',
    '*.',
    '**.example.com',
    'a.*.example',
    '*example.com',
    'example.com:0',
    'example.com:00443',
    'example.com:65536',
    'example.com:+443',
    'example.com:443.0',
    'example.com:',
    'example.com:443:1',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    '127.0.0.1',
    '[::1]:443',
    'example.com.',
    ' example.com',
    '*.127.0.0.1',
    'example.com\n',
  ];
  for (const text of REFUSED)
    it(`${JSON.stringify(text)} is refused with the fix`, () => {
      expect(parsePattern(text, 'allow')).toMatchObject({ pattern: null, why: expect.stringContaining('example.com') });
    });

  it('may not allow a wildcard below a public suffix, the private part of the list included', () => {
    for (const suffix of [
      'com',
      'co.uk',
      'github.io',
      'herokuapp.com',
      's3.amazonaws.com',
      'internal',
      'xn--p1ai',
      'blob.core.windows.net',
    ]) {
      expect(isPublicSuffix(suffix), suffix).toBe(true);
      expect(parsePattern(`*.${suffix}`, 'allow').why, suffix).toContain('anyone can register a name below');
      expect(parsePattern(`*.${suffix}`, 'deny').why, suffix).toBeNull();
    }
    expect(isPublicSuffix('example.com')).toBe(false);
  });
});

describe('the verdict', () => {
  const policy = policyOf(
    'good.example',
    '*.wild.example',
    'ports.example:8443',
    'ssh.example:22',
    rule('bad.wild.example', { verdict: 'deny' }),
    rule('*.deep.wild.example:443', { verdict: 'deny' }),
    rule('gone.example', { expiresMs: NOW }),
    rule('soon.example', { expiresMs: NOW + 1 }),
    rule('denied.example', { verdict: 'deny' }),
    'denied.example',
    rule('*.denied.example', { verdict: 'deny', expiresMs: NOW }),
    '*.amazonaws.com',
    rule('*.core.windows.net', { verdict: 'deny' }),
  );
  const TABLE: [string, number, boolean, string | null, boolean][] = [
    // host, port, allowed, rule, allowable
    ['good.example', 443, true, 'good.example', false],
    ['good.example', 80, true, 'good.example', false],
    ['good.example', 22, false, 'good.example', true],
    ['good.example', 8443, false, 'good.example', true],
    ['evilgood.example', 443, false, null, true],
    ['a.good.example', 443, false, null, true],
    ['good.example.evil.example', 443, false, null, true],
    ['wild.example', 443, false, null, true],
    ['sts.amazonaws.com', 443, true, '*.amazonaws.com', false],
    ['evil.s3.amazonaws.com', 443, false, null, true],
    ['s3.amazonaws.com', 443, false, null, true],
    ['evil.blob.core.windows.net', 443, false, '*.core.windows.net', false],
    ['evilwild.example', 443, false, null, true],
    ['a.wild.example', 443, true, '*.wild.example', false],
    ['a.b.wild.example', 443, true, '*.wild.example', false],
    ['bad.wild.example', 443, false, 'bad.wild.example', false],
    ['bad.wild.example', 9999, false, 'bad.wild.example', false],
    ['x.deep.wild.example', 443, false, '*.deep.wild.example:443', false],
    ['x.deep.wild.example', 80, true, '*.wild.example', false],
    ['deep.wild.example', 443, true, '*.wild.example', false],
    ['ports.example', 8443, true, 'ports.example:8443', false],
    ['ports.example', 443, false, 'ports.example:8443', true],
    ['ssh.example', 22, true, 'ssh.example:22', false],
    ['ssh.example', 443, false, 'ssh.example:22', true],
    ['gone.example', 443, false, null, true],
    ['soon.example', 443, true, 'soon.example', false],
    ['denied.example', 443, false, 'denied.example', false],
    ['sub.denied.example', 443, false, null, true],
    ['unknown.example', 443, false, null, true],
  ];
  for (const [host, port, isAllowed, decided, isAllowable] of TABLE)
    it(`${isAllowed ? 'allows' : 'refuses'} ${host}:${port}`, () => {
      const verdict = decide(policy, host, port, NOW);
      expect(verdict).toMatchObject({ isAllowed, rule: decided, isAllowable });
      expect(verdict.why === '').toBe(isAllowed);
    });

  it('without rules refuses everything', () => {
    expect(decide(policyOf(), 'example.com', 443, NOW)).toMatchObject({ isAllowed: false, rule: null });
  });

  it('gives a local DNS answer for names that some port allows', () => {
    for (const [host, isAllowed] of [
      ['good.example', true],
      ['ports.example', true],
      ['ssh.example', true],
      ['x.deep.wild.example', true],
      ['bad.wild.example', false],
      ['denied.example', false],
      ['gone.example', false],
      ['unknown.example', false],
    ] as const)
      expect(decideName(policy, host, NOW).isAllowed, host).toBe(isAllowed);
  });

  it('leaves out rules that cannot be read and lists them', () => {
    const broken = policyOf('*.co.uk', 'good.example');
    expect(broken.faults).toHaveLength(1);
    expect(decide(broken, 'a.co.uk', 443, NOW).isAllowed).toBe(false);
    expect(decide(broken, 'good.example', 443, NOW).isAllowed).toBe(true);
  });

  it('names the ports of rules and the next end of a rule', () => {
    expect([...portsOfPolicy(policy)].sort()).toEqual([22, 443, 80, 8443]);
    expect(nextExpiry(policy, NOW)).toBe(NOW + 1);
    expect(nextExpiry(policy, NOW + 1)).toBeNull();
  });
});

describe('the address of an allowed name', () => {
  const own = new Set(['203.0.113.5']);
  const policy = policyOf(
    'good.example',
    rule('mirror.example', { privateAddresses: ['10.0.0.7', '2001:DB8::7', 'fd00:0::7'] }),
    rule('inside.example', { anyPrivate: true }),
    rule('both.example:8443', { privateAddresses: ['10.0.0.7'] }),
    'both.example',
  );
  const TABLE: [string, number, string, boolean][] = [
    ['good.example', 443, '8.8.8.8', true],
    ['good.example', 443, '10.0.0.7', false],
    ['good.example', 443, '::ffff:8.8.8.8', false],
    ['good.example', 443, '203.0.113.5', false],
    ['good.example', 443, '203.0.113.6', true],
    ['good.example', 443, 'nonsense', false],
    ['mirror.example', 443, '10.0.0.7', true],
    ['mirror.example', 443, '10.0.0.8', false],
    ['mirror.example', 443, 'fd00::7', true],
    ['mirror.example', 443, 'fd00::8', false],
    ['inside.example', 443, '127.0.0.1', true],
    ['inside.example', 443, '203.0.113.5', true],
    ['inside.example', 443, 'nonsense', false],
    ['both.example', 8443, '10.0.0.7', true],
    ['both.example', 443, '10.0.0.7', false],
  ];
  for (const [name, port, address, isFine] of TABLE)
    it(`${address} is ${isFine ? 'dialled' : 'refused'} for ${name}:${port}`, () => {
      expect(addressFault(policy, { name, port, nowMs: NOW }, address, own) === '').toBe(isFine);
    });
});

describe('the groups', () => {
  it('hold patterns that can be allowed, and a sentence', () => {
    for (const [name, { what, hosts }] of Object.entries(HOST_GROUPS)) {
      expect(what, name).toMatch(/^\S.*\.$/);
      expect(hosts.length, name).toBeGreaterThan(0);
      for (const host of hosts) expect(parsePattern(host, 'allow').why, host).toBeNull();
    }
  });

  it('hold no host whose purpose is to take uploads', () => {
    const hosts = Object.values(HOST_GROUPS).flatMap((group) => [...group.hosts]);
    for (const upload of ['upload.pypi.org', 'uploads.github.com', 'crates.io', 'www.nuget.org', 'gist.github.com'])
      expect(hosts).not.toContain(upload);
  });

  it('are found by name only', () => {
    expect(hostGroup('npm')?.hosts).toContain('registry.npmjs.org');
    expect(hostGroup('toString')).toBeNull();
    expect(hostGroup('nothing')).toBeNull();
  });
});

describe('what a tool does not declare', () => {
  const policy = compilePolicy({
    rules: [rule('a.example.com')],
    declared: ['a.example.com', '*.b.example.com:8443', 'c.example.com:22'],
    uploadMaxBytes: null,
  });
  const ASKED: [host: string, port: number, isAllowed: boolean, isAllowable: boolean][] = [
    ['a.example.com', 443, true, false],
    ['a.example.com', 22, false, false],
    ['x.b.example.com', 8443, false, true],
    ['x.b.example.com', 443, false, false],
    ['b.example.com', 8443, false, false],
    ['evilb.example.com', 8443, false, false],
    ['c.example.com', 22, false, true],
    ['d.example.com', 443, false, false],
  ];
  for (const [host, port, isAllowed, isAllowable] of ASKED)
    it(`${host}:${port}: ${isAllowed ? 'allowed' : isAllowable ? 'a person can allow it' : 'no permission allows it'}`, () => {
      const verdict = decide(policy, host, port, NOW);
      expect(verdict).toMatchObject({ isAllowed, isAllowable });
      if (!isAllowed && !isAllowable)
        expect(verdict.why).toBe('the tool does not declare this host and port in its tool.json');
    });

  it('is looked up at no port', () => {
    const names = ['a.example.com', 'x.b.example.com', 'c.example.com', 'd.example.com'];
    expect(names.map((name) => decideName(policy, name, NOW))).toMatchObject([
      { isAllowed: true },
      { isAllowed: false, isAllowable: true },
      { isAllowed: false, isAllowable: true },
      { isAllowed: false, isAllowable: false },
    ]);
  });

  it('is nothing at all for a tool that declares nothing', () => {
    const none = compilePolicy({ rules: [], declared: [], uploadMaxBytes: null });
    expect(decide(none, 'a.example.com', 443, NOW).isAllowable).toBe(false);
  });
});
