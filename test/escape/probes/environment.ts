import { expect } from 'vitest';
import type { Outcome } from '../../helpers/sandbox-identities.ts';
import { type Facts, type ProbeGroup, perl } from './probe.ts';

function hidesSecret(seen: Outcome, facts: Facts): void {
  expect(seen.out + seen.err).not.toContain(facts.secret);
}

/** Reads what it can of the memory of process 1 and looks for a word from the hosting process's environment. */
const SEARCH_INIT = `
my $word = join '', 'planted', '-in-the-', 'environment';
open my $maps, '<', '/proc/1/maps' or print "no maps\\n" and exit;
open my $mem, '<:raw', '/proc/1/mem' or print "no memory\\n" and exit;
while (<$maps>) {
  my ($from, $to) = /^([0-9a-f]+)-([0-9a-f]+) r/ or next;
  my ($start, $end) = (hex $from, hex $to);
  next if $end - $start > 64 << 20 or $start >> 47;
  sysseek $mem, $start, 0 or next;
  my $data = '';
  sysread $mem, $data, $end - $start;
  print "FOUND\\n" if index($data, $word) >= 0;
}
print "searched\\n";
`;

/** Probes 10 to 14: the environment and the descriptors of the hosting process. */
export const ENVIRONMENT: ProbeGroup = {
  name: 'environment and descriptors',
  control: {
    script: () => 'echo "$GIVEN $HOME $TMPDIR $LANG"; cat <&0; exec 5>f; echo y >&5; cat f; rm f',
    change: { env: { GIVEN: 'yes' }, stdin: Buffer.from('input\n') },
    works: (seen) => expect(seen.out).toBe('yes /home/sandbox /tmp C.UTF-8\ninput\ny\n'),
  },
  probes: [
    {
      id: 10,
      name: 'secrets in the environment',
      requirement: 'SEC-2.3',
      script: () => 'env; tr "\\0" "\\n" </proc/self/environ',
      contained(seen, facts) {
        hidesSecret(seen, facts);
        const names = new Set(seen.out.split('\n').map((line) => line.split('=')[0]));
        expect([...names].sort()).toEqual(['', 'HOME', 'LANG', 'PATH', 'PWD', 'SHLVL', 'TMPDIR', '_']);
      },
    },
    {
      id: 11,
      name: '/proc/1/environ and those of all others',
      requirement: 'SEC-2.3',
      script: () => 'cat /proc/1/environ /proc/[0-9]*/environ | tr "\\0" "\\n"',
      contained(seen, facts) {
        hidesSecret(seen, facts);
        expect(seen.out).toContain('PATH=');
      },
    },
    {
      id: 12,
      name: 'the memory of process 1 holds nothing of the daemon',
      requirement: 'SEC-2.3',
      script: () => perl(SEARCH_INIT),
      contained: (seen) => expect(seen.out).toMatch(/^(searched|no maps|no memory)\n$/),
    },
    {
      id: 13,
      name: 'LD_PRELOAD and similar variables are not passed on',
      requirement: 'SEC-2.3',
      script: () => 'echo "[$LD_PRELOAD$LD_LIBRARY_PATH$NODE_OPTIONS$BASH_ENV$PERL5LIB$PYTHONPATH$GIT_DIR]"',
      contained: (seen) => expect(seen.out).toBe('[]\n'),
    },
    {
      id: 14,
      name: 'inherited descriptors',
      requirement: 'SEC-2.3',
      script: () =>
        `${perl(
          'opendir my $dir, "/proc/self/fd"; for (sort readdir $dir) { print "$_ ", readlink("/proc/self/fd/$_"), "\\n" if $_ > 2 }',
        )}\ncat <&9`,
      contained(seen, facts) {
        hidesSecret(seen, facts);
        for (const line of seen.out.trim().split('\n')) expect(line).toMatch(/^\d+ (?:\/proc\/\d+\/fd|\/dev\/null)$/);
      },
    },
  ],
};

