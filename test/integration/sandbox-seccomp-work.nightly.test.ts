import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SeccompToggles } from '#src/sandbox/contract/policy.js';
import type { Bound } from '#src/sandbox/machine/seccomp/default-profile.js';
import { defaultFilter } from '#src/sandbox/machine/seccomp/filter.js';
import { isSeccompArch } from '#src/sandbox/machine/seccomp/syscalls.js';
import { canBeShown, findProgram, runConfined } from '../fixtures/seccomp-sandbox.ts';

const USUAL: SeccompToggles = { inet: true, unix: true, debugger: false };

const supported = process.platform === 'linux' && isSeccompArch(process.arch);
if (!supported)
  console.warn(`SKIPPED: programs under seccomp filters were not tried on ${process.platform} ${process.arch}`);

interface Work {
  readonly needs: readonly string[];
  readonly script: string;
  readonly says: string;
  readonly toggles?: Partial<SeccompToggles>;
  /** Default: both. */
  readonly bounds?: readonly Bound[];
}

const C_PROGRAM =
  '#include <pthread.h>\n#include <stdio.h>\nvoid *f(void *p) { return p; }\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); puts("made"); }';
const NODE_PROGRAM =
  'const{execFileSync}=require("child_process");const{Worker}=require("worker_threads");' +
  'new Worker("",{eval:true}).on("exit",()=>console.log(execFileSync("echo",["from a child"])+""))';

const WORK: Readonly<Record<string, Work>> = {
  git: {
    needs: ['git'],
    script:
      'git init -q r && cd r && git config user.name a && git config user.email a@example.invalid && echo x >f && ' +
      'git add f && git commit -qm one && git gc -q && git clone -q . ../c && git -C ../c log --format=%s',
    says: 'one',
  },
  node: { needs: ['node'], script: `node -e '${NODE_PROGRAM}'`, says: 'from a child' },
  'node without sockets': {
    needs: ['node'],
    script: `node -e '${NODE_PROGRAM}'`,
    says: 'from a child',
    toggles: { inet: false, unix: false },
  },
  python: {
    needs: ['python3'],
    script:
      "python3 -c 'import subprocess,threading,multiprocessing as m,socket,tempfile; t=threading.Thread(target=str); t.start(); t.join(); " +
      's=socket.create_server(("127.0.0.1",0)); c=socket.create_connection(s.getsockname()); p=m.Pool(2); ' +
      'print(sum(p.map(abs,[-1,-2])), subprocess.run(["echo","ok"],capture_output=True,text=True).stdout)\'',
    says: '3 ok',
  },
  perl: { needs: ['perl'], script: 'perl -e \'my $p = open(my $f, "-|", "echo piped"); print <$f>\'', says: 'piped' },
  'bash and coreutils': {
    needs: ['bash'],
    script:
      'mkdir d; seq 1000 | sort -rn | tee d/a >/dev/null; cp -a d e; tar cf - e | tar xf - -C d; mkfifo p; ' +
      'diff <(ls d) <(ls d) && timeout 5 sh -c "sleep 0"; chmod 600 d/a; cp -p d/a d/a2; install -m 755 d/a d/a3; mkdir -m 1777 d/t; tar cf - d/a2 d/a3 | tar xpf - -C d/t; touch -d yesterday d/a; setsid true; nice true; df . >/dev/null; cat d/e/a | wc -l',
    says: '1000',
  },
  'chmod without setuid and setgid': {
    needs: ['bash'],
    script:
      'cp /bin/true t; for mode in 4755 2755 u+s g+s; do chmod $mode t && echo "set $mode"; done; ' +
      'install -m 4755 t u && echo installed; mkdir -m 2755 d && echo made; find . -perm /6000; chmod 755 t && stat -c "mode %a" t',
    says: 'mode 755',
  },
  gcc: { needs: ['gcc'], script: `printf '%s' '${C_PROGRAM}' >m.c && gcc -O1 -pthread -o m m.c && ./m`, says: 'made' },
  make: {
    needs: ['make'],
    script: 'printf "a: b\\n\\t@echo built\\nb:\\n\\t@true\\n" >Makefile && make -j2 a',
    says: 'built',
  },
  go: {
    needs: ['go'],
    script:
      'printf "package main\\nfunc main() { c := make(chan int); go func() { c <- 7 }(); println(<-c) }" >m.go && ' +
      'GO111MODULE=off GOCACHE=/tmp/cache go build -o m m.go && ./m 2>&1',
    says: '7',
    // Without a cgroup the filter refuses more, and to compile the runtime of Go twice takes half a minute of a processor.
    bounds: ['watchdog'],
  },
  npm: {
    needs: ['npm'],
    script:
      'mkdir a b && echo \'{"name":"a","version":"1.0.0"}\' >a/package.json && cd b && ' +
      'echo \'{"name":"b","version":"1.0.0","scripts":{"hello":"echo said"}}\' >package.json && ' +
      'npm install --offline --no-audit --no-fund ../a >/dev/null && npm run -s hello && test -e node_modules/a',
    says: 'said',
  },
  file: { needs: ['file'], script: 'file /usr/bin/env', says: '/usr/bin/env' },
  strace: {
    needs: ['strace'],
    script: 'strace -f -o t sh -c "true; true" && grep -c exit_group t',
    says: '1',
    toggles: { debugger: true },
  },
  gdb: {
    needs: ['gdb'],
    script: 'gdb -q -nx -batch -ex run -ex "print 40+2" /usr/bin/true 2>&1',
    says: 'exited normally',
    toggles: { debugger: true },
  },
};

describe.runIf(supported)('ordinary programs work under the filter:', () => {
  const runs = Object.entries(WORK).flatMap(([name, work]) =>
    (work.bounds ?? ['cgroup', 'watchdog']).map((bound) => ({ name, bound, ...work })),
  );
  for (const { name, bound, needs, script, says, toggles } of runs) {
    const title = bound === 'cgroup' ? name : `${name}, without a cgroup`;
    const missing = needs.filter((name) => findProgram(name) === null);
    if (missing.length > 0) console.warn(`SKIPPED under the filter: ${title} (no ${missing.join(', ')} here)`);
    test.skipIf(missing.length > 0)(title, { timeout: 120_000 }, () => {
      const done = runConfined(['bash', '-c', script], {
        filter: defaultFilter({ ...USUAL, ...toggles }, process.arch, bound),
      });
      expect(done.status, done.err).toBe(0);
      expect(done.out).toContain(says);
    });
  }

  const shown = canBeShown(process.execPath);
  if (!shown) console.warn(`SKIPPED under the filter: ${process.execPath}, which an ordinary user cannot start`);
  test.skipIf(!shown)(`the Node that runs contextd, ${process.version}`, () => {
    const options = { filter: defaultFilter({ ...USUAL, unix: false }), show: [dirname(process.execPath)] };
    expect(runConfined([process.execPath, '-e', NODE_PROGRAM], options)).toMatchObject({
      status: 0,
      out: 'from a child\n\n',
    });
  });

  test.skipIf(findProgram('strace') === null)('except strace, which needs the debugger toggle', () => {
    const traced = (filter: Buffer | null) => runConfined(['strace', '-o', '/dev/null', 'true'], { filter });
    expect(traced(null).status).toBe(0);
    expect(traced(defaultFilter(USUAL))).toMatchObject({ err: expect.stringContaining('Operation not permitted') });
  });
});
