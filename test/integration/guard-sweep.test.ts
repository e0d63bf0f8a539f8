import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../helpers/property-runs.ts';
import { letTimePass, openBench } from '../helpers/workspace-bench.ts';

/** What happens to the directory `d` between two looks at its files. */
const CHANGES = [
  'true',
  'echo x >d/new',
  'echo x >>d/notes',
  'mv d/notes d/moved && cp d/moved d/notes',
  'rm -f d/other',
  'mkdir -p d/sub && echo x >d/sub/file',
  'mv d e && mv e d',
  'cp -r d copy && rm -r d && mv copy d',
  'chmod 000 d && chmod 755 d',
  'git init -q d/repository',
  'git init -q . && git config core.pager ./d/notes',
] as const;

test('SEC-2.3 a configuration that a run writes in place is set aside, whatever happened to the directory since it was read', async () => {
  const change = fc.record({ script: fc.constantFrom(...CHANGES), isOfRun: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.nat(), async (changes, which) => {
      const bench = openBench();
      try {
        bench.sh('mkdir d && echo hello >d/notes && echo hello >d/other');
        const guard = bench.guard();
        await guard.protection();
        for (const { script, isOfRun } of changes) {
          letTimePass();
          if (isOfRun) await bench.run(guard, script);
          else bench.sh(script);
          await guard.settled();
        }
        letTimePass();
        await bench.run(guard, 'true');
        await guard.settled();
        const files = bench.sh("find d -type f -not -path '*/.git/*' | sort").trim().split('\n');
        const target = files[which % files.length] ?? '';
        letTimePass();
        const report = await bench.run(guard, `printf '[core]\\n\\teditor = id\\n' >${target}`);
        await guard.settled();
        expect([...report.quarantined, ...(await bench.run(guard, 'true')).quarantined]).toContain(target);
      } finally {
        bench.close();
      }
    }),
    { numRuns: propertyRuns('door') },
  );
});