/** Probes 15 and 16: processes of the host. */
export const PROCESSES: ProbeGroup = {
  name: 'processes of the host',
  control: {
    script: () => 'sleep 30 & kill -0 $! && kill -9 $!; wait $!; echo $?',
    works: (seen) => expect(seen.out).toBe('137\n'),
  },
  probes: [
    {
      id: 15,
      name: 'see them',
      requirement: 'SEC-2.3',
      script: () => "grep -l 'contextd-[v]ictim' /proc/[0-9]*/cmdline; ls /proc | grep -c '^[0-9]'",
      contained: (seen) => expect(Number(seen.out)).toBeLessThan(9),
    },
    {
      id: 16,
      name: 'kill them, by number and all',
      requirement: 'SEC-2.3',
      script: ({ victimPid, hostPid }) => `kill -9 ${victimPid}; kill -9 ${hostPid}; kill -9 -1; echo still here`,
      contained(seen, { victimPid, hostPid }) {
        expect(seen.out).toBe('still here\n');
        expect(() => process.kill(victimPid, 0)).not.toThrow();
        expect(() => process.kill(hostPid, 0)).not.toThrow();
      },
    },
  ],
};

/** Probes 63 to 66: what the sandbox reveals about the machine, and that ordinary work succeeds in it. */
export const MACHINE: ProbeGroup = {
  name: 'the machine',
  control: {
    script: () => 'uname -s; nproc >/dev/null && date >/dev/null && id -un',
    works: (seen) => expect(seen.out).toBe('Linux\nsandbox\n'),
  },
  probes: [
    {
      id: 63,
      name: 'names of the machine',
      requirement: 'SEC-2.3',
      script: () =>
        'hostname; cat /etc/hostname /proc/sys/kernel/hostname; cat /etc/machine-id /var/lib/dbus/machine-id',
      contained: (seen) => expect(seen.out).toBe('sandbox\nsandbox\nsandbox\n'),
    },
    {
      id: 64,
      name: 'the command line of process 1 holds no path of the host',
      requirement: 'SEC-2.3',
      script: () => 'tr "\\0" " " </proc/1/cmdline',
      contained(seen, facts) {
        expect(seen.out).toContain('bwrap');
        for (const word of ['bind', facts.base, '/home']) expect(seen.out.split(' bash -c ')[0]).not.toContain(word);
      },
    },
    {
      id: 65,
      name: 'mountinfo tells the path of the project (SECURITY.md, “Paths”), and of nothing else',
      requirement: 'SEC-2.3',
      script: () => 'cat /proc/self/mountinfo',
      contained(seen, facts) {
        expect(seen.out).toContain(facts.workspace);
        expect(seen.out).not.toContain(facts.person);
      },
    },
    {
      id: 66,
      name: 'normal work: git, node, python, perl, make, a compiler',
      requirement: 'SEC-2.3',
      script: () => HONEST_WORK,
      contained(seen) {
        const absent = [...seen.out.matchAll(/^absent: (.+)$/gm)].map((match) => match[1]);
        if (absent.length > 0) console.warn(`SKIPPED in probe 66: ${absent.join(', ')}`);
        expect(seen.out.replaceAll(/^absent: .+\n/gm, '').split('\n')).toEqual(
          ['git', 'node', 'python3', 'perl', 'make', 'cc']
            .filter((name) => !absent.includes(name))
            .map((name) => `${name} works`)
            .concat(''),
        );
        expect(seen.quarantined).toEqual([]);
      },
    },
  ],
};

const HONEST_WORK = `
set -e
have() { command -v "$1" >/dev/null || { echo "absent: $1"; return 1; }; }
mkdir work && cd work && cp ../.git/HEAD head
if have git; then
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.invalid
  echo one >file; git add file; git commit -qm one; git log --format=%s -1 | sed s/one/git\\ works/
fi
if have node; then node -e 'console.log("node works")'; fi
if have python3; then python3 -c 'print("python3 works")'; fi
if have perl; then perl -e 'print "perl works\\n"'; fi
if have make; then printf 'all:\\n\\t@echo make works\\n' >Makefile; make -s; fi
if have cc; then printf '#include <stdio.h>\\nint main(void){puts("cc works");return 0;}\\n' >a.c; cc -o a a.c; ./a; fi
cd .. && rm -rf work
`;
