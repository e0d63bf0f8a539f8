import { describe, expect, it } from 'vitest';
import { McpError } from '#src/core/passing.js';
import { SealedState } from '#src/features/upstreams/sealed-state.js';

describe('the state of a server that a client carries', () => {
  const states = new SealedState();

  it('issue 34: comes back as it was, and shows nothing of itself', () => {
    const state = '{"password":"value","step":"ünï"}';
    const sealed = states.seal(state, 'me');
    expect(states.open(sealed, 'me')).toBe(state);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('password');
    expect(states.seal(state, 'me')).not.toBe(sealed);
  });

  it('issue 34: is refused if it was changed, cut, or sealed for another request or by another daemon', () => {
    const sealed = states.seal('state', 'me');
    const changed = `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`;
    for (const [given, owner] of [
      [changed, 'me'],
      [sealed.slice(0, 8), 'me'],
      ['', 'me'],
      [sealed, 'another'],
      [new SealedState().seal('state', 'me'), 'me'],
    ] as const)
      expect(() => states.open(given, owner)).toThrow(McpError);
  });
});
