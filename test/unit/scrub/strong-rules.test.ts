import { expect, it } from 'vitest';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { bitsOfSecret, strongRules } from '#src/scrub/strong-rules.js';

const bits = (regex: string, secretGroup = 0): number => Math.round(bitsOfSecret({ regex, secretGroup }));

it('SEC-1.4 counts the bits that a pattern demands of the secret, and nothing for what people think of', () => {
  expect(bits('ghp_([0-9a-f]{20})')).toBe(80);
  expect(bits('(?:a|b)[0-9a-f]{2,9}')).toBe(8);
  expect(bits('([a-z]{2})=([0-9a-f]{16})', 2)).toBe(64);
  expect(bits('([0-9a-f]{4}|[0-9a-f]{40})')).toBe(16);
  expect(bits('(?i)(live)([0-9a-f]{16})')).toBe(0);
  expect(bits('pass=([^\\s]{30,})')).toBe(0);
  expect(bits('pass=([!-~]{30,})')).toBe(0);
  expect(bits('x[0-9a-f]*')).toBe(0);
});

it('takes tokens of providers for strong, and no password, no rule of a project and no unknown rule', () => {
  const isStrong = strongRules(readRuleSources);
  for (const rule of ['github-pat', 'aws-access-token', 'gitlab-pat', 'jwt']) expect(isStrong(rule), rule).toBe(true);
  for (const rule of [
    ...['plain-password', 'quoted-password', 'env-secret', 'url-password', 'generic-api-key', 'htpasswd-password'],
    ...['prose-password', 'session-cookie', 'env', 'no-such-rule', 'constructor'],
  ])
    expect(isStrong(rule), rule).toBe(false);
});
