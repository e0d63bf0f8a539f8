import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Lesson, lessons } from './lessons.ts';

export interface SetDocument extends Lesson {
  id: string;
  project: string;
}

export interface SetQuestion {
  project: string;
  query: string;
  /** Ids of the documents that answer it. */
  relevant: readonly string[];
}

export interface RetrievalSet {
  name: string;
  documents: readonly SetDocument[];
  questions: readonly SetQuestion[];
}

/** Lessons that share most of their words, each with a question. */
export function builtInSet(): RetrievalSet {
  const all = lessons().map((one, index) => ({ ...one, id: String(index) }));
  return {
    name: 'lessons of the benchmark',
    documents: all.map(({ lesson, id }) => ({ ...lesson, id, project: '/bench' })),
    questions: all.map(({ question, id }) => ({ project: '/bench', query: question, relevant: [id] })),
  };
}

/**
 * The sets of a directory: files of JSON lines, `{"id", "project", "title", "description"?, "content"}` for a document and
 * `{"project", "query", "relevant": [ids]}` for a question. Null: none.
 */
export function readSets(dir: string | null): RetrievalSet[] {
  if (dir === null) return [];
  const files = readdirSync(dir).filter((file) => file.endsWith('.jsonl'));
  return files.sort().map((file) => {
    const lines = readFileSync(join(dir, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const rows: (SetDocument | SetQuestion)[] = lines.map((line) => JSON.parse(line));
    return {
      name: basename(file, '.jsonl'),
      documents: rows.flatMap((row) => ('query' in row ? [] : [{ ...row, description: row.description ?? '' }])),
      questions: rows.flatMap((row) => ('query' in row ? [row] : [])),
    };
  });
}
