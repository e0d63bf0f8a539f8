import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { contentHash } from './content-hash.ts';

/** A question of `ctxd init`: what it is about, each by a name of its own, and the line that says how a no is changed. */
export interface Question {
  about: readonly string[];
  line: string;
}

/** What a person declined in a project. A question comes again only if it is about something new. */
export class Answers {
  readonly #file: string;
  readonly #declined: Set<string>;
  readonly #lines: string[] = [];

  private constructor(file: string, declined: Iterable<string>) {
    this.#file = file;
    this.#declined = new Set(declined);
  }

  static async read({ paths }: Pick<CliContext, 'paths'>, root: string): Promise<Answers> {
    const file = fileOf(paths.projectsDir, root);
    try {
      return new Answers(file, namesIn(JSON.parse(await readFile(file, 'utf8'))));
    } catch (error) {
      // A file that cannot be read costs a question.
      if (error instanceof SyntaxError || isErrno(error)) return new Answers(file, []);
      throw error;
    }
  }

  /** The lines of the questions that were not asked, because the person had declined. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Asks, unless the person has declined all of this before. Remembers a no of a person at a terminal. */
  async ask({ stdin }: CliContext, { about, line }: Question, ask: () => Promise<boolean>): Promise<boolean> {
    if (this.hasDeclined(about)) {
      this.note(line);
      return false;
    }
    const isWanted = await ask();
    if (!isWanted && stdin.isTTY === true) await this.decline(about);
    return isWanted;
  }

  note(line: string): void {
    this.#lines.push(line);
  }

  hasDeclined(about: readonly string[]): boolean {
    return about.length > 0 && about.every((name) => this.#declined.has(name));
  }

  async decline(about: readonly string[]): Promise<void> {
    if (about.every((name) => this.#declined.has(name))) return;
    for (const name of about) this.#declined.add(name);
    await mkdir(join(this.#file, '..'), { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${process.pid}.tmp`;
    await writeFile(temporary, `${JSON.stringify({ declined: [...this.#declined] }, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, this.#file);
  }

  /** Forgets everything that was declined in a project. */
  static async forget({ paths }: Pick<CliContext, 'paths'>, root: string): Promise<void> {
    await rm(fileOf(paths.projectsDir, root), { force: true });
  }
}

function fileOf(projectsDir: string, root: string): string {
  return join(projectsDir, `${contentHash(root)}.answers.json`);
}

function namesIn(value: Json): string[] {
  const names = isJsonObject(value) ? value.declined : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}
