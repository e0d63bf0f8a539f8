import { SECTIONS } from '../sections.ts';
import type { Outcome, SectionOptions } from './section.ts';

/** What a section's process sends to its parent: parts of the outcome, the last one with `isLast`. */
export interface PartMessage {
  part: Partial<Outcome>;
  isLast: boolean;
}

/** The program of a section's process: `section-main.js <section> <options as JSON>`. */
async function main(name: string, options: SectionOptions): Promise<void> {
  const section = await SECTIONS[name]?.load();
  if (section === undefined) throw new Error(`no section is named ${name}`);
  process.once('disconnect', () => process.exit(1));
  const send = (message: PartMessage, done = (): void => undefined): void => void process.send?.(message, done);
  const rest = await section.run(options, (part) => send({ part, isLast: false }));
  send({ part: rest, isLast: true }, () => process.exit(0));
}

const [, , name, options] = process.argv;
await main(name ?? '', JSON.parse(options ?? '{}'));
