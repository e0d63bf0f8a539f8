import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Outcome } from '../../helpers/sandbox-identities.ts';
import type { Facts, ProbeGroup } from './probe.ts';

const GONE = 'No such file or directory';

function hidesSecret(seen: Outcome, facts: Facts): void {
  expect(seen.out + seen.err).not.toContain(facts.secret);
}

/**
 * Probes 1 to 9: files outside the project. The links `link`, `linkdir` and `shadow` in it were planted on the host.
 */
export const FILES: ProbeGroup = {
  name: 'files of the host',
  control: {
    script: () =>
      'echo text >f && cat f && mkdir d && mv f d/g && ln -s d/g l && cat l && ls d && rm -r l d && head -c 4 /usr/bin/env | tail -c 3',
    works: (seen) => expect(seen).toMatchObject({ exitCode: 0, out: 'text\ntext\ng\nELF' }),
  },
  probes: [
    {
      id: 1,
      name: 'read ~/.ssh',
      requirement: 'SEC-2.3',
      script: ({ person }) => `cat ${person}/.ssh/id_planted`,
      contained(seen, facts) {
        hidesSecret(seen, facts);
        expect(seen.err).toContain(GONE);
      },
    },
    {
      id: 2,
      name: 'read /etc/shadow',
      requirement: 'SEC-2.3',
      script: () => 'cat /etc/shadow /etc/gshadow',
      contained: (seen) => expect(seen).toMatchObject({ exitCode: 1, out: '' }),
    },
    {
      id: 3,
      name: 'read /root',
      requirement: 'SEC-2.3',
      script: () => 'ls -A /root',
      contained: (seen) => expect(seen).toMatchObject({ exitCode: 2, out: '' }),
    },
    {
      id: 4,
      name: 'list a home',
      requirement: 'SEC-2.3',
      script: ({ person }) => `ls -A ${person}; ls -A /home`,
      contained: (seen) => expect(seen.out).toBe('sandbox\n'),
    },
    {
      id: 5,
      name: 'a link to a file outside',
      requirement: 'SEC-2.3',
      script: () => 'cat link; echo x >link',
      contained(seen, facts) {
        hidesSecret(seen, facts);
        expect(readFileSync(join(facts.person, 'outside.txt'), 'utf8')).toBe(facts.secret);
      },
    },
    {
      id: 6,
      name: 'a link to a directory outside',
      requirement: 'SEC-2.3',
      script: () => 'ls linkdir/.ssh; cat linkdir/outside.txt shadow',
      contained: (seen) => expect(seen.out).toBe(''),
    },
    {
      id: 7,
      name: 'a link made inside',
      requirement: 'SEC-2.3',
      script: ({ person }) => `ln -sf / rootlink; cat rootlink${person}/outside.txt; rm rootlink`,
      contained: (seen) => expect(seen.out).toBe(''),
    },
    {
      id: 8,
      name: 'write outside of the project',
      requirement: 'SEC-2.3',
      script: (facts) =>
        places(facts)
          .map((path) => `: >${path}`)
          .join('; '),
      contained(seen, facts) {
        expect(seen.err.match(/Read-only file system|No such file or directory/g)).toHaveLength(places(facts).length);
        expect(places(facts).filter((path) => existsSync(path))).toEqual([]);
      },
    },
    {
      id: 9,
      name: 'through .. out of the mount',
      requirement: 'SEC-2.3',
      script: ({ person }) => `cat "$PWD/../..${person}/outside.txt" ../person/outside.txt; cd .. && ls -A`,
      contained: (seen) => expect(seen.out).toBe('project\n'),
    },
  ],
};

function places(facts: Facts): string[] {
  const name = `contextd-probe-${facts.hostPid}`;
  return [facts.person, '', '/usr', '/etc', '/opt', '/run', '/home'].map((dir) => `${dir}/${name}`);
}
