import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';

export interface Login {
  user: string;
  password: string;
}

/**
 * The login for `host` in ~/.netrc; null if there is no such login. Macros are skipped. The entry `default` is not used: a
 * source in a lock file would get it for a host that nobody named.
 */
export async function findLogin(home: string, host: string): Promise<Login | null> {
  try {
    return loginFor(await readFile(join(home, '.netrc'), 'utf8'), host);
  } catch (thrown) {
    if (isErrno(thrown)) return null;
    throw thrown;
  }
}

/** The same for the text of a netrc file. The first entry that matches counts, as in curl. */
export function loginFor(text: string, host: string): Login | null {
  const plain = text.replaceAll(/^\s*#.*$/gm, '').replaceAll(/^\s*macdef\b[^\n]*\n(?:[^\n]*\S[^\n]*(?:\n|$))*/gm, '');
  const words = plain.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  let isOurs = false;
  let [user, password]: [string | null, string | null] = [null, null];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === 'machine' || word === 'default') {
      if (isOurs) break;
      isOurs = word === 'machine' && unquote(words[++at]).toLowerCase() === host.toLowerCase();
    } else if (word === 'login' || word === 'password' || word === 'account') {
      const value = unquote(words[++at]);
      if (isOurs && word === 'login') user = value;
      if (isOurs && word === 'password') password = value;
    }
  }
  return user !== null && password !== null ? { user, password } : null;
}

function unquote(word = ''): string {
  return word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}
