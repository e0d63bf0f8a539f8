import { describe, expect, it } from 'vitest';
import { loginFor } from '#src/install/child/netrc.js';

const LOGIN = { user: 'me', password: 'pass' };

describe('issue 17 part 1: ~/.netrc', () => {
  it.each([
    ['on one line', 'machine example.com login me password pass'],
    ['on several lines', 'machine example.com\n\tlogin me\n\tpassword pass\n'],
    ['after other machines', 'machine a.example.com login x password y\nmachine example.com login me password pass'],
    ['in quotes', 'machine example.com login "me" password "pass"'],
    ['with an account', 'machine example.com login me account z password pass'],
    ['after a comment', '# machine example.com login x password y\nmachine example.com login me password pass'],
    [
      'after a macro',
      'macdef init\nmachine example.com login x password y\n\nmachine example.com login me password pass',
    ],
    ['in another case', 'machine EXAMPLE.com login me password pass'],
  ])('finds a login %s', (_name, text) => {
    expect(loginFor(text, 'example.com')).toEqual(LOGIN);
  });

  it('gives a host no login of another, nor half of one', () => {
    expect(loginFor('machine example.com.evil login me password pass', 'example.com')).toBeNull();
    expect(loginFor('machine example.com login me', 'example.com')).toBeNull();
    expect(loginFor('machine example.com login me machine b.example.com password pass', 'example.com')).toBeNull();
    expect(loginFor('machine a login machine password example.com', 'example.com')).toBeNull();
    expect(loginFor('machine a login x password y\ndefault login me password pass', 'example.com')).toBeNull();
    expect(loginFor('', 'example.com')).toBeNull();
  });

  it('takes the first entry, as curl does', () => {
    const text = 'machine example.com login me password pass\nmachine example.com login x password y';
    expect(loginFor(text, 'example.com')).toEqual(LOGIN);
  });
});
