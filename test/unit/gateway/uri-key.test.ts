import { describe, expect, it } from 'vitest';
import { uriKey } from '#src/gateway/uri-key.js';

describe('gateway surface §4.5: a rule about a URI holds for every spelling of it', () => {
  it.each([
    'DOCS://alpha/secret-plan',
    'docs://ALPHA/secret-plan',
    'docs://alpha/secret%2Dplan',
    'docs://alpha/secret-pla%6e',
    'docs://alpha/./secret-plan',
    'docs://alpha/x/../secret-plan',
    'docs://alpha/secret-plan?',
    'docs://alpha/secret-plan#part',
    ' docs://alpha/secret-plan',
    'docs://al\tpha/secret-plan',
  ])('such as %j', (spelling) => {
    expect(uriKey(spelling)).toBe(uriKey('docs://alpha/secret-plan'));
  });

  it.each([
    'docs://alpha/Secret-plan',
    'docs://alpha/secret-plan/',
    'docs://alpha/secret-plan?x=1',
    'docs://alpha/secret%2Fplan',
    'docs://beta/secret-plan',
    'docz://alpha/secret-plan',
  ])('and not for %j, which is another', (other) => {
    expect(uriKey(other)).not.toBe(uriKey('docs://alpha/secret-plan'));
  });
});
