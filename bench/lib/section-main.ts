import { SECTIONS } from '../sections.ts';
import type { SectionOptions } from './section.ts';

/**
 * The program of a section's process: `section-main.js <section> <options as JSON>`. It sends the outcome to its
 * parent.
 */
async function main(name: string, options: SectionOptions): Promise<void> {
  const section = await SECTIONS[name]?.load();
  if (section === undefined) throw new Error(`no section is named ${name}`);
  process.once('disconnect', () => process.exit(1));
  const outcome = await section.run(options);
  process.send?.(outcome, () => process.exit(0));
}

const [, , name, options] = process.argv;
await main(name ?? '', JSON.parse(options ?? '{}'));
