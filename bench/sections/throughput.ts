import { type BenchInstallation, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { runProcess } from '../lib/measure.ts';
import type { Fact, Section } from '../lib/section.ts';

const CALLS = 200;
const AT_ONCE = 16;

/** Whole processes, started as many agents at once would start them. Each answer is checked. */
export const throughputSection: Section = {
  async run() {
    const at = await installForBench({});
    try {
      return { tables: [], facts: await flood(at) };
    } finally {
      await at.remove();
    }
  },
};

async function flood(at: BenchInstallation): Promise<Fact[]> {
  const queue = Array.from({ length: CALLS }, (_, i) => i);
  let lost = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
        const line = await runProcess(SAFE_BASH_LINK, [`{"command":"echo ${i}"}`], { cwd: at.project, env: at.env });
        if (!line.includes(`"stdout":"${i}\\n"`)) lost++;
      }
    }),
  );
  const perSecond = Math.round((CALLS / (performance.now() - start)) * 1000);
  return [
    { name: `calls per second, ${CALLS} in all, ${AT_ONCE} at a time`, value: perSecond },
    { name: 'answers lost or wrong', value: lost },
  ];
}
