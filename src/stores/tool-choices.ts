import { type Database, textOf } from './sqlite.ts';

/** A tool that was executed after a search for it. */
export interface ToolChoice {
  /** The stems of the scrubbed query. */
  readonly words: readonly string[];
  /** The name of the tool: it keeps its choices when it is updated. */
  readonly tool: string;
}

/** What agents executed after they searched for a tool, by project. */
export interface ToolChoices {
  /** Oldest first, at most CHOICES_MAX. */
  list(project: string): Promise<ToolChoice[]>;
  /** Forgets the oldest beyond CHOICES_MAX. */
  add(project: string, choice: ToolChoice): Promise<void>;
  /** Removes the choices of a project. */
  forget(project: string): Promise<void>;
}

export const CHOICES_MAX = 500;

export function createToolChoices({ database }: { database: Database }): ToolChoices {
  return {
    async list(project) {
      const rows = await database.read(
        'SELECT words, tool FROM tool_choices WHERE project = ? ORDER BY number',
        project,
      );
      return rows.map((row) => ({ words: textOf(row, 'words').split(' '), tool: textOf(row, 'tool') }));
    },
    async add(project, { words, tool }) {
      await database.write([
        {
          sql: 'INSERT INTO tool_choices (project, words, tool) VALUES (?, ?, ?)',
          params: [project, words.join(' '), tool],
        },
        {
          sql: `DELETE FROM tool_choices WHERE project = ? AND number NOT IN
            (SELECT number FROM tool_choices WHERE project = ? ORDER BY number DESC LIMIT ?)`,
          params: [project, project, CHOICES_MAX],
        },
      ]);
    },
    async forget(project) {
      await database.write([{ sql: 'DELETE FROM tool_choices WHERE project = ?', params: [project] }]);
    },
  };
}
